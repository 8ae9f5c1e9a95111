//! The judge of storage: the accesses that may be removed, and the array dimensions that may be
//! folded.
//!
//! Storage may change if each read still finds the value of its last writer, and the live-out
//! contents stay the same. Seven changes are judged:
//!
//! - a load is replaced by an available value ([`Forwarded`]);
//! - a store is removed, because it is the last writer of no read and is not live-out
//!   ([`Unneeded`]);
//! - elements of a local array share storage ([`Folds`]);
//! - a loop keeps one element in a register ([`Promoted`]);
//! - a loop reads a copy of elements ([`Packed`]);
//! - each iteration of a loop gets a buffer of its own ([`Private`]);
//! - rows of a local array become longer ([`Padded`]).
//!
//! Only this module makes these values, and passes write nothing else. If the data flow is
//! not exact, or a limit is reached, nothing is approved.

use loomir_dialects::interfaces::MemoryAccess;
use loomir_dialects::memref;
use loomir_ir::{Body, Op, TypeKind, Value};

use crate::flow::Flow;
use crate::flow::timeline::{AccessId, Timeline};

mod flowing;
mod forward;
mod packed;
mod padded;
mod private;
mod promoted;

pub(crate) use packed::{NotPacked, Packed};
pub(crate) use padded::{NotPadded, Padded};
pub(crate) use private::{NotPrivate, Private};
pub(crate) use promoted::{Promoted, has_candidate};

/// Judges changes of the storage that the accesses of a timeline use.
pub(crate) struct StorageJudge<'a> {
    body: &'a Body,
    timeline: &'a Timeline,
    flow: &'a Flow<'a>,
}

/// A load that may be replaced by the value that another access stored or loaded.
pub(crate) struct Forwarded {
    load: AccessId,
    source: AccessId,
}

/// A store that may go.
pub(crate) struct Unneeded(AccessId);

/// The folding of each dimension of an array.
pub(crate) struct Folds(Vec<Fold>);

/// The change of a dimension of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fold {
    /// The dimension stays.
    Keep,
    /// The dimension gets this size, and subscripts count modulo it.
    Modulo(i64),
}

/// The reason why an array stays unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missed {
    /// The array escapes by this operation.
    Escapes(Op),
    /// An operation other than a load, a store or a free uses it.
    Used(Op),
    /// More than half of the dimension's elements are alive at a time.
    FullSize,
    /// The number of live elements is unbounded.
    Unbounded,
    /// Too many accesses, or a limit was reached.
    TooHard,
}

/// The change of an array's storage.
pub(crate) enum Storage {
    /// The array loses all dimensions.
    Scalar,
    /// The array stays.
    Stays(Missed),
    /// Its dimensions are folded.
    Folds(Folds),
}

/// The contraction of a local array.
pub(crate) struct Plan {
    dead: Vec<Unneeded>,
    kept: Vec<AccessId>,
    storage: Storage,
}

impl<'a> StorageJudge<'a> {
    /// Creates a judge of the accesses of `timeline`, with their data flow.
    pub(crate) fn new(body: &'a Body, timeline: &'a Timeline, flow: &'a Flow<'a>) -> Self {
        StorageJudge { body, timeline, flow }
    }
}

impl Forwarded {
    /// Returns the load.
    pub(crate) fn load(&self) -> AccessId {
        self.load
    }

    /// Returns the access with the value. That access stays.
    pub(crate) fn source(&self) -> AccessId {
        self.source
    }
}

impl Unneeded {
    /// Returns the store.
    pub(crate) fn store(&self) -> AccessId {
        self.0
    }
}

impl Folds {
    /// Returns the dimensions in order.
    pub(crate) fn dimensions(&self) -> &[Fold] {
        &self.0
    }
}

impl Plan {
    /// Returns the stores to erase, the accesses that stay, and the storage.
    pub(crate) fn into_parts(self) -> (Vec<Unneeded>, Vec<AccessId>, Storage) {
        (self.dead, self.kept, self.storage)
    }
}

/// Returns the value that a load or store has seen.
pub(crate) fn value_at(body: &Body, op: Op) -> Option<Value> {
    let view = body.op_ref(op);
    let access = view.info().interface::<dyn MemoryAccess>()?.access(view);
    access.stored.or_else(|| view.results().next())
}

/// Returns the value that an access stores.
pub(crate) fn stored_by(body: &Body, op: Op) -> Option<Value> {
    let view = body.op_ref(op);
    view.info().interface::<dyn MemoryAccess>()?.access(view).stored
}

/// True if a value is an allocation whose type says nothing of the layout, so that its sizes may
/// change.
fn is_resizable(body: &Body, allocation: Value) -> bool {
    let TypeKind::MemRef { layout: None, .. } = body.value_type(allocation).kind(body.ctx()) else {
        return false;
    };
    let allocates = |op: Op| body.is(op, memref::AllocOp::DEF) || body.is(op, memref::AllocaOp::DEF);
    body.defining_op(allocation).is_some_and(allocates)
}
