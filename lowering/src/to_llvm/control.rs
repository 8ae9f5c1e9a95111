//! `func`, `cf` and `ub.unreachable`: calls, returns and branches.
//!
//! A function takes a memref in parts and returns its results in one struct, so that its interface
//! is the one that C and MLIR expect. A function that takes bare pointers gets the aligned pointer
//! of a memref instead, and returns it.

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::{function, pointer, void};
use loomir_ir::{Diagnostic, OpRef, Registry, Type, TypeKind, Value};

use super::build::{Index, NONE};
use super::function::FunctionConverter;
use super::{Converted, attach, descriptor, threads};

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "func.call", |cx, op| call(cx, op, op.attr("callee")));
    attach(registry, "func.call_indirect", |cx, op| call(cx, op, None));
    attach(registry, "func.constant", function_constant);
    attach(registry, "func.return", returns);
    attach(registry, "cf.br", branch);
    attach(registry, "cf.cond_br", cond_branch);
    attach(registry, "cf.switch", switch);
    attach(registry, "cf.assert", assert);
    attach(registry, "ub.unreachable", |cx, _| {
        unreachable(cx);
        Ok(())
    });
    attach(registry, "builtin.unrealized_conversion_cast", unrealized_cast);
}

fn is_unranked(op: OpRef<'_>, ty: Type) -> bool {
    matches!(ty.kind(op.ctx()), TypeKind::MemRef { shape: None, .. })
}

fn refuse_unranked_results(
    cx: &FunctionConverter<'_>,
    op: OpRef<'_>,
    mut types: impl Iterator<Item = Type>,
) -> Converted {
    if types.any(|ty| is_unranked(op, ty)) {
        // Its descriptor would be in the stack frame of the function that returns it.
        return Err(cx.unsupported(op, "that returns an unranked memref"));
    }
    Ok(())
}

/// Returns the values that an argument is passed as.
fn promote(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    old: Value,
    bare: bool,
) -> Result<Vec<Value>, Diagnostic> {
    let new = cx.value(old)?;
    Ok(match op.type_of(old).kind(op.ctx()) {
        TypeKind::MemRef { .. } if bare => {
            cx.convert_parameter(op.type_of(old), bare)?;
            vec![descriptor::aligned(cx, new)]
        }
        TypeKind::MemRef { shape: Some(shape), .. } => descriptor::to_parts(cx, new, shape.len()),
        TypeKind::MemRef { shape: None, .. } => {
            let (rank, pointer) = descriptor::unranked_parts(cx, new);
            vec![rank, pointer]
        }
        _ => vec![new],
    })
}

fn call(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, callee: Option<loomir_ir::Attr>) -> Converted {
    let results: Vec<Type> = op.results().map(|v| op.type_of(v)).collect();
    refuse_unranked_results(cx, op, results.iter().copied())?;
    let bare = cx.is_callee_bare(callee);
    let mut operands = Vec::new();
    for (index, old) in op.operands().enumerate() {
        // The first operand of an indirect call is the function.
        operands.extend(promote(cx, op, old, bare && (callee.is_some() || index > 0))?);
    }
    if let Some(callee) = callee.filter(|_| threads::is_marked(op)) {
        return threads::call(cx, callee, &operands);
    }
    let mut types = Vec::with_capacity(results.len());
    for ty in &results {
        types.push(cx.convert_result(*ty, bare)?);
    }
    let packed = match types.as_slice() {
        [] => None,
        [one] => Some(*one),
        several => Some(llvm::types::literal_struct(&cx.ctx(), several)),
    };
    let value = cx.call(callee, &operands, packed);
    let parts: Vec<Value> = match (value, types.as_slice()) {
        (Some(value), [_]) => vec![value],
        (Some(value), several) => {
            several.iter().enumerate().map(|(i, ty)| cx.extract(value, &[i as i64], *ty)).collect()
        }
        (None, _) => Vec::new(),
    };
    for ((old, ty), part) in op.results().zip(results).zip(parts) {
        let is_pointer = bare && matches!(ty.kind(op.ctx()), TypeKind::MemRef { .. });
        let value = if is_pointer { descriptor::from_bare_pointer(cx, ty, part) } else { Some(part) };
        cx.set(old, value.ok_or_else(|| cx.malformed(op))?);
    }
    Ok(())
}

