//! The text of an instruction: everything behind `%n = `.

use std::fmt::Write;

use loomir_dialects::llvm::SAME_SIGN;
use loomir_dialects::llvm::attributes::{ATOMIC_BIN_OP, ATOMIC_ORDERING, FCMP_PREDICATE, ICMP_PREDICATE};
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_ir::{AttrKind, OpRef, TypeKind};
use loomir_transforms::marks::{CHECK, OF_LOOPS};

use super::constants::gep_flags;
use super::flags::flags;
use super::line::{Line, Written};
use super::names::quoted;
use super::{Module, calls, exceptions, metadata, no_text, scopes};
use crate::ll::{SWIFT_ERROR, kept_metadata, loops};

/// Writes an instruction.
pub(super) fn write(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let Some(mnemonic) = op.name().strip_prefix("llvm.") else {
        return Err(no_text(op, "is not of the llvm dialect and").help("run convert-to-llvm first"));
    };
    match mnemonic {
        "add" | "sub" | "mul" | "shl" | "udiv" | "sdiv" | "lshr" | "ashr" | "or" | "and" | "xor" | "urem"
        | "srem" | "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => {
            with_flags(line, op, mnemonic);
            pair(line, op)
        }
        "icmp" | "fcmp" => compare(line, op, mnemonic),
        "fneg" | "freeze" | "select" => {
            with_flags(line, op, mnemonic);
            line.all_typed(op, 0..op.num_operands())
        }
        "extractelement" | "insertelement" => {
            line.put(mnemonic);
            line.put(" ");
            line.all_typed(op, 0..op.num_operands())
        }
        "trunc" | "zext" | "sext" | "fptrunc" | "fpext" | "fptoui" | "fptosi" | "uitofp" | "sitofp"
        | "ptrtoint" | "inttoptr" | "bitcast" | "addrspacecast" => {
            with_flags(line, op, mnemonic);
            line.typed(op, 0)?;
            line.put(" to ");
            line.ty(op, op.result_type(0))
        }
        "alloca" => alloca(line, op),
        "load" => load(line, op),
        "store" => store(line, op),
        "getelementptr" => gep(line, op),
        "atomicrmw" => atomicrmw(line, op),
        "cmpxchg" => cmpxchg(line, op),
        "va_arg" => {
            line.put("va_arg ");
            line.typed(op, 0)?;
            line.put(", ");
            line.ty(op, op.result_type(0))
        }
        "fence" => fence(line, op),
        "shufflevector" => shuffle(line, op),
        "extractvalue" | "insertvalue" => part(line, op, mnemonic),
        "br" => {
            line.put("br ");
            line.target(op, 0)?;
            annotation(line, op);
            Ok(())
        }
        "cond_br" => cond_br(line, op),
        "switch" => switch(line, op),
        "return" if op.num_operands() > 0 => {
            line.put("ret ");
            line.typed(op, 0)
        }
        "return" => {
            line.put("ret void");
            Ok(())
        }
        "unreachable" => {
            line.put("unreachable");
            Ok(())
        }
        "invoke" | "landingpad" | "resume" | "indirectbr" | "catchpad" | "cleanuppad" | "catchswitch"
        | "catchret" | "cleanupret" => exceptions::write(line, op, mnemonic),
        "callbr" => calls::inline_asm(line, op),
        "call" => calls::call(line, op),
        "call_intrinsic" => calls::call_intrinsic(line, op),
        "inline_asm" => calls::inline_asm(line, op),
        _ => match mnemonic.strip_prefix("intr.") {
            Some(intrinsic) => calls::intrinsic(line, op, intrinsic),
            None => Err(no_text(op, "is unknown here and")),
        },
    }
}

/// Writes a mnemonic with the flags of its instruction, and a space.
fn with_flags(line: &mut Line<'_>, op: OpRef<'_>, mnemonic: &str) {
    line.put(mnemonic);
    flags(line, op);
    line.put(" ");
}

/// Writes two operands of one type, which is written once.
fn pair(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    line.typed(op, 0)?;
    line.put(", ");
    line.operand(op, 1)
}

fn compare(line: &mut Line<'_>, op: OpRef<'_>, mnemonic: &str) -> Written {
    let table = if mnemonic == "icmp" { &ICMP_PREDICATE } else { &FCMP_PREDICATE };
    let predicate = op.attr("predicate").and_then(|p| table.value(&line.m.ctx, p));
    let predicate = predicate.and_then(|p| table.text_of(p));
    let predicate = predicate.ok_or_else(|| no_text(op, "without a predicate"))?;
    line.put(mnemonic);
    flags(line, op);
    line.put(if op.attr(SAME_SIGN).is_some() { " samesign " } else { " " });
    line.put(predicate.trim_start_matches('_'));
    line.put(" ");
    pair(line, op)
}

// Memory.

