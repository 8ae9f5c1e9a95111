//! Shifting: a part of a loop's body runs some iterations later.
//!
//! `for i in 0..n { A(i); B(i) }`, shifted by one from `B`, becomes
//!
//! ```text
//!     A(0); for i in 1..n { A(i); B(i - 1) }; B(n - 1)
//! ```
//!
//! Values of `A` that `B` needs from iterations to come are there then, and are used soon after
//! they are computed. The step distributes the loop before an operation, and fuses both parts again
//! at the distance. The judge asks whether every dependence is kept. A negative distance runs the
//! second part earlier.
//!
//! `loop-fusion` shifts by itself where that makes fusion legal, as far as `max-shift` allows.
//!
//! **Not in `.ll`.** The number of the iteration is computed at the beginning of the body there, so
//! that the second part has none of its own. `loop-fusion` shifts loops of LLVM IR.
//!
//! Reference: Kennedy and Allen, *Optimizing Compilers for Modern Architectures*, §6.2.3 (loop
//! alignment).
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %b: memref<8xf32> {llvm.noalias}, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.store %x, %a[%i] : memref<8xf32>
//!     affine.store %x, %b[%i] : memref<8xf32>
//!   } {loomir.name = "i"}
//!   return
//! }
//! module attributes {transform.with_named_sequence} {
//!   transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
//!     %loop = loomir.find name "i" in %root : (!transform.any_op) -> !transform.any_op
//!     %stores = transform.structured.match ops{["affine.store"]} in %loop : (!transform.any_op) -> !transform.any_op
//!     %first, %second = transform.split_handle %stores : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
//!     %shifted = loomir.shift %loop from %second by 2 : (!transform.any_op, !transform.any_op) -> !transform.any_op
//!     transform.yield
//!   }
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --transform-interpreter=erase-schedule=true -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/shift-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/shift-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/shift-0.svg)
//! ![The order of stores after](images/shift-1.svg)

use loomir_dialects::loomir;
use loomir_ir::OpRef;

use super::edits::{OVERFLOW, edit, fused};
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table};
use super::payload::Step;
use crate::tree::Change;

/// Returns the operation that shifts, and what runs it.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![(loomir::ShiftOp::DEF, |run, frame, op| run.shift(frame, op))]
}

impl Interpreter<'_> {
    fn shift(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let by = self.number(frame, op, "by", 2)?;
        let (target, on_tree, item) = self.cut(frame, op)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "shifted", consumed: &[target] };
        let place = on_tree.place.clone();
        let made = self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Distribute { at: item }, OVERFLOW)?;
            edit(sketch, &place, Change::Fuse { shift: by }, "has a first iteration that is not constant")?;
            Ok(vec![fused(sketch)?])
        })?;
        Ok(vec![Handle::Ops(made)])
    }
}
