//! Calls: of functions, of intrinsics, of inline assembly.

use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use loomir_dialects::branch::passed_operands;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::TAIL_CALL_KIND;
use loomir_dialects::llvm::types::{LlvmType, is_pointer};
use loomir_ir::{Attr, Diagnostic, OpRef, Type};

use super::flags::fastmath;
use super::line::{Line, Written};
use super::names::quoted;
use super::words::calling_convention;
use super::{Module, attributes, no_text, scopes, type_text};
use crate::ll::intrinsics::{Immediate, Overload, aligned_argument, immediates, overloads};
use crate::ll::{METADATA_ARGUMENTS, TAIL_CALL, VARIADIC_INTRINSIC, VARIADIC_TYPE, forwards_arguments};

/// Writes a call of `@llvm.…` and records its declaration.
pub(super) fn intrinsic(line: &mut Line<'_>, op: OpRef<'_>, name: &str) -> Written {
    if name == "memcpy.inline" {
        return memcpy_inline(line, op);
    }
    if aligned_argument(name) == Some(0) && op.num_operands() != 3 {
        return Err(no_text(op, "without other elements"));
    }
    let mut full = format!("llvm.{name}");
    for overload in overloads(name) {
        let ty = match overload {
            Overload::Result => op.results().next().map(|v| op.type_of(v)),
            Overload::Operand(index) => op.operands().nth(*index).map(|v| op.type_of(v)),
        };
        push_mangled(line.m, &mut full, op, ty)?;
    }
    let direct = op.num_operands() - bundled_operands(line.m, op);
    let immediate = |immediate: &Immediate| match immediate {
        Immediate::Bool(name) => ("i1", i64::from(op.attr(name) == Some(Attr::TRUE))),
        Immediate::I32(name) => ("i32", op.attr(name).and_then(|a| a.as_int(op.ctx())).unwrap_or(0)),
    };
    let mut params = types_of(line.m, op, direct)?;
    params.extend(immediates(name).iter().map(|own| immediate(own).0.into()));
    begin_intrinsic(line, op, &full, &params)?;
    arguments(line, op, 0..direct)?;
    for (index, own) in immediates(name).iter().enumerate() {
        line.put(if index + direct == 0 { "" } else { ", " });
        match immediate(own) {
            ("i1", value) => line.put(if value == 0 { "i1 false" } else { "i1 true" }),
            (ty, value) => write!(line, "{ty} {value}").unwrap_or_default(),
        }
    }
    end_call(line, op, direct)
}

/// Appends the part of an intrinsic's name for a type.
fn push_mangled(m: &mut Module, name: &mut String, op: OpRef<'_>, ty: Option<Type>) -> Written {
    let mangled = ty.and_then(|ty| m.types.mangled(ty)).ok_or_else(|| no_text(op, "on this type"))?;
    name.push('.');
    name.push_str(&mangled);
    Ok(())
}

/// Returns the types of the first operands.
fn types_of(m: &mut Module, op: OpRef<'_>, count: usize) -> Result<Vec<Rc<str>>, Diagnostic> {
    op.operands().take(count).map(|operand| type_text(m, op, op.type_of(operand))).collect()
}

/// Writes a call of an intrinsic up to its first argument, and records its declaration.
fn begin_intrinsic(line: &mut Line<'_>, op: OpRef<'_>, name: &str, params: &[Rc<str>]) -> Written {
    let result = match op.results().next() {
        Some(value) => type_text(line.m, op, op.type_of(value))?,
        None => "void".into(),
    };
    let callee = line.m.symbol(name);
    let as_called = op.is(llvm::CallIntrinsicOp::DEF);
    // A call of a variadic function states its whole type.
    let result = match variadic_type(line.m, op) {
        Some(ty) => {
            let text = type_text(line.m, op, ty)?;
            let Some((result, params)) = text.split_once('(') else {
                return Err(no_text(op, "of this type"));
            };
            line.m.declare(name, as_called, || format!("declare {result}{callee}({params}"));
            text
        }
        None => {
            line.m.declare(name, as_called, || format!("declare {result} {callee}({})", params.join(", ")));
            result
        }
    };
    tail(line, op, TAIL_CALL);
    line.put("call");
    fastmath(line, op);
    for attr in attributes::of_values(line.m, op, "res_attrs", 0)? {
        let _ = write!(line, " {attr}");
    }
    let _ = write!(line, " {result} {callee}(");
    Ok(())
}

