//! What functions touch, known to their callers.
//!
//! A call does what the function does that is called. The [`Summary`] of a function says what that is: which arguments and globals it reads and writes, and
//! which elements of them, as affine forms over its arguments; where it is called these become the forms of the operands. Memory that it makes itself is
//! not in it: nobody can know it before the call, and who does afterwards was told by what the call returned or wrote. A function of which more is
//! not known touches the world, as does one that may not return; why is kept, to be said.
//!
//! **Functions that change meanwhile.** [`SURVEY`](super::survey::SURVEY) is taken before passes run on functions in parallel, and says of each what it touched then. That holds
//! on: for whoever calls it, a function is one step from what memory holds before to what it holds behind, and no pass changes what that step
//! computes. A step that depends on no element but those, and changes none but those, may change places with others for that reason alone,
//! whatever it touches on the way.
//!
//! # Assumptions
//!
//! - A name that is defined twice, or whose linkage lets others replace it, touches the world. No
//!   function is known by its name alone. Tried with a function of a module inside another one.
//!
//! **Cost.** Each function is looked at twice, once for what it calls and, if somebody calls it, once for what it touches, those that it calls first;
//! a summary has at most [`MAX_CLASSES`](summary::MAX_CLASSES) classes. A module without calls costs a look at each of its operations.

use hashbrown::HashMap;
use loomir_dialects::interfaces::CallLike;
use loomir_ir::{Body, Diagnostic, Name, Op};

use summary::Summary;

pub mod summary;

/// What functions touch, by their names: of those that are called. Of none, where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Callees {
    pub(super) summaries: HashMap<Name, Summary>,
}

impl Callees {
    /// What is known of the function that a call in `body` calls.
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
