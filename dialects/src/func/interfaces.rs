//! Interfaces of the `func` operations: functions, calls, names, constants.

use loomir_ir::symbols::SymbolUser;
use loomir_ir::text::AsmNames;
use loomir_ir::{Attr, Block, Context, Loc, OpRef, OperationState, Region, Registry, Type, Value};

use super::{ConstantOp, verify};
use crate::interfaces::{CallLike, FunctionLike, Inlining, ReturnAsBranch};
use crate::names::{Inside, Named};

/// `func.constant`, for the name of a function.
pub(super) fn materialize_constant(ctx: &Context, value: Attr, ty: Type) -> Option<OperationState> {
    value.as_flat_symbol(ctx)?;
    ty.function(ctx)?;
    let state = OperationState::of(ctx, ConstantOp::DEF, Loc::UNKNOWN);
    Some(state.attr(ctx, "value", value).results(&[ty]))
}

struct Function;

impl FunctionLike for Function {
    fn signature(&self, op: OpRef<'_>) -> (Vec<Type>, Vec<Type>) {
        let ctx = op.ctx();
        let ty = op.attr("function_type").and_then(|attr| attr.as_type(ctx));
        let (inputs, results) = ty.and_then(|ty| ty.function(ctx)).unwrap_or_default();
        (inputs.to_vec(), results.to_vec())
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }

    fn inlining(&self, op: OpRef<'_>, caller: OpRef<'_>) -> Inlining {
        // The conversion to LLVM reads these.
        if op.attr("llvm.linkage").is_some() {
            return Inlining::Never("the function has an 'llvm.linkage'");
        }
        if op.attr("passthrough") != caller.attr("passthrough") {
            return Inlining::Never("the functions have different attributes in 'passthrough'");
        }
        unless_no_inline(op, "the function has 'no_inline'")
    }
}

struct Call;

impl CallLike for Call {
    fn callee(&self, op: OpRef<'_>) -> Option<Attr> {
        op.attr("callee")
    }

    fn arguments(&self, op: OpRef<'_>) -> Vec<Value> {
        op.operands().collect()
    }

    fn inlining(&self, op: OpRef<'_>) -> Inlining {
        unless_no_inline(op, "the call has 'no_inline'")
    }
}

fn unless_no_inline(op: OpRef<'_>, reason: &'static str) -> Inlining {
    if op.attr("no_inline").is_some() { Inlining::Never(reason) } else { Inlining::Allowed }
}

struct Return;

impl ReturnAsBranch for Return {
    fn branch(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> OperationState {
        let state = OperationState::new(op.ctx(), "cf.br", op.loc());
        state.operands(operands).successors(&[target])
    }
}

struct IndirectCall;

impl CallLike for IndirectCall {
    fn callee(&self, _: OpRef<'_>) -> Option<Attr> {
        None
    }

    fn arguments(&self, op: OpRef<'_>) -> Vec<Value> {
        op.operands().skip(1).collect()
    }
}

pub(super) fn register(registry: &mut Registry) {
    registry
        .attach_to::<dyn FunctionLike>(crate::func::FuncOp::DEF, Box::new(Function))
        .attach_to::<dyn ReturnAsBranch>(crate::func::ReturnOp::DEF, Box::new(Return))
        .attach_to::<dyn AsmNames>(crate::func::FuncOp::DEF, Box::new(Inside("func")))
        .attach_to::<dyn AsmNames>(crate::func::ConstantOp::DEF, Box::new(Named("f")))
        .attach_to::<dyn CallLike>(crate::func::CallOp::DEF, Box::new(Call))
        .attach_to::<dyn CallLike>(crate::func::CallIndirectOp::DEF, Box::new(IndirectCall))
        .attach_to::<dyn SymbolUser>(crate::func::CallOp::DEF, Box::new(verify::Call))
        .attach_to::<dyn SymbolUser>(crate::func::ConstantOp::DEF, Box::new(verify::Reference));
}
