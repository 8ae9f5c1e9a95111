//! Results of parallel loops: the values that iterations contribute, and their combination.
//!
//! The fused loop has the initial values, contributions and combinations of each of its origins in
//! turn. The judge has seen that all dimensions of an origin are in one operation.

use loomir_dialects::scf;
use loomir_ir::{Block, Builder, InsertPoint, Op, OperationState, Type, Value};

use super::{Emit, outside};
use crate::tree::{Header, Origin};

impl<'a> Emit<'a> {
    /// True if parallel loops with results are among the origins of a loop.
    pub(super) fn reduces(&self, header: &Header) -> bool {
        self.reduced(header).next().is_some()
    }

    fn reduced<'h>(&self, header: &'h Header) -> impl Iterator<Item = &'h Origin> + use<'h, 'a> {
        let program = self.program;
        header.origins.iter().filter(move |own| program.loop_info(own.of).reduced > 0)
    }

    /// Adds the initial values and the results to a new `scf.parallel` with a dimension for each of
    /// these loops.
    pub(super) fn begin_reductions(
        &mut self,
        levels: &[&Header],
        state: &mut OperationState,
        at: InsertPoint,
    ) {
        let Some(header) = levels.first().filter(|header| self.reduces(header)) else { return };
        let mut inits = Vec::new();
        for origin in self.reduced(header).collect::<Vec<_>>() {
            let own = scf::ParallelOp(self.program.loop_info(origin.of).op).initVals(self.body);
            let around = outside(&origin.map);
            inits.extend(own.into_iter().map(|value| self.resolve(value, &around, at)));
        }
        state.result_types = inits.iter().map(|value| self.body.value_type(*value)).collect();
        let (count, others) = (levels.len() as i64, inits.len() as i64);
        state.operands.extend(inits);
        let ctx = self.body.ctx().clone();
        state.set_segments(&ctx, &[count, count, count, others]);
    }

    /// Ends the body of a new `scf.parallel`, whose innermost dimension is this loop. Returns false
    /// if it has no results, and leaves the body as it is.
    pub(super) fn end_reductions(&mut self, innermost: &Header, block: Block) -> bool {
        if !self.reduces(innermost) {
            return false;
        }
        let at = InsertPoint::End(block);
        let (mut contributed, mut combinations) = (Vec::new(), Vec::new());
        for origin in self.reduced(innermost).collect::<Vec<_>>() {
            let Some(end) = self.body.terminator(self.program.loop_info(origin.of).block) else { continue };
            let own: Vec<Value> = self.body.operands(end).collect();
            contributed.extend(own.into_iter().map(|value| self.resolve(value, &origin.map, at)));
            combinations.extend(self.body.own_regions(end));
        }
        let blocks: Vec<Option<Block>> =
            combinations.into_iter().map(|region| self.body.single_block(region)).collect();
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(scf::ReduceOp::DEF).operands(&contributed).regions(blocks.len());
        let end = builder.insert(state);
        for (index, old) in blocks.into_iter().enumerate() {
            let Some(old) = old else { continue };
            let region = self.body.region(end, index);
            let arguments: Vec<Value> = self.body.arguments(old).collect();
            let types: Vec<Type> = arguments.iter().map(|value| self.body.value_type(*value)).collect();
            let new = self.body.append_block(region, &types);
            for (old, new) in arguments.into_iter().zip(self.body.arguments(new).collect::<Vec<_>>()) {
                self.body.set_argument_loc(new, self.body.argument_loc(old));
                self.mapping.map(old, new);
            }
            for op in self.body.ops(old).collect::<Vec<Op>>() {
                let copy = self.body.copy_op(op, &mut self.mapping);
                Builder::new(self.body, InsertPoint::End(new)).place(copy);
            }
        }
        true
    }
}
