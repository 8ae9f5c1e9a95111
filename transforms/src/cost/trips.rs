//! Trip counts that depend on the loops around.
//!
//! ```text
//!     for i in 0..n { for j in 0..i { for k in 0..j { … } } }    on average n/2, n/3
//! ```
//!
//! A loop in a triangle, or in the last block of a tiled loop, has fewer iterations in some
//! iterations of the loops around it than in others. It is looked at in several of these, which are
//! [evenly distributed](PARTS), and the mean counts.

use loomir_ir::affine::ceil_div;
use smallvec::SmallVec;

use crate::affine::{AffineForm, Atom};
use crate::tree::levels::absolute;
use crate::tree::{Header, Program, Span};

/// The number of iterations of a nest that are looked at.
const SAMPLES: usize = 8;

/// The sixteenths of a loop's iterations after which it is looked at, for loops at levels 0, 1, 2
/// and so on. Each is a permutation, so that the samples are spread over the nest as a whole.
const PARTS: [[i64; SAMPLES]; 4] = [
    [1, 3, 5, 7, 9, 11, 13, 15],
    [9, 3, 11, 15, 7, 1, 5, 13],
    [13, 3, 1, 9, 15, 11, 5, 7],
    [5, 15, 3, 9, 13, 1, 7, 11],
];

/// A level at each sample.
#[derive(Clone)]
struct Level {
    /// Its value, if known.
    places: [Option<i64>; SAMPLES],
    /// Its first and its last value, if known.
    ends: [Option<[i64; 2]>; SAMPLES],
    /// The number of iterations for which the sample stands, of this loop and of those around.
    weights: [f64; SAMPLES],
}

/// The levels around a place.
#[derive(Default)]
pub(super) struct Around(Vec<Level>);

/// The value of a level at the beginning of a loop, its trip count, and true if that is exact: else
/// the trip count is at most that.
#[derive(Clone, Copy)]
struct Count {
    first: i64,
    trips: i64,
    is_exact: bool,
}

/// The iterations of a loop at each sample. `None` where a bound has no number.
pub(super) struct Counts([Option<Count>; SAMPLES]);

/// The numbers from which a loop runs to which, times `scale`, as forms over the levels around it.
/// `None` for those without a form.
struct Bounds {
    scale: i64,
    lower: Vec<Option<AffineForm>>,
    upper: Vec<Option<AffineForm>>,
}

/// The trip count of a loop, on average.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    pub(super) trips: i64,
    /// True if it is not only the greatest possible one.
    pub(super) is_exact: bool,
}

impl Around {
    /// Returns the first `depth` levels, as far as constraints bound them by numbers. Linear in the
    /// constraints for each level.
    pub(super) fn of(constraints: &[AffineForm], depth: u32) -> Around {
        let mut around = Around::default();
        for level in 0..depth {
            around.push(|around, at| around.bounded(constraints, level, at));
        }
        around
    }

    /// Returns the iterations of the next level at a sample.
    fn bounded(&self, constraints: &[AffineForm], level: u32, at: usize) -> Option<Count> {
        let (mut least, mut most) = (None, None);
        for form in constraints {
            let Some(factor) = factor_of(form, level) else { continue };
            let here = |own: u32| if own == level { Some(0) } else { self.value(own, at) };
            let Some(rest) = form.evaluate(&here, &|_| None) else { continue };
            match factor > 0 {
                true => least = least.max(rest.checked_neg().and_then(|rest| ceil_div(rest, factor))),
                false => {
                    let last = rest.div_euclid(factor.checked_neg()?);
                    most = Some(most.map_or(last, |most: i64| most.min(last)));
                }
            }
        }
        let trips = most?.checked_sub(least?)?.checked_add(1)?.max(0);
        Some(Count { first: least?, trips, is_exact: true })
    }

    /// Returns the value of a level at a sample.
    fn value(&self, level: u32, at: usize) -> Option<i64> {
        *self.0.get(level as usize)?.places.get(at)?
    }

    /// Returns the number of iterations around for which a sample stands.
    fn weight(&self, at: usize) -> f64 {
        self.0.last().map_or(1.0, |level| level.weights[at])
    }

    /// Returns the iterations of a loop in the innermost of these levels at each sample. Linear in
    /// its bounds.
    pub(super) fn counts(&self, program: &Program, header: &Header) -> Counts {
        let bounds = Bounds::of(program, header, self.depth());
        Counts(std::array::from_fn(|at| bounds.as_ref()?.count(self, at)))
    }

