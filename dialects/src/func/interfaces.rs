//! Interfaces of the `func` operations: functions, calls, names, constants.

use loomir_ir::symbols::SymbolUser;
use loomir_ir::text::AsmNames;
use loomir_ir::{Attr, Context, Loc, OpRef, OperationState, Region, Registry, Type, Value};

use super::{ConstantOp, verify};
use crate::interfaces::{CallLike, FunctionLike};
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
}

struct Call;

impl CallLike for Call {
    fn callee(&self, op: OpRef<'_>) -> Option<Attr> {
        op.attr("callee")
    }

    fn arguments(&self, op: OpRef<'_>) -> Vec<Value> {
        op.operands().collect()
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
        .attach::<dyn FunctionLike>("func.func", Box::new(Function))
        .attach::<dyn AsmNames>("func.func", Box::new(Inside("func")))
        .attach::<dyn AsmNames>("func.constant", Box::new(Named("f")))
        .attach::<dyn CallLike>("func.call", Box::new(Call))
        .attach::<dyn CallLike>("func.call_indirect", Box::new(IndirectCall))
        .attach::<dyn SymbolUser>("func.call", Box::new(verify::Call))
        .attach::<dyn SymbolUser>("func.constant", Box::new(verify::Reference));
}
