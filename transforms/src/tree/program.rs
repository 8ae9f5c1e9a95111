//! The program a tree runs: loops and statements as they were when it was raised.
//!
//! Each operation that is not a loop of the tree is a statement, whatever is inside it. What a statement touches is affine in the
//! loops of the program around it, which are numbered from the outside; values computed in the program are known by name.

use hashbrown::HashMap;
use loomir_ir::{Block, Body, Op, Value};

use super::green::Green;
use crate::dependence::access::{Effects, Space};
use crate::dependence::form::{Atom, Form};
use crate::dependence::surroundings::Surroundings;

/// A loop of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopId(pub u32);

/// A statement of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StatementId(pub u32);

/// A loop as it was.
#[derive(Clone, Debug)]
pub struct LoopInfo {
    /// The operation.
    pub op: Op,
    /// The block that is its body.
    pub block: Block,
    /// Its variable.
    pub variable: Value,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// How many loops are around it.
    pub depth: u32,
    /// Its iterations.
    pub space: Space,
    /// How many values it carries from one iteration to the next.
    pub carried: usize,
    /// The loop as a tree, as it was raised.
    pub green: Green,
}

/// A statement as it was.
#[derive(Clone, Debug)]
pub struct StatementInfo {
    /// The operation.
    pub op: Op,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// What it touches, with all that is inside it.
    pub effects: Effects,
}

/// The loops and statements of a block, with all that is inside. See the [module](self).
#[derive(Clone, Debug)]
pub struct Program {
    /// The block.
    pub block: Block,
    /// The order in which they ran: a sequence.
    pub root: Green,
    /// What is known where the block stands.
    pub surroundings: Surroundings,
    pub(super) loops: Vec<LoopInfo>,
    pub(super) statements: Vec<StatementInfo>,
    /// The bodies of the loops.
    pub(super) blocks: HashMap<Block, LoopId>,
    /// How many loops are around each parameter that is computed in the program.
    pub(super) depths: HashMap<Value, u32>,
}

impl Program {
    /// A loop.
    pub fn loop_info(&self, id: LoopId) -> &LoopInfo {
        &self.loops[id.0 as usize]
    }

    /// A statement.
    pub fn statement(&self, id: StatementId) -> &StatementInfo {
        &self.statements[id.0 as usize]
    }

    /// How many loops there are.
    pub fn num_loops(&self) -> usize {
        self.loops.len()
    }

    /// The loop of which `block` is the body.
    pub fn loop_of(&self, block: Block) -> Option<LoopId> {
        self.blocks.get(&block).copied()
    }

    /// The loop whose variable, or value carried from one iteration to the next, `value` is.
    pub fn loop_of_argument(&self, body: &Body, value: Value) -> Option<(LoopId, usize)> {
        match body.def(value) {
            loomir_ir::ValueDef::BlockArgument { block, index } => Some((self.loop_of(block)?, index)),
            loomir_ir::ValueDef::OpResult { .. } => None,
        }
    }

    /// Whether all parameters of a form are computed inside at most `depth` loops.
    pub fn is_known(&self, form: &Form, depth: u32) -> bool {
        form.all_atoms(&|atom| match atom {
            Atom::Param(value) => self.depths.get(value).is_none_or(|own| *own <= depth),
            _ => true,
        })
    }

    /// The loops around a loop and itself, from the outside.
    pub fn path(&self, of: Option<LoopId>) -> Vec<LoopId> {
        let mut path: Vec<LoopId> = std::iter::successors(of, |id| self.loop_info(*id).parent).collect();
        path.reverse();
        path
    }
}
