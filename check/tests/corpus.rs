//! Pairs of programs that Loomir made itself: the fixtures of the tree and what was seen to come of
//! them. Each is a right transformation, so a proof is missing wherever there is none.

mod support;

use std::path::{Path, PathBuf};

use loomir_check::proof::ProofOptions;
use support::{functions, parse, printed, prove_named, told};

/// A program and what a transformation made of it.
struct Pair {
    title: String,
    before: String,
    after: String,
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
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
fn pairs(path: &Path) -> Vec<Pair> {
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

/// The pairs of a folder: how many are proved, and a line for each that is not.
struct Judged {
    equal: usize,
    changed: usize,
    lines: String,
}

/// Proves all pairs of a folder. Arguments are distinct if the run says so, or as told.
fn judged(folder: &str, distinct: Option<bool>) -> Judged {
    let (mut changed, mut equal) = (0, 0);
    let mut lines = String::new();
    for path in fixtures(folder) {
        for pair in pairs(&path) {
            let ctx = loomir_dialects::context();
            let (before, after) = (parse(&ctx, &pair.before), parse(&ctx, &pair.after));
            for (name, op) in functions(&before) {
                let Some((_, other)) = functions(&after).into_iter().find(|(own, _)| *own == name) else {
                    continue;
                };
                if printed(&before, op) == printed(&after, other) {
                    continue;
                }
                changed += 1;
                let said = pair.title.contains("alias=distinct");
                let options = ProofOptions { distinct: distinct.unwrap_or(said), ..ProofOptions::default() };
                let proof = prove_named(&before, &after, &name, &options).expect("both functions");
                match proof.is_equal() {
                    true => equal += 1,
                    false => lines.push_str(&format!("{} @{name}: {}\n", pair.title, told(&ctx, &proof))),
                }
            }
        }
    }
    Judged { equal, changed, lines }
}

/// The folders, the pairs of each and how many of them are proved at least.
const FOLDERS: [(&str, usize); 8] = [
    ("edits", 48),
    ("fusion", 164),
    ("distribution", 17),
    ("contraction", 23),
    ("conditionals", 3),
    ("cost", 18),
    ("peel", 10),
    ("strip_mine", 3),
];

#[test]
fn most_of_what_loomir_does_is_proved() {
    let mut all = String::new();
    let mut fewer = Vec::new();
    for (folder, least) in FOLDERS {
        let judged = judged(folder, Some(true));
        if judged.equal < least {
            fewer.push(format!("{folder}: {} instead of {least}", judged.equal));
        }
        all += &format!("{folder}: {} of {} equal\n{}", judged.equal, judged.changed, judged.lines);
    }
    // The list of what is open is kept where the variable says, to work through.
    if let Ok(path) = std::env::var("LOOMIR_CHECK_OPEN") {
        std::fs::write(path, &all).expect("the list is written");
    }
    assert!(fewer.is_empty(), "{}\n{all}", fewer.join("\n"));
}
