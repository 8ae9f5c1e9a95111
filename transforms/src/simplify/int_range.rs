//! Optimization by integer ranges: a value with one possible number becomes a constant, and a
//! remainder by a divisor that is always greater becomes its dividend. Comparisons are decided that
//! way too. What is left is folded.
//!
//! **Assumptions.** Those of [`forward`](crate::dataflow::forward) and
//! [`word_range`](crate::affine::word_range).
//!
//! **Cost.** Linear in the operations and their operands: the end of a range rises a few times and
//! is then widened.
//!
//! # Limits
//!
//! - A condition says nothing about values in the region or block that it guards.
//! - Vectors and integers of more than 64 bits have no ranges.

use loomir_dialects::arith;
use loomir_dialects::ranges::Range;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::Greedy;
use loomir_ir::{Body, Diagnostics, Op, Value};

use super::sccp::{Replaced, replace_by_constants};
use crate::dataflow::forward::{Facts, solve};
use crate::dataflow::program::{Program, Unit};
use crate::dataflow::ranges::{Bounds, RangeAnalysis};
use crate::effects::is_removable;

/// The pass `int-range-optimizations`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "int-range-optimizations",
    anchor: None,
    summary: "Replace values and decide comparisons by the ranges of integers",
    options: &[],
    make: |_| Ok(Box::new(IntRangeOptimizations)),
};

struct IntRangeOptimizations;

impl Pass for IntRangeOptimizations {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let done = optimize_by_ranges(body);
        cx.count("Values replaced", done.replaced as u64);
        cx.count("Operations erased", done.erased as u64);
        Ok(())
    }
}

/// Replaces values by their only number, in a body and in the bodies inside it, and folds.
pub fn optimize_by_ranges(root: &mut Body) -> Replaced {
    let program = Program::of(root);
    let facts = solve(&program, &RangeAnalysis);
    let left: Vec<bool> = program.units().map(|unit| program.is_left_alone(unit)).collect();
    let remainders: Vec<Vec<Op>> = program
        .units()
        .map(|unit| trivial_remainders(program.body(unit), &|value| range(&facts, unit, value)))
        .collect();
    let constant =
        |unit: Unit, value: Value| facts.get(unit, value).and_then(|fact| fact.constant.constant());
    let mut done = Replaced::default();
    let mut unit = 0;
    root.for_each_body(&mut |body| {
        if !left[unit] {
            for op in &remainders[unit] {
                let dividend = body.operand(*op, 0);
                body.replace_all_uses(body.result(*op, 0), dividend);
                done.replaced += 1;
            }
        }
        unit += 1;
    });
    let constants = replace_by_constants(root, &left, &constant);
    done.replaced += constants.replaced;
    done.erased += constants.erased;
    let mut unit = 0;
    root.for_each_body(&mut |body| {
        if !left[unit] && done.replaced > 0 {
            let report = Greedy::new(&[]).erases_if(is_removable).run(body);
            done.erased += report.erased + report.folded;
        }
        unit += 1;
    });
    done
}

fn range(facts: &Facts<Bounds>, unit: Unit, value: Value) -> Option<Range> {
    facts.get(unit, value)?.range
}

/// Returns the remainders whose dividend is never negative and always less than the divisor.
fn trivial_remainders(body: &Body, range: &dyn Fn(Value) -> Option<Range>) -> Vec<Op> {
    let is_trivial = |op: &Op| {
        let (is_signed, is_unsigned) = (body.is(*op, arith::RemSIOp::DEF), body.is(*op, arith::RemUIOp::DEF));
        if !is_signed && !is_unsigned {
            return false;
        }
        let ranges = range(body.operand(*op, 0)).zip(range(body.operand(*op, 1)));
        ranges.is_some_and(|(a, b)| match is_signed {
            true => a.signed.0 >= 0 && a.signed.1 < b.signed.0,
            false => a.unsigned.1 < b.unsigned.0,
        })
    };
    body.all_ops().filter(is_trivial).collect()
}
