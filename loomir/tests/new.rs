//! `loomir new`: the files that it writes, and what it refuses. `cargo xtask scaffold` compiles
//! them and runs their tests.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use loomir::CommandOutput;

use crate::support::scratch;

fn new(line: &str) -> CommandOutput {
    loomir::run_command(loomir::registry(), loomir::passes(), &format!("new {line}"), "")
}

/// Returns an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the repository")
}

/// Returns what a command says, without the names of folders.
fn shown(output: &CommandOutput, folder: &Path) -> String {
    let text = format!("exit {}\n{}{}", output.status, output.out, output.err);
    text.replace(&folder.display().to_string(), "FOLDER")
}

/// Returns the text of each file in a folder, in order of their names.
fn files(folder: &Path) -> Vec<(String, String)> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(&next).expect("a folder").flatten().map(|own| own.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string().replace('\\', "/");
            files.push((name, std::fs::read_to_string(&path).expect("a file of text")));
        }
    }
    files.sort();
    files
}

#[test]
fn a_crate_with_one_file_of_each_kind() {
    let folder = folder("new");
    let made = new(&format!("my-compiler --in={} --path={}", folder.display(), root().display()));
    let mut text = shown(&made, &folder);
    let inside = folder.join("my-compiler");
    for line in ["dialect vec", "pass add-to-shift", "transform loop-blocks", "analysis from-constants"] {
        let done = new(&format!("{line} --in={}", inside.join("src").display()));
        let _ = write!(text, "\n$ loomir new {line}\n{}", shown(&done, &folder));
    }
    for (name, content) in files(&inside) {
        let is_long = name == "Cargo.lock";
        let content = content.replace(&root().display().to_string(), "LOOMIR");
        let content = if is_long { "…\n" } else { &content };
        assert!(!content.contains("{{") && !content.contains("@crate"), "{name}:\n{content}");
        let _ = write!(text, "\n===== {name}\n{content}");
    }
    insta::assert_snapshot!("new_crate", text);
}

#[test]
fn without_a_repository_a_crate_names_the_version() {
    let folder = folder("new_version");
    let made = new(&format!("my_compiler --in={}", folder.display()));
    assert_eq!(made.status, 0, "{}", made.err);
    let files = files(&folder);
    let manifest = files.iter().find(|(name, _)| name.ends_with("Cargo.toml")).expect("a manifest");
    // This test runs in the repository, unless the folder for targets is elsewhere.
    let version = format!("loomir = \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.1.contains(&version) || manifest.1.contains("loomir = { path"), "{}", manifest.1);
}

/// Each line with the folder it runs in.
const REFUSED: [(&str, &str); 12] = [
    ("My-Compiler", ""),
    ("my compiler", ""),
    ("../above", ""),
    ("fn", ""),
    ("loomir", ""),
    ("my-compiler --path=nowhere", ""),
    ("taken", ""),
    ("dialect arith", "crate"),
    ("dialect two-words", "crate"),
    ("pass canonicalize", "crate"),
    ("pass twice", "crate"),
    ("dialect own", ""),
];

#[test]
fn wrong_names_and_places_are_refused() {
    // No crate is around the folder for temporary files.
    let folder = std::env::temp_dir().join(format!("loomir-new-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let inside = folder.join("crate");
    std::fs::create_dir_all(folder.join("taken")).expect("the folder can be made");
    std::fs::create_dir_all(inside.join("src")).expect("the folder can be made");
    std::fs::write(inside.join("Cargo.toml"), "[dependencies]\nloomir = \"0.1\"\n").expect("a file");
    std::fs::write(inside.join("src/twice.rs"), "// Mine.\n").expect("a file");
    let before = files(&folder);
    let mut text = String::new();
    for (line, place) in REFUSED {
        let words = line.split_once(' ').filter(|_| line == "my compiler").map(|_| format!("'{line}'"));
        let words = words.unwrap_or_else(|| line.to_owned());
        let done = new(&format!("{words} --in={}", folder.join(place).display()));
        assert_eq!(done.status, 1, "{line}: {}", done.out);
        let _ = write!(text, "$ loomir new {words}\n{}\n", shown(&done, &folder));
    }
    assert_eq!(files(&folder), before, "what is refused writes nothing");
    let by_hand = new(&format!("pass mine --in={}", inside.display()));
    let _ = write!(text, "$ loomir new pass mine\n{}", shown(&by_hand, &folder));
    let _ = std::fs::remove_dir_all(&folder);
    insta::assert_snapshot!("new_refused", text);
}

/// In Loomir's tree, each kind has a place, and the lists have a line for it.
#[test]
fn files_in_the_own_tree() {
    let folder = folder("new_tree");
    let lists = [
        "Cargo.toml",
        "loomir/Cargo.toml",
        "testing/Cargo.toml",
        "dialects/src/lib.rs",
        "transforms/src/lib.rs",
        "transforms/src/transform.rs",
        "transforms/src/dataflow.rs",
    ];
    for list in lists {
        let to = folder.join(list);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("the folder can be made");
        std::fs::copy(root().join(list), to).expect("the file can be copied");
    }
    let mut text = String::new();
    for line in ["dialect vec", "pass add-to-shift", "transform loop-blocks", "analysis from-constants"] {
        let done = new(&format!("{line} --in={}", folder.display()));
        let _ = write!(text, "$ loomir new {line}\n{}\n", shown(&done, &folder));
    }
    for list in lists {
        let before = std::fs::read_to_string(root().join(list)).expect("a file");
        let after = std::fs::read_to_string(folder.join(list)).expect("a file");
        let mut old = before.lines().peekable();
        for line in after.lines() {
            if old.next_if_eq(&line).is_none() {
                let _ = writeln!(text, "{list}: + {line}");
            }
        }
        assert!(old.next().is_none(), "{list} keeps its lines");
    }
    insta::assert_snapshot!("new_tree", text);
}
