//! The fusion pass, its options and statistics.

use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Body, Diagnostics};

use super::{NAME, Options, fuse};
use crate::access::callees::Callees;
use crate::access::survey;
use crate::access::{Analyses, INTERFACES};
use crate::cost::{CostSource, Machine};

/// The pass `loop-fusion` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("func.func"),
    summary: "Fuse neighbouring loops where every dependence is kept",
    options: &[
        ("alias", "version", "what to assume of memrefs nothing is known of: version, may, distinct"),
        ("fusion-profitability", "cost", "how to choose among legal fusions: cost (largest saving), always"),
        (
            "cost",
            "static",
            "where costs come from: static, or profile, a run whose counts are in the program",
        ),
        ("max-shift", "8", "by how many iterations the second loop may be shifted to keep a dependence"),
        ("shift-multiple", "1", "round shifts up to a multiple of this number, such as the width of vectors"),
        ("max-tests", "8", "the most assumptions that one run-time check may test"),
        INTERFACES[0].option(),
        INTERFACES[1].option(),
        INTERFACES[2].option(),
        INTERFACES[3].option(),
        INTERFACES[4].option(),
    ],
    make: |options| {
        let default = Options::default();
        let alias = options.parse("alias", default.alias)?;
        let max_shift = options.parse("max-shift", default.max_shift)?;
        let shift_multiple = options.parse("shift-multiple", default.shift_multiple)?;
        let max_tests = options.parse("max-tests", default.max_tests)?;
        let profitability = options.parse("fusion-profitability", default.profitability)?;
        let cost = options.parse("cost", CostSource::default())?.cost(Machine::default());
        let analyses = Analyses::of_options(options)?;
        let limits = Options { max_shift, shift_multiple, max_tests, ..default };
        let options = Options { alias, profitability, cost, analyses, ..limits };
        Ok(Box::new(LoopFusion { options }))
    },
};

struct LoopFusion {
    options: Options,
}

impl Pass for LoopFusion {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let analyses = self.options.analyses.with_callees(&Callees::around(cx.surveys));
        let edits = cx.edits.clone();
        let report = fuse(body, &Options { analyses, edits, ..self.options.clone() });
        cx.count("Loops fused", report.fused as u64);
        cx.count("Pairs refused", report.refused as u64);
        cx.count("Sequences grouped optimally", report.choice.optimal as u64);
        cx.count("Sequences grouped by a bounded search", report.choice.bounded as u64);
        cx.count("Steps of searches for groups", report.choice.steps as u64);
        for remark in report.remarks {
            cx.remark(remark);
        }
        Ok(())
    }
}
