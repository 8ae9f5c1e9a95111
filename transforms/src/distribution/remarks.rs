//! What distribution says of a loop: into how many it was made, or why it stays one.

use loomir_ir::{Body, Diagnostic, Op, Value};

use crate::dependence::callees::Callees;
use crate::legality::{Verdict, called};
use crate::remark::remark;

/// The remark for a loop that was distributed; each loop but the first begins with one of `heads`.
pub(super) fn distributed(body: &Body, op: Op, heads: &[Op]) -> Diagnostic {
    let said = remark(body, body.loc(op), &format!("Loop distributed into {} loops", heads.len() + 1));
    heads.iter().fold(said, |said, head| said.note(body.loc(*head), "here begins another"))
}

/// The remark for a loop of which no cut may be made.
pub(super) fn dependences(body: &Body, callees: &Callees, op: Op, verdict: &Verdict) -> Diagnostic {
    let message = "Loop not distributed [InvalidDependencies]: Dependencies prevent distribution";
    let said = verdict.explain(body, remark(body, body.loc(op), message), "distributed");
    verdict.explain_calls(body, callees, said)
}

/// The remark for a loop over each cut of which values would have to be handed, this one for example.
pub(super) fn crossing(body: &Body, op: Op, value: Value) -> Diagnostic {
    let message = "Loop not distributed [ValuesCross]: Values computed before each cut are used behind it";
    let said = remark(body, body.loc(op), message);
    match body.defining_op(value) {
        Some(from) => said.note(body.loc(from), format!("{} is, for one", called(body, value))),
        None => said,
    }
}

/// The remark for a loop for each cut of which so many pairs of memrefs, or more, would have to be tested.
pub(super) fn too_many_tests(body: &Body, op: Op, pairs: usize) -> Diagnostic {
    let message = format!(
        "Loop not distributed [InvalidDependencies]: {pairs} pairs of arguments would have to be tested for overlap"
    );
    remark(body, body.loc(op), &message)
}
