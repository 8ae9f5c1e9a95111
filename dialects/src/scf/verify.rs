//! Verifiers of `scf`: the rules that the operation tables do not express.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{AttrKind, DYNAMIC, Diagnostics, OpRef, Type, Value};

use super::{
    ConditionOp, ExecuteRegionOp, ForOp, ForallOp, IfOp, InParallelOp, IndexSwitchOp, ParallelOp, ReduceOp,
    ReduceReturnOp, WhileOp, YieldOp,
};
use crate::checks::{
    Edge, check_carried, check_edge, check_ith, check_yields, expect_implicit_terminators,
    expect_no_region_arguments, expect_parent, terminator, types_of,
};

/// Types of the arguments of a region's entry block.
fn argument_types(op: OpRef<'_>, region: usize) -> Vec<Type> {
    let body = op.body();
    match body.entry_block(op.region(region)) {
        Some(block) => types_of(op, body.arguments(block)),
        None => Vec::new(),
    }
}

/// Checks that a condition is inside an `scf.while`.
pub(super) fn verify_condition(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[WhileOp::DEF], out);
}

/// Checks that a yield is inside an operation that takes one.
pub(super) fn verify_yield(op: OpRef<'_>, out: &mut Diagnostics) {
    let parents = [ExecuteRegionOp::DEF, ForOp::DEF, IfOp::DEF, IndexSwitchOp::DEF, WhileOp::DEF];
    expect_parent(op, &parents, out);
}

/// Checks that bounds, initial values, arguments, yielded values and results fit each other.
pub(super) fn verify_for(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let arguments = argument_types(op, 0);
    let inits = types_of(op, op.operands().skip(3));
    let Some((variable, carried)) = arguments.split_first() else {
        out.push(op_error(op, "expected the induction variable as the first argument of the body"));
        return;
    };
    if *variable != op.operand_type(0) {
        out.push(op_error(op, "expected induction variable to be same type as bounds and step"));
    }
    let mismatch = "mismatch in number of loop-carried values and defined values";
    if !check_carried(op, &inits, carried, mismatch, out) {
        return;
    }
    let yielded = terminator(op, 0).filter(|last| last.is(YieldOp::DEF));
    let yielded_types = yielded.map(|last| types_of(op, last.operands()));
    if let (Some(point), Some(passed)) = (yielded, &yielded_types)
        && passed.len() != carried.len()
    {
        let edge = Edge { point, target: "Region #0", passed: passed.clone(), expected: carried.to_vec() };
        check_edge(op, edge, out);
        return;
    }
    for (i, (argument, passed)) in carried.iter().zip(yielded_types.into_iter().flatten()).enumerate() {
        check_ith(op, i, ("region iter_arg", *argument), ("yielded value", passed), out);
    }
}

/// Checks that branches take no arguments and yield the results. Both must exist if there are
/// results.
pub(super) fn verify_if(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_no_region_arguments(op, out);
    expect_implicit_terminators(op, YieldOp::DEF, out);
    if op.num_results() > 0 && op.body().entry_block(op.region(1)).is_none() {
        out.push(op_error(op, "must have an else block if defining values"));
    }
    check_yields(op, YieldOp::DEF, out);
}

/// Checks that each region ends with its terminator, and that values fit along all four edges.
pub(super) fn verify_while(op: OpRef<'_>, out: &mut Diagnostics) {
    let regions = [("before", ConditionOp::DEF), ("after", YieldOp::DEF)];
    for (index, (region, def)) in regions.into_iter().enumerate() {
        match terminator(op, index) {
            Some(last) if last.is(def) => {}
            last => {
                let message = format!("expects the '{region}' region to terminate with '{}'", def.name);
                let error = op_error(op, message);
                out.push(match last {
                    Some(last) => error.note(last.loc(), "terminator here"),
                    None => error,
                });
                return;
            }
        }
    }
    let (Some(condition), Some(yielded)) = (terminator(op, 0), terminator(op, 1)) else { return };
    let (before, after) = (argument_types(op, 0), argument_types(op, 1));
    let passed_on = types_of(op, condition.operands().skip(1));
    let edges = [
        (op, "Region #0", types_of(op, op.operands()), before.clone()),
        (condition, "parent", passed_on.clone(), types_of(op, op.results())),
        (condition, "Region #1", passed_on, after),
        (yielded, "Region #0", types_of(op, yielded.operands()), before),
    ];
    for (point, target, passed, expected) in edges {
        check_edge(op, Edge { point, target, passed, expected }, out);
    }
}

