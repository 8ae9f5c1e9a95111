//! Verifiers: the numbers of results and of parameters, and the values of constants.

use loomir_ir::verifier::op_error;
use loomir_ir::{DYNAMIC, Diagnostics, OpRef};

use crate::checks::expect_implicit_terminators;
use crate::transform::YieldOp;
use crate::transform::verify::yields_results;

/// Checks that a number is given once, as attribute or as parameter, and is at least `least`.
fn number(op: OpRef<'_>, name: &str, operands: usize, least: i64, out: &mut Diagnostics) {
    let constant = op.attr(name).and_then(|attr| attr.as_int(op.ctx()));
    if usize::from(constant.is_some()) + op.num_operands() != operands + 1 {
        out.push(op_error(op, format!("'{name}' is one number or one parameter")));
    } else if let Some(value) = constant.filter(|value| *value < least) {
        out.push(op_error(op, format!("'{name}' is {least} or more, not {value}")));
    }
}

pub(super) fn find(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.attr("name").is_none() && op.attr("line").is_none() {
        out.push(op_error(op, "finds loops by 'name' or 'line', and has neither"));
    }
}

pub(super) fn fuse(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.attr("shift").is_some() || op.num_operands() > 2 {
        number(op, "shift", 2, 0, out);
    }
}

pub(super) fn shift(op: OpRef<'_>, out: &mut Diagnostics) {
    number(op, "by", 2, 0, out);
}

pub(super) fn skew(op: OpRef<'_>, out: &mut Diagnostics) {
    number(op, "by", 1, i64::MIN, out);
}

pub(super) fn split(op: OpRef<'_>, out: &mut Diagnostics) {
    number(op, "at", 1, 0, out);
}

pub(super) fn strip_mine(op: OpRef<'_>, out: &mut Diagnostics) {
    number(op, "size", 1, 1, out);
}

/// Checks that an attribute is from `least` to `most`.
fn within(op: OpRef<'_>, name: &str, least: i64, most: i64, out: &mut Diagnostics) {
    let value = op.attr(name).and_then(|attr| attr.as_int(op.ctx()));
    if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
        out.push(op_error(op, format!("'{name}' is from {least} to {most}, not {value}")));
    }
}

pub(super) fn hilbert(op: OpRef<'_>, out: &mut Diagnostics) {
    within(op, "levels", 1, 8, out);
}

pub(super) fn morton(op: OpRef<'_>, out: &mut Diagnostics) {
    within(op, "depth", 2, 3, out);
    within(op, "levels", 1, 8, out);
}

pub(super) fn prefetch(op: OpRef<'_>, out: &mut Diagnostics) {
    within(op, "distance", 1, 4096, out);
    within(op, "min_stride", 0, i64::MAX, out);
}

pub(super) fn peel(op: OpRef<'_>, out: &mut Diagnostics) {
    let count = |name: &str| op.attr(name).and_then(|attr| attr.as_int(op.ctx())).unwrap_or(0);
    let counts = [count("first"), count("last")];
    if counts.iter().any(|count| *count < 0) || counts == [0, 0] {
        out.push(op_error(op, "'first' and 'last' are numbers of iterations, and one is 1 or more"));
    }
}

pub(super) fn interchange(op: OpRef<'_>, out: &mut Diagnostics) {
    let order = op.attr("permutation").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if order.is_empty() || sorted.iter().zip(0..).any(|(own, expected)| *own != expected) {
        out.push(op_error(op, format!("{order:?} is no permutation of the numbers from 0")));
    } else if op.num_results() != order.len() {
        let message = format!("has {} results for {} loops", op.num_results(), order.len());
        out.push(op_error(op, message));
    }
}

pub(super) fn separate(op: OpRef<'_>, out: &mut Diagnostics) {
    within(op, "depth", 1, 32, out);
    let depth = op.attr("depth").and_then(|attr| attr.as_int(op.ctx())).unwrap_or(0);
    if op.num_results() as i128 <= i128::from(depth) {
        out.push(op_error(
            op,
            format!("has {} results; {depth} loops over tiles have loops inside", op.num_results()),
        ));
    }
}

pub(super) fn tile(op: OpRef<'_>, out: &mut Diagnostics) {
    let sizes = op.attr("sizes").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
    let dynamic = sizes.iter().filter(|size| **size == DYNAMIC).count();
    if let Some(size) = sizes.iter().find(|size| **size < 0 && **size != DYNAMIC) {
        out.push(op_error(op, format!("a tile size is 0 or more, not {size}")));
    } else if sizes.iter().all(|size| *size == 0) {
        out.push(op_error(op, "has no loop to tile; a size of 0 leaves a loop as it is"));
    } else if dynamic + 1 != op.num_operands() {
        out.push(op_error(op, format!("has {} parameters for {dynamic} sizes", op.num_operands() - 1)));
    } else {
        let results = sizes.len() + sizes.iter().filter(|size| **size != 0).count();
        if op.num_results() != results {
            let message = format!("has {} results, and makes {results} loops", op.num_results());
            out.push(op_error(op, message));
        }
    }
}

pub(super) fn together(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, YieldOp::DEF, out);
    yields_results(op, 0, out);
}

pub(super) fn unswitch(op: OpRef<'_>, out: &mut Diagnostics) {
    within(op, "conditions", 1, 6, out);
}
