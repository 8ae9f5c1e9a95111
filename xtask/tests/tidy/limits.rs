//! The book's page of limits: each module's own section, collected.
//!
//! `cargo xtask bless --package xtask --test tidy` writes the page anew.

use std::fmt::Write as _;
use std::fs;

use crate::sources::{Source, root, rust};

/// The page, from the root of the project.
const PAGE: &str = "book/src/limits.md";

/// The text above the list.
const HEAD: &str = "\
# Limits

Loomir refuses, approximates or leaves alone what stands on this page. Each entry is written where
the code is, under `# Limits` in the header of a module, and collected here.
";

#[test]
fn the_page_of_limits_is_what_the_modules_say() {
    let (root, page) = (root(), page());
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        fs::write(root.join(PAGE), &page).expect("the page can be written");
    }
    let known = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    assert!(known == page, "{PAGE} is not what the modules say: `cargo xtask bless --package xtask`");
}

/// Returns the page: one section for each module with limits, by path.
fn page() -> String {
    let mut page = HEAD.to_owned();
    for Source { path, text } in rust() {
        let header = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_end);
        let mut lines =
            header.skip_while(|line| *line != " # Limits").skip(1).skip_while(|line| line.is_empty());
        let own: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## `{path}`\n");
        for line in own {
            let _ = writeln!(page, "{}", line.strip_prefix(' ').unwrap_or(line));
        }
    }
    page
}
