//! The text of an instruction: everything behind `%n = `.

use std::fmt::Write;

use loomir_dialects::llvm::SAME_SIGN;
use loomir_dialects::llvm::attributes::{
    ATOMIC_BIN_OP, ATOMIC_ORDERING, FASTMATH, FCMP_PREDICATE, ICMP_PREDICATE, OVERFLOW,
};
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::is_pointer;
use loomir_ir::{AttrKind, Diagnostic, OpRef, TypeKind};
use loomir_transforms::marks::{CHECK, OF_LOOPS};

use super::function::{Function, type_text};
use super::names::quoted;
use super::{Module, calls, no_text, scopes};
use crate::ll::{kept_metadata, loops};

type Line = Result<String, Diagnostic>;

/// Returns the text of an instruction.
pub(super) fn instruction(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let Some(mnemonic) = op.name().strip_prefix("llvm.") else {
        return Err(no_text(op, "is not of the llvm dialect and").help("run convert-to-llvm first"));
    };
    match mnemonic {
        "add" | "sub" | "mul" | "shl" | "udiv" | "sdiv" | "lshr" | "ashr" | "or" | "and" | "xor" | "urem"
        | "srem" | "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => binary(m, f, op, mnemonic),
        "fneg" | "freeze" => {
            Ok(format!("{mnemonic}{} {}", flags(m, op), f.typed_operand(m, op, op.operand(0))?))
        }
        "icmp" | "fcmp" => compare(m, f, op, mnemonic),
        "select" => {
            let mut parts = Vec::with_capacity(3);
            for operand in op.operands() {
                parts.push(f.typed_operand(m, op, operand)?);
            }
            Ok(format!("select{} {}", flags(m, op), parts.join(", ")))
        }
        "trunc" | "zext" | "sext" | "fptrunc" | "fpext" | "fptoui" | "fptosi" | "uitofp" | "sitofp"
        | "ptrtoint" | "inttoptr" | "bitcast" | "addrspacecast" => {
            let to = type_text(m, op, op.result_type(0))?;
            Ok(format!("{mnemonic}{} {} to {to}", flags(m, op), f.typed_operand(m, op, op.operand(0))?))
        }
        "alloca" => alloca(m, f, op),
        "load" => load(m, f, op),
        "store" => store(m, f, op),
        "getelementptr" => gep(m, f, op),
        "atomicrmw" => atomicrmw(m, f, op),
        "cmpxchg" => cmpxchg(m, f, op),
        "va_arg" => {
            let ty = type_text(m, op, op.result_type(0))?;
            Ok(format!("va_arg {}, {ty}", f.typed_operand(m, op, op.operand(0))?))
        }
        "fence" => Ok(format!("fence{} {}", syncscope(m, op), ordering(m, op).unwrap_or_default())),
        "extractelement" | "insertelement" => {
            let mut parts = Vec::with_capacity(3);
            for operand in op.operands() {
                parts.push(f.typed_operand(m, op, operand)?);
            }
            Ok(format!("{mnemonic} {}", parts.join(", ")))
        }
        "shufflevector" => shuffle(m, f, op),
        "extractvalue" | "insertvalue" => {
            let mut text = format!("{mnemonic} ");
            for operand in op.operands() {
                let _ = write!(text, "{}, ", f.typed_operand(m, op, operand)?);
            }
            let position = op.attr("position").and_then(|p| p.as_dense_ints(&m.ctx)).unwrap_or_default();
            let position: Vec<String> = position.iter().map(i64::to_string).collect();
            text.push_str(&position.join(", "));
            Ok(text)
        }
        "br" => {
            let target = op.successors().next().ok_or_else(|| no_text(op, "without a target"))?;
            Ok(format!("br {}{}", f.label(op, 0, target), annotation(m, op)))
        }
        "cond_br" => cond_br(m, f, op),
        "switch" => switch(m, f, op),
        "return" => match op.operands().next() {
            Some(value) => Ok(format!("ret {}", f.typed_operand(m, op, value)?)),
            None => Ok("ret void".to_owned()),
        },
        "unreachable" => Ok("unreachable".to_owned()),
        "call" => calls::call(m, f, op),
        "call_intrinsic" => calls::call_intrinsic(m, f, op),
        "inline_asm" => calls::inline_asm(m, f, op),
        _ => match mnemonic.strip_prefix("intr.") {
            Some(intrinsic) => calls::intrinsic(m, f, op, intrinsic),
            None => Err(no_text(op, "is unknown here and")),
        },
    }
}

