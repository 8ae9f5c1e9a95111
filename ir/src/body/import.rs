//! Copies of operations from one body to another.

use super::Body;
use crate::builder::OperationState;
use crate::entity::{Block, Op, Region, Value};
use crate::location::Loc;

/// Copies operations and blocks of one body into another.
///
/// Everything that a copy uses must be [mapped](Import::map) or copied. Operations are made without
/// operands first. They get their operands at the end, so the order of blocks does not matter.
/// Linear in what is copied; making an import is linear in the size of the arena it reads.
pub struct Import<'s> {
    from: &'s Body,
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
    /// The copies that have no operands yet, with their originals.
    unwired: Vec<(Op, Op)>,
}

impl<'s> Import<'s> {
    /// An import that has copied nothing yet.
    pub fn new(from: &'s Body) -> Import<'s> {
        let (values, blocks) = (vec![None; from.num_value_slots()], vec![None; from.num_block_slots()]);
        Import { from, values, blocks, unwired: Vec::new() }
    }

    /// Uses `to` in copies where the original uses `from`.
    pub fn map(&mut self, from: Value, to: Value) {
        self.values[from.index()] = Some(to);
    }

    /// The copy of a value.
    pub fn value(&self, from: Value) -> Option<Value> {
        self.values[from.index()]
    }

    /// The copy of a block.
    pub fn block(&self, from: Block) -> Option<Block> {
        self.blocks[from.index()]
    }

    /// Copies the operations of a block, without its last one, before `before`. Each copy gets the
    /// location that `locate` makes of the original's. Returns the copies in order.
    pub fn ops_before(
        &mut self,
        to: &mut Body,
        block: Block,
        before: Op,
        locate: &mut dyn FnMut(Loc) -> Loc,
    ) -> Vec<Op> {
        let mut copies = Vec::new();
        let mut open = Vec::new();
        for op in self.from.ops(block).filter(|op| self.from.next_op(*op).is_some()) {
            let copy = self.shell(to, op, locate);
            to.insert_before(before, copy);
            copies.push(copy);
            open.push((op, copy));
        }
        self.fill(to, open, locate);
        self.wire(to);
        copies
    }

    /// Copies all blocks of a region behind the block `after`. Returns the copies in order.
    pub fn blocks_after(
        &mut self,
        to: &mut Body,
        region: Region,
        after: Block,
        locate: &mut dyn FnMut(Loc) -> Loc,
    ) -> Vec<Block> {
        let target = to.block_region(after);
        let mut copies: Vec<Block> = Vec::new();
        for block in self.from.blocks(region) {
            let last = copies.last().copied().unwrap_or(after);
            copies.push(self.empty_block(to, block, (target, Some(last)), locate));
        }
        let mut open = Vec::new();
        for (block, copy) in self.from.blocks(region).zip(&copies) {
            self.append_shells(to, block, *copy, &mut open, locate);
        }
        self.fill(to, open, locate);
        self.wire(to);
        copies
    }

    /// Fills the regions of copies. The list of open operations stands in for recursion.
    fn fill(&mut self, to: &mut Body, mut open: Vec<(Op, Op)>, locate: &mut dyn FnMut(Loc) -> Loc) {
        while let Some((op, copy)) = open.pop() {
            for (from, target) in self.from.own_regions(op).zip(to.own_regions(copy)) {
                for block in self.from.blocks(from) {
                    self.empty_block(to, block, (target, None), locate);
                }
                for block in self.from.blocks(from) {
                    let copied = self.blocks[block.index()];
                    copied
                        .into_iter()
                        .for_each(|copy| self.append_shells(to, block, copy, &mut open, locate));
                }
            }
        }
    }

    /// Makes the copy of a block without operations, with copies of its arguments.
    fn empty_block(
        &mut self,
        to: &mut Body,
        block: Block,
        (target, after): (Region, Option<Block>),
        locate: &mut dyn FnMut(Loc) -> Loc,
    ) -> Block {
        let copy = to.create_block(target, after, &[]);
        self.blocks[block.index()] = Some(copy);
        for argument in self.from.arguments(block) {
            let new = to.add_argument(copy, self.from.value_type(argument));
            to.set_argument_loc(new, locate(self.from.argument_loc(argument)));
            self.map(argument, new);
        }
        copy
    }

    fn append_shells(
        &mut self,
        to: &mut Body,
        block: Block,
        copy: Block,
        open: &mut Vec<(Op, Op)>,
        locate: &mut dyn FnMut(Loc) -> Loc,
    ) {
        for op in self.from.ops(block) {
            let shell = self.shell(to, op, locate);
            to.append_op(copy, shell);
            open.push((op, shell));
        }
    }

    /// Makes a copy without operands and with empty regions, or a copy of the body it owns.
    fn shell(&mut self, to: &mut Body, op: Op, locate: &mut dyn FnMut(Loc) -> Loc) -> Op {
        let from = self.from;
        if let Some(nested) = from.nested(op) {
            return to.adopt(nested.duplicate());
        }
        let mut state = OperationState::named(from.op_name(op), locate(from.loc(op)));
        state.result_types.extend(from.results(op).map(|value| from.value_type(value)));
        state.properties = from.properties(op);
        state.attributes = from.attributes(op);
        state.successors.extend(from.successors(op).filter_map(|block| self.block(block)));
        state.num_regions = from.own_regions(op).len();
        let copy = to.create(state);
        for (value, new) in from.results(op).zip(to.results(copy)) {
            self.map(value, new);
        }
        if from.num_operands(op) > 0 {
            self.unwired.push((op, copy));
        }
        copy
    }

    /// Gives copies their operands.
    ///
    /// # Panics
    /// If one is neither mapped nor copied: a defect of the caller.
    fn wire(&mut self, to: &mut Body) {
        let mut operands = Vec::new();
        for (op, copy) in self.unwired.drain(..) {
            operands.clear();
            operands.extend(self.from.operands(op).filter_map(|value| self.values[value.index()]));
            assert_eq!(operands.len(), self.from.num_operands(op), "an operand of {op:?} is not mapped");
            to.set_operands(copy, &operands);
        }
    }
}
