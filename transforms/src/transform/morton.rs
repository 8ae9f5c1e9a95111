//! Morton order: runs a perfect nest along a curve that stays near, tiles of tiles of tiles.
//!
//! Each loop is halved again and again. Of two loops the four quarters of the nest run one after
//! the other, each as four quarters of its own, down to two iterations of each loop. The order is
//! that of a number whose bits are those of `i` and `j` in turn. Whatever the size of a cache is,
//! some quarters fit into it, so no size has to be chosen.
//!
//! `levels` says how often tiles are halved; a loop over the largest tiles, of two to this power,
//! runs in its old order. Trip counts that are known need no more levels than halve them.
//!
//! It is legal if and only if every dependence is non-negative in each loop of the nest, as tiles
//! of all sizes are then. A dependence from `(i, j)` to `(i + 1, j - 1)` is not.
//!
//! Reference: Morton, *A Computer Oriented Geodetic Data Base*, IBM 1966; Frens and Wise,
//! *Auto-Blocking Matrix-Multiplication*, PPoPP 1997.
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
//! $ loomir opt old.mlir --loop-morton --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/morton-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/morton-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/morton-0.svg)
//! ![The order of stores after](images/morton-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};
use loomir_polyhedra::Limits;

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::{Change, MAX_LEVELS};

/// The most loops of a nest that are run in Morton order.
const MAX_DEPTH: usize = 3;

/// Proposes to run perfect nests in Morton order.
pub struct Morton {
    /// The number of times that tiles are halved. Positive.
    levels: u32,
}

impl Transformation for Morton {
    const INFO: Info = Info {
        name: "loop-morton",
        source: include_str!("morton.rs"),
        summary: "Run perfect nests in Morton order",
        options: &[
            AliasMode::UNTESTED,
            ("levels", "3", "how often tiles are halved, 1 to 8; the largest is 2 to this power"),
        ],
        samples: &["levels=1", "levels=2"],
        passed: "MortonOrder",
        missed: "NoMortonOrder",
        what_missed: "Loops not run in Morton order",
        then: "run in Morton order",
    };

    // There are many loops, so that some questions are harder than those about two or three.
    const LIMITS: Limits = Limits::steps(10_000_000);

    fn of(options: &Options) -> Result<Morton, String> {
        match options.parse("levels", 3)? {
            levels @ 1..=MAX_LEVELS => Ok(Morton { levels }),
            levels => Err(format!("'{levels}' levels are not possible; 'levels' is 1 to {MAX_LEVELS}")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in LoopRef::nests(loops) {
            let depth = target.nest_depth();
            let levels = self.levels.min(levels_of(target.nest_trip_counts().take(depth)));
            if depth == 1 {
                out.missed(&target, "it is no nest of several loops");
            } else if depth > MAX_DEPTH {
                out.missed(&target, "it is a nest of more than three loops");
            } else if target.nest_carries_values() {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if target.nest_is_parallel() {
                out.missed(&target, "a loop of the nest is parallel, and would become sequential");
            } else if levels == 0 {
                out.missed(&target, "its loops have at most two iterations");
            } else {
                out.change(&target, Change::Morton { depth, levels });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loops run in Morton order")
    }
}

/// Returns the levels after which one tile of each loop has at least half of its iterations.
fn levels_of(trips: impl Iterator<Item = Option<u64>>) -> u32 {
    let needed = |trips: u64| u64::BITS - trips.saturating_sub(1).leading_zeros();
    trips.map(|trips| trips.map_or(MAX_LEVELS, |trips| needed(trips).saturating_sub(1))).max().unwrap_or(0)
}