/// Writes a call behind its last argument, which is operand `direct` at most.
fn end_call(line: &mut Line<'_>, op: OpRef<'_>, direct: usize) -> Written {
    line.put(")");
    for attr in attributes::of_function(line.m, op) {
        let _ = write!(line, " {attr}");
    }
    bundles(line, op, direct)
}

/// Writes a `memcpy` whose number of bytes is an attribute.
fn memcpy_inline(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let len = op.attr("len").ok_or_else(|| no_text(op, "without a length"))?;
    let ty = len.ty(&line.m.ctx).ok_or_else(|| no_text(op, "without a length"))?;
    let len_ty = type_text(line.m, op, ty)?;
    let length = super::constants::constant(line.m, len, ty);
    let length = length.ok_or_else(|| no_text(op, "with this length"))?;
    let mut name = "llvm.memcpy.inline".to_owned();
    for operand in op.operands() {
        push_mangled(line.m, &mut name, op, Some(op.type_of(operand)))?;
    }
    let _ = write!(name, ".{len_ty}");
    let mut params = types_of(line.m, op, op.num_operands())?;
    params.extend([len_ty.clone(), "i1".into()]);
    begin_intrinsic(line, op, &name, &params)?;
    line.all_typed(op, 0..op.num_operands())?;
    let _ = write!(line, ", {len_ty} {length}, i1 {}", op.attr("isVolatile") == Some(Attr::TRUE));
    end_call(line, op, 2)
}

/// Returns the number of operands at the end that belong to operand bundles.
fn bundled_operands(m: &Module, op: OpRef<'_>) -> usize {
    let sizes = op.attr("op_bundle_sizes").and_then(|s| s.as_dense_ints(&m.ctx)).unwrap_or_default();
    let total: i64 = sizes.iter().sum();
    usize::try_from(total).unwrap_or(0).min(op.num_operands())
}

/// Writes ` [ "tag"(…), … ]`, or nothing.
fn bundles(line: &mut Line<'_>, op: OpRef<'_>, direct: usize) -> Written {
    let ctx = line.m.ctx.clone();
    let sizes = op.attr("op_bundle_sizes").and_then(|s| s.as_dense_ints(&ctx)).unwrap_or_default();
    if sizes.is_empty() {
        return Ok(());
    }
    let tags = op.attr("op_bundle_tags").and_then(|t| t.as_array(&ctx)).unwrap_or_default();
    let mut operands = direct..op.num_operands();
    line.put(" [ ");
    for (index, (size, tag)) in sizes.iter().zip(tags).enumerate() {
        let tag = quoted(tag.as_str(&ctx).unwrap_or_default().as_bytes());
        let _ = write!(line, "{}{tag}(", if index == 0 { "" } else { ", " });
        line.all_typed(op, operands.by_ref().take(usize::try_from(*size).unwrap_or(0)))?;
        line.put(")");
    }
    line.put(" ]");
    Ok(())
}

/// `llvm.call`.
pub(super) fn call(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let direct = op.num_operands() - bundled_operands(line.m, op);
    tail(line, op, TAIL_CALL);
    line.put("call");
    fastmath(line, op);
    called(line, op, 0..direct)?;
    if op.attr(TAIL_CALL).is_some_and(|kind| kind != TAIL_CALL_KIND.attr(&line.m.ctx, 0)) {
        // A call that looks alike may be in a function with other arguments.
        line.is_unlike_others();
    }
    if forwards_arguments(line.f.body.root_ref(), op.attr(TAIL_CALL)) {
        let has_arguments = direct > usize::from(calls_pointer(line.m, op));
        line.put(if has_arguments { ", ..." } else { "..." });
    }
    end_call(line, op, direct)
}

/// `llvm.invoke`. The operands of the successors stand between the arguments and the bundles.
pub(super) fn invoke(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let direct = op.num_operands() - bundled_operands(line.m, op);
    let own = op.operand_group("callee_operands").len();
    line.put("invoke");
    declare_intrinsic(line.m, op, own)?;
    called(line, op, 0..own)?;
    end_call(line, op, direct)?;
    line.put("\n          to ");
    line.target(op, 0)?;
    line.put(" unwind ");
    line.target(op, 1)
}

