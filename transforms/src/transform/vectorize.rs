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
//! With `remainder=mask`, the iterations left over are one more block with a mask, and there is no
//! second loop. A loop may then have fewer iterations than lanes. This pays for short loops on
//! machines with masked loads and stores, such as AVX2 and AVX-512: one or two blocks take half the
//! time. Long loops take longer, as each block computes its mask.
//!
//! Elements of one row that are not neighbours, such as `a[3 * i]` and `a[p[i]]`, become
//! `vector.gather` and `vector.scatter` where a mask may switch lanes off. One access a lane would
//! be one branch a lane there. With `gathers=all`, they do so everywhere. That is faster with
//! AVX-512, and slower on machines that have no such instructions.
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
//! $ loomir opt old.mlir --loop-vectorize='lanes=3 remainder=mask' --remarks=none -o masked.mlir
//! $ cat masked.mlir
//! ```

use loomir_ir::pass::Options;
use loomir_ir::{Body, Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;
pub use crate::widening::Gathers;
use crate::widening::{MAX_LANES, forget_marks, obstacle, widen_marked};

/// Proposes to run blocks of iterations at once.
pub struct Vectorize {
    /// The number of iterations of a block, from 2 on.
    pub lanes: usize,
    /// The number of loops inside of a changed loop, one in the other.
    pub level: usize,
    /// True if the iterations left over run as one more block, in which only some lanes run.
    pub masked: bool,
    /// The accesses that become gathers and scatters.
    pub gathers: Gathers,
}

impl Vectorize {
    /// Returns the reason why a loop with so many iterations has too few, if there is one.
    fn too_few(&self, trips: Option<u64>) -> Option<&'static str> {
        match trips? {
            0 | 1 if self.masked => Some("it has at most one iteration"),
            trips if !self.masked && trips < self.lanes as u64 => Some("it has fewer iterations than lanes"),
            _ => None,
        }
    }
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
            ("remainder", "loop", "how the iterations left over run: in a `loop`, or with a `mask`"),
            ("gathers", "masked", "accesses that become gathers and scatters: `none`, `masked` or `all`"),
        ],
        samples: &[
            "lanes=4",
            "lanes=3 level=1",
            "lanes=4 remainder=mask gathers=all",
            "lanes=3 level=1 remainder=mask",
        ],
        passed: "Vectorized",
        missed: "NotVectorized",
        what_missed: "Loop not vectorized",
        then: "vectorized",
    };

    fn of(options: &Options) -> Result<Vectorize, String> {
        let (lanes, level) = (options.parse("lanes", 8)?, options.parse("level", 0)?);
        if !(2..=MAX_LANES).contains(&lanes) {
            let why = format!("'{lanes}' lanes are too few or too many");
            return Err(format!("{why}; 'lanes' is from 2 to {MAX_LANES}"));
        }
        let masked = match options.get("remainder") {
            None | Some("loop") => false,
            Some("mask") => true,
            Some(text) => return Err(format!("'{text}' is no remainder; 'remainder' is 'loop' or 'mask'")),
        };
        let gathers = match options.get("gathers") {
            Some("none") => Gathers::Never,
            None | Some("masked") => Gathers::Masked,
            Some("all") => Gathers::Always,
            Some(text) => {
                return Err(format!("'{text}' are no accesses; 'gathers' is 'none', 'masked' or 'all'"));
            }
        };
        Ok(Vectorize { lanes, level, masked, gathers })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(|own| !own.is_in_parallel() && own.height() == self.level) {
            if target.carries_values() && !target.combines_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else if let Some(why) = self.too_few(target.trip_count()) {
                out.missed(&target, why);
            } else if let Some(why) = target.why_not_parallel() {
                out.missed(&target, why);
            } else {
                let has_whole_blocks = target.trip_count().is_some_and(|own| own % self.lanes as u64 == 0);
                let is_masked = self.masked && !has_whole_blocks;
                match obstacle(target.body(), target.block(), target.variable(), is_masked) {
                    Some(why) => out.missed(&target, why),
                    None => out.change(&target, Change::Vectorize { lanes: self.lanes, masked: self.masked }),
                }
            }
        }
    }

    fn start(body: &mut Body) {
        forget_marks(body);
    }

    fn finish(&self, body: &mut Body) {
        widen_marked(body, self.gathers);
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let text = format!("Loop vectorized: {} iterations run at once", self.lanes);
        remarks.passed(Self::INFO.passed, loc, &text)
    }
}
