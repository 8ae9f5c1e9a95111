//! Loop fusion: neighbouring counted loops become one.
//!
//! Both bodies run in one loop, one behind the other. The second body then finds values of the
//! first in a register or a cache, and arrays between them may shrink. If that would reverse a
//! dependence, the second loop runs some iterations later. Iterations that only one of the loops
//! has run before the fused loop and behind it.
//!
//! Here are the pass, its options and its statistics. The header of `fusion.rs` says how pairs are
//! found, aligned and chosen.
//!
//! Reference: Kennedy and McKinley, *Maximizing Loop Parallelism and Improving Data Locality via
//! Loop Fusion and Distribution*, LCPC 1993.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<12xf32>, %b: memref<10xf32>, %x: f32) {
//!   affine.for %i = 0 to 12 {
//!     affine.store %x, %a[%i] : memref<12xf32>
//!   }
//!   affine.for %i = 0 to 10 {
//!     %l = affine.load %a[%i] : memref<12xf32>
//!     %r = affine.load %a[%i + 2] : memref<12xf32>
//!     %s = arith.addf %l, %r : f32
//!     affine.store %s, %b[%i] : memref<10xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir fuse old.mlir --alias=distinct --fusion-profitability=always --contract=false -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/fusion-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/fusion-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/fusion-0.svg)
//! ![The order of stores after](images/fusion-1.svg)
//!
//! The second loop reads `a[i + 2]`, so it runs two iterations later. [Fusion by
//! example](../fusion.md) has more.

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
        (
            "unroll-and-jam",
            "true",
            "let a fused loop take two iterations at a time, if its sums wait for each other",
        ),
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
        let unroll_and_jam = options.parse("unroll-and-jam", default.unroll_and_jam)?;
        let limits = Options { max_shift, shift_multiple, max_tests, unroll_and_jam, ..default };
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
