//! Statement reordering: a loop moves before or behind another operation of its body.
//!
//! `loomir.move_before` moves a loop to the place in front of an operation, and `loomir.move_after`
//! to the place behind it. The operations between run on the other side of the loop then, so that
//! two loops become neighbours, or what is computed is used at once. The judge asks whether every
//! dependence is kept, and whether each value is computed before its uses.
//!
//! `loop-fusion` moves operations between two loops by itself. `loop-loads-first` moves loads within
//! a body.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<4xf32>, %b: memref<4xf32> {llvm.noalias}, %x: f32) {
//!   affine.for %i = 0 to 4 {
//!     affine.store %x, %a[%i] : memref<4xf32>
//!   } {loomir.name = "a"}
//!   affine.for %i = 0 to 4 {
//!     affine.store %x, %b[%i] : memref<4xf32>
//!   } {loomir.name = "b"}
//!   return
//! }
//! module attributes {transform.with_named_sequence} {
//!   transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
//!     %a = loomir.find name "a" in %root : (!transform.any_op) -> !transform.any_op
//!     %b = loomir.find name "b" in %root : (!transform.any_op) -> !transform.any_op
//!     loomir.move_before %b, %a : !transform.any_op, !transform.any_op
//!     transform.yield
//!   }
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --transform-interpreter=erase-schedule=true -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/move-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/move-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/move-0.svg)
//! ![The order of stores after](images/move-1.svg)

use loomir_dialects::loomir;
use loomir_ir::{Diagnostic, OpRef};

use super::edits::edit;
use super::failure::Failure;
use super::interpreter::{Frame, Interpreter, Outcome, Table, failed};
use super::payload::Step;
use crate::tree::Change;

/// Returns the operations that move loops, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (loomir::MoveBeforeOp::DEF, |run, frame, op| run.move_loop(frame, op)),
        (loomir::MoveAfterOp::DEF, |run, frame, op| run.move_loop(frame, op)),
    ]
}

impl Interpreter<'_> {
    fn move_loop(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let (target, other) = (self.only(frame, op, 0)?, self.only(frame, op, 1)?);
        let on_tree = self.on_tree(op, target)?;
        let Some((from, parent)) = on_tree.place.split_last() else {
            return Err(failed(op, "needs a loop"));
        };
        let Some(at) = self.payload.item_in(&on_tree.at(parent), other) else {
            let error =
                Diagnostic::error(op.loc(), format!("'{}' needs two operations in one body", op.name()));
            let error = error.note(self.payload.loc(target), "the loop");
            return Err(Failure::silenceable(error.note(self.payload.loc(other), "the other operation")));
        };
        if at == *from {
            let text = format!("'{}' needs an operation outside of the loop", op.name());
            let error = Diagnostic::error(op.loc(), text);
            let error = error.note(self.payload.loc(target), "the loop");
            return Err(Failure::silenceable(error.note(self.payload.loc(other), "this is in the loop")));
        }
        let behind = usize::from(op.is(loomir::MoveAfterOp::DEF));
        let to = (at + behind).saturating_sub(usize::from(*from < at));
        let step = Step { loc: op.loc(), name: op.name(), then: "moved", consumed: &[] };
        let place = on_tree.place.clone();
        self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Move { to }, "has no such place beside it")?;
            Ok(Vec::new())
        })?;
        Ok(Vec::new())
    }
}
