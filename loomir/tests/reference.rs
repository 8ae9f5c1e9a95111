//! The pages of the book's reference are what `loomir doc` prints.
//!
//! `cargo xtask bless --package loomir` writes them anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The line of the book's summary that the pages stand below.
const CHAPTER: &str = "- [Reference](reference/passes.md)";

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src")
}

fn doc(arguments: &str) -> String {
    let done = loomir::run_command(loomir::registry(), loomir::passes(), &format!("doc {arguments}"), "");
    assert_eq!(done.status, 0, "{}", done.err);
    done.out.trim_end().to_owned() + "\n"
}

#[test]
fn the_reference_is_what_the_tables_say() {
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut list = format!("{CHAPTER}\n");
    for dialect in doc("").lines() {
        list += &format!("  - [`{dialect}`](reference/{dialect}.md)\n");
        pages.insert(format!("{dialect}.md"), doc(dialect));
    }
    pages.insert("passes.md".to_owned(), doc("--passes"));
    let folder = book().join("reference");
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).expect("the page can be written");
        }
    }
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .expect("there is a reference")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, pages.keys().cloned().collect::<Vec<_>>(), "one page a dialect: cargo xtask bless");
    for (name, text) in &pages {
        let known = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(known == *text, "reference/{name} is not what the tables say: `cargo xtask bless`");
    }
    let summary = std::fs::read_to_string(book().join("SUMMARY.md")).expect("there is a summary");
    assert!(summary.contains(&list), "the summary lists the pages:\n{list}");
}
