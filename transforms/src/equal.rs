//! Structural equality of operations, with everything inside them.
//!
//! Two operations are equal if names, attributes, types and operands are, with values that the two
//! define in the same place taken for equal. Operands of a commutative operation may be in any
//! order. An operation with a region of several blocks equals no other.
//!
//! **Cost.** Linear in the smaller of the two operations.

use hashbrown::HashMap;
use loomir_ir::{Block, Body, Op, Trait, Value};
use smallvec::SmallVec;

/// Values of one operation, each with the value in its place in the other.
type Same = HashMap<Value, Value>;

/// Returns the operands, renamed, and sorted if their order does not matter.
pub(crate) fn operands(body: &Body, op: Op, rename: impl Fn(Value) -> Value) -> SmallVec<[Value; 4]> {
    let mut operands: SmallVec<[Value; 4]> = body.operands(op).map(rename).collect();
    if body.has_trait(op, Trait::Commutative) {
        operands.sort_unstable_by_key(|value| value.index());
    }
    operands
}

/// True if two operations are equal with all they hold.
pub(crate) fn is_equal(body: &Body, a: Op, b: Op) -> bool {
    let mut same = Same::new();
    has_equal_head(body, a, b, &same) && has_equal_regions(body, a, b, &mut same)
}

/// True if two operations hold equal operations, whatever their own operands and attributes are.
pub(crate) fn has_equal_bodies(body: &Body, a: Op, b: Op) -> bool {
    is_same_place(body, a, b) && has_equal_regions(body, a, b, &mut Same::new())
}

/// True if two operations, which are of one form, hold equal operations.
fn has_equal_regions(body: &Body, a: Op, b: Op, same: &mut Same) -> bool {
    let (mut left, mut right) = (body.preorder(a).skip(1), body.preorder(b).skip(1));
    if !enter(body, a, b, same) {
        return false;
    }
    loop {
        match (left.next(), right.next()) {
            (Some(a), Some(b)) if has_equal_head(body, a, b, same) => {
                if !enter(body, a, b, same) {
                    return false;
                }
            }
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// Adds the results and block arguments of two operations. False if their types differ.
fn enter(body: &Body, a: Op, b: Op, same: &mut Same) -> bool {
    same.extend(body.results(a).zip(body.results(b)));
    for (a, b) in body.own_regions(a).zip(body.own_regions(b)) {
        let (a, b) = (body.entry_block(a), body.entry_block(b));
        let arguments = |block: Option<Block>| block.into_iter().flat_map(|own| body.arguments(own));
        if a.is_some() != b.is_some() || !has_equal_types(body, arguments(a), arguments(b)) {
            return false;
        }
        same.extend(arguments(a).zip(arguments(b)));
    }
    true
}

/// True if two operations are equal apart from their regions, given values known to be the same.
fn has_equal_head(body: &Body, a: Op, b: Op, same: &Same) -> bool {
    let renamed = |value: Value| same.get(&value).copied().unwrap_or(value);
    body.op_name(a) == body.op_name(b)
        && body.properties(a) == body.properties(b)
        && body.attributes(a) == body.attributes(b)
        && body.num_operands(a) == body.num_operands(b)
        && has_equal_types(body, body.results(a), body.results(b))
        && operands(body, a, renamed) == operands(body, b, |value| value)
        && is_same_place(body, a, b)
}

/// True if two operations have as many regions of at most one block, each with as many operations.
/// Equal numbers in the order of the text then stand at the same depth.
fn is_same_place(body: &Body, a: Op, b: Op) -> bool {
    let sizes = |op: Op| {
        body.own_regions(op).map(|own| match body.entry_block(own) {
            Some(block) => body.next_block(block).is_none().then(|| body.ops(block).count()),
            None => Some(0),
        })
    };
    body.own_regions(a).len() == body.own_regions(b).len()
        && sizes(a).zip(sizes(b)).all(|(a, b)| a.is_some() && a == b)
}

fn has_equal_types(body: &Body, a: impl Iterator<Item = Value>, b: impl Iterator<Item = Value>) -> bool {
    a.map(|value| body.value_type(value)).eq(b.map(|value| body.value_type(value)))
}
