//! Vectorization: blocks of iterations run at once, as operations on vectors.
//!
//! With four lanes, `for i in 0..n` becomes a loop over whole blocks of four iterations, in which
//! each operation computes four elements, and a loop over the iterations left over. The iterations
//! of a block must be independent: the judge asks if one of them writes what another one reads or
//! writes. The order inside of an iteration stays.
//!
//! Loads and stores of neighbouring elements become `vector.load` and `vector.store`. Others load
//! or store an element of each lane. A condition that differs from iteration to iteration becomes a
//! mask: `vector.maskedload`, `vector.maskedstore`, and `arith.select` for what both sides yield.
//! A side that touches memory is skipped if no iteration of the block runs it.
//!
//! A loop may carry values that its iterations only combine: sums, products, least and greatest
//! numbers. Each lane combines its own iterations, and `vector.reduction` combines the lanes behind
//! the loop. Sums of floats need `reassoc` for that.
//!
//! With `level=1`, loops with one loop inside are vectorized instead of innermost ones: each lane
//! runs an inner loop of its own, in its order. That is how sums of floats become vectors without
//! being reordered.
//!
//! LLVM makes vectors too, of innermost loops. This pass shows them in the program, and does what
//! LLVM does not.
//!
//! Reference: Allen and Kennedy, *Optimizing Compilers for Modern Architectures*, §2.4.
//!
//! **Not in `.ll`.** Functions of the `llvm` dialect have no memrefs; LLVM makes vectors of them.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     %0 = affine.load %a[%i] : memref<8xf32>
//!     %1 = arith.addf %0, %x : f32
//!     affine.store %1, %a[%i] : memref<8xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-vectorize=lanes=4 --remarks=text -o new.mlir
//! $ cat new.mlir
//! ```

use loomir_ir::pass::Options;
use loomir_ir::{Body, Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;
use crate::widening::{MAX_LANES, forget_marks, obstacle, widen_marked};

/// Proposes to run blocks of iterations at once.
pub struct Vectorize {
    /// The number of iterations of a block, from 2 on.
    pub lanes: usize,
    /// The number of loops inside of a changed loop, one in the other.
    pub level: usize,
}

impl Transformation for Vectorize {
    const INFO: Info = Info {
        name: "loop-vectorize",
        source: include_str!("vectorize.rs"),
        summary: "Run blocks of iterations at once, as operations on vectors",
        options: &[
            AliasMode::UNTESTED,
            ("lanes", "8", "the iterations that run at once, from 2 to 256"),
            ("level", "0", "change loops with so many loops inside, one in the other"),
        ],
        samples: &["lanes=4", "lanes=3 level=1"],
        passed: "Vectorized",
        missed: "NotVectorized",
        what_missed: "Loop not vectorized",
        then: "vectorized",
    };

    fn of(options: &Options) -> Result<Vectorize, String> {
        let lanes = options.parse("lanes", 8)?;
        match (2..=MAX_LANES).contains(&lanes) {
            true => Ok(Vectorize { lanes, level: options.parse("level", 0)? }),
            false => {
                Err(format!("'{lanes}' lanes are too few or too many; 'lanes' is from 2 to {MAX_LANES}"))
            }
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(|own| !own.is_in_parallel() && own.height() == self.level) {
            if target.carries_values() && !target.combines_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else if target.trip_count().is_some_and(|trips| trips < self.lanes as u64) {
                out.missed(&target, "it has fewer iterations than lanes");
            } else if let Some(why) = target.why_not_parallel() {
                out.missed(&target, why);
            } else if let Some(why) = obstacle(target.body(), target.block(), target.variable()) {
                out.missed(&target, why);
            } else {
                out.change(&target, Change::Vectorize { lanes: self.lanes });
            }
        }
    }

    fn start(body: &mut Body) {
        forget_marks(body);
    }

    fn finish(body: &mut Body) {
        widen_marked(body);
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let text = format!("Loop vectorized: {} iterations run at once", self.lanes);
        remarks.passed(Self::INFO.passed, loc, &text)
    }
}
