//! The rules of the source tree that no compiler checks: layers, headers, sizes, words that must
//! not occur.
//!
//! Each rule reads the files as they are and lists every place that breaks it, so one run shows
//! all.

use std::collections::BTreeMap;
use std::fs;

use sources::{Source, root, rust, sources};

mod limits;
mod links;
mod prose;
mod sources;
mod surface;

/// Crates from the bottom up. An arrow goes from a crate to one before it, except that `dialects`
/// knows nothing of `polyhedra`, and neither does `ir`.
const LAYERS: &[(&str, &[&str])] = &[
    ("polyhedra", &[]),
    ("ir", &[]),
    ("dialects", &["ir"]),
    ("check", &["ir", "dialects", "polyhedra"]),
    ("transforms", &["ir", "dialects", "polyhedra"]),
    ("lowering", &["ir", "dialects", "polyhedra", "transforms"]),
    ("loomir", &["ir", "dialects", "check", "polyhedra", "transforms", "lowering"]),
    ("python", &["loomir"]),
    ("testing", &["loomir"]),
    ("tests", &["ir", "dialects", "check", "polyhedra", "transforms", "lowering", "loomir", "testing"]),
    ("benches", &["ir", "dialects", "check", "polyhedra", "transforms", "lowering", "loomir", "tests"]),
    ("example", &["loomir"]),
    ("xtask", &[]),
];

/// Targets for fuzzing: a workspace of its own, for it needs a nightly compiler.
const FUZZ: &str = "fuzz";

/// The longest file.
const MAX_LINES: usize = 800;

/// The longest function.
const MAX_FUNCTION_LINES: usize = 80;

/// The only file with `unsafe` code, and the crate it is in.
const FFI_FILE: &str = "lowering/src/jit/ffi.rs";
const FFI_CRATE: &str = "lowering";

#[track_caller]
fn assert_none(rule: &str, mut complaints: Vec<String>) {
    complaints.sort();
    assert!(complaints.is_empty(), "{rule}:\n  {}\n", complaints.join("\n  "));
}

/// `path:line: what` for each line that `broken` says something about.
fn lines_that(sources: &[Source], broken: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let in_file = |source: &Source| -> Vec<String> {
        let complaint = |(i, line)| Some(format!("{}:{}: {}", source.path, i + 1, broken(line)?));
        source.text.lines().enumerate().filter_map(complaint).collect()
    };
    sources.iter().flat_map(in_file).collect()
}

/// The code of a line, without its comment. Good enough for words that don't occur in strings.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// `[section] key` → value, for the flat part of TOML that manifests use.
fn manifest(folder: &str) -> BTreeMap<(String, String), String> {
    let text =
        fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("each folder has a manifest");
    let (mut entries, mut section) = (BTreeMap::new(), String::new());
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.to_string();
        } else if let Some((key, value)) = line.split_once('=') {
            entries.insert((section.clone(), key.trim().to_string()), value.trim().to_string());
        }
    }
    entries
}

/// Names of the crates a folder's crate depends on, in any of the dependency sections.
fn dependencies(folder: &str) -> Vec<String> {
    let in_section = |section: &str| section.ends_with("dependencies");
    let entries = manifest(folder).into_keys();
    entries
        .filter(|(section, _)| in_section(section))
        .map(|(_, key)| key.split('.').next().unwrap_or_default().to_string())
        .collect()
}

#[test]
fn arrows_between_crates_go_downwards() {
    let crate_of = |folder: &str| match folder {
        "loomir" => "loomir".to_string(),
        other => format!("loomir-{other}"),
    };
    let mut complaints = Vec::new();
    for (folder, allowed) in LAYERS {
        for dependency in dependencies(folder).iter().filter(|name| name.starts_with("loomir")) {
            if !allowed.iter().any(|folder| crate_of(folder) == *dependency) {
                complaints.push(format!("{folder}/Cargo.toml: {folder} may not use {dependency}"));
            }
        }
    }
    assert_none("a crate may use only those below it", complaints);
}

#[test]
fn every_crate_has_its_layer_and_the_common_settings() {
    let mut complaints = Vec::new();
    for Source { path, .. } in sources(&["toml"]).iter().filter(|source| source.path.ends_with("Cargo.toml"))
    {
        match path.split('/').collect::<Vec<_>>()[..] {
            [_] | [FUZZ, _] => {}
            [folder, _] if LAYERS.iter().any(|(layer, _)| *layer == folder) => {
                let entries = manifest(folder);
                let has =
                    |section: &str, key: &str| entries.contains_key(&(section.to_string(), key.to_string()));
                if !has("lints", "workspace") || !has("package", "license.workspace") {
                    complaints.push(format!("{path}: takes lints and licence from the workspace"));
                }
            }
            _ => complaints.push(format!("{path}: no place for a crate")),
        }
    }
    assert_none("folder = crate, one level deep, listed in LAYERS", complaints);
}

#[test]
fn llvm_is_linked_only_at_the_bottom() {
    let links =
        |folder: &&str| dependencies(folder).iter().any(|name| name == "melior" || name == "mlir-sys");
    let linking: Vec<&str> = LAYERS.iter().map(|(folder, _)| *folder).filter(links).collect();
    assert_eq!(linking, [FFI_CRATE]);
}

#[test]
fn every_module_says_what_it_is() {
    let headless = |source: &&Source| !source.text.starts_with("//!");
    assert_none(
        "a file opens with a `//!` header",
        rust().iter().filter(headless).map(|source| source.path.clone()).collect(),
    );
}

#[test]
fn files_are_small() {
    let length = |source: &Source| source.text.lines().count();
    let sources = rust();
    let long = sources.iter().filter(|source| length(source) > MAX_LINES);
    assert_none(
        &format!("a file has at most {MAX_LINES} lines"),
        long.map(|source| format!("{}: {}", source.path, length(source))).collect(),
    );
}

