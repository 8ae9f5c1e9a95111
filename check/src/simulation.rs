//! Proves that two graphs of blocks run in step.
//!
//! Both programs are executed together, with terms for values. Where several branches of the second
//! program meet, the pair of places becomes a *state*. A state holds which values of the two are
//! equal (`states`). From each state all paths to the next states are followed. Both programs must
//! leave the same memory at each state, and return the same. So a proof is a simulation relation: a
//! run of the first program has a run of the second one, state by state.
//!
//! Operations may be any. This is the means of proof for transformations that copy blocks and keep
//! the order of execution: unrolling, peeling, rotation, threading of branches.
//!
//! **Numbers.** Some branches of one program are decided by what is known of numbers: a loop that
//! is unrolled at run time tests how often it will run, and then no longer tests each iteration. If
//! no proof is found without, such questions are put to solvers (`questions`), and steps and bounds
//! of counters are guessed (`guesses`).
//!
//! **Memory** is one value. Operations that change it make a new one, so effects keep their order.
//!
//! **Undefined behaviour.** Whatever may be undefined in the second program must have happened in
//! the first one on the same path, with the same operands and the same memory before it. A branch
//! of the second program that the first one does not have must not be on poison. A branch of the
//! first program shows this only once the second one has done all that the first one does before:
//! a call between may not return. For the same reason, where the first program is undefined, the
//! second one must have done as much before, or the first one nothing since the last state.
//!
//! **Poison.** Arguments may be poison unless the function says `noundef`.
//!
//! Where a value of the first program is poison, any value will do. So `x ^ x` may be zero there,
//! and flags of constants say nothing. In the second program both are kept.
//!
//! Where the second program freezes a value, the path divides. On one side the value is poison,
//! and each freeze is any number. There the first program is undefined once it branches on the
//! value. On the other side the value is no poison in both.
//!
//! **Calls** of functions with bodies are assumed to do the same in both programs
//! ([`Assumption::EqualCallees`]). A call may not return.
//!
//! **Promises.** Loops of the second program that promise progress or parallel accesses are
//! refused. So are scopes of aliasing, whose meaning depends on the loops around them, and calls
//! that must stay where they are (`refused`).
//!
//! **Endless runs.** On each path between states the second program goes on, and so does the first
//! one. The first one may stay only on paths that form no cycle (`waits`). So neither waits for
//! ever.
//!
//! # Assumptions
//! - Memory that was never written holds poison, and so does an undefined argument. With LLVM's
//!   `undef`, `x + x` may be odd; here it is `2 · x`. The operation `llvm.mlir.undef` is refused.
//! - A result is a function of the operands and of memory. So the bits of a NaN are, too. Flags of
//!   floats that leave the result open are refused in the second program.
//! - No other thread writes memory that an access which is neither volatile nor atomic reads.
//! - Names of two functions, and numbers of metadata, stand for the same in both modules. Where
//!   they may not, the answer is "unknown".
//!
//! # Why a proof holds
//! - A state says that some values for its symbols give the values of both programs, and that its
//!   facts hold. Each visit is shown to be such an instance, by one substitution for values, memory
//!   and facts (`State::join`). A state that changes is followed again.
//! - The entry is a state. Each path from a state ends at a state, at equal results and memory, or
//!   where the first program is undefined. A bound that is met ends the proof.
//! - Facts of a state are those that hold at all of its visits. One that is lost weakens only what
//!   can be shown.
//! - A state is forgotten only if all that visits it is forgotten or followed again (`visits`).
//!
//! **Bounds.** Steps, states and terms are counted.

mod bits;
mod encoding;
mod facts;
mod guesses;
mod integers;
mod models;
mod numbers;
mod questions;
mod refused;
mod side;
mod states;
mod terms;
mod visits;
mod waits;
mod ways;

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Attr, AttrKind, Body, Context, Name, Op, OpRef, symbols, text};