/// Returns the flags of an instruction, each behind a space.
pub(super) fn flags(m: &Module, op: OpRef<'_>) -> String {
    let mut text = String::new();
    for (name, word) in [("isDisjoint", "disjoint"), ("nonNeg", "nneg")] {
        if op.attr(name).is_some() {
            let _ = write!(text, " {word}");
        }
    }
    let overflow = op.attr("overflowFlags").and_then(|o| OVERFLOW.value(&m.ctx, o)).unwrap_or(0);
    for (name, word) in [("nuw", " nuw"), ("nsw", " nsw")] {
        if OVERFLOW.value_of(name).is_some_and(|bit| overflow & bit != 0) {
            text.push_str(word);
        }
    }
    if op.attr("isExact").is_some() {
        text.push_str(" exact");
    }
    text.push_str(&fastmath(m, op));
    text
}

/// Fast-math flags, each behind a space.
pub(super) fn fastmath(m: &Module, op: OpRef<'_>) -> String {
    let value = op.attr("fastmathFlags").and_then(|f| FASTMATH.value(&m.ctx, f)).unwrap_or(0);
    if FASTMATH.value_of("fast") == Some(value) {
        return " fast".to_owned();
    }
    ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"]
        .into_iter()
        .filter(|name| FASTMATH.value_of(name).is_some_and(|bit| value & bit != 0))
        .map(|name| format!(" {name}"))
        .collect()
}

fn binary(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, mnemonic: &str) -> Line {
    let (lhs, rhs) = (f.typed_operand(m, op, op.operand(0))?, f.operand(m, op.operand(1))?);
    Ok(format!("{mnemonic}{} {lhs}, {rhs}", flags(m, op)))
}

fn compare(m: &mut Module, f: &Function<'_>, op: OpRef<'_>, mnemonic: &str) -> Line {
    let table = if mnemonic == "icmp" { &ICMP_PREDICATE } else { &FCMP_PREDICATE };
    let predicate = op.attr("predicate").and_then(|p| table.value(&m.ctx, p)).and_then(|p| table.text_of(p));
    let predicate = predicate.ok_or_else(|| no_text(op, "without a predicate"))?;
    let (lhs, rhs) = (f.typed_operand(m, op, op.operand(0))?, f.operand(m, op.operand(1))?);
    let same_sign = if op.attr(SAME_SIGN).is_some() { " samesign" } else { "" };
    Ok(format!("{mnemonic}{}{same_sign} {} {lhs}, {rhs}", flags(m, op), predicate.trim_start_matches('_')))
}

// Memory.

/// `, align n`.
fn alignment(m: &Module, op: OpRef<'_>) -> String {
    match op.attr("alignment").and_then(|a| a.as_int(&m.ctx)) {
        Some(n) if n > 0 => format!(", align {n}"),
        _ => String::new(),
    }
}

fn ordering(m: &Module, op: OpRef<'_>) -> Option<String> {
    ordering_called(m, op, "ordering")
}

fn ordering_called(m: &Module, op: OpRef<'_>, name: &str) -> Option<String> {
    let value = ATOMIC_ORDERING.value(&m.ctx, op.attr(name)?)?;
    if value == 0 { None } else { ATOMIC_ORDERING.text_of(value) }
}

fn syncscope(m: &Module, op: OpRef<'_>) -> String {
    match op.attr("syncscope").and_then(|s| s.as_str(&m.ctx)) {
        Some(scope) if !scope.is_empty() => format!(" syncscope({})", quoted(scope.as_bytes())),
        _ => String::new(),
    }
}

