//! Operations that are loops and conditionals of a tree, and no statements.
//!
//! An unsigned loop around other loops is a statement. Its variable has no form over levels. In the
//! trees inside it is a number from before, so subscripts there are affine.
//!
//! # Limits
//!
//! - An unsigned loop around other loops stays as it is. The loops inside are trees of their own.

use loomir_dialects::interfaces::{Conditional, Decision, LoopBounds, LoopLike, ParallelLike};
use loomir_dialects::scf;
use loomir_ir::{Block, Body, Op, Trait, Value};

/// The most loops and `if`s around a node of the tree; operations further inside are statements.
pub const MAX_DEPTH: u32 = 32;

/// An operation that is no statement of the tree.
pub enum Structure<'b> {
    /// A counted loop.
    Loop {
        /// The interface with its bounds and body.
        model: &'b dyn LoopLike,
        /// Its body, which ends in a terminator.
        block: Block,
    },
    /// A loop of some dimensions whose iterations may run in any order. If it has results, one
    /// operation each combines what iterations contribute to it.
    Parallel {
        /// The iteration space of each dimension; at least one.
        dimensions: Vec<LoopBounds>,
        /// Its body, which ends in a terminator and has a variable for each dimension as arguments.
        block: Block,
    },
    /// A conditional. If it has results, both regions have a block and yield them.
    If {
        /// The decision between its regions.
        decision: Decision,
        /// The blocks of its regions, which end in terminators; the first region has one.
        blocks: [Option<Block>; 2],
    },
}

impl<'b> Structure<'b> {
    /// Returns the structure of an operation, unless it is a statement.
    pub fn of(body: &'b Body, op: Op) -> Option<Structure<'b>> {
        if body.own_regions(op).len() == 0 {
            return None;
        }
        let view = body.op_ref(op);
        let ended = |region| body.single_block(region).filter(|block| body.terminator(*block).is_some());
        if let Some(model) = view.info().interface::<dyn LoopLike>() {
            let block = ended(model.body(view))?;
            let is_statement = model.is_unsigned(view) && has_loop(body, op);
            return (!is_statement).then_some(Structure::Loop { model, block });
        }
        if let Some(model) = view.info().interface::<dyn ParallelLike>() {
            let (dimensions, block) = (model.dimensions(view), ended(model.body(view))?);
            let fits = !dimensions.is_empty() && dimensions.len() == body.num_arguments(block);
            let has_known_results = view.num_results() == 0 || is_reduction(body, op, block);
            return (fits && has_known_results).then_some(Structure::Parallel { dimensions, block });
        }
        let decision = view.info().interface::<dyn Conditional>()?.decision(view)?;
        if view.regions().len() != 2 {
            return None;
        }
        let (first, second) = (view.region(0), view.region(1));
        let blocks = [Some(ended(first)?), ended(second)];
        let is_whole = blocks[1].is_some() || body.entry_block(second).is_none();
        let yields = |block: &Option<Block>| {
            let end = block.and_then(|block| body.terminator(block));
            end.map_or(0, |end| body.operands(end).len()) == view.num_results()
        };
        (is_whole && blocks.iter().all(yields)).then_some(Structure::If { decision, blocks })
    }

    /// Returns the number of nodes of the tree that it is, one inside the other.
    pub fn levels(&self) -> u32 {
        match self {
            Structure::Parallel { dimensions, .. } => dimensions.len() as u32,
            Structure::Loop { .. } | Structure::If { .. } => 1,
        }
    }

    /// Returns the blocks inside.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let blocks = match self {
            Structure::Loop { block, .. } | Structure::Parallel { block, .. } => [Some(*block), None],
            Structure::If { blocks, .. } => *blocks,
        };
        blocks.into_iter().flatten()
    }
}

/// True if there is a loop in an operation. Linear in the operations before that.
fn has_loop(body: &Body, op: Op) -> bool {
    body.preorder(op).skip(1).any(|op| {
        let info = body.info(op);
        info.interface::<dyn LoopLike>().is_some() || info.interface::<dyn ParallelLike>().is_some()
    })
}

/// True if an operation with this body is an `scf.parallel` whose results are combined in pairs,
/// each by one operation that has no effects and uses nothing else.
fn is_reduction(body: &Body, op: Op, block: Block) -> bool {
    let end = body.terminator(block).filter(|end| body.is(*end, scf::ReduceOp::DEF));
    let Some(end) = end.filter(|_| body.is(op, scf::ParallelOp::DEF)) else { return false };
    let count = body.num_results(op);
    let combines = |region| {
        let block = body.single_block(region)?;
        let (step, last) = (body.first_op(block)?, body.terminator(block)?);
        let arguments: Vec<Value> = body.arguments(block).collect();
        let is_one = body.next_op(step) == Some(last)
            && body.is(last, scf::ReduceReturnOp::DEF)
            && body.num_results(step) == 1
            && body.operands(last).eq([body.result(step, 0)])
            && body.own_regions(step).len() == 0
            && body.has_trait(step, Trait::Pure)
            && arguments.len() == 2
            && body.operands(step).all(|value| arguments.contains(&value));
        is_one.then_some(())
    };
    body.num_operands(end) == count
        && scf::ParallelOp(op).initVals(body).len() == count
        && body.own_regions(end).len() == count
        && body.own_regions(end).all(|region| combines(region).is_some())
}
