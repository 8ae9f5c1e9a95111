//! Control flow as a graph in Graphviz's language. Each loop is a cluster.

use std::fmt::Write;

use super::{KINDS, Picture};

/// Quotes a name as a string of the language.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text + "\""
}

/// Returns the graph of a function.
pub(super) fn text(picture: &Picture) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&picture.name));
    let left_out = match picture.left_out {
        0 => String::new(),
        1 => ", without a block that nothing leads to".to_owned(),
        many => format!(", without {many} blocks that nothing leads to"),
    };
    let _ = writeln!(text, "  label={}; labelloc=t;", quoted(&format!("@{}{left_out}", picture.name)));
    text.push_str("  node [shape=box, style=filled, fillcolor=white];\n");
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); picture.loops.len() + 1];
    for (at, block) in picture.blocks.iter().enumerate() {
        members[block.home.map_or(0, |home| home + 1)].push(at);
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); picture.loops.len() + 1];
    for (at, nest) in picture.loops.iter().enumerate().rev() {
        children[nest.parent.map_or(0, |parent| parent + 1)].push(at);
    }
    // Clusters to open, and the depth to close them at.
    let mut pending = vec![Step::Open(None, 1)];
    while let Some(step) = pending.pop() {
        let (home, depth) = match step {
            Step::Open(home, depth) => (home, depth),
            Step::Close(depth) => {
                let _ = writeln!(text, "{:1$}}}", "", 2 * depth);
                continue;
            }
        };
        let indent = 2 * depth;
        if let Some(at) = home {
            let nest = &picture.loops[at];
            let label = format!("loop of {}, depth {}", picture.blocks[nest.header].name, nest.depth);
            let outer = indent - 2;
            let _ = writeln!(text, "{:outer$}subgraph cluster_{at} {{", "");
            let _ = writeln!(
                text,
                "{:indent$}label={}; style=\"rounded,filled\"; fillcolor=\"{}\";",
                "",
                quoted(&label),
                nest.colour()
            );
        }
        let place = home.map_or(0, |home| home + 1);
        for at in &members[place] {
            let block = &picture.blocks[*at];
            let lines: Vec<&str> =
                std::iter::once(&*block.name).chain(block.roles.iter().map(String::as_str)).collect();
            let mut looks = String::new();
            if block.is_header {
                looks.push_str(", penwidth=2");
            }
            if block.is_irreducible {
                looks.push_str(", style=\"filled,dashed\", color=\"#9467bd\"");
            }
            let _ = writeln!(text, "{:indent$}b{at} [label={}{looks}];", "", quoted(&lines.join("\n")));
        }
        if home.is_some() {
            pending.push(Step::Close(depth - 1));
        }
        pending.extend(children[place].iter().map(|child| Step::Open(Some(*child), depth + 1)));
    }
    for edge in &picture.edges {
        let _ = write!(text, "  b{} -> b{}", edge.from, edge.to);
        if let Some((_, name, colour, dashed)) = KINDS.iter().find(|(kind, ..)| *kind == edge.kind) {
            let style = if *dashed { ", style=dashed" } else { "" };
            let _ = write!(text, " [color=\"{colour}\"{style}, tooltip=\"{name}\"]");
        }
        text.push_str(";\n");
    }
    text + "}\n"
}

enum Step {
    Open(Option<usize>, usize),
    Close(usize),
}
