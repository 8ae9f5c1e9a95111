//! Other behaviour of a loop: it may not reach the end of an iteration, or may run forever.
//!
//! **Assumptions.**
//! - A loop that must make progress may still wait for others: with atomics, volatile accesses or
//!   calls its termination cannot be concluded.
//! - `willreturn` of the function is a promise about every loop in it.
//!
//! Tried with `cfg/deletion_audit.mlir` and `loop_fusion_traps/no_return.ll`.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::Op;
use loomir_ir::graph::loops::LoopId;

use super::ScalarEvolution;

impl ScalarEvolution<'_> {
    /// True if an iteration of a loop may not complete. An operation may not return, or an inner
    /// loop may not terminate. Linear in the loop.
    pub(crate) fn may_stop(&mut self, of: LoopId) -> bool {
        self.remembered(
            |this| &mut this.stopping,
            of,
            |this| {
                let analysis = this.analysis;
                let own = analysis.loops().get(of);
                let mut ops = own.nodes.iter().flat_map(|node| this.function.ops(analysis.block(*node)));
                ops.any(|op| !this.goes_on(op))
                    || this.has_other_cycle(of)
                    || own
                        .children
                        .iter()
                        .any(|inner| this.counts(*inner).exact.is_none() && !this.is_finite(*inner))
            },
        )
    }

    /// True if the execution of a loop may be observable: it calls, or touches memory that is
    /// volatile or shared.
    fn may_be_noticed(&mut self, of: LoopId) -> bool {
        self.remembered(
            |this| &mut this.noticed,
            of,
            |this| {
                let own = this.analysis.loops().get(of);
                let mut ops = own.nodes.iter().flat_map(|node| this.function.ops(this.analysis.block(*node)));
                ops.any(|op| this.is_noticed(op))
            },
        )
    }

    /// True if a loop contains an irreducible cycle: an edge back to a block that does not dominate
    /// its source.
    fn has_other_cycle(&self, of: LoopId) -> bool {
        let own = self.analysis.loops().get(of);
        let places: HashMap<u32, usize> = own.nodes.iter().copied().zip(0..).collect();
        own.nodes.iter().any(|from| {
            let back = |to: &&u32| places.get(*to).is_some_and(|place| *place <= places[from]);
            self.analysis
                .graph()
                .successors(*from)
                .iter()
                .filter(back)
                .any(|to| !self.analysis.dominators().dominates(*to, *from))
        })
    }

    fn is_noticed(&self, op: Op) -> bool {
        let view = self.function.op_ref(op);
        let is_simple_access = (self.function.is(op, llvm::LoadOp::DEF)
            || self.function.is(op, llvm::StoreOp::DEF))
            && view.attr("volatile_").is_none()
            && view
                .attr("ordering")
                .and_then(|ordering| llvm::attributes::ATOMIC_ORDERING.value(view.ctx(), ordering))
                .unwrap_or(0)
                == 0;
        let is_silent = self.function.has_trait(op, loomir_ir::Trait::Pure)
            || self.function.has_trait(op, loomir_ir::Trait::Terminator)
            || [
                llvm::UDivOp::DEF,
                llvm::SDivOp::DEF,
                llvm::URemOp::DEF,
                llvm::SRemOp::DEF,
                llvm::AllocaOp::DEF,
                llvm::AssumeOp::DEF,
            ]
            .iter()
            .any(|def| self.function.is(op, def));
        !is_simple_access && !is_silent
    }

    /// True if a loop must terminate: the function returns, or the loop must make progress and is
    /// not observable.
    pub(super) fn is_finite(&mut self, of: LoopId) -> bool {
        let root = self.function.root_ref();
        if root.attr("will_return").is_some() {
            return true;
        }
        (self.must_progress || self.is_annotated(of)) && !self.may_be_noticed(of)
    }

    /// True if each latch promises that the loop makes progress.
    fn is_annotated(&self, of: LoopId) -> bool {
        let ctx = self.function.ctx();
        self.latches(of).into_iter().all(|latch| {
            let branch = self.function.terminator(self.analysis.block(latch));
            let annotation = branch.and_then(|branch| self.function.attr(branch, "loop_annotation"));
            annotation.is_some_and(|annotation| crate::ll::must_progress(ctx, annotation))
        })
    }
}
