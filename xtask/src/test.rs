//! `cargo xtask test`: all of CI.
//!
//! Steps run in a fixed order, each timed; one that fails doesn't stop the others. A table at the
//! end tells what came of each, and lists the tests that skipped a comparison for want of a tool.
//!
//! All share one target folder, one profile and one feature set, with LLVM linked if it is there.
//! So nothing is compiled twice for the same purpose: build scripts and macros serve all steps,
//! clippy and the documentation share checked crates, the tests built ones. The crates without LLVM
//! are only checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{cargo, command, execute};
use crate::setup::{self, Tools, cargo_with};
use crate::{Failure, campaign, snapshots};

/// The feature that links LLVM, on each crate that has it.
const LLVM_FEATURES: &str = "loomir-lowering/llvm,loomir/llvm,loomir-tests/llvm";

/// One step.
struct Step {
    name: &'static str,
    does: &'static str,
    run: fn(&Tools) -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step { name: "format", does: "rustfmt", run: |_| execute(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "tidy", does: "rules of the source tree", run: tidy },
    Step { name: "lint", does: "clippy", run: lint },
    Step { name: "test", does: "tests, with LLVM linked", run: test },
    Step { name: "doc-test", does: "examples in the documentation", run: doc_test },
    Step { name: "doc", does: "rustdoc", run: doc },
    Step { name: "book", does: "the book as HTML", run: book },
    Step { name: "campaigns", does: "a quarter of a percent of each campaign", run: campaigns },
];

/// The end of a step.
enum Outcome {
    Passed,
    Failed(Failure),
}

/// Runs the steps named in `wanted`, or all.
pub(crate) fn run(wanted: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = wanted.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step `{unknown}`; there are: {}", names.join(" ")));
    }
    let start = Instant::now();
    let tools = setup::run()?;
    // A list of an earlier run. If it cannot be removed, it names more tests, not fewer.
    drop(std::fs::remove_file(setup::skipped()));
    let mut rows = vec![(
        "setup",
        "LLVM/MLIR 22, islpy, Neovim, Chromium, a tester of grammars, mdBook",
        start.elapsed(),
        setup_outcome(&tools),
    )];
    for step in STEPS.iter().filter(|step| wanted.is_empty() || wanted.iter().any(|name| name == step.name)) {
        println!("\n== {}: {}", step.name, step.does);
        let start = Instant::now();
        let outcome = (step.run)(&tools).map_or_else(Outcome::Failed, |()| Outcome::Passed);
        rows.push((step.name, step.does, start.elapsed(), outcome));
    }
    report(&rows, start.elapsed())
}

/// Tests without LLVM or islpy check too little to pass. Those that need Neovim, Chromium, the
/// tester of grammars or mdBook are listed as skipped.
fn setup_outcome(tools: &Tools) -> Outcome {
    match tools.llvm.as_ref().err().or(tools.islpy.as_ref().err()) {
        None => Outcome::Passed,
        Some(reason) => Outcome::Failed(reason.clone()),
    }
}

/// Prints the table; failure unless every step passed.
fn report(rows: &[(&str, &str, Duration, Outcome)], total: Duration) -> Result<(), Failure> {
    println!("\nstep         seconds           what");
    let mut bad = 0;
    for (name, does, time, outcome) in rows {
        let (word, reason) = match outcome {
            Outcome::Passed => ("passed", None),
            Outcome::Failed(reason) => ("FAILED", Some(reason)),
        };
        println!("{name:<12}{:>8.1}  {word:<9}{does}", time.as_secs_f64());
        if let Some(reason) = reason {
            bad += 1;
            println!("{:22}{reason}", "");
        }
    }
    println!("{:<12}{:>8.1}", "all", total.as_secs_f64());
    print!("{}", skips(&std::fs::read_to_string(setup::skipped()).unwrap_or_default()));
    if bad == 0 { Ok(()) } else { Err(format!("{bad} of {} steps did not pass", rows.len())) }
}