/// Returns the name of the function that begins in a line.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        let words = ["pub", "const", "async", "unsafe", "extern", "default", "\""];
        words.iter().any(|own| word.starts_with(own)) || word.ends_with(')')
    };
    before.split_whitespace().all(is_qualifier).then(|| after.split(['(', '<']).next().unwrap_or_default())
}

/// Returns the lines of the function that begins at the first of these, as rustfmt writes it: the
/// closing brace stands as far in as the first line. One line if it has no body of more.
fn function_length(lines: &[&str]) -> usize {
    let first = lines.first().copied().unwrap_or_default();
    let indent = &first[..first.len() - first.trim_start().len()];
    let ends = |line: &str| {
        let own = line.strip_prefix(indent);
        own.is_some_and(|own| own == "}" || own.starts_with(')') && own.ends_with(';'))
    };
    if first.ends_with(['}', ';']) {
        return 1;
    }
    lines.iter().position(|line| ends(line)).map_or(lines.len(), |last| last + 1)
}

#[test]
fn functions_are_short() {
    let mut complaints = Vec::new();
    for Source { path, text } in rust() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = function_name(line) else { continue };
            let length = function_length(&lines[at..]);
            if length > MAX_FUNCTION_LINES {
                complaints.push(format!("{path}:{}: {name}: {length}", at + 1));
            }
        }
    }
    assert_none(&format!("a function has at most {MAX_FUNCTION_LINES} lines"), complaints);
}

#[test]
fn function_lengths_are_read() {
    let read = |text: &str| -> Vec<(String, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let named = |at: usize| Some((function_name(lines[at])?.to_string(), function_length(&lines[at..])));
        (0..lines.len()).filter_map(named).collect()
    };
    let text = "/// No fn here.\nimpl A {\n    pub(super) fn a<T>(\n        x: T,\n    ) -> T\n    where\n        \
                T: B,\n    {\n        {\n        }\n    }\n\n    fn b() {}\n}\ntrait B {\n    fn c(\n    \
                );\n    const fn d() {\n    }\n}\n";
    let expected = [("a", 9), ("b", 1), ("c", 2), ("d", 2)];
    assert_eq!(read(text), expected.map(|(name, length)| (name.to_string(), length)));
}

#[test]
fn modules_have_telling_names() {
    let vague = |source: &&Source| {
        let stem = |name: &str| {
            ["util", "utils", "common", "helpers", "misc"].contains(&name.trim_end_matches(".rs"))
        };
        source.path.split('/').any(stem)
    };
    assert_none(
        "no module is called util, common, helpers or misc",
        rust().iter().filter(vague).map(|source| source.path.clone()).collect(),
    );
}

#[test]
fn nothing_is_left_unfinished() {
    // Spelt in halves, so that this file passes its own test.
    let words = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("db", "g!("),
        concat!("#[igno", "re"),
    ];
    let broken =
        |line: &str| words.iter().find(|word| code(line).contains(**word)).map(|word| (*word).to_string());
    assert_none("no unfinished code and no ignored test", lines_that(&rust(), broken));
}

#[test]
fn no_hidden_state() {
    let words = ["RefCell", "static mut ", "thread_local!", "lazy_static"].map(|word| format!(" {word}"));
    let cells = ["Mutex", "RwLock", "Atomic", "OnceLock", "LazyLock", "OnceCell", "Cell<"];
    let std_tables = ["HashMap", "HashSet"];
    let broken = |line: &str| {
        let code = format!(" {}", code(line).replace(['<', ':', ',', '{', '('], " "));
        let is_static = code.trim_start().starts_with("static ") || code.contains("pub static ");
        if let Some(word) = words.iter().find(|word| code.contains(word.trim_end())) {
            Some(word.trim().to_string())
        } else if is_static && cells.iter().any(|cell| code.contains(cell.trim_end_matches('<'))) {
            Some("a static with state".to_string())
        } else if code.contains("std  collections") && std_tables.iter().any(|table| code.contains(table)) {
            Some("std's hash tables have no fixed order; use hashbrown or a BTreeMap".to_string())
        } else {
            None
        }
    };
    assert_none("no hidden state, no random order", lines_that(&rust(), broken));
}

#[test]
fn unsafe_code_has_one_home() {
    let is_root =
        |source: &&Source| source.path.ends_with("/src/lib.rs") || source.path.ends_with("/src/main.rs");
    let sources = rust();
    let unguarded = sources.iter().filter(is_root).filter(|source| {
        let level = if source.path.starts_with(FFI_CRATE) { "deny" } else { "forbid" };
        !source.text.contains(&format!("#![{level}(unsafe_code)]"))
    });
    assert_none("a crate's root forbids unsafe code", unguarded.map(|source| source.path.clone()).collect());

    let allow = concat!("allow(unsafe", "_code)");
    let homes: Vec<&str> = sources
        .iter()
        .filter(|source| source.text.contains(allow))
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(homes, [FFI_FILE]);
}

#[test]
fn no_path_of_anyones_machine() {
    let words = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
    let broken = |line: &str| words.iter().find(|word| line.contains(**word)).map(|word| (*word).to_string());
    let files = sources(&["rs", "toml", "md", "mlir", "ll", "snap", "csv", "txt", "c"]);
    assert_none("no path of one machine", lines_that(&files, broken));
}

#[test]
fn lines_end_where_they_end() {
    let broken = |line: &str| line.ends_with([' ', '\t', '\r']).then(|| "white space at the end".to_string());
    assert_none("no white space at the end of a line", lines_that(&sources(&["rs", "toml", "md"]), broken));
}
