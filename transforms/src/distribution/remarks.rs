//! What distribution says of a loop: into how many it was made, or why it stays one.

use loomir_ir::{Body, Diagnostic, Loc, Op, Value};

use crate::access::callees::Callees;
use crate::legality::Verdict;
use crate::naming::called;
use crate::remark::{self, Remarks};

/// The remarks of the pass on a function.
pub(super) fn remarks(body: &Body) -> Remarks<'_> {
    Remarks { body, pass: super::PASS.name }
}

/// The remark for a value that is handed from one loop to the next.
pub(super) fn expanded(body: &Body, value: Value) -> Diagnostic {
    let loc = body.defining_op(value).map_or(Loc::UNKNOWN, |op| body.loc(op));
    remarks(body).passed("Expanded", loc, "Value handed on in an array")
}

/// The remark for a loop that was distributed; each loop but the first begins with one of `heads`.
pub(super) fn distributed(body: &Body, op: Op, heads: &[Op]) -> Diagnostic {
    let text = format!("Loop distributed into {} loops", heads.len() + 1);
    let said = remarks(body).passed("Distributed", body.loc(op), &text).arg("loops", heads.len() + 1);
    heads.iter().fold(said, |said, head| said.note(body.loc(*head), "here begins another"))
}

/// The remark for a loop of which no cut may be made.
pub(super) fn dependences(body: &Body, callees: &Callees, op: Op, verdict: &Verdict) -> Diagnostic {
    let said = missed(body, op, "InvalidDependencies", "Dependencies prevent distribution");
    verdict.explain_calls(body, callees, verdict.explain(body, said, "distributed"))
}

/// The remark for a loop over each cut of which values would have to be handed, this one for
/// example.
pub(super) fn crossing(body: &Body, op: Op, value: Value) -> Diagnostic {
    let said = missed(body, op, "ValuesCross", "Values computed before each cut are used behind it");
    match body.defining_op(value) {
        Some(from) => said
            .note(body.loc(from), format!("{} is, for one", called(body, value)))
            .arg("value", remark::op(body, from)),
        None => said,
    }
}

/// The remark for a loop for each cut of which so many pairs of memrefs, or more, would have to be
/// tested.
pub(super) fn too_many_tests(body: &Body, op: Op, pairs: usize) -> Diagnostic {
    let why = format!("{pairs} pairs of arguments would have to be tested for overlap");
    missed(body, op, "InvalidDependencies", &why).arg("tests", pairs)
}

fn missed(body: &Body, op: Op, name: &'static str, why: &str) -> Diagnostic {
    remarks(body).missed(name, body.loc(op), "Loop not distributed", why)
}
