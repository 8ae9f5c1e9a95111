//! Ranges of results of integer operations, from ranges of operands, in both readings.
//!
//! **Assumptions.**
//! - A range says nothing about poison, so results that a flag excludes are left out, and so are
//!   operands that make an operation undefined. Tried with all operands of all operations on three
//!   bits, in the tests of this file.

use loomir_dialects::interfaces::{Bound, LoopBounds, Step};
use loomir_dialects::interp::integer::mask;
use loomir_dialects::ranges::{Range, product, signed_ends, sum, wrapped};
use loomir_ir::{AffineExpr, Body, Op, OpRef, Value};

use super::operation::{Binary, Operation, Predicate, has_no_signed_wrap, has_no_unsigned_wrap, width};
use super::range::{applied, expr_range};

/// Overflow flags of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// A result that does not fit, read as signed, is poison.
    pub nsw: bool,
    /// A result that does not fit, read as unsigned, is poison.
    pub nuw: bool,
}

impl Flags {
    fn of(body: &Body, op: Op) -> Flags {
        Flags { nsw: has_no_signed_wrap(body, op), nuw: has_no_unsigned_wrap(body, op) }
    }
}

/// Returns the range of the result of an integer operation. `None` if it is none, or if nothing is
/// known.
pub fn of_result(op: OpRef<'_>, operands: &[Option<Range>]) -> Option<Range> {
    let body = op.body();
    let result = width(body, op.results().next()?)?;
    if op.is(loomir_dialects::memref::DimOp::DEF) {
        return Some(Range::between_signed(64, 0, i64::MAX.into()));
    }
    if let Some(range) = of_map(op, operands) {
        return Some(range);
    }
    let operands: Vec<Range> = operands.iter().copied().collect::<Option<_>>()?;
    let operation = Operation::of(body, op.op())?;
    let from = width(body, op.operand(0))?;
    Some(match operation {
        Operation::Binary(own) => binary(own, Flags::of(body, op.op()), result, operands[0], operands[1]),
        Operation::Compare(predicate) => match decide(predicate, operands[0], operands[1]) {
            Some(holds) => Range::exactly(1, u128::from(holds)),
            None => Range::full(1),
        },
        Operation::Select => match operands[0].unsigned {
            (1, _) => operands[1],
            (_, 0) => operands[2],
            _ => operands[1].or(operands[2]),
        },
        Operation::Signed if result >= from => {
            Range::between_signed(result, operands[0].signed.0, operands[0].signed.1)
        }
        Operation::Unsigned if result >= from => {
            Range::between(result, operands[0].unsigned.0, operands[0].unsigned.1)
        }
        Operation::Signed | Operation::Unsigned => {
            wrapped(result, Some(operands[0].unsigned), Some(operands[0].signed))
        }
    })
}

/// Returns the range of `affine.apply`, `affine.min` and `affine.max`.
fn of_map(op: OpRef<'_>, operands: &[Option<Range>]) -> Option<Range> {
    use loomir_dialects::affine::{ApplyOp, MaxOp, MinOp};
    let (least, greatest) = (op.is(MinOp::DEF), op.is(MaxOp::DEF));
    if !least && !greatest && !op.is(ApplyOp::DEF) {
        return None;
    }
    let map = applied(op.body(), op.op())?.map;
    let ends = of_results(op, &map.data(op.ctx()).results, map.data(op.ctx()).dims, operands);
    let (lower, upper) = (ends.iter().map(|ends| ends.0), ends.iter().map(|ends| ends.1));
    let (lower, upper) = match (least, greatest) {
        (true, _) => (lower.min()?, upper.min()?),
        (_, true) => (lower.max()?, upper.max()?),
        _ => *ends.first()?,
    };
    Some(Range::between_signed(64, lower, upper))
}

/// Returns the signed ends of the results of a map.
fn of_results(
    op: OpRef<'_>,
    results: &[AffineExpr],
    dims: u32,
    operands: &[Option<Range>],
) -> Vec<(i128, i128)> {
    let ends = |range: &Option<Range>| range.map_or(signed_ends(64), |range| range.signed);
    let operands: Vec<(i128, i128)> = operands.iter().map(ends).collect();
    let (dims, symbols) = operands.split_at((dims as usize).min(operands.len()));
    let of = |expr: &AffineExpr| expr_range(*expr, op.ctx(), dims, symbols).unwrap_or(signed_ends(64));
    results.iter().map(of).collect()
}

