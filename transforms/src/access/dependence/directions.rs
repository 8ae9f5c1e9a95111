//! Dependences by direction: the cheap tests of production compilers.
//!
//! Each subscript is an equation between the levels of two instances. An order in question makes
//! one level greater than another by at least a distance. It is substituted: the greater level is
//! the lesser one plus the distance plus a nonnegative *slack*. An equation then has no solution in
//! two cases. The greatest common divisor of its coefficients may not divide its constant. Or its
//! least or greatest value may be on one side of zero (Banerjee's bounds, with constant bounds of
//! levels). For one level with one coefficient on both sides this is the strong SIV test, without
//! levels the ZIV test.
//!
//! Subscripts are tested separately. Bounds that use other levels or parameters are ignored, and
//! quotients are not examined. The test is less precise than the exact one, and never more.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Order, Question};
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};

/// An unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Unknown<'f> {
    /// A level that both instances share.
    Shared(u32),
    /// A level of the first alone.
    First(u32),
    /// A level of the second alone.
    Second(u32),
    /// A parameter, or a product of such.
    Parameter(&'f Atom),
    Slack(usize),
}

/// `constant + Σ coefficient · unknown`, no coefficient zero, each unknown once: zero, or at least
/// that.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'f> {
    pub(super) constant: i128,
    pub(super) terms: Vec<(Unknown<'f>, i128)>,
    is_zero: bool,
}

/// The least and the greatest value, if bounded.
pub(super) type Range = (Option<i128>, Option<i128>);

/// The known facts about two instances.
#[derive(Default)]
pub(super) struct Known<'f> {
    ranges: HashMap<Unknown<'f>, Range>,
    rows: Vec<Row<'f>>,
}

/// True if certainly no two such instances exist.
pub(super) fn never(question: &Question<'_>) -> bool {
    let depth = question.loop_context.depth;
    let Some(mut known) = Known::of(question) else { return true };
    let difference = |first, second, sign, distance, is_zero| {
        let row = Row::of(first, Side::First, depth)?.plus(&Row::of(second, Side::Second, depth)?, -1)?;
        Row { constant: distance, terms: Vec::new(), is_zero }.plus(&row, sign)
    };
    let subscripts = question.equal.iter().filter_map(|(x, y)| difference(x, y, 1, 0, true));
    known.rows = subscripts.collect();
    let first_order = known.rows.len();
    // Equalities come first: each removes an unknown from the other rows.
    let mut order: Vec<_> = question.order.iter().collect();
    order.sort_by_key(|one| one.is != Order::Equal);
    known.rows.extend(order.into_iter().filter_map(|one| match one.is {
        Order::Equal => difference(one.first, one.second, 1, 0, true),
        Order::Greater => difference(one.first, one.second, 1, -1, false),
        Order::Less => difference(one.first, one.second, -1, -1, false),
    }));
    (first_order..known.rows.len()).any(|at| known.put_in(at))
        || known.rows.iter().any(|row| known.is_impossible(row))
}

/// True if subscripts and equations in question fix the distances of two instances in some loops,
/// and other subscripts, or the order in question, exclude these. This is the strong SIV test, and
/// allocates nothing in nests of four loops.
pub(super) fn is_wrong_distance(question: &Question<'_>) -> bool {
    let depth = question.loop_context.depth;
    let ordered = || question.order.iter().map(|one| (one.first, one.is, one.second));
    let equal = question.equal.iter().map(|(x, y)| (*x, Order::Equal, *y));
    let equal = || equal.clone().chain(ordered().filter(|(_, is, _)| *is == Order::Equal));
    let mut distances = Distances::new();
    for (x, _, y) in equal() {
        let Some((level, step)) = only_own_level(x, y, depth) else { continue };
        let apart = i128::from(y.constant_part()) - i128::from(x.constant_part());
        if apart % i128::from(step) != 0 {
            return true;
        }
        distances.push((level, apart / i128::from(step)));
    }
    equal().chain(ordered()).any(|(x, is, y)| {
        let excludes = |gap: i128| match is {
            Order::Less => gap >= 0,
            Order::Equal => gap != 0,
            Order::Greater => gap <= 0,
        };
        gap(x, y, depth, &distances).is_some_and(excludes)
    })
}

/// Levels of the first instance minus those of the second.
type Distances = SmallVec<[(u32, i128); 4]>;

