//! Patterns of `scf`: loops of no or one iteration, values that a loop carries unchanged, and
//! conditionals with a known condition or nothing to do.

use loomir_ir::rewrite::{Rewriter, constant_of};
use loomir_ir::{Attr, Block, Op, OperationState, Type, Value, rewrite};

use super::{ExecuteRegionOp, ForOp, IfOp, IndexSwitchOp};
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
        let number = |i| number(rewriter, body.operand(op, i));
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

    /// A loop without operations that runs is what it yields from outside.
    loop_without_operations: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let number = |i| number(rewriter, body.operand(op, i));
        let (Some(lower), Some(upper), Some(step)) = (number(0), number(1), number(2)) else { return false };
        let Some(block) = body.entry_block(body.region(op, 0)) else { return false };
        let Some(end) = body.first_op(block).filter(|first| body.terminator(block) == Some(*first)) else {
            return false;
        };
        let yielded: Vec<Value> = body.operands(end).collect();
        let runs = lower < upper && step > 0 && body.attr(op, "unsignedCmp").is_none();
        let is_outside = yielded.iter().all(|value| !body.is_defined_within(*value, op));
        runs && is_outside && !yielded.is_empty() && rewriter.replace(op, &yielded)
    };

    /// A value that a loop carries unchanged, or that nobody looks at, is not carried.
    unchanged_carried_value: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(block) = body.entry_block(body.region(op, 0)) else { return false };
        let Some(end) = body.terminator(block) else { return false };
        let unchanged = |i: usize| {
            let (yielded, init) = (body.operand(end, i), body.operand(op, 3 + i));
            let argument = body.argument(block, 1 + i);
            let is_unused = !body.is_used(argument) && !body.is_used(body.result(op, i));
            yielded == argument || yielded == init || is_unused
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
        let choices: Vec<(Value, [Value; 2])> = body
            .results(op)
            .enumerate()
            .map(|(i, result)| (result, [yes, no].map(|end| body.operand(end, i))))
            .filter(|(result, pair)| {
                body.is_used(*result) && pair.iter().all(|value| !body.is_defined_within(*value, op))
            })
            .collect();
        let condition = body.operand(op, 0);
        for (result, pair) in &choices {
            let chosen = select(rewriter, op, condition, *pair);
            rewriter.replace_all_uses(*result, chosen);
        }
        !choices.is_empty() && drop_unused_results(rewriter, op)
    };

    /// An unused result is not yielded.
    unused_result: IfOp = drop_unused_results;

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

    /// A choice of regions by a known number is one of them.
    known_case: IndexSwitchOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(number) = number(rewriter, body.operand(op, 0)) else { return false };
        let Some(cases) = body.attr(op, "cases").and_then(|attr| attr.as_dense_ints(body.ctx())) else {
            return false;
        };
        // The region of the default comes first.
        let region = cases.iter().position(|case| i128::from(*case) == number).map_or(0, |case| 1 + case);
        let Some(block) = body.single_block(body.region(op, region)) else { return false };
        let results = rewriter.inline_before(op, block, &[]);
        rewriter.replace(op, &results)
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

/// Returns the number that a value always is.
fn number(rewriter: &Rewriter<'_>, value: Value) -> Option<i128> {
    let body = rewriter.body();
    constant_of(body, value)?.as_int(body.ctx()).map(i128::from)
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

/// Returns the members of a list that are marked.
fn marked(all: impl IntoIterator<Item = Value>, marks: &[bool]) -> Vec<Value> {
    all.into_iter().zip(marks).filter(|(_, mark)| **mark).map(|(value, _)| value).collect()
}

/// Replaces a conditional by one without the results that nobody uses. Returns true if there are
/// such results.
fn drop_unused_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body = rewriter.body();
    let used: Vec<bool> = body.results(op).map(|value| body.is_used(value)).collect();
    if used.iter().all(|used| *used) {
        return false;
    }
    let results = marked(body.results(op), &used);
    let types: Vec<Type> = results.iter().map(|value| body.value_type(*value)).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op)).regions(2).results(&types);
    state.operands = body.operands(op).collect();
    (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
    let new = rewriter.insert_before(op, state);
    for side in 0..2 {
        let body = rewriter.body_mut();
        let (from, to) = (body.region(op, side), body.region(new, side));
        body.move_blocks(from, to);
        if let Some(end) = body.entry_block(to).and_then(|block| body.terminator(block)) {
            let yielded = marked(body.operands(end), &used);
            rewriter.set_operands(end, &yielded);
        }
    }
    let fresh: Vec<Value> = rewriter.body().results(new).collect();
    for (old, new) in results.into_iter().zip(fresh) {
        rewriter.replace_all_uses(old, new);
    }
    rewriter.erase(op);
    true
}

/// Replaces a loop by one that carries only the `kept` values. The others are their initial values.
fn drop_carried(rewriter: &mut Rewriter<'_>, op: Op, block: Block, kept: &[bool]) {
    let body = rewriter.body();
    let inits: Vec<Value> = body.operands(op).skip(3).collect();
    let results: Vec<Value> = body.results(op).collect();
    let types: Vec<Type> =
        marked(results.iter().copied(), kept).iter().map(|value| body.value_type(*value)).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op)).regions(1).results(&types);
    state.operands = body.operands(op).take(3).chain(marked(inits.iter().copied(), kept)).collect();
    (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
    let arguments: Vec<Value> = body.arguments(block).skip(1).collect();
    let end = body.terminator(block);
    for (i, init) in inits.iter().enumerate().filter(|(i, _)| !kept[*i]) {
        rewriter.replace_all_uses(arguments[i], *init);
        rewriter.replace_all_uses(results[i], *init);
    }
    let new = rewriter.insert_before(op, state);
    if let Some(end) = end {
        let yielded = marked(rewriter.body().operands(end), kept);
        rewriter.set_operands(end, &yielded);
    }
    let body = rewriter.body_mut();
    for i in (0..kept.len()).rev().filter(|i| !kept[*i]) {
        body.erase_argument(block, 1 + i);
    }
    let (from, to) = (body.region(op, 0), body.region(new, 0));
    body.move_blocks(from, to);
    let fresh: Vec<Value> = body.results(new).collect();
    for (old, new) in marked(results, kept).into_iter().zip(fresh) {
        rewriter.replace_all_uses(old, new);
    }
    rewriter.erase(op);
}
