//! Programs in C and C++, as clang translates them. The analyses of their functions are true in
//! runs, and at least as precise as those of `opt`.

use std::path::Path;
use std::process::Command;

use loomir_dialects::interp;
use loomir_dialects::llvm;
use loomir_ir::Body;

use crate::opt::{Verdict, compare};
use crate::watch::{Watched, watch};
use crate::{context, functions, peers, read};

/// Functions analysed less precisely than by `opt`, and why.
const LESS: &[(&str, &str, &str)] = &[("exits.c", "first_multiple", "ranges have ends, not steps")];

/// Returns each program translated by clang at a level; empty without clang.
pub(crate) fn translated(level: &str) -> Vec<(String, String)> {
    let Some(clang) = peers::tool("clang") else { return Vec::new() };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let mut paths: Vec<_> =
        std::fs::read_dir(programs).expect("the programs").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    let translate = |path: std::path::PathBuf| {
        let output = Command::new(&clang)
            .args(["-w", level, "-S", "-emit-llvm", "-o", "-"])
            .arg(&path)
            .output()
            .expect("clang");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    paths.into_iter().map(translate).collect()
}

/// True if a function calls no function of the module, which would also be in the trace.
fn calls_none(function: &Body) -> bool {
    function.preorder(function.root()).all(|op| !function.is(op, llvm::CallOp::DEF))
}

#[test]
fn programs_are_what_runs() {
    let ctx = context();
    let mut watched = Watched::default();
    for (name, source) in ["-O1", "-O2"].into_iter().flat_map(translated) {
        let module = read(&ctx, &source);
        for (function, body) in functions(&module).into_iter().filter(|(_, body)| calls_none(body)) {
            let count = interp::signature(&module, &function).map_or(0, |(parameters, _)| parameters.len());
            let words = [0i64, 1, 5, 12, -3, 100];
            let calls: Vec<Vec<u128>> = (0..words.len())
                .map(|turn| (0..count).map(|n| words[(turn + n) % words.len()] as u128).collect())
                .collect();
            match watch(&module, &function, body, &calls) {
                Ok((done, _)) => watched.add(done),
                Err(error) => panic!("{name}: {function}: {error}"),
            }
        }
    }
    assert!(watched.runs == 0 || watched.exact > 100, "{watched:?}");
}

#[test]
fn programs_are_what_opt_says_or_better() {
    let mut less = Vec::new();
    let (mut equal, mut more) = (0, 0);
    for (name, source) in ["-O1", "-O2"].into_iter().flat_map(translated) {
        for (function, verdict) in compare(&source, &|_| Vec::new()).unwrap_or_default() {
            match verdict {
                Verdict::Equal => equal += 1,
                Verdict::More => more += 1,
                Verdict::Less(_) if LESS.iter().any(|known| (known.0, known.1) == (&*name, &*function)) => {}
                Verdict::Less(what) => less.push(format!("{name}: {function}: {what}")),
            }
        }
    }
    assert!(less.is_empty(), "{equal} equal, {more} more precise, {} less\n{}", less.len(), less.join("\n"));
}
