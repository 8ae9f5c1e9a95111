//! Copies of operations, within a body and of whole bodies.

use hashbrown::HashMap;

use super::{Body, Extra};
use crate::builder::OperationState;
use crate::entity::{Block, Op, Value};

/// What values and blocks of the original are in the copy. What is not in it is the same in both.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
}

impl Mapping {
    /// Says that `from` is `to` in copies.
    pub fn map(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// What a value is in copies.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// What a value is in copies, if anything was said of it.
    pub fn get(&self, value: Value) -> Option<Value> {
        self.values.get(&value).copied()
    }

    fn block(&self, block: Block) -> Block {
        self.blocks.get(&block).copied().unwrap_or(block)
    }
}

impl Body {
    /// A copy of `op` with all it holds, standing nowhere, its operands as `mapping` says; what it defines is added to `mapping`. Linear in
    /// what is copied.
    pub fn copy_op(&mut self, op: Op, mapping: &mut Mapping) -> Op {
        let copy = self.copy_shell(op, mapping);
        // Inside, a value may be used in the text before it is defined: such uses are put right at the end.
        let mut early: Vec<(Op, usize)> = Vec::new();
        let mut work = vec![(op, copy)];
        while let Some((from, to)) = work.pop() {
            let regions: Vec<_> = self.own_regions(from).zip(self.own_regions(to)).collect();
            for (from, to) in regions {
                let blocks: Vec<Block> = self.blocks(from).collect();
                for block in &blocks {
                    let types: Vec<_> = self.arguments(*block).map(|v| self.value_type(v)).collect();
                    let new = self.append_block(to, &types);
                    mapping.blocks.insert(*block, new);
                    let arguments: Vec<_> = self.arguments(*block).zip(self.arguments(new)).collect();
                    for (from, to) in arguments {
                        mapping.map(from, to);
                        let loc = self.argument_loc(from);
                        self.set_argument_loc(to, loc);
                    }
                }
                for block in blocks {
                    let into = mapping.block(block);
                    for op in self.ops(block).collect::<Vec<_>>() {
                        let copy = self.copy_shell(op, mapping);
                        self.append_op(into, copy);
                        let operands = self.operands(op).enumerate();
                        early.extend(
                            operands.filter(|(_, v)| mapping.get(*v).is_none()).map(|(i, _)| (copy, i)),
                        );
                        work.push((op, copy));
                    }
                }
            }
        }
        for (op, index) in early {
            if let Some(value) = mapping.get(self.operand(op, index)) {
                self.set_operand(op, index, value);
            }
        }
        copy
    }

    /// A copy of an operation with empty regions, or with a copy of the body it owns.
    fn copy_shell(&mut self, op: Op, mapping: &mut Mapping) -> Op {
        if let Some(nested) = self.nested(op) {
            let copy = nested.duplicate();
            return self.adopt(copy);
        }
        let mut state = OperationState::named(self.op_name(op), self.loc(op));
        state.operands = self.operands(op).map(|v| mapping.value(v)).collect();
        state.result_types = self.results(op).map(|v| self.value_type(v)).collect();
        state.properties = self.properties(op);
        state.attributes = self.attributes(op);
        state.successors = self.successors(op).map(|block| mapping.block(block)).collect();
        state.num_regions = self.own_regions(op).len();
        let copy = self.create(state);
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
        }
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
