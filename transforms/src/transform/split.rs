//! Index-set splitting: makes a loop of the first iterations and one of the others.
//!
//! `for i in 0..n` becomes `for i in 0..min(at, n)` and `for i in at..n`. The order of iterations
//! does not change, so a split is always legal. Each part may then be transformed in its own way:
//! a condition on the counter is decided in both, and one part may fuse with a neighbour.
//!
//! Each innermost loop is split at the iteration of one number, counted from zero. A
//! [schedule](crate::schedule) splits single loops with `loomir.split`. [Fusion](crate::fusion)
//! joins two loops over neighbouring ranges with one body again.
//!
//! Reference: Wolfe, *High Performance Compilers for Parallel Computing*, §9.7.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16xf32>, %x: f32) {
//!   affine.for %i = 0 to 16 {
//!     affine.store %x, %a[%i] : memref<16xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-split=at=5 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/split-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/split-1.svg
//! ```
//!
//! The order of stores stays. Each colour is one operation of the text:
//!
//! ![The order of stores before](images/split-0.svg)
//! ![The order of stores after](images/split-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::affine::AffineForm;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to split every innermost loop in two.
pub struct Split {
    /// The number of the first iteration of the second loop. Positive.
    at: i64,
}

impl Transformation for Split {
    const INFO: Info = Info {
        name: "loop-split",
        source: include_str!("split.rs"),
        summary: "Make two loops of each innermost loop: first iterations, and the others",
        options: &[AliasMode::UNTESTED, ("at", "1", "iterations of the first loop, at least 1")],
        samples: &["at=1", "at=3"],
        passed: "Split",
        missed: "NotSplit",
        what_missed: "Loop not split in two",
        then: "split",
    };

    fn of(options: &Options) -> Result<Split, String> {
        match options.parse("at", 1)? {
            at @ 1.. => Ok(Split { at }),
            at => Err(format!("'{at}' iterations are no loop; 'at' is 1 or more")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_innermost) {
            if target.is_dimension() {
                out.missed(&target, "it is a dimension of a parallel loop");
            } else if target.trip_count().is_some_and(|trips| trips <= self.at.unsigned_abs()) {
                out.missed(&target, "it has no iterations behind the first ones");
            } else {
                out.change(&target, Change::SplitRange { at: AffineForm::constant(self.at) });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let text = format!("Loop split in two at iteration {}", self.at);
        remarks.passed(Self::INFO.passed, loc, &text).arg("at", self.at)
    }
}
