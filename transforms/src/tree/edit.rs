//! Edits of trees, as data: each makes a new tree that runs the same statements differently.
//!
//! No edit checks its own legality. The [judge](crate::legality::Approved) decides afterwards,
//! about the whole tree. [`Edit::apply`] returns `None` only if there is no such loop, or if a
//! number would exceed 64 bits.
//!
//! **Cost.** Linear in the nodes that refer to the loops concerned; logarithmic in the length of
//! sequences.

use super::green::{Green, Node, TreeStore};
use super::program::Program;
use super::red::Red;
use crate::affine::AffineForm;

mod copies;
mod flatten;
pub mod follow;
mod fuse;
mod hilbert;
mod order;
mod range;
mod separate;
mod skew;
mod substitute;
mod swap;
mod tile;
mod unroll;
mod unswitch;

pub(crate) use fuse::{Parts, Times, Together};
pub(crate) use range::counted;
pub(crate) use tile::MAX_LEVELS;
pub(crate) use unswitch::MAX_CONDITIONS;

/// One edit of a tree: a place and a change.
///
/// ```
/// # use loomir_transforms::tree::{Change, TreeStore, Green, Program};
/// # fn example(program: &Program, trees: &mut TreeStore) -> Option<Green> {
/// // Below the second item of the block its first item, a loop, runs in blocks of eight iterations.
/// let edit = Change::StripMine { size: 8 }.at([1, 0]);
/// let tree = edit.apply(program, trees, program.root)?;
/// # Some(tree) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The path from the root to the changed item: the number of the child at each node.
    pub place: Box<[usize]>,
    /// The change of the item.
    pub change: Change,
}

/// The loops over tiles in which full tiles have loops of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Separation {
    /// None.
    #[default]
    Nowhere,
    /// The outermost, and those inside its full tiles.
    FullTiles,
    /// All. The body is written up to three times as often for each loop.
    Everywhere,
}

/// A change of one item of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Fuses a loop with the next item, which is also a loop.
    Fuse {
        /// The shift of the second loop in iterations. Not negative.
        shift: i64,
    },
    /// Runs a perfect nest of two loops as one loop.
    Flatten,
    /// Runs a loop from its last iteration to its first.
    Reverse,
    /// Runs a loop in the order of its iterations, where any order was allowed.
    InOrder,
    /// Runs the iterations of a loop in any order, or at the same time.
    AnyOrder,
    /// Runs the loops of a perfect nest in another order. Bounds may depend on the loops around.
    Permute {
        /// The former number of each loop, from the outside. A permutation.
        order: Box<[usize]>,
    },
    /// Distributes a loop over two loops. The first loop runs the items of the body before `at`.
    Distribute {
        /// The first item of the second loop.
        at: usize,
    },
    /// Splits the range of a loop. The first loop runs the iterations below `at`.
    SplitRange {
        /// A form over the loops around.
        at: AffineForm,
    },
    /// Moves an item within its sequence.
    Move {
        /// The number of the item afterwards.
        to: usize,
    },
    /// Runs the items of a loop's body in another order.
    Arrange {
        /// The former number of each item. A permutation.
        order: Box<[usize]>,
    },
    /// Splits a loop into a loop over blocks of iterations and a loop over one block.
    StripMine {
        /// The number of iterations of one block. Positive.
        size: i64,
    },
    /// Runs a perfect nest tile by tile.
    Tile {
        /// The iterations of a tile in each loop, from the outside. 0 leaves a loop whole.
        sizes: Box<[i64]>,
        /// The loops in which full tiles are apart from partial ones, as
        /// [`Separate`](Change::Separate) does it.
        separate: Separation,
    },
    /// Splits the loops over tiles of a perfect nest so that full tiles have constant trip counts.
    /// The order does not change.
    Separate {
        /// The number of loops over tiles, which are the outermost ones. Positive.
        depth: usize,
        /// True to separate full tiles of a loop inside partial tiles of another one too.
        all: bool,
    },
    /// Unrolls a loop: blocks of iterations are written one after the other. A loop behind it runs
    /// the iterations left over.
    Unroll {
        /// The number of iterations of one block. Positive.
        count: usize,
    },
    /// Unrolls a loop, and runs the copies of each inner loop as one loop.
    UnrollAndJam {
        /// The number of iterations of one block. Positive.
        count: usize,
    },
    /// Runs blocks of a loop's iterations at once, as operations on vectors. A loop behind it runs
    /// the iterations left over.
    Vectorize {
        /// The number of iterations of one block. Positive.
        lanes: usize,
        /// True if the iterations left over are one more block, in which only some lanes run.
        masked: bool,
    },
    /// Skews the only loop inside of a loop: iteration `x` of the outer loop runs the inner one
    /// `by · x` iterations later. The order does not change.
    Skew {
        /// The number of iterations of the inner loop for one of the outer loop.
        by: i64,
    },
    /// Skews the only loop inside of a loop, and interchanges both: a wavefront.
    Wavefront {
        /// The number of iterations of the inner loop for one of the outer loop.
        by: i64,
    },
    /// Runs a perfect nest in Morton order: tiles of tiles, down to two iterations of each loop.
    Morton {
        /// The number of loops.
        depth: usize,
        /// The number of times that tiles are halved. A tile of the largest size has two to this
        /// power iterations of each loop. Positive.
        levels: u32,
    },
    /// Decides conditions before a loop that do not depend on it. The loop is copied for each
    /// outcome.
    Unswitch {
        /// The most conditions. Positive.
        conditions: u32,
    },
    /// Runs a perfect nest of two loops along Hilbert's curve: in tiles, and the iterations of a
    /// tile one beside the other.
    Hilbert {
        /// The number of times that a tile is halved. It has two to this power iterations of each
        /// loop. Positive.
        levels: u32,
    },
    /// Peels iterations at both ends of a loop. A loop with fewer iterations is peeled completely.
    Peel {
        /// The number of first iterations.
        first: usize,
        /// The number of last iterations.
        last: usize,
    },
}

