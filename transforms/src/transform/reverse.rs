//! Reversal: runs a loop from its last iteration to its first.
//!
//! `for i in 0..n { … i … }` becomes `for i in 0..n { … n - 1 - i … }`. A loop that carries a
//! dependence computes something else then, and stays. Reversed, a loop may fuse with a neighbour
//! that walks the other way, or may be interchanged.
//!
//! Each innermost loop is reversed. A [schedule](crate::schedule) names single ones with
//! `loomir.reverse`.
//!
//! Reference: Wolfe, *High Performance Compilers for Parallel Computing*, §9.4.
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
//! $ loomir opt old.mlir --loop-reverse --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/reverse-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/reverse-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/reverse-0.svg)
//! ![The order of stores after](images/reverse-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to reverse every innermost loop.
pub struct Reverse;

impl Transformation for Reverse {
    const INFO: Info = Info {
        name: "loop-reverse",
        source: include_str!("reverse.rs"),
        summary: "Run innermost loops from their last iteration to their first",
        options: &[AliasMode::UNTESTED],
        samples: &["alias=may"],
        passed: "Reversed",
        missed: "NotReversed",
        what_missed: "Loop not reversed",
        then: "reversed",
    };

    fn of(_: &Options) -> Result<Reverse, String> {
        Ok(Reverse)
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_innermost) {
            if target.is_dimension() {
                out.missed(&target, "it is a dimension of a parallel loop");
            } else if target.carries_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else {
                out.change(&target, Change::Reverse);
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop reversed")
    }
}
