//! The rewiring check: fusing the tree and lowering it equals lowering it and fusing the graph.

use std::path::Path;

use loomir::ir::symbols::SymbolTable;
use loomir::ir::text::split_source;
use loomir::lowering::cfg::loop_fusion::Options;
use loomir::lowering::from_ll;
use loomir::lowering::rewiring::fuse_in_order;
use loomir::lowering::rewiring::normal::normalise;
use loomir_tests::Checker;
use loomir_tests::behaviour::same_behaviour;
use loomir_tests::neighbours::{CALLED, in_form, neighbours};
use loomir_tests::random::Random;
use loomir_tests::rewiring::{Tally, check_text, run_case};

/// All fusions of the fixtures that fuse unchanged adjacent loops.
#[test]
fn fixtures_of_fusion_come_to_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fusion");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    files.sort();
    let mut tally = Tally::default();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for chunk in split_source(&text, "// -----") {
            tally.cases += 1;

            check_text(chunk.text, 1, &mut tally)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), chunk.first_line));
        }
    }
    insta::assert_snapshot!(tally.to_text());
}

/// Random loop trees, and the number of tree fusions that can be compared.
#[test]
fn random_loop_trees_come_to_the_same() {
    let mut tally = Tally::default();
    for index in 0..400 {
        run_case(1, index, &mut tally).unwrap_or_else(|error| panic!("case {index}: {error}"));
    }
    let counts = tally.to_text();
    assert!(
        tally.steps > 100 && tally.adjacent_equal * 10 >= tally.adjacent * 7 && tally.runs > 1000,
        "{counts}"
    );
}

/// Random functions of neighbouring loops, guarded and unguarded. Fusing any two consecutive loops
/// gives a valid graph, and the normal form of both behaves the same.
#[test]
fn graphs_are_in_order_after_each_fusion() {
    let (mut fused, mut compared) = (0, 0);
    for index in 0..400 {
        let drawn = neighbours(&mut Random::of_case(3, index), "kernel");
        let text = CALLED.to_owned() + &drawn.text;
        let checker = Checker::default();
        let mut module = from_ll(&checker.ctx, &text, "kernel.ll")
            .unwrap_or_else(|e| panic!("case {index}: {}\n{text}", checker.lines(&e)));
        let (before, symbols) = (module.duplicate(), SymbolTable::of(&module));
        for function in module.nested_in_order() {
            if function.entry_block(function.region(function.root(), 0)).is_none() {
                continue;
            }
            let (mut analysis, loops) = in_form(function, &symbols);
            let Some((first, others)) = loops.split_first() else { continue };
            let mut first = *first;
            let options = Options { whole: true, ..Options::default() };
            for second in others {
                let report = fuse_in_order(function, &mut analysis, &symbols, [first, *second], &options)
                    .unwrap_or_else(|broken| panic!("case {index}: {broken}\n{text}"));
                fused += report.fused;
                first = if report.fused > 0 { first } else { *second };
            }
            normalise(function, &symbols).unwrap_or_else(|e| panic!("case {index}: {}", checker.lines(&e)));
        }
        match same_behaviour(&before, &module, "kernel", &drawn.calls, &Default::default()) {
            Ok(agreement) => compared += agreement.compared,
            Err(difference) => panic!("case {index}: {difference}\n{text}\n{}", loomir::print(&module)),
        }
    }
    assert!(fused > 100 && compared > 800, "{fused} fused, {compared} compared");
}