/// Writes `, align n`.
fn alignment(line: &mut Line<'_>, op: OpRef<'_>) {
    let alignment = op.attr("alignment").and_then(|a| a.as_int(&line.m.ctx));
    if let Some(bytes) = alignment.filter(|bytes| *bytes > 0) {
        line.put(", align ");
        line.number(bytes);
    }
}

fn ordering(m: &Module, op: OpRef<'_>) -> Option<String> {
    ordering_called(m, op, "ordering")
}

fn ordering_called(m: &Module, op: OpRef<'_>, name: &str) -> Option<String> {
    let value = ATOMIC_ORDERING.value(&m.ctx, op.attr(name)?)?;
    if value == 0 { None } else { ATOMIC_ORDERING.text_of(value) }
}

/// Writes ` syncscope("…")`.
fn syncscope(line: &mut Line<'_>, op: OpRef<'_>) {
    let scope = op.attr("syncscope").and_then(|s| s.as_str(&line.m.ctx));
    if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
        let _ = write!(line.text, " syncscope({})", quoted(scope.as_bytes()));
    }
}

fn volatile(op: OpRef<'_>) -> &'static str {
    if op.attr("volatile_").is_some() { " volatile " } else { " " }
}

/// Writes the metadata of an access.
fn access_metadata(line: &mut Line<'_>, op: OpRef<'_>) {
    let kinds = [
        ("nontemporal", "nontemporal", "!{i32 1}"),
        ("invariant", "invariant.load", "!{}"),
        ("invariantGroup", "invariant.group", "!{}"),
    ];
    for (name, kind, node) in kinds {
        if op.attr(name).is_some() {
            let _ = write!(line.text, ", !{kind} !{}", line.m.metadata.node(node));
        }
    }
}

/// Writes the mnemonic of a load or store.
fn access(line: &mut Line<'_>, op: OpRef<'_>, mnemonic: &str) {
    line.put(mnemonic);
    line.put(if ordering(line.m, op).is_some() { " atomic" } else { "" });
    line.put(volatile(op));
}

/// Writes the tail of a load or store.
fn access_tail(line: &mut Line<'_>, op: OpRef<'_>) {
    if let Some(order) = ordering(line.m, op) {
        syncscope(line, op);
        line.put(" ");
        line.put(&order);
    }
    alignment(line, op);
    access_metadata(line, op);
    scopes::write(line, op);
}

fn load(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    access(line, op, "load");
    line.ty(op, op.result_type(0))?;
    line.put(", ");
    line.typed(op, 0)?;
    access_tail(line, op);
    Ok(())
}

fn store(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    access(line, op, "store");
    line.all_typed(op, [0, 1])?;
    access_tail(line, op);
    Ok(())
}

fn alloca(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let ty = op.attr("elem_type").and_then(|t| t.as_type(&line.m.ctx));
    let ty = ty.ok_or_else(|| no_text(op, "without a type"))?;
    line.put(if op.attr("inalloca").is_some() { "alloca inalloca " } else { "alloca " });
    line.put(if op.attr(SWIFT_ERROR).is_some() { "swifterror " } else { "" });
    line.ty(op, ty)?;
    line.put(", ");
    line.typed(op, 0)?;
    alignment(line, op);
    if let Some([space]) = op.result_type(0).dialect_params(&line.m.ctx, "llvm.ptr")
        && let Some(space) = space.as_int(&line.m.ctx)
    {
        let _ = write!(line, ", addrspace({space})");
    }
    Ok(())
}

fn gep(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let ty = op.attr("elem_type").and_then(|t| t.as_type(&line.m.ctx));
    let ty = ty.ok_or_else(|| no_text(op, "without a type"))?;
    line.put("getelementptr ");
    line.put(gep_flags(op.attr("noWrapFlags").and_then(|n| n.as_int(&line.m.ctx))));
    line.ty(op, ty)?;
    line.put(", ");
    line.typed(op, 0)?;
    let mut dynamic = 1..op.num_operands();
    let indices = op.attr("rawConstantIndices").and_then(|i| i.as_dense_ints(&line.m.ctx));
    for index in indices.unwrap_or_default() {
        line.put(", ");
        if index == DYNAMIC_INDEX {
            let operand = dynamic.next().ok_or_else(|| no_text(op, "short of an index"))?;
            line.typed(op, operand)?;
        } else {
            line.put("i32 ");
            line.number(index);
        }
    }
    Ok(())
}

fn atomicrmw(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let bin_op = op.attr("bin_op").and_then(|b| ATOMIC_BIN_OP.value(&line.m.ctx, b));
    let bin_op = bin_op.and_then(|b| ATOMIC_BIN_OP.text_of(b));
    let bin_op = bin_op.ok_or_else(|| no_text(op, "without an operation"))?;
    let order = ordering(line.m, op).ok_or_else(|| no_text(op, "without an ordering"))?;
    let _ = write!(line, "atomicrmw{}{} ", volatile(op), bin_op.trim_start_matches('_'));
    line.all_typed(op, [0, 1])?;
    syncscope(line, op);
    let _ = write!(line, " {order}");
    alignment(line, op);
    Ok(())
}

fn cmpxchg(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let order = |m: &Module, name| ordering_called(m, op, name);
    let orders = (order(line.m, "success_ordering"), order(line.m, "failure_ordering"));
    let (Some(success), Some(failure)) = orders else { return Err(no_text(op, "without an ordering")) };
    line.put(if op.attr("weak").is_some() { "cmpxchg weak" } else { "cmpxchg" });
    line.put(volatile(op));
    line.all_typed(op, 0..op.num_operands())?;
    syncscope(line, op);
    let _ = write!(line, " {success} {failure}");
    alignment(line, op);
    Ok(())
}

fn fence(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    line.put("fence");
    syncscope(line, op);
    line.put(" ");
    line.put(&ordering(line.m, op).unwrap_or_default());
    Ok(())
}

// Parts of values.

/// Writes an operation on a part of an aggregate.
fn part(line: &mut Line<'_>, op: OpRef<'_>, mnemonic: &str) -> Written {
    line.put(mnemonic);
    line.put(" ");
    line.all_typed(op, 0..op.num_operands())?;
    for index in op.attr("position").and_then(|p| p.as_dense_ints(&line.m.ctx)).unwrap_or_default() {
        line.put(", ");
        line.number(index);
    }
    Ok(())
}

fn shuffle(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let mask = op.attr("mask").and_then(|mask| mask.as_dense_ints(&line.m.ctx)).unwrap_or_default();
    let scales = match op.operand_type(0).kind(&line.m.ctx) {
        TypeKind::Vector { scalable, .. } => scalable.first() == Some(&true),
        _ => false,
    };
    line.put("shufflevector ");
    line.all_typed(op, [0, 1])?;
    let _ = write!(line, ", <{}{} x i32> ", if scales { "vscale x " } else { "" }, mask.len());
    if mask.iter().all(|lane| *lane == -1) {
        line.put("poison");
    } else if mask.iter().all(|lane| *lane == 0) {
        line.put("zeroinitializer");
    } else {
        for (index, lane) in mask.iter().enumerate() {
            line.put(if index == 0 { "<i32 " } else { ", i32 " });
            match *lane {
                ..0 => line.put("poison"),
                known => line.number(known),
            }
        }
        line.put(">");
    }
    Ok(())
}

// Branches.

fn cond_br(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    line.put("br ");
    line.typed(op, 0)?;
    for index in 0..op.successors().len() {
        line.put(", ");
        line.target(op, index)?;
    }
    metadata::weights(line, op);
    annotation(line, op);
    if op.attr(CHECK).is_some() && kept_metadata(op, CHECK).is_none() {
        let _ = write!(line.text, ", !{CHECK} !{}", line.m.metadata.node("!{}"));
    }
    Ok(())
}

/// Writes `, !llvm.loop !n` of an annotation of a loop and of its marks, as far as they have a
/// text.
fn annotation(line: &mut Line<'_>, op: OpRef<'_>) {
    let ctx = &line.m.ctx;
    let nodes = match op.attr(loops::ANNOTATION).map(|attr| attr.kind(ctx)) {
        Some(AttrKind::Opaque { body, .. }) => loops::nodes(body),
        _ => None,
    };
    let is_kept = kept_metadata(op, "llvm.loop").is_some();
    let all = op.attributes().entries(ctx).iter().map(|(name, own)| (ctx.str(*name), own));
    let marks = all.filter(|(name, _)| OF_LOOPS.contains(name));
    let marks = marks.map(|(name, own)| match own.as_str(ctx) {
        Some(text) => format!("!{{!\"{name}\", !{}}}", quoted(text.as_bytes())),
        None => format!("!{{!\"{name}\"}}"),
    });
    let marks: Vec<String> = marks.collect();
    if is_kept || (nodes.is_none() && marks.is_empty()) {
        return;
    }
    let nodes = [nodes.unwrap_or_default(), marks].concat();
    let places = kept_metadata(op, loops::PLACES).and_then(|places| places.as_str(ctx));
    let number = line.m.metadata.of_loop(places, &nodes);
    let _ = write!(line.text, ", !llvm.loop !{number}");
}

fn switch(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    let ctx = line.m.ctx.clone();
    let ty = op.operand_type(0);
    line.put("switch ");
    line.typed(op, 0)?;
    line.put(", ");
    line.target(op, 0)?;
    line.put(" [\n");
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
    for (index, case) in (1..op.successors().len()).zip(cases) {
        line.put("    ");
        line.ty(op, ty)?;
        line.put(" ");
        match ty.integer_width(&ctx) {
            Some(1) => line.put(if case & 1 == 1 { "true" } else { "false" }),
            _ => line.number(case),
        }
        line.put(", ");
        line.target(op, index)?;
        line.put("\n");
    }
    line.put("  ]");
    metadata::weights(line, op);
    Ok(())
}
