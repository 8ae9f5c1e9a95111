//! Changed functions in the text that a module was read from.
//!
//! The text of each changed function takes the place of its old definition. Symbols and nodes of
//! metadata that the new text adds come at the end, with numbers that are free in the old text.
//! Everything else is byte for byte the old text: other functions with their attribute groups,
//! debug locations and records, variables, comments. Only orders of uses at the top of the module
//! go, because they count uses. Linear in the text and in the module.

use std::ops::Range;

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Body, Diagnostics, Name, OpRef};

use super::{Module, write_symbol};
use crate::ll::read::Outline;

/// Returns the text `source` of a module with the current text of the `changed` functions, and with
/// symbols that are new. `module` was read from `source`.
///
/// # Errors
/// Constructs of these functions and symbols without text.
pub fn splice(source: &str, module: &Body, changed: &[Name]) -> Result<String, Diagnostics> {
    let outline = Outline::of(source);
    let changed: HashSet<Name> = changed.iter().copied().collect();
    let mut m = Module::behind(module, &outline);
    let (mut functions, mut added) = (Vec::new(), String::new());
    let mut diagnostics = Diagnostics::new();
    for op in top(module) {
        let Some(name) = symbol_name(op.body(), op.op()) else { continue };
        let old = outline.definitions.get(module.ctx().str(name)).filter(|_| changed.contains(&name));
        let is_new = !outline.symbols.contains(module.ctx().str(name)) && !op.is(llvm::ComdatOp::DEF);
        if old.is_none() && !is_new {
            continue;
        }
        let (mut variable, mut function) = (String::new(), String::new());
        if let Err(errors) = write_symbol(&mut m, op, &mut variable, &mut function) {
            diagnostics.append(errors);
        }
        match old {
            Some(old) => functions.push((old.clone(), function)),
            None => added.extend([variable, function]),
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    functions.extend(outline.use_orders.into_iter().map(|old| (old, String::new())));
    let mut text = replaced(source, functions);
    text.push_str(&added);
    m.leave_undeclared(source);
    m.write_tail(&mut text);
    Ok(text)
}

/// Returns the operations directly in a module.
fn top(module: &Body) -> impl Iterator<Item = OpRef<'_>> {
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    blocks.flat_map(|block| module.ops(block)).map(|op| module.op_ref(op))
}

/// Returns a text with other text in place of some parts, which are apart.
fn replaced(source: &str, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_unstable_by_key(|(old, _)| old.start);
    let (mut text, mut from) = (String::with_capacity(source.len()), 0);
    for (old, new) in parts {
        text.push_str(&source[from..old.start]);
        text.push_str(new.trim_matches('\n'));
        from = old.end;
    }
    text.push_str(&source[from..]);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