/// Returns a paragraph for each missing tool: the tests that skipped their comparison with it.
fn skips(list: &str) -> String {
    let mut by_tool: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (tool, test) in list.lines().filter_map(|line| line.split_once('\t')) {
        by_tool.entry(tool).or_default().insert(test);
    }
    let paragraph = |(tool, tests): (&str, BTreeSet<&str>)| {
        let names: Vec<&str> = tests.into_iter().collect();
        format!("SKIPPED without {tool}: {} tests\n  {}\n", names.len(), names.join("\n  "))
    };
    by_tool.into_iter().map(paragraph).collect()
}

#[test]
fn skipped_tests_are_listed_once_by_tool() {
    let list = "opt\tb::two\nislpy\tisl::all\nopt\ta::one\nopt\tb::two\n";
    let text =
        "SKIPPED without islpy: 1 tests\n  isl::all\nSKIPPED without opt: 2 tests\n  a::one\n  b::two\n";
    assert_eq!(skips(list), text);
}

fn tidy(tools: &Tools) -> Result<(), Failure> {
    execute(cargo_with(tools).args(["test", "--quiet", "--package", "xtask"]))
}

/// Runs clippy on everything with LLVM, and on what differs without it.
fn lint(tools: &Tools) -> Result<(), Failure> {
    let clippy = |arguments: &[&str]| {
        let mut command = cargo_with(tools);
        execute(command.arg("clippy").args(PROFILE).args(arguments).args(["--", "-D", "warnings"]))
    };
    clippy(&[&["--workspace", "--all-targets"], &features(tools)[..]].concat())?;
    if tools.llvm.is_ok() { clippy(&["--package", "loomir", "--lib", "--bins"]) } else { Ok(()) }
}

/// Returns the arguments that link LLVM, if it is there.
fn features(tools: &Tools) -> Vec<&'static str> {
    if tools.llvm.is_ok() { vec!["--features", LLVM_FEATURES] } else { Vec::new() }
}

/// The profile of all steps.
const PROFILE: [&str; 2] = ["--profile", "test"];

/// The crates that are tested together. Another choice would have other features, and be compiled
/// once more.
const TESTED: [&str; 3] = ["--workspace", "--exclude", "xtask"];

/// Runs cargo on the crates that are tested.
fn run_on_tested(tools: &Tools, subcommand: &str, targets: &[&str]) -> Result<(), Failure> {
    execute(&mut on_tested(tools, subcommand, targets))
}

/// Returns cargo on the crates that are tested.
fn on_tested(tools: &Tools, subcommand: &str, targets: &[&str]) -> Command {
    let mut cargo = cargo_with(tools);
    cargo.arg(subcommand).args(TESTED).args(features(tools)).args(targets);
    cargo
}

/// Runs all tests. With all tools, they read all snapshots.
fn test(tools: &Tools) -> Result<(), Failure> {
    let tests = on_tested(tools, "test", &["--tests", "--no-fail-fast"]);
    execute(&mut snapshots::listing(tests))?;
    if tools.llvm.is_ok() { snapshots::check() } else { Ok(()) }
}

fn doc_test(tools: &Tools) -> Result<(), Failure> {
    run_on_tested(tools, "test", &["--doc", "--no-fail-fast"])
}

/// Builds the programs of the campaigns, and runs samples.
fn campaigns(tools: &Tools) -> Result<(), Failure> {
    run_on_tested(tools, "build", &[&["--examples"], &PROFILE[..]].concat())?;
    campaign::run_samples(tools)
}

/// Renders the book, or lists it as skipped without mdBook.
fn book(tools: &Tools) -> Result<(), Failure> {
    match &tools.mdbook {
        Ok(mdbook) => render(mdbook),
        Err(_) => setup::skip("mdBook", "book"),
    }
}

/// Renders the book with mdBook.
pub(crate) fn render(mdbook: &Path) -> Result<(), Failure> {
    execute(command(mdbook).args(["build", "book", "--dest-dir"]).arg(setup::target().join("book")))
}

fn doc(tools: &Tools) -> Result<(), Failure> {
    let mut command = cargo_with(tools);
    command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--workspace", "--no-deps"]);
    execute(command.args(PROFILE).args(features(tools)))
}
