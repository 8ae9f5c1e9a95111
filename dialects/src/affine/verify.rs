//! Verifiers of `affine`: the rules that the operation tables do not express.

use loomir_ir::verifier::op_error;
use loomir_ir::{AffineMap, AttrKind, DYNAMIC, Diagnostics, OpRef, Type, Value};

use super::access::{map_of, subscripts};
use super::validity::{is_valid_dim, is_valid_symbol};
use super::{ForOp, IfOp, ParallelOp, YieldOp};
use crate::checks::{
    Edge, check_carried, check_edge, expect_implicit_terminators, expect_no_region_arguments, types_of,
};

/// Reports operands of a map that may not be its dimensions or symbols.
pub(super) fn verify_map_operands(op: OpRef<'_>, operands: &[Value], dims: u32, out: &mut Diagnostics) {
    for (i, operand) in operands.iter().enumerate() {
        if i < dims as usize {
            if !is_valid_dim(op, *operand) {
                out.push(op_error(op, "operand cannot be used as a dimension id"));
            }
        } else if !is_valid_symbol(op, *operand) {
            out.push(op_error(op, "operand cannot be used as a symbol"));
        }
    }
}

/// Checks that the operands fit the inputs, that there is one result, and that no induction
/// variable is a symbol.
pub(super) fn verify_apply(op: OpRef<'_>, out: &mut Diagnostics) {
    let map = map_of(op.ctx(), op.attr("map"));
    if !verify_inputs(op, map, out) {
        return;
    }
    if map.results(op.ctx()).len() != 1 {
        out.push(op_error(op, "requires one result"));
    }
    let dims = map.data(op.ctx()).dims as usize;
    for symbol in op.operands().skip(dims) {
        if is_valid_dim(op, symbol) && !is_valid_symbol(op, symbol) {
            out.push(op_error(op, "dimensional operand cannot be used as a symbol"));
        }
    }
}

/// Checks that the operands fit the inputs, and that there is a result.
pub(super) fn verify_min_max(op: OpRef<'_>, out: &mut Diagnostics) {
    let map = map_of(op.ctx(), op.attr("map"));
    if verify_inputs(op, map, out) && map.results(op.ctx()).is_empty() {
        out.push(op_error(op, "affine map expect at least one result"));
    }
}

fn verify_inputs(op: OpRef<'_>, map: AffineMap, out: &mut Diagnostics) -> bool {
    let fits = op.num_operands() == map.num_inputs(op.ctx());
    if !fits {
        out.push(op_error(op, "operand count and affine map dimension and symbol count must match"));
    }
    fits
}

/// Checks that bounds have results and valid operands, and that arguments, initial values and
/// results fit each other.
pub(super) fn verify_for(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let (ctx, body) = (op.ctx(), op.body());
    let arguments = match body.entry_block(op.region(0)) {
        Some(block) => types_of(op, body.arguments(block)),
        None => Vec::new(),
    };
    let Some((Type::INDEX, carried)) = arguments.split_first().map(|(first, rest)| (*first, rest)) else {
        let message = "expected body to have a single index argument for the induction variable";
        out.push(op_error(op, message));
        return;
    };
    let own = ForOp(op.op());
    if own.step(body).and_then(|step| step.as_int(ctx)).is_none_or(|step| step <= 0) {
        out.push(op_error(op, "expected step to be a positive number"));
    }
    let sides = [
        ("lower", own.lowerBoundMap(body), own.lowerBoundOperands(body)),
        ("upper", own.upperBoundMap(body), own.upperBoundOperands(body)),
    ];
    for (side, map, operands) in sides {
        let map = map_of(ctx, map);
        if map.results(ctx).is_empty() {
            out.push(op_error(op, format!("expected {side} bound map to have at least one result")));
        }
        if operands.len() != map.num_inputs(ctx) {
            let message = "operand count and affine map dimension and symbol count must match";
            out.push(op_error(op, message));
        } else {
            verify_map_operands(op, &operands, map.data(ctx).dims, out);
        }
    }
    let inits = types_of(op, own.inits(body));
    let mismatch = "mismatch between the number of loop-carried values and results";
    check_carried(op, &inits, carried, mismatch, out);
}

/// Requires valid operands, as many as the inputs of the set, and both branches if there are
/// results.
pub(super) fn verify_if(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_no_region_arguments(op, out);
    expect_implicit_terminators(op, YieldOp::DEF, out);
    if let Some(AttrKind::IntegerSet(set)) = op.attr("condition").map(|a| a.kind(op.ctx())) {
        let data = set.data(op.ctx());
        if op.num_operands() != (data.dims + data.symbols) as usize {
            let message = "operand count and condition integer set dimension and symbol count must match";
            out.push(op_error(op, message));
        } else {
            let operands: Vec<Value> = op.operands().collect();
            verify_map_operands(op, &operands, data.dims, out);
        }
    }
    if op.body().entry_block(op.region(1)).is_none() {
        let expected = types_of(op, op.results());
        check_edge(op, Edge { point: op, target: "parent", passed: Vec::new(), expected }, out);
    }
}