fn volatile(op: OpRef<'_>) -> &'static str {
    if op.attr("volatile_").is_some() { " volatile" } else { "" }
}

/// Returns the metadata of an access.
fn access_metadata(m: &mut Module, op: OpRef<'_>) -> String {
    let mut text = String::new();
    if op.attr("nontemporal").is_some() {
        let _ = write!(text, ", !nontemporal !{}", m.metadata.node("!{i32 1}"));
    }
    for (name, kind) in [("invariant", "invariant.load"), ("invariantGroup", "invariant.group")] {
        if op.attr(name).is_some() {
            let _ = write!(text, ", !{kind} !{}", m.metadata.node("!{}"));
        }
    }
    text
}

/// Returns the tail of a load or store.
fn access_tail(m: &mut Module, op: OpRef<'_>) -> String {
    let order = match ordering(m, op) {
        Some(order) => format!("{} {order}", syncscope(m, op)),
        None => String::new(),
    };
    format!("{order}{}{}{}", alignment(m, op), access_metadata(m, op), scopes::of_access(m, op))
}

fn load(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let atomic = if ordering(m, op).is_some() { " atomic" } else { "" };
    let ty = type_text(m, op, op.result_type(0))?;
    let address = f.typed_operand(m, op, op.operand(0))?;
    Ok(format!("load{atomic}{} {ty}, {address}{}", volatile(op), access_tail(m, op)))
}

fn store(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let atomic = if ordering(m, op).is_some() { " atomic" } else { "" };
    let (value, address) = (f.typed_operand(m, op, op.operand(0))?, f.typed_operand(m, op, op.operand(1))?);
    Ok(format!("store{atomic}{} {value}, {address}{}", volatile(op), access_tail(m, op)))
}

fn alloca(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ty =
        op.attr("elem_type").and_then(|t| t.as_type(&m.ctx)).ok_or_else(|| no_text(op, "without a type"))?;
    let ty = type_text(m, op, ty)?;
    let inalloca = if op.attr("inalloca").is_some() { " inalloca" } else { "" };
    let count = f.typed_operand(m, op, op.operand(0))?;
    let space = match op.result_type(0).dialect_params(&m.ctx, "llvm.ptr") {
        Some([space]) => space.as_int(&m.ctx).map(|n| format!(", addrspace({n})")).unwrap_or_default(),
        _ => String::new(),
    };
    Ok(format!("alloca{inalloca} {ty}, {count}{}{space}", alignment(m, op)))
}

/// Returns the flags of an address computation, each before a space.
pub(super) fn gep_flags(value: Option<i64>) -> String {
    let value = value.unwrap_or(0);
    let mut text = String::new();
    // `inbounds` implies `nusw`.
    match value & 3 {
        0 => {}
        2 => text.push_str("nusw "),
        _ => text.push_str("inbounds "),
    }
    if value & 4 != 0 {
        text.push_str("nuw ");
    }
    text
}

fn gep(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ctx = m.ctx.clone();
    let ty =
        op.attr("elem_type").and_then(|t| t.as_type(&ctx)).ok_or_else(|| no_text(op, "without a type"))?;
    let ty = type_text(m, op, ty)?;
    let flags = gep_flags(op.attr("noWrapFlags").and_then(|n| n.as_int(&ctx)));
    let mut text = format!("getelementptr {flags}{ty}, {}", f.typed_operand(m, op, op.operand(0))?);
    let mut dynamic = op.operands().skip(1);
    for index in op.attr("rawConstantIndices").and_then(|i| i.as_dense_ints(&ctx)).unwrap_or_default() {
        let index = match index {
            DYNAMIC_INDEX => {
                let value = dynamic.next().ok_or_else(|| no_text(op, "short of an index"))?;
                f.typed_operand(m, op, value)?
            }
            known => format!("i32 {known}"),
        };
        let _ = write!(text, ", {index}");
    }
    Ok(text)
}

fn atomicrmw(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let bin_op =
        op.attr("bin_op").and_then(|b| ATOMIC_BIN_OP.value(&m.ctx, b)).and_then(|b| ATOMIC_BIN_OP.text_of(b));
    let bin_op = bin_op.ok_or_else(|| no_text(op, "without an operation"))?;
    let (address, value) = (f.typed_operand(m, op, op.operand(0))?, f.typed_operand(m, op, op.operand(1))?);
    let order = ordering(m, op).ok_or_else(|| no_text(op, "without an ordering"))?;
    Ok(format!(
        "atomicrmw{} {} {address}, {value}{} {order}{}",
        volatile(op),
        bin_op.trim_start_matches('_'),
        syncscope(m, op),
        alignment(m, op)
    ))
}

fn cmpxchg(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let mut operands = Vec::with_capacity(3);
    for operand in op.operands() {
        operands.push(f.typed_operand(m, op, operand)?);
    }
    let order = |name| ordering_called(m, op, name).ok_or_else(|| no_text(op, "without an ordering"));
    Ok(format!(
        "cmpxchg{}{} {}{} {} {}{}",
        if op.attr("weak").is_some() { " weak" } else { "" },
        volatile(op),
        operands.join(", "),
        syncscope(m, op),
        order("success_ordering")?,
        order("failure_ordering")?,
        alignment(m, op)
    ))
}

fn shuffle(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let mask = op.attr("mask").and_then(|mask| mask.as_dense_ints(&m.ctx)).unwrap_or_default();
    let scales = match op.operand_type(0).kind(&m.ctx) {
        TypeKind::Vector { scalable, .. } => scalable.first() == Some(&true),
        _ => false,
    };
    let (a, b) = (f.typed_operand(m, op, op.operand(0))?, f.typed_operand(m, op, op.operand(1))?);
    let vscale = if scales { "vscale x " } else { "" };
    let lanes = if mask.iter().all(|lane| *lane == -1) {
        "poison".to_owned()
    } else if mask.iter().all(|lane| *lane == 0) {
        "zeroinitializer".to_owned()
    } else {
        let lanes: Vec<String> = mask
            .iter()
            .map(|lane| if *lane < 0 { "i32 poison".to_owned() } else { format!("i32 {lane}") })
            .collect();
        format!("<{}>", lanes.join(", "))
    };
    Ok(format!("shufflevector {a}, {b}, <{vscale}{} x i32> {lanes}", mask.len()))
}

// Branches.

/// `, !prof !n` of branch weights.
fn weights(m: &mut Module, op: OpRef<'_>) -> String {
    let Some(weights) = op.attr("branch_weights").and_then(|w| w.as_dense_ints(&m.ctx)) else {
        return String::new();
    };
    let mut node = "!{!\"branch_weights\"".to_owned();
    for weight in weights {
        let _ = write!(node, ", i32 {}", (weight as i32).cast_unsigned());
    }
    node.push('}');
    format!(", !prof !{}", m.metadata.node(&node))
}

fn cond_br(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let condition = f.typed_operand(m, op, op.operand(0))?;
    let mut text = format!("br {condition}");
    for (index, target) in op.successors().enumerate() {
        let _ = write!(text, ", {}", f.label(op, index, target));
    }
    text.push_str(&weights(m, op));
    text.push_str(&annotation(m, op));
    if op.attr(CHECK).is_some() && kept_metadata(op, CHECK).is_none() {
        let _ = write!(text, ", !{CHECK} !{}", m.metadata.node("!{}"));
    }
    Ok(text)
}

/// `, !llvm.loop !n` of an annotation of a loop and of its marks, as far as they have a text.
fn annotation(m: &mut Module, op: OpRef<'_>) -> String {
    let nodes = match op.attr(loops::ANNOTATION).map(|attr| attr.kind(&m.ctx)) {
        Some(AttrKind::Opaque { body, .. }) => loops::nodes(body),
        _ => None,
    };
    let is_kept = kept_metadata(op, "llvm.loop").is_some();
    let all = op.attributes().entries(&m.ctx).iter().map(|(name, own)| (m.ctx.str(*name), own));
    let marks = all.filter(|(name, _)| OF_LOOPS.contains(name));
    let marks = marks.map(|(name, own)| match own.as_str(&m.ctx) {
        Some(text) => format!("!{{!\"{name}\", !{}}}", quoted(text.as_bytes())),
        None => format!("!{{!\"{name}\"}}"),
    });
    let marks: Vec<String> = marks.collect();
    if is_kept || (nodes.is_none() && marks.is_empty()) {
        return String::new();
    }
    let nodes = [nodes.unwrap_or_default(), marks].concat();
    format!(", !llvm.loop !{}", m.metadata.of_loop(&nodes))
}

fn switch(m: &mut Module, f: &Function<'_>, op: OpRef<'_>) -> Line {
    let ctx = m.ctx.clone();
    let value = f.typed_operand(m, op, op.operand(0))?;
    let ty = op.operand_type(0);
    let ty_text = type_text(m, op, ty)?;
    let mut successors = op.successors().enumerate();
    let (_, default) = successors.next().ok_or_else(|| no_text(op, "without a target"))?;
    let mut text = format!("switch {value}, {} [\n", f.label(op, 0, default));
    let cases = match op.attr("case_values").map(|c| c.kind(&ctx)) {
        Some(AttrKind::DenseElements { ty, splat, bytes }) => {
            let element = ty.element(&ctx).unwrap_or(*ty);
            let width = element.integer_width(&ctx).unwrap_or(64).div_ceil(8).clamp(1, 16) as usize;
            let sign = |chunk: &[u8]| {
                let mut wide = if chunk.last().is_some_and(|b| b & 0x80 != 0) { [0xff; 16] } else { [0; 16] };
                wide[..chunk.len()].copy_from_slice(chunk);
                i128::from_le_bytes(wide)
            };
            let mut cases: Vec<i128> = bytes.chunks_exact(width).map(sign).collect();
            if *splat {
                cases = vec![cases.first().copied().unwrap_or(0); op.successors().len() - 1];
            }
            cases
        }
        _ => Vec::new(),
    };
    for ((index, target), case) in successors.zip(cases) {
        let case =
            if ty.integer_width(&ctx) == Some(1) { (case & 1 == 1).to_string() } else { case.to_string() };
        let _ = writeln!(text, "    {ty_text} {case}, {}", f.label(op, index, target));
    }
    let _ = write!(text, "  ]{}", weights(m, op));
    Ok(text)
}

/// True if the first operand is a pointer to call.
pub(super) fn calls_pointer(m: &Module, op: OpRef<'_>) -> bool {
    op.attr("callee").is_none() && op.num_operands() > 0 && is_pointer(&m.ctx, op.operand_type(0))
}
