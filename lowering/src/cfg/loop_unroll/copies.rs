//! Copies of a loop's body, one behind the other.
//!
//! ```text
//!     preheader                      preheader
//!         │                              │
//!     ┌─> body ──> exit              ┌─> body ──────┐
//!     └─────┘            becomes     │   copy ──────┼──> exit
//!                                    │   copy ──────┘
//!                                    └─────┘
//! ```
//!
//! Loops are closed: values leave them only as operands of their exits. So each copy leaves to the
//! same blocks as the original, with values of its own, and nothing behind the loop changes. The
//! exits have other predecessors afterwards, and unreachable blocks may stay: the caller brings
//! loops back into form.
//!
//! **Cost.** Linear in the blocks that are written.

use hashbrown::HashMap;
use loomir_ir::{Block, Body, Mapping, Type};

use super::shape::{Course, Exit, Shape, edge_to};
use crate::cfg::branch::{Ending, Target, annotations, end_block, forget_annotation, targets};

/// One copy of a loop's body, or the original.
pub(in crate::cfg) struct Copy {
    /// The copies of blocks; nothing for the original.
    blocks: HashMap<Block, Block>,
    pub(in crate::cfg) header: Block,
    pub(in crate::cfg) latch: Block,
    /// The last block in the text.
    pub(in crate::cfg) last: Block,
}

impl Copy {
    /// Returns the loop itself.
    pub(in crate::cfg) fn original(shape: &Shape) -> Copy {
        let last = *shape.blocks.last().unwrap_or(&shape.latch);
        Copy { blocks: HashMap::new(), header: shape.header, latch: shape.latch, last }
    }

    /// Copies the blocks of a loop behind `after`. Edges between them lead to copies.
    pub(in crate::cfg) fn of(function: &mut Body, shape: &Shape, after: Block) -> Copy {
        Copy::with_room(function, shape, after, &mut Mapping::default())
    }

    /// Copies the blocks of a loop behind `after`. `mapping` only lends its room.
    fn with_room(function: &mut Body, shape: &Shape, after: Block, mapping: &mut Mapping) -> Copy {
        mapping.clear();
        let copies = function.copy_blocks(&shape.blocks, after, mapping);
        let blocks = shape.blocks.iter().copied().zip(copies.iter().copied()).collect();
        let (header, latch) = (mapping.block(shape.header), mapping.block(shape.latch));
        Copy { blocks, header, latch, last: *copies.last().unwrap_or(&after) }
    }

    /// Returns the copy of a block.
    pub(in crate::cfg) fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }

    /// Returns the shape of the copy, which is entered from another block.
    pub(in crate::cfg) fn shape(&self, of: &Shape, preheader: Block) -> Shape {
        let exits = of.exits.iter().map(|exit| Exit { block: self.block(exit.block), ..exit.clone() });
        Shape {
            preheader,
            header: self.header,
            latch: self.latch,
            blocks: of.blocks.iter().map(|block| self.block(*block)).collect(),
            exits: exits.collect(),
        }
    }

    /// Lets the backedge lead to another block, with the same operands.
    pub(in crate::cfg) fn lead(&self, function: &mut Body, to: Block) {
        if let Some((branch, index)) = edge_to(function, self.latch, self.header) {
            function.set_successor(branch, index, to);
            forget_annotation(function, branch);
        }
    }
}

/// Unrolls a loop: its body runs `count` times in each iteration. `course` says of each exiting
/// block what it does in each copy. If the loop is unrolled completely, there is no way back from
/// the last copy. Returns the copies, the original first.
pub(in crate::cfg) fn unroll(
    function: &mut Body,
    shape: &Shape,
    count: u64,
    is_full: bool,
    course: impl Fn(&Exit, u64) -> Course,
) -> Vec<Copy> {
    let said = shape.backedge(function).map(|(branch, _)| annotations(function, branch)).unwrap_or_default();
    let mut copies = vec![Copy::original(shape)];
    function.reserve_copies(&shape.blocks, count.saturating_sub(1) as usize);
    let mut room = Mapping::default();
    for _ in 1..count {
        let after = copies[copies.len() - 1].last;
        copies.push(Copy::with_room(function, shape, after, &mut room));
    }
    let end = is_full.then(|| nowhere(function, shape, copies[copies.len() - 1].last));
    for (number, copy) in copies.iter().enumerate() {
        let next = copies.get(number + 1).map(|next| next.header);
        copy.lead(function, next.or(end).unwrap_or(shape.header));
    }
    for (number, copy) in copies.iter().enumerate() {
        shape.exits.iter().for_each(|exit| settle(function, copy, exit, course(exit, number as u64)));
    }
    if !is_full
        && let Some(last) = copies.last()
        && let Some((branch, _)) = edge_to(function, last.latch, shape.header)
    {
        said.into_iter().for_each(|(name, attr)| function.set_attr(branch, name, attr));
    }
    copies
}

/// Peels the first iterations of a loop. `course` says of each exiting block what it does in each
/// of them. Returns the copies.
pub(in crate::cfg) fn peel(
    function: &mut Body,
    shape: &Shape,
    count: u64,
    course: impl Fn(&Exit, u64) -> Course,
) -> Vec<Copy> {
    let mut copies: Vec<Copy> = Vec::new();
    let (mut after, mut room) = (shape.preheader, Mapping::default());
    for _ in 0..count {
        let copy = Copy::with_room(function, shape, after, &mut room);
        after = copy.last;
        copies.push(copy);
    }
    let entry = forwarding(function, shape.header, after);
    for (number, copy) in copies.iter().enumerate() {
        copy.lead(function, copies.get(number + 1).map_or(entry, |next| next.header));
    }
    if let (Some(first), Some((branch, index))) =
        (copies.first(), edge_to(function, shape.preheader, shape.header))
    {
        function.set_successor(branch, index, first.header);
    }
    for (number, copy) in copies.iter().enumerate() {
        shape.exits.iter().for_each(|exit| settle(function, copy, exit, course(exit, number as u64)));
    }
    copies
}

/// Returns the types of a block's arguments.
pub(in crate::cfg) fn types_of(function: &Body, block: Block) -> Vec<Type> {
    function.arguments(block).map(|own| function.value_type(own)).collect()
}

/// Makes a block behind `after` with the arguments of `to`, which it passes on.
pub(in crate::cfg) fn forwarding(function: &mut Body, to: Block, after: Block) -> Block {
    let types = types_of(function, to);
    let block = function.create_block(function.block_region(to), Some(after), &types);
    let operands = function.arguments(block).collect();
    end_block(function, block, &Ending::Branch(Target { block: to, operands }));
    block
}

/// Makes a block that is never reached, with the arguments of the header.
fn nowhere(function: &mut Body, shape: &Shape, after: Block) -> Block {
    let types = types_of(function, shape.header);
    let block = function.create_block(function.block_region(after), Some(after), &types);
    end_block(function, block, &Ending::Unreachable);
    block
}

/// Folds an exit in a copy where its course is known.
pub(in crate::cfg) fn settle(function: &mut Body, copy: &Copy, exit: &Exit, course: Course) {
    let edge = match course {
        Course::Tests => None,
        Course::Stays => exit.only_edge(false),
        // In a loop inside, the exit is tested again and again before it is taken.
        Course::Leaves => exit.only_edge(true).filter(|_| exit.runs_once),
    };
    let from = copy.block(exit.block);
    if let (Some(edge), Some(branch)) = (edge, function.terminator(from)) {
        let only = targets(function, branch).swap_remove(edge);
        end_block(function, from, &Ending::Branch(only));
    }
}