/// Checks that subscripts are valid and fit the memref and their map.
fn verify_subscripts(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (memref, subscripts) = subscripts(op);
    let Some(shape) = op.type_of(memref).shape(ctx) else {
        out.push(op_error(op, "expected a ranked memref"));
        return;
    };
    if subscripts.map.results(ctx).len() != shape.len() {
        out.push(op_error(op, "affine map num results must equal memref rank"));
    }
    if subscripts.operands.len() != subscripts.map.num_inputs(ctx) {
        out.push(op_error(op, "expects as many subscripts as affine map inputs"));
        return;
    }
    verify_map_operands(op, &subscripts.operands, subscripts.map.data(ctx).dims, out);
}

/// Checks that the result is an element of the memref.
pub(super) fn verify_load(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.operand_type(0).element(op.ctx()) != Some(op.result_type(0)) {
        out.push(op_error(op, "result type must match element type of memref"));
    }
    verify_subscripts(op, out);
}

/// Checks that the value is an element of the memref.
pub(super) fn verify_store(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.operand_type(1).element(op.ctx()) != Some(op.operand_type(0)) {
        out.push(op_error(op, "value to store must have the same type as memref element type"));
    }
    verify_subscripts(op, out);
}

/// Checks that the vector has the memref's element type.
pub(super) fn verify_vector_load(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_vector(op, op.result_type(0), out);
}

/// Checks that the vector has the memref's element type.
pub(super) fn verify_vector_store(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_vector(op, op.operand_type(0), out);
}

fn verify_vector(op: OpRef<'_>, vector: Type, out: &mut Diagnostics) {
    let memref = op.type_of(subscripts(op).0);
    if vector.element(op.ctx()) != memref.element(op.ctx()) {
        out.push(op_error(op, "requires memref and vector types of the same elemental type"));
    }
    verify_subscripts(op, out);
}

/// Checks that subscripts fit, and that the hint is from 0 to 3.
pub(super) fn verify_prefetch(op: OpRef<'_>, out: &mut Diagnostics) {
    let hint = op.attr("localityHint").and_then(|a| a.as_int(op.ctx()));
    if hint.is_none_or(|hint| !(0..=3).contains(&hint)) {
        let message = "attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3";
        out.push(op_error(op, message));
    }
    verify_subscripts(op, out);
}

/// Checks that a yield ends an affine operation and yields values of its result types.
pub(super) fn verify_yield(op: OpRef<'_>, out: &mut Diagnostics) {
    let parents = [IfOp::DEF, ForOp::DEF, ParallelOp::DEF];
    let Some(parent) = op.parent().filter(|parent| parents.iter().any(|def| parent.is(def))) else {
        out.push(op_error(op, "only terminates affine.if/for/parallel regions"));
        return;
    };
    let (yielded, results) = (types_of(op, op.operands()), types_of(op, parent.results()));
    if yielded.len() != results.len() {
        out.push(op_error(op, "parent of yield must have same number of results as the yield operands"));
    } else if yielded != results {
        out.push(op_error(op, "types mismatch between yield op and its parent"));
    }
}

/// Returns the numbers of the basis.
fn basis(op: OpRef<'_>) -> Vec<i64> {
    op.attr("static_basis").and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default()
}

fn verify_dynamic_basis(op: OpRef<'_>, out: &mut Diagnostics) {
    let dynamic = basis(op).iter().filter(|n| **n == DYNAMIC).count();
    if dynamic != op.operand_group("dynamic_basis").len() {
        let message = "mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite";
        out.push(op_error(op, message));
    }
}

/// Requires a positive base for each result, except perhaps the first.
pub(super) fn verify_delinearize(op: OpRef<'_>, out: &mut Diagnostics) {
    let basis = basis(op);
    if basis.len() != op.num_results() && basis.len() + 1 != op.num_results() {
        let message = "should return an index for each basis element and up to one extra index";
        out.push(op_error(op, message));
    }
    verify_dynamic_basis(op, out);
    if basis.iter().any(|n| *n <= 0 && *n != DYNAMIC) {
        out.push(op_error(op, "no basis element may be statically non-positive"));
    }
}

/// Requires a base for each operand, except perhaps the first.
pub(super) fn verify_linearize(op: OpRef<'_>, out: &mut Diagnostics) {
    let (basis, indices) = (basis(op).len(), op.operand_group("multi_index").len());
    if basis != indices && basis + 1 != indices {
        let message = "should be passed a basis element for each index except possibly the first";
        out.push(op_error(op, message));
    }
    verify_dynamic_basis(op, out);
}
