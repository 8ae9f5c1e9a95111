//! Fixtures of the tree and what was seen to come of them.

use std::path::{Path, PathBuf};

/// A program and what a transformation made of it.
pub(crate) struct Pair {
    pub(crate) title: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The fixtures of a folder.
pub(crate) fn fixtures(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the folder of fixtures")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    files.sort();
    files
}

/// Returns the pairs of a fixture and of its snapshot.
pub(crate) fn pairs(path: &Path) -> Vec<Pair> {
    let source = std::fs::read_to_string(path).expect("a fixture");
    let Ok(snapshot) = std::fs::read_to_string(path.with_extension("snap")) else { return Vec::new() };
    let programs: Vec<&str> = source.split("// -----").collect();
    let text = snapshot.splitn(3, "---\n").nth(2).unwrap_or_default();
    let (mut run, mut index, mut edit) = (String::new(), 0, String::new());
    let mut found: Vec<Pair> = Vec::new();
    let mut after = String::new();
    let mut flush = |after: &mut String, run: &str, edit: &str, index: usize| {
        if !after.trim().is_empty() {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let title = format!("{name} [{run}{edit}]");
            found.push(Pair { title, before: programs[index].to_string(), after: std::mem::take(after) });
        }
    };
    for line in text.lines() {
        if let Some(own) = line.strip_prefix("// RUN: ") {
            flush(&mut after, &run, &edit, index);
            (run, index, edit) = (own.to_string(), 0, String::new());
        } else if line == "// -----" {
            flush(&mut after, &run, &edit, index);
            (index, edit) = (index + 1, String::new());
        } else if let Some(own) = line.strip_prefix("// EDIT: ") {
            flush(&mut after, &run, &edit, index);
            edit = format!(" {own}");
        } else if !line.starts_with("//") {
            after.push_str(line);
            after.push('\n');
        }
    }
    flush(&mut after, &run, &edit, index);
    found
}
