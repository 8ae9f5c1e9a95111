//! Skewing: runs an inner loop later the later the outer one is.
//!
//! With a factor of one, `for i in 0..n { for j in 0..m { … } }` becomes
//!
//! ```text
//!     for i in 0..n { for t in i..m + i { … j = t - i … } }
//! ```
//!
//! The order does not change, so skewing alone is always legal. Interchanged, the iterations of one
//! `t` are a wavefront: none of them depends on another one if each depends on neighbours above and
//! on the left. With `wavefront` the pass does both, and the judge may refuse.
//!
//! The two outermost loops of each perfect nest are skewed. A [schedule](crate::schedule) skews
//! single loops with `loomir.skew`.
//!
//! Reference: Wolfe, *Loop Skewing: The Wavefront Method Revisited* (1986).
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>) {
//!   affine.for %i = 1 to 8 {
//!     affine.for %j = 1 to 8 {
//!       %x = affine.load %a[%i - 1, %j] : memref<8x8xf32>
//!       %y = affine.load %a[%i, %j - 1] : memref<8x8xf32>
//!       %s = arith.addf %x, %y : f32
//!       affine.store %s, %a[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-skew=wavefront=true --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --order=images/skew-0.svg
//! $ loomir run new.mlir --entry=f --arg=iota --order=images/skew-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/skew-0.svg)
//! ![The order of stores after](images/skew-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to skew the two outermost loops of perfect nests.
pub struct Skew {
    /// The iterations of the inner loop for one of the outer loop. Not zero.
    by: i64,
    /// True if the loops are interchanged afterwards.
    wavefront: bool,
}

impl Transformation for Skew {
    const INFO: Info = Info {
        name: "loop-skew",
        source: include_str!("skew.rs"),
        summary: "Skew the two outermost loops of perfect nests, for wavefronts",
        options: &[
            AliasMode::UNTESTED,
            ("by", "1", "iterations of the inner loop for each one of the outer loop, not 0"),
            ("wavefront", "false", "interchange the skewed loops"),
        ],
        samples: &["by=-2", "wavefront=true"],
        passed: "Skewed",
        missed: "NotSkewed",
        what_missed: "Loops not skewed",
        then: "skewed",
    };

    fn of(options: &Options) -> Result<Skew, String> {
        match options.parse("by", 1)? {
            0 => Err("loops skewed by 0 stay as they are; 'by' is another number".to_owned()),
            by => Ok(Skew { by, wavefront: options.parse("wavefront", false)? }),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in LoopRef::nests(loops) {
            if target.nest_depth() == 1 {
                out.missed(&target, "it is no nest of two loops");
            } else if target.nest_carries_values() {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if target.nest_is_parallel() {
                out.missed(&target, "a loop of the nest is parallel");
            } else {
                let by = self.by;
                let change = if self.wavefront { Change::Wavefront { by } } else { Change::Skew { by } };
                out.change(&target, change);
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let then = if self.wavefront { ", and interchanged" } else { "" };
        let text = format!("Loops skewed by {}{then}", self.by);
        remarks.passed(Self::INFO.passed, loc, &text).arg("by", self.by)
    }
}