/// Checks the numbers of bounds, steps and induction variables, and that each result has a
/// reduction.
pub(super) fn verify_parallel(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, ReduceOp::DEF, out);
    let [lower, upper, steps, inits] =
        ["lowerBound", "upperBound", "step", "initVals"].map(|group| op.operand_group(group));
    if steps.is_empty() || lower.is_empty() || upper.is_empty() {
        out.push(op_error(op, "needs at least one tuple element for lowerBound, upperBound and step"));
        return;
    }
    if lower.len() != steps.len() || upper.len() != steps.len() {
        let (lower, upper, steps) = (lower.len(), upper.len(), steps.len());
        let message =
            format!("expects as many lower bounds ({lower}) and upper bounds ({upper}) as steps ({steps})");
        out.push(op_error(op, message));
    }
    for step in &steps {
        if constant_index(op, *step).is_some_and(|step| step <= 0) {
            out.push(op_error(op, "constant step operand must be positive"));
        }
    }
    let arguments = argument_types(op, 0);
    if arguments.len() != steps.len() {
        let (variables, steps) = (arguments.len(), steps.len());
        let message = format!(
            "expects the same number of induction variables: {variables} as bound and step values: {steps}"
        );
        out.push(op_error(op, message));
    }
    if arguments.iter().any(|ty| *ty != Type::INDEX) {
        out.push(op_error(op, "expects arguments for the induction variable to be of index type"));
    }
    let results = op.num_results();
    let Some(reduce) = terminator(op, 0).filter(|last| last.is(ReduceOp::DEF)) else { return };
    let reductions = reduce.regions().len();
    if results != reductions {
        let message = format!(
            "expects number of results: {results} to be the same as number of reductions: {reductions}"
        );
        out.push(op_error(op, message));
    }
    if results != inits.len() {
        let inits = inits.len();
        let message = format!(
            "expects number of results: {results} to be the same as number of initial values: {inits}"
        );
        out.push(op_error(op, message));
    } else if results == reductions && reduce.num_operands() == results {
        for (i, (result, init)) in op.results().zip(&inits).enumerate() {
            if op.type_of(*init) != op.type_of(result) {
                let (init, result) = (op.type_of(*init), op.type_of(result));
                let name = |ty| type_to_string(op.ctx(), ty);
                let (init, result) = (name(init), name(result));
                let message = format!(
                    "expects type of {i}-th initial value: '{init}' to be the same as the {i}-th result type: '{result}'"
                );
                out.push(op_error(op, message));
            }
        }
    }
}

fn constant_index(op: OpRef<'_>, value: Value) -> Option<i64> {
    loomir_ir::rewrite::constant_of(op.body(), value)?.as_int(op.ctx())
}

/// Requires a region for each operand that takes two values of its type.
pub(super) fn verify_reduce(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[ParallelOp::DEF], out);
    let name = |ty| type_to_string(op.ctx(), ty);
    let operands = types_of(op, op.operands());
    if op.regions().len() != operands.len() {
        let (regions, operands) = (op.regions().len(), operands.len());
        out.push(op_error(op, format!("expects a reduction for each operand: {regions} != {operands}")));
        return;
    }
    let results = op.parent().map(|parent| types_of(parent, parent.results())).unwrap_or_default();
    for (i, ty) in operands.iter().enumerate() {
        if results.get(i).is_some_and(|result| result != ty) {
            let (ty, result) = (name(*ty), name(results[i]));
            let message = format!(
                "expects type of {i}-th reduction operand: '{ty}' to be the same as the {i}-th result type: '{result}'"
            );
            out.push(op_error(op, message));
        }
        if argument_types(op, i) != [*ty, *ty] {
            let ty = name(*ty);
            let message =
                format!("expected two block arguments with type '{ty}' in the {i}-th reduction region");
            out.push(op_error(op, message));
        }
        if terminator(op, i).is_some_and(|last| !last.is(ReduceReturnOp::DEF)) {
            let message = "reduction bodies must be terminated with an 'scf.reduce.return' op";
            out.push(op_error(op, message));
        }
    }
}

/// Checks that a `scf.reduce.return` returns the type that its region combines.
pub(super) fn verify_reduce_return(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[ReduceOp::DEF], out);
    let body = op.body();
    let first = body.block_of(op.op()).and_then(|block| body.arguments(block).next());
    if let Some(first) = first
        && op.type_of(first) != op.operand_type(0)
    {
        let ty = type_to_string(op.ctx(), op.type_of(first));
        out.push(op_error(op, format!("must have type '{ty}' (the type of the reduction inputs)")));
    }
}

/// Checks that the region has a block, takes no arguments and yields the results.
pub(super) fn verify_execute_region(op: OpRef<'_>, out: &mut Diagnostics) {
    let body = op.body();
    match body.entry_block(op.region(0)) {
        None => out.push(op_error(op, "region needs to have at least one block")),
        Some(entry) if body.num_arguments(entry) > 0 => {
            out.push(op_error(op, "region cannot have any arguments"));
        }
        Some(_) => check_yields(op, YieldOp::DEF, out),
    }
}

