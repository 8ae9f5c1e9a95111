//! The interpreter: what programs give, and what it says of those that do what no program may.
//!
//! A fixture in `fixtures/interp/` holds functions, each below lines `// run @name(argument ; …)`. The snapshot is the outcome of
//! every run.

use std::fmt::Write as _;
use std::path::Path;

use loomir_dialects::interp::{ArgSpec, Fault, Limits, run};
use loomir_ir::{Body, Context, Diagnostics};

fn limits() -> Limits {
    Limits { steps: 100_000, call_depth: 100, memory: 1 << 20 }
}

fn read(ctx: &Context, name: &str) -> (String, Body) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/interp").join(name);
    let source = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let body = loomir_ir::text::parse(ctx, &source, name).unwrap_or_else(|d| panic!("{}", d.to_text(ctx)));
    (source, body)
}

fn text(ctx: &Context, fault: &Fault) -> String {
    format!("{:?} {}", fault.kind, Diagnostics::from(fault.diagnostic.clone()).to_text(ctx))
}

/// The outcome of every run a fixture asks for.
fn runs(name: &str) -> String {
    let ctx = loomir_dialects::context();
    let (source, body) = read(&ctx, name);
    let mut report = String::new();
    for line in source.lines() {
        let Some(call) = line.strip_prefix("// run @") else { continue };
        let (entry, arguments) = call.split_once('(').expect("a call");
        let arguments = arguments.strip_suffix(')').expect("a call");
        let specs = arguments.split(" ; ").filter(|a| !a.is_empty()).map(|a| ArgSpec::parse(&ctx, a));
        let outcome =
            specs.collect::<Result<Vec<_>, _>>().and_then(|specs| run(&body, entry, &specs, &limits()));
        let outcome = match outcome {
            Ok(outcome) => outcome.to_text(),
            Err(fault) => text(&ctx, &fault),
        };
        let _ = writeln!(report, "@{call}");
        for line in outcome.lines() {
            let _ = writeln!(report, "  {line}");
        }
    }
    report
}

macro_rules! fixtures {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(runs(concat!(stringify!($name), ".mlir")));
        })*
    };
}

fixtures!(arguments, arith, affine, control, faults, llvm, memory);
