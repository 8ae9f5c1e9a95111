//! Patterns of `scf`: loops of no or one iteration, values that a loop carries unchanged, and
//! conditionals with a known condition or nothing to do.

use loomir_ir::rewrite::{Rewriter, constant_of};
use loomir_ir::{Attr, Block, Op, OperationState, Type, Value, rewrite};

use super::{ExecuteRegionOp, ForOp, IfOp};
use crate::arith::{self, SelectOp};

rewrite! {
    /// Patterns that make structured control flow simpler.
    pub(crate) PATTERNS;

    /// A loop without iterations is its initial values, and a loop of one is its body.
    loop_of_at_most_one_iteration: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let inits: Vec<Value> = body.operands(op).skip(3).collect();
        if body.attr(op, "unsignedCmp").is_some() {
            return false;
        }
        if body.operand(op, 0) == body.operand(op, 1) {
            return rewriter.replace(op, &inits);
        }
        let number = |i| i128::from_attr(rewriter, body.operand(op, i));
        let (Some(lower), Some(upper), Some(step)) = (number(0), number(1), number(2)) else { return false };
        if lower >= upper {
            return rewriter.replace(op, &inits);
        }
        let Some(block) = body.entry_block(body.region(op, 0)).filter(|_| step > 0 && upper - lower <= step) else {
            return false;
        };
        let arguments: Vec<Value> = [body.operand(op, 0)].into_iter().chain(inits).collect();
        let results = rewriter.inline_before(op, block, &arguments);
        rewriter.replace(op, &results)
    };

    /// A value that a loop carries unchanged is not carried.
    unchanged_carried_value: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(block) = body.entry_block(body.region(op, 0)) else { return false };
        let Some(end) = body.terminator(block) else { return false };
        let unchanged = |i: usize| {
            let (yielded, init) = (body.operand(end, i), body.operand(op, 3 + i));
            yielded == body.argument(block, 1 + i) || yielded == init
        };
        let kept: Vec<bool> = (0..body.num_results(op)).map(|i| !unchanged(i)).collect();
        if kept.iter().all(|kept| *kept) {
            return false;
        }
        drop_carried(rewriter, op, block, &kept);
        true
    };

    /// A conditional with a known condition is one of its sides.
    known_condition: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(condition) = constant_of(body, body.operand(op, 0)).and_then(|attr| attr.as_int(body.ctx())) else {
            return false;
        };
        let side = body.entry_block(body.region(op, usize::from(condition == 0)));
        let values = side.map(|block| rewriter.inline_before(op, block, &[])).unwrap_or_default();
        rewriter.replace(op, &values)
    };

    /// A side that does nothing is left out.
    empty_else: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(block) = body.entry_block(body.region(op, 1)) else { return false };
        let is_empty = body.first_op(block) == body.terminator(block);
        if body.num_results(op) > 0 || !is_empty {
            return false;
        }
        if let Some(end) = body.terminator(block) {
            rewriter.erase(end);
        }
        rewriter.body_mut().erase_block(block);
        true
    };

    /// A result that is a value from outside on both sides is a selection.
    choice_of_outer_values: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let sides = [0, 1].map(|i| body.entry_block(body.region(op, i)).and_then(|block| body.terminator(block)));
        let [Some(yes), Some(no)] = sides else { return false };
        let is_outer = |value: Value| {
            let block = body.value_block(value);
            block.is_some_and(|block| !body.is_within(body.region_parent(body.block_region(block)), op))
        };
        let outer = |i: usize| {
            let pair = [yes, no].map(|end| body.operand(end, i));
            pair.into_iter().all(is_outer).then_some(pair)
        };
        let choices: Vec<Option<[Value; 2]>> = (0..body.num_results(op)).map(outer).collect();
        if choices.iter().all(Option::is_none) {
            return false;
        }
        let condition = body.operand(op, 0);
        let chosen: Vec<Option<Value>> = choices
            .into_iter()
            .map(|pair| pair.map(|pair| select(rewriter, op, condition, pair)))
            .collect();
        replace_results(rewriter, op, &chosen);
        true
    };

    /// An unused result is not yielded.
    unused_result: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let results: Vec<Value> = body.results(op).collect();
        if results.iter().all(|value| body.is_used(*value)) {
            return false;
        }
        // A result that stays is not replaced; one that goes has no use to replace.
        let chosen: Vec<Option<Value>> =
            results.iter().map(|value| (!body.is_used(*value)).then_some(body.operand(op, 0))).collect();
        replace_results(rewriter, op, &chosen);
        true
    };

    /// Inside the sides of a conditional its condition is known.
    condition_inside: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let condition = body.operand(op, 0);
        if constant_of(body, condition).is_some() {
            return false;
        }
        let inside = |user: Op| {
            let sides = [0, 1].map(|i| body.entry_block(body.region(op, i)));
            sides.iter().position(|block| block.is_some_and(|block| body.ancestor_in_block(user, block).is_some()))
        };
        let uses: Vec<(Op, usize, usize)> = body
            .uses(condition)
            .filter_map(|own| Some((own.op, own.index, inside(own.op)?)))
            .collect();
        for (user, index, side) in &uses {
            let truth = truth(rewriter, op, *side == 0);
            rewriter.set_operand(*user, *index, truth);
        }
        !uses.is_empty()
    };

    /// A region of one block that runs once stands in line.
    single_block_region: ExecuteRegionOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(block) = body.single_block(body.region(op, 0)) else { return false };
        if body.attr(op, "no_inline").is_some() {
            return false;
        }
        let results = rewriter.inline_before(op, block, &[]);
        rewriter.replace(op, &results)
    };
}

