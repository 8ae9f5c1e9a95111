//! Summaries of functions for their callers.
//!
//! A call does what the called function does. The [`Summary`] of a function lists the arguments and
//! globals that it reads and writes, and their elements, as affine forms over its arguments. Where
//! the function is called, these become the forms of the operands. Memory that the function makes
//! itself is not in the summary: nobody can know it before the call, and later only by what the
//! call returned or wrote. A function of which nothing is known touches the world, as does one that
//! may not return. The reason is kept for remarks.
//!
//! **Functions that change meanwhile.** [`SURVEY`](super::survey::SURVEY) is taken before passes
//! run on functions in parallel. It stays valid. For its callers a function is one step, from the
//! memory before to the memory behind, and no pass changes what that step computes. A step that
//! depends on the listed elements only, and changes only those, may change places with others for
//! that reason alone, whatever it touches on the way.
//!
//! # Assumptions
//!
//! - A name that is defined twice, or whose linkage lets others replace it, touches the world. No
//!   function is known by its name alone. Tried with a function of a module inside another one.
//!
//! **Cost.** Each function is looked at twice: once for its calls and, if somebody calls it, once
//! for its accesses, callees first. A summary has at most [`MAX_CLASSES`](summary::MAX_CLASSES)
//! classes. A module without calls costs a look at each of its operations.
//!
//! # Limits
//!
//! - A callee is summarised if it is a `func.func` of one block that is called by name, is not
//!   recursive, always returns, and touches only its arguments, globals and its own memory, in at
//!   most 64 classes.
//! - Stores of a callee are not followed to loads behind the call. An array that is passed to a
//!   call is not contracted.
//! - Attributes of external functions are ignored on the tree.

use hashbrown::HashMap;
use loomir_dialects::interfaces::CallLike;
use loomir_ir::{Body, Diagnostic, Name, Op};

use summary::Summary;

pub mod summary;

/// The summaries of the functions that are called, by name; none where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Callees {
    pub(super) summaries: HashMap<Name, Summary>,
}

impl Callees {
    /// Returns the summary of the function that a call in `body` calls.
    pub fn called_by(&self, body: &Body, call: Op) -> Option<&Summary> {
        self.summaries.get(&callee(body, call)?)
    }

    /// Adds to a remark on an operation that touches the world why it does, if it is a call.
    pub fn explain(&self, body: &Body, op: Op, remark: Diagnostic) -> Diagnostic {
        if body.info(op).interface::<dyn CallLike>().is_none() {
            return remark;
        }
        let Some(name) = callee(body, op) else {
            return remark.note(body.loc(op), "what is called here is known when the program runs only");
        };
        let name = format!("@{}", body.ctx().str(name));
        match self.called_by(body, op) {
            Some(summary) => summary.explain(body.loc(op), &name, remark),
            None => remark.note(body.loc(op), format!("what {name} does is not known here")),
        }
    }
}

/// The function that an operation calls by its name.
pub fn callee(body: &Body, op: Op) -> Option<Name> {
    let view = body.op_ref(op);
    view.info().interface::<dyn CallLike>()?.callee(view)?.as_flat_symbol(body.ctx())
}