    /// Returns the mean trip count of such a loop. `None` if a bound has no number.
    pub(super) fn mean(&self, counts: &Counts) -> Option<Mean> {
        let (mut sum, mut weights, mut is_exact) = (0.0, 0.0, true);
        for at in (0..SAMPLES).filter(|at| self.weight(*at) > 0.0) {
            let count = counts.0[at]?;
            sum += self.weight(at) * count.trips as f64;
            weights += self.weight(at);
            is_exact &= count.is_exact;
        }
        Some(Mean { trips: (sum / f64::max(weights, 1.0)).round() as i64, is_exact })
    }

    /// Enters such a loop, which is thought to have so many iterations where the number is unknown.
    pub(super) fn enter(&mut self, counts: &Counts, assumed: f64) {
        let assumed = Count { first: 0, trips: assumed as i64, is_exact: false };
        self.push(|_, at| counts.0[at].filter(|own| own.is_exact).or(Some(assumed)));
    }

    /// Enters a loop in the iteration in which its level has this value.
    pub(super) fn enter_at(&mut self, value: &AffineForm) {
        self.push(|around, at| {
            let first = value.evaluate(&|level| around.value(level, at), &|_| None)?;
            Some(Count { first, trips: 1, is_exact: true })
        });
    }

    /// Returns the least and the greatest value of a form at the ends of a loop with such counts
    /// and of the loop around it, at a sample.
    pub(super) fn range(&self, form: &AffineForm, counts: &Counts, at: usize) -> Option<[i64; 2]> {
        let inside = counts.0[at]?.ends()?;
        let around = self.0.last().and_then(|level| level.ends[at]);
        let value = |outer: Option<i64>, inner: i64| {
            let level = |level: u32| match self.depth().checked_sub(level)? {
                0 => Some(inner),
                1 => outer,
                _ => self.value(level, at),
            };
            form.evaluate(&level, &|_| None)
        };
        let outer = || around.map_or([None; 2], |own| own.map(Some)).into_iter();
        let corners = outer().flat_map(|outer| inside.map(|inner| value(outer, inner)));
        let all = corners.collect::<Option<SmallVec<[i64; 4]>>>()?;
        Some([*all.iter().min()?, *all.iter().max()?])
    }

    /// Returns the part of such a loop's iterations, of all samples, for which something holds.
    pub(super) fn share(&self, counts: &Counts, holds: &dyn Fn(usize) -> bool) -> f64 {
        let weight = |at: &usize| self.weight(*at) * counts.0[*at].map_or(0.0, |own| own.trips as f64);
        let sum = |at: &dyn Fn(usize) -> bool| {
            (0..SAMPLES).filter(|own| at(*own)).map(|own| weight(&own)).sum::<f64>()
        };
        sum(holds) / sum(&|_| true).max(1.0)
    }

    /// Leaves the innermost loop.
    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// Returns the number of levels.
    pub(super) fn depth(&self) -> u32 {
        self.0.len() as u32
    }

    /// Adds a level with these iterations at each sample.
    fn push(&mut self, count: impl Fn(&Around, usize) -> Option<Count>) {
        let parts = PARTS[self.0.len() % PARTS.len()];
        let counts: [Option<Count>; SAMPLES] = std::array::from_fn(|at| count(self, at));
        let place = |at: usize| counts[at].and_then(|own| own.after(parts[at]));
        let ends = counts.map(|own| own?.ends());
        let weight = |at: usize| self.weight(at) * counts[at].map_or(1.0, |own| own.trips as f64);
        let level = Level { places: std::array::from_fn(place), ends, weights: std::array::from_fn(weight) };
        self.0.push(level);
    }
}

impl Counts {
    /// True if the loop runs the same known number of iterations at each sample.
    pub(super) fn are_equal(&self) -> bool {
        let trips = |own: &Option<Count>| own.filter(|own| own.is_exact).map(|own| own.trips);
        trips(&self.0[0]).is_some() && self.0.iter().all(|own| trips(own) == trips(&self.0[0]))
    }
}

impl Count {
    /// Returns the first and the last value of the level.
    fn ends(self) -> Option<[i64; 2]> {
        Some([self.first, self.first.checked_add(self.trips.max(1) - 1)?])
    }

    /// Returns the value of the level after so many sixteenths of the loop's iterations.
    fn after(self, part: i64) -> Option<i64> {
        self.first.checked_add((self.trips as f64 * part as f64 / (2 * SAMPLES) as f64).floor() as i64)
    }
}

