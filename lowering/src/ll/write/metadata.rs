//! Metadata: nodes kept as they were read, and nodes made here.

use std::fmt::Write;

use hashbrown::HashMap;
use loomir_ir::{AttrKind, Body, Context, OpRef};

use super::line::Line;
use crate::ll::METADATA;
use crate::ll::loops::PLACES;

/// The metadata of a module: its kept nodes, and nodes made while it is written. A new node has the
/// lowest free number.
#[derive(Default)]
pub(super) struct Nodes {
    /// Lists of nodes, a line each, behind an empty line.
    lists: String,
    /// Nodes by number.
    nodes: HashMap<usize, String>,
    /// The numbers of nodes that are not distinct, by their text, and of nodes of loops, by their
    /// properties.
    numbers: HashMap<String, usize>,
    /// No lower number is free.
    next: usize,
    /// Nodes with lower numbers and lists are not written, because they are in the text already.
    first: usize,
}

impl Nodes {
    /// Returns the kept nodes of a module.
    pub(super) fn kept(module: &Body) -> Nodes {
        let ctx = module.ctx();
        let mut kept = Nodes::default();
        for (name, text) in entries(ctx, module.root_ref()) {
            match name.parse() {
                Ok(number) => {
                    if !text.starts_with("distinct") {
                        kept.numbers.entry_ref(text).or_insert(number);
                    }
                    kept.nodes.insert(number, text.to_owned());
                }
                Err(_) => {
                    let separator = if kept.lists.is_empty() { "\n" } else { "" };
                    let _ = writeln!(kept.lists, "{separator}!{name} = {text}");
                }
            }
        }
        kept
    }

    /// Returns the kept nodes of a module whose text is there already. The number of each new node
    /// is at least `first`.
    pub(super) fn behind(module: &Body, first: usize) -> Nodes {
        Nodes { lists: String::new(), next: first, first, ..Nodes::kept(module) }
    }

    fn free(&mut self) -> usize {
        while self.nodes.contains_key(&self.next) {
            self.next += 1;
        }
        self.next
    }

    /// Returns the number of a node with this text.
    pub(super) fn node(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.free();
        self.nodes.insert(number, text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Returns the number of the node of loops with these properties. The node refers to itself, so
    /// that no other is equal to it.
    pub(super) fn of_loop(&mut self, places: Option<&str>, properties: &[String]) -> usize {
        let mut list = places.map_or(String::new(), |places| format!(", {places}"));
        list.extend(properties.iter().map(|property| format!(", !{}", self.node(property))));
        self.distinct(&list, &list)
    }

    /// Returns the number of the node of this key. It refers to itself, and then lists `others`,
    /// each behind a comma.
    pub(super) fn distinct(&mut self, key: &str, others: &str) -> usize {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.free();
        self.nodes.insert(number, format!("distinct !{{!{number}{others}}}"));
        self.numbers.insert(key.to_owned(), number);
        number
    }

    /// Everything, behind empty lines. Nodes are as `current` returns them.
    pub(super) fn write(&self, text: &mut String, current: &dyn Fn(&str) -> String) {
        text.push_str(&self.lists);
        let mut nodes: Vec<(&usize, &String)> =
            self.nodes.iter().filter(|(number, _)| **number >= self.first).collect();
        nodes.sort_unstable();
        for (i, (number, node)) in nodes.into_iter().enumerate() {
            let separator = if i == 0 { "\n" } else { "" };
            let _ = match node.contains('@') {
                true => writeln!(text, "{separator}!{number} = {}", current(node)),
                false => writeln!(text, "{separator}!{number} = {node}"),
            };
        }
    }
}

/// Writes the attachments of an operation, each after `separator` and a space.
pub(super) fn write_attached(text: &mut String, ctx: &Context, op: OpRef<'_>, separator: &str) {
    for (kind, node) in entries(ctx, op) {
        for part in [separator, " !", kind, " ", node] {
            text.push_str(part);
        }
    }
}

fn entries<'c>(ctx: &'c Context, op: OpRef<'_>) -> impl Iterator<Item = (&'c str, &'c str)> {
    let entries = match op.attr(METADATA).map(|attr| attr.kind(ctx)) {
        Some(AttrKind::Dictionary(dict)) => dict.entries(ctx),
        _ => &[],
    };
    let entries = entries.iter().filter_map(|(name, node)| Some((ctx.str(*name), node.as_str(ctx)?)));
    // The places of a loop are written with its properties.
    entries.filter(|(kind, _)| *kind != PLACES)
}

/// Writes `, !prof !n` of branch weights.
pub(super) fn weights(line: &mut Line<'_>, op: OpRef<'_>) {
    let weights = op.attr("branch_weights").and_then(|w| w.as_dense_ints(&line.m.ctx));
    let Some(weights) = weights else { return };
    let mut node = "!{!\"branch_weights\"".to_owned();
    for weight in weights {
        let _ = write!(node, ", i32 {}", (weight as i32).cast_unsigned());
    }
    node.push('}');
    let _ = write!(line.text, ", !prof !{}", line.m.metadata.node(&node));
}