/// Requires a region for each case, and distinct cases. All regions yield the results.
pub(super) fn verify_index_switch(op: OpRef<'_>, out: &mut Diagnostics) {
    let cases = op.attr("cases").and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default();
    let regions = op.regions().len() - 1;
    if cases.len() != regions {
        let cases = cases.len();
        out.push(op_error(op, format!("has {regions} case regions but {cases} case values")));
        return;
    }
    let mut sorted = cases.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        out.push(op_error(op, format!("has duplicate case value: {}", pair[0])));
    }
    let results = types_of(op, op.results());
    for index in 0..=regions {
        let region = if index == 0 { "default region".into() } else { format!("case region #{}", index - 1) };
        let Some(last) = terminator(op, index) else { continue };
        if !last.is(YieldOp::DEF) {
            let message = format!("expected region to end with scf.yield, but got {}", last.name());
            out.push(op_error(op, message));
            continue;
        }
        let yielded = types_of(op, last.operands());
        if yielded.len() != results.len() {
            let (expected, got) = (results.len(), yielded.len());
            let message =
                format!("expected each region to return {expected} values, but {region} returns {got}");
            out.push(op_error(op, message).note(last.loc(), "see yield operation here"));
        } else if let Some(i) = (0..results.len()).find(|i| results[*i] != yielded[*i]) {
            let name = |ty| type_to_string(op.ctx(), ty);
            let (expected, got) = (name(results[i]), name(yielded[i]));
            let error = op_error(op, format!("expected result #{i} of each region to be '{expected}'"));
            out.push(error.note(last.loc(), format!("{region} returns '{got}' here")));
        }
    }
}

/// Checks the numbers of bounds and steps, that dynamic numbers have values, and that there are
/// arguments for all dimensions and outputs.
pub(super) fn verify_forall(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, InParallelOp::DEF, out);
    let ctx = op.ctx();
    let statics = |name: &str| op.attr(name).and_then(|a| a.as_dense_ints(ctx)).unwrap_or_default();
    let rank = statics("staticUpperBound").len();
    let groups = [
        ("staticLowerBound", "dynamicLowerBound", "lower bound"),
        ("staticUpperBound", "dynamicUpperBound", "upper bound"),
        ("staticStep", "dynamicStep", "step"),
    ];
    for (numbers, values, what) in groups {
        let (numbers, values) = (statics(numbers), op.operand_group(values));
        if numbers.len() != rank {
            out.push(op_error(op, format!("expected {rank} {what} values, got {}", numbers.len())));
        }
        let dynamic = numbers.iter().filter(|n| **n == DYNAMIC).count();
        if dynamic != values.len() {
            out.push(op_error(op, format!("expected {dynamic} dynamic {what} values")));
        }
    }
    let outputs = types_of(op, op.operand_group("outputs"));
    let results = types_of(op, op.results());
    if outputs.len() != results.len() {
        let (results, outputs) = (results.len(), outputs.len());
        out.push(op_error(op, format!("produces {results} results, but has only {outputs} outputs")));
        return;
    }
    let arguments = argument_types(op, 0);
    if arguments.len() != rank + outputs.len() {
        out.push(op_error(op, format!("region expects {} arguments", rank + outputs.len())));
        return;
    }
    for (i, ty) in arguments.iter().enumerate() {
        match i.checked_sub(rank) {
            None if *ty != Type::INDEX => {
                out.push(op_error(op, format!("expects {i}-th block argument to be an index")));
            }
            Some(i) if outputs[i] != results[i] => {
                out.push(op_error(
                    op,
                    format!("type mismatch between {i}-th output and corresponding result"),
                ));
            }
            Some(i) if *ty != outputs[i] => {
                let message = format!("type mismatch between {i}-th output and corresponding block argument");
                out.push(op_error(op, message));
            }
            _ => {}
        }
    }
    if let Some(mapping) = op.attr("mapping").and_then(|a| a.as_array(ctx)) {
        let is_device = |kind: &AttrKind| {
            matches!(kind, AttrKind::Opaque { .. } | AttrKind::Enum { .. } | AttrKind::Dialect { .. })
        };
        if mapping.len() != rank {
            out.push(op_error(op, "mapping attribute size must match op rank"));
        } else if !mapping.iter().all(|a| is_device(a.kind(ctx))) {
            let message = "attribute 'mapping' failed to satisfy constraint: Device Mapping array attribute";
            out.push(op_error(op, message));
        }
    }
}

/// Checks that it ends a forall, and that its known operations combine results. (None of this crate
/// do.)
pub(super) fn verify_in_parallel(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[ForallOp::DEF], out);
    let body = op.body();
    for inner in body.blocks(op.region(0)).flat_map(|block| body.ops(block)) {
        if body.info(inner).def().is_some() {
            out.push(op_error(op, "expected only ParallelCombiningOpInterface ops"));
        }
    }
}
