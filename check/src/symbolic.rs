//! Executes two functions with all values open, and compares what they leave behind.
//!
//! Buffers have constant extents, so each element is a term over what the function was given.
//! Loops run to their end, in both programs; equal results are then equal terms. Nothing is
//! guessed: no induction, no relation between iterations. It is the second means of proof, for
//! programs in which the first one ([`crate::proof`]) does not see how computations belong
//! together.
//!
//! **Integer arguments.** A comparison that an argument decides ends the run, and two runs follow,
//! each for a part of its values (`compare`). Where the original is undefined nothing is asked,
//! so values beyond all buffers are one case.
//!
//! **Other conditions.** Both sides run, and values are choices (`choice`).
//!
//! **Undefined behaviour.** Each program has a list of conditions under which it is undefined. Each
//! of the second program has to imply one of the original. Each value has a condition under which
//! it is poison; a value that the second program leaves is poison only where that of the original
//! is. What memory held at the start may be poison, arguments may not. The second program stores
//! only to elements that the original stores to, perhaps under other conditions: others may be
//! read-only.
//!
//! **Bounds.** Work, terms and cases are counted (`MAX_WORK`, `MAX_RUNS`).

mod choice;
mod compare;
mod control;
mod machine;
mod memory;
mod numbers;
mod operations;
mod race;
mod store;
mod views;

use loomir_ir::{Body, Context, Op, OpRef, Type, TypeKind};

use crate::proof::{self, Assumption, Proof, ProofOptions, Reason, Symbol};
use machine::{Fault, Machine};
use memory::{Memory, Scalar};
use store::{ANYTHING, FALSE, Facts, Key, Run, Stop, Store, TermId};

/// The most work on two functions.
const MAX_WORK: u64 = 20_000_000;
/// The most runs, each for a part of the values of arguments.
const MAX_RUNS: usize = 4_000;
/// The most times that the values of arguments are divided for one run.
const MAX_SPLITS: usize = 80;

/// Proves that the function `after` of one program does what `before` of another one does, by
/// executing both. Both programs share one context.
pub fn prove(before: &Body, f: Op, after: &Body, g: Op, options: &ProofOptions) -> Proof {
    let mut attempt = Attempt {
        modules: [before, after],
        functions: [OpRef::new(before, f), OpRef::new(after, g)],
        distinct: options.distinct,
        reassociates: false,
        could_reassociate: false,
        has_races: false,
    };
    let mut answer = attempt.all_cases();
    if attempt.could_reassociate {
        attempt.reassociates = true;
        answer = attempt.all_cases().or(answer);
    }
    match answer {
        Ok(under) => Proof::Equal { under },
        Err(reason) => Proof::Undecided { reasons: vec![*reason] },
    }
}

/// The end of a run.
struct Outcome<'b> {
    results: Vec<Scalar>,
    memory: Memory,
    faults: Vec<Fault<'b>>,
}

