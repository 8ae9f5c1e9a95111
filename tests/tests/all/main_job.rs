//! The main job, end to end: MLIR as `mlir-opt` wrote it goes in, its loops are fused, and what
//! comes out computes the same on every engine there is.

use loomir::dialects::interp::{Limits, Outcome};
use loomir::{AliasMode, Engine, FuseOptions, execute, fuse, parse, print};

const INPUTS: [(&str, &str); 2] = [
    ("mlp.scf.mlir", include_str!("../../inputs/mlp.scf.mlir")),
    ("mlp.affine.mlir", include_str!("../../inputs/mlp.affine.mlir")),
];

const ARGUMENTS: [&str; 5] = ["random:1", "random:2", "random:3", "zeros", "zeros"];

fn outcome(name: &str, source: &str, fused: bool, engine: Engine) -> Outcome {
    let ctx = loomir::context();
    let mut module = parse(&ctx, source, name).unwrap_or_else(|d| panic!("{}", d.to_text(&ctx)));
    if fused {
        let options = FuseOptions { alias: AliasMode::Distinct, ..FuseOptions::default() };
        // Six nests on the outer level become one with five fusions; inside, four more loops join.
        assert_eq!(fuse(&mut module, &options).fused, 9);
        // The text is the product, so the text is what runs.
        let text = print(&module);
        module = parse(&ctx, &text, "fused.mlir").unwrap_or_else(|d| panic!("{}", d.to_text(&ctx)));
    }
    let mut outcome = execute(&mut module, "mlp_layer", &ARGUMENTS, engine, &Limits::default())
        .unwrap_or_else(|d| panic!("{}", d.to_text(&ctx)));
    outcome.steps = 0;
    outcome
}

#[test]
fn the_fused_program_computes_the_same_in_the_interpreter() {
    for (name, source) in INPUTS {
        let before = outcome(name, source, false, Engine::Interpreter);
        assert_eq!(before, outcome(name, source, true, Engine::Interpreter), "{name}");
    }
}

#[cfg(feature = "llvm")]
#[test]
fn compiled_code_computes_what_the_interpreter_does() {
    for (name, source) in INPUTS {
        let before = outcome(name, source, false, Engine::Interpreter);
        for level in 0..=3 {
            for fused in [false, true] {
                assert_eq!(before, outcome(name, source, fused, Engine::Jit(level)), "{name} at -O{level}");
            }
        }
    }
}

#[cfg(not(feature = "llvm"))]
#[test]
fn a_build_without_llvm_says_so() {
    let ctx = loomir::context();
    let mut module = parse(&ctx, INPUTS[0].1, INPUTS[0].0).expect("it reads");
    let failure = execute(&mut module, "mlp_layer", &ARGUMENTS, Engine::Jit(2), &Limits::default());
    let text = failure.expect_err("nothing can be compiled").to_text(&ctx);
    assert!(text.contains("--features llvm"), "{text}");
}
