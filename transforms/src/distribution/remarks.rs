//! Remarks of distribution about a loop: the number of its parts, or the reason why it stays one.

use loomir_ir::{Body, Diagnostic, Loc, Op, Value};

use crate::access::callees::Callees;
use crate::legality::Verdict;
use crate::naming::called;
use crate::remark::{self, Remarks};

/// Returns the remarks of the pass on a function.
pub(super) fn remarks(body: &Body) -> Remarks<'_> {
    Remarks { body, pass: super::PASS.name }
}

/// Returns the remark about a value that is passed from one loop to the next.
pub(super) fn expanded(body: &Body, value: Value) -> Diagnostic {
    let loc = body.defining_op(value).map_or(Loc::UNKNOWN, |op| body.loc(op));
    remarks(body).passed("Expanded", loc, "Value handed on in an array")
}

/// Returns the remark about a distributed loop. Each new loop but the first begins with one of
/// `heads`.
pub(super) fn distributed(body: &Body, op: Op, heads: &[Op]) -> Diagnostic {
    let text = format!("Loop distributed into {} loops", heads.len() + 1);
    let said = remarks(body).passed("Distributed", body.loc(op), &text).arg("loops", heads.len() + 1);
    heads.iter().fold(said, |said, head| said.note(body.loc(*head), "here begins another"))
}

/// Returns the remark about a loop without a legal cut.
pub(super) fn dependences(body: &Body, callees: &Callees, op: Op, verdict: &Verdict) -> Diagnostic {
    let said = missed(body, op, "InvalidDependencies", "Dependencies prevent distribution");
    verdict.explain_calls(body, callees, verdict.explain(body, said, "distributed"))
}

/// Returns the remark about a loop whose cuts all need values passed on, with this one as an
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

/// Returns the remark about a loop whose cuts all need tests of at least `pairs` pairs of memrefs.
pub(super) fn too_many_tests(body: &Body, op: Op, pairs: usize) -> Diagnostic {
    let why = format!("{pairs} pairs of arguments would have to be tested for overlap");
    missed(body, op, "InvalidDependencies", &why).arg("tests", pairs)
}

fn missed(body: &Body, op: Op, name: &'static str, why: &str) -> Diagnostic {
    remarks(body).missed(name, body.loc(op), "Loop not distributed", why)
}
