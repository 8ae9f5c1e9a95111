//! Tests of the interpreter: results of valid programs, and reports about undefined behaviour.
//!
//! A fixture in `fixtures/interp/` holds functions, each below lines `// run @name(argument ; …)`.
//! The snapshot is the outcome of every run. Fixtures with a few changed bytes, if they still
//! verify, must end in an outcome or a fault too.

use std::fmt::Write as _;
use std::path::Path;

use loomir_dialects::interp::arguments::SplitMix64;
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

/// Returns the outcome of every run that a fixture asks for.
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

fixtures!(arguments, arith, affine, blocks, control, faults, llvm, memory, vector);

/// Changes a few bytes of a program: digits, letters and punctuation for others of their kind.
fn mutated(source: &str, random: &mut SplitMix64) -> String {
    let mut bytes = source.as_bytes().to_vec();
    for _ in 0..1 + random.next_bits() % 3 {
        let at = (random.next_bits() % bytes.len() as u64) as usize;
        let pick = |set: &[u8], k: u64| set[(k % set.len() as u64) as usize];
        let k = random.next_bits();
        match bytes[at] {
            b'0'..=b'9' => bytes[at] = pick(b"0123456789", k),
            b'a'..=b'z' => bytes[at] = pick(b"abcdeijkmnsuxyz", k),
            b'%' | b'@' | b'^' | b'\n' | 0x80.. => {}
            _ => bytes[at] = pick(b" -,:()[]<>", k),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn changed_programs_end_in_an_outcome_or_a_fault() {
    let limits = Limits { steps: 2_000, call_depth: 20, memory: 1 << 20 };
    let mut random = SplitMix64(1);
    let (mut outcomes, mut faults) = (0, 0);
    for name in ["affine", "arith", "control", "faults", "llvm", "memory", "vector"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/interp/{name}.mlir"));
        let source = std::fs::read_to_string(path).expect("the fixture is there");
        for _ in 0..150 {
            let changed = mutated(&source, &mut random);
            let ctx = loomir_dialects::context();
            let Ok(body) = loomir_ir::text::parse(&ctx, &changed, name) else { continue };
            if !loomir_ir::verifier::verify(&body).is_empty() {
                continue;
            }
            for line in changed.lines() {
                let Some((entry, arguments)) = line.strip_prefix("// run @").and_then(|c| c.split_once('('))
                else {
                    continue;
                };
                let texts = arguments.trim_end_matches(')').split(" ; ").filter(|a| !a.is_empty());
                let specs: Result<Vec<_>, _> = texts.map(|text| ArgSpec::parse(&ctx, text)).collect();
                match specs.and_then(|specs| run(&body, entry, &specs, &limits)) {
                    Ok(_) => outcomes += 1,
                    Err(_) => faults += 1,
                }
            }
        }
    }
    assert!(outcomes > 1000 && faults > 1000, "{outcomes} outcomes, {faults} faults");
}
