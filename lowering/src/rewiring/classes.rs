//! Equality of values of two functions: partition refinement over both at once.
//!
//! The blocks of one correspond to those of the other. Two values are in one class if nothing
//! distinguishes them. Arguments of corresponding blocks are equal as long as their incoming values
//! are in equal classes. Computed values are equal if they have the same operation and operands of
//! equal classes, at any place. Values read from memory are equal if the reads are in corresponding
//! blocks behind the same effects.
//!
//! At first all arguments of a block count as equal. Each round distinguishes more of them, until
//! one round changes nothing. The values of one class are then equal whenever both functions run in
//! step. This follows by induction over the steps, because a value's operands cannot change before
//! the value does (each definition dominates its uses).
//!
//! Cost: each round is linear. The number of rounds is the number of arguments that a difference
//! must pass through, bounded by [`MAX_ROUNDS`].

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Op, Trait, Type, Value};

use super::shape::{Does, Shapes};
use super::sums::Sum;
use crate::cfg::branch::{successor_operands, targets};
use crate::cfg::conditions::constant_bits;

/// Most rounds.
pub(super) const MAX_ROUNDS: usize = 256;

/// One of two functions: its blocks, each after its dominators, with corresponding ones at the same
/// place.
pub(super) struct Side<'f> {
    pub(super) function: &'f Body,
    pub(super) blocks: Vec<Block>,
    /// The operations of each block, the branch last.
    ops: Vec<Vec<Row>>,
    /// The incoming operands of each block for each edge, in the order of the source blocks.
    edges: Vec<Vec<Vec<Value>>>,
}

/// An operation.
struct Row {
    op: Op,
    shape: u32,
    does: Does,
}

impl<'f> Side<'f> {
    /// Returns the side of a function with blocks in this order.
    pub(super) fn of(function: &'f Body, blocks: Vec<Block>, shapes: &mut Shapes) -> Side<'f> {
        let numbers: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        let mut edges = vec![Vec::new(); blocks.len()];
        let mut ops = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let row = |op: Op| Row { op, shape: shapes.of(function, op), does: Does::of(function, op) };
            ops.push(function.ops(*block).map(row).collect());
            let Some(branch) = function.terminator(*block) else { continue };
            for target in targets(function, branch) {
                if let Some(to) = numbers.get(&target.block) {
                    edges[*to].push(target.operands);
                }
            }
        }
        Side { function, blocks, ops, edges }
    }
}

/// The key of a class.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// A parameter of the function.
    Parameter(usize),
    /// An argument of a block of a type: its previous class, and its incoming classes.
    Argument(u32, Type, u32, Vec<u32>),
    /// A result of a computation with these operands.
    Pure(u32, u32, Vec<u32>),
    /// An integer.
    Sum(Type, Sum),
    /// An effect in a block, with the effects it must follow there.
    Effect { block: u32, shape: u32, operands: Vec<u32>, behind: Vec<u32> },
    /// A result of an effect.
    Result(u32, u32),
}

/// An event in a block.
pub(super) struct Happens {
    pub(super) op: Op,
    pub(super) class: u32,
}

/// The classes of the values of one side, and its effects.
#[derive(Default)]
pub(super) struct Classes {
    /// The class of each value, by the value's number.
    values: Vec<u32>,
    /// For each block.
    pub(super) happens: Vec<Vec<Happens>>,
}

impl Classes {
    /// Returns the class of a value.
    pub(super) fn of(&self, value: Value) -> u32 {
        self.values.get(value.index()).copied().unwrap_or(0)
    }
}

