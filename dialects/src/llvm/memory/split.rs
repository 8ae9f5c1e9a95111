//! Splits memory of structs and arrays of the dialect into their elements.
//!
//! **Assumptions.**
//! - An access touches one element if it has the type of the element, or of the first part of the
//!   element. An access of any other type may touch the next element or padding. Tried in
//!   `fixtures/simplify/sroa_llvm.mlir`.
//! - An access may be aligned as the whole memory is. The elements are aligned by their types, so
//!   accesses lose the alignment they claim. Memory whose elements contain packed structs stays
//!   whole, because what is inside those is not aligned by its type.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Context, Op, OpRef, OperationState, Registry, Type, Value};
use smallvec::smallvec;

use super::address::{Index, indices};
use super::{AllocaOp, DYNAMIC_INDEX, GEPOp, LoadOp, Order, StoreOp, order};
use crate::interfaces::{PartUse, SplittableAllocation, SplittableUse};
use crate::llvm::types::{LlvmType, Struct, is_aggregate, part};
use crate::llvm::{LifetimeEndOp, LifetimeStartOp};

struct Alloca;

impl SplittableAllocation for Alloca {
    fn has_parts(&self, op: OpRef<'_>) -> bool {
        let elements = constant_of(op.body(), op.operand(0)).and_then(|attr| attr.as_int(op.ctx()));
        let is_one = elements == Some(1) && op.attr("inalloca").is_none();
        let ty = elem_type(op).filter(|ty| is_aggregate(op.ctx(), *ty));
        is_one && ty.is_some_and(|ty| !has_packed_inside(op.ctx(), ty))
    }

    fn allocate(&self, op: OpRef<'_>, index: &[i64]) -> Option<OperationState> {
        let ctx = op.ctx();
        let element = part(ctx, elem_type(op)?, index).ok()?;
        let mut state = OperationState::of(ctx, AllocaOp::DEF, op.loc());
        state.set_attr(ctx, "elem_type", ctx.type_attr(element));
        Some(state.operands(&[op.operand(0)]).results(&[op.result_type(0)]))
    }
}

fn elem_type(op: OpRef<'_>) -> Option<Type> {
    op.attr("elem_type")?.as_type(op.ctx())
}

