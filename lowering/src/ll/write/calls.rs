//! Calls: of functions, of intrinsics, of inline assembly.

use std::fmt::Write;

use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::TAIL_CALL_KIND;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::{Attr, Context, Diagnostic, OpRef, Type, Value};

use super::function::{Function, calling_convention, type_text};
use super::instructions::{calls_pointer, fastmath};
use super::names::quoted;
use super::{Module, attributes, no_text, scopes};
use crate::ll::intrinsics::{Immediate, Overload, immediates, overloads};
use crate::ll::{METADATA_ARGUMENTS, TAIL_CALL, VARIADIC_INTRINSIC, VARIADIC_TYPE};

type Line = Result<String, Diagnostic>;

/// Writes a call of `@llvm.…` and records its declaration.
pub(super) fn intrinsic(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, name: &str) -> Line {
    if name == "memcpy.inline" {
        return memcpy_inline(m, f, op);
    }
    let mut full = format!("llvm.{name}");
    for overload in overloads(name) {
        let ty = match overload {
            Overload::Result => op.results().next().map(|v| op.type_of(v)),
            Overload::Operand(index) => op.operands().nth(*index).map(|v| op.type_of(v)),
        };
        let mangled = ty.and_then(|ty| m.types.mangled(ty));
        let _ = write!(full, ".{}", mangled.ok_or_else(|| no_text(op, "on this type"))?);
    }
    let bundled = bundled_operands(m, op);
    let direct = op.num_operands() - bundled;
    let mut arguments = Vec::new();
    let mut params = Vec::new();
    for (index, operand) in op.operands().take(direct).enumerate() {
        params.push(type_text(m, op, op.type_of(operand))?.to_string());
        arguments.push(argument(m, f, op, index, operand)?);
    }
    for immediate in immediates(name) {
        let (ty, text) = match immediate {
            Immediate::Bool(name) => ("i1", (op.attr(name) == Some(Attr::TRUE)).to_string()),
            Immediate::I32(name) => {
                ("i32", op.attr(name).and_then(|a| a.as_int(&m.ctx)).unwrap_or(0).to_string())
            }
        };
        params.push(ty.to_owned());
        arguments.push(format!("{ty} {text}"));
    }
    emit_intrinsic(m, f, op, &full, &params, &arguments, direct)
}

fn emit_intrinsic(
    m: &mut Module,
    f: &Function<'_>,
    op: OpRef<'_>,
    name: &str,
    params: &[String],
    arguments: &[String],
    direct: usize,
) -> Line {
    let result = match op.results().next() {
        Some(value) => type_text(m, op, op.type_of(value))?,
        None => "void".into(),
    };
    let callee = m.symbol(name);
    // A call of a variadic function states its whole type.
    let result = match variadic_type(m, op) {
        Some(ty) => {
            let text = type_text(m, op, ty)?;
            let Some((result, params)) = text.split_once('(') else {
                return Err(no_text(op, "of this type"));
            };
            m.declare(name, format!("declare {}{callee}({params}", result));
            text
        }
        None => {
            m.declare(name, format!("declare {result} {callee}({})", params.join(", ")));
            result
        }
    };
    let mut text = format!("{}call{}", tail(m, op, TAIL_CALL), fastmath(m, op));
    for attr in attributes::of_values(m, op, "res_attrs", 0)? {
        let _ = write!(text, " {attr}");
    }
    let _ = write!(text, " {result} {callee}({})", arguments.join(", "));
    for attr in attributes::of_function(m, op) {
        let _ = write!(text, " {attr}");
    }
    text.push_str(&bundles(m, f, op, direct)?);
    Ok(text)
}