/// Returns the difference of two forms that differ only by a constant and by the distances of
/// levels from `depth` on. `None` if they have a quotient, or a distance is not known.
fn gap(x: &AffineForm, y: &AffineForm, depth: u32, distances: &Distances) -> Option<i128> {
    let mut sum = i128::from(x.constant_part()) - i128::from(y.constant_part());
    for (atom, step) in x.terms() {
        match atom {
            Atom::Level(level) if *level >= depth => {
                let (_, distance) = distances.iter().find(|(own, _)| own == level)?;
                sum = sum.checked_add(distance.checked_mul(i128::from(*step))?)?;
            }
            Atom::FloorDiv(..) => return None,
            Atom::Level(_) | Atom::Param(_) | Atom::Product(_) => {}
        }
    }
    (x.terms() == y.terms()).then_some(sum)
}

/// True if a subscript differs by a constant, and no iterations make up for it: their steps have a
/// divisor that the constant does not have. Copies of an unrolled loop access different elements in
/// this way. This is the GCD test, and allocates nothing.
pub(super) fn never_touch(question: &Question<'_>) -> bool {
    let depth = question.loop_context.depth;
    question.equal.iter().any(|(x, y)| {
        let steps = x.terms().iter().try_fold(0, |divisor, (atom, step)| match atom {
            Atom::Level(level) if *level >= depth => {
                Some(greatest_common_divisor(divisor, step.unsigned_abs().into()))
            }
            Atom::Level(_) | Atom::Param(_) | Atom::Product(_) => Some(divisor),
            Atom::FloorDiv(..) => None,
        });
        let apart = i128::from(x.constant_part()) - i128::from(y.constant_part());
        x.terms() == y.terms() && steps.is_some_and(|steps| !apart.unsigned_abs().is_multiple_of(steps))
    })
}

/// Returns the single level from `depth` on, and its coefficient, in two forms that differ only by
/// a constant. `None` if they have a quotient.
fn only_own_level(x: &AffineForm, y: &AffineForm, depth: u32) -> Option<(u32, i64)> {
    let mut found = None;
    for (atom, coefficient) in x.terms() {
        match atom {
            Atom::Level(level) if *level >= depth && found.is_some() => return None,
            Atom::Level(level) if *level >= depth => found = Some((*level, *coefficient)),
            Atom::FloorDiv(..) => return None,
            Atom::Level(_) | Atom::Param(_) | Atom::Product(_) => {}
        }
    }
    found.filter(|_| x.terms() == y.terms())
}

impl<'f> Row<'f> {
    /// Returns a form over the levels of one instance. `None` if it has a quotient.
    pub(super) fn of(form: &'f AffineForm, side: Side, shared: u32) -> Option<Row<'f>> {
        let term = |(atom, coefficient): &'f (Atom, i64)| {
            let unknown = match (atom, side) {
                (Atom::Level(level), _) if *level < shared => Unknown::Shared(*level),
                (Atom::Level(level), Side::First) => Unknown::First(*level),
                (Atom::Level(level), Side::Second) => Unknown::Second(*level),
                (Atom::Param(_) | Atom::Product(_), _) => Unknown::Parameter(atom),
                (Atom::FloorDiv(..), _) => return None,
            };
            Some((unknown, i128::from(*coefficient)))
        };
        let terms = form.terms().iter().map(term).collect::<Option<_>>()?;
        Some(Row { constant: form.constant_part().into(), terms, is_zero: false })
    }