/// Returns the types of the elements of an aggregate, each once for an array.
fn element_types(ctx: &Context, ty: Type) -> Vec<Type> {
    match LlvmType::of(ctx, ty) {
        Some(LlvmType::Array { element, .. }) => vec![element],
        Some(LlvmType::Struct(own)) => own.body.unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// True if an element of an aggregate, or a part of one, is a packed struct.
fn has_packed_inside(ctx: &Context, ty: Type) -> bool {
    let mut pending = element_types(ctx, ty);
    while let Some(ty) = pending.pop() {
        if let Some(LlvmType::Struct(Struct { packed: true, .. })) = LlvmType::of(ctx, ty) {
            return true;
        }
        pending.extend(element_types(ctx, ty));
    }
    false
}

/// Returns the constant indices of an address computation, if the attribute has room for them.
fn constant_indices(op: OpRef<'_>) -> Option<Vec<i64>> {
    let index = |index| match index {
        Index::Constant(number) => Some(number),
        Index::Value(value) => {
            let number = constant_of(op.body(), value)?.as_int(op.ctx())?;
            (i32::try_from(number).is_ok() && number != DYNAMIC_INDEX).then_some(number)
        }
    };
    indices(op).into_iter().map(index).collect()
}

/// True if an access of type `accessed` at the address of a `ty` touches nothing behind it.
fn starts_with(ctx: &Context, mut ty: Type, accessed: Type) -> bool {
    while ty != accessed {
        match part(ctx, ty, &[0]) {
            Ok(first) => ty = first,
            Err(_) => return false,
        }
    }
    true
}

/// True if `op` is a plain load or store at `pointer`, of a value that a `ty` begins with.
fn is_plain_access(op: OpRef<'_>, pointer: Value, ty: Type) -> bool {
    let is_there = |accessed| starts_with(op.ctx(), ty, accessed) && order(op) == Order::Plain;
    if op.is(LoadOp::DEF) {
        is_there(op.result_type(0))
    } else {
        let is_address = op.is(StoreOp::DEF) && op.operand(0) != pointer;
        is_address && is_there(op.operand_type(0))
    }
}

/// True if all uses of an address stay inside the `ty` at that address. A list stands in for
/// recursion.
fn stays_inside(body: &Body, pointer: Value, ty: Type) -> bool {
    let mut pending = vec![(pointer, ty)];
    while let Some((pointer, ty)) = pending.pop() {
        for used in body.uses(pointer) {
            let op = body.op_ref(used.op);
            if op.is(GEPOp::DEF) {
                match step(op, pointer, ty) {
                    Some((_, inner)) => pending.push((op.result(0), inner)),
                    None => return false,
                }
            } else if !is_plain_access(op, pointer, ty) {
                return false;
            }
        }
    }
    true
}

/// Returns the indices into a `ty` of an address computation from the address of one, with the type
/// of what is there.
fn step(op: OpRef<'_>, pointer: Value, ty: Type) -> Option<(Vec<i64>, Type)> {
    let mut indices = constant_indices(op)?;
    if op.operand(0) != pointer || elem_type(op)? != ty || indices.first() != Some(&0) {
        return None;
    }
    indices.remove(0);
    let inner = part(op.ctx(), ty, &indices).ok()?;
    Some((indices, inner))
}

/// `llvm.getelementptr` with constant indices.
struct Address;

impl SplittableUse for Address {
    fn part(&self, op: OpRef<'_>, memory: Value, allocation: OpRef<'_>) -> Option<PartUse> {
        let (indices, inner) = step(op, memory, elem_type(allocation)?)?;
        let first = indices.first()?;
        stays_inside(op.body(), op.result(0), inner).then(|| PartUse::Part(smallvec![*first]))
    }

    fn redirect(&self, body: &mut Body, op: Op, pointer: Value) {
        let ctx = body.ctx().clone();
        let view = body.op_ref(op);
        let (mut indices, ty) = (constant_indices(view).unwrap_or_default(), elem_type(view));
        let inner = ty.and_then(|ty| part(&ctx, ty, indices.get(1..2)?).ok());
        let result = body.result(op, 0);
        let mut pointers = vec![result];
        while let Some(pointer) = pointers.pop() {
            for used in body.uses(pointer).map(|used| used.op).collect::<Vec<_>>() {
                pointers.extend(body.op_ref(used).is(GEPOp::DEF).then(|| body.result(used, 0)));
                forget_alignment(body, used);
            }
        }
        let (Some(inner), 3..) = (inner, indices.len()) else {
            body.replace_all_uses(result, pointer);
            return body.erase(op);
        };
        indices.remove(1);
        body.set_operands(op, &[pointer]);
        body.set_attr(op, "rawConstantIndices", ctx.dense_ints_attr(Type::I32, &indices));
        body.set_attr(op, "elem_type", ctx.type_attr(inner));
    }
}

fn forget_alignment(body: &mut Body, op: Op) {
    if body.attr(op, "alignment").is_some() {
        body.remove_attr(op, "alignment");
    }
}

/// A load or store at the address of the whole memory: of its first element.
struct First;

impl SplittableUse for First {
    fn part(&self, op: OpRef<'_>, memory: Value, allocation: OpRef<'_>) -> Option<PartUse> {
        let first = part(op.ctx(), elem_type(allocation)?, &[0]).ok()?;
        is_plain_access(op, memory, first).then(|| PartUse::Part(smallvec![0]))
    }

    fn redirect(&self, body: &mut Body, op: Op, pointer: Value) {
        let index = usize::from(body.op_ref(op).is(StoreOp::DEF));
        body.set_operand(op, index, pointer);
        forget_alignment(body, op);
    }
}

/// The start and the end of a lifetime.
struct Lifetime;

impl SplittableUse for Lifetime {
    fn part(&self, _: OpRef<'_>, _: Value, _: OpRef<'_>) -> Option<PartUse> {
        Some(PartUse::Marker)
    }

    fn redirect(&self, body: &mut Body, op: Op, _: Value) {
        body.erase(op);
    }
}

pub(in crate::llvm) fn register(registry: &mut Registry) {
    registry
        .attach_to::<dyn SplittableAllocation>(AllocaOp::DEF, Box::new(Alloca))
        .attach_to::<dyn SplittableUse>(GEPOp::DEF, Box::new(Address))
        .attach_to::<dyn SplittableUse>(LoadOp::DEF, Box::new(First))
        .attach_to::<dyn SplittableUse>(StoreOp::DEF, Box::new(First))
        .attach_to::<dyn SplittableUse>(LifetimeStartOp::DEF, Box::new(Lifetime))
        .attach_to::<dyn SplittableUse>(LifetimeEndOp::DEF, Box::new(Lifetime));
}