impl Bounds {
    /// Returns the bounds of a loop inside `depth` levels. `None` if it counts no numbers.
    fn of(program: &Program, header: &Header, depth: u32) -> Option<Bounds> {
        let here = |form: &AffineForm| absolute(form, depth);
        let all = |forms: &[AffineForm]| forms.iter().map(here).collect::<Vec<_>>();
        match &header.span {
            Span::Whole => {
                let lead = header.origins.first()?;
                let space = &program.loop_info(lead.of).space;
                let mut level = |level: u32| absolute(lead.map.get(level as usize)?, depth + 1);
                let upper = space.distances()?.iter().map(|own| own.substitute(&mut level)).collect();
                Some(Bounds { scale: space.step?, lower: vec![Some(AffineForm::constant(0))], upper })
            }
            Span::Range { scale, lower, upper } => {
                Some(Bounds { scale: *scale, lower: all(lower), upper: all(upper) })
            }
        }
    }

    /// Returns the iterations at a sample, as far as bounds are numbers there.
    fn count(&self, around: &Around, at: usize) -> Option<Count> {
        let number = |form: &Option<AffineForm>| {
            let value = form.as_ref()?.evaluate(&|level| around.value(level, at), &|_| None)?;
            ceil_div(value, self.scale)
        };
        let first = self.lower.iter().map(number).collect::<Option<Vec<i64>>>()?.into_iter().max()?;
        let ends = self.upper.iter().filter_map(number);
        let trips = ends.min()?.checked_sub(first)?.max(0);
        Some(Count { first, trips, is_exact: self.upper.iter().all(|own| number(own).is_some()) })
    }
}

/// Returns the factor of a level that is bounded by a constraint. `None` if it is not, or if a
/// quotient has it.
fn factor_of(form: &AffineForm, level: u32) -> Option<i64> {
    let in_quotient = |(atom, _): &(Atom, i64)| match atom {
        Atom::FloorDiv(inner, _) => !inner.all_atoms(&|own| *own != Atom::Level(level)),
        _ => false,
    };
    let factor = form.coefficient_of_level(level);
    (factor != 0 && !form.terms().iter().any(in_quotient)).then_some(factor)
}

/// Returns the usual number of iterations that copies or blocks leave over: half of the most. Such
/// a loop runs from at least `d * (n / d)` to at most `n`.
pub(super) fn remainder(lower: &[AffineForm], upper: &[AffineForm]) -> Option<i64> {
    let pairs = lower.iter().flat_map(|start| upper.iter().map(move |end| (start, end)));
    let divisors = pairs.filter_map(|(start, end)| {
        let gap = end.minus(start)?;
        let (atom, inner, divisor) = gap.terms().iter().find_map(|(atom, factor)| match atom {
            Atom::FloorDiv(inner, divisor) if factor.checked_neg() == Some(*divisor) => {
                Some((atom, inner, *divisor))
            }
            _ => None,
        })?;
        let rest = gap.plus(&AffineForm::atom(atom.clone()), divisor)?.minus(inner)?;
        (rest.as_constant()? == 0).then_some(divisor)
    });
    divisors.min().map(|divisor| divisor / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `constant + Σ factor * level`.
    fn form(constant: i64, terms: &[(u32, i64)]) -> AffineForm {
        let term =
            |sum: AffineForm, (level, factor): &(u32, i64)| sum.plus(&AffineForm::level(*level), *factor);
        terms.iter().try_fold(AffineForm::constant(constant), term).unwrap()
    }

    #[test]
    fn trip_counts_in_a_triangle_are_means() {
        // 0 <= i < 160 and 0 <= j < i.
        let constraints =
            [form(0, &[(0, 1)]), form(159, &[(0, -1)]), form(0, &[(1, 1)]), form(-1, &[(1, -1), (0, 1)])];
        let mean = |depth: u32, end: AffineForm| {
            let around = Around::of(&constraints, depth);
            let bounds = Bounds { scale: 1, lower: vec![Some(form(0, &[]))], upper: vec![Some(end)] };
            let trips = |at: usize| bounds.count(&around, at).unwrap().trips as f64 * around.weight(at);
            let all = (0..SAMPLES).map(trips).sum::<f64>();
            (all / (0..SAMPLES).map(|at| around.weight(at)).sum::<f64>()).round()
        };
        let near =
            |expected: f64, found: f64| assert!((found - expected).abs() < 1.5, "{found}, not {expected}");
        near(160.0, mean(0, form(160, &[])));
        near(80.0, mean(1, form(0, &[(0, 1)])));
        // `k < j`, `k < i - j` and `k < 160 - i`.
        near(53.3, mean(2, form(0, &[(1, 1)])));
        near(53.3, mean(2, form(0, &[(0, 1), (1, -1)])));
        near(53.3, mean(2, form(160, &[(0, -1)])));
    }

    #[test]
    fn levels_without_numbers_are_unknown() {
        let around = Around::of(&[form(0, &[(0, 1)])], 1);
        assert_eq!(around.value(0, 0), None, "nothing bounds it from above");
    }
}
