//! The known values of conditions: constants, comparisons of constants, and consequences of
//! dominating conditions.
//!
//! Two integers compare in one of five ways: they are equal, or one is less or greater as a signed
//! and as an unsigned number. A predicate is a set of these ways, and so is the knowledge about two
//! values. A condition is decided if the known set is inside the predicate's set, or disjoint from
//! it. A comparison with a constant gives a range, signed and unsigned.
//!
//! [`Facts`] holds the knowledge at one place. Going down the dominator tree adds facts, going up
//! removes them. A question costs a few steps: it looks four levels deep through `and`, `or` and
//! negation.

use hashbrown::HashMap;
use loomir_dialects::arith::constant::{Numbers, mask, signed};
use loomir_dialects::llvm;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Op, Type, Value};

/// The depth to which conditions are examined.
const MAX_DEPTH: usize = 4;

/// The ways in which two integers compare, a bit each.
type Ways = u8;

const EQUAL: Ways = 1;
const LESS: Ways = 2;
/// Less when read as signed, greater when read as unsigned.
const LESS_SIGNED: Ways = 4;
const LESS_UNSIGNED: Ways = 8;
const GREATER: Ways = 16;
const ALL: Ways = 31;

/// Returns the ways in which a predicate of `llvm.icmp` holds.
fn ways_of(predicate: i64) -> Ways {
    let signed_less = LESS | LESS_SIGNED;
    let unsigned_less = LESS | LESS_UNSIGNED;
    match predicate {
        0 => EQUAL,
        1 => ALL & !EQUAL,
        2 => signed_less,
        3 => signed_less | EQUAL,
        4 => ALL & !signed_less & !EQUAL,
        5 => ALL & !signed_less,
        6 => unsigned_less,
        7 => unsigned_less | EQUAL,
        8 => ALL & !unsigned_less & !EQUAL,
        9 => ALL & !unsigned_less,
        _ => ALL,
    }
}

/// Returns the ways of the swapped comparison.
fn turned(ways: Ways) -> Ways {
    let pairs = [(EQUAL, EQUAL), (LESS, GREATER), (GREATER, LESS)];
    let mixed = [(LESS_SIGNED, LESS_UNSIGNED), (LESS_UNSIGNED, LESS_SIGNED)];
    pairs.into_iter().chain(mixed).filter(|(way, _)| ways & way != 0).map(|(_, other)| other).sum()
}

/// The range of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) unsigned: (u128, u128),
    signed: (i128, i128),
}

impl Range {
    fn full(width: u32) -> Range {
        let largest = (mask(width) >> 1) as i128;
        Range { unsigned: (0, mask(width)), signed: (-largest - 1, largest) }
    }

    fn only(bits: u128, width: u32) -> Range {
        let number = signed(bits, width);
        Range { unsigned: (bits, bits), signed: (number, number) }
    }

    /// Returns the range of unsigned numbers up to a limit.
    fn up_to(limit: u128, width: u32) -> Range {
        let mut range = Range::full(width);
        range.unsigned.1 = limit;
        // Then the signed range is known, too.
        if limit <= mask(width) >> 1 {
            range.signed = (0, limit as i128);
        }
        range
    }

    fn intersect(self, other: Range) -> Range {
        Range {
            unsigned: (self.unsigned.0.max(other.unsigned.0), self.unsigned.1.min(other.unsigned.1)),
            signed: (self.signed.0.max(other.signed.0), self.signed.1.min(other.signed.1)),
        }
    }

    /// Returns the range under the condition that it compares with a constant in one of these ways.
    fn narrowed(self, ways: Ways, constant: Range) -> Range {
        let mut range = self;
        let (bits, number) = (constant.unsigned.0, constant.signed.0);
        if ways & (LESS | LESS_UNSIGNED | EQUAL) == ways {
            range.unsigned.1 = range.unsigned.1.min(bits.saturating_sub(u128::from(ways & EQUAL == 0)));
        }
        if ways & (GREATER | LESS_SIGNED | EQUAL) == ways {
            range.unsigned.0 = range.unsigned.0.max(bits.saturating_add(u128::from(ways & EQUAL == 0)));
        }
        if ways & (LESS | LESS_SIGNED | EQUAL) == ways {
            range.signed.1 = range.signed.1.min(number.saturating_sub(i128::from(ways & EQUAL == 0)));
        }
        if ways & (GREATER | LESS_UNSIGNED | EQUAL) == ways {
            range.signed.0 = range.signed.0.max(number.saturating_add(i128::from(ways & EQUAL == 0)));
        }
        range
    }

