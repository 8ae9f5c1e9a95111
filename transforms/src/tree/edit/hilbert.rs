//! Hilbert's curve: two loops of a tile whose iterations are written as one loop along the curve.
//!
//! The tree has the two loops, with a [mark](Mark::Hilbert). The judge lets marked loops run in any
//! order. Wherever a later edit takes the two loops apart, they are written as two loops, in the
//! order of their numbers: that is one of the allowed orders.

use super::tile::MAX_LEVELS;
use crate::tree::green::{Green, Header, Mark, Node, TreeStore};
use crate::tree::program::Program;

impl TreeStore {
    /// Returns the perfect nest `tree` of two loops, tiled by two to the power of `levels`, with
    /// the iterations of a tile along Hilbert's curve. `None` if the loops cannot be
    /// [tiled](TreeStore::tiled), or one of them is parallel.
    pub(crate) fn along_hilbert(&mut self, program: &Program, tree: Green, levels: u32) -> Option<Green> {
        if levels == 0 || levels > MAX_LEVELS {
            return None;
        }
        let tiled = self.tiled(program, tree, &[1 << levels; 2])?;
        self.inside_of(tiled, 2, &mut |trees, points| {
            trees
                .inside_of(points, 1, &mut |trees, inner| trees.on_curve(inner, levels))
                .and_then(|points| trees.on_curve(points, levels))
        })
    }

    /// Returns a loop with the mark. `None` if it is parallel.
    fn on_curve(&mut self, tree: Green, levels: u32) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let header = Header { mark: Some(Mark::Hilbert { levels }), ..self.header(header).clone() };
        (!header.parallel).then(|| self.make_loop(header, body))
    }
}
