//! The rules for the values that may be operands of affine maps.
//!
//! All rules are relative to the *scope* of the operation that uses the value. The scope is the
//! innermost region of an operation with the trait `AffineScope` (a function), or of an
//! unregistered operation. A value of type `index` may be a **symbol** if it is
//! - defined at the top of the scope (or outside, where the scope is not isolated),
//! - a constant,
//! - the result of `affine.apply` or of another pure operation whose operands may all be symbols,
//! - a `memref.dim` of a memref defined at the top of the scope, or of a memref whose size in that
//!   dimension may be a symbol.
//!
//! It may be a **dimension** if it may be a symbol, is an induction variable of `affine.for` or
//! `affine.parallel`, or comes from `affine.apply`, `affine.delinearize_index` or
//! `affine.linearize_index` of dimensions. The value of a subscript is therefore an affine function
//! of induction variables and of values that are constant while the scope runs.
//!
//! Each value is visited once. The cost is linear in the operations that a value depends on.

use hashbrown::HashSet;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, DYNAMIC, Op, OpRef, Region, Trait, Type, Value, ValueDef};

use super::{ApplyOp, DelinearizeIndexOp, ForOp, LinearizeIndexOp, ParallelOp};
use crate::memref;

/// The role that a value is checked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role {
    Dimension,
    Symbol,
}

/// True if `value` may be a dimension of an operation in the same scope as `user`.
pub fn is_valid_dim(user: OpRef<'_>, value: Value) -> bool {
    may_be(user, value, Role::Dimension)
}

/// True if `value` may be a symbol of an operation in the same scope as `user`.
pub fn is_valid_symbol(user: OpRef<'_>, value: Value) -> bool {
    may_be(user, value, Role::Symbol)
}

/// The result of judging one value.
enum Verdict {
    Yes,
    No,
    /// Valid if all of these values are valid in this role.
    If(Vec<Value>, Role),
}

pub(crate) fn may_be(user: OpRef<'_>, value: Value, role: Role) -> bool {
    let body = user.body();
    let scopes = scopes(body, user.op());
    // Most values are judged at once.
    let mut work: Vec<(Value, Role)> = match judge(body, &scopes, value, role) {
        Verdict::Yes => return true,
        Verdict::No => return false,
        Verdict::If(values, role) => values.into_iter().map(|v| (v, role)).collect(),
    };
    let mut seen = HashSet::new();
    while let Some((value, role)) = work.pop() {
        if !seen.insert((value, role)) {
            continue;
        }
        match judge(body, &scopes, value, role) {
            Verdict::Yes => {}
            Verdict::No => return false,
            Verdict::If(values, role) => work.extend(values.into_iter().map(|v| (v, role))),
        }
    }
    true
}

/// Returns the regions whose top-level values are symbols for `op`: its scope and, as long as each
/// is not isolated, the scopes around it.
fn scopes(body: &Body, op: Op) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut current = Some(op);
    let mut in_scope = false;
    while let Some(op) = current {
        let Some(region) = body.region_of(op) else { break };
        let parent = body.region_parent(region);
        in_scope |= may_be_scope(body, parent);
        if in_scope {
            regions.push(region);
            if body.has_trait(parent, Trait::IsolatedFromAbove) {
                break;
            }
        }
        current = Some(parent);
    }
    regions
}

fn home(body: &Body, value: Value) -> Option<Region> {
    body.value_block(value).map(|block| body.block_region(block))
}

/// True if a value is defined directly in a region of an operation that is a scope.
fn is_top_level(body: &Body, value: Value) -> bool {
    home(body, value).is_some_and(|r| may_be_scope(body, body.region_parent(r)))
}

/// True if an operation is a scope, or may be one because it is not registered.
fn may_be_scope(body: &Body, op: Op) -> bool {
    body.has_trait(op, Trait::AffineScope) || body.op_ref(op).def().is_none()
}

fn judge(body: &Body, scopes: &[Region], value: Value, role: Role) -> Verdict {
    if body.value_type(value) != Type::INDEX {
        return Verdict::No;
    }
    if home(body, value).is_some_and(|region| scopes.contains(&region)) {
        return Verdict::Yes;
    }
    let op = match body.def(value) {
        ValueDef::OpResult { op, .. } => op,
        ValueDef::BlockArgument { .. } => {
            let valid = role == Role::Dimension && is_induction_variable(body, value);
            return if valid { Verdict::Yes } else { Verdict::No };
        }
    };
    if body.has_trait(op, Trait::ConstantLike) {
        return Verdict::Yes;
    }
    let operands = || body.operands(op).collect();
    let is_index_arithmetic =
        [ApplyOp::DEF, DelinearizeIndexOp::DEF, LinearizeIndexOp::DEF].iter().any(|def| body.is(op, def));
    if is_index_arithmetic {
        return Verdict::If(operands(), role);
    }
    if let Some(dim) = memref::DimOp::cast(body, op) {
        return judge_dim(body, dim);
    }
    if body.has_trait(op, Trait::Pure) { Verdict::If(operands(), Role::Symbol) } else { Verdict::No }
}

/// True if a value is the induction variable of an affine loop.
pub fn is_induction_variable(body: &Body, value: Value) -> bool {
    let ValueDef::BlockArgument { block, index } = body.def(value) else { return false };
    let parent = body.region_parent(body.block_region(block));
    (body.is(parent, ForOp::DEF) && index == 0) || body.is(parent, ParallelOp::DEF)
}

/// Judges a `memref.dim`. It is valid if its memref is defined at the top, or is a view or
/// allocation with a valid size.
fn judge_dim(body: &Body, dim: memref::DimOp) -> Verdict {
    let source = dim.source(body);
    if is_top_level(body, source) {
        return Verdict::Yes;
    }
    let Some(index) = constant_of(body, dim.index(body)).and_then(|c| c.as_int(body.ctx())) else {
        return Verdict::No;
    };
    let mut memref = source;
    loop {
        let Some(op) = body.defining_op(memref) else { return Verdict::No };
        match memref::CastOp::cast(body, op) {
            Some(cast) => memref = cast.source(body),
            None => return judge_size(body, op, index),
        }
    }
}

/// Judges whether the size of dimension `index` of the memref that `op` makes may be a symbol.
fn judge_size(body: &Body, op: Op, index: i64) -> Verdict {
    let ctx = body.ctx();
    let dynamic = if let Some(alloc) = memref::AllocOp::cast(body, op) {
        (body.value_type(alloc.memref(body)).shape(ctx).map(<[i64]>::to_vec), alloc.dynamicSizes(body))
    } else if let Some(view) = memref::ViewOp::cast(body, op) {
        (body.value_type(body.result(op, 0)).shape(ctx).map(<[i64]>::to_vec), view.sizes(body))
    } else if let Some(view) = memref::SubViewOp::cast(body, op) {
        (view.static_sizes(body).and_then(|sizes| sizes.as_dense_ints(ctx)), view.sizes(body))
    } else {
        return Verdict::No;
    };
    let (Some(sizes), values) = dynamic else { return Verdict::No };
    let Some(own) = usize::try_from(index).ok().filter(|index| *index < sizes.len()) else {
        return Verdict::No;
    };
    if sizes[own] != DYNAMIC {
        return Verdict::Yes;
    }
    let position = sizes[..own].iter().filter(|size| **size == DYNAMIC).count();
    match values.get(position) {
        Some(value) => Verdict::If(vec![*value], Role::Symbol),
        None => Verdict::No,
    }
}
