//! The lines that several streams touch together, if they overlap.
//!
//! ```text
//!     for t { for i { for j { b[i][j] = a[i - 1][j] + a[i][j] + a[i + 1][j] } } }
//!     for t { for i in 0..n/2 { for j { c[2 * i][j] = 0; c[2 * i + 1][j] = 0 } } }
//! ```
//!
//! In an iteration of `t` each access of `a` goes through nearly all of it, as do the others, so
//! the lines of their streams are not added up. The *hull* of a stream is the box of elements
//! around what it touches. Streams of one object whose hulls only differ by numbers touch no more
//! lines together than the hull of all of them has.

use smallvec::SmallVec;

use crate::affine::{AffineForm, Atom};

/// The least ratio of the factor of an outer dimension to that of an inner one. Factors of copies
/// of an iteration are nearer.
const OUTER: i64 = 32;

/// A subscript of a stream in a loop.
#[derive(Clone, Debug)]
struct Subscript {
    start: i64,
    /// The factors and trip counts of the levels inside of the loop.
    inside: SmallVec<[(i64, f64); 4]>,
    /// The factor and trip count of the loop.
    own: (i64, f64),
}

/// The hull of a stream in a loop.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    /// The terms of the subscripts in the levels around, up to that of the loop.
    pub(super) around: Vec<AffineForm>,
    subscripts: SmallVec<[Subscript; 2]>,
    /// The iterations by which the first and the last access of the stream are ahead.
    ahead: [i64; 2],
    /// The elements of a row, and the bytes of an element.
    row: f64,
    unit: f64,
}

/// The elements that several hulls have together: a number of runs of a number of neighbours.
struct Extent {
    runs: f64,
    run: f64,
}

impl Hull {
    /// Returns the hull of subscripts in the loop at `level`. `trips` returns the trip count of
    /// each level from there on. A row has `row` elements of `unit` bytes. `None` if a subscript
    /// is no sum of levels.
    pub(super) fn of(
        dims: &[Option<AffineForm>],
        level: u32,
        trips: &dyn Fn(u32) -> f64,
        (row, unit): (f64, f64),
    ) -> Option<Hull> {
        let mut hull = Hull { around: Vec::new(), subscripts: SmallVec::new(), ahead: [0, 0], row, unit };
        for form in dims {
            let form = form.as_ref()?;
            let start = form.constant_part();
            let mut around = form.without_constant();
            let mut subscript = Subscript { start, inside: SmallVec::new(), own: (0, 1.0) };
            for (atom, factor) in form.terms() {
                match atom {
                    Atom::Level(own) if *own == level => subscript.own = (*factor, trips(*own)),
                    Atom::Level(own) if *own > level => {
                        subscript.inside.push((*factor, trips(*own)));
                        around = around.plus(&AffineForm::level(*own), factor.checked_neg()?)?;
                    }
                    Atom::FloorDiv(inner, _) if !inner.all_atoms(&|atom| is_around(atom, level)) => {
                        return None;
                    }
                    _ => {}
                }
            }
            hull.around.push(around);
            hull.subscripts.push(subscript);
        }
        Some(hull)
    }

    /// Returns the hull of accesses that are so many iterations ahead.
    pub(super) fn reaching(self, ahead: [i64; 2]) -> Hull {
        Hull { ahead, ..self }
    }
}

/// Returns the lines of so many bytes that hulls have together, in one iteration of the loop or in
/// all of them. A page is a line, too.
pub(super) fn lines(hulls: &[&Hull], whole: bool, bytes: f64) -> f64 {
    let Some(first) = hulls.first() else { return 0.0 };
    let line = bytes / first.unit;
    let last = first.subscripts.len().saturating_sub(1);
    let mut rows = 1.0;
    for at in 0..last {
        let extent = extent(hulls, (at, whole), 1.0);
        rows *= extent.runs * extent.run;
    }
    let Extent { runs, run } = extent(hulls, (last, whole), line);
    rows * runs * (run.min(first.row) / line).ceil()
}

