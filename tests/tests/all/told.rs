//! Every unfused pair of neighbouring loops gets a remark: of two loops that still follow each
//! other in a block after fusion, a remark names one.

use std::collections::BTreeMap;
use std::path::Path;

use loomir::dialects::{affine, scf};
use loomir::ir::text::split_source;
use loomir::ir::{Body, Diagnostic, Loc, Op};
use loomir::transforms::fusion::{Options, fuse};
use loomir_tests::Checker;
use loomir_tests::generate::generate;
use loomir_tests::random::Random;

/// Returns the pairs of neighbouring loops in a block of a function.
fn neighbours(body: &Body) -> Vec<[Op; 2]> {
    let kinds = [
        affine::ForOp::DEF,
        affine::ParallelOp::DEF,
        scf::ForOp::DEF,
        scf::ParallelOp::DEF,
        scf::ForallOp::DEF,
    ];
    let (mut found, mut last) = (Vec::new(), BTreeMap::new());
    for op in body.preorder(body.root()).filter(|op| kinds.into_iter().any(|def| body.is(*op, def))) {
        let Some(block) = body.block_of(op) else { continue };
        if let Some(before) = last.insert(block.index(), op) {
            found.push([before, op]);
        }
    }
    found
}

/// Returns the loops that stay apart without a remark, and the number of loops that stay apart.
fn silent(text: &str) -> (Vec<String>, usize) {
    let checker = Checker::default();
    let mut module = checker.read(text).unwrap_or_else(|errors| panic!("{}\n{text}", checker.lines(&errors)));
    let place = |loc: Loc| checker.lines(&Diagnostic::remark(loc, "").into());
    let (mut silent, mut apart) = (Vec::new(), 0);
    for function in module.nested_in_order() {
        // Prologues and epilogues of a shifted loop are copies of loops that a remark names.
        let report = fuse(function, &Options { max_shift: 0, ..Options::default() });
        let mut told: Vec<String> = Vec::new();
        for remark in report.remarks.iter() {
            told.push(place(remark.loc));
            told.extend(remark.notes.iter().map(|(loc, _)| place(*loc)));
        }
        for pair in neighbours(function) {
            let [first, second] = pair.map(|op| place(function.loc(op)));
            // Remainders before and behind a fused loop are copies of one.
            if first == second {
                continue;
            }
            apart += 1;
            if !told.contains(&first) && !told.contains(&second) {
                silent.push(format!("{first} {second}"));
            }
        }
    }
    (silent, apart)
}

#[test]
fn fixtures_say_why_loops_stay_apart() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fusion");
    let mut apart = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder of fixtures").flatten() {
        let file = entry.path();
        if file.extension().is_none_or(|extension| extension != "mlir") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for chunk in split_source(&text, "// -----") {
            let (silent, count) = silent(chunk.text);
            assert!(silent.is_empty(), "{}:{}: {silent:?}", file.display(), chunk.first_line);
            apart += count;
        }
    }
    assert!(apart > 50, "only {apart} pairs stay apart");
}

#[test]
fn random_programs_say_why_loops_stay_apart() {
    let mut apart = 0;
    for index in 0..300 {
        let text = generate(&mut Random::of_case(5, index)).to_mlir().mlir;
        let (silent, count) = silent(&text);
        assert!(silent.is_empty(), "case {index}: {silent:?}\n{text}");
        apart += count;
    }
    assert!(apart > 300, "only {apart} pairs stay apart");
}
