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

use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm::attributes::OVERFLOW;
use loomir_dialects::ranges::{Range, signed_ends};
use loomir_dialects::{arith, llvm};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::Greedy;
use loomir_ir::{Body, Diagnostics, Op, Value};

use super::sccp::{Replaced, replace_by_constants};
use crate::affine::classes::may_be_poison;
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

/// Replaces frozen numbers by what was frozen, if that is never poison: ranges show that nothing in
/// it overflows. Returns how many.
pub fn drop_freezes(root: &mut Body) -> usize {
    let mut has_freezes = false;
    root.for_each_body(&mut |body| has_freezes |= freezes(body).next().is_some());
    if !has_freezes {
        return 0;
    }
    let program = Program::of(root);
    let facts = solve(&program, &RangeAnalysis);
    let settled = |unit: Unit| {
        let body = program.body(unit);
        let is_settled = |op: &Op| {
            let ranges = |value| range(&facts, unit, value);
            is_settled(body, body.operand(*op, 0), &ranges, &mut MAX_SETTLED.to_owned())
        };
        freezes(body).filter(|_| !program.is_left_alone(unit)).filter(is_settled).collect()
    };
    let settled: Vec<Vec<Op>> = program.units().map(settled).collect();
    let (mut unit, mut dropped) = (0, 0);
    root.for_each_body(&mut |body| {
        for op in &settled[unit] {
            let number = body.operand(*op, 0);
            body.replace_all_uses(body.result(*op, 0), number);
            body.erase(*op);
            dropped += 1;
        }
        unit += 1;
    });
    dropped
}

/// The most operations that are looked at to see that a number is no poison.
const MAX_SETTLED: u32 = 16;

fn freezes(body: &Body) -> impl Iterator<Item = Op> + '_ {
    body.all_ops().filter(|op| body.is(*op, llvm::FreezeOp::DEF))
}

/// True if a number is never poison: sums, differences and products of such numbers that do not
/// overflow, as far as ranges say. `fuel` bounds the number of operations that are looked at.
fn is_settled(body: &Body, value: Value, range: &dyn Fn(Value) -> Option<Range>, fuel: &mut u32) -> bool {
    if !may_be_poison(body, value, false) {
        return true;
    }
    let (Some(op), Some(left)) = (body.defining_op(value), fuel.checked_sub(1)) else { return false };
    *fuel = left;
    let combine: fn(i128, i128) -> Option<i128> = match () {
        () if body.is(op, llvm::AddOp::DEF) => i128::checked_add,
        () if body.is(op, llvm::SubOp::DEF) => i128::checked_sub,
        () if body.is(op, llvm::MulOp::DEF) => i128::checked_mul,
        () => return false,
    };
    let Some(width) = body.value_type(value).integer_width(body.ctx()) else { return false };
    let [a, b] = [0, 1].map(|at| body.operand(op, at));
    let (Some(x), Some(y)) = (range(a), range(b)) else { return false };
    let fits = |(a, b): (i128, i128), (c, d): (i128, i128), (least, most): (i128, i128)| {
        let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| combine(x, y));
        all.iter().all(|own| own.is_some_and(|own| (least..=most).contains(&own)))
    };
    let natural =
        |(least, most): (u128, u128)| Some((i128::try_from(least).ok()?, i128::try_from(most).ok()?));
    let flags = body.attr(op, "overflowFlags");
    let flags = flags.map_or(Some(0), |flags| OVERFLOW.value(body.ctx(), flags));
    let (signed, unsigned) = flags.map_or((true, true), |flags| (flags & 1 != 0, flags & 2 != 0));
    let ends = (0, mask(width) as i128);
    let fits_unsigned =
        || natural(x.unsigned).zip(natural(y.unsigned)).is_some_and(|(x, y)| fits(x, y, ends));
    (!signed || fits(x.signed, y.signed, signed_ends(width)))
        && (!unsigned || width < 127 && fits_unsigned())
        && is_settled(body, a, range, fuel)
        && is_settled(body, b, range, fuel)
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
