//! Local arrays whose rows may be longer.
//!
//! Elements of an array may lie further apart if only loads and stores name them, by subscripts:
//! each element keeps a place of its own, and so every load its last writer. The new elements are
//! never accessed, because subscripts stay within the old sizes; what is outside of them is
//! undefined behaviour before.
//!
//! **Assumptions.**
//! - A view, a call or a cast could name elements by their distance, so the array must have no
//!   such use. Tried in `fixtures/pad/refused.mlir`.

use loomir_dialects::interfaces::MemoryAccess;
use loomir_dialects::memref;
use loomir_ir::{Body, DYNAMIC, Op, Value};

use super::is_resizable;
use crate::access::locals::Locals;

/// An array whose rows may be longer.
pub(crate) struct Padded {
    allocation: Op,
    accesses: Vec<Op>,
}

/// The reason why an array keeps its layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotPadded {
    /// An operation uses it that is no load, store or free.
    Used(Op),
    /// The size of a row is unknown, or there is one row.
    Shape,
}

impl Padded {
    /// Judges a local allocation.
    ///
    /// # Errors
    ///
    /// The reason why it stays. `None` if the value is no array that the function owns.
    pub(crate) fn of(body: &Body, locals: &Locals, array: Value) -> Result<Padded, Option<NotPadded>> {
        let allocation = body.defining_op(array).filter(|_| locals.is_local_allocation(array)).ok_or(None)?;
        if !is_resizable(body, array) {
            return Err(None);
        }
        let shape = body.value_type(array).shape(body.ctx()).unwrap_or_default();
        if shape.len() < 2 || shape.contains(&DYNAMIC) {
            return Err(Some(NotPadded::Shape));
        }
        let mut accesses = Vec::new();
        for used in body.uses(array).map(|used| used.op) {
            if body.is(used, memref::DeallocOp::DEF) {
                continue;
            }
            let view = body.op_ref(used);
            let access = view.info().interface::<dyn MemoryAccess>().map(|model| model.access(view));
            if !access.is_some_and(|own| own.memref == array && own.stored != Some(array)) {
                return Err(Some(NotPadded::Used(used)));
            }
            accesses.push(used);
        }
        Ok(Padded { allocation, accesses })
    }

    /// Returns the allocation.
    pub(crate) fn allocation(&self) -> Op {
        self.allocation
    }

    /// Returns all loads and stores.
    pub(crate) fn accesses(&self) -> &[Op] {
        &self.accesses
    }
}
