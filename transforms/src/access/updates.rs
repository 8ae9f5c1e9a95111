//! Updates of memory whose order does not matter: `A[i] = A[i] + e`.
//!
//! An access belongs to an *update* if an element is loaded, combined with something else and
//! stored back by a step of a [reduction](Reduction): an associative and commutative operation. Two
//! updates by one reduction may be reordered, whichever elements they touch. Each must stay whole,
//! without another write in between. The loaded and stored values have no other use, so the order
//! is not observable. Reordering must drop the [flags](reduction) that need not hold in another
//! order.
//!
//! This freedom is about order, not about simultaneous execution. Inside operations that may run
//! iterations together, or in an unknown way, there are no updates.
//!
//! **Assumptions.**
//! - The loaded and stored values have no other use, and nothing between them writes. Tried with
//!   `fixtures/fusion/updates.mlir`.
//! - Inside of operations that run iterations together there are no updates. Tried with
//!   `fixtures/fusion/parallel.mlir`.
//!
//! **Cost.** At most [`MAX_BETWEEN`] operations are visited for each access.
//!
//! # Limits
//!
//! - An update has its load, operation and store in one block. Updates of floats may change places
//!   only with equal flags. A value that a loop carries is not an update.
//! - If more than 16 updates of one object may have changed places, all of them lose what is
//!   promised of their results.

use loomir_dialects::interfaces::{Access, Conditional, LoopLike, MemoryAccess};
use loomir_ir::{Body, Op, Value};

use crate::affine::surroundings::is_harmless;
pub use combined::{Combined, combined};
pub use reduction::Reduction;

mod combined;
pub mod reduction;

/// The maximal number of operations between the load and the store of an update.
pub const MAX_BETWEEN: usize = 64;

/// An update, if the load and the store are of one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update {
    /// The reduction.
    pub by: Reduction,
    /// The step of the reduction.
    pub step: Op,
    /// The load of the element.
    pub load: Op,
    /// The store to the element.
    pub store: Op,
    /// Another operand's load. If it reads the same element, this is no update.
    pub other: Option<Op>,
}

/// Returns the updates that an access may belong to: one, or two for a store of the sum of two
/// loaded numbers.
pub fn updates_of(body: &Body, op: Op) -> Vec<Update> {
    access(body, op).map_or_else(Vec::new, |access| updates_by(body, op, &access))
}

/// Returns the same for `op`, given its access.
pub(super) fn updates_by(body: &Body, op: Op, access: &Access) -> Vec<Update> {
    let combined = match access.stored {
        Some(value) => body.defining_op(value),
        None if body.num_results(op) == 1 => only_user(body, body.result(op, 0)),
        None => None,
    };
    let Some(combined) = combined else { return Vec::new() };
    let Some((by, operands)) = Reduction::of(body, combined).filter(|_| is_in_order(body, combined)) else {
        return Vec::new();
    };
    let result = body.result(combined, 0);
    let Some(store) = only_user(body, result).filter(|op| stored(body, *op) == Some(result)) else {
        return Vec::new();
    };
    let loads = operands.map(|value| body.defining_op(value?).filter(|op| is_load(body, *op)));
    let pairs = [(loads[0], loads[1]), (loads[1], loads[0])];
    let updates = pairs.into_iter().filter_map(|(load, other)| {
        let update = Update { by, step: combined, load: load?, store, other };
        let is_one = op == update.load || op == store;
        (is_one && is_whole(body, &update)).then_some(update)
    });
    updates.collect()
}

/// True if all operations around an operation are loops and conditionals.
fn is_in_order(body: &Body, op: Op) -> bool {
    let mut around = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    around.all(|op| {
        let info = body.info(op);
        let is_known =
            info.interface::<dyn LoopLike>().is_some() || info.interface::<dyn Conditional>().is_some();
        is_known || body.parent_op(op).is_none()
    })
}

/// True if the load precedes the store in one block, nothing between them writes, and nothing else
/// uses the loaded value.
fn is_whole(body: &Body, update: &Update) -> bool {
    let between = std::iter::successors(body.next_op(update.load), |op| body.next_op(*op));
    let mut between =
        between.take(MAX_BETWEEN).take_while(|op| is_harmless(body, *op) || *op == update.store);
    only_user(body, body.result(update.load, 0)).is_some() && between.any(|op| op == update.store)
}

fn access(body: &Body, op: Op) -> Option<Access> {
    let view = body.op_ref(op);
    Some(view.info().interface::<dyn MemoryAccess>()?.access(view))
}

fn stored(body: &Body, op: Op) -> Option<Value> {
    access(body, op)?.stored
}

fn is_load(body: &Body, op: Op) -> bool {
    access(body, op).is_some_and(|access| access.stored.is_none()) && body.num_results(op) == 1
}

fn only_user(body: &Body, value: Value) -> Option<Op> {
    let mut uses = body.uses(value);
    let first = uses.next()?.op;
    uses.next().is_none().then_some(first)
}