/// Records the declaration of an intrinsic that is called by its symbol.
fn declare_intrinsic(m: &mut Module, op: OpRef<'_>, arguments: usize) -> Written {
    let callee = op.attr("callee").and_then(|callee| callee.as_flat_symbol(op.ctx()));
    let Some(name) = callee.map(|name| op.ctx().str(name)).filter(|name| name.starts_with("llvm.")) else {
        return Ok(());
    };
    let params = types_of(m, op, arguments)?.join(", ");
    let result = match op.results().next() {
        Some(value) => type_text(m, op, op.type_of(value))?,
        None => "void".into(),
    };
    let symbol = m.symbol(name);
    if variadic_type(m, op).is_none() {
        m.declare(name, true, || format!("declare {result} {symbol}({params})"));
    }
    Ok(())
}

/// Writes a call behind its first words, up to its last argument.
fn called(line: &mut Line<'_>, op: OpRef<'_>, operands: Range<usize>) -> Written {
    let mut operands = operands;
    let callee = op.attr("callee").and_then(|callee| callee.as_flat_symbol(op.ctx()));
    let pointer = match callee {
        None if calls_pointer(line.m, op) => operands.next(),
        _ => None,
    };
    if callee.is_none() && pointer.is_none() {
        return Err(no_text(op, "without a callee"));
    }
    if let Some(convention) = calling_convention(line.m, op) {
        let _ = write!(line, " {convention}");
    }
    for attr in attributes::of_values(line.m, op, "res_attrs", 0)? {
        let _ = write!(line, " {attr}");
    }
    line.put(" ");
    called_type(line, op)?;
    line.put(" ");
    match (pointer, callee) {
        (Some(pointer), _) => line.operand(op, pointer)?,
        (None, name) => line.put(&line.m.symbol(name.map_or("", |name| op.ctx().str(name)))),
    }
    line.put("(");
    arguments(line, op, operands)
}

/// True if the first operand is a pointer to call.
fn calls_pointer(m: &Module, op: OpRef<'_>) -> bool {
    op.attr("callee").is_none() && op.num_operands() > 0 && is_pointer(&m.ctx, op.operand_type(0))
}

/// Writes the tail call keyword of attribute `name`, such as `tail `.
fn tail(line: &mut Line<'_>, op: OpRef<'_>, name: &str) {
    let kind = op.attr(name).and_then(|kind| TAIL_CALL_KIND.value(&line.m.ctx, kind));
    let kind = kind.filter(|kind| *kind != 0).and_then(|kind| TAIL_CALL_KIND.text_of(kind));
    if let Some(kind) = kind {
        line.put(&kind);
        line.put(" ");
    }
}

/// Writes arguments of a call, the first first: type, attributes and value of each.
fn arguments(line: &mut Line<'_>, op: OpRef<'_>, operands: Range<usize>) -> Written {
    let is_assembly = op.is(llvm::InlineAsmOp::DEF) || op.is(llvm::CallBrOp::DEF);
    let list = if is_assembly { "operand_attrs" } else { "arg_attrs" };
    for (index, operand) in operands.enumerate() {
        line.put(if index == 0 { "" } else { ", " });
        argument(line, op, list, index, operand)?;
    }
    Ok(())
}

/// Writes argument `index` of a call, whose attributes are in a list.
fn argument(line: &mut Line<'_>, op: OpRef<'_>, list: &str, index: usize, operand: usize) -> Written {
    line.ty(op, op.operand_type(operand))?;
    for attr in attributes::of_values(line.m, op, list, index)? {
        line.put(" ");
        line.put(&attr);
    }
    let name = op.name().strip_prefix("llvm.intr.").unwrap_or_default();
    if aligned_argument(name) == Some(operand)
        && let Some(alignment) = op.attr("alignment").and_then(|own| own.as_int(op.ctx()))
        && alignment > 1
    {
        let _ = write!(line, " align {alignment}");
    }
    line.put(" ");
    line.operand(op, operand)
}

/// Writes the type before the callee: that of the result or, for a variadic callee, of the
/// function.
fn called_type(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    match variadic_type(line.m, op) {
        Some(ty) => line.ty(op, ty),
        None => result_type(line, op),
    }
}

