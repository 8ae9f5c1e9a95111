//! Sparse conditional constant propagation: values that are one constant wherever they are computed
//! are replaced by that constant.
//!
//! Blocks and regions that never run are not looked at, so that they make nothing vary. Private
//! functions that are only called get the constants that all calls pass, and calls get the
//! constants that all returns give back. Branches stay; `canonicalize` removes what never runs.
//!
//! **Assumptions.** Those of [`forward`](crate::dataflow::forward).
//!
//! **Cost.** Linear in the operations and their operands.

use loomir_dialects::llvm::is_must_tail;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::Constants;
use loomir_ir::{Attr, Block, Body, Diagnostics, Op, Trait, Value};

use crate::dataflow::constants::ConstantPropagation;
use crate::dataflow::forward::solve;
use crate::dataflow::program::{Program, Unit};
use crate::effects::Effects;

/// The pass `sccp`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "sccp",
    anchor: None,
    summary: "Replace values that are one constant wherever they are computed",
    options: &[],
    make: |_| Ok(Box::new(Sccp)),
};

struct Sccp;

impl Pass for Sccp {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let done = propagate_constants(body);
        cx.count("Values replaced", done.replaced as u64);
        cx.count("Operations erased", done.erased as u64);
        Ok(())
    }
}

/// The statistics of a replacement of values by constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// Values replaced by constants.
    pub replaced: usize,
    /// Operations erased because all their results were replaced.
    pub erased: usize,
}

/// Propagates constants through a body and the bodies inside it.
pub fn propagate_constants(root: &mut Body) -> Replaced {
    let program = Program::of(root);
    let facts = solve(&program, &ConstantPropagation);
    let constant = |unit: Unit, value: Value| facts.get(unit, value).and_then(|fact| fact.constant());
    let left: Vec<bool> = program.units().map(|unit| program.is_left_alone(unit)).collect();
    replace_by_constants(root, &left, &constant)
}

/// Replaces values by the constants that they are. Operations whose results are all replaced are
/// erased if they have no effect. Bodies that are left alone stay.
pub(crate) fn replace_by_constants(
    root: &mut Body,
    is_left_alone: &[bool],
    constant: &dyn Fn(Unit, Value) -> Option<Attr>,
) -> Replaced {
    let mut done = Replaced::default();
    let mut unit = 0;
    root.for_each_body(&mut |body| {
        if !is_left_alone[unit] {
            let own = Replacement { constants: Constants::default(), effects: Effects::of(body) };
            own.run(body, &|value| constant(unit, value), &mut done);
        }
        unit += 1;
    });
    done
}

/// The replacement of the values of one body.
struct Replacement {
    constants: Constants,
    effects: Effects,
}

impl Replacement {
    fn run(mut self, body: &mut Body, constant: &dyn Fn(Value) -> Option<Attr>, done: &mut Replaced) {
        let ops: Vec<Op> = body.all_ops().collect();
        let blocks: Vec<Block> = body.all_blocks().collect();
        for block in blocks {
            for argument in body.arguments(block).collect::<Vec<_>>() {
                if let Some(attr) = constant(argument)
                    && let Some(first) = body.first_op(block)
                {
                    self.replace(body, first, argument, attr, done);
                }
            }
        }
        let mut is_gone = vec![false; body.num_op_slots()];
        for op in ops {
            if is_gone[op.index()] || body.nested(op).is_some() || body.num_results(op) == 0 {
                continue;
            }
            let known: Vec<Option<Attr>> = body.results(op).map(constant).collect();
            if known.iter().all(Option::is_none) {
                continue;
            }
            if body.has_trait(op, Trait::ConstantLike) {
                if let Some(known) = self.constants.register(body, op) {
                    body.replace_all_uses(body.result(op, 0), known);
                    body.erase(op);
                }
                continue;
            }
            let is_removable = self.effects.get(op).is_removable() && !body.has_trait(op, Trait::Terminator);
            if is_must_tail(body.op_ref(op)) && !is_removable {
                continue;
            }
            let mut are_all = true;
            for (i, attr) in known.into_iter().enumerate() {
                let value = body.result(op, i);
                are_all &= attr.is_some_and(|attr| self.replace(body, op, value, attr, done));
            }
            if are_all && is_removable {
                body.preorder(op).for_each(|inside| is_gone[inside.index()] = true);
                self.forget_inside(body, op);
                body.erase(op);
                done.erased += 1;
            }
        }
    }

    fn forget_inside(&mut self, body: &Body, op: Op) {
        body.preorder(op).for_each(|inside| self.constants.forget(inside));
    }

    /// Replaces the uses of a value. Returns false if no dialect has the constant.
    fn replace(&mut self, body: &mut Body, at: Op, value: Value, attr: Attr, done: &mut Replaced) -> bool {
        if !body.is_used(value) {
            return true;
        }
        let ty = body.value_type(value);
        let Some(constant) = self.constants.get(body, at, attr, ty) else { return false };
        body.replace_all_uses(value, constant);
        done.replaced += 1;
        true
    }
}
