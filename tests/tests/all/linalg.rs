//! `linalg` on memrefs against MLIR: the loops that its passes make, and runs of both.

use loomir::dialects::interp::Limits;
use loomir::ir::pass::PassInstrumentor;
use loomir::ir::text::{SPLIT_MARKER, split_source};
use loomir::ir::{Body, Context};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::fixtures::sort_constants;
use loomir_tests::peers::Peer;
use loomir_tests::random::Random;

const PASSES: [&str; 2] = ["convert-linalg-to-loops", "convert-linalg-to-affine-loops"];

/// Returns the programs of the fixtures and the inputs.
fn programs() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files =
        ["fixtures/linalg/loops.mlir", "inputs/mlp.linalg.mlir", "../dialects/tests/fixtures/linalg.mlir"];
    let read = |file: &str| {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let parts: Vec<String> =
            split_source(&text, SPLIT_MARKER).into_iter().map(|part| part.text.to_owned()).collect();
        parts
    };
    files.into_iter().flat_map(read).collect()
}

fn parse(ctx: &Context, text: &str) -> Body {
    loomir::parse(ctx, text, "linalg.mlir").unwrap_or_else(|errors| panic!("{}\n{text}", errors.to_text(ctx)))
}

/// Returns the program after a pass, or nothing if the pass refuses it.
fn converted(ctx: &Context, text: &str, pass: &str) -> Option<Body> {
    let mut module = parse(ctx, text);
    let pipeline = format!("builtin.module({pass})");
    let passes =
        loomir::passes().parse(&pipeline).unwrap_or_else(|error| panic!("{}", error.to_text(&pipeline)));
    passes.run(&mut module, &PassInstrumentor::new()).succeeded().then_some(module)
}

/// After canonicalization, each program is the one that MLIR's pass makes. What a pass of ours
/// refuses, MLIR's turns into a program that its verifier refuses.
#[test]
fn loops_are_those_of_mlir() {
    let Some(peer) = Peer::find("mlir-opt") else { return };
    let ctx = loomir::context();
    let (mut compared, mut refused) = (0, 0);
    for program in programs() {
        for pass in PASSES {
            let canonical = |text: &str, options: &[&str]| {
                let text = peer.run(text, &[options, &["--canonicalize", "--cse"]].concat())?;
                let mut module = parse(&ctx, &text);
                module.for_each_body(&mut sort_constants);
                Ok::<_, String>(loomir::print(&module))
            };
            let theirs = canonical(&program, &[&format!("--{pass}")]);
            let Some(ours) = converted(&ctx, &program, pass) else {
                refused += 1;
                assert!(theirs.is_err(), "{pass} refuses\n{program}");
                continue;
            };
            let ours = canonical(&loomir::print(&ours), &[]).unwrap_or_else(|e| panic!("{e}\n{program}"));
            let theirs = theirs.unwrap_or_else(|e| panic!("{e}\n{program}"));
            assert_eq!(ours, theirs, "{pass} of\n{program}");
            compared += 1;
        }
    }
    assert!(compared >= 26 && refused == 1, "{compared} compared, {refused} refused");
}

/// The interpreter executes `linalg` as the loops that MLIR makes of it, and as ours.
#[test]
fn linalg_runs_as_its_loops() {
    let ctx = loomir::context();
    let peer = Peer::find("mlir-opt");
    let mut runs = 0;
    for program in programs() {
        let before = parse(&ctx, &program);
        let mut forms: Vec<Body> = PASSES.iter().filter_map(|pass| converted(&ctx, &program, pass)).collect();
        if let Some(peer) = &peer {
            let theirs = peer.run(&program, &[&format!("--{}", PASSES[0])]).unwrap_or_else(|e| panic!("{e}"));
            forms.push(parse(&ctx, &theirs));
        }
        let functions = program.match_indices("func.func @").map(|(at, start)| {
            let name = &program[at + start.len()..];
            &name[..name.find('(').unwrap_or(0)]
        });
        for entry in functions {
            let mut calls = inputs(&before, entry, &mut Random::new(7)).unwrap_or_default();
            calls.truncate(3);
            for after in &forms {
                match same_behaviour(&before, after, entry, &calls, &Limits::default()) {
                    Ok(agreement) => runs += agreement.compared,
                    Err(difference) => panic!("@{entry}: {difference}\n{}", loomir::print(after)),
                }
            }
        }
    }
    assert!(runs > 100, "{runs} runs");
}
