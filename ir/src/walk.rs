//! Walks over the operations of a body, in the order of the text.
//!
//! A walk follows the links of the storage and needs no memory of its own. The body may not change
//! under it: collect first where it must.

use crate::body::Body;
use crate::entity::{Block, Op, Region};

impl Body {
    /// `root` and every operation inside it, an operation before what it holds. Operations that own
    /// a body are met, what they hold is not. Linear.
    pub fn preorder(&self, root: Op) -> impl Iterator<Item = Op> + '_ {
        let mut next = Some(root);
        std::iter::from_fn(move || {
            let op = next?;
            // Most operations hold nothing and are not the last of their block.
            let beside = if op != root && self.is_plain(op) { self.next_op(op) } else { None };
            next = beside.or_else(|| self.first_inside(op)).or_else(|| self.after(op, root));
            Some(op)
        })
    }

    /// Every operation of the body but its root, in the order of the text.
    pub fn all_ops(&self) -> impl Iterator<Item = Op> + '_ {
        self.preorder(self.root()).skip(1)
    }

    /// Every operation inside `root` and `root` itself, an operation after what it holds, otherwise
    /// in the order of the text. Linear, one vector.
    pub fn postorder(&self, root: Op) -> Vec<Op> {
        let mut order = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((op, expanded)) = stack.pop() {
            if expanded {
                order.push(op);
                continue;
            }
            stack.push((op, true));
            let mark = stack.len();
            for region in self.own_regions(op) {
                for block in self.blocks(region) {
                    stack.extend(self.ops(block).map(|op| (op, false)));
                }
            }
            stack[mark..].reverse();
        }
        order
    }

    /// Every region of the body, an operation's before those inside them.
    pub fn all_regions(&self) -> impl Iterator<Item = Region> + '_ {
        self.preorder(self.root()).flat_map(|op| self.own_regions(op))
    }

    /// Every block of the body.
    pub fn all_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.all_regions().flat_map(|region| self.blocks(region))
    }

    /// Calls `f` for every operation of this body and of the bodies inside it, in the order of the
    /// text. An operation that owns a body is met once, as the root of that body.
    pub fn walk<'b>(&'b self, f: &mut dyn FnMut(&'b Body, Op)) {
        // Bodies nest as deep as symbol tables do; an explicit stack of resumable walks.
        let mut stack = vec![(self, Some(self.root()))];
        while let Some((body, next)) = stack.pop() {
            let Some(op) = next else { continue };
            if let Some(nested) = body.nested(op) {
                stack.push((body, body.after(op, body.root())));
                stack.push((nested, Some(nested.root())));
                continue;
            }
            f(body, op);
            stack.push((body, body.first_inside(op).or_else(|| body.after(op, body.root()))));
        }
    }

    fn first_inside(&self, op: Op) -> Option<Op> {
        self.own_regions(op).find_map(|region| self.first_in(self.entry_block(region)))
    }

    /// The first operation of `block` or, if that is empty, of the blocks after it.
    fn first_in(&self, mut block: Option<Block>) -> Option<Op> {
        while let Some(b) = block {
            if let Some(op) = self.first_op(b) {
                return Some(op);
            }
            block = self.next_block(b);
        }
        None
    }

    /// Returns the operation after `op` and all it holds, within `root`.
    fn after(&self, op: Op, root: Op) -> Option<Op> {
        let mut op = op;
        while op != root {
            if let Some(next) = self.next_op(op) {
                return Some(next);
            }
            let block = self.block_of(op)?;
            if let Some(next) = self.first_in(self.next_block(block)) {
                return Some(next);
            }
            let region = self.block_region(block);
            let parent = self.region_parent(region);
            let index = self.region_index(region);
            if let Some(next) =
                self.own_regions(parent).skip(index + 1).find_map(|r| self.first_in(self.entry_block(r)))
            {
                return Some(next);
            }
            op = parent;
        }
        None
    }
}
