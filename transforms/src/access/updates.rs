//! Updates of memory whose order does not matter: `A[i] = A[i] + e`.
//!
//! An access belongs to an *update* if an element is loaded, combined with something else, and
//! stored back, by a step of a [reduction](Reduction): an associative and commutative operation.
//! Two updates by one reduction may change places, of whichever elements; each has to happen as a
//! whole, nothing else writing in between. What is loaded and what is stored are used by nothing
//! else, so nobody sees in which order it happened. Whoever changes the order has to drop the
//! [flags](reduction) that need not hold there.
//!
//! That is freedom of order, not of doing two at a time: inside of what may run iterations
//! together, or in a way nobody knows, there are no updates.
//!
//! **Assumptions.**
//! - What is loaded and what is stored have no other use, and nothing between them writes. Tried
//!   with `fixtures/fusion/updates.mlir`.
//! - Inside of what runs iterations together there are no updates. Tried with
//!   `fixtures/fusion/parallel.mlir`.
//!
//! **Cost.** At most [`MAX_BETWEEN`] operations are looked at for each access.
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
pub use reduction::Reduction;

pub mod reduction;

/// Most operations between the load and the store of an update.
pub const MAX_BETWEEN: usize = 64;

/// An update, if the load and the store are of one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update {
    /// Of which reduction it is a step,
    pub by: Reduction,
    /// and by which operation.
    pub step: Op,
    /// What reads the element.
    pub load: Op,
    /// What writes it.
    pub store: Op,
    /// What else reads memory for it, directly: if that is the same element, it is no update.
    pub other: Option<Op>,
}

/// The updates that an access may belong to: one, or for a store of two loaded numbers two.
pub fn updates_of(body: &Body, op: Op) -> Vec<Update> {
    access(body, op).map_or_else(Vec::new, |access| updates_by(body, op, &access))
}

/// The same of `op`, which has this access.
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

/// True if what is around an operation are loops and conditionals.
fn is_in_order(body: &Body, op: Op) -> bool {
    let mut around = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    around.all(|op| {
        let info = body.info(op);
        let is_known =
            info.interface::<dyn LoopLike>().is_some() || info.interface::<dyn Conditional>().is_some();
        is_known || body.parent_op(op).is_none()
    })
}

/// True if the load and the store stand in one block, the load before, nothing between them writes,
/// and nothing else uses what is loaded.
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
