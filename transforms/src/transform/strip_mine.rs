//! Strip-mining: splits a loop into a loop over blocks of iterations and a loop over the iterations
//! of one block.
//!
//! `for i in 0..n` becomes `for b in 0..n step size` around `for i in b..min(b + size, n)`. The
//! order of iterations does not change. It is a building block of tiling (strip-mine, then permute)
//! and of vectorization.
//!
//! Reference: Wolfe, *High Performance Compilers for Parallel Computing*, §9.9.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16xf32>, %n: index, %x: f32) {
//!   affine.for %i = 0 to %n {
//!     affine.store %x, %a[%i] : memref<16xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-strip-mine=size=4 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=14 --arg=1 --order=images/strip-mine-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=14 --arg=1 --order=images/strip-mine-1.svg
//! ```
//!
//! The order of stores stays:
//!
//! ![The order of stores before](images/strip-mine-0.svg)
//! ![The order of stores after](images/strip-mine-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to strip-mine every innermost loop.
pub struct StripMine {
    /// Iterations of one block. Positive.
    size: i64,
}

impl Transformation for StripMine {
    const INFO: Info = Info {
        name: "loop-strip-mine",
        source: include_str!("strip_mine.rs"),
        summary: "Split innermost loops into blocks of iterations",
        options: &[AliasMode::UNTESTED, ("size", "32", "iterations of one block, at least 1")],
        samples: &["size=1", "size=2", "size=3"],
        passed: "StripMined",
        missed: "NotStripMined",
        what_missed: "Loop not split into blocks",
        then: "strip-mined",
    };

    fn of(options: &Options) -> Result<StripMine, String> {
        match options.parse("size", 32)? {
            size @ 1.. => Ok(StripMine { size }),
            size => Err(format!("'{size}' iterations are no block; 'size' is 1 or more")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_innermost) {
            if target.is_dimension() {
                out.missed(&target, "it is a dimension of a parallel loop");
            } else if target.carries_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else {
                out.change(&target, Change::StripMine { size: self.size });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let text = format!("Loop split into blocks of {} iterations", self.size);
        remarks.passed(Self::INFO.passed, loc, &text).arg("size", self.size)
    }
}