/// Returns the type of a variadic callee.
fn variadic_type(m: &Module, op: OpRef<'_>) -> Option<Type> {
    let name = if op.is(llvm::CallIntrinsicOp::DEF) { VARIADIC_INTRINSIC } else { VARIADIC_TYPE };
    let ty = op.attr(name).and_then(|ty| ty.as_type(&m.ctx))?;
    let is_variadic = matches!(LlvmType::of(&m.ctx, ty), Some(LlvmType::Function { variadic: true, .. }));
    is_variadic.then_some(ty)
}

fn result_type(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    match op.results().next() {
        Some(result) => line.ty(op, op.type_of(result)),
        None => {
            line.put("void");
            Ok(())
        }
    }
}

/// `llvm.call_intrinsic`: the name is written out.
pub(super) fn call_intrinsic(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let ctx = line.m.ctx.clone();
    let name = op.attr("intrin").and_then(|name| name.as_str(&ctx)).unwrap_or_default();
    let direct = op.num_operands() - bundled_operands(line.m, op);
    let list = op.attr(METADATA_ARGUMENTS).and_then(|all| all.as_array(&ctx)).unwrap_or_default();
    // Metadata stands in a list of its own, in which something else marks the place of an operand.
    let mut list = list.iter().map(|attr| attr.as_str(&ctx));
    let mut all = Vec::new();
    for operand in (0..direct).map(Some).chain([None]) {
        let metadata = list.by_ref().map_while(|node| node);
        all.extend(metadata.map(|node| Argument::Metadata(node.to_owned())));
        all.extend(operand.map(Argument::Operand));
    }
    all.extend(scopes::of_declaration(line, op).map(Argument::Metadata));
    let mut params = Vec::new();
    for argument in &all {
        params.push(match argument {
            Argument::Metadata(_) => "metadata".into(),
            Argument::Operand(index) => type_text(line.m, op, op.operand_type(*index))?,
        });
    }
    begin_intrinsic(line, op, name, &params)?;
    for (index, own) in all.iter().enumerate() {
        line.put(if index == 0 { "" } else { ", " });
        match own {
            Argument::Metadata(node) => {
                line.put("metadata ");
                line.put(node);
            }
            Argument::Operand(index) => argument(line, op, "arg_attrs", *index, *index)?,
        }
    }
    end_call(line, op, direct)
}

/// An argument of an intrinsic.
enum Argument {
    Metadata(String),
    Operand(usize),
}

/// `llvm.inline_asm`, and `llvm.callbr` with its targets.
pub(super) fn inline_asm(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let string =
        |name: &str| quoted(op.attr(name).and_then(|s| s.as_str(op.ctx())).unwrap_or_default().as_bytes());
    let passed = passed_operands(op.body(), op.op()).map_or(0, |passed| passed.len());
    if op.is(llvm::CallBrOp::DEF) {
        line.put("callbr ");
    } else {
        tail(line, op, "tail_call_kind");
        line.put("call ");
    }
    result_type(line, op)?;
    line.put(" asm");
    for (name, word) in [("has_side_effects", " sideeffect"), ("is_align_stack", " alignstack")] {
        if op.attr(name).is_some() {
            line.put(word);
        }
    }
    if op.attr("asm_dialect").and_then(|d| d.as_int(op.ctx())) == Some(1) {
        line.put(" inteldialect");
    }
    let _ = write!(line, " {}, {}(", string("asm_string"), string("constraints"));
    arguments(line, op, 0..op.num_operands() - passed)?;
    line.put(")");
    for attr in attributes::of_function(line.m, op) {
        let _ = write!(line, " {attr}");
    }
    if op.successors().len() > 0 {
        line.put("\n          to ");
        line.target(op, 0)?;
        line.put(" ");
        targets(line, op, 1..op.successors().len())?;
    }
    Ok(())
}

/// Writes `[label %a, label %b]`.
pub(super) fn targets(line: &mut Line<'_>, op: OpRef<'_>, range: Range<usize>) -> Written {
    line.put("[");
    for (place, index) in range.enumerate() {
        line.put(if place == 0 { "" } else { ", " });
        line.target(op, index)?;
    }
    line.put("]");
    Ok(())
}