    /// Returns the ways in which it can compare with another range.
    fn compared(self, other: Range) -> Ways {
        let unsigned = orders(self.unsigned, other.unsigned);
        let signed = orders(self.signed, other.signed);
        let mut ways = 0;
        for (way, signed_order, unsigned_order) in
            [(EQUAL, 1, 1), (LESS, 0, 0), (LESS_SIGNED, 0, 2), (LESS_UNSIGNED, 2, 0), (GREATER, 2, 2)]
        {
            if signed[signed_order] && unsigned[unsigned_order] {
                ways |= way;
            }
        }
        ways
    }
}

/// Returns whether a number of one range can be less than, equal to, greater than one of another.
fn orders<T: Ord + Copy>(a: (T, T), b: (T, T)) -> [bool; 3] {
    [a.0 < b.1, a.0 <= b.1 && b.0 <= a.1, a.1 > b.0]
}

/// The facts that hold at a place.
#[derive(Default)]
pub(super) struct Facts {
    decided: HashMap<Value, bool>,
    compared: HashMap<(Value, Value), Ways>,
    ranges: HashMap<Value, Range>,
    /// The overwritten facts, from the last change back.
    undo: Vec<Undo>,
}

enum Undo {
    Decided(Value, Option<bool>),
    Compared((Value, Value), Option<Ways>),
    Ranged(Value, Option<Range>),
}

/// Returns the relations, and the operands, of an integer comparison.
fn comparison(function: &Body, op: Op) -> Option<(Ways, Value, Value)> {
    if !function.is(op, llvm::ICmpOp::DEF) || function.value_type(function.result(op, 0)) != Type::I1 {
        return None;
    }
    let predicate = function.attr(op, "predicate")?.as_int(function.ctx())?;
    Some((ways_of(predicate), function.operand(op, 0), function.operand(op, 1)))
}

/// Returns the bits of an integer constant of at most 128 bits, with its width.
pub(crate) fn constant_bits(function: &Body, value: Value) -> Option<(u128, u32)> {
    let width = function.value_type(value).integer_width(function.ctx()).filter(|width| *width <= 128)?;
    match Numbers::of(function.ctx(), constant_of(function, value)?)? {
        Numbers::One(bits) => Some((bits & mask(width), width)),
        Numbers::Many(_) => None,
    }
}

/// Returns the value of a condition, if constants alone decide it.
pub(super) fn constant_condition(function: &Body, condition: Value) -> Option<bool> {
    Facts::default().decide(function, condition)
}

