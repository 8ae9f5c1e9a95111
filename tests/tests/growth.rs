//! The growth of the cost of fusion, contraction and lowering, with the number of loops. They run
//! alone, because others would share the processor.

use std::time::{Duration, Instant};

use loomir::ir::Body;
use loomir::lowering::{convert_scf_to_cf, convert_to_llvm, lower_affine, to_ll};
use loomir::{ContractionOptions, FuseOptions};
use loomir_tests::chains::Chain;

/// Returns the shortest of three times to read, fuse and print a chain.
fn fusion(chain: Chain, loops: usize) -> Duration {
    let source = chain.to_mlir(loops, 64);
    let once = || {
        let start = Instant::now();
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let report = loomir::fuse(&mut module, &FuseOptions::default());
        // Each loop that reads ahead is shifted by one iteration more than the one before, and by
        // eight at most.
        let groups = if chain == Chain::ReadAhead { loops.div_ceil(9) } else { 1 };
        let expected = loops - groups;
        assert_eq!(report.fused, expected, "{chain:?}");
        assert!(loomir::print(&module).len() > loops);
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// No work is quadratic in the loops, with one exception. For loops of any order, fusion also
/// checks that the second may run before the first, against all objects of the loops fused so far.
#[test]
fn fusion_takes_time_linear_in_the_loops() {
    let is_exception = |chain: &Chain| matches!(chain, Chain::ParallelProducers | Chain::ForallProducers);
    let all = Chain::ALL.into_iter().filter(|chain| !is_exception(chain));
    all.for_each(|chain| chain.grows_linearly(|loops| fusion(chain, loops)));
}

/// Returns the shortest of three contractions of a fused chain.
fn contraction(chain: Chain, loops: usize) -> Duration {
    let source = chain.to_mlir(loops, 64);
    let once = || {
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        loomir::fuse(&mut module, &FuseOptions::default());
        let start = Instant::now();
        loomir::contract(&mut module, &ContractionOptions::default());
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn contraction_takes_time_linear_in_the_loops() {
    Chain::ALL.into_iter().for_each(|chain| chain.grows_linearly(|loops| contraction(chain, loops)));
}

/// The cost of lowering a chain.
struct Cost {
    /// To branches.
    branches: Duration,
    /// From the previous stage to the `llvm` dialect and its text.
    llvm: Duration,
    /// The memory of the final module, including freed room.
    bytes: usize,
}

fn lower(chain: Chain, loops: usize) -> Cost {
    let ctx = loomir::context();
    let source = chain.to_mlir(loops, 64);
    let mut module =
        loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let run = |module: &mut Body, step: fn(&mut Body) -> Result<(), loomir::ir::Diagnostics>| {
        step(module).unwrap_or_else(|e| panic!("{chain:?}: {}", e.to_text(&ctx)));
    };
    let start = Instant::now();
    run(&mut module, lower_affine);
    run(&mut module, convert_scf_to_cf);
    let branches = start.elapsed();
    let start = Instant::now();
    run(&mut module, convert_to_llvm);
    let text = to_ll(&module).unwrap_or_else(|e| panic!("{chain:?}: {}", e.to_text(&ctx)));
    let llvm = start.elapsed();
    assert!(text.matches("store float").count() >= loops && text.matches(" = phi ").count() >= loops);
    Cost { branches, llvm, bytes: module.bytes() }
}

#[test]
fn lowering_takes_time_linear_in_the_loops() {
    for chain in Chain::ALL {
        let least = |of: fn(&Cost) -> Duration| {
            move |loops| (0..3).map(|_| of(&lower(chain, loops))).min().unwrap_or_default()
        };
        chain.grows_linearly(least(|cost| cost.branches));
        chain.grows_linearly(least(|cost| cost.llvm));
    }
}

/// Twice the loops need twice the memory, and at most as much again as reserve.
#[test]
fn lowering_takes_memory_linear_in_the_loops() {
    for chain in Chain::ALL {
        let [some, more] = [300, 8 * 300].map(|loops| lower(chain, loops).bytes);
        assert!(
            some > 300 * 100 && more <= 16 * some,
            "{chain:?}: {some} bytes, of eight times the loops {more}"
        );
    }
}
