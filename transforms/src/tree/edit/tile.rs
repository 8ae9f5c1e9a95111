//! Tiling of a perfect nest: strip-mining and permutation.

use crate::tree::green::{Green, Node, TreeStore};
use crate::tree::program::Program;

/// The most times that tiles are halved.
pub(crate) const MAX_LEVELS: u32 = 8;

impl TreeStore {
    /// Returns the perfect nest `tree`, run tile by tile: the loops over blocks come first, in the
    /// order of the nest. A loop of size 0 is not split. `None` if there are fewer loops than
    /// sizes, or one of them can't be [strip-mined](TreeStore::strip_mined) or moved.
    pub(crate) fn tiled(&mut self, program: &Program, tree: Green, sizes: &[i64]) -> Option<Green> {
        let split = self.strip_mined_inside(program, tree, sizes)?;
        // The number of each loop over blocks, and of each loop inside one.
        let (mut blocks, mut points, mut number) = (Vec::new(), Vec::new(), 0);
        for size in sizes {
            if *size != 0 {
                blocks.push(number);
                number += 1;
            }
            points.push(number);
            number += 1;
        }
        self.permuted(program, split, &[blocks, points].concat())
    }

    /// Returns the perfect nest `tree` of `depth` loops in Morton order: tiled by two to the power
    /// of `levels`, and each tile again by half of that, down to two. Recurses once for each level.
    pub(crate) fn in_morton_order(
        &mut self,
        program: &Program,
        tree: Green,
        depth: usize,
        levels: u32,
    ) -> Option<Green> {
        if depth == 0 || levels == 0 || levels > MAX_LEVELS {
            return (levels == 0).then_some(tree);
        }
        let tiled = self.tiled(program, tree, &vec![1 << levels; depth])?;
        self.inside_of(tiled, depth, &mut |trees, points| {
            trees.in_morton_order(program, points, depth, levels - 1)
        })
    }

    /// Replaces the loop that is `depth` loops inside of a perfect nest. Recurses once for each.
    pub(super) fn inside_of(
        &mut self,
        tree: Green,
        depth: usize,
        new: &mut dyn FnMut(&mut TreeStore, Green) -> Option<Green>,
    ) -> Option<Green> {
        let Some(inner) = depth.checked_sub(1) else { return new(self, tree) };
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let only = self.only_item(body)?;
        let only = self.inside_of(only, inner, new)?;
        let body = self.sequence(&[only]);
        Some(self.with_header(header, body))
    }

    /// Strip-mines each loop of a perfect nest. Recurses once for each size.
    fn strip_mined_inside(&mut self, program: &Program, tree: Green, sizes: &[i64]) -> Option<Green> {
        let Some((size, inner)) = sizes.split_first() else { return Some(tree) };
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let mut tree = tree;
        if !inner.is_empty() {
            let only = self.only_item(body)?;
            let only = self.strip_mined_inside(program, only, inner)?;
            let body = self.sequence(&[only]);
            tree = self.with_header(header, body);
        }
        if *size == 0 { Some(tree) } else { self.strip_mined(program, tree, *size) }
    }
}