impl Facts {
    /// Returns a mark for a later return to this state.
    pub(super) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Removes the facts learnt since a mark.
    pub(super) fn go_back(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop() {
                Some(Undo::Decided(key, before)) => restore(&mut self.decided, key, before),
                Some(Undo::Compared(key, before)) => restore(&mut self.compared, key, before),
                Some(Undo::Ranged(key, before)) => restore(&mut self.ranges, key, before),
                None => {}
            }
        }
    }

    /// Learns that a condition is true, or false, with the consequences.
    pub(super) fn learn(&mut self, function: &Body, condition: Value, is_true: bool) {
        let mut pending = vec![(condition, is_true, 0)];
        while let Some((condition, is_true, depth)) = pending.pop() {
            self.undo.push(Undo::Decided(condition, self.decided.insert(condition, is_true)));
            let Some(op) = function.defining_op(condition).filter(|_| depth < MAX_DEPTH) else { continue };
            if let Some((ways, a, b)) = comparison(function, op) {
                self.learn_comparison(function, if is_true { ways } else { ALL & !ways }, a, b);
            } else if function.is(op, if is_true { llvm::AndOp::DEF } else { llvm::OrOp::DEF }) {
                pending.extend(function.operands(op).map(|part| (part, is_true, depth + 1)));
            } else if let Some(negated) = negated(function, op) {
                pending.push((negated, !is_true, depth + 1));
            }
        }
    }

    /// Records that an integer has this value.
    pub(super) fn learn_value(&mut self, function: &Body, value: Value, bits: u128) {
        if let Some(width) = function.value_type(value).integer_width(function.ctx()).filter(|w| *w <= 128) {
            let range = self.range(function, value).unwrap_or(Range::full(width));
            self.set_range(value, range.intersect(Range::only(bits, width)));
        }
    }

    fn learn_comparison(&mut self, function: &Body, ways: Ways, a: Value, b: Value) {
        for (value, other, ways) in [(a, b, ways), (b, a, turned(ways))] {
            if let (Some(range), Some((bits, width))) =
                (self.range(function, value), constant_bits(function, other))
            {
                self.set_range(value, range.narrowed(ways, Range::only(bits, width)));
            }
        }
        let (key, ways) = ordered(a, b, ways);
        let known = self.compared.get(&key).copied().unwrap_or(ALL);
        self.undo.push(Undo::Compared(key, self.compared.insert(key, known & ways)));
    }

    fn set_range(&mut self, value: Value, range: Range) {
        self.undo.push(Undo::Ranged(value, self.ranges.insert(value, range)));
    }

    /// Returns the range of an integer of at most 128 bits.
    pub(super) fn range(&self, function: &Body, value: Value) -> Option<Range> {
        let width = function.value_type(value).integer_width(function.ctx()).filter(|width| *width <= 128)?;
        if let Some((bits, width)) = constant_bits(function, value) {
            return Some(Range::only(bits, width));
        }
        let by_definition = function.defining_op(value).and_then(|op| {
            let constant = |index: usize| constant_bits(function, function.operand(op, index));
            if function.is(op, llvm::AndOp::DEF) {
                Some(Range::up_to(constant(1).or_else(|| constant(0))?.0, width))
            } else if function.is(op, llvm::URemOp::DEF) {
                Some(Range::up_to(constant(1)?.0.checked_sub(1)?, width))
            } else if function.is(op, llvm::LShrOp::DEF) {
                let by = u32::try_from(constant(1)?.0).ok()?;
                Some(Range::up_to(mask(width).checked_shr(by)?, width))
            } else if function.is(op, llvm::ZExtOp::DEF) {
                let from = function.value_type(function.operand(op, 0)).integer_width(function.ctx())?;
                Some(Range::up_to(mask(from), width))
            } else {
                None
            }
        });
        let range = by_definition.unwrap_or(Range::full(width));
        Some(self.ranges.get(&value).map_or(range, |known| range.intersect(*known)))
    }

    /// Returns the value of a condition, if known.
    pub(super) fn decide(&self, function: &Body, condition: Value) -> Option<bool> {
        self.decide_to(function, condition, 0)
    }

    fn decide_to(&self, function: &Body, condition: Value, depth: usize) -> Option<bool> {
        if let Some(known) = self.decided.get(&condition) {
            return Some(*known);
        }
        if function.value_type(condition) != Type::I1 {
            return None;
        }
        let range = self.range(function, condition)?;
        if range.unsigned.0 == range.unsigned.1 {
            return Some(range.unsigned.0 == 1);
        }
        let op = function.defining_op(condition).filter(|_| depth < MAX_DEPTH)?;
        if let Some((ways, a, b)) = comparison(function, op) {
            return self.decide_comparison(function, ways, a, b);
        }
        let part = |index: usize| self.decide_to(function, function.operand(op, index), depth + 1);
        if function.is(op, llvm::AndOp::DEF) {
            return and(part(0), part(1));
        }
        if function.is(op, llvm::OrOp::DEF) {
            return and(part(0).map(|known| !known), part(1).map(|known| !known)).map(|known| !known);
        }
        Some(!self.decide_to(function, negated(function, op)?, depth + 1)?)
    }

    fn decide_comparison(&self, function: &Body, ways: Ways, a: Value, b: Value) -> Option<bool> {
        let mut known = if a == b { EQUAL } else { ALL };
        if let (Some(a), Some(b)) = (self.range(function, a), self.range(function, b)) {
            known &= a.compared(b);
        }
        let (key, ways) = ordered(a, b, ways);
        known = if key == (a, b) { known } else { turned(known) };
        known &= self.compared.get(&key).copied().unwrap_or(ALL);
        match () {
            // Code under contradictory facts never runs.
            () if known == 0 => None,
            () if known & ways == known => Some(true),
            () if known & ways == 0 => Some(false),
            () => None,
        }
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Returns two values in canonical order, and the ways in which they compare in that order.
fn ordered(a: Value, b: Value, ways: Ways) -> ((Value, Value), Ways) {
    if a.index() <= b.index() { ((a, b), ways) } else { ((b, a), turned(ways)) }
}

/// Returns the operand that an exclusive or with true negates.
fn negated(function: &Body, op: Op) -> Option<Value> {
    if !function.is(op, llvm::XOrOp::DEF) || function.value_type(function.result(op, 0)) != Type::I1 {
        return None;
    }
    let is_true = |value| constant_bits(function, value) == Some((1, 1));
    let (a, b) = (function.operand(op, 0), function.operand(op, 1));
    if is_true(b) { Some(a) } else { is_true(a).then_some(b) }
}

fn restore<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, before: Option<V>) {
    match before {
        Some(before) => map.insert(key, before),
        None => map.remove(&key),
    };
}
