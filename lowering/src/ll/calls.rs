//! Calls: of functions, of intrinsics, of inline assembly.
//!
//! An intrinsic is a function LLVM knows by its name; which types it is for is part of the name. [`INTRINSICS`] says for each which
//! types those are, and which of its arguments are attributes here.

use std::fmt::Write;

use loomir_dialects::llvm::attributes::TAIL_CALL_KIND;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::{Attr, Diagnostic, OpRef, Type};

use super::function::{Function, calling_convention, type_text};
use super::instructions::{calls_pointer, fastmath};
use super::names::{quoted, symbol};
use super::{Module, attributes, no_text};

type Line = Result<String, Diagnostic>;

/// What an intrinsic's name says of its types.
#[derive(Clone, Copy)]
enum Overload {
    /// The type of the result.
    Result,
    /// The type of an operand.
    Operand(usize),
}

/// An argument that is an attribute of the operation.
#[derive(Clone, Copy)]
enum Immediate {
    /// `i1`.
    Bool(&'static str),
    /// `i32`.
    I32(&'static str),
}

use Immediate::{Bool, I32};
use Overload::{Operand, Result as Res};

/// What `intr.` is followed by, the types in the name, the arguments behind the operands.
const INTRINSICS: &[(&str, &[Overload], &[Immediate])] = &[
    ("abs", &[Res], &[Bool("is_int_min_poison")]),
    ("assume", &[], &[]),
    ("ctlz", &[Res], &[Bool("is_zero_poison")]),
    ("cttz", &[Res], &[Bool("is_zero_poison")]),
    ("debugtrap", &[], &[]),
    ("is.fpclass", &[Operand(0)], &[I32("bit")]),
    ("ldexp", &[Res, Operand(1)], &[]),
    ("lifetime.end", &[Operand(0)], &[]),
    ("lifetime.start", &[Operand(0)], &[]),
    ("lrint", &[Res, Operand(0)], &[]),
    ("lround", &[Res, Operand(0)], &[]),
    ("llrint", &[Res, Operand(0)], &[]),
    ("llround", &[Res, Operand(0)], &[]),
    ("memcpy", &[Operand(0), Operand(1), Operand(2)], &[Bool("isVolatile")]),
    ("memmove", &[Operand(0), Operand(1), Operand(2)], &[Bool("isVolatile")]),
    ("memset", &[Operand(0), Operand(2)], &[Bool("isVolatile")]),
    ("powi", &[Res, Operand(1)], &[]),
    ("prefetch", &[Operand(0)], &[I32("rw"), I32("hint"), I32("cache")]),
    ("sadd.with.overflow", &[Operand(0)], &[]),
    ("scmp", &[Res, Operand(0)], &[]),
    ("smul.with.overflow", &[Operand(0)], &[]),
    ("ssub.with.overflow", &[Operand(0)], &[]),
    ("stackrestore", &[Operand(0)], &[]),
    ("stacksave", &[Res], &[]),
    ("trap", &[], &[]),
    ("uadd.with.overflow", &[Operand(0)], &[]),
    ("ucmp", &[Res, Operand(0)], &[]),
    ("umul.with.overflow", &[Operand(0)], &[]),
    ("usub.with.overflow", &[Operand(0)], &[]),
    ("vector.reduce.add", &[Operand(0)], &[]),
    ("vector.reduce.and", &[Operand(0)], &[]),
    ("vector.reduce.fadd", &[Operand(1)], &[]),
    ("vector.reduce.fmax", &[Operand(0)], &[]),
    ("vector.reduce.fmaximum", &[Operand(0)], &[]),
    ("vector.reduce.fmin", &[Operand(0)], &[]),
    ("vector.reduce.fminimum", &[Operand(0)], &[]),
    ("vector.reduce.fmul", &[Operand(1)], &[]),
    ("vector.reduce.mul", &[Operand(0)], &[]),
    ("vector.reduce.or", &[Operand(0)], &[]),
    ("vector.reduce.smax", &[Operand(0)], &[]),
    ("vector.reduce.smin", &[Operand(0)], &[]),
    ("vector.reduce.umax", &[Operand(0)], &[]),
    ("vector.reduce.umin", &[Operand(0)], &[]),
    ("vector.reduce.xor", &[Operand(0)], &[]),
];

/// A call of `@llvm.…`, declared on the way.
pub(super) fn intrinsic(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, name: &str) -> Line {
    if name == "memcpy.inline" {
        return memcpy_inline(m, f, op);
    }
    let entry = INTRINSICS.iter().find(|(own, ..)| *own == name);
    // All others are overloaded on their one type.
    let (overloads, immediates) = entry.map_or((&[Res][..], &[][..]), |(_, o, i)| (*o, *i));
    let mut full = format!("llvm.{name}");
    for overload in overloads {
        let ty = match overload {
            Res => op.results().next().map(|v| op.type_of(v)),
            Operand(index) => op.operands().nth(*index).map(|v| op.type_of(v)),
        };
        let mangled = ty.and_then(|ty| m.types.mangled(ty));
        let _ = write!(full, ".{}", mangled.ok_or_else(|| no_text(op, "on this type"))?);
    }
    let bundled = bundled_operands(m, op);
    let direct = op.num_operands() - bundled;
    let mut arguments = Vec::new();
    let mut params = Vec::new();
    for operand in op.operands().take(direct) {
        params.push(type_text(m, op, op.type_of(operand))?.to_string());
        arguments.push(f.typed_operand(m, op, operand)?);
    }
    for immediate in immediates {
        let (ty, text) = match immediate {
            Bool(name) => ("i1", (op.attr(name) == Some(Attr::TRUE)).to_string()),
            I32(name) => ("i32", op.attr(name).and_then(|a| a.as_int(&m.ctx)).unwrap_or(0).to_string()),
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
    let callee = symbol('@', name);
    m.declare(name, format!("declare {result} {callee}({})", params.join(", ")));
    let bundles = bundles(m, f, op, direct)?;
    Ok(format!("call{} {result} {callee}({}){bundles}", fastmath(m, op), arguments.join(", ")))
}

/// `memcpy` of a number of bytes that is an attribute.
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

/// How many of the operands, at the end, belong to operand bundles.
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
        Some(name) => symbol('@', ctx.str(name)),
        None if calls_pointer(m, op) => {
            let pointer = operands.next().ok_or_else(|| no_text(op, "without a callee"))?;
            f.operand(m, pointer)?
        }
        None => return Err(no_text(op, "without a callee")),
    };
    let mut text = String::new();
    let kind = op
        .attr("TailCallKind")
        .and_then(|k| TAIL_CALL_KIND.value(&ctx, k))
        .and_then(|k| TAIL_CALL_KIND.text_of(k));
    if let Some(kind) = kind.filter(|kind| kind != "none") {
        let _ = write!(text, "{kind} ");
    }
    let _ = write!(text, "call{}", fastmath(m, op));
    if let Some(convention) = op.attr("CConv").and_then(|c| calling_convention(m, c)) {
        let _ = write!(text, " {convention}");
    }
    for attr in attributes::of_values(m, op, "res_attrs", 0)? {
        let _ = write!(text, " {attr}");
    }
    let _ = write!(text, " {} {callee}(", called_type(m, op)?);
    for (index, operand) in operands.enumerate() {
        let ty = type_text(m, op, op.type_of(operand))?;
        let _ = write!(text, "{}{ty}", if index == 0 { "" } else { ", " });
        for attr in attributes::of_values(m, op, "arg_attrs", index)? {
            let _ = write!(text, " {attr}");
        }
        let _ = write!(text, " {}", f.operand(m, operand)?);
    }
    text.push(')');
    for attr in attributes::of_function(m, op) {
        let _ = write!(text, " {attr}");
    }
    text.push_str(&bundles(m, f, op, direct)?);
    Ok(text)
}

/// What stands in front of the callee: the type of the result or, if it takes more arguments than it names, of the function.
fn called_type(m: &mut Module, op: OpRef<'_>) -> Line {
    if let Some(ty) = op.attr("var_callee_type").and_then(|ty| ty.as_type(&m.ctx)) {
        let is_variadic = matches!(LlvmType::of(&m.ctx, ty), Some(LlvmType::Function { variadic: true, .. }));
        if is_variadic {
            return Ok(type_text(m, op, ty)?.to_string());
        }
    }
    result_type(m, op)
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
    for operand in op.operands().take(direct) {
        params.push(type_text(m, op, op.type_of(operand))?.to_string());
        arguments.push(f.typed_operand(m, op, operand)?);
    }
    emit_intrinsic(m, f, op, &name, &params, &arguments, direct)
}

/// `llvm.inline_asm`.
pub(super) fn inline_asm(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ctx = m.ctx.clone();
    let string = |name: &str| op.attr(name).and_then(|s| s.as_str(&ctx)).unwrap_or_default().to_owned();
    let mut text = String::new();
    let kind = op
        .attr("tail_call_kind")
        .and_then(|k| TAIL_CALL_KIND.value(&ctx, k))
        .and_then(|k| TAIL_CALL_KIND.text_of(k));
    if let Some(kind) = kind.filter(|kind| kind != "none") {
        let _ = write!(text, "{kind} ");
    }
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
    for operand in op.operands() {
        arguments.push(f.typed_operand(m, op, operand)?);
    }
    let (template, constraints) = (string("asm_string"), string("constraints"));
    let _ = write!(
        text,
        " {}, {}({})",
        quoted(template.as_bytes()),
        quoted(constraints.as_bytes()),
        arguments.join(", ")
    );
    Ok(text)
}