use crate::proof::{self, Assumption, Proof, Symbol, metadata};
use facts::{Fact, Facts};
use questions::Questions;
use side::{Cursor, Decided, Event, Risk, Side};
use states::{Visit, listed, matched};
use terms::{Ask, Inside, Node, Store, TermId, Try};
use visits::States;
use waits::Waits;
use ways::{WAYS, Way};

/// The most blocks that are executed.
const MAX_STEPS: usize = 20_000;
/// The most values that are copied or compared, for all paths of all ways that ask nothing, and of
/// each way that does.
const MAX_COPIED: usize = 10_000_000;
/// The most steps of the first program on one path.
const MAX_AHEAD: usize = 4_000;
/// The most places behind the best one that are looked at.
const MAX_BEYOND: usize = 100;
const POISON: &str = "a branch may be on poison";

/// True if a function is a graph of blocks, which this prover reads.
pub fn is_graph(module: &Body, function: Op) -> bool {
    OpRef::new(module, function).name() == "llvm.func"
}

/// Proves that the function `after` of one program does what `before` of another one does, by
/// executing both in step. Both programs share one context.
pub fn prove(before: &Body, f: Op, after: &Body, g: Op) -> Proof {
    let functions = [OpRef::new(before, f), OpRef::new(after, g)];
    let mut reason = "";
    match comparable([before, after], functions) {
        Ok(under) => {
            let mut copied = 0;
            for way in WAYS {
                if way.questions > 0 {
                    copied = 0;
                }
                let walk = Walk::new([before, after], functions, way);
                match walk.and_then(|walk| walk.run(&mut copied)) {
                    Ok(()) => return Proof::Equal { under },
                    Err(why) if reason.is_empty() => reason = why,
                    Err(_) => {}
                }
            }
        }
        Err(why) => reason = why,
    }
    Proof::Undecided { reasons: vec![*proof::reason(1, functions[1], reason.to_owned())] }
}

/// Returns the assumptions under which two functions can be compared.
fn comparable(modules: [&Body; 2], functions: [OpRef<'_>; 2]) -> Try<Vec<Assumption>> {
    if !functions.iter().all(|function| is_graph(function.body(), function.op())) {
        return Err("functions of other dialects are not executed in step");
    }
    if let Some(message) = proof::targets_differ(modules).or(proof::signatures_differ(functions)) {
        return Err(message);
    }
    if metadata::differs(modules) && functions.iter().any(|function| metadata::is_used(*function)) {
        return Err("metadata has other numbers in both programs");
    }
    refused::check(functions[1])?;
    let mut under = Vec::new();
    for function in functions {
        let (body, ctx) = (function.body(), function.ctx());
        for op in body.all_ops().filter(|op| *op != body.root()) {
            let dicts = [body.properties(op), body.attributes(op)];
            for (_, attr) in dicts.iter().flat_map(|dict| dict.entries(ctx)) {
                match attr.kind(ctx) {
                    AttrKind::Symbol { root, nested } if nested.is_empty() => {
                        match proof::symbol(modules, *root) {
                            _ if refused::stays(modules[1], *root) => return Err(refused::STAYS),
                            Symbol::Same => {}
                            Symbol::Function if !is_function(modules[1], *root) => {
                                return Err("a global computes its value");
                            }
                            Symbol::Function => under = vec![Assumption::EqualCallees],
                            Symbol::Different => return Err("a name stands for different things"),
                        }
                    }
                    _ if may_name(ctx, *attr) => return Err("an attribute has a name inside"),
                    _ => {}
                }
            }
        }
    }
    Ok(under)
}

/// True if a name stands for a function.
fn is_function(module: &Body, name: Name) -> bool {
    let op = symbols::lookup(module, module.ctx().str(name));
    op.is_some_and(|op| matches!(module.op_ref(op).name(), "llvm.func" | "func.func"))
}

/// True if an attribute may have the name of a symbol inside.
fn may_name(ctx: &Context, attr: Attr) -> bool {
    let is_plain = matches!(
        attr.kind(ctx),
        AttrKind::Unit
            | AttrKind::Integer { .. }
            | AttrKind::WideInteger { .. }
            | AttrKind::Float { .. }
            | AttrKind::String(_)
            | AttrKind::Type(_)
            | AttrKind::DenseArray { .. }
            | AttrKind::DenseElements { .. }
            | AttrKind::Enum { .. }
    );
    !is_plain && text::attr_to_string(ctx, attr).contains('@')
}

/// The state of a proof.
struct Walk<'b> {
    store: Store,
    sides: [Side<'b>; 2],
    states: States,
    /// The paths on which the first program stays.
    waits: Waits,
    way: Way,
    steps: usize,
    copied: usize,
}

/// A path from a state on.
#[derive(Clone)]
struct Path {
    cursors: [Cursor; 2],
    facts: Facts,
    /// The places that the first program came by, each with the number of its risks before. If it
    /// may stay where it is, the place of the state comes first.
    trail: Vec<(Rc<Cursor>, usize)>,
    /// The number of places that were looked at for the second one.
    looked_at: usize,
    /// The number of places before the last branch that facts of the path decide.
    first_place: usize,
    /// The best place, and the number of values that match there.
    place: Option<(usize, Rc<Cursor>)>,
    /// The number of places up to the best one.
    best: usize,
    /// True if all values match at the best place.
    is_found: bool,
    risks: [Vec<Risk>; 2],
    ends: [End; 2],
    /// The memory at the state, which is one of both.
    start: TermId,
}

/// The place at which a program waits for the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// It runs on.
    Running,
    /// Nothing decides the condition.
    Open(TermId),
    /// It freezes a value that may be poison.
    Freezes(TermId),
    /// It is at a block where branches meet.
    Meeting,
    Returned(Vec<TermId>),
    Unreachable,
    /// It goes round in blocks without a choice.
    Endless,
}

