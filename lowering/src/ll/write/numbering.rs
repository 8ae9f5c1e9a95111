//! The labels of a function's values and blocks, and the edges between its blocks.

use hashbrown::HashMap;
use loomir_dialects::branch;
use loomir_ir::{Block, Body, Op, OpRef, Value};

use super::beside::{Beside, Label};
use crate::ll::as_read::{Named, is_literal};

/// An edge into a block: its source, and its operands.
pub(super) struct Edge {
    pub(super) from: Label,
    pub(super) operands: Vec<Value>,
}

/// The function being written.
pub(super) struct Function<'b> {
    pub(super) body: &'b Body,
    /// Labels of values, by index.
    values: Vec<Label>,
    /// Labels of blocks, by index.
    pub(super) blocks: Vec<Label>,
    /// Edges into each block, by index, in the order of the text.
    pub(super) edges: Vec<Vec<Edge>>,
    /// The labels of blocks that split an edge.
    pub(super) detours: HashMap<(Op, usize), Label>,
    /// The additional parts of the text, if the function is unchanged.
    pub(super) beside: Beside,
}

impl<'b> Function<'b> {
    /// True if an operation is written at its uses.
    pub(super) fn is_literal(&self, op: Op) -> bool {
        self.body.results(op).next().is_some_and(|result| *self.value(result) == Label::None)
    }

    /// Returns the label of a value, which a literal has not.
    pub(super) fn value(&self, value: Value) -> &Label {
        &self.values[value.index()]
    }

    /// Returns the label of the block that an edge to a successor leads to.
    pub(super) fn target(&self, op: OpRef<'_>, index: usize) -> &Label {
        self.detours.get(&(op.op(), index)).unwrap_or(&self.blocks[op.successor(index).index()])
    }

    /// Returns the labels of the blocks, by index.
    pub(super) fn into_block_labels(self) -> Vec<Label> {
        self.blocks
    }

    /// Numbers arguments, blocks and results without a name in LLVM's order.
    pub(super) fn new(body: &'b Body) -> Self {
        let (mut labels, beside) = Beside::of(body);
        let mut f = Function {
            body,
            values: vec![Label::default(); body.num_value_slots()],
            blocks: vec![Label::default(); body.num_block_slots()],
            edges: (0..body.num_block_slots()).map(|_| Vec::new()).collect(),
            detours: HashMap::new(),
            beside,
        };
        let region = body.region(body.root(), 0);
        if let Some(entry) = body.entry_block(region) {
            for argument in body.arguments(entry) {
                f.values[argument.index()] = labels.of(Named::Value(argument));
            }
        }
        for block in body.blocks(region) {
            f.blocks[block.index()] = labels.of(Named::Block(block));
            if !body.is_entry(block) {
                for argument in body.arguments(block) {
                    f.values[argument.index()] = labels.of(Named::Value(argument));
                }
            }
            for op in body.ops(block) {
                if !is_literal(body, op) {
                    for result in body.results(op) {
                        f.values[result.index()] = labels.of(Named::Value(result));
                    }
                }
            }
            let Some(terminator) = body.last_op(block) else { continue };
            // The first edge to each target. Later ones are compared with it.
            let mut first: HashMap<Block, usize> = HashMap::new();
            let all = branch::successor_operands(body, terminator);
            let all = all.unwrap_or_else(|| vec![Vec::new(); body.successors(terminator).len()]);
            for (index, (target, operands)) in body.successors(terminator).zip(&all).enumerate() {
                let differs = match first.get(&target) {
                    Some(earlier) => all[*earlier] != *operands,
                    None => {
                        first.insert(target, index);
                        false
                    }
                };
                let mut from = f.blocks[block.index()].clone();
                if differs {
                    from = labels.number();
                    f.detours.insert((terminator, index), from.clone());
                }
                f.edges[target.index()].push(Edge { from, operands: operands.clone() });
            }
        }
        f
    }
}