/// Returns the range of the induction variable of a loop in an iteration. `None` if a bound has no
/// range, because the loop is not known to run.
///
/// An iteration is at least the lower bound and below the upper one. The step is positive, and an
/// iteration that would wrap around is undefined.
pub fn of_induction(
    op: OpRef<'_>,
    variable: Value,
    bounds: &LoopBounds,
    is_unsigned: bool,
    ranges: &dyn Fn(Value) -> Option<Range>,
) -> Option<Range> {
    let width = width(op.body(), variable)?;
    let (lower, upper) = match (&bounds.lower, &bounds.upper) {
        (Bound::Value(lower), Bound::Value(upper)) => (ranges(*lower)?, ranges(*upper)?),
        (lower, upper) => {
            let end = |bound: &Bound| -> Option<Vec<(i128, i128)>> {
                let subscripts = match bound {
                    Bound::Value(value) => return Some(vec![ranges(*value)?.signed]),
                    Bound::Map(subscripts) => subscripts,
                };
                let operands: Vec<Option<Range>> = subscripts.operands.iter().map(|v| ranges(*v)).collect();
                if operands.contains(&None) {
                    return None;
                }
                let map = subscripts.map.data(op.ctx());
                Some(of_results(op, &map.results, map.dims, &operands))
            };
            let lower = end(lower)?.into_iter().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
            let upper = end(upper)?.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
            let cut = |range: (i128, i128)| Range::between_signed(64, range.0, range.1);
            (cut(lower), cut(upper))
        }
    };
    if is_unsigned {
        let least = lower.unsigned.0;
        return Some(Range::between(width, least, upper.unsigned.1.saturating_sub(1).max(least)));
    }
    let least = lower.signed.0;
    let mut greatest = (upper.signed.1 - 1).max(least);
    if let Step::Constant(step @ 1..) = bounds.step
        && lower.signed.0 == lower.signed.1
    {
        greatest = least + (greatest - least) / i128::from(step) * i128::from(step);
    }
    Some(Range::between_signed(width, least, greatest))
}

/// Returns the truth of a comparison of any two words in these ranges, if all give the same.
pub fn decide(predicate: Predicate, a: Range, b: Range) -> Option<bool> {
    let (below, not_below) = (a.signed.1 < b.signed.0, a.signed.0 >= b.signed.1);
    let (above, not_above) = (a.signed.0 > b.signed.1, a.signed.1 <= b.signed.0);
    let (u_below, u_not_below) = (a.unsigned.1 < b.unsigned.0, a.unsigned.0 >= b.unsigned.1);
    let (u_above, u_not_above) = (a.unsigned.0 > b.unsigned.1, a.unsigned.1 <= b.unsigned.0);
    let differ = below || above || u_below || u_above;
    let are_one = a.unsigned.0 == a.unsigned.1 && a.unsigned == b.unsigned;
    let (yes, no) = match predicate {
        Predicate::Eq => (are_one, differ),
        Predicate::Ne => (differ, are_one),
        Predicate::Slt => (below, not_below),
        Predicate::Sge => (not_below, below),
        Predicate::Sgt => (above, not_above),
        Predicate::Sle => (not_above, above),
        Predicate::Ult => (u_below, u_not_below),
        Predicate::Uge => (u_not_below, u_below),
        Predicate::Ugt => (u_above, u_not_above),
        Predicate::Ule => (u_not_above, u_above),
    };
    (yes || no).then_some(yes)
}

/// Returns the range of the result of an operation on words of `width` bits, at most 64, in these
/// ranges. Operands that make the result undefined or poison are left out.
pub fn binary(operation: Binary, flags: Flags, width: u32, a: Range, b: Range) -> Range {
    let full = Range::full(width);
    match operation {
        Binary::Add => {
            let (unsigned, signed) = sum(&[a, b]);
            exact(width, flags, unsigned, signed)
        }
        Binary::Sub => difference(width, flags, a, b),
        Binary::Mul => {
            let (unsigned, signed) = product(&[a, b]);
            exact(width, flags, unsigned, signed)
        }
        Binary::DivU | Binary::CeilDivU if b.unsigned.1 == 0 => full,
        Binary::DivU => {
            Range::between(width, a.unsigned.0 / b.unsigned.1, a.unsigned.1 / b.unsigned.0.max(1))
        }
        Binary::CeilDivU => {
            let up = |a: u128, b: u128| a.div_ceil(b);
            Range::between(width, up(a.unsigned.0, b.unsigned.1), up(a.unsigned.1, b.unsigned.0.max(1)))
        }
        Binary::DivS => quotient(width, a, b, |a, b| a / b),
        Binary::CeilDivS => quotient(width, a, b, |a, b| -floor(-a, b)),
        Binary::FloorDivS => quotient(width, a, b, floor),
        Binary::RemU if a.unsigned.1 < b.unsigned.0 => a,
        Binary::RemU if b.unsigned.1 == 0 => full,
        Binary::RemU => Range::between(width, 0, a.unsigned.1.min(b.unsigned.1 - 1)),
        Binary::RemS => signed_remainder(width, a, b),
        Binary::And | Binary::Or | Binary::Xor => bits(operation, width, a, b),
        Binary::Shl | Binary::ShrS | Binary::ShrU => shift(operation, flags, width, a, b),
        Binary::MinS | Binary::MaxS | Binary::MinU | Binary::MaxU => choice(operation, width, a, b),
    }
}

