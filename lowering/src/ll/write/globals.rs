//! Global variables and comdat selectors.

use std::fmt::Write;

use loomir_dialects::llvm::attributes::COMDAT;
use loomir_ir::{AttrKind, Diagnostic, OpRef};

use super::function::{linkage_words, type_text, unnamed_addr};
use super::names::{quoted, symbol};
use super::{Module, constants, metadata, no_text};

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
    let mut line = format!("{} =", symbol('@', name));
    let words = linkage_words(m, op);
    // A variable without a value is defined elsewhere, and must say so.
    if value.is_none() && words.first().is_none_or(|w| w == "dso_local" || w == "hidden" || w == "protected")
    {
        line.push_str(" external");
    }
    for word in words {
        let _ = write!(line, " {word}");
    }
    if op.attr("thread_local_").is_some() {
        line.push_str(" thread_local");
    }
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
    if let Some(alignment) = op.attr("alignment").and_then(|a| a.as_int(&ctx)) {
        let _ = write!(line, ", align {alignment}");
    }
    line.push_str(&comdat(m, op, ", "));
    line.push_str(&metadata::attached(&ctx, op, ","));
    let _ = writeln!(text, "{line}");
    Ok(())
}

/// `comdat($name)` of a symbol behind `separator`, if it has one.
pub(super) fn comdat(m: &Module, op: OpRef<'_>, separator: &str) -> String {
    match op.attr("comdat").map(|attr| attr.kind(&m.ctx)) {
        Some(AttrKind::Symbol { nested, .. }) if !nested.is_empty() => {
            let name = m.ctx.str(nested[nested.len() - 1]);
            format!("{separator}comdat({})", symbol('$', name))
        }
        _ => String::new(),
    }
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