/// Writes a `memcpy` whose number of bytes is an attribute.
fn memcpy_inline(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let len = op.attr("len").ok_or_else(|| no_text(op, "without a length"))?;
    let ty = len.ty(&m.ctx).ok_or_else(|| no_text(op, "without a length"))?;
    let len_ty = type_text(m, op, ty)?;
    let mut name = "llvm.memcpy.inline".to_owned();
    let (mut params, mut arguments) = (Vec::new(), Vec::new());
    for operand in op.operands() {
        let mangled = m.types.mangled(op.type_of(operand));
        let _ = write!(name, ".{}", mangled.ok_or_else(|| no_text(op, "on this type"))?);
        params.push(type_text(m, op, op.type_of(operand))?.to_string());
        arguments.push(f.typed_operand(m, op, operand)?);
    }
    let _ = write!(name, ".{len_ty}");
    params.extend([len_ty.to_string(), "i1".to_owned()]);
    let length = super::constants::constant(m, len, ty).ok_or_else(|| no_text(op, "with this length"))?;
    arguments
        .extend([format!("{len_ty} {length}"), format!("i1 {}", op.attr("isVolatile") == Some(Attr::TRUE))]);
    emit_intrinsic(m, f, op, &name, &params, &arguments, 2)
}

/// Returns the number of operands at the end that belong to operand bundles.
fn bundled_operands(m: &Module, op: OpRef<'_>) -> usize {
    let sizes = op.attr("op_bundle_sizes").and_then(|s| s.as_dense_ints(&m.ctx)).unwrap_or_default();
    let total: i64 = sizes.iter().sum();
    usize::try_from(total).unwrap_or(0).min(op.num_operands())
}

/// ` [ "tag"(…), … ]`, or nothing.
fn bundles(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, direct: usize) -> Line {
    let ctx = m.ctx.clone();
    let sizes = op.attr("op_bundle_sizes").and_then(|s| s.as_dense_ints(&ctx)).unwrap_or_default();
    if sizes.is_empty() {
        return Ok(String::new());
    }
    let tags = op.attr("op_bundle_tags").and_then(|t| t.as_array(&ctx)).unwrap_or_default();
    let mut operands = op.operands().skip(direct);
    let mut all = Vec::new();
    for (size, tag) in sizes.iter().zip(tags) {
        let mut values = Vec::new();
        for operand in operands.by_ref().take(usize::try_from(*size).unwrap_or(0)) {
            values.push(f.typed_operand(m, op, operand)?);
        }
        let tag = tag.as_str(&ctx).unwrap_or_default();
        all.push(format!("{}({})", quoted(tag.as_bytes()), values.join(", ")));
    }
    Ok(format!(" [ {} ]", all.join(", ")))
}

/// `llvm.call`.
pub(super) fn call(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ctx = m.ctx.clone();
    let direct = op.num_operands() - bundled_operands(m, op);
    let mut operands = op.operands().take(direct);
    let callee = match op.attr("callee").and_then(|c| c.as_flat_symbol(&ctx)) {
        Some(name) => m.symbol(ctx.str(name)),
        None if calls_pointer(m, op) => {
            let pointer = operands.next().ok_or_else(|| no_text(op, "without a callee"))?;
            f.operand(m, pointer)?
        }
        None => return Err(no_text(op, "without a callee")),
    };
    let mut text = tail(m, op, TAIL_CALL);
    let _ = write!(text, "call{}", fastmath(m, op));
    if let Some(convention) = calling_convention(m, op) {
        let _ = write!(text, " {convention}");
    }
    for attr in attributes::of_values(m, op, "res_attrs", 0)? {
        let _ = write!(text, " {attr}");
    }
    let _ = write!(text, " {} {callee}(", called_type(m, op)?);
    for (index, operand) in operands.enumerate() {
        let _ = write!(text, "{}{}", if index == 0 { "" } else { ", " }, argument(m, f, op, index, operand)?);
    }
    text.push(')');
    for attr in attributes::of_function(m, op) {
        let _ = write!(text, " {attr}");
    }
    text.push_str(&bundles(m, f, op, direct)?);
    Ok(text)
}

/// Returns the tail call keyword, such as `tail `, of attribute `name`.
fn tail(m: &Module, op: OpRef<'_>, name: &str) -> String {
    let kind = op.attr(name).and_then(|kind| TAIL_CALL_KIND.value(&m.ctx, kind));
    let kind = kind.filter(|kind| *kind != 0).and_then(|kind| TAIL_CALL_KIND.text_of(kind));
    kind.map_or_else(String::new, |kind| format!("{kind} "))
}

/// Returns the text of argument `index` of a call: its type, its attributes, its value.
fn argument(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, index: usize, operand: Value) -> Line {
    let mut text = type_text(m, op, op.type_of(operand))?.to_string();
    let list = if op.is(llvm::InlineAsmOp::DEF) { "operand_attrs" } else { "arg_attrs" };
    for attr in attributes::of_values(m, op, list, index)? {
        let _ = write!(text, " {attr}");
    }
    let _ = write!(text, " {}", f.operand(m, operand)?);
    Ok(text)
}

