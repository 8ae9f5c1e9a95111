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
    let mut list = format!("{CHAPTER}\n  - [Remarks](reference/remarks.md)\n");
    for dialect in doc("").lines() {
        list += &format!("  - [`{dialect}`](reference/{dialect}.md)\n");
        pages.insert(format!("{dialect}.md"), doc(dialect));
    }
    pages.insert("passes.md".to_owned(), doc("--passes"));
    pages.insert("remarks.md".to_owned(), doc("--remarks"));
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

/// Each refusal in a snapshot is in the reference.
#[test]
fn the_reference_has_all_remarks() {
    let reference = doc("--remarks");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = ["tests/fixtures", "loomir/tests/snapshots", "lowering/tests"]
        .iter()
        .map(|folder| root.join(folder))
        .collect();
    let mut missing = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).expect("a folder").flatten().map(|own| own.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Those of `loomir new` are about a transformation that is not here.
            if !name.ends_with(".snap") || name.contains("__new__") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for line in text.lines().filter(|line| line.contains("remark: ")) {
                let Some((before, _)) = line.split_once("]: ").and_then(|(_, rest)| rest.split_once("]: "))
                else {
                    continue;
                };
                let name = before.rsplit_once('[').map_or("", |(_, name)| name);
                if name.starts_with(char::is_uppercase) && !reference.contains(&format!("`{name}`")) {
                    missing.insert(name.to_owned());
                }
            }
        }
    }
    assert!(missing.is_empty(), "loomir/src/cli/doc/remarks.rs lacks {missing:?}");
}
