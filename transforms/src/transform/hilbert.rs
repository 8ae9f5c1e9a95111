//! Hilbert order: runs two loops along a curve on which each step goes to a neighbour.
//!
//! A square of iterations has four quarters, which run one after the other in the shape of a U.
//! Each quarter runs the same way, turned so that it begins beside the end of the one before. Like
//! Morton order, the curve stays near at all sizes, but it never jumps. Whatever the size of a
//! cache is, some quarters fit into it, and what the last iteration of a quarter used is still
//! there for the next one.
//!
//! Both loops become one, which computes the two iterations from its own. That takes about 15
//! operations for each of `levels` levels. So it is for loops over tiles: tile first, and the two
//! outermost loops of the nest run along the curve. `levels` says how often a square is halved.
//! Squares of two to this power rows run in the old order of the nest. Positions of a square that
//! are no iterations of the loops do nothing, so trip counts that are known make squares smaller.
//!
//! It is legal if and only if no dependence inside of a square is carried by one of the two loops,
//! and none between squares goes backwards. Reductions may run in any order.
//!
//! Reference: Hilbert, *Über die stetige Abbildung einer Linie auf ein Flächenstück*, Mathematische
//! Annalen 38, 1891; Böhm, Perdacher and Plant, *A Novel Hilbert Curve for Cache-Locality
//! Preserving Loops*, IEEE Transactions on Big Data 7, 2021.
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
//! $ loomir opt old.mlir --loop-hilbert --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/hilbert-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/hilbert-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/hilbert-0.svg)
//! ![The order of stores after](images/hilbert-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};
use loomir_polyhedra::Limits;

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::program::LoopInfo;
use crate::tree::{Change, MAX_LEVELS};

/// Proposes to run the two outermost loops of perfect nests along Hilbert's curve.
pub struct Hilbert {
    /// The number of times that a square is halved. Positive.
    levels: u32,
}

impl Transformation for Hilbert {
    const INFO: Info = Info {
        name: "loop-hilbert",
        source: include_str!("hilbert.rs"),
        summary: "Run perfect nests of two loops along Hilbert's curve",
        options: &[
            AliasMode::UNTESTED,
            ("levels", "3", "how often squares are halved, 1 to 8; they have two to this power rows"),
        ],
        samples: &["levels=1", "levels=2"],
        passed: "HilbertOrder",
        missed: "NoHilbertOrder",
        what_missed: "Loops not run in Hilbert order",
        then: "run in Hilbert order",
    };

    // There are twice as many loops, so that some questions are harder than those about two.
    const LIMITS: Limits = Limits::steps(10_000_000);

    fn of(options: &Options) -> Result<Hilbert, String> {
        match options.parse("levels", 3)? {
            levels @ 1..=MAX_LEVELS => Ok(Hilbert { levels }),
            levels => Err(format!("'{levels}' levels are not possible; 'levels' is 1 to {MAX_LEVELS}")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in LoopRef::nests(loops) {
            let both = || target.nest().take(2);
            let levels = both().map(|own| levels_of(own, self.levels)).min().unwrap_or(0);
            if both().count() < 2 {
                out.missed(&target, "it is no nest of two loops");
            } else if both().any(LoopInfo::has_results) {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if both().any(|own| own.dimension.is_some()) {
                out.missed(&target, "a loop of the nest is parallel, and would become sequential");
            } else if levels == 0 {
                out.missed(&target, "one of its loops has at most one iteration");
            } else {
                out.change(&target, Change::Hilbert { levels });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loops run in Hilbert order")
    }
}

/// Returns the levels of a square with all iterations of a loop, at most `most`.
fn levels_of(own: &LoopInfo, most: u32) -> u32 {
    own.trip_count().map_or(most, |trips| most.min(u64::BITS - trips.saturating_sub(1).leading_zeros()))
}
