//! Memory that the parser has read with and needs no more, kept for its room: reading an operation
//! allocates what the operation keeps, and little else.
//!
//! Each kind is a stack, for an operation is read while the one around it waits. What is taken is
//! as good as new.

use super::Parser;
use super::values::ValueScope;
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::OpName;
use crate::location::Loc;
use crate::text::format::Scratch;
use crate::text::parser::ResultGroup;

/// Things to use again.
#[derive(Default)]
pub(super) struct Spare<'s> {
    pub(super) scopes: Vec<ValueScope<'s>>,
    pub(super) groups: Vec<Vec<ResultGroup>>,
    pub(super) states: Vec<OperationState>,
    /// The boxes go to where a body is read and come back.
    #[allow(clippy::vec_box)]
    pub(super) bodies: Vec<Box<Body>>,
    scratch: Vec<Scratch>,
}

impl Parser<'_> {
    /// A state for [`OperationState::restart`].
    pub(super) fn spare_state(&mut self) -> OperationState {
        self.spare.states.pop().unwrap_or_else(|| OperationState::named(OpName::FIRST, Loc::UNKNOWN))
    }

    /// The body of an operation of which only the name is known, with one region.
    pub(crate) fn spare_body(&mut self, name: OpName, loc: Loc) -> Box<Body> {
        match self.spare.bodies.pop() {
            Some(mut body) => {
                body.restart(name, loc);
                body
            }
            None => Box::new(Body::new(self.ctx, OperationState::named(name, loc).regions(1))),
        }
    }

    /// Vectors for a reader by a format.
    pub(crate) fn take_scratch(&mut self) -> Scratch {
        self.spare.scratch.pop().unwrap_or_default()
    }

    /// Keeps vectors, emptied, for the next reader.
    pub(crate) fn give_back_scratch(&mut self, scratch: Scratch) {
        self.spare.scratch.push(scratch);
    }
}
