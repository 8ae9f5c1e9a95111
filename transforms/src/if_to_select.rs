//! Conversion of conditionals to selections: both branches of a pure conditional are computed, and
//! `arith.select` picks a result.
//!
//! An `scf.if` is converted if all operations of its branches are [speculatable](is_speculatable)
//! and few enough. A division by a possible zero is not speculatable. Nor is a view, because its
//! elements may exist only if its branch is taken. A nested conditional is converted first, so a
//! tree of conditionals becomes one of selections from the leaves up. A pure conditional without
//! results is erased. `affine.if` has no value to select by; `lower-affine` gives it one.
//!
//! # Assumptions
//!
//! - A branch with results moves only if it is speculatable: no division, no view, no size of an
//!   unknown dimension. Tried in `fixtures/conditionals/if_to_select.mlir`, `tests/hazards.rs`.
//!
//! **Cost.** Linear in the operations.

use loomir_dialects::interfaces::is_speculatable;
use loomir_dialects::{arith, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Builder, Diagnostics, Op, Trait, Value};

/// The pass `if-to-select`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "if-to-select",
    anchor: None,
    summary: "Write conditionals that only compute as selections",
    options: &[("max-ops", "16", "the most operations that may run without need")],
    make: |options| Ok(Box::new(IfToSelect { max_ops: options.parse("max-ops", 16)? })),
};

struct IfToSelect {
    max_ops: usize,
}

impl Pass for IfToSelect {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            cx.count("Conditionals converted", convert(body, self.max_ops) as u64)
        });
        Ok(())
    }
}

/// Converts the conditionals of a body whose sides have at most `max_ops` operations together.
/// Returns the number of conversions.
pub fn convert(body: &mut Body, max_ops: usize) -> usize {
    let conditionals: Vec<Op> = body.all_ops().filter(|op| body.is(*op, scf::IfOp::DEF)).collect();
    let mut converted = 0;
    // Those inside first.
    for op in conditionals.into_iter().rev() {
        if let Some(sides) = computing_sides(body, op, max_ops) {
            select(body, op, &sides);
            converted += 1;
        }
    }
    converted
}

/// Returns the branches of a conditional, if both are pure and may run unconditionally. Branches
/// without results are to be erased.
fn computing_sides(body: &Body, op: Op, max_ops: usize) -> Option<Vec<Block>> {
    let sides: Vec<Block> = body.own_regions(op).flat_map(|region| body.blocks(region)).collect();
    let stays = body.num_results(op) > 0;
    let computes = |inside: Op| {
        body.has_trait(inside, Trait::Pure)
            && body.own_regions(inside).len() == 0
            && (!stays || is_speculatable(body.op_ref(inside)))
    };
    let inside = || sides.iter().flat_map(|side| body.ops(*side));
    let few = inside().filter(|op| !body.has_trait(*op, Trait::Terminator)).nth(max_ops).is_none();
    ((few || !stays) && inside().all(computes)).then_some(sides)
}

fn select(body: &mut Body, op: Op, sides: &[Block]) {
    if body.num_results(op) == 0 {
        return body.erase(op);
    }
    let condition = body.operand(op, 0);
    let mut yielded: Vec<Vec<Value>> = Vec::new();
    for side in sides {
        let inside: Vec<Op> = body.ops(*side).collect();
        for inside in inside {
            if body.has_trait(inside, Trait::Terminator) {
                yielded.push(body.operands(inside).collect());
            } else {
                body.move_before(inside, op);
            }
        }
    }
    let results: Vec<Value> = body.results(op).collect();
    for (index, result) in results.into_iter().enumerate() {
        let [Some(yes), Some(no)] = [0, 1].map(|side| yielded.get(side).and_then(|values| values.get(index)))
        else {
            continue;
        };
        let picked = if yes == no {
            *yes
        } else {
            let mut builder = Builder::before(body, op);
            let state = builder.state(arith::SelectOp::DEF).operands(&[condition, *yes, *no]);
            builder.value(state)
        };
        body.replace_all_uses(result, picked);
    }
    body.erase(op);
}