/// Two functions to be compared.
struct Attempt<'b> {
    modules: [&'b Body; 2],
    functions: [OpRef<'b>; 2],
    distinct: bool,
    /// True if floats may be combined in another order where flags allow that.
    reassociates: bool,
    /// True if results differ that another order may make equal.
    could_reassociate: bool,
    /// True if races of the original were taken for undefined.
    has_races: bool,
}

/// The end of a case that shows nothing.
enum End {
    Split(usize, i64),
    Order([usize; 2]),
    Differ(Box<Reason>),
}

impl<'b> Attempt<'b> {
    /// Compares the functions for all inputs; returns the assumptions.
    fn all_cases(&mut self) -> Result<Vec<Assumption>, Box<Reason>> {
        let functions = self.functions;
        let whole = |message: &str| proof::reason(1, functions[1], message.into());
        if let Some(message) =
            proof::targets_differ(self.modules).or(proof::signatures_differ(self.functions))
        {
            return Err(whole(message));
        }
        if self.functions.iter().any(|function| function.name() != "func.func") {
            return Err(whole("functions of other dialects are not executed with open values"));
        }
        let mut todo = vec![(facts_of(self.functions[0]), 0)];
        let (mut runs, mut left, mut relies_on_distinct) = (0, MAX_WORK, false);
        while let Some((facts, splits)) = todo.pop() {
            runs += 1;
            if runs > MAX_RUNS || splits > MAX_SPLITS {
                return Err(whole("executing both programs takes too many cases of the arguments"));
            }
            let mut store = Store::new(facts.clone(), left);
            store.reassociates = self.reassociates;
            let compared = self.case(&mut store);
            left = store.left;
            self.has_races |= store.has_races;
            match compared {
                Ok(relies) => relies_on_distinct |= relies,
                Err(End::Differ(reason)) => return Err(reason),
                Err(End::Split(argument, at)) => {
                    let mut parts = [facts.clone(), facts];
                    if let Some((low, high)) = parts[0].ranges[argument] {
                        parts[0].ranges[argument] = Some((low, at));
                        parts[1].ranges[argument] = Some((at + 1, high));
                    }
                    todo.extend(parts.map(|part| (part, splits + 1)));
                }
                Err(End::Order(pair)) => {
                    for holds in [true, false] {
                        let mut part = facts.clone();
                        part.orders.push((pair, holds));
                        todo.push((part, splits + 1));
                    }
                }
            }
        }
        let assumed = [
            (relies_on_distinct, Assumption::DistinctArguments),
            (self.reassociates, Assumption::Reassociation),
            (self.has_races, Assumption::NoRaces),
        ];
        Ok(assumed.into_iter().filter(|(is_made, _)| *is_made).map(|(_, assumption)| assumption).collect())
    }

    /// Executes both functions under some facts. Returns true if the programs are equal only if
    /// arguments are distinct.
    fn case(&mut self, store: &mut Store) -> Result<bool, End> {
        let mut outcomes = Vec::new();
        let functions = self.functions;
        for side in [0, 1] {
            let mut machine =
                Machine::new(self.modules[side], functions[side], store, side == 0, self.distinct);
            let results = machine.run(functions[side]);
            let (place, memory, faults) = (machine.place, machine.memory, machine.faults);
            match results {
                Ok(results) => outcomes.push(Outcome { results, memory, faults }),
                Err(Stop::Undefined) => return Ok(memory.relies_on_distinct),
                Err(stop) => return Err(ended(stop, side, place)),
            }
        }
        for global in &store.globals {
            if proof::symbol(self.modules, *global) != Symbol::Same {
                let message = "a global is not the same in both programs";
                return Err(End::Differ(proof::reason(1, functions[1], message.into())));
            }
        }
        let [mut first, mut second]: [Outcome<'_>; 2] = match outcomes.try_into() {
            Ok(both) => both,
            Err(_) => return Ok(false),
        };
        let mut answer = difference(store, &mut first, &mut second, false);
        if let Ok(Some(_)) = answer
            && first.faults.iter().any(|fault| fault.is_race)
        {
            store.has_races = true;
            answer = difference(store, &mut first, &mut second, true);
        }
        match answer {
            Ok(None) => Ok(first.memory.relies_on_distinct || second.memory.relies_on_distinct),
            Ok(Some((op, message))) => {
                self.could_reassociate |= store.has_loose_floats;
                Err(End::Differ(proof::reason(1, op.unwrap_or(functions[1]), message)))
            }
            Err(stop) => Err(ended(stop, 1, functions[1])),
        }
    }
}

fn ended(stop: Stop, side: usize, place: OpRef<'_>) -> End {
    match stop {
        Stop::Split { argument, at } => End::Split(argument, at),
        Stop::Order(pair) => End::Order(pair),
        Stop::Undefined => End::Differ(proof::reason(side, place, "it is undefined".into())),
        Stop::Refused(message) => End::Differ(proof::reason(side, place, message)),
    }
}

/// Returns a difference between two runs, with its place where there is one. Races of the original
/// count as undefined if that is asked for.
fn difference<'b>(
    store: &mut Store,
    first: &mut Outcome<'b>,
    second: &mut Outcome<'b>,
    with_races: bool,
) -> Run<Option<(Option<OpRef<'b>>, String)>> {
    let mut undefined = FALSE;
    for fault in first.faults.iter().filter(|fault| with_races || !fault.is_race) {
        undefined = store.or(fault.condition, undefined)?;
    }
    let is_covered = |store: &mut Store, condition: TermId, by: TermId| -> Run<bool> {
        let other = store.not(by)?;
        Ok(condition == FALSE || condition == by || store.and(condition, other)? == FALSE)
    };
    for fault in &second.faults {
        if !is_covered(store, fault.condition, undefined)? {
            return Ok(Some((Some(fault.op), fault.message.into())));
        }
    }
    let is_same = |store: &mut Store, [a, b]: [Scalar; 2]| -> Run<bool> {
        if a == b {
            return Ok(true);
        }
        let free = store.or(a.poison, undefined)?;
        let [x, y] = [store.ite(free, ANYTHING, a.term)?, store.ite(free, ANYTHING, b.term)?];
        Ok(x == y && is_covered(store, b.poison, free)?)
    };
    for (index, (a, b)) in first.results.iter().zip(&second.results).enumerate() {
        if !is_same(store, [*a, *b])? {
            return Ok(Some((None, format!("result {index} is not seen to be the same"))));
        }
    }
    let visible = |memory: &Memory| -> Vec<(Key, Type, Vec<i64>)> {
        let all = memory.buffers.iter().filter(|buffer| !matches!(buffer.key, Key::Own(_)));
        all.map(|buffer| (buffer.key, buffer.ty, buffer.sizes.clone())).collect()
    };
    let lists = [visible(&second.memory), visible(&first.memory)];
    for (list, memory) in lists.into_iter().zip([&mut first.memory, &mut second.memory]) {
        for (key, ty, sizes) in list {
            if memory.find(key).is_none() {
                memory.add(key, ty, sizes, false)?;
            }
        }
    }
    for (key, ..) in visible(&first.memory) {
        let (Some(a), Some(b)) = (first.memory.find(key), second.memory.find(key)) else { continue };
        let (mut elements, open) = first.memory.elements(a);
        let stored = second.memory.elements(b).0;
        let new = stored.iter().copied().find(|own| elements.binary_search(own).is_err());
        let buffer = || match key {
            Key::Argument(index) => format!("argument {index}"),
            _ => "a global".into(),
        };
        elements.extend(stored);
        elements.sort_unstable();
        elements.dedup();
        // The elements that neither writes are all like one of them.
        let count = elements.len();
        elements.extend(open.filter(|open| !elements.contains(open)));
        if count == elements.len() {
            let all = first.memory.buffers[a].sizes.iter().product::<i64>() as usize;
            elements.extend((0..all).find(|element| elements.binary_search(element).is_err()));
        }
        for element in elements {
            let values = [first.memory.load(store, a, element)?, second.memory.load(store, b, element)?];
            if !is_same(store, values)? {
                let why = format!("element {element} of {} is not seen to be the same", buffer());
                return Ok(Some((None, why)));
            }
        }
        if let Some(element) = new {
            let why = format!("element {element} of {} is stored to, and may be read-only", buffer());
            return Ok(Some((None, why)));
        }
    }
    Ok(None)
}

