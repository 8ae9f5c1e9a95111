//! Checks of dialects through text, shared by the tests of this folder.
//!
//! A fixture is a file of MLIR in `fixtures/`. `mlir-opt` of LLVM 22 is the reference if the
//! variable `LOOMIR_LLVM` names its folder. Without it, tests compare only with snapshots.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use loomir_ir::rewrite::{Limits, apply_patterns_greedily};
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::{Body, Context, verifier};
use peers::Peer;

#[path = "../../../testing/src/peers.rs"]
pub mod peers;

const ALLOW_UNREGISTERED: &str = "--allow-unregistered-dialect";

/// Returns a fixture's text.
pub fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns a module's text.
pub fn print(body: &Body, generic: bool) -> String {
    text::print(body, &PrintOptions { generic, ..PrintOptions::default() })
}

/// Reads and verifies a module.
///
/// # Errors
/// All diagnostics, one line each.
pub fn read(ctx: &Context, source: &str) -> Result<Body, String> {
    let body = text::parse(ctx, source, "input").map_err(|d| d.to_text(ctx))?;
    let diagnostics = verifier::verify(&body);
    if diagnostics.is_empty() { Ok(body) } else { Err(diagnostics.to_text(ctx)) }
}

/// Reads a printed module back and prints it again.
fn reread(source: &str, generic: bool) -> String {
    let ctx = loomir_dialects::context();
    match read(&ctx, source) {
        Ok(body) => print(&body, generic),
        Err(message) => panic!("what was printed does not read:\n{source}\n{message}"),
    }
}

/// Returns both forms of a module, as [`forms`]. Checks that `mlir-opt` prints the same generic
/// form.
pub fn both_forms(source: &str) -> (String, String) {
    let (custom, generic) = forms(source);
    if let Some(peer) = mlir_opt(source, &["--mlir-print-op-generic"]) {
        let peer = peer.expect("mlir-opt accepts the fixture");
        pretty_eq("generic form of mlir-opt", generic.trim(), peer.trim());
    }
    (custom, generic)
}

/// Returns both forms of a module. Checks that each reads back as itself and as the other, and that
/// `mlir-opt` prints the same custom form, with and without locations.
pub fn forms(source: &str) -> (String, String) {
    let ctx = loomir_dialects::context();
    let body = read(&ctx, source).unwrap_or_else(|message| panic!("{message}"));
    let (custom, generic) = (print(&body, false), print(&body, true));
    pretty_eq("custom form read back", &reread(&custom, false), &custom);
    pretty_eq("generic form read back", &reread(&generic, true), &generic);
    pretty_eq("generic form read back as custom", &reread(&generic, false), &custom);
    if let Some(peer) = mlir_opt(source, &[]) {
        pretty_eq(
            "custom form of mlir-opt",
            custom.trim(),
            peer.expect("mlir-opt accepts the fixture").trim(),
        );
    }
    check_locations(source);
    (custom, generic)
}

/// Checks that a module printed with its locations reads back as itself, and that `mlir-opt` prints
/// the same.
fn check_locations(source: &str) {
    let ctx = loomir_dialects::context();
    let with_locations = |source: &str| {
        let body = text::parse(&ctx, source, "<stdin>").unwrap_or_else(|d| panic!("{}", d.to_text(&ctx)));
        text::print(&body, &PrintOptions { debug_info: true, ..PrintOptions::default() })
    };
    let custom = with_locations(source);
    pretty_eq("custom form with locations read back", &with_locations(&custom), &custom);
    if let Some(peer) = mlir_opt(source, &["--mlir-print-debuginfo"]) {
        let peer = peer.expect("mlir-opt accepts the fixture");
        pretty_eq("custom form with locations of mlir-opt", custom.trim(), peer.trim());
    }
    if let Some(peer) = mlir_opt(&custom, &["--mlir-print-debuginfo"]) {
        let peer = peer.expect("mlir-opt accepts what is printed");
        pretty_eq("custom form with locations through mlir-opt", peer.trim(), custom.trim());
    }
}

