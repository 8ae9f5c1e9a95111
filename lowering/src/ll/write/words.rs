//! The words in front of and behind symbols, functions and calls.

use loomir_dialects::llvm::attributes::{CCONV, LINKAGE, UNNAMED_ADDR, VISIBILITY};
use loomir_ir::{AttrKind, OpRef};

use super::Module;
use super::names::symbol;
use crate::ll::{CALLING_CONVENTION, DLL_STORAGE};

/// Returns linkage, preemption and visibility of a symbol.
pub(super) fn linkage_words(m: &Module, op: OpRef<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let linkage = op.attr("linkage").and_then(|l| LINKAGE.value(&m.ctx, l)).and_then(|l| LINKAGE.text_of(l));
    words.extend(linkage.filter(|linkage| linkage != "external"));
    if op.attr("dso_local").is_some() {
        words.push("dso_local".to_owned());
    }
    let visibility = &VISIBILITY;
    let seen =
        op.attr("visibility_").and_then(|v| visibility.value(&m.ctx, v)).and_then(|v| visibility.text_of(v));
    words.extend(seen.filter(|word| !word.is_empty()));
    words.extend(op.attr(DLL_STORAGE).and_then(|word| word.as_str(&m.ctx)).map(str::to_owned));
    words
}

/// `unnamed_addr` or `local_unnamed_addr`.
pub(super) fn unnamed_addr(m: &Module, op: OpRef<'_>) -> Option<String> {
    let value = UNNAMED_ADDR.value(&m.ctx, op.attr("unnamed_addr")?)?;
    UNNAMED_ADDR.text_of(value).filter(|word| !word.is_empty())
}

/// Returns the keyword of a calling convention other than C's.
pub(super) fn calling_convention(m: &Module, op: OpRef<'_>) -> Option<String> {
    if let Some(number) = op.attr(CALLING_CONVENTION).and_then(|number| number.as_int(&m.ctx)) {
        return Some(format!("cc {number}"));
    }
    match CCONV.value(&m.ctx, op.attr("CConv")?)? {
        0 => None,
        number => match CCONV.text_of(number)?.as_str() {
            // The dialect lacks some of LLVM's words; numbers always work.
            word @ ("fastcc" | "coldcc" | "anyregcc" | "preserve_mostcc" | "preserve_allcc" | "swiftcc"
            | "tailcc" | "swifttailcc" | "cxx_fast_tlscc" | "cfguard_checkcc") => Some(word.to_owned()),
            _ => Some(format!("cc {number}")),
        },
    }
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
