//! Loops of C functions become counted, and their accesses affine. The shares in
//! `benches/results/raised-functions.md` do not fall unnoticed.

use std::path::Path;
use std::process::Command;

use loomir::FuseOptions;
use loomir_tests::check::Checker;
use loomir_tests::peers::tool;

/// Files of `tests/inputs/c`, with the least numbers of counted loops and of affine accesses.
const FILES: [(&str, usize, usize); 3] = [("counters", 25, 25), ("matrices", 54, 56), ("stencils", 27, 64)];
const FLAGS: [&str; 7] =
    ["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-S", "-emit-llvm", "-w"];

#[test]
fn loops_of_c_count() {
    let Some(clang) = tool("clang") else { return };
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs").join("c");
    let checker = Checker::default();
    for (name, counted, affine) in FILES {
        let compiled = Command::new(&clang)
            .args(FLAGS)
            .arg(inputs.join(name).with_extension("c"))
            .args(["-o", "-"])
            .output()
            .expect("clang runs");
        let text = String::from_utf8(compiled.stdout).expect("LLVM IR is text");
        let mut module = checker.read(&text).expect("clang's output reads");
        let explained = loomir::explain(&mut module, &FuseOptions::default());
        let (own, all) = explained.accesses.counts();
        let raised = &explained.raised;
        assert!(raised.counted >= counted, "{name}: {} of {} loops", raised.counted, raised.loops);
        assert!(own >= affine, "{name}: {own} of {all} accesses");
        assert_eq!(raised.raised(), raised.loops, "{name}");
    }
}