trait FromAttr: Sized {
    fn from_attr(rewriter: &Rewriter<'_>, value: Value) -> Option<Self>;
}

impl FromAttr for i128 {
    fn from_attr(rewriter: &Rewriter<'_>, value: Value) -> Option<i128> {
        let body = rewriter.body();
        constant_of(body, value)?.as_int(body.ctx()).map(i128::from)
    }
}

fn select(rewriter: &mut Rewriter<'_>, op: Op, condition: Value, [yes, no]: [Value; 2]) -> Value {
    if yes == no {
        return yes;
    }
    rewriter.build(op, |builder| {
        let state = builder.state(SelectOp::DEF).operands(&[condition, yes, no]);
        builder.value(state)
    })
}

fn truth(rewriter: &mut Rewriter<'_>, before: Op, value: bool) -> Value {
    rewriter.build(before, |builder| {
        let attr: Attr = builder.ctx().bool_attr(value);
        let ctx = builder.ctx();
        let state = builder.state(arith::ConstantOp::DEF).attr(&ctx, "value", attr).results(&[Type::I1]);
        builder.value(state)
    })
}

/// Replaces a conditional by one without the results that have a value here, and those results by
/// their values.
fn replace_results(rewriter: &mut Rewriter<'_>, op: Op, values: &[Option<Value>]) {
    let body = rewriter.body();
    let kept = |all: Vec<Value>| -> Vec<Value> {
        all.into_iter().zip(values).filter(|(_, value)| value.is_none()).map(|(own, _)| own).collect()
    };
    let results: Vec<Value> = body.results(op).collect();
    let types: Vec<Type> = kept(results.clone()).iter().map(|value| body.value_type(*value)).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op)).regions(2).results(&types);
    state.operands = body.operands(op).collect();
    (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
    let new = rewriter.insert_before(op, state);
    for side in 0..2 {
        let body = rewriter.body_mut();
        let (from, to) = (body.region(op, side), body.region(new, side));
        body.move_blocks(from, to);
        if let Some(end) = body.entry_block(to).and_then(|block| body.terminator(block)) {
            let yielded = kept(body.operands(end).collect());
            body.set_operands(end, &yielded);
        }
    }
    let mut fresh: Vec<Value> = rewriter.body().results(new).collect();
    fresh.reverse();
    for (result, value) in results.into_iter().zip(values) {
        match value {
            // An unused result has nothing to replace.
            Some(value) if rewriter.body().is_used(result) => rewriter.replace_all_uses(result, *value),
            Some(_) => {}
            None => {
                if let Some(new) = fresh.pop() {
                    rewriter.replace_all_uses(result, new);
                }
            }
        }
    }
    rewriter.erase(op);
}

/// Replaces a loop by one that carries only the `kept` values. The others are their initial values.
fn drop_carried(rewriter: &mut Rewriter<'_>, op: Op, block: Block, kept: &[bool]) {
    let body = rewriter.body();
    let inits: Vec<Value> = body.operands(op).skip(3).collect();
    let results: Vec<Value> = body.results(op).collect();
    let of_kept = |all: &[Value]| -> Vec<Value> {
        all.iter().zip(kept).filter(|(_, kept)| **kept).map(|(value, _)| *value).collect()
    };
    let types: Vec<Type> = of_kept(&results).iter().map(|value| body.value_type(*value)).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op)).regions(1).results(&types);
    state.operands = body.operands(op).take(3).chain(of_kept(&inits)).collect();
    (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
    let arguments: Vec<Value> = body.arguments(block).skip(1).collect();
    let end = body.terminator(block);
    for (i, init) in inits.iter().enumerate().filter(|(i, _)| !kept[*i]) {
        rewriter.replace_all_uses(arguments[i], *init);
        rewriter.replace_all_uses(results[i], *init);
    }
    let new = rewriter.insert_before(op, state);
    let body = rewriter.body_mut();
    if let Some(end) = end {
        let yielded: Vec<Value> = body.operands(end).collect();
        body.set_operands(end, &of_kept(&yielded));
    }
    for i in (0..kept.len()).rev().filter(|i| !kept[*i]) {
        body.erase_argument(block, 1 + i);
    }
    let (from, to) = (body.region(op, 0), body.region(new, 0));
    body.move_blocks(from, to);
    let fresh: Vec<Value> = body.results(new).collect();
    for (old, new) in of_kept(&results).into_iter().zip(fresh) {
        rewriter.replace_all_uses(old, new);
    }
    rewriter.erase(op);
}
