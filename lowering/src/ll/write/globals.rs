//! Global variables, aliases and comdat selectors.

use std::fmt::Write;

use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::COMDAT;
use loomir_ir::{Diagnostic, OpRef};

use super::names::{quoted, symbol};
use super::words::{comdat, linkage_words, unnamed_addr};
use super::{Module, attributes, constants, metadata, no_text, type_text};
use crate::ll::{PARTITION, THREAD_LOCAL_MODEL, VARIABLE_WORDS};

/// Writes `@name = …`.
pub(super) fn write_global(m: &mut Module, op: OpRef<'_>, text: &mut String) -> Result<(), Diagnostic> {
    let ctx = m.ctx.clone();
    let name = op.attr("sym_name").and_then(|n| n.as_str(&ctx)).unwrap_or_default();
    let ty =
        op.attr("global_type").and_then(|t| t.as_type(&ctx)).ok_or_else(|| no_text(op, "without a type"))?;
    let ty_text = type_text(m, op, ty)?;
    let has_region = op.regions().any(|region| op.body().entry_block(region).is_some());
    let value = match op.attr("value") {
        _ if has_region => Some(constants::initializer(m, op)?),
        Some(value) => {
            let text = constants::constant(m, value, ty);
            Some(text.ok_or_else(|| no_text(op, "with this initial value"))?)
        }
        None => None,
    };
    let mut line = format!("{} =", m.symbol(name));
    let words = linkage_words(m, op);
    // A variable without a value is defined elsewhere, and must say so.
    let is_no_linkage =
        |word: &String| matches!(&**word, "dso_local" | "hidden" | "protected" | "dllimport" | "dllexport");
    if value.is_none() && words.first().is_none_or(is_no_linkage) {
        line.push_str(" external");
    }
    for word in words {
        let _ = write!(line, " {word}");
    }
    line.push_str(&thread_local(m, op));
    if let Some(word) = unnamed_addr(m, op) {
        let _ = write!(line, " {word}");
    }
    if let Some(space) = op.attr("addr_space").and_then(|s| s.as_int(&ctx)).filter(|s| *s != 0) {
        let _ = write!(line, " addrspace({space})");
    }
    if op.attr("externally_initialized").is_some() {
        line.push_str(" externally_initialized");
    }
    line.push_str(if op.attr("constant").is_some() { " constant" } else { " global" });
    let _ = write!(line, " {ty_text}");
    if let Some(value) = value {
        let _ = write!(line, " {value}");
    }
    if let Some(section) = op.attr("section").and_then(|s| s.as_str(&ctx)) {
        let _ = write!(line, ", section {}", quoted(section.as_bytes()));
    }
    if let Some(partition) = op.attr(PARTITION).and_then(|p| p.as_str(&ctx)) {
        let _ = write!(line, ", partition {}", quoted(partition.as_bytes()));
    }
    if let Some(alignment) = op.attr("alignment").and_then(|a| a.as_int(&ctx)) {
        let _ = write!(line, ", align {alignment}");
    }
    line.push_str(&comdat(m, op, ", "));
    for word in op.attr(VARIABLE_WORDS).and_then(|words| words.as_array(&ctx)).unwrap_or_default() {
        let _ = write!(line, ", {}", word.as_str(&ctx).unwrap_or_default());
    }
    metadata::write_attached(&mut line, &ctx, op, ",");
    for attr in attributes::passed_through(m, op, "target_specific_attrs") {
        let _ = write!(line, " {attr}");
    }
    let _ = writeln!(text, "{line}");
    Ok(())
}

/// ` thread_local`, with the model if one is given.
fn thread_local(m: &Module, op: OpRef<'_>) -> String {
    match op.attr(THREAD_LOCAL_MODEL).and_then(|model| model.as_str(&m.ctx)) {
        Some(model) => format!(" thread_local({model})"),
        None if op.attr("thread_local_").is_some() => " thread_local".to_owned(),
        None => String::new(),
    }
}

/// Writes `@name = alias …` or `@name = ifunc …`.
pub(super) fn write_alias(m: &mut Module, op: OpRef<'_>, text: &mut String) -> Result<(), Diagnostic> {
    let ctx = m.ctx.clone();
    let is_alias = op.is(llvm::AliasOp::DEF);
    let name = op.attr("sym_name").and_then(|n| n.as_str(&ctx)).unwrap_or_default();
    let mut line = format!("{} =", m.symbol(name));
    for word in linkage_words(m, op) {
        let _ = write!(line, " {word}");
    }
    line.push_str(&thread_local(m, op));
    if let Some(word) = unnamed_addr(m, op) {
        let _ = write!(line, " {word}");
    }
    let ty = |m: &mut Module, name: &str| {
        let ty =
            op.attr(name).and_then(|ty| ty.as_type(&ctx)).ok_or_else(|| no_text(op, "without a type"))?;
        type_text(m, op, ty)
    };
    let (keyword, of, address, value) = if is_alias {
        let returned = op.body().entry_block(op.region(0)).and_then(|block| op.body().last_op(block));
        let returned = returned.and_then(|op_| op.body().operands(op_).next());
        let returned = returned.ok_or_else(|| no_text(op, "without an address"))?;
        let address = type_text(m, op, op.type_of(returned))?;
        ("alias", ty(m, "alias_type")?, address, constants::initializer(m, op)?)
    } else {
        let resolver = op.attr("resolver").and_then(|name| name.as_flat_symbol(&ctx));
        let resolver = resolver.map(|name| m.symbol(ctx.str(name))).unwrap_or_default();
        ("ifunc", ty(m, "i_func_type")?, ty(m, "resolver_type")?, resolver)
    };
    let _ = writeln!(text, "\n{line} {keyword} {of}, {address} {value}");
    Ok(())
}

/// Writes the selectors of a table.
pub(super) fn write_comdats(m: &Module, table: OpRef<'_>, text: &mut String) {
    let body = table.body();
    for op in table.regions().flat_map(|region| body.blocks(region)).flat_map(|block| body.ops(block)) {
        let op = OpRef::new(body, op);
        let name = op.attr("sym_name").and_then(|name| name.as_str(&m.ctx)).unwrap_or_default();
        let kind = op.attr("comdat").and_then(|kind| COMDAT.value(&m.ctx, kind));
        let kind = kind.and_then(|kind| COMDAT.text_of(kind)).unwrap_or_default();
        let _ = write!(text, "\n{} = comdat {kind}\n", symbol('$', name));
    }
}
