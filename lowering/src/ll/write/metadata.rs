//! Metadata that was kept as it was read.

use std::fmt::Write;

use loomir_ir::{AttrKind, Body, Context, OpRef};

use crate::ll::METADATA;

/// The metadata of a module.
pub(super) struct Kept {
    /// Lists of nodes, a line each, behind an empty line.
    pub(super) lists: String,
    /// Nodes, a line each, in the order of their numbers.
    pub(super) nodes: String,
    /// The first number that no node has.
    pub(super) next: usize,
}

/// What a module keeps.
pub(super) fn of_module(module: &Body) -> Kept {
    let ctx = module.ctx();
    let mut kept = Kept { lists: String::new(), nodes: String::new(), next: 0 };
    let mut nodes: Vec<(usize, &str)> = Vec::new();
    for (name, text) in entries(ctx, module.root_ref()) {
        match name.parse() {
            Ok(number) => nodes.push((number, text)),
            Err(_) => {
                let _ =
                    write!(kept.lists, "{}!{name} = {text}", if kept.lists.is_empty() { "\n" } else { "" });
                kept.lists.push('\n');
            }
        }
    }
    nodes.sort_unstable();
    for (number, text) in nodes {
        let _ = writeln!(kept.nodes, "!{number} = {text}");
        kept.next = number + 1;
    }
    kept
}

/// What is attached to an operation, each behind `separator` and a space.
pub(super) fn attached(ctx: &Context, op: OpRef<'_>, separator: &str) -> String {
    let mut text = String::new();
    for (kind, node) in entries(ctx, op) {
        let _ = write!(text, "{separator} !{kind} {node}");
    }
    text
}

fn entries<'c>(ctx: &'c Context, op: OpRef<'_>) -> impl Iterator<Item = (&'c str, &'c str)> {
    let entries = match op.attr(METADATA).map(|attr| attr.kind(ctx)) {
        Some(AttrKind::Dictionary(dict)) => dict.entries(ctx),
        _ => &[],
    };
    entries.iter().filter_map(|(name, node)| Some((ctx.str(*name), node.as_str(ctx)?)))
}
