//! The rewiring check as a pass: it changes nothing and reports its results.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc};
use loomir_transforms::remark::Remarks;

use super::{Options, Outcome, Step, check};

const NAME: &str = "check-rewiring";

/// The pass `check-rewiring` on `builtin.module`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("builtin.module"),
    summary: "Check that fusing loops of the tree and then lowering comes to the same as the other way round",
    options: &[],
    make: |_| Ok(Box::new(CheckRewiring)),
};

struct CheckRewiring;

impl Pass for CheckRewiring {
    fn name(&self) -> &str {
        NAME
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let report = check(body, &Options::default())?;
        cx.count("Fusions that come to the same", report.equal() as u64);
        cx.count("Fusions looked at", report.steps.len() as u64);
        let mut errors = Diagnostics::new();
        for step in &report.steps {
            let said = told(body, step);
            match step.outcome {
                Outcome::Different(_) | Outcome::Broken(_) => errors.push(said),
                _ => cx.remark(said),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Returns the diagnostic for a step: an error if both sides differ.
pub fn told(body: &Body, step: &Step) -> Diagnostic {
    let remarks = Remarks { body, pass: NAME };
    let [first, second] = step.loops;
    let told = match &step.outcome {
        Outcome::Equal(0) => {
            remarks.passed("Equal", second, "Fused on the tree and on the graph these loops are one")
        }
        Outcome::Equal(promised) => {
            let what = "Fused on the tree and on the graph these loops are one";
            let more = format!("{what}, except for flags of {promised} of their values");
            remarks.passed("Equal", second, &more)
        }
        Outcome::Different(difference) => {
            let error = Diagnostic::error(
                second,
                format!("fused on the tree and on the graph these loops differ: {}", difference.what),
            );
            let places = difference.places.iter().zip(["on the graph", "on the tree"]);
            places.fold(error, |error, (place, side)| match *place {
                Loc::UNKNOWN => error,
                place => error.note(place, format!("here {side}")),
            })
        }
        Outcome::Broken(what) => {
            Diagnostic::error(second, format!("fused on the graph these loops are broken: {what}"))
        }
        Outcome::Refused(name, why) => {
            let what = format!("Not fused on the graph: {}", why.message);
            let remark = remarks.missed(name, second, "Fused on the tree", &what);
            why.notes.iter().fold(remark, |remark, (place, note)| remark.note(*place, note.clone()))
        }
        Outcome::Open(why) => remarks.analysis("Open", second, &format!("Not compared: {why}")),
    };
    told.note(first, "the first loop is here")
}