/// Compares texts line by line, so that a failure shows the first line that differs.
pub fn pretty_eq(what: &str, found: &str, expected: &str) {
    if found == expected {
        return;
    }
    let lines = found.lines().zip(expected.lines()).enumerate();
    let first = lines.clone().find(|(_, (a, b))| a != b);
    match first {
        Some((i, (a, b))) => panic!("{what}, line {}:\n   found: {a}\nexpected: {b}", i + 1),
        None => panic!("{what}: one has more lines\n   found:\n{found}\nexpected:\n{expected}"),
    }
}

/// The line between two programs of one fixture.
pub const SEPARATOR: &str = "// -----\n";

/// Returns, for each program, true if `mlir-opt` accepts it. All programs go into one run; if it
/// crashes, each half goes into a run of its own. `None` if `mlir-opt` is not installed.
fn accepted_by_mlir_opt(programs: &[&str]) -> Option<Vec<bool>> {
    let source = programs.join(&format!("\n{SEPARATOR}"));
    let output = Peer::find("mlir-opt")?.output(&source, &[ALLOW_UNREGISTERED, "--split-input-file"]).ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // A rejected program prints nothing but the separator.
    let answers: Vec<bool> = text.split(SEPARATOR).map(|printed| !printed.trim().is_empty()).collect();
    if answers.len() == programs.len() && output.status.code().is_some() {
        return Some(answers);
    }
    if programs.len() == 1 {
        return Some(vec![false]);
    }
    let (left, right) = programs.split_at(programs.len() / 2);
    Some([accepted_by_mlir_opt(left)?, accepted_by_mlir_opt(right)?].concat())
}

/// Returns each of the programs in `source`, separated by lines `// -----`, with its diagnostics.
/// Each must have some, and `mlir-opt` must not accept it either.
pub fn rejections(source: &str) -> String {
    let mut report = String::new();
    let programs: Vec<&str> = source.split(SEPARATOR).map(str::trim).collect();
    let accepted = accepted_by_mlir_opt(&programs).unwrap_or_default();
    for (i, program) in programs.into_iter().enumerate() {
        let ctx = loomir_dialects::context();
        let message = match read(&ctx, program) {
            Ok(body) => panic!("accepted:\n{program}\nas\n{}", print(&body, true)),
            Err(message) => message,
        };
        let peer_accepts = accepted.get(i) == Some(&true);
        assert!(!peer_accepts, "mlir-opt accepts what was refused:\n{program}\n{message}");
        report.push_str(program);
        report.push('\n');
        for line in message.lines() {
            report.push_str("  => ");
            report.push_str(line.trim_start_matches("input:"));
            report.push('\n');
        }
        report.push('\n');
    }
    report
}

/// Returns each of the programs in `source`, separated by lines `// -----`, with its diagnostics.
/// Each must have some.
pub fn refusals(source: &str) -> String {
    let mut report = String::new();
    for program in source.split(SEPARATOR) {
        let message = read(&loomir_dialects::context(), program).expect_err("refused");
        report.push_str(&format!("{program}  => {message}\n"));
    }
    report
}

/// Returns the module after folds and the removal of unused operations, function by function.
/// Verified before and after.
pub fn folded(source: &str) -> String {
    let ctx = loomir_dialects::context();
    let mut body = read(&ctx, source).unwrap_or_else(|message| panic!("{message}"));
    for op in body.all_ops().collect::<Vec<_>>() {
        if let Some(nested) = body.nested_mut(op) {
            let report = apply_patterns_greedily(nested, &[], Limits::default());
            assert!(report.stopped.is_none(), "{report:?}");
        }
    }
    let text = print(&body, false);
    let diagnostics = verifier::verify(&body);
    assert!(diagnostics.is_empty(), "{}\n{text}", diagnostics.to_text(&ctx));
    text
}

/// Runs `mlir-opt` on a program. Returns its output or its error, or `None` if it is not installed.
pub fn mlir_opt(source: &str, options: &[&str]) -> Option<Result<String, String>> {
    Some(Peer::find("mlir-opt")?.run(source, &[&[ALLOW_UNREGISTERED], options].concat()))
}