/// Returns the range of the least or greatest of two words.
fn choice(operation: Binary, width: u32, a: Range, b: Range) -> Range {
    let range = match operation {
        Binary::MinS => Range::between_signed(width, a.signed.0.min(b.signed.0), a.signed.1.min(b.signed.1)),
        Binary::MaxS => Range::between_signed(width, a.signed.0.max(b.signed.0), a.signed.1.max(b.signed.1)),
        Binary::MinU => Range::between(width, a.unsigned.0.min(b.unsigned.0), a.unsigned.1.min(b.unsigned.1)),
        _ => Range::between(width, a.unsigned.0.max(b.unsigned.0), a.unsigned.1.max(b.unsigned.1)),
    };
    range.and(a.or(b), width)
}

/// Returns the words to which an exact result wraps, without those that the flags exclude.
fn exact(width: u32, flags: Flags, unsigned: Option<(u128, u128)>, signed: Option<(i128, i128)>) -> Range {
    let range = wrapped(width, unsigned, signed);
    let unsigned =
        unsigned.filter(|_| flags.nuw).map_or((0, mask(width)), |ends| (ends.0, mask(width).min(ends.1)));
    let ends = signed_ends(width);
    let signed = signed.filter(|_| flags.nsw).map_or(ends, |own| (own.0.max(ends.0), own.1.min(ends.1)));
    range.and(Range { unsigned, signed }, width)
}

fn difference(width: u32, flags: Flags, a: Range, b: Range) -> Range {
    let least = a.unsigned.0.checked_sub(b.unsigned.1);
    let unsigned = match (least, a.unsigned.1.checked_sub(b.unsigned.0)) {
        (Some(least), Some(greatest)) => Some((least, greatest)),
        // Without the flag, a difference below zero wraps around.
        (None, Some(greatest)) if flags.nuw => Some((0, greatest)),
        _ => None,
    };
    let signed = (a.signed.0 - b.signed.1, a.signed.1 - b.signed.0);
    exact(width, flags, unsigned, Some(signed))
}

