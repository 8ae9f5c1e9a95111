//! The labels of a function's values and blocks, and the edges between its blocks.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{branch, llvm};
use loomir_ir::{Block, Body, Op, OpRef, Value};

use super::beside::{Beside, Label, Labels};
use crate::ll::EDGE;
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
    /// The blocks that are edges in the text.
    pub(super) of_edges: HashSet<Block>,
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
        let mut to = op.successor(index);
        if self.of_edges.contains(&to)
            && let Some(onward) = self.body.block_successors(to).next()
        {
            to = onward;
        }
        self.detours.get(&(op.op(), index)).unwrap_or(&self.blocks[to.index()])
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
            of_edges: HashSet::new(),
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
            if let Some(from) = source_of_edge(body, block) {
                let label = f.blocks[from.index()].clone();
                f.enter_successors(block, &label, &mut labels);
                f.blocks[block.index()] = label;
                f.of_edges.insert(block);
                continue;
            }
            f.blocks[block.index()] = labels.of(Named::Block(block));
            if !body.is_entry(block) {
                for argument in body.arguments(block) {
                    f.values[argument.index()] = labels.of(Named::Value(argument));
                }
            }
            for op in body.ops(block) {
                if !is_literal(body, op) && !f.beside.is_expression(body, op) {
                    for result in body.results(op) {
                        f.values[result.index()] = labels.of(Named::Value(result));
                    }
                }
            }
            let label = f.blocks[block.index()].clone();
            f.enter_successors(block, &label, &mut labels);
        }
        f
    }

    /// Adds the edges out of a block, which have this label as their source.
    fn enter_successors(&mut self, block: Block, label: &Label, labels: &mut Labels) {
        let body = self.body;
        let Some(terminator) = body.last_op(block) else { return };
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
            let mut from = label.clone();
            if differs {
                from = labels.number();
                self.detours.insert((terminator, index), from.clone());
            }
            self.edges[target.index()].push(Edge { from, operands: operands.clone() });
        }
    }
}

/// Returns the source of the edge that a block stands for, which is the block in front of it.
fn source_of_edge(body: &Body, block: Block) -> Option<Block> {
    let branch = body.first_op(block)?;
    if !body.is(branch, llvm::BrOp::DEF) || body.attr(branch, EDGE).is_none() || body.is_entry(block) {
        return None;
    }
    let mut edges = body.predecessor_edges(block);
    let (Some((from, 0)), None) = (edges.next(), edges.next()) else { return None };
    let is_alone = body.num_arguments(block) == 0 && body.attributes(branch).entries(body.ctx()).len() == 1;
    let before = body.block_of(from).filter(|_| is_alone && body.is(from, llvm::InvokeOp::DEF))?;
    (body.next_block(before) == Some(block)).then_some(before)
}