impl Change {
    /// Returns the edit with this change at a place.
    pub fn at(self, place: impl Into<Box<[usize]>>) -> Edit {
        Edit { place: place.into(), change: self }
    }
}

impl Edit {
    /// Applies the edit to the tree `root` and returns the new tree. `None` if the change is
    /// impossible there.
    pub fn apply(&self, program: &Program, trees: &mut TreeStore, root: Green) -> Option<Green> {
        let (&at, parent) = self.place.split_last()?;
        let mut sequence = Red::at(trees, root, parent)?;
        let item = sequence.child(trees, at)?;
        let mut range = at..at + 1;
        let new = match &self.change {
            Change::Fuse { shift } => {
                range.end += 1;
                let second = sequence.child(trees, at + 1)?;
                trees.fused(program, item, second, *shift)?.into_items()
            }
            Change::Flatten => vec![trees.flattened(program, item)?],
            Change::InOrder => vec![trees.with_order(program, item, false)?],
            Change::AnyOrder => vec![trees.with_order(program, item, true)?],
            Change::Reverse => vec![trees.reversed(program, item)?],
            Change::Permute { order } => vec![trees.permuted(program, item, order)?],
            Change::Arrange { order } => vec![trees.arranged(item, order)?],
            Change::Distribute { at } => trees.distributed(item, *at)?.to_vec(),
            Change::SplitRange { at } => trees.range_split(program, item, at)?.to_vec(),
            Change::StripMine { size } => vec![trees.strip_mined(program, item, *size)?],
            Change::Tile { sizes, separate } => {
                let tiled = trees.tiled(program, item, sizes)?;
                let depth = sizes.iter().filter(|size| **size != 0).count();
                match separate {
                    Separation::Nowhere => vec![tiled],
                    _ => trees.separated(program, tiled, depth, *separate == Separation::Everywhere)?,
                }
            }
            Change::Separate { depth, all } => trees.separated(program, item, *depth, *all)?,
            Change::Unroll { count } => trees.unrolled(program, item, *count)?,
            Change::UnrollAndJam { count } => trees.unrolled_and_jammed(program, item, *count)?,
            Change::Vectorize { lanes, masked } => trees.vectorized(program, item, (*lanes, *masked))?,
            Change::Skew { by } => vec![trees.skewed(program, item, *by)?],
            Change::Wavefront { by } => {
                let skewed = trees.skewed(program, item, *by)?;
                vec![trees.permuted(program, skewed, &[1, 0])?]
            }
            Change::Morton { depth, levels } => vec![trees.in_morton_order(program, item, *depth, *levels)?],
            Change::Unswitch { conditions } => trees.unswitched(program, item, *conditions)?,
            Change::Hilbert { levels } => vec![trees.along_hilbert(program, item, *levels)?],
            Change::Peel { first, last } => trees.peeled(program, item, *first, *last)?,
            Change::Move { to } => {
                if let Node::Versioned { .. } = trees.get(sequence.node()) {
                    return None;
                }
                range = at.min(*to)..at.max(*to) + 1;
                let items = range.clone().map(|at| sequence.child(trees, at));
                let mut items = items.collect::<Option<Vec<Green>>>()?;
                if at < *to {
                    items.rotate_left(1);
                } else {
                    items.rotate_right(1);
                }
                items
            }
        };
        sequence.splice(trees, range, &new);
        Some(sequence.root())
    }
}
