//! Parallelization: a loop whose iterations are independent becomes a parallel loop.
//!
//! `scf.for` becomes `scf.parallel`, and `affine.for` becomes `affine.parallel`. The judge asks
//! whether any two iterations conflict: one writes what the other reads or writes. Buffers that an
//! iteration allocates are its own. Updates of one element by several iterations conflict, although
//! their order does not matter, because they may happen at the same time.
//!
//! Of a nest only the outermost legal loop is changed. A loop that takes few cycles stays, because
//! threads take longer to start.
//!
//! Reference: Allen and Kennedy, *Optimizing Compilers for Modern Architectures*, §6.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.for %j = 0 to 8 {
//!       affine.store %x, %a[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-parallelize=min-cycles=0 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/parallelize-0.svg
//! ```
//!
//! Rows had this order before, and have none afterwards:
//!
//! ![The order of stores before](images/parallelize-0.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// The default of the least number of cycles: about ten times what it takes to start threads.
pub const MIN_CYCLES: f64 = 100_000.0;

/// Proposes to run loops in parallel.
pub struct Parallelize {
    /// The least estimated cycles of a loop that is changed.
    pub min_cycles: f64,
}

impl Transformation for Parallelize {
    const INFO: Info = Info {
        name: "loop-parallelize",
        source: include_str!("parallelize.rs"),
        summary: "Make loops with independent iterations parallel",
        options: &[
            AliasMode::UNTESTED,
            ("min-cycles", "100000", "the least estimated cycles of a loop that becomes parallel"),
        ],
        samples: &["min-cycles=0"],
        passed: "Parallelized",
        missed: "NotParallelized",
        what_missed: "Loop not made parallel",
        then: "made parallel",
    };

    const OUTERMOST: bool = true;

    fn of(options: &Options) -> Result<Parallelize, String> {
        let min_cycles: f64 = options.parse("min-cycles", MIN_CYCLES)?;
        match min_cycles >= 0.0 {
            true => Ok(Parallelize { min_cycles }),
            false => Err(format!("'{min_cycles}' cycles are no limit; 'min-cycles' is 0 or more")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(|target| !target.is_in_parallel()) {
            if target.carries_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else if target.trip_count().is_some_and(|trips| trips < 2) {
                out.missed(&target, "it has fewer than two iterations");
            } else if let Some(why) = target.why_not_parallel() {
                out.missed(&target, why);
            } else {
                out.if_at_least(self.min_cycles, &target, Change::AnyOrder);
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop made parallel: its iterations are independent")
    }
}
