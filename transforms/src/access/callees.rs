//! Summaries of functions for their callers.
//!
//! A call has the effects of the called function. The [`Summary`] of a function lists the arguments
//! and globals that it reads and writes, and their elements, as affine forms over its arguments. At
//! a call these become forms over the operands. Memory that the function allocates is not in the
//! summary. No caller knows it before the call, and afterwards only through returned or stored
//! values. An unknown function touches the world, as does a function that may not return. The
//! reason is kept for remarks.
//!
//! **Functions that change meanwhile.** [`SURVEY`](super::survey::SURVEY) is taken before passes
//! run on functions in parallel. It stays valid. For its callers a function is one step, from the
//! memory before to the memory after, and no pass changes the result of that step. A step that
//! depends on the listed elements only, and changes only those, may be reordered with others for
//! that reason alone. Other memory that it touches does not matter.
//!
//! # Assumptions
//!
//! - A name that is defined twice, or whose linkage allows replacement, touches the world. No
//!   function is known by its name alone. Tried with a function of a module inside another one.
//!
//! **Cost.** Each function is visited twice: once for its calls and, if it is called, once for its
//! accesses, callees first. A summary has at most [`MAX_CLASSES`](summary::MAX_CLASSES) classes. A
//! module without calls costs a visit of each of its operations.
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

/// The summaries of called functions, by name. A function without a summary is unknown.
#[derive(Clone, Debug, Default)]
pub struct Callees {
    pub(super) summaries: HashMap<Name, Summary>,
}

impl Callees {
    /// Returns the summary of the callee of a call in `body`.
    pub fn called_by(&self, body: &Body, call: Op) -> Option<&Summary> {
        self.summaries.get(&callee(body, call)?)
    }

    /// Explains in a remark why a call touches the world. Other operations get no explanation.
    pub fn explain(&self, body: &Body, op: Op, remark: Diagnostic) -> Diagnostic {
        if body.info(op).interface::<dyn CallLike>().is_none() {
            return remark;
        }
        let Some(name) = callee(body, op) else {
            return remark.note(body.loc(op), "the callee is known at run time only");
        };
        let name = format!("@{}", body.ctx().str(name));
        match self.called_by(body, op) {
            Some(summary) => summary.explain(body.loc(op), &name, remark),
            None => remark.note(body.loc(op), format!("what {name} does is not known here")),
        }
    }
}

/// Returns the name of the function that an operation calls, if it is a direct call.
pub fn callee(body: &Body, op: Op) -> Option<Name> {
    let view = body.op_ref(op);
    view.info().interface::<dyn CallLike>()?.callee(view)?.as_flat_symbol(body.ctx())
}