impl Path {
    /// Returns the path with other terms, before the first program goes on.
    fn with(
        mut self,
        store: &mut Store,
        new: &mut dyn FnMut(&mut Store, TermId) -> Try<TermId>,
    ) -> Try<Path> {
        let mut moved = |store: &mut Store, cursor: &mut Cursor| -> Try<()> {
            cursor.memory = new(store, cursor.memory)?;
            for term in &mut cursor.values {
                *term = new(store, *term)?;
            }
            Ok(())
        };
        for cursor in &mut self.cursors {
            moved(store, cursor)?;
        }
        for (place, _) in &mut self.trail {
            moved(store, Rc::make_mut(place))?;
        }
        for risk in self.risks.iter_mut().flatten() {
            *risk = (new(store, risk.0)?, new(store, risk.1)?);
        }
        self.facts = self.facts.with(store, new)?;
        self.start = new(store, self.start)?;
        // The best place is looked for again.
        (self.place, self.looked_at, self.is_found) = (None, self.first_place, false);
        Ok(self)
    }

    /// Forgets the places before a branch of the first program that facts decide. Both ways are
    /// open there.
    fn passes_a_choice(&mut self) {
        (self.looked_at, self.first_place) = (self.trail.len(), self.trail.len());
        self.place = None;
    }
}

/// Returns who is asked, if questions may take some work.
fn asked(work: usize) -> Option<Box<dyn Ask>> {
    (work > 0).then(|| Box::new(Questions::new(work)) as Box<dyn Ask>)
}