/// Returns the extent of the subscripts in one dimension. Rows of an object without known
/// dimensions are runs: the dimension is split where factors are much greater than others.
fn extent(hulls: &[&Hull], (dim, whole): (usize, bool), line: f64) -> Extent {
    let subscripts = || hulls.iter().filter_map(|own| own.subscripts.get(dim));
    let terms = |own: &Subscript| -> SmallVec<[(i64, f64); 4]> {
        let own_level = Some(own.own).filter(|_| whole);
        let all = own.inside.iter().copied().chain(own_level);
        all.filter(|(factor, trips)| *factor != 0 && *trips > 1.0).collect()
    };
    let mut factors: Vec<i64> =
        subscripts().flat_map(terms).map(|(factor, _)| factor.saturating_abs()).collect();
    factors.sort_unstable();
    // The factor of each split-off dimension, inner ones first.
    let mut pitches: SmallVec<[i64; 4]> = SmallVec::new();
    for factor in factors.into_iter().filter(|factor| *factor as f64 >= line && *factor > 1) {
        if pitches.last().is_none_or(|last| factor / OUTER >= *last) {
            pitches.push(factor);
        }
    }
    let mut ranges: SmallVec<[(f64, f64); 4]> = SmallVec::from_elem(NOWHERE, pitches.len() + 1);
    let ends = hulls.iter().flat_map(|hull| hull.ahead.map(|ahead| Some((hull.subscripts.get(dim)?, ahead))));
    for (own, ahead) in ends.flatten() {
        let start = own.start.saturating_add(own.own.0.saturating_mul(ahead));
        let mut rest = start;
        for at in (0..ranges.len()).rev() {
            let pitch = at.checked_sub(1).map_or(1, |at| pitches[at]);
            let begin = (rest as f64 / pitch as f64).round();
            rest = rest.saturating_sub((begin as i64).saturating_mul(pitch));
            let (mut low, mut high) = (begin, begin);
            let is_here = |factor: &i64| {
                let next = pitches.get(at).copied().unwrap_or(i64::MAX);
                factor.saturating_abs() >= pitch && factor.saturating_abs() < next
            };
            for (factor, trips) in terms(own).into_iter().filter(|(factor, _)| is_here(factor)) {
                let reach = (factor / pitch) as f64 * (trips - 1.0);
                if reach < 0.0 { low += reach } else { high += reach }
            }
            ranges[at] = (ranges[at].0.min(low), ranges[at].1.max(high));
        }
    }
    let mut widths = ranges.into_iter().map(|(low, high)| high - low + 1.0);
    Extent { run: widths.next().unwrap_or(1.0), runs: widths.product() }
}

/// A range of no numbers.
const NOWHERE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// True if an atom is no level inside the loop at `level`, nor its own.
fn is_around(atom: &Atom, level: u32) -> bool {
    !matches!(atom, Atom::Level(own) if *own >= level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `constant + Σ factor * level`.
    fn form(constant: i64, terms: &[(u32, i64)]) -> Option<AffineForm> {
        let term =
            |sum: AffineForm, (level, factor): &(u32, i64)| sum.plus(&AffineForm::level(*level), *factor);
        terms.iter().try_fold(AffineForm::constant(constant), term)
    }

    #[test]
    fn neighbouring_planes_are_in_one_hull() {
        let trips = |level: u32| if level == 0 { 10.0 } else { 100.0 };
        let hull = |plane: i64| {
            let dims = [form(plane, &[(1, 1)]), form(0, &[(2, 1)])];
            Hull::of(&dims, 0, &trips, (f64::INFINITY, 4.0)).unwrap()
        };
        let [before, own, after] = [-1, 0, 1].map(hull);
        assert_eq!([false, true].map(|whole| lines(&[&before], whole, 64.0)), [700.0, 700.0]);
        assert_eq!(lines(&[&before, &own, &after], false, 64.0), 714.0);
        assert_eq!(before.around, after.around);
    }

    #[test]
    fn copies_of_an_iteration_share_a_hull_with_what_is_not_copied() {
        // Along a column of rows of 800, all rows, even ones and odd ones.
        let hull = |form: Option<AffineForm>, trips: f64| {
            Hull::of(&[form], 0, &|level| if level == 0 { 8.0 } else { trips }, (f64::INFINITY, 4.0)).unwrap()
        };
        let all = hull(form(0, &[(0, 1), (1, 800)]), 100.0);
        let even = hull(form(0, &[(0, 1), (1, 1600)]), 50.0);
        let odd = hull(form(800, &[(0, 1), (1, 1600)]), 50.0);
        assert_eq!([&all, &even, &odd].map(|own| lines(&[own], false, 32.0)), [100.0, 50.0, 50.0]);
        assert_eq!([false, true].map(|whole| lines(&[&all, &even, &odd], whole, 32.0)), [100.0, 100.0]);
    }

    #[test]
    fn what_the_loop_itself_goes_through_is_in_the_hull_of_all_iterations() {
        let own = Hull::of(&[form(3, &[(0, -1)])], 0, &|_| 32.0, (f64::INFINITY, 4.0)).unwrap();
        assert_eq!([false, true].map(|whole| lines(&[&own], whole, 64.0)), [1.0, 2.0]);
        let in_quotient = form(0, &[(1, 1)]).and_then(|own| own.floor_div(4));
        assert!(Hull::of(&[in_quotient], 0, &|_| 32.0, (f64::INFINITY, 4.0)).is_none());
    }

    #[test]
    fn rows_that_are_iterations_ahead_are_in_the_hull() {
        // Tiles of 512 along rows of 2,100: the next row is four iterations of the tiles and 52
        // elements ahead.
        let hull = |start: i64| {
            let dims = [form(start, &[(0, 512), (1, 1)])];
            Hull::of(&dims, 0, &|level| if level == 0 { 5.0 } else { 400.0 }, (f64::INFINITY, 4.0)).unwrap()
        };
        let (own, next) = (hull(0), hull(48).reaching([4, 4]));
        assert_eq!([&own, &next].map(|own| lines(&[own], false, 32.0)), [50.0, 50.0]);
        assert!(lines(&[&own, &next], false, 32.0) >= 100.0);
    }
}
