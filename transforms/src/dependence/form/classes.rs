//! Values that are equal though nobody knows what they are: each class has one name, so what is built from them compares equal.
//!
//! A value that is not affine is known by the operation that computes it. Sums, differences and products of words are equal if they are so as polynomials
//! modulo 2 to the power of the width; other pure operations if they and their attributes are the same and their operands are so equal. Of a class the
//! first value met is the name, where it stands in a block around the other one: forms are asked for in the order of the text, so
//! the name is computed before each use.
//!
//! Poison: a name must not be poison where the value is not, for it may be written in the value's place. So what the name's expression is
//! made of, flags and what carries them not looked into, must be part of what the value's is made of.
//!
//! **Cost.** A value's expression is walked to at most 32 operations.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::memref;
use loomir_ir::attributes::Dict;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Name, Op, Trait, Type, Value};

use super::range::width;
use super::{Form, Forms};
use crate::simplify::operation::{Binary, Operation};

/// Most operations of an expression that are looked into.
const MAX_EXPRESSION: usize = 32;

/// How a value is computed: equal keys are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// A polynomial modulo 2 to the power of a width.
    Ring(Form, u32),
    /// An operation, by its name, with attributes, the type of its result and operands.
    Alike(Name, [Dict; 2], Type, Vec<Operand>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operand {
    Word(Form, u32),
    Other(Value),
}

/// The names of the classes. See the [module](self).
#[derive(Default)]
pub(super) struct Classes {
    names: HashMap<Key, Vec<Member>>,
}

/// A name of a class, and what it is made of.
struct Member {
    value: Value,
    leaves: HashSet<Value>,
}

impl Forms<'_> {
    /// The name of the class of a value that is a parameter and not affine.
    pub(super) fn name(&mut self, value: Value, fuel: usize) -> Value {
        let body = self.body;
        let key = body.defining_op(value).filter(|_| fuel > 0).and_then(|op| self.key(op, value, fuel - 1));
        let Some(key) = key else { return value };
        let leaves = leaves(body, value);
        let stands_around = |name: Value| {
            let block = body.value_block(name);
            let outwards = |block: &_| body.block_of(body.region_parent(body.block_region(*block)));
            std::iter::successors(body.value_block(value), outwards).any(|around| Some(around) == block)
        };
        let names = self.classes.names.entry(key).or_default();
        let found = names.iter().find(|name| name.leaves.is_subset(&leaves) && stands_around(name.value));
        if let Some(name) = found {
            return name.value;
        }
        names.push(Member { value, leaves });
        value
    }

    fn key(&mut self, op: Op, value: Value, fuel: usize) -> Option<Key> {
        let body = self.body;
        if is_ring(Operation::of(body, op)) {
            return Some(Key::Ring(self.congruent(value, fuel)?, width(body, value)));
        }
        if !is_computed(body, op) {
            return None;
        }
        let mut operands = Vec::with_capacity(body.num_operands(op));
        for operand in body.operands(op) {
            let is_word = crate::simplify::operation::width(body, operand).is_some();
            let form = if is_word { self.congruent(operand, fuel) } else { None };
            operands
                .push(form.map_or(Operand::Other(operand), |form| Operand::Word(form, width(body, operand))));
        }
        if body.has_trait(op, Trait::Commutative) {
            operands.sort_by(Operand::order);
        }
        Some(Key::Alike(
            body.info(op).name(),
            [body.properties(op), body.attributes(op)],
            body.value_type(value),
            operands,
        ))
    }
}

impl Operand {
    fn order(&self, other: &Operand) -> std::cmp::Ordering {
        match (self, other) {
            (Operand::Word(a, _), Operand::Word(b, _)) => a.order(b),
            (Operand::Other(a), Operand::Other(b)) => a.index().cmp(&b.index()),
            (Operand::Word(..), Operand::Other(_)) => std::cmp::Ordering::Less,
            (Operand::Other(_), Operand::Word(..)) => std::cmp::Ordering::Greater,
        }
    }
}

fn is_ring(operation: Option<Operation>) -> bool {
    matches!(operation, Some(Operation::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl)))
}

/// Whether an operation has one result, which depends on its operands alone.
fn is_computed(body: &Body, op: Op) -> bool {
    let is_pure = body.has_trait(op, Trait::Pure) || body.is(op, memref::DimOp::DEF);
    is_pure && body.num_results(op) == 1 && body.num_operands(op) > 0 && body.own_regions(op).len() == 0
}

/// What a value is made of: it is poison only if one of these is.
fn leaves(body: &Body, value: Value) -> HashSet<Value> {
    let mut leaves = HashSet::new();
    let mut open = vec![value];
    for looked_at in 0.. {
        let Some(next) = open.pop() else { break };
        let op = body.defining_op(next).filter(|op| is_computed(body, *op));
        match op {
            _ if constant_of(body, next).is_some() => {}
            Some(op) if looked_at < MAX_EXPRESSION && !may_make_poison(body, op) => {
                open.extend(body.operands(op))
            }
            _ => _ = leaves.insert(next),
        }
    }
    leaves
}

/// Whether an operation may be poison though its operands are not: by a flag, or if a shift is too wide.
fn may_make_poison(body: &Body, op: Op) -> bool {
    let shifts = [Binary::Shl, Binary::ShrS, Binary::ShrU].map(Operation::Binary);
    match Operation::of(body, op) {
        Some(operation) if shifts.contains(&operation) => constant_of(body, body.operand(op, 1)).is_none(),
        Some(Operation::Compare(_)) => false,
        Some(_) => ["overflowFlags", "isExact", "nonNeg"].into_iter().any(|flag| {
            body.attr(op, flag)
                .is_some_and(|attr| loomir_dialects::arith::OVERFLOW.value(body.ctx(), attr) != Some(0))
        }),
        None => !body.is(op, memref::DimOp::DEF),
    }
}