    /// `self + factor · other`. `None` if a number leaves 128 bits.
    pub(super) fn plus(mut self, other: &Row<'f>, factor: i128) -> Option<Row<'f>> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (unknown, coefficient) in &other.terms {
            let scaled = coefficient.checked_mul(factor)?;
            match self.terms.iter().position(|(own, _)| own == unknown) {
                Some(at) => self.terms[at].1 = self.terms[at].1.checked_add(scaled)?,
                None => self.terms.push((*unknown, scaled)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        Some(self)
    }

    /// Returns the two unknowns of `greater - less + constant`.
    fn direction(&self) -> Option<(Unknown<'f>, Unknown<'f>)> {
        match self.terms[..] {
            [(greater, 1), (less, -1)] | [(less, -1), (greater, 1)] => Some((greater, less)),
            _ => None,
        }
    }
}

impl<'f> Known<'f> {
    /// Returns the constant bounds of levels and parameters. `None` if there are no instances at
    /// all.
    pub(super) fn of(question: &Question<'f>) -> Option<Known<'f>> {
        let mut known = Known::default();
        let around = question.loop_context.constraints.iter().chain(&question.first.domain.constraints);
        let around = around.map(|form| (form, Side::First));
        let second = question.second.domain.constraints.iter().map(|form| (form, Side::Second));
        let mut rows =
            around.chain(second).filter_map(|(form, side)| Row::of(form, side, question.loop_context.depth));
        (!rows.any(|row| known.bound(&row))).then_some(known)
    }

    fn range(&self, unknown: Unknown<'f>) -> Range {
        self.ranges.get(&unknown).copied().unwrap_or_default()
    }

    /// Restricts an unknown to `range` too. Returns true if no value is left.
    pub(super) fn narrow(&mut self, unknown: Unknown<'f>, (least, greatest): Range) -> bool {
        let (own, other) = self.range(unknown);
        let range = (own.max(least), other.into_iter().chain(greatest).min());
        self.ranges.insert(unknown, range);
        matches!(range, (Some(least), Some(greatest)) if least > greatest)
    }

    /// Notes that a row of one unknown is not negative. Returns true if this is impossible. Other
    /// rows are ignored.
    fn bound(&mut self, row: &Row<'f>) -> bool {
        match row.terms[..] {
            [] => row.constant < 0,
            [(unknown, 1)] => self.narrow(unknown, (row.constant.checked_neg(), None)),
            [(unknown, -1)] => self.narrow(unknown, (None, Some(row.constant))),
            [(unknown, c)] if c > 1 => {
                let least = row.constant.div_euclid(c).checked_neg();
                self.narrow(unknown, (least, None))
            }
            [(unknown, c)] => {
                let greatest = c.checked_neg().map(|c| row.constant.div_euclid(c));
                self.narrow(unknown, (None, greatest))
            }
            _ => false,
        }
    }

    /// Substitutes an order, row `at`, into all rows, if it relates two unknowns. Returns true if
    /// the order is impossible.
    fn put_in(&mut self, at: usize) -> bool {
        let Some((greater, less)) = self.rows[at].direction() else { return false };
        let Row { constant, is_zero, .. } = std::mem::take(&mut self.rows[at]);
        // greater = less - constant + slack
        let Some(distance) = constant.checked_neg() else { return false };
        let ((low, high), (least, _)) = (self.range(greater), self.range(less));
        let minus = |a: Option<i128>, b: Option<i128>| a?.checked_sub(b?);
        let mut with = Row { constant: distance, terms: vec![(less, 1)], is_zero: false };
        if is_zero {
            if self.narrow(less, (minus(low, Some(distance)), minus(high, Some(distance)))) {
                return true;
            }
        } else {
            with.terms.push((Unknown::Slack(at), 1));
            if self.narrow(less, (None, minus(high, Some(distance))))
                || self.narrow(Unknown::Slack(at), (Some(0), minus(minus(high, Some(distance)), least)))
            {
                return true;
            }
        }
        for row in &mut self.rows {
            let Some((_, coefficient)) = row.terms.iter().copied().find(|(own, _)| *own == greater) else {
                continue;
            };
            let own = Row { terms: vec![(greater, 1)], ..Row::default() };
            let rest = row.clone().plus(&own, -coefficient).and_then(|rest| rest.plus(&with, coefficient));
            // A row that does not fit is dropped.
            *row = rest.unwrap_or_default();
        }
        false
    }

    /// Returns the least and the greatest value of a row.
    pub(super) fn range_of(&self, row: &Row<'f>) -> Range {
        let (mut least, mut greatest) = (Some(row.constant), Some(row.constant));
        for (unknown, coefficient) in &row.terms {
            let (low, high) = self.range(*unknown);
            let times = |bound: Option<i128>| bound?.checked_mul(*coefficient);
            let (low, high) =
                if *coefficient > 0 { (times(low), times(high)) } else { (times(high), times(low)) };
            let add = |sum: Option<i128>, term: Option<i128>| sum?.checked_add(term?);
            (least, greatest) = (add(least, low), add(greatest, high));
        }
        (least, greatest)
    }

    /// True if a row cannot be zero, or cannot be nonnegative.
    fn is_impossible(&self, row: &Row<'f>) -> bool {
        let (least, greatest) = self.range_of(row);
        let coefficients = row.terms.iter().map(|(_, coefficient)| coefficient.unsigned_abs());
        let divisor = coefficients.fold(0, greatest_common_divisor);
        let is_divided = row.constant.unsigned_abs().is_multiple_of(divisor);
        greatest.is_some_and(|greatest| greatest < 0)
            || (row.is_zero && (!is_divided || least.is_some_and(|least| least > 0)))
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