/// Returns the classes of both sides. `None` if that takes too many rounds.
pub(super) fn classes(sides: &[Side<'_>; 2]) -> Option<[Classes; 2]> {
    let mut known = sides
        .each_ref()
        .map(|side| Classes { values: vec![0; side.function.num_value_slots()], happens: Vec::new() });
    let mut arguments = 0;
    for round in 0..MAX_ROUNDS {
        let mut table = Table::default();
        let [a, b] = [0, 1].map(|side| table.round(&sides[side], &known[side], round == 0));
        // All classes of arguments are computed anew from the previous ones, so none of them is
        // lost.
        let found = table.arguments;
        known = [a, b];
        if round > 0 && found == arguments {
            return Some(known);
        }
        arguments = found;
    }
    None
}

/// The classes of one round.
#[derive(Default)]
struct Table {
    classes: HashMap<Key, u32>,
    /// The classes that are sums.
    sums: HashMap<u32, Sum>,
    /// The number of classes of arguments.
    arguments: usize,
}

impl Table {
    fn class(&mut self, key: Key) -> u32 {
        // Zero is none.
        let next = self.classes.len() as u32 + 1;
        let is_argument = matches!(key, Key::Argument(..));
        let class = *self.classes.entry(key).or_insert(next);
        self.arguments += usize::from(is_argument && class == next);
        class
    }

    fn round(&mut self, side: &Side<'_>, before: &Classes, is_first: bool) -> Classes {
        let function = side.function;
        let mut now = Classes { values: vec![0; before.values.len()], happens: Vec::new() };
        for (number, block) in (0u32..).zip(&side.blocks) {
            for (index, argument) in function.arguments(*block).enumerate() {
                let ty = function.value_type(argument);
                let handed = side.edges[number as usize].iter();
                let handed = handed.filter_map(|operands| operands.get(index));
                let class = match number {
                    0 => self.class(Key::Parameter(index)),
                    _ if is_first => self.class(Key::Argument(number, ty, 0, Vec::new())),
                    _ => {
                        let handed = handed.map(|value| before.of(*value)).collect();
                        self.class(Key::Argument(number, ty, before.of(argument), handed))
                    }
                };
                now.values[argument.index()] = class;
            }
            let happens = self.block(side, number, &mut now);
            now.happens.push(happens);
        }
        now
    }

    /// Computes the classes of the results of a block's operations. Returns its effects.
    fn block(&mut self, side: &Side<'_>, number: u32, now: &mut Classes) -> Vec<Happens> {
        let function = side.function;
        let mut happens = Vec::new();
        // The last operation that may change memory, and the reads since.
        let (mut last, mut reads): (Option<u32>, Vec<u32>) = (None, Vec::new());
        for row in &side.ops[number as usize] {
            let operands = operands(function, row.op, now);
            if row.does == Does::Nothing {
                for index in 0..function.num_results(row.op) {
                    let value = function.result(row.op, index);
                    let sum = self.sum(function, row.op, now);
                    let class = match sum {
                        Some(sum) => self.class_of_sum(function.value_type(value), sum),
                        None => self.class(Key::Pure(row.shape, index as u32, operands.clone())),
                    };
                    now.values[value.index()] = class;
                }
                continue;
            }
            if function.has_trait(row.op, Trait::Terminator) && row.does == Does::Acts {
                continue;
            }
            let behind = match row.does {
                Does::Nothing => Vec::new(),
                // An earlier event may have ended the program.
                Does::MayFail | Does::Reads => last.into_iter().collect(),
                Does::Acts => {
                    reads.sort_unstable();
                    last.into_iter().chain(reads.drain(..)).collect()
                }
            };
            let key = Key::Effect { block: number, shape: row.shape, operands, behind };
            let class = self.class(key);
            match row.does {
                Does::Nothing | Does::MayFail => {}
                Does::Reads => reads.push(class),
                Does::Acts => last = Some(class),
            }
            happens.push(Happens { op: row.op, class });
            for (index, value) in (0..).zip(function.results(row.op)) {
                now.values[value.index()] = self.class(Key::Result(class, index));
            }
        }
        happens
    }

    fn class_of_sum(&mut self, ty: Type, sum: Sum) -> u32 {
        if let Some(class) = sum.as_class() {
            return class;
        }
        let class = self.class(Key::Sum(ty, sum.clone()));
        self.sums.insert(class, sum);
        class
    }

    /// Returns the result of an operation on integers, as a sum.
    fn sum(&self, function: &Body, op: Op, now: &Classes) -> Option<Sum> {
        let result = function.results(op).next()?;
        let width =
            function.value_type(result).integer_width(function.ctx()).filter(|width| *width <= 128)?;
        if let Some((bits, _)) = constant_bits(function, result) {
            return Some(Sum::number(bits));
        }
        let is = |def| function.is(op, def);
        if ![llvm::AddOp::DEF, llvm::SubOp::DEF, llvm::MulOp::DEF, llvm::ShlOp::DEF].into_iter().any(is) {
            return None;
        }
        let [a, b] = [0, 1].map(|index| {
            let class = now.of(function.operand(op, index));
            self.sums.get(&class).cloned().unwrap_or_else(|| Sum::one(class))
        });
        if is(llvm::AddOp::DEF) {
            return a.plus(&b, 1, width);
        }
        if is(llvm::SubOp::DEF) {
            return a.plus(&b, u128::MAX, width);
        }
        let zero = Sum::number(0);
        if is(llvm::ShlOp::DEF) {
            let by = b.as_number().filter(|by| *by < u128::from(width))?;
            return zero.plus(&a, 1 << by, width);
        }
        match (a.as_number(), b.as_number()) {
            (Some(times), _) => zero.plus(&b, times, width),
            (_, Some(times)) => zero.plus(&a, times, width),
            _ => None,
        }
    }
}

/// Returns the classes of the operands of an operation without operands passed to successors.
/// Sorted if their order does not matter.
pub(super) fn operands(function: &Body, op: Op, now: &Classes) -> Vec<u32> {
    let handed: usize = match function.successors(op).len() {
        0 => 0,
        _ => successor_operands(function, op).iter().map(Vec::len).sum(),
    };
    let own = function.num_operands(op) - handed;
    let mut classes: Vec<u32> = function.operands(op).take(own).map(|value| now.of(value)).collect();
    if function.has_trait(op, Trait::Commutative) {
        classes.sort_unstable();
    }
    classes
}
