//! End-to-end tests of lowering and of graphs: the growth of its cost in time and in memory, and
//! directives that clang writes.

use std::time::{Duration, Instant};

use loomir::ir::Body;
use loomir::lowering::{convert_scf_to_cf, convert_to_llvm, lower_affine, to_ll};
use loomir_tests::chains::Chain;

#[path = "lowering/pragmas.rs"]
mod pragmas;

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

/// No work is quadratic in the loops.
#[test]
fn work_grows_linearly_with_the_loops() {
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
fn memory_grows_linearly_with_the_loops() {
    for chain in Chain::ALL {
        let [some, more] = [300, 8 * 300].map(|loops| lower(chain, loops).bytes);
        assert!(
            some > 300 * 100 && more <= 16 * some,
            "{chain:?}: {some} bytes, of eight times the loops {more}"
        );
    }
}
