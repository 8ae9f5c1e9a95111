//! Copies of operations, within a body and of whole bodies.

use hashbrown::HashMap;

use super::{Body, Extra, NONE, OpData, ValueData};
use crate::builder::OperationState;
use crate::entity::{Block, Op, Value};

/// The copies of values and blocks. A value or block that is not in it is the same in both.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
}

impl Mapping {
    /// Forgets all copies, and keeps the room.
    pub fn clear(&mut self) {
        self.values.clear();
        self.blocks.clear();
    }

    /// Says that `from` is `to` in copies.
    pub fn map(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// Returns the copy of a value, or the value itself.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Returns the copy of a value, if it has one.
    pub fn get(&self, value: Value) -> Option<Value> {
        self.values.get(&value).copied()
    }

    /// Returns the copy of a block, or the block itself.
    pub fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

impl Body {
    /// A copy of `op` with all it holds, standing nowhere, its operands as `mapping` says; what it
    /// defines is added to `mapping`. Linear in what is copied.
    pub fn copy_op(&mut self, op: Op, mapping: &mut Mapping) -> Op {
        let mut state = OperationState::named(self.op_name(op), self.loc(op));
        let mut early = Vec::new();
        let copy = self.copy_shell(op, mapping, &mut state, &mut early);
        // What it uses itself is not copied, or was.
        early.clear();
        self.copy_regions(vec![(op, copy)], mapping, &mut early);
        self.put_right(early, mapping);
        copy
    }

    /// Makes room for so many copies of blocks at once, without what is in regions inside. Linear
    /// in the blocks.
    pub fn reserve_copies(&mut self, blocks: &[Block], times: usize) {
        let (mut ops, mut operands, mut results) = (0, 0, 0);
        for op in blocks.iter().flat_map(|block| self.ops(*block)) {
            ops += 1;
            operands += self.num_operands(op);
            results += self.num_results(op);
        }
        // Of copies that take the memory of a machine, the first ones will say so.
        let room = |own: usize| times.saturating_mul(own).min(1 << 24);
        self.ops.reserve(room(ops));
        self.uses.reserve(room(operands));
        self.values.reserve(room(results));
    }

    /// Copies of some blocks of one region, which stand behind `after` in their order, values and
    /// blocks in them as `mapping` says; they, and what they define, are added to `mapping`. Linear
    /// in what is copied.
    pub fn copy_blocks(&mut self, blocks: &[Block], after: Block, mapping: &mut Mapping) -> Vec<Block> {
        let region = self.block_region(after);
        let mut copies = Vec::with_capacity(blocks.len());
        for block in blocks {
            let after = copies.last().copied().unwrap_or(after);
            let types: Vec<_> = self.arguments(*block).map(|v| self.value_type(v)).collect();
            let copy = self.create_block(region, Some(after), &types);
            self.map_block(*block, copy, mapping);
            copies.push(copy);
        }
        let mut early = Vec::new();
        for (block, copy) in blocks.iter().zip(&copies) {
            let work = self.copy_ops(*block, *copy, mapping, &mut early);
            self.copy_regions(work, mapping, &mut early);
        }
        self.put_right(early, mapping);
        copies
    }

    /// Fills the regions of copies.
    fn copy_regions(&mut self, mut work: Vec<(Op, Op)>, mapping: &mut Mapping, early: &mut Vec<(Op, usize)>) {
        while let Some((from, to)) = work.pop() {
            let regions: Vec<_> = self.own_regions(from).zip(self.own_regions(to)).collect();
            for (from, to) in regions {
                let blocks: Vec<Block> = self.blocks(from).collect();
                for block in &blocks {
                    let types: Vec<_> = self.arguments(*block).map(|v| self.value_type(v)).collect();
                    let new = self.append_block(to, &types);
                    self.map_block(*block, new, mapping);
                }
                for block in blocks {
                    work.extend(self.copy_ops(block, mapping.block(block), mapping, early));
                }
            }
        }
    }

    /// Says that a block and its arguments are others in copies.
    fn map_block(&mut self, from: Block, to: Block, mapping: &mut Mapping) {
        mapping.blocks.insert(from, to);
        let arguments: Vec<_> = self.arguments(from).zip(self.arguments(to)).collect();
        for (from, to) in arguments {
            mapping.map(from, to);
            let loc = self.argument_loc(from);
            self.set_argument_loc(to, loc);
        }
    }

    /// Copies the operations of a block, their regions empty; what uses something before it is
    /// copied goes to `early`. Returns those that have regions, each with its copy.
    fn copy_ops(
        &mut self,
        from: Block,
        to: Block,
        mapping: &mut Mapping,
        early: &mut Vec<(Op, usize)>,
    ) -> Vec<(Op, Op)> {
        let mut copied = Vec::new();
        let ops: Vec<Op> = self.ops(from).collect();
        let Some(first) = ops.first() else { return copied };
        let mut state = OperationState::named(self.op_name(*first), self.loc(*first));
        for op in ops {
            if self.is_plain(op) {
                let copy = self.copy_plain(op, mapping, early);
                self.append_op(to, copy);
                continue;
            }
            let copy = self.copy_shell(op, mapping, &mut state, early);
            self.append_op(to, copy);
            if self.own_regions(op).len() > 0 {
                copied.push((op, copy));
            }
        }
        copied
    }

    /// A copy of an operation that has neither regions nor successors nor a body. Operands that
    /// have no copy so far are added to `early`.
    fn copy_plain(&mut self, op: Op, mapping: &mut Mapping, early: &mut Vec<(Op, usize)>) -> Op {
        let data = *self.data(op);
        let place = OpData { block: NONE, prev: NONE, next: NONE, order: 0, operands: 0, results: 0, ..data };
        let index = self.add_record(place);
        let copy = self.op(index);
        if data.num_operands > 0 {
            let start = self.uses.allocate(data.num_operands as usize);
            self.ops[index as usize].operands = start;
            for i in 0..data.num_operands {
                let value = self.value(self.uses[data.operands + i].value);
                let own = mapping.get(value);
                if own.is_none() {
                    early.push((copy, i as usize));
                }
                self.link_use(start + i, index, own.unwrap_or(value).raw(self.arena));
            }
        }
        if data.num_results > 0 {
            let results = self.values.allocate(data.num_results as usize);
            self.ops[index as usize].results = results;
            for i in 0..data.num_results {
                let ty = self.values[data.results + i].ty;
                self.values[results + i] = ValueData { ty, def: index, index: i, first_use: NONE };
                mapping.map(self.value(data.results + i), self.value(results + i));
            }
        }
        self.was_copied(op, copy);
        copy
    }

    /// Lets copies use copies of what stood behind them in the text.
    fn put_right(&mut self, early: Vec<(Op, usize)>, mapping: &Mapping) {
        for (op, index) in early {
            if let Some(value) = mapping.get(self.operand(op, index)) {
                self.set_operand(op, index, value);
            }
        }
    }

    /// A copy of an operation with empty regions, or with a copy of the body it owns. `state` is
    /// overwritten. Operands that have no copy so far are added to `early`.
    fn copy_shell(
        &mut self,
        op: Op,
        mapping: &mut Mapping,
        state: &mut OperationState,
        early: &mut Vec<(Op, usize)>,
    ) -> Op {
        if let Some(nested) = self.nested(op) {
            let copy = nested.duplicate();
            let copy = self.adopt(copy);
            self.was_copied(op, copy);
            return copy;
        }
        state.restart(self.op_name(op), self.loc(op));
        let before = early.len();
        for (index, value) in self.operands(op).enumerate() {
            let copy = mapping.get(value);
            if copy.is_none() {
                early.push((op, index));
            }
            state.operands.push(copy.unwrap_or(value));
        }
        state.result_types.extend(self.results(op).map(|v| self.value_type(v)));
        (state.properties, state.attributes) = (self.properties(op), self.attributes(op));
        state.successors.extend(self.successors(op).map(|block| mapping.block(block)));
        state.num_regions = self.own_regions(op).len();
        let copy = self.create_from(state);
        early[before..].iter_mut().for_each(|(own, _)| *own = copy);
        self.was_copied(op, copy);
        for i in 0..self.num_results(op) {
            mapping.map(self.result(op, i), self.result(copy, i));
        }
        copy
    }

    /// A copy of a whole body. Its handles have the indices of those of the original.
    pub fn duplicate(&self) -> Body {
        Body {
            ctx: self.ctx.clone(),
            arena: self.ctx.new_arena(),
            ops: self.ops.clone(),
            free_ops: self.free_ops.clone(),
            extras: self.extras.iter().map(Extra::duplicate).collect(),
            free_extras: self.free_extras.clone(),
            uses: self.uses.clone(),
            values: self.values.clone(),
            successors: self.successors.clone(),
            blocks: self.blocks.clone(),
            free_blocks: self.free_blocks.clone(),
            regions: self.regions.clone(),
            resources: self.resources.clone(),
            trail: None,
        }
    }
}

impl Body {
    /// A copy whose handles are those of the original. It may replace the original, and nothing
    /// else may be done with it.
    #[must_use]
    pub fn snapshot(&self) -> Body {
        let mut copy = self.duplicate();
        let mut stack = vec![(self, &mut copy)];
        while let Some((from, to)) = stack.pop() {
            to.arena = from.arena;
            for (from, to) in from.extras.iter().zip(&mut to.extras) {
                stack.extend(from.nested.as_deref().zip(to.nested.as_deref_mut()));
            }
        }
        copy
    }
}

impl Extra {
    fn duplicate(&self) -> Extra {
        Extra {
            regions: self.regions,
            num_regions: self.num_regions,
            successors: self.successors,
            num_successors: self.num_successors,
            nested: self.nested.as_ref().map(|body| Box::new(body.duplicate())),
        }
    }
}
