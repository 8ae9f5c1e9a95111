//! Nests that may run in tiles of any sizes, also of sizes that are known only at run time.
//!
//! Tiles of a symbolic size have no affine map, so no tree has them. The question about them has
//! an answer without such a tree.
//!
//! **Rule.** A perfect nest may run in tiles of any sizes if each tiled loop may run as the
//! outermost loop of the nest, the others in their order.
//! *Proof.* Let two instances depend on each other. A tree with loop `k` outermost runs them in the
//! order of `k` first, so it is legal only if the sink has no smaller iteration of `k`. Hence the
//! sink is in the same tile or a later one in each tiled loop. If the tiles are the same, both run
//! in the order of the program. Each iteration runs once, because it is in one tile of each loop.
//!
//! The converse holds too: with tiles of one iteration of loop `k`, and the other loops whole, loop
//! `k` is outermost.
//!
//! **Assumptions.**
//! - The tiles of a loop do not depend on the other loops of the nest, and each has at least one
//!   iteration. The writer ensures both. Tried with sizes from -1 to 9 in
//!   `tests/tests/all/transformations.rs`.
//!
//! **Cost.** One judgement for each tiled loop but the outermost.

use hashbrown::HashSet;
use loomir_ir::Op;

use super::{Checker, Verdict};
use crate::tree::{Change, TreeStore};

/// A perfect nest some of whose loops may run in tiles of any sizes.
///
/// **Invariant.** The judge approved each order with a tiled loop outermost.
#[derive(Clone, Debug)]
pub struct Permutable {
    tiled: Vec<usize>,
    reordered: HashSet<Op>,
}

impl Permutable {
    /// Returns the numbers of the loops that may run in tiles, from the outside.
    pub fn tiled(&self) -> &[usize] {
        &self.tiled
    }

    /// Returns the updates that tiles may run in another order than the program, and which so lose
    /// some flags.
    pub fn reordered(&self) -> &HashSet<Op> {
        &self.reordered
    }
}

impl Checker<'_> {
    /// Judges if the loops with the numbers `tiled` of the perfect nest of `depth` loops at `place`
    /// may run in tiles of any sizes.
    ///
    /// # Errors
    ///
    /// The verdict on the first order that is not legal. `None` if a loop cannot be moved outwards.
    pub fn permutable(
        &self,
        trees: &mut TreeStore,
        (place, depth): (&[usize], usize),
        tiled: &[usize],
    ) -> Result<Permutable, Option<Verdict>> {
        let mut reordered = HashSet::new();
        for outermost in tiled.iter().copied().filter(|own| *own > 0) {
            let others = (0..depth).filter(|own| *own != outermost);
            let order = std::iter::once(outermost).chain(others).collect();
            let edit = Change::Permute { order }.at(place);
            let tree = edit.apply(self.program, trees, self.program.root).ok_or(None)?;
            let approved = self.judge(trees, tree).map_err(Some)?;
            let [fast, fallback] = &approved.reordered().arms;
            reordered.extend(fast.iter().chain(fallback));
        }
        Ok(Permutable { tiled: tiled.to_vec(), reordered })
    }
}
