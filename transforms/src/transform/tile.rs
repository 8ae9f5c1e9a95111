//! Tiling: runs the loops of a perfect nest block by block.
//!
//! Each loop is strip-mined, and the loops over blocks move outside. `for i for j` becomes
//! `for bi for bj for i in bi for j in bj`. What one tile touches can stay in a cache while the
//! tile runs. The judge asks whether every dependence is kept, which it is if no loop of the nest
//! carries one backwards.
//!
//! Sizes are given, or chosen by [cost](crate::cost): those with which the nest is estimated to be
//! fastest.
//!
//! Where a size does not divide a trip count, the last tile is partial, and each loop inside ends
//! at the lesser of two numbers. With `separate`, full tiles have loops of their own, whose trip
//! counts are constants. The order stays. The body is written once more for each bound. With
//! `separate=all`, the partial tiles of one loop contain full and partial ones of the next.
//!
//! Reference: Wolfe, *More Iteration Space Tiling*, Supercomputing 1989.
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
//! $ loomir opt old.mlir --loop-tile=tile-size=4 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/tile-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/tile-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/tile-0.svg)
//! ![The order of stores after](images/tile-1.svg)
//!
//! Of eight iterations, tiles of three leave two. With `separate`, full tiles come first in each
//! row of tiles. Each colour is one operation of the text:
//!
//! ```console
//! $ loomir opt old.mlir --loop-tile='tile-size=3 separate=true' -o apart.mlir
//! $ cat apart.mlir
//! $ loomir run apart.mlir --entry=f --arg=zeros --arg=1 --order=images/tile-2.svg
//! ```
//!
//! ![The order of stores with separate tiles](images/tile-2.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::{Change, Separation};

/// The sizes that are compared. 0 leaves a loop whole.
const SIZES: [i64; 4] = [0, 32, 128, 512];

/// The number of innermost loops that are tiled by cost.
const TILED: usize = 3;

/// Proposes to tile perfect nests.
pub struct Tile {
    /// The sizes of tiles.
    pub sizes: Sizes,
    /// The loops in which full tiles and partial ones are loops of their own.
    pub separate: Separation,
}

/// The sizes of the tiles of a nest.
pub enum Sizes {
    /// The same size for each loop, which is positive.
    Same(i64),
    /// One size for each of the outermost loops. 0 leaves a loop whole.
    Each(Vec<i64>),
    /// The sizes that are estimated to be fastest.
    ByCost,
}

impl Transformation for Tile {
    const INFO: Info = Info {
        name: "loop-tile",
        source: include_str!("tile.rs"),
        summary: "Run perfect nests block by block",
        options: &[
            AliasMode::UNTESTED,
            ("tile-size", "32", "iterations of a tile in each loop of a nest, at least 1"),
            (
                "tile-sizes",
                "",
                "the same for each loop, the outermost first, as 32,8, where 0 leaves a loop whole; or 'cost': the fastest",
            ),
            (
                "separate",
                "false",
                "run full tiles and partial ones in loops of their own: false, true, or 'all': inside partial tiles too",
            ),
        ],
        samples: &[
            "tile-size=1",
            "tile-size=2",
            "tile-size=3",
            "tile-sizes=2,3",
            "tile-sizes=0,2",
            "tile-sizes=cost",
            "tile-sizes=2,3 separate=true",
            "tile-sizes=2,3 separate=all",
        ],
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
        let separate = match options.get("separate") {
            Some("all") => Separation::Everywhere,
            _ if options.parse("separate", false)? => Separation::FullTiles,
            _ => Separation::Nowhere,
        };
        let texts = options.get("tile-sizes").unwrap_or_default();
        if texts == "cost" {
            return Ok(Tile { sizes: Sizes::ByCost, separate });
        }
        let read = |text: &str| match text.trim().parse() {
            Ok(size @ 0..) => Ok(size),
            _ => {
                let way_out = "'tile-sizes' are numbers such as 32,0,8, or 'cost'";
                Err(format!("'{text}' is no size of a tile; {way_out}"))
            }
        };
        let sizes = texts.split(',').filter(|text| !text.is_empty()).map(read);
        let sizes: Vec<i64> = sizes.collect::<Result<_, _>>()?;
        let sizes = if sizes.is_empty() { Sizes::Same(size) } else { Sizes::Each(sizes) };
        Ok(Tile { sizes, separate })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        let change = |sizes: Vec<i64>| Change::Tile { sizes: sizes.into(), separate: self.separate };
        for target in LoopRef::nests(loops) {
            let depth = target.nest_depth();
            let sizes: Vec<i64> = match &self.sizes {
                Sizes::Same(size) => vec![*size; depth],
                Sizes::Each(sizes) => sizes.iter().copied().take(depth).collect(),
                Sizes::ByCost => Vec::new(),
            };
            if depth == 1 {
                out.missed(&target, "it is no nest; 'loop-strip-mine' splits one loop into blocks");
            } else if !sizes.is_empty() && sizes.iter().all(|size| *size == 0) {
                out.missed(&target, "'tile-sizes' leaves each of its loops whole");
            } else if target.nest_carries_values() {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if target.nest_is_parallel() {
                out.missed(&target, "a loop of the nest is parallel, and would become sequential");
            } else if sizes.is_empty() {
                let trips: Vec<_> = target.nest_trip_counts().collect();
                out.cheapest(&target, choices(&trips).into_iter().map(change));
            } else {
                out.change(&target, change(sizes));
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, change: &Change) -> Diagnostic {
        let Change::Tile { sizes, .. } = change else {
            return remarks.passed(Self::INFO.passed, loc, "Loops tiled");
        };
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        let apart = if self.separate == Separation::Nowhere { "" } else { ", full tiles apart" };
        remarks.passed(Self::INFO.passed, loc, &format!("Loops tiled by {}{apart}", sizes.join(" x ")))
    }
}

/// Returns the sizes that are compared for a nest with these trip counts. Those that leave more
/// loops whole come first.
fn choices(trips: &[Option<u64>]) -> Vec<Vec<i64>> {
    let whole = trips.len().saturating_sub(TILED);
    let mut all = vec![vec![0; whole]];
    for trips in &trips[whole..] {
        let own = SIZES.map(|size| trips.map_or(size, |trips| fitting(size, trips)));
        let fits = |size: &i64| trips.is_none_or(|trips| (*size as u64) < trips.max(1));
        let longer =
            |sizes: Vec<i64>| own.into_iter().filter(fits).map(move |size| [&sizes[..], &[size]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all.retain(|sizes| sizes.iter().any(|size| *size != 0));
    all.sort_by_key(|sizes| sizes.iter().filter(|size| **size != 0).count());
    all
}

/// Returns a number near `size` that the trip count is a multiple of, so that no tile is cut short.
/// `size` itself if there is none that is a whole number of vectors.
fn fitting(size: i64, trips: u64) -> i64 {
    let near = (size * 3 / 4..=size * 5 / 4).filter(|own| *own > 0 && own % VECTOR == 0);
    let exact = near.filter(|own| trips.is_multiple_of(*own as u64));
    exact.min_by_key(|own| (own - size).abs()).unwrap_or(size)
}

/// Elements of a vector.
const VECTOR: i64 = 8;
