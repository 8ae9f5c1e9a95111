//! Fusion on control flow graphs preserves random functions of neighbouring loops.

use loomir::ir::diagnostics::Arg;
use loomir::ir::symbols::SymbolTable;
use loomir::ir::{Body, Diagnostics};
use loomir::lowering::cfg::loop_fusion::{Options, Strategy, fuse_pair};
use loomir_tests::Checker;
use loomir_tests::behaviour::same_behaviour;
use loomir_tests::neighbours::{Between, CALLED, Neighbours, in_form, neighbours, neighbours_apart_by};
use loomir_tests::random::Random;

const CASES: u64 = 2000;

/// The sums of what remarks tell about fused loops.
#[derive(Default, Debug)]
struct Counts {
    fused: usize,
    refused: usize,
    /// Fusions after iterations of the first loop.
    late: usize,
    /// Fusions before the rest of a loop.
    rests: usize,
    /// Operations between two loops that moved in front of both, behind both, or stay between.
    hoisted: i64,
    sunk: i64,
    kept: i64,
}

impl Counts {
    fn add(&mut self, remarks: &Diagnostics) {
        self.refused += remarks.iter().filter(|own| own.is_missed()).count();
        for fused in remarks.iter().filter(|own| own.is_passed()).filter_map(|own| own.remark.as_deref()) {
            let number = |key: &str| match fused.args.iter().find(|(own, _)| *own == key) {
                Some((_, Arg::Number(number))) => *number,
                _ => 0,
            };
            self.fused += 1;
            self.late += usize::from(number("peeled") > 0);
            self.rests += usize::from(number("remainders") > 0);
            self.hoisted += number("hoisted");
            self.sunk += number("sunk");
            self.kept += number("kept");
        }
    }
}

#[test]
fn neighbouring_loops_do_the_same_after_fusion() {
    let (mut counts, mut compared) = (Counts::default(), 0);
    for index in 0..CASES {
        let function = neighbours(&mut Random::of_case(1, index), "kernel");
        let (remarks, runs) = fused_alike(index, &function, &format!("peel-max-count={}", index % 4));
        compared += runs;
        counts.add(&remarks);
    }
    let Counts { fused, refused, late, rests, hoisted, sunk, .. } = counts;
    assert!(fused > 200 && refused > 200 && compared as u64 > 3 * CASES, "{compared} runs: {counts:?}");
    assert!(late > 50 && rests > 50, "{counts:?}");
    assert!(hoisted > 20 && sunk > 40, "{counts:?}");
}

#[test]
fn what_is_kept_between_loops_does_the_same() {
    let (mut counts, mut compared) = (Counts::default(), 0);
    for index in 0..CASES {
        let random = &mut Random::of_case(7, index);
        let function = neighbours_apart_by(random, "kernel", Between::FirstElements);
        let options = format!("peel-max-count={} fusion-profitability=always", 1 + index % 3);
        let (remarks, runs) = fused_alike(index, &function, &options);
        compared += runs;
        counts.add(&remarks);
    }
    let Counts { fused, kept, .. } = counts;
    assert!(kept > 300 && fused > 500 && compared as u64 > 3 * CASES, "{compared} runs: {counts:?}");
}

/// Fuses the loops of a function with these options, with checked analyses and without, and
/// compares runs before and after. Returns the remarks and the number of compared runs.
fn fused_alike(index: u64, function: &Neighbours, options: &str) -> (Diagnostics, usize) {
    let text = CALLED.to_owned() + &function.text;
    let checker = Checker::default();
    let read = || {
        loomir::lowering::from_ll(&checker.ctx, &text, "kernel.ll")
            .unwrap_or_else(|e| panic!("case {index}: {}\n{text}", checker.lines(&e)))
    };
    let (before, mut after, mut unchecked) = (read(), read(), read());
    let pipeline = format!("builtin.module(llvm.func(loop-fusion{{{options}}}))");
    let remarks = checker
        .run(&pipeline, &mut after)
        .unwrap_or_else(|errors| panic!("case {index}: {}\n{text}", checker.lines(&errors)));
    // Checked analyses are updated after each step.
    checker
        .run_unchecked(&pipeline, &mut unchecked)
        .unwrap_or_else(|errors| panic!("case {index}: {}\n{text}", checker.lines(&errors)));
    assert_eq!(loomir::print(&unchecked), loomir::print(&after), "case {index}:\n{text}");
    match same_behaviour(&before, &after, "kernel", &function.calls, &Default::default()) {
        Ok(agreement) => (remarks, agreement.compared),
        Err(difference) => panic!("case {index}: {difference}\n{text}\n{}", loomir::print(&after)),
    }
}

/// Every pair that a dependence strategy allows is allowed by the exact strategy too, and the
/// result is right.
#[test]
fn no_strategy_fuses_what_the_exact_one_refuses() {
    let mut fused = [0; 4];
    let mut compared = 0;
    for index in 0..CASES / 4 {
        let function = neighbours(&mut Random::of_case(5, index), "kernel");
        let text = CALLED.to_owned() + &function.text;
        let checker = Checker::default();
        let before = loomir::lowering::from_ll(&checker.ctx, &text, "kernel.ll")
            .unwrap_or_else(|e| panic!("case {index}: {}\n{text}", checker.lines(&e)));
        for at in 0.. {
            let pairs = Strategy::ALL.map(|strategy| pair_fused(&before, at, strategy));
            let [Some(scev), Some(da), Some(all), Some(exact)] = pairs else { break };
            let found = [scev, da, all, exact];
            let is_fused = found.each_ref().map(Option::is_some);
            for (own, fused) in is_fused.iter().zip(&mut fused) {
                *fused += usize::from(*own);
            }
            let [scev, da, all, exact] = is_fused;
            assert!(all <= exact && (scev || da) <= all, "case {index}, pair {at}: {is_fused:?}\n{text}");
            let Some(after) = found.into_iter().flatten().next() else { continue };
            match same_behaviour(&before, &after, "kernel", &function.calls, &Default::default()) {
                Ok(agreement) => compared += agreement.compared,
                Err(difference) => panic!("case {index}: {difference}\n{text}\n{}", loomir::print(&after)),
            }
        }
    }
    let [scev, da, all, exact] = fused;
    let counts = format!("{scev} by scev, {da} by da, {all} by either, {exact} exactly; {compared} compared");
    assert!(scev > 50 && da > 50 && exact > all && compared > 300, "{counts}");
}

/// Tries to fuse two consecutive loops of a function. Returns the module if they were fused.
/// Returns `None` if there are no two such loops.
fn pair_fused(before: &Body, at: usize, strategy: Strategy) -> Option<Option<Body>> {
    let (mut module, symbols) = (before.duplicate(), SymbolTable::of(before));
    let is_whole = |function: &&mut Body| function.entry_block(function.region(function.root(), 0)).is_some();
    let function = module.nested_in_order().into_iter().filter(is_whole).last()?;
    let (mut analysis, loops) = in_form(function, &symbols);
    let pair = <[_; 2]>::try_from(loops.get(at..at + 2)?).ok()?;
    let options = Options { strategy, ..Options::default() };
    let report = fuse_pair(function, &mut analysis, &symbols, pair, &options);
    Some((report.fused > 0).then_some(module))
}
