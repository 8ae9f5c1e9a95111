//! Calls with a function type that differs from the callee's. LLVM allows them. In the dialect,
//! they use the address.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_dialects::llvm::types::{LlvmType, pointer, void};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Body, Op, OperationState, Type, Value};

use crate::ll::VARIADIC_TYPE;
use crate::ll::as_read::AsRead;

/// Redirects each direct call whose callee has another type than the call through the callee's
/// address.
pub(super) fn call_as_written(module: &mut Body) {
    let mut functions = HashMap::new();
    for function in module.nested_in_order() {
        let root = function.root();
        let ctx = function.ctx().clone();
        let ty = function.attr(root, "function_type").and_then(|ty| ty.as_type(&ctx));
        let name = function.attr(root, "sym_name").and_then(|name| name.as_str(&ctx).map(str::to_owned));
        functions.extend(name.zip(ty));
    }
    for function in module.nested_in_order() {
        let of_other_type = |op: &Op| is_of_other_type(function, *op, &functions);
        let calls: Vec<Op> = function.all_ops().filter(of_other_type).collect();
        if !calls.is_empty() {
            calls.into_iter().for_each(|call| go_through_address(function, call));
            AsRead::renew(function);
        }
    }
}

fn is_of_other_type(body: &Body, op: Op, functions: &HashMap<String, Type>) -> bool {
    if !body.is(op, llvm::CallOp::DEF) && !body.is(op, llvm::InvokeOp::DEF) {
        return false;
    }
    let ctx = body.ctx();
    let callee = body.attr(op, "callee").and_then(|name| name.as_flat_symbol(ctx));
    let Some(of) = callee.and_then(|name| functions.get(ctx.str(name))) else { return false };
    let Some(LlvmType::Function { result, params, variadic }) = LlvmType::of(ctx, *of) else { return false };
    let own_result = body.results(op).next().map_or_else(|| void(ctx), |value| body.value_type(value));
    match body.attr(op, VARIADIC_TYPE).and_then(|ty| ty.as_type(ctx)) {
        Some(ty) => ty != *of,
        None => {
            let arguments = body.op_ref(op).operand_group("callee_operands");
            variadic || own_result != result || !arguments.iter().map(|v| body.value_type(*v)).eq(params)
        }
    }
}

fn go_through_address(body: &mut Body, call: Op) {
    let ctx = body.ctx().clone();
    let Some(callee) = body.attr(call, "callee") else { return };
    let state = OperationState::of(&ctx, llvm::AddressOfOp::DEF, body.loc(call));
    let state = state.attr(&ctx, "global_name", callee).results(&[pointer(&ctx)]);
    let address = body.create(state);
    body.insert_before(call, address);
    let operands: Vec<Value> = std::iter::once(body.result(address, 0)).chain(body.operands(call)).collect();
    let mut segments: Vec<i64> = body.segments(call, false).map(Vec::from_iter).unwrap_or_default();
    if let Some(arguments) = segments.first_mut() {
        *arguments += 1;
    }
    body.remove_attr(call, "callee");
    body.set_operands(call, &operands);
    body.set_attr(call, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
}