/// Returns the quotient, rounded down.
fn floor(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

/// Returns the range of rounded quotients of signed numbers. Rounding keeps the order of quotients,
/// and a quotient by divisors of one sign is extreme at the corners.
fn quotient(width: u32, a: Range, b: Range, rounded: impl Fn(i128, i128) -> i128) -> Range {
    let (a, b) = (a.signed, b.signed);
    let sides = [(b.0, b.1.min(-1)), (b.0.max(1), b.1)].into_iter().filter(|side| side.0 <= side.1);
    let corners = sides.flat_map(|side| [(a.0, side.0), (a.0, side.1), (a.1, side.0), (a.1, side.1)]);
    let quotients: Vec<i128> = corners.map(|(a, b)| rounded(a, b)).collect();
    let (Some(least), Some(greatest)) = (quotients.iter().min(), quotients.iter().max()) else {
        return Range::full(width);
    };
    // The least number divided by -1 does not fit, and is undefined.
    let ends = signed_ends(width);
    let (least, greatest) = (*least, (*greatest).min(ends.1));
    if least > greatest { Range::full(width) } else { Range::between_signed(width, least, greatest) }
}

/// Returns the range of remainders of signed numbers, which have the sign of the dividend.
fn signed_remainder(width: u32, a: Range, b: Range) -> Range {
    let (least, greatest) = a.signed;
    let most = b.signed.0.abs().max(b.signed.1.abs()) - 1;
    if most < 0 {
        return Range::full(width);
    }
    let crosses = b.signed.0 <= 0 && b.signed.1 >= 0;
    let divisor = if crosses { 0 } else { b.signed.0.abs().min(b.signed.1.abs()) };
    if least.abs().max(greatest.abs()) < divisor {
        return a;
    }
    let lower = if least >= 0 { 0 } else { least.max(-most) };
    let upper = if greatest <= 0 { 0 } else { greatest.min(most) };
    Range::between_signed(width, lower, upper)
}

/// Returns the bits that are one in all words of a range, and those that are one in some.
fn known_bits(range: Range) -> (u128, u128) {
    let (least, greatest) = range.unsigned;
    let open = u128::MAX.checked_shr((least ^ greatest).leading_zeros()).unwrap_or(0);
    (least & !open, greatest | open)
}

fn bits(operation: Binary, width: u32, a: Range, b: Range) -> Range {
    let ((ones_a, some_a), (ones_b, some_b)) = (known_bits(a), known_bits(b));
    let (least, greatest) = match operation {
        Binary::And => (ones_a & ones_b, (some_a & some_b).min(a.unsigned.1).min(b.unsigned.1)),
        Binary::Or => ((ones_a | ones_b).max(a.unsigned.0).max(b.unsigned.0), some_a | some_b),
        _ => ((ones_a & !some_b) | (ones_b & !some_a), (some_a | some_b) & !(ones_a & ones_b)),
    };
    Range::between(width, least, greatest & mask(width))
}

/// Returns the range of shifts. A shift by the width or more is poison.
fn shift(operation: Binary, flags: Flags, width: u32, a: Range, b: Range) -> Range {
    let least = b.unsigned.0;
    let most = b.unsigned.1.min(u128::from(width) - 1);
    if least > most {
        return Range::full(width);
    }
    let (least, most) = (least as u32, most as u32);
    match operation {
        Binary::Shl => {
            let unsigned = (a.unsigned.0 << least, a.unsigned.1 << most);
            let ends = [a.signed.0 << least, a.signed.0 << most, a.signed.1 << least, a.signed.1 << most];
            let signed = (ends[0].min(ends[1]), ends[2].max(ends[3]));
            exact(width, flags, Some(unsigned), Some(signed))
        }
        Binary::ShrU => Range::between(width, a.unsigned.0 >> most, a.unsigned.1 >> least),
        _ => {
            let lower = (a.signed.0 >> least).min(a.signed.0 >> most);
            let upper = (a.signed.1 >> least).max(a.signed.1 >> most);
            Range::between_signed(width, lower, upper)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loomir_dialects::interp::integer::signed;

    const WIDTH: u32 = 3;

    fn ranges() -> Vec<Range> {
        let mut all = Vec::new();
        for least in 0..8u128 {
            for greatest in least..8 {
                all.push(Range::between(WIDTH, least, greatest));
                all.push(Range::between_signed(WIDTH, least as i128 - 4, greatest as i128 - 4));
            }
        }
        all
    }

    fn words(range: Range) -> impl Iterator<Item = u128> + Clone {
        (0..8).filter(move |word| range.contains(WIDTH, *word))
    }

    /// True if a flag makes the result poison.
    fn is_excluded(operation: Binary, flags: Flags, a: u128, b: u128) -> bool {
        let exact = |a: i128, b: i128| match operation {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            _ => 0,
        };
        let shifts = operation == Binary::Shl;
        let (by, number) = (b as u32, |word| signed(WIDTH, word));
        let of_signed = if shifts { number(a) << by } else { exact(number(a), number(b)) };
        let of_unsigned = if shifts { (a as i128) << by } else { exact(a as i128, b as i128) };
        (flags.nsw && !(-4..4).contains(&of_signed)) || (flags.nuw && !(0..8).contains(&of_unsigned))
    }

    #[test]
    fn results_are_in_their_range() {
        let wrapping = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Shl];
        for operation in Binary::all() {
            for (nsw, nuw) in [(false, false), (true, false), (false, true), (true, true)] {
                let flags = Flags { nsw, nuw };
                if (nsw || nuw) && !wrapping.contains(&operation) {
                    continue;
                }
                for (a, b) in ranges().into_iter().flat_map(|a| ranges().into_iter().map(move |b| (a, b))) {
                    let range = binary(operation, flags, WIDTH, a, b);
                    for (x, y) in words(a).flat_map(|x| words(b).map(move |y| (x, y))) {
                        let [left, right] = [x, y].map(|word| signed(WIDTH, word) as i64);
                        let Some(result) = operation.compute(WIDTH, left, right) else { continue };
                        let bits = result as u128 & mask(WIDTH);
                        let is_fine = range.contains(WIDTH, bits) || is_excluded(operation, flags, x, y);
                        assert!(is_fine, "{operation:?} {flags:?} of {a:?}, {b:?}: {x}, {y} in {range:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn decided_comparisons_hold() {
        for predicate in Predicate::ALL {
            for (a, b) in ranges().into_iter().flat_map(|a| ranges().into_iter().map(move |b| (a, b))) {
                let Some(decided) = decide(predicate, a, b) else { continue };
                for (x, y) in words(a).flat_map(|x| words(b).map(move |y| (x, y))) {
                    assert_eq!(predicate.holds(WIDTH, x, y), decided, "{predicate:?} of {a:?}, {b:?}");
                }
            }
        }
    }
}
