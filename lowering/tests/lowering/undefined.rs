//! Undefined behaviour in LLVM IR: each kind that the interpreter knows is reported where it
//! happens, with its cause. Beside each is a similar case that is allowed.
//!
//! The fixture holds functions, each below lines `; run @name(argument ; …)`. The snapshot is the
//! outcome of every run.

use std::fmt::Write;

use loomir_dialects::interp::{ArgSpec, Fault, Limits, run};
use loomir_ir::{Body, Diagnostics};
use loomir_lowering::from_ll;

use crate::fixture::{accepts, context};

/// Returns the outcome or the fault of a run, as text.
fn outcome(module: &Body, name: &str, arguments: &str) -> String {
    let ctx = module.ctx();
    let limits = Limits { steps: 100_000, call_depth: 100, memory: 1 << 20 };
    let specs = arguments.split(" ; ").filter(|text| !text.is_empty()).map(|text| ArgSpec::parse(ctx, text));
    let specs: Result<Vec<ArgSpec>, Box<Fault>> = specs.collect();
    match specs.and_then(|specs| run(module, name, &specs, &limits)) {
        Ok(outcome) => outcome.to_text(),
        Err(fault) => format!("{:?} {}", fault.kind, Diagnostics::from(fault.diagnostic).to_text(ctx)),
    }
}

#[test]
fn every_kind_is_reported() {
    let (ctx, source) = (context(), include_str!("fixtures/ll/undefined.ll"));
    let module =
        from_ll(&ctx, source, "undefined.ll").unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    let mut report = String::new();
    for call in source.lines().filter_map(|line| line.strip_prefix("; run @")) {
        let (name, arguments) = call.split_once('(').expect("a call");
        let outcome = outcome(&module, name, arguments.strip_suffix(')').expect("a call"));
        let outcome = if outcome.is_empty() { "returns" } else { outcome.trim_end() };
        let _ = writeln!(report, "@{call}\n  {}", outcome.replace('\n', "\n  "));
    }
    insta::assert_snapshot!(report);
    if let Some(folder) = crate::llvm() {
        assert!(accepts(&folder, "opt", &["-passes=verify", "-disable-output", "-"], source));
    }
}