impl<'b> Walk<'b> {
    fn new(modules: [&Body; 2], functions: [OpRef<'b>; 2], way: Way) -> Try<Walk<'b>> {
        Ok(Walk {
            store: Store::new(asked(way.questions)),
            sides: [
                Side::new(modules[0], functions[0], true, way.folds_poison)?,
                Side::new(modules[1], functions[1], false, false)?,
            ],
            states: States::default(),
            waits: Waits::default(),
            way,
            steps: 0,
            copied: 0,
        })
    }

    /// Proves the functions equal. `copied` counts the values that are copied in all ways.
    fn run(mut self, copied: &mut usize) -> Try<()> {
        self.copied = *copied;
        let end = self.all_paths();
        *copied = self.copied;
        end
    }

    /// Follows all paths from the start.
    fn all_paths(&mut self) -> Try<()> {
        let mut starts = Vec::new();
        for side in &self.sides {
            starts.push(side.start(&mut self.store)?);
        }
        let [a, b] = <[Cursor; 2]>::try_from(starts).map_err(|_| "a function has no body")?;
        self.arrive(Visit { cursors: [a, b], facts: Facts::default() }, None)?;
        while let Some(number) = self.states.pop() {
            self.follow(number)?;
        }
        Ok(())
    }

    /// Follows all paths from a state.
    fn follow(&mut self, number: usize) -> Try<()> {
        let Some(state) = self.states.get(number) else { return Ok(()) };
        let own = self.way.may_wait.then(|| (Rc::new(state.cursors[0].clone()), 0));
        let start = Path {
            cursors: state.cursors.clone(),
            facts: state.facts.clone(),
            trail: own.into_iter().collect(),
            looked_at: 0,
            first_place: 0,
            place: None,
            best: 0,
            is_found: false,
            risks: Default::default(),
            ends: [End::Running, End::Running],
            start: state.cursors[0].memory,
        };
        let mut paths = vec![start];
        while let Some(mut path) = paths.pop() {
            self.copied += path.cursors[0].values.len() + path.cursors[1].values.len();
            if self.copied > MAX_COPIED {
                return Err("the proof copies too many values");
            }
            self.run_second(&mut path)?;
            if let End::Freezes(value) = path.ends[1] {
                paths.extend(self.with_and_without_poison(path, value)?);
                continue;
            }
            self.run_first(number, &mut path)?;
            match self.next(number, &mut path)? {
                // The state may be gone now.
                Next::Done if self.states.get(number).is_none() => return Ok(()),
                Next::Done => {}
                Next::Again => paths.push(path),
                Next::Fork(condition) => {
                    // If both branch on it, the first one need not have passed the place.
                    let is_both = self.way.keeps_places && path.ends[1] == End::Open(condition);
                    let is_first = path.ends[0] == End::Open(condition) && !is_both;
                    let mut other = path.clone();
                    for (path, holds) in [(&mut path, true), (&mut other, false)] {
                        self.add_fact(path, condition, holds, false);
                        if is_first {
                            path.passes_a_choice();
                        }
                    }
                    paths.extend([path, other]);
                }
            }
        }
        Ok(())
    }

    /// Divides a path into one on which a value is poison and one on which it is none.
    fn with_and_without_poison(&mut self, path: Path, value: TermId) -> Try<[Path; 2]> {
        let mut poisoned = path.clone();
        poisoned.facts.add_poison(&self.store, value);
        let root = facts::source(&self.store, value);
        let symbol = self.store.symbol(true)?;
        let mut known = HashMap::from([(root, symbol)]);
        let solid = path.with(&mut self.store, &mut |store, term| match term {
            side::UNSET => Ok(term),
            term => store.replaced(term, &mut known, Inside::All),
        })?;
        Ok([solid, poisoned])
    }

    fn step(&mut self) -> Try<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err("the proof takes too many steps") } else { Ok(()) }
    }