/// Returns what is known of all inputs.
fn facts_of(function: OpRef<'_>) -> Facts {
    let ctx = function.ctx();
    let model = function.info().interface::<dyn loomir_dialects::interfaces::FunctionLike>();
    let types = model.map_or_else(Vec::new, |model| model.signature(function).0);
    let range = |ty: &Type| match width(ctx, *ty)? {
        1 => Some((0, 1)),
        width => Some((i64::MIN >> (64 - width), i64::MAX >> (64 - width))),
    };
    let bytes = |ty: &Type| {
        let TypeKind::MemRef { layout: None, shape: Some(shape), .. } = ty.kind(ctx) else { return None };
        let element = bytes_of(ctx, ty.element(ctx)?)?;
        shape.iter().try_fold(element, |all, size| all.checked_mul(*size).filter(|_| *size > 0))
    };
    Facts {
        ranges: types.iter().map(range).collect(),
        orders: Vec::new(),
        bytes: types.iter().map(bytes).collect(),
    }
}

/// Returns the width of an integer of at most 64 bits.
fn width(ctx: &Context, ty: Type) -> Option<u32> {
    let width = if ty.is_index() { 64 } else { ty.integer_width(ctx)? };
    (1..=64).contains(&width).then_some(width)
}

/// Returns the bytes of an element, where no target decides that.
fn bytes_of(ctx: &Context, ty: Type) -> Option<i64> {
    let bits = match ty.kind(ctx) {
        TypeKind::Float(kind) => kind.width(),
        _ if ty.is_index() => 64,
        _ => ty.integer_width(ctx)?,
    };
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(i64::from(bits / 8))
}

/// Returns the distances of elements of a buffer without a layout.
fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = sizes[dim] * strides[dim];
    }
    strides
}
