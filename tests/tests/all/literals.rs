//! Literals of types, attributes and locations, right and wrong ones, a line each in
//! `tests/literals/`: read, printed, and judged by `mlir-opt` 22, which must refuse the same and
//! print the same.

use std::fmt::Write;

use loomir::ir::text::{self, PrintOptions};
use loomir::ir::{Context, Registry};
use loomir_tests::peers::Peer;

/// The separator of programs.
const SEPARATOR: &str = "// -----\n";

/// Returns the program as Loomir prints it, or its error message.
fn ours(program: &str, options: &PrintOptions) -> Result<String, String> {
    let ctx = Context::new(Registry::new());
    let body = text::parse(&ctx, program, "<stdin>").map_err(|d| d.to_text(&ctx))?;
    let printed = text::print(&body, options);
    let again = text::parse(&ctx, &printed, "<stdin>").map_err(|d| d.to_text(&ctx));
    let again = again.map_err(|message| format!("does not read back: {message}\n{printed}"))?;
    assert_eq!(text::print(&again, options), printed);
    Ok(printed)
}

/// Checks each literal in the program that `around` makes of it. The report has a line for each:
/// the printed literal, or the error.
fn check(literals: &str, debug_info: bool, around: impl Fn(&str) -> String) -> String {
    let options = PrintOptions { generic: true, debug_info, ..PrintOptions::default() };
    let programs: Vec<String> = literals.lines().map(&around).collect();
    let theirs = Peer::find("mlir-opt").map(|peer| {
        let mut arguments =
            vec!["--allow-unregistered-dialect", "--split-input-file", "--mlir-print-op-generic"];
        arguments.extend(debug_info.then_some("--mlir-print-debuginfo"));
        // It prints nothing of a refused program.
        let text =
            peer.run_all(&programs.join(&format!("\n{SEPARATOR}")), &arguments).expect("mlir-opt runs");
        text.split(SEPARATOR).map(str::to_owned).collect::<Vec<_>>()
    });
    let (mut report, mut differences) = (String::new(), String::new());
    for (i, (literal, program)) in literals.lines().zip(&programs).enumerate() {
        let outcome = ours(program, &options);
        if let Some(theirs) = theirs.as_ref().map(|all| all[i].trim()) {
            let same = match &outcome {
                Ok(text) => text.trim() == theirs,
                Err(_) => theirs.is_empty(),
            };
            if !same {
                let _ = writeln!(differences, "== {literal}\n{outcome:?}\n{theirs}");
            }
        }
        let _ = match outcome {
            Ok(text) => writeln!(report, "{literal}\n  {}", of_interest(&text)),
            Err(message) => writeln!(report, "{literal}\n  ! {}", message.lines().next().unwrap_or_default()),
        };
    }
    assert!(differences.is_empty(), "{differences}");
    report
}

/// Returns the lines of a printed module that hold the literal.
fn of_interest(text: &str) -> String {
    let lines = text.lines().filter(|line| line.starts_with('#') || line.contains("t.x"));
    lines.map(str::trim).collect::<Vec<_>>().join("\n  ")
}

#[test]
fn types() {
    insta::assert_snapshot!(check(include_str!("../../literals/types.txt"), false, |ty| {
        format!("%0 = \"t.x\"() : () -> ({ty})\n")
    }));
}

#[test]
fn attributes() {
    insta::assert_snapshot!(check(include_str!("../../literals/attributes.txt"), false, |attr| {
        format!("\"t.x\"() {{a = {attr}}} : () -> ()\n")
    }));
}

#[test]
fn locations() {
    insta::assert_snapshot!(check(include_str!("../../literals/locations.txt"), true, |loc| {
        format!("\"builtin.module\"() ({{\n  \"t.x\"() : () -> () loc({loc})\n}}) : () -> () loc(unknown)\n")
    }));
}
