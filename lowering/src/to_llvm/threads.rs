//! Calls whose range threads may share, with the OpenMP run-time.
//!
//! A marked call `f(low, high, …)` becomes a call of `GOMP_parallel`, which every thread of a team
//! answers by calling a function `f.thread`. It is called with a pointer to the operands of the
//! call, takes its part of the range by its number in the team, and calls `f` for it:
//!
//! ```text
//!     operands = alloca {…}           f.thread(operands):
//!     store low, high, …                q, r = (high - low) / threads, (high - low) % threads
//!     GOMP_parallel(f.thread,           start = low + thread * q + min(thread, r)
//!                   operands, 0, 0)     f(start, start + q + (thread < r), …)
//! ```
//!
//! Parts differ by one iteration at most. Their ends are unsigned numbers that never pass `high`.
//! Inside of a team a further call makes a team of one thread, as OpenMP does by default.
//! `GOMP_parallel`, `omp_get_thread_num` and `omp_get_num_threads` are in LLVM's libomp and in
//! GCC's libgomp.

use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_dialects::llvm::types::{function, literal_struct, pointer, void};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{Attr, Body, Diagnostic, OpRef, OperationState, Type, Value};
use loomir_transforms::marks::THREADS;

use super::Converted;
use super::build::{ICmp, INBOUNDS_NUW, Index, NONE};
use super::function::FunctionConverter;

/// The functions of the OpenMP run-time that converted programs call.
pub const RUN_TIME: [&str; 3] = ["GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads"];

/// True if a call is marked, and has a range and no results.
pub(super) fn is_marked(op: OpRef<'_>) -> bool {
    let ranges = op.operands().take(2).filter(|value| op.type_of(*value) == Type::INDEX).count();
    op.attr(THREADS).is_some() && op.num_results() == 0 && ranges == 2
}

/// Converts a marked call with these converted operands.
pub(super) fn call(cx: &mut FunctionConverter<'_>, callee: Attr, operands: &[Value]) -> Converted {
    let ctx = cx.ctx();
    let types: Vec<Type> = operands.iter().map(|value| cx.type_of(*value)).collect();
    let packed = literal_struct(&ctx, &types);
    let (ptr, i32) = (pointer(&ctx), Type::I32);
    let place = cx.alloca_at_entry(packed);
    for (index, operand) in operands.iter().enumerate() {
        let element =
            cx.gep(place, packed, &[Index::Constant(0), Index::Constant(index as i32)], INBOUNDS_NUW);
        cx.store(*operand, element);
    }
    let name = callee.as_flat_symbol(&ctx).map(|name| ctx.str(name).to_owned()).unwrap_or_default();
    let thread = thread_function(cx, callee, &format!("{name}.thread"), &types)?;
    let fork = cx.declare(RUN_TIME[0], function(&ctx, void(&ctx), &[ptr, ptr, i32, i32], false))?;
    let state = cx.state(llvm::AddressOfOp::DEF).results(&[ptr]).attr(&ctx, "global_name", thread);
    let address = cx.emit(state);
    // As many threads as the run-time chooses, and no flags.
    let zero = cx.integer(i32, 0);
    cx.call(Some(fork), &[address, place, zero, zero], None);
    Ok(())
}

/// Adds the function that each thread calls. Returns its symbol.
fn thread_function(
    cx: &mut FunctionConverter<'_>,
    callee: Attr,
    name: &str,
    types: &[Type],
) -> Result<Attr, Diagnostic> {
    let ctx = cx.ctx();
    let ty = function(&ctx, void(&ctx), &[pointer(&ctx)], false);
    let internal = LINKAGE.value_of("internal").unwrap_or(0);
    let mut state = OperationState::of(&ctx, llvm::FuncOp::DEF, cx.loc())
        .attr(&ctx, "function_type", ctx.type_attr(ty))
        .attr(&ctx, "linkage", LINKAGE.attr(&ctx, internal));
    let name = cx.fresh_symbol(name, ty);
    state.set_attr(&ctx, SYMBOL_NAME, ctx.string_attr(&name));
    state.set_defaults(&ctx);
    let body = cx.beside(Body::new(&ctx, state), &mut |cx| fill(cx, callee, types))?;
    cx.add_function(body);
    Ok(ctx.symbol_attr(&name))
}

/// Emits the part of a thread: its range, and the call.
fn fill(cx: &mut FunctionConverter<'_>, callee: Attr, types: &[Type]) -> Converted {
    let ctx = cx.ctx();
    let place = cx.add_argument(pointer(&ctx));
    let packed = literal_struct(&ctx, types);
    let mut operands = Vec::with_capacity(types.len());
    for (index, ty) in types.iter().enumerate() {
        let element =
            cx.gep(place, packed, &[Index::Constant(0), Index::Constant(index as i32)], INBOUNDS_NUW);
        operands.push(cx.load(element, *ty));
    }
    let mut number = |name: &str| -> Result<Option<Value>, Diagnostic> {
        let symbol = cx.declare(name, function(&ctx, Type::I32, &[], false))?;
        let number = cx.call(Some(symbol), &[], Some(Type::I32));
        Ok(number.map(|number| cx.cast(llvm::ZExtOp::DEF, number, Type::I64)))
    };
    let (thread, threads) = (number(RUN_TIME[1])?, number(RUN_TIME[2])?);
    let (Some(thread), Some(threads), [low, high, ..]) = (thread, threads, &operands[..]) else {
        return Ok(());
    };
    let all = cx.sub(*high, *low);
    let quotient = cx.binary(llvm::UDivOp::DEF, all, threads);
    let rest = cx.binary(llvm::URemOp::DEF, all, threads);
    let before = cx.mul(thread, quotient, NONE);
    let is_longer = cx.icmp(ICmp::Ult, thread, rest);
    let longer = cx.select(is_longer, thread, rest);
    let before = cx.add(before, longer, NONE);
    let start = cx.add(*low, before, NONE);
    let more = cx.cast(llvm::ZExtOp::DEF, is_longer, Type::I64);
    let end = cx.add(start, quotient, NONE);
    (operands[0], operands[1]) = (start, cx.add(end, more, NONE));
    cx.call(Some(callee), &operands, None);
    let state = cx.state(llvm::ReturnOp::DEF);
    cx.insert(state);
    Ok(())
}