    /// Runs the second program to a meeting, an open branch, or its end.
    fn run_second(&mut self, path: &mut Path) -> Try<()> {
        while matches!(path.ends[1], End::Running | End::Open(_) | End::Freezes(_)) {
            self.step()?;
            let side = &self.sides[1];
            let Path { cursors, facts, risks, .. } = &mut *path;
            let event = side.advance(&mut self.store, &mut cursors[1], facts, &mut risks[1])?;
            path.ends[1] = match event {
                Event::Entered(by) => {
                    if let Decided::ByFacts(Some((condition, holds))) = by {
                        let fact = Fact { condition, holds, is_certain: true, ahead: None, follows: true };
                        facts.add(&self.store, fact);
                    }
                    if side.is_meeting(path.cursors[1].block) { End::Meeting } else { End::Running }
                }
                Event::Open(condition) => {
                    path.ends[1] = End::Open(condition);
                    return Ok(());
                }
                Event::Freezes(value) => {
                    path.ends[1] = End::Freezes(value);
                    return Ok(());
                }
                Event::Returned(values) => End::Returned(values),
                Event::Unreachable => End::Unreachable,
            };
        }
        Ok(())
    }

    /// Runs the first program to an open branch or its end, or to where the second one waits.
    fn run_first(&mut self, number: usize, path: &mut Path) -> Try<()> {
        let mut straight = 0;
        while !self.finds_place(number, path)
            && !self.is_beyond(path)
            && matches!(path.ends[0], End::Running | End::Open(_))
        {
            self.step()?;
            let side = &self.sides[0];
            straight = if side.has_choice(path.cursors[0].block) { 0 } else { straight + 1 };
            if straight > side.num_blocks() {
                path.ends[0] = End::Endless;
                return Ok(());
            }
            let Path { cursors, facts, risks, .. } = &mut *path;
            let event = side.advance(&mut self.store, &mut cursors[0], facts, &mut risks[0])?;
            path.ends[0] = match event {
                Event::Entered(by) => {
                    let mut decided = None;
                    if let Decided::ByFacts(branch) = by {
                        if !self.store.asks() {
                            path.passes_a_choice();
                        }
                        if let Some((condition, holds)) = branch {
                            self.add_fact(path, condition, holds, true);
                            decided = self.ahead(path, condition).is_none().then_some(condition);
                        }
                    }
                    self.copied += path.cursors[0].values.len();
                    if path.trail.len() > MAX_AHEAD || self.copied > MAX_COPIED {
                        return Err("the first program runs too far ahead");
                    }
                    path.trail.push((Rc::new(path.cursors[0].clone()), path.risks[0].len()));
                    // The second program may wait for this branch.
                    if decided.is_some_and(|branch| path.ends[1] == End::Open(branch)) {
                        path.ends[0] = End::Running;
                        return Ok(());
                    }
                    End::Running
                }
                Event::Open(condition) => {
                    path.ends[0] = End::Open(condition);
                    self.finds_place(number, path);
                    return Ok(());
                }
                Event::Freezes(_) => return Err("a value that may be poison is frozen"),
                Event::Returned(values) => End::Returned(values),
                Event::Unreachable => End::Unreachable,
            };
        }
        Ok(())
    }

    /// Looks for the place of the first program at which the second one waits. True if all that the
    /// second program knows there is known in the first one.
    fn finds_place(&mut self, number: usize, path: &mut Path) -> bool {
        if path.ends[1] != End::Meeting || path.is_found {
            return path.is_found;
        }
        let waiting = &path.cursors[1];
        let sides = [&self.sides[0], &self.sides[1]];
        let Some(old) = self.states.get(number).map(|state| &state.cursors[1]) else { return false };
        let knows_constants = !self.way.tells_constants;
        while let Some((place, risks)) = path.trail.get(path.looked_at) {
            path.looked_at += 1;
            let stays = self.way.may_wait && path.looked_at == 1;
            if stays && !self.waits.allows(place.block, [old.block, waiting.block]) {
                continue;
            }
            if place.memory != waiting.memory || !is_covered(&path.risks[1], &path.risks[0][..*risks]) {
                continue;
            }
            self.copied += old.values.len();
            let [found, all] = matched(&self.store, sides, [place, waiting], old, knows_constants);
            let is_better = |most: usize| found > most || found == most && !self.store.asks();
            if path.place.as_ref().is_none_or(|(most, _)| is_better(*most)) {
                path.place = Some((found, place.clone()));
                path.best = path.looked_at;
            }
            if found == all {
                path.is_found = true;
                break;
            }
        }
        path.is_found
    }