/// Returns the type before the callee: the type of the result or, for a variadic callee, of the
/// function.
fn called_type(m: &mut Module, op: OpRef<'_>) -> Line {
    match variadic_type(m, op) {
        Some(ty) => Ok(type_text(m, op, ty)?.to_string()),
        None => result_type(m, op),
    }
}

/// Returns the type of a variadic callee.
fn variadic_type(m: &Module, op: OpRef<'_>) -> Option<Type> {
    let name = if op.is(llvm::CallIntrinsicOp::DEF) { VARIADIC_INTRINSIC } else { VARIADIC_TYPE };
    let ty = op.attr(name).and_then(|ty| ty.as_type(&m.ctx))?;
    let is_variadic = matches!(LlvmType::of(&m.ctx, ty), Some(LlvmType::Function { variadic: true, .. }));
    is_variadic.then_some(ty)
}

fn result_type(m: &mut Module, op: OpRef<'_>) -> Line {
    let result: Option<Type> = op.results().next().map(|v| op.type_of(v));
    Ok(match result {
        Some(ty) => type_text(m, op, ty)?.to_string(),
        None => "void".to_owned(),
    })
}

/// `llvm.call_intrinsic`: the name is written out.
pub(super) fn call_intrinsic(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let name = op.attr("intrin").and_then(|n| n.as_str(&m.ctx)).unwrap_or_default().to_owned();
    let direct = op.num_operands() - bundled_operands(m, op);
    let (mut params, mut arguments) = (Vec::new(), Vec::new());
    let ctx = m.ctx.clone();
    let metadata = op.attr(METADATA_ARGUMENTS).and_then(|all| all.as_array(&ctx)).unwrap_or_default();
    let mut metadata = metadata.iter();
    for (index, operand) in op.operands().take(direct).enumerate() {
        push_metadata(&ctx, &mut metadata, &mut params, &mut arguments);
        params.push(type_text(m, op, op.type_of(operand))?.to_string());
        arguments.push(argument(m, f, op, index, operand)?);
    }
    push_metadata(&ctx, &mut metadata, &mut params, &mut arguments);
    if let Some(scopes) = scopes::of_declaration(m, op) {
        params.push("metadata".to_owned());
        arguments.push(format!("metadata {scopes}"));
    }
    emit_intrinsic(m, f, op, &name, &params, &arguments, direct)
}

/// Adds the arguments that are metadata, up to the next operand.
fn push_metadata<'a>(
    ctx: &Context,
    all: &mut impl Iterator<Item = &'a Attr>,
    params: &mut Vec<String>,
    arguments: &mut Vec<String>,
) {
    for node in all.map_while(|attr| attr.as_str(ctx)) {
        params.push("metadata".to_owned());
        arguments.push(format!("metadata {node}"));
    }
}

/// `llvm.inline_asm`.
pub(super) fn inline_asm(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ctx = m.ctx.clone();
    let string = |name: &str| op.attr(name).and_then(|s| s.as_str(&ctx)).unwrap_or_default().to_owned();
    let mut text = tail(m, op, "tail_call_kind");
    let _ = write!(text, "call {} asm", result_type(m, op)?);
    for (name, word) in [("has_side_effects", " sideeffect"), ("is_align_stack", " alignstack")] {
        if op.attr(name).is_some() {
            text.push_str(word);
        }
    }
    if op.attr("asm_dialect").and_then(|d| d.as_int(&ctx)) == Some(1) {
        text.push_str(" inteldialect");
    }
    let mut arguments = Vec::new();
    for (index, operand) in op.operands().enumerate() {
        arguments.push(argument(m, f, op, index, operand)?);
    }
    let (template, constraints) = (string("asm_string"), string("constraints"));
    let _ = write!(
        text,
        " {}, {}({})",
        quoted(template.as_bytes()),
        quoted(constraints.as_bytes()),
        arguments.join(", ")
    );
    for attr in attributes::of_function(m, op) {
        let _ = write!(text, " {attr}");
    }
    Ok(text)
}
