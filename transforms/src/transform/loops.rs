//! The loops of a tree, with their places.

use loomir_ir::{Body, Op, Trait};

use crate::affine::AffineForm;
use crate::tree::program::LoopInfo;
use crate::tree::{Green, Node, Program, Red, TreeStore};

/// The operations that count, compare and branch at a loop's end, less the terminator.
const TEST: u64 = 2;

/// A loop of a tree that was raised, and its place there.
pub struct LoopRef<'a> {
    block: &'a Body,
    trees: &'a TreeStore,
    place: Box<[usize]>,
    body: Green,
    info: &'a LoopInfo,
}

impl<'a> LoopRef<'a> {
    /// Visits all loops of a program's own tree, in the order of the text.
    pub(super) fn all(
        block: &'a Body,
        program: &'a Program,
        trees: &'a TreeStore,
    ) -> impl Iterator<Item = LoopRef<'a>> {
        let mut cursor = Some(Red::of(program.root));
        let nodes = std::iter::from_fn(move || {
            let moved = cursor.as_mut()?.onwards(trees);
            if !moved {
                cursor = None;
            }
            cursor.as_ref().map(|at| (at.node(), at.path().collect()))
        });
        nodes.filter_map(|(node, place)| {
            let Node::Loop { header, body } = trees.get(node) else { return None };
            let origin = trees.header(header).origins.first()?;
            Some(LoopRef { block, trees, place, body, info: program.loop_info(origin.of) })
        })
    }

    /// Returns the operation.
    pub fn op(&self) -> Op {
        self.info.op
    }

    /// Returns the numbers of the children that lead to the loop from the root of the tree.
    pub fn place(&self) -> &[usize] {
        &self.place
    }

    /// Returns true if the loop contains no other loop.
    pub fn is_innermost(&self) -> bool {
        !has_loops(self.trees, self.body)
    }

    /// Returns true if the loop carries values.
    pub fn carries_values(&self) -> bool {
        self.info.carried > 0
    }

    /// Returns the trip count, if it is constant.
    pub fn trip_count(&self) -> Option<u64> {
        let space = &self.info.space;
        let extents = space.extents().filter(|_| space.is_counted() && space.domain.exact)?;
        let constants: Option<Vec<i64>> = extents.iter().map(AffineForm::as_constant).collect();
        let (least, step) = (constants?.into_iter().min()?, space.step.filter(|step| *step > 0)?);
        u64::try_from(least).ok().map(|least| least.div_ceil(step.unsigned_abs()))
    }

    /// Returns the number of operations inside, without constants, and those of the loop's test.
    pub fn size(&self) -> u64 {
        let mut ops = Vec::new();
        let mut regions: Vec<_> = self.block.own_regions(self.info.op).collect();
        while let Some(region) = regions.pop() {
            for block in self.block.blocks(region) {
                for op in self.block.ops(block) {
                    ops.push(op);
                    regions.extend(self.block.own_regions(op));
                }
            }
        }
        let is_counted = |op: &&Op| !self.block.has_trait(**op, Trait::ConstantLike);
        ops.iter().filter(is_counted).count() as u64 + TEST
    }

    /// Returns true if the loop is a dimension of a parallel loop.
    pub fn is_dimension(&self) -> bool {
        self.info.dimension.is_some()
    }
}

/// Recurses once for each guard. Raising bounds their nesting depth.
fn has_loops(trees: &TreeStore, body: Green) -> bool {
    trees.items(body).any(|item| match trees.get(item) {
        Node::Loop { .. } => true,
        Node::Guard { body, .. } => has_loops(trees, body),
        _ => false,
    })
}
