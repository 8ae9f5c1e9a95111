//! Fusion as a whole: random programs, the MLP from end to end, and how its cost grows.

use std::time::{Duration, Instant};

use loomir::{AliasMode, FuseOptions};
use loomir_testing::behaviour::{inputs, same_behaviour};
use loomir_testing::campaign::{Tally, run_case};
use loomir_testing::chains::Chain;
use loomir_testing::generate::{aliasings, generate};
use loomir_testing::peers::Peer;
use loomir_testing::random::Random;

/// About one in twenty of the cases of a full campaign.
const CASES: u64 = 100;

#[test]
fn random_programs_do_the_same_after_fusion() {
    let mut tally = Tally::default();
    for index in 0..CASES {
        if let Err(failure) = run_case(4, index, &mut tally) {
            panic!("case {index}, {}: {}\n{}", failure.kind, failure.detail, failure.program);
        }
    }
    let text = tally.to_text();
    assert!(tally.fused * 4 >= tally.cases, "too few programs are fused to say much:\n{text}");
    assert!(tally.refused * 4 >= tally.cases, "too few programs are refused to say much:\n{text}");
    assert!(tally.merged > 0, "no conditionals are merged:\n{text}");
    assert!(tally.affine_refusals > 0, "no refusal is held against the runs:\n{text}");
    assert!(tally.arrays_erased > 0 && tally.arrays_folded > 0, "no array is contracted:\n{text}");
}

#[test]
fn generated_programs_are_defined_and_mlir_before_and_after_fusion() {
    let mut texts = Vec::new();
    let mut defined = 0;
    for index in 0..CASES {
        let mut random = Random::of_case(3, index);
        let program = generate(&mut random);
        let ways = aliasings(&program, &mut random);
        defined += u64::from(program.execute(&program.parameters, &ways[0]).is_ok());
        let text = program.to_mlir().mlir;
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &text, "kernel.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        loomir::fuse(&mut module, &FuseOptions { alias: AliasMode::Distinct, ..FuseOptions::default() });
        texts.extend([text, loomir::print(&module)]);
    }
    assert!(defined * 100 >= CASES * 95, "only {defined} of {CASES} programs are defined");
    if let Some(peer) = Peer::find("mlir-opt") {
        peer.accepts_all(&texts).unwrap_or_else(|e| panic!("mlir-opt does not accept a program:\n{e}"));
    }
}

fn input(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs").join(name);
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Fuses one of the input files; the program with its remarks behind it, and how many pairs were fused.
fn fused(name: &str, alias: AliasMode) -> (String, usize) {
    let ctx = loomir::context();
    let source = input(name);
    let read = || loomir::parse(&ctx, &source, name).unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    let report = loomir::fuse(&mut after, &FuseOptions { alias, ..FuseOptions::default() });
    let mut calls = inputs(&before, "mlp_layer", &mut Random::new(1)).unwrap_or_default();
    calls.truncate(1);
    let agreement = same_behaviour(&before, &after, "mlp_layer", &calls, &Default::default());
    assert_eq!(agreement.map(|a| a.compared), Ok(1));
    let remarks: String = report.remarks.to_text(&ctx).lines().map(|line| format!("// {line}\n")).collect();
    let printed = loomir::print(&after);
    if let Some(peer) = Peer::find("mlir-opt") {
        peer.run(&printed, &[]).unwrap_or_else(|e| panic!("mlir-opt does not accept what is printed:\n{e}"));
    }
    (printed + &remarks, report.fused)
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn the_six_nests_of_the_mlp_become_one() {
    for name in ["mlp.scf.mlir", "mlp.affine.mlir"] {
        let (text, count) = fused(name, AliasMode::Distinct);
        let top_level =
            text.lines().filter(|l| l.starts_with("    scf.for") || l.starts_with("    affine.for"));
        assert_eq!(top_level.count(), 1, "{text}");
        assert!(count >= 5, "{text}");
        snapshot(&format!("{name}.distinct"), &text);
    }
}

#[test]
fn the_mlp_keeps_apart_what_may_overlap() {
    for name in ["mlp.scf.mlir", "mlp.affine.mlir"] {
        let (text, _) = fused(name, AliasMode::May);
        assert!(text.contains("--alias=distinct"), "{text}");
        snapshot(&format!("{name}.may"), &text);
    }
}

/// The least of three times of reading, fusing and printing a chain.
fn time(chain: Chain, loops: usize) -> Duration {
    let source = chain.to_mlir(loops, 64);
    let once = || {
        let start = Instant::now();
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let report = loomir::fuse(&mut module, &FuseOptions::default());
        // Each loop that reads ahead runs one iteration later than the one before, and none more than eight later.
        let groups = if chain == Chain::ReadAhead { loops.div_ceil(9) } else { 1 };
        let expected = loops - groups;
        assert_eq!(report.fused, expected, "{chain:?}");
        assert!(loomir::print(&module).len() > loops);
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// Nothing looks at all loops for each loop.
#[test]
fn work_grows_linearly_with_the_loops() {
    Chain::ALL.into_iter().for_each(|chain| chain.grows_linearly(|loops| time(chain, loops)));
}