fn function_constant(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let Some(name) = op.attr("value") else { return Err(cx.malformed(op)) };
    let state = cx.state(llvm::AddressOfOp::DEF).results(&[pointer(&ctx)]).attr(&ctx, "global_name", name);
    let new = cx.emit(state);
    cx.set(op.result(0), new);
    Ok(())
}

fn returns(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    refuse_unranked_results(cx, op, op.operands().map(|v| op.type_of(v)))?;
    let mut operands = Vec::new();
    for old in op.operands() {
        let (new, bare) = (cx.value(old)?, cx.is_bare());
        let is_pointer = bare && matches!(op.type_of(old).kind(op.ctx()), TypeKind::MemRef { .. });
        operands.push(if is_pointer { descriptor::aligned(cx, new) } else { new });
    }
    let mut state = cx.state(llvm::ReturnOp::DEF);
    match operands.as_slice() {
        [] => {}
        [one] => state = state.operands(&[*one]),
        several => {
            let types: Vec<Type> = several.iter().map(|v| cx.type_of(*v)).collect();
            let ty = llvm::types::literal_struct(&cx.ctx(), &types);
            let mut packed = cx.poison(ty);
            for (i, value) in several.iter().enumerate() {
                packed = cx.insert_value(packed, *value, &[i as i64]);
            }
            state = state.operands(&[packed]);
        }
    }
    cx.insert(state);
    Ok(())
}

/// Emits the equivalent of a terminator: operands, successors and attributes stay.
fn same_terminator(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    def: &'static loomir_ir::OpDef,
) -> Converted {
    let mut state = cx.state(def).operands(&cx.operands(op)?);
    for successor in op.successors() {
        state.successors.push(cx.block_of(successor)?);
    }
    state.properties = op.properties();
    let ctx = cx.ctx();
    for (name, attr) in op.attributes().entries(&ctx) {
        state.set_attr(&ctx, ctx.str(*name), *attr);
    }
    cx.insert(state);
    Ok(())
}

fn branch(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    same_terminator(cx, op, llvm::BrOp::DEF)
}

fn cond_branch(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    same_terminator(cx, op, llvm::CondBrOp::DEF)
}

fn switch(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    same_terminator(cx, op, llvm::SwitchOp::DEF)
}

fn unreachable(cx: &mut FunctionConverter<'_>) {
    let state = cx.state(llvm::UnreachableOp::DEF);
    cx.insert(state);
}

/// Prints the message and aborts unless the condition holds.
fn assert(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let condition = cx.operand(op, 0)?;
    let message = op.attr("msg").and_then(|m| m.as_str(&ctx)).unwrap_or_default().to_owned();
    let (symbol, ty) = cx.string_constant("assert_msg", message.as_bytes());
    let puts = cx.declare("puts", function(&ctx, void(&ctx), &[pointer(&ctx)], false))?;
    let abort = cx.declare("abort", function(&ctx, void(&ctx), &[], false))?;

    let holds = cx.new_block(cx.current_block(), &[]);
    let fails = cx.new_block(holds, &[]);
    cx.cond_branch(condition, holds, fails);
    cx.enter(fails);
    let state = cx.state(llvm::AddressOfOp::DEF).results(&[pointer(&ctx)]).attr(&ctx, "global_name", symbol);
    let address = cx.emit(state);
    let start = cx.gep(address, ty, &[Index::Constant(0)], NONE);
    cx.call(Some(puts), &[start], None);
    cx.call(Some(abort), &[], None);
    unreachable(cx);
    cx.enter(holds);
    Ok(())
}

fn unrealized_cast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let operands = cx.operands(op)?;
    let mut types = Vec::new();
    for result in op.results() {
        types.push(cx.convert_type(op.type_of(result))?);
    }
    if operands.len() != types.len() || operands.iter().zip(&types).any(|(v, ty)| cx.type_of(*v) != *ty) {
        return Err(cx.unsupported(op, "between types that do not become the same"));
    }
    cx.set_results(op, &operands);
    Ok(())
}
