//! Control flow sinking: an operation that only one side of a conditional uses moves into that
//! side, and does not run for the other one.
//!
//! The operation must touch no memory, and stand in the same block as the conditional. Operations
//! are visited from the last to the first, so what only a moved one used moves too.
//!
//! **Assumptions.**
//! - An operation that is undefined for some operands may run less often: the program has no
//!   meaning where it was undefined. One that may never return stays. Tried in
//!   `fixtures/simplify/control_flow_sink.mlir`.
//!
//! **Cost.** Linear in the operations before conditionals and in their uses.

use loomir_dialects::interfaces::Conditional;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Diagnostics, Op, Region, Trait};

use crate::effects::Effects;

/// The pass `control-flow-sink`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "control-flow-sink",
    anchor: None,
    summary: "Move operations into the side of a conditional that alone uses them",
    options: &[],
    make: |_| Ok(Box::new(ControlFlowSink)),
};

struct ControlFlowSink;

impl Pass for ControlFlowSink {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Operations moved", sink(body) as u64));
        Ok(())
    }
}

/// Sinks operations of a body, without the bodies nested in it. Returns the number of moves.
pub fn sink(body: &mut Body) -> usize {
    let effects = Effects::of(body);
    let is_conditional = |op: Op| body.info(op).interface::<dyn Conditional>().is_some();
    let blocks: Vec<_> =
        body.all_ops().filter(|op| is_conditional(*op)).filter_map(|op| body.block_of(op)).collect();
    let mut moved = 0;
    let mut last = None;
    for block in blocks {
        // A block with several conditionals is visited once, outer blocks first.
        if last.replace(block) == Some(block) {
            continue;
        }
        let ops: Vec<Op> = body.ops(block).collect();
        for op in ops.into_iter().rev() {
            if effects.get(op).only_computes()
                && !body.has_trait(op, Trait::Terminator)
                && let Some(region) = only_user(body, op)
                && let Some(first) = body.entry_block(region).and_then(|block| body.first_op(block))
            {
                body.move_before(op, first);
                moved += 1;
            }
        }
    }
    moved
}

/// Returns the side of a conditional that contains all uses of an operation's results.
fn only_user(body: &Body, op: Op) -> Option<Region> {
    let block = body.block_of(op)?;
    let mut found = None;
    for value in body.results(op) {
        for used in body.uses(value) {
            let around = body.ancestor_in_block(used.op, block).filter(|around| *around != used.op)?;
            body.info(around).interface::<dyn Conditional>()?;
            let region = body.own_regions(around).find(|region| {
                body.entry_block(*region)
                    .is_some_and(|block| body.ancestor_in_block(used.op, block).is_some())
            })?;
            if found.replace(region).is_some_and(|other| other != region) {
                return None;
            }
        }
    }
    found
}
