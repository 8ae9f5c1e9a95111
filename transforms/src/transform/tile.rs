//! Tiling: runs the loops of a perfect nest block by block.
//!
//! Each loop is strip-mined, and the loops over blocks move outside. `for i for j` becomes
//! `for bi for bj for i in bi for j in bj`. What one tile touches can stay in a cache while the
//! tile runs. The judge asks whether every dependence is kept, which it is if no loop of the nest
//! carries one backwards.
//!
//! Reference: Wolfe, *More Iteration Space Tiling*, Supercomputing 1989.

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to tile perfect nests.
pub struct Tile {
    /// The size of a tile in loops that `sizes` does not name. Positive.
    size: i64,
    /// The sizes of a tile in the outermost loops. 0 leaves a loop whole.
    sizes: Vec<i64>,
}

impl Transformation for Tile {
    const INFO: Info = Info {
        name: "loop-tile",
        summary: "Run perfect nests block by block",
        options: &[
            AliasMode::UNTESTED,
            ("tile-size", "32", "iterations of a tile in each loop of a nest, at least 1"),
            ("tile-sizes", "", "the same for each loop, the outermost first, as 32,8; 0 leaves a loop whole"),
        ],
        samples: &["tile-size=1", "tile-size=2", "tile-size=3", "tile-sizes=2,3", "tile-sizes=0,2"],
        passed: "Tiled",
        missed: "NotTiled",
        what_missed: "Loops not tiled",
        then: "tiled",
    };

    fn of(options: &Options) -> Result<Tile, String> {
        let size = options.parse("tile-size", 32)?;
        if size < 1 {
            return Err(format!("'{size}' iterations are no tile; 'tile-size' is 1 or more"));
        }
        let texts = options.get("tile-sizes").unwrap_or_default().split(',').filter(|text| !text.is_empty());
        let read = |text: &str| match text.trim().parse() {
            Ok(size @ 0..) => Ok(size),
            _ => Err(format!("'{text}' is no size of a tile; 'tile-sizes' are numbers such as 32,0,8")),
        };
        Ok(Tile { size, sizes: texts.map(read).collect::<Result<_, _>>()? })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in LoopRef::nests(loops) {
            let depth = target.nest_depth();
            let sizes: Vec<i64> = match self.sizes.is_empty() {
                true => vec![self.size; depth],
                false => self.sizes.iter().copied().take(depth).collect(),
            };
            if depth == 1 {
                out.missed(&target, "it is no nest; 'loop-strip-mine' splits one loop into blocks");
            } else if sizes.iter().all(|size| *size == 0) {
                out.missed(&target, "'tile-sizes' leaves each of its loops whole");
            } else if target.nest_carries_values() {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if target.nest_is_parallel() {
                out.missed(&target, "a loop of the nest is parallel, and would become sequential");
            } else {
                out.change(&target, Change::Tile { sizes: sizes.into() });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, change: &Change) -> Diagnostic {
        let Change::Tile { sizes } = change else {
            return remarks.passed(Self::INFO.passed, loc, "Loops tiled");
        };
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        remarks.passed(Self::INFO.passed, loc, &format!("Loops tiled by {}", sizes.join(" x ")))
    }
}