    /// True if the first program has passed the best place, and no better one is to be expected.
    fn is_beyond(&self, path: &Path) -> bool {
        let has_effects = path.cursors[0].memory != path.cursors[1].memory;
        let is_far = path.trail.len() > path.best + MAX_BEYOND;
        self.store.asks() && path.ends[1] == End::Meeting && path.place.is_some() && (has_effects || is_far)
    }

    /// Adds that a program branches on a condition with a value, which may follow from other facts.
    fn add_fact(&self, path: &mut Path, condition: TermId, holds: bool, follows: bool) {
        let ahead = self.ahead(path, condition);
        path.facts.add(&self.store, Fact { condition, holds, is_certain: true, ahead, follows });
    }

    /// Returns the memory at an open branch of the first program, if the second program has not
    /// come so far and the condition may be poison.
    fn ahead(&self, path: &Path, condition: TermId) -> Option<TermId> {
        let first = path.cursors[0].memory;
        let is_ahead = || self.effects_after(path, first).is_none();
        (!self.store.is_solid(condition) && is_ahead()).then_some(first)
    }

    /// True if the first program reaches an undefined place, and nothing that others see of the
    /// second one differs before.
    fn is_undefined(&self, path: &Path) -> bool {
        if path.ends[0] != End::Unreachable || path.is_found {
            return false;
        }
        let first = path.cursors[0].memory;
        if first == path.start {
            return true;
        }
        let Some(later) = self.effects_after(path, first) else { return false };
        let is_before = |risk: &&Risk| risk.1 != first && !later.contains(&risk.1);
        let before: Vec<Risk> = path.risks[1].iter().filter(is_before).copied().collect();
        is_covered(&before, &path.risks[0])
    }

    /// Returns the memories behind the effects of the second program that follow another memory;
    /// `None` if it has not come so far.
    fn effects_after(&self, path: &Path, first: TermId) -> Option<Vec<TermId>> {
        let (mut memory, mut later) = (path.cursors[1].memory, Vec::new());
        while memory != first {
            later.push(memory);
            memory = match self.store.node(memory) {
                Node::Operation(own) if memory != path.start => own.memory?,
                _ => return None,
            };
        }
        Some(later)
    }

    /// Decides how a path goes on whose programs both wait.
    fn next(&mut self, number: usize, path: &mut Path) -> Try<Next> {
        if self.is_undefined(path) {
            return Ok(Next::Done);
        }
        if path.ends[1] == End::Meeting {
            return self.meet(number, path);
        }
        if let End::Open(condition) = path.ends[1]
            && path.facts.decide(&mut self.store, condition, true)?.is_some()
        {
            // The first program has shown more meanwhile.
            return Ok(Next::Again);
        }
        match (&path.ends[0], &path.ends[1]) {
            // Later branches of the first program cannot show that the condition is no poison.
            (End::Open(condition), End::Open(other))
                if !self.store.is_solid(*other) && self.ahead(path, *condition).is_some() =>
            {
                Err(POISON)
            }
            (End::Open(_), End::Open(other)) if self.store.asks() && self.store.is_solid(*other) => {
                Ok(Next::Fork(*other))
            }
            (End::Open(condition), _) => Ok(Next::Fork(*condition)),
            (_, End::Open(condition)) => match self.store.is_solid(*condition) {
                true => Ok(Next::Fork(*condition)),
                false => Err(POISON),
            },
            (End::Returned(a), End::Returned(b)) => {
                if a != b && !self.are_settled_alike(path, [a, b])? {
                    return Err("the results are not seen to be equal");
                }
                if path.cursors[0].memory != path.cursors[1].memory {
                    return Err("the effects are not seen to be equal");
                }
                self.covered(path)?;
                Ok(Next::Done)
            }
            _ => Err("the second program ends where the first one does not"),
        }
    }

