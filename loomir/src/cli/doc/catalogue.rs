//! Pages of loop transformations: the header of the file, then the options and remarks of the pass,
//! or the way to ask for a transformation without one.
//!
//! An example stands behind the first paragraphs of the header. Its commands have no output here;
//! the book's test runs them.

use std::fmt::Write;

use loomir_ir::pass::PassInfo;
use loomir_transforms::catalogue::{By, Entry};

use super::{options, remarks, without_items};

/// The heading of an example in a header.
const EXAMPLE: &str = "# Example";

/// The files that the programs of an example are, in their order.
const FILES: [&str; 2] = ["old.mlir", "other.mlir"];

/// Returns the page of a transformation.
pub(super) fn page(entry: &Entry) -> String {
    let lines: Vec<&str> = entry.header().collect();
    let (first, rest) = lines.split_at(lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len()));
    let (title, summary) = title(&first.join(" "));
    let mut text = format!("# {title}\n\n");
    super::wrap(&mut text, &without_paths(&summary));
    text.push('\n');
    let parts = Parts::of(rest);
    for part in [parts.intro, parts.example, parts.kinds, parts.notes] {
        let part = part.join("\n");
        if !part.trim().is_empty() {
            let _ = writeln!(text, "{}\n", part.trim());
        }
    }
    match entry.by {
        By::Pass(pass) => of_pass(&mut text, pass),
        By::Step => {
            let step = format!("A [schedule](../schedules.md) asks for it with `{}`.", entry.name);
            let _ = writeln!(text, "## How to ask for it\n");
            super::wrap(&mut text, &step);
        }
        By::Parts(passes) => {
            let passes: Vec<String> = passes.iter().map(|own| format!("[`{own}`]({own}.md)")).collect();
            let _ = writeln!(text, "## How to ask for it\n");
            super::wrap(&mut text, &format!("It has no pass of its own: {} need it.", passes.join(" and ")));
        }
    }
    text
}

/// Adds the options and remarks of a pass.
fn of_pass(text: &mut String, pass: &PassInfo) {
    let _ = writeln!(text, "## Options\n");
    let anchor = pass.anchor.map_or("any operation".to_owned(), |anchor| format!("`{anchor}`"));
    super::wrap(text, &format!("The pass is `{}`, on {anchor}.", pass.name));
    text.push('\n');
    options(text, pass);
    if !pass.options.is_empty() {
        text.push('\n');
    }
    let remarks = remarks::of(pass.name);
    if !remarks.is_empty() {
        let _ = writeln!(text, "## Remarks\n\n{remarks}");
    }
}

/// Returns the title and the first paragraph of a page. A header begins as in "Tiling: runs …".
fn title(first: &str) -> (String, String) {
    let Some((title, rest)) = first.split_once(": ") else { return (first.to_owned(), String::new()) };
    let mut rest = rest.chars();
    let capital = rest.next().map(|own| own.to_uppercase().to_string()).unwrap_or_default();
    (title.to_owned(), capital + rest.as_str())
}

/// The parts of a header.
struct Parts {
    intro: Vec<String>,
    example: Vec<String>,
    /// The reasons why a kind of program has no fixture.
    kinds: Vec<String>,
    notes: Vec<String>,
}

impl Parts {
    /// Sorts the lines behind the first paragraph. Headings become those of the second level.
    fn of(lines: &[&str]) -> Parts {
        let mut parts =
            Parts { intro: Vec::new(), example: Vec::new(), kinds: Vec::new(), notes: Vec::new() };
        let (mut is_example, mut is_intro, mut is_code, mut is_kind) = (false, true, false, false);
        let mut files = FILES.iter();
        for line in lines {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            let mut shown = (*line).to_owned();
            if is_example && *line == "```mlir" {
                shown += &files.next().map_or(String::new(), |own| format!(" file={own}"));
            }
            if !is_code && !line.starts_with("```") {
                if line.starts_with("# ") {
                    is_example = *line == EXAMPLE;
                    shown = format!("#{line}");
                }
                is_intro &= !["# ", "**", "Reference"].iter().any(|own| line.starts_with(own));
                is_kind = line.starts_with("**N") || is_kind && !line.is_empty();
                shown = without_paths(&shown);
            }
            if is_kind {
                if line.starts_with("**N") {
                    parts.kinds.push(String::new());
                }
                parts.kinds.push(shown);
                continue;
            }
            match (is_example, is_intro) {
                (true, _) => parts.example.push(shown),
                (_, true) => parts.intro.push(shown),
                (..) => parts.notes.push(shown),
            }
        }
        parts
    }
}

/// Returns a line without links to items of Rust.
fn without_paths(line: &str) -> String {
    let line = without_items(line);
    let (mut text, mut rest) = (String::new(), &*line);
    while let Some((before, behind)) = rest.split_once("](") {
        let Some((target, tail)) = behind.split_once(')') else { break };
        let Some((lead, name)) = before.rsplit_once('[') else { break };
        match target.contains("::") || target == "self" {
            true => text += &format!("{lead}{name}"),
            false => text += &format!("{before}]({target})"),
        }
        rest = tail;
    }
    text + rest
}
