//! Dead code elimination: erases operations without used results and without effects, and then
//! what they alone used.
//!
//! Loads and allocations whose results are unused go too. An operation that may never return stays,
//! because everything behind it would otherwise run.
//!
//! **Cost.** Linear in the operations and in the operands of erased ones.

use hashbrown::{HashMap, HashSet};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Diagnostics, Op, Trait, Value};

use crate::effects::{Effects, is_unneeded};

/// The pass `dce`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "dce",
    anchor: None,
    summary: "Erase operations without effects and uses",
    options: &[],
    make: |_| Ok(Box::new(Dce)),
};

struct Dce;

impl Pass for Dce {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        cx.unchanged = true;
        body.for_each_body(&mut |body| {
            let erased = erase_dead(body);
            cx.count("Operations erased", erased as u64);
            cx.unchanged &= erased == 0;
        });
        Ok(())
    }
}

/// Erases the dead operations of a body, without the bodies nested in it. Returns their number,
/// without operations inside erased ones.
pub fn erase_dead(body: &mut Body) -> usize {
    let root = body.root();
    erase_dead_within(body, root)
}

/// Returns the operations that [`erase_dead`] would erase, with those inside.
pub fn find_dead(body: &Body) -> HashSet<Op> {
    let effects = Effects::of(body);
    let root = body.root();
    // The uses of each result outside of what was found.
    let mut left: HashMap<Value, usize> = HashMap::new();
    let mut dead = HashSet::new();
    let mut pending: Vec<Op> = body.all_ops().filter(|op| *op != root).collect();
    while let Some(op) = pending.pop() {
        let mut is_used = |value: Value| match left.get(&value) {
            Some(left) => *left > 0,
            None => body.is_used(value),
        };
        let is_needed = body.has_trait(op, Trait::Terminator) || body.has_trait(op, Trait::Symbol);
        if dead.contains(&op)
            || is_needed
            || body.results(op).any(&mut is_used)
            || !effects.get(op).is_removable()
        {
            continue;
        }
        for inside in body.preorder(op).filter(|inside| dead.insert(*inside)) {
            for value in body.operands(inside) {
                let left = left.entry(value).or_insert_with(|| body.uses(value).count());
                *left = left.saturating_sub(1);
                pending.extend(body.defining_op(value).filter(|_| *left == 0));
            }
        }
    }
    dead
}

/// The same for what is inside an operation.
pub fn erase_dead_within(body: &mut Body, root: Op) -> usize {
    let effects = Effects::of(body);
    let is_dead = |body: &Body, op: Op| is_unneeded(body, op) && effects.get(op).is_removable();
    let is_inside = |body: &Body, op: &Op| *op != root && body.is_within(*op, root);
    let mut pending: Vec<Op> = body.preorder(root).filter(|op| *op != root).collect();
    let mut is_gone = vec![false; body.num_op_slots()];
    let mut erased = 0;
    while let Some(op) = pending.pop() {
        if is_gone[op.index()] || !is_dead(body, op) {
            continue;
        }
        for inside in body.preorder(op) {
            is_gone[inside.index()] = true;
            let operands = body.operands(inside).filter_map(|value| body.defining_op(value));
            pending.extend(operands.filter(|op| is_inside(body, op)));
        }
        body.erase(op);
        erased += 1;
    }
    erased
}
