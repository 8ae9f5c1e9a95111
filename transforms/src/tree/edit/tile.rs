//! Tiling of a perfect nest: strip-mining and permutation.

use crate::tree::green::{Green, Node, TreeStore};
use crate::tree::program::Program;

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