    /// True if values of both programs are equal by the facts of a path.
    fn are_settled_alike(&mut self, path: &Path, values: [&Vec<TermId>; 2]) -> Try<bool> {
        let mut values = values.map(Vec::clone);
        for (side, own) in self.sides.iter().zip(&mut values) {
            side.settle(&mut self.store, &path.facts, own.iter_mut())?;
        }
        Ok(values[0] == values[1])
    }

    /// Ends a path at a pair of places, or lets it go on.
    fn meet(&mut self, number: usize, path: &mut Path) -> Try<Next> {
        let is_header = self.sides[1].headers.contains(&path.cursors[1].block);
        match path.place.take() {
            Some((_, place)) if path.is_found || is_header => {
                self.covered(path)?;
                let stays =
                    self.way.may_wait && path.trail.first().is_some_and(|own| Rc::ptr_eq(&own.0, &place));
                if stays && let Some(state) = self.states.get(number) {
                    self.waits.add(place.block, [state.cursors[1].block, path.cursors[1].block])?;
                }
                let mut cursors = [(*place).clone(), path.cursors[1].clone()];
                let facts = path.facts.settled();
                if self.store.asks() {
                    // Values that change by a number are then seen to do so.
                    let mut plain = facts.plain_sums(&mut self.store)?;
                    for term in cursors.iter_mut().flat_map(|cursor| &mut cursor.values) {
                        if *term != side::UNSET {
                            *term = self.store.replaced(*term, &mut plain, Inside::Numbers)?;
                        }
                    }
                    for (side, cursor) in self.sides.iter().zip(&mut cursors) {
                        let listed: HashSet<usize> =
                            listed(side, cursor.block).map(|value| value.index()).collect();
                        let values = cursor.values.iter_mut().enumerate();
                        let values = values.filter(|(index, _)| listed.contains(index));
                        side.settle(&mut self.store, &facts, values.map(|(_, value)| value))?;
                    }
                }
                self.arrive(Visit { cursors, facts }, Some(number))?;
                Ok(Next::Done)
            }
            _ if !is_header => {
                path.ends[1] = End::Running;
                path.looked_at = path.first_place;
                Ok(Next::Again)
            }
            _ => match &path.ends[0] {
                End::Open(condition) => Ok(Next::Fork(*condition)),
                _ => Err("a loop of the second program has no place in the first one"),
            },
        }
    }

    /// Checks that what may be undefined in the second program happens in the first one too.
    fn covered(&self, path: &Path) -> Try<()> {
        match is_covered(&path.risks[1], &path.risks[0]) {
            true => Ok(()),
            false => Err("an operation may be undefined that the first program does not execute"),
        }
    }

    /// Adds a visit to its state. It follows from another state, or from the start.
    fn arrive(&mut self, visit: Visit, from: Option<usize>) -> Try<()> {
        let apart = (self.constants(&visit), self.way.apart);
        let sides = [&self.sides[0], &self.sides[1]];
        self.states.arrive(&mut self.store, sides, visit, from, apart)
    }

    /// Returns the constants by which visits are told apart.
    fn constants(&self, visit: &Visit) -> Box<[Option<u64>]> {
        let mut all = Vec::new();
        for (side, cursor) in self.sides.iter().zip(&visit.cursors) {
            let count = if self.way.tells_all { usize::MAX } else { side.body.num_arguments(cursor.block) };
            let values = listed(side, cursor.block).take(count);
            all.extend(values.map(|value| self.store.constant(cursor.values[value.index()])));
        }
        all.into()
    }
}

/// True if all risks of the second program are some of the first one.
fn is_covered(risks: &[Risk], by: &[Risk]) -> bool {
    if risks.is_empty() {
        return true;
    }
    let by: HashSet<&Risk> = by.iter().collect();
    risks.iter().all(|risk| by.contains(risk))
}

/// The continuation of a path.
enum Next {
    Done,
    Again,
    Fork(TermId),
}
