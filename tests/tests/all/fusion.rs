//! End-to-end tests of fusion: random programs, the complete MLP, and chains of loops.

use std::collections::BTreeMap;

use loomir::ir::Body;
use loomir::{AliasMode, ContractionOptions, FuseOptions};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::campaign::{Tally, run_case};
use loomir_tests::chains::Chain;
use loomir_tests::generate::{aliasings, generate};
use loomir_tests::peers::Peer;
use loomir_tests::random::Random;

/// The number of cases, about one in twenty of a full campaign.
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

/// Fuses one of the input files. Returns the program followed by its remarks, and the number of
/// fused pairs.
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

/// One run-time check selects the version. The inner levels fuse through the moved store as if
/// nothing overlapped.
#[test]
fn the_six_nests_of_the_mlp_become_one_version() {
    for name in ["mlp.scf.mlir", "mlp.affine.mlir"] {
        let (text, count) = fused(name, AliasMode::Version);
        let (_, without_a_test) = fused(name, AliasMode::Distinct);
        assert_eq!((count, text.matches("scf.if").count()), (without_a_test, 1), "{text}");
        snapshot(&format!("{name}.version"), &text);
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

/// Returns the number of stores to each live-out buffer in the program of a chain.
fn stores(chain: Chain, module: &Body) -> BTreeMap<String, usize> {
    let mut stores = BTreeMap::new();
    for line in loomir::print(module).lines().filter(|line| line.contains(".store ")) {
        let buffer = line.split(", ").nth(1).and_then(|place| place.split('[').next()).unwrap_or_default();
        if chain.is_live_out(buffer) {
            *stores.entry(buffer.to_owned()).or_default() += 1;
        }
    }
    stores
}

/// Live-out buffers are written after fusion by as many operations as before. After contraction the
/// last of several stores to one element remains. The contents are the same.
#[test]
fn chains_write_what_they_wrote() {
    const LOOPS: usize = 11;
    for chain in Chain::ALL {
        for (alias, trip) in [AliasMode::May, AliasMode::Version, AliasMode::Distinct]
            .into_iter()
            .flat_map(|alias| [1, 2, 7, 12].map(|trip| (alias, trip)))
        {
            let what = format!("{chain:?} over {trip} elements, {alias:?}");
            let ctx = loomir::context();
            let source = chain.to_mlir(LOOPS, trip).replace(" {llvm.noalias}", "");
            let read = || {
                loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)))
            };
            let (before, mut after) = (read(), read());
            let mut calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
            // The assumptions have to hold.
            calls.retain(|call| {
                alias != AliasMode::Distinct || call.iter().all(|word| !word.starts_with('@'))
            });
            let is_same = |after: &Body| {
                let agreement = same_behaviour(&before, after, "f", &calls, &Default::default());
                assert_eq!(agreement.map(|a| a.compared), Ok(calls.len()), "{what}");
            };
            assert!(calls.len() >= 2, "{what}");

            let all = stores(chain, &before);
            assert!(!all.is_empty(), "{what}");
            let report = loomir::fuse(&mut after, &FuseOptions { alias, ..FuseOptions::default() });
            assert!(report.fused > 0 || trip == 1, "{what}");
            let fused = stores(chain, &after);
            assert!(fused.keys().eq(all.keys()), "{what}: {fused:?}");
            assert!(all.iter().all(|(buffer, count)| fused[buffer] >= *count), "{what}: {fused:?}");
            is_same(&after);

            loomir::contract(&mut after, &ContractionOptions::default());
            assert!(stores(chain, &after).keys().eq(all.keys()), "{what}: {}", loomir::print(&after));
            is_same(&after);
        }
    }
}
