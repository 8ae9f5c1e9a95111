//! After `fuse`, no innermost loop reads or writes an element that stays the same in it, and
//! nothing touches memory that the program did not touch.

use loomir::dialects::interfaces::{Conditional, LoopLike, MemoryAccess};
use loomir::ir::{Body, Op};
use loomir::{ContractionOptions, FuseOptions};
use loomir_tests::Checker;
use loomir_tests::peers::Peer;
use loomir_tests::promotion::{Tally, run};

/// Returns the accesses in innermost loops that name their element by values from outside, without
/// those in the fallback of a run-time check.
fn invariant_accesses(function: &Body) -> Vec<Op> {
    let is_loop = |op: Op| function.info(op).interface::<dyn LoopLike>().is_some();
    let is_innermost = |op: Op| is_loop(op) && function.preorder(op).skip(1).all(|inner| !is_loop(inner));
    let in_fallback = |op: Op| {
        std::iter::successors(Some(op), |op| function.parent_op(*op)).any(|op| {
            let region = function.region_of(op);
            let around = function.parent_op(op);
            around.zip(region).is_some_and(|(around, region)| {
                let is_check = function.info(around).interface::<dyn Conditional>().is_some();
                is_check
                    && function.attr(around, "loomir.versioned").is_some()
                    && function.region_index(region) == 1
            })
        })
    };
    let is_outer = |value, around: Op| !function.is_defined_within(value, around);
    let loops = function.all_ops().filter(|op| is_innermost(*op) && !in_fallback(*op));
    let inside = loops.flat_map(|around| function.preorder(around).map(move |op| (around, op)));
    let invariant = inside.filter(|(around, op)| {
        let view = function.op_ref(*op);
        let access = view.info().interface::<dyn MemoryAccess>().map(|model| model.access(view));
        access.is_some_and(|access| {
            is_outer(access.memref, *around)
                && access.subscripts.operands.iter().all(|v| is_outer(*v, *around))
        })
    });
    invariant.map(|(_, op)| op).collect()
}

#[test]
fn accumulators_are_in_registers() {
    let checker = Checker::default();
    let programs = [include_str!("promotion/row_sum.mlir"), include_str!("promotion/layer_norm.mlir")];
    for text in programs {
        let mut module = checker.read(text).unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)));
        let count = |module: &mut Body| -> usize {
            module.nested_in_order().into_iter().map(|function| invariant_accesses(function).len()).sum()
        };
        assert!(count(&mut module) >= 2);
        let (fused, _) =
            loomir::fuse_and_contract(&mut module, &FuseOptions::default(), &ContractionOptions::default());
        let left = count(&mut module);
        assert_eq!(left, 0, "{}\n{}", loomir::print(&module), checker.lines(&fused.remarks));
    }
}

/// Promoted functions run with memory that faults where the original touches nothing.
#[test]
fn promoted_functions_touch_what_they_touched() {
    let Some(clang) = Peer::find("clang") else { return };
    let folder = std::env::temp_dir().join(format!("loomir-promotion-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{error}"));
    let mut tally = Tally::default();
    let done = run(7, (0, 200), &clang, &folder, &mut tally);
    drop(std::fs::remove_dir_all(&folder));
    done.unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.promoted > 80 && tally.compared > 1_000 && tally.read_only > 1_000, "{tally:?}");
}
