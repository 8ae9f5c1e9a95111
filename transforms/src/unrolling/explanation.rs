//! The remark that lists the steps of a decision.

use loomir_ir::diagnostics::Fields;
use loomir_ir::{Diagnostic, Loc};

use super::Step;
use crate::remark::Remarks;

/// The name of the remark.
pub const NAME: &str = "UnrollDecision";

/// Returns the remark about the way to a decision, and what became of the loop. As data it has
/// the `steps`, each with its `step` and its `answer`, and the `outcome`.
pub fn explained(remarks: Remarks<'_>, loc: Loc, steps: &[Step], outcome: &str) -> Diagnostic {
    let text = steps.iter().map(|step| format!("{}: {}", step.name, step.text));
    let text = text.collect::<Vec<_>>().join("; ");
    let remark = remarks.analysis(NAME, loc, &text).arg("outcome", outcome);
    steps.iter().fold(remark, |remark, step| {
        let fields: Fields = vec![("step", step.name.into()), ("answer", step.text.as_str().into())];
        remark.listing("steps", fields)
    })
}
