//! The public surface of the libraries, listed in `surface.txt`: it changes only on purpose.
//!
//! An entry is the first line of an item that begins with `pub`. The lint `unreachable_pub` keeps
//! that word off whatever no user can reach. `cargo xtask bless --package xtask` writes the list
//! anew.

use std::fs;

use crate::sources::{Source, root, rust};

/// The list, from the root of the project.
const LIST: &str = "xtask/tests/tidy/surface.txt";

/// The libraries that users build on.
const LIBRARIES: [&str; 7] = ["check", "dialects", "ir", "loomir", "lowering", "polyhedra", "transforms"];

#[test]
fn the_public_surface_changes_on_purpose() {
    let list = surface();
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        fs::write(root().join(LIST), &list).expect("the list can be written");
    }
    let known = fs::read_to_string(root().join(LIST)).unwrap_or_default();
    let differs = |own: &str, other: &str, sign| {
        let lines = own.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("  {sign} {line}\n")).collect::<String>()
    };
    assert!(
        known == list,
        "the public surface changed; if that is meant: `cargo xtask bless --package xtask`\n{}{}",
        differs(&known, &list, '-'),
        differs(&list, &known, '+'),
    );
}

/// Returns the list: files in order, the items of each in the order of the file.
fn surface() -> String {
    let mut list = String::new();
    for Source { path, text } in rust() {
        let is_library = LIBRARIES.iter().any(|library| path.starts_with(&format!("{library}/src/")));
        let items: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("pub ")).collect();
        if !is_library || items.is_empty() {
            continue;
        }
        list += &format!("{path}\n");
        for item in items {
            list += &format!("  {}\n", item.trim_end_matches(['{', ' ', ';', ',']));
        }
    }
    list
}
