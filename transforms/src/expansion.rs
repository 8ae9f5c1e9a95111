//! Scalar expansion: a value that is used within an iteration of a loop is passed on in an array.
//!
//! The array has an element for each iteration. It is written where the value is computed, and read
//! before the named uses. Each read sees the element of its own iteration, and nothing else
//! changes. The loop may then be distributed between the two. [Contraction](crate::contraction) is
//! the inverse.
//!
//! ```text
//!     for i {              t = alloc(n)
//!       a = f(i)           for i {
//!       g(a)        ──>      a = f(i); t[i] = a
//!     }                      b = t[i]; g(b)
//!                          }
//!                          dealloc t
//! ```
//!
//! **Never illegal.** Each read sees the value of its own iteration.
//!
//! **Never conditional.** Nothing is assumed of memory, because the array is new.
//!
//! **Not in `.ll`.** Values that cross a cut in LLVM IR end its distribution.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xi32>, %b: memref<8xi32> {llvm.noalias}, %c: memref<8xi32> {llvm.noalias}) {
//!   affine.for %i = 1 to 8 {
//!     %x = affine.load %a[%i] : memref<8xi32>
//!     %y = affine.load %a[%i - 1] : memref<8xi32>
//!     %s = arith.muli %x, %y : i32
//!     affine.store %s, %a[%i] : memref<8xi32>
//!     affine.store %s, %b[%i] : memref<8xi32>
//!     %z = affine.load %b[%i - 1] : memref<8xi32>
//!     affine.store %z, %c[%i] : memref<8xi32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-distribute=expand=1 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --arg=zeros --arg=zeros --order=images/expansion-0.svg
//! $ loomir run new.mlir --entry=f --arg=iota --arg=zeros --arg=zeros --order=images/expansion-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/expansion-0.svg)
//! ![The order of stores after](images/expansion-1.svg)
//!
//! # Assumptions
//!
//! - A loop over more than 64 bits is not expanded in effect: its index is not followed. Tried with
//!   an `i128` that begins below 2 to the power of 63.
//!
//! **Cost.** Linear in the uses; a few operations for each array.

use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::{affine, memref};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Body, DYNAMIC, Op, Type, TypeKind, Value};

use crate::iterations::{Index, Writer};

/// A value to pass on in an array.
pub(crate) struct HandOn {
    /// Computed in the body of the loop.
    pub(crate) value: Value,
    pub(crate) reads: Vec<Read>,
}

/// A read of the array.
pub(crate) struct Read {
    /// The operation before which the array is read.
    pub(crate) before: Op,
    /// The users of the value read. They follow that operation in its block, or are inside.
    pub(crate) users: Vec<Op>,
}

/// The operations of an expansion.
pub(crate) struct Expanded {
    /// The new operations, in the order of creation.
    made: Vec<Op>,
    /// The loads, and the values that they replace.
    read: Vec<(Op, Value)>,
}

impl Expanded {
    /// True if scalar expansion created an operation.
    pub(crate) fn has_made(&self, op: Op) -> bool {
        self.made.contains(&op)
    }

    /// Restores the original code. Nothing else may use the new operations.
    pub(crate) fn undo(self, body: &mut Body) {
        for (load, value) in self.read {
            body.replace_all_uses(body.result(load, 0), value);
        }
        self.made.into_iter().rev().for_each(|op| body.erase(op));
    }
}

/// True if an array may hold values of this type.
pub(crate) fn may_be_element(body: &Body, ty: Type) -> bool {
    matches!(ty.kind(body.ctx()), TypeKind::Index | TypeKind::Integer { .. } | TypeKind::Float(_))
}

/// True if the trip count of a loop can be expressed.
pub(crate) fn has_trip_count(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    view.info().interface::<dyn LoopLike>().is_some_and(|model| !model.is_unsigned(view))
}

/// Passes values on in arrays (scalar expansion). Returns `None` without a change if the trip count
/// of the loop cannot be expressed.
pub(crate) fn expand(body: &mut Body, op: Op, values: &[HandOn]) -> Option<Expanded> {
    let view = body.op_ref(op);
    let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view))?;
    let (bounds, block) = (model.bounds(view), body.single_block(model.body(view))?);
    let behind = body.next_op(op)?;
    let mut writer = Writer::before(body, op);
    let lower = writer.bound(&bounds.lower, affine::MaxOp::DEF);
    let step = writer.step(bounds.step);
    let trips = writer.trip_count(&bounds, lower, step);
    let variable = writer.body.argument(block, 0);
    let is_affine = writer.body.is(op, affine::ForOp::DEF);
    let mut read = Vec::new();
    for HandOn { value, reads } in values {
        let Some(next) = writer.body.defining_op(*value).and_then(|op| writer.body.next_op(op)) else {
            continue;
        };
        writer.at = op;
        let array = array(&mut writer, *value, trips);
        // The number of the iteration is computed for each access separately, so it need not be
        // passed on.
        writer.at = next;
        let iteration = writer.iteration(variable, lower, step, is_affine);
        writer.make(memref::StoreOp::DEF, &[*value, array, iteration], &[]);
        let ty = writer.body.value_type(*value);
        for Read { before, users } in reads {
            writer.at = *before;
            let iteration = writer.iteration(variable, lower, step, is_affine);
            let load = writer.make(memref::LoadOp::DEF, &[array, iteration], &[ty]);
            let element = writer.body.result(load, 0);
            writer.body.replace_uses_if(*value, element, |used| users.contains(&used.op));
            read.push((load, *value));
        }
        writer.at = behind;
        writer.make(memref::DeallocOp::DEF, &[array], &[]);
    }
    Some(Expanded { made: writer.made, read })
}

/// Allocates a new array for values like this one.
fn array(writer: &mut Writer<'_>, value: Value, trips: Index) -> Value {
    let ctx = writer.body.ctx().clone();
    let (size, sizes) = match trips {
        Index::Number(number) => (number, Vec::new()),
        Index::Value(value) => (DYNAMIC, vec![value]),
    };
    let element = writer.body.value_type(value);
    let kind = TypeKind::MemRef { shape: Some([size].into()), element, layout: None, memory_space: None };
    let segments = ctx.dense_ints_attr(Type::I32, &[sizes.len() as i64, 0]);
    let attr = Some((OPERAND_SEGMENTS, segments));
    let op = writer.with_attr(memref::AllocOp::DEF, &sizes, &[ctx.ty(kind)], attr);
    writer.body.result(op, 0)
}
