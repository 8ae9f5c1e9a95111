//! Interchange of two loops where the bounds of the inner one depend on the outer one.
//!
//! The iterations are the integer points of a system of inequalities in the outer variable `x` and
//! the inner one `y`. In the new nest, `y` ranges over the system without `x`, eliminated by
//! Fourier and Motzkin, and `x` over all inequalities. For some `y` there may be no `x`; the inner
//! loop is then empty.
//!
//! ```text
//!     for x in 0..n { for y in x..m + x { … } }
//!     for y in 0..m + n - 1 { for x in max(0, y - m + 1)..min(n, y + 1) { … } }
//! ```

use super::range::counted;
use crate::affine::{AffineForm, Atom};
use crate::tree::green::{Green, Header, Node, Origin, Span, TreeStore};
use crate::tree::program::Program;

/// The maximal number of bounds of one loop.
const MOST_BOUNDS: usize = 16;

/// The bounds of a variable: `scale · x ≥ lower` and `scale · x < upper`.
#[derive(Default)]
struct Bounds {
    lower: Vec<(i64, AffineForm)>,
    upper: Vec<(i64, AffineForm)>,
}

impl Bounds {
    /// Returns the range with one scale. `None` if numbers exceed 64 bits.
    fn into_span(self) -> Option<Span> {
        let all = || self.lower.iter().chain(&self.upper).map(|(scale, _)| *scale);
        let scale = all().try_fold(1_i64, |least, own| least.checked_mul(own / divisor(least, own)))?;
        let scaled = |bounds: &[(i64, AffineForm)]| {
            bounds.iter().map(|(own, form)| form.times(scale / own)).collect::<Option<Vec<_>>>()
        };
        let few = self.lower.len().max(self.upper.len()) <= MOST_BOUNDS;
        few.then_some(Span::range(scale, scaled(&self.lower)?, scaled(&self.upper)?))
    }
}

/// Returns the greatest common divisor of two positive numbers.
fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl TreeStore {
    /// Interchanges the loop `tree` with the loop that fills its body, as
    /// [`interchanged`](TreeStore::interchanged) does, also if bounds of the inner loop depend on
    /// the outer one. `None` if there are no two such loops, one of them carries values, or a range
    /// is known only when the program runs.
    pub(crate) fn swapped(&mut self, program: &Program, tree: Green) -> Option<Green> {
        if let Some(simple) = self.interchanged(program, tree) {
            return Some(simple);
        }
        let tree = match self.dependence_on_outer(program, tree) {
            Some(by) => self.skewed(program, tree, by)?,
            None => tree,
        };
        let Node::Loop { header: outer, body } = self.get(tree) else { return None };
        let only = self.only_item(body)?;
        let Node::Loop { header: inner, body } = self.get(only) else { return None };
        let (outer, inner) = (counted(program, self.header(outer))?, counted(program, self.header(inner))?);
        let mut origins = outer.origins.iter().chain(&inner.origins);
        if outer.parallel || inner.parallel || origins.any(|own| program.loop_info(own.of).has_results()) {
            return None;
        }
        let (new_outer, new_inner) = ranges(&outer.span, &inner.span)?;
        // The variable of the former outer loop is unknown outside; any iteration stands for it.
        let out = |level: u32| match level {
            1 => Some(AffineForm::constant(0)),
            _ => Some(AffineForm::level(level.saturating_sub(1))),
        };
        let inwards = |level: u32| Some(AffineForm::level(if level == 0 { 0 } else { level + 1 }));
        let mapped = |own: &[Origin], with: &dyn Fn(u32) -> Option<AffineForm>| {
            own.iter().map(|own| own.mapped(&|form| form.substitute(&mut |l| with(l)))).collect::<Option<_>>()
        };
        let first =
            Header { span: new_outer, origins: mapped(&inner.origins, &out)?, parallel: false, mark: None };
        let second = Header {
            span: new_inner,
            origins: mapped(&outer.origins, &inwards)?,
            parallel: false,
            mark: None,
        };
        let swap = |level: u32| Some(AffineForm::level(if level < 2 { 1 - level } else { level }));
        let body = self.substituted(body, &swap)?;
        let inside = self.make_loop(second, body);
        let inside = self.sequence(&[inside]);
        Some(self.make_loop(first, inside))
    }

    /// Returns the number of steps of the only loop inside the loop `tree` by which its first value
    /// grows in an iteration of `tree`. Skewed by as much, iterations of equal values have equal
    /// numbers: what is interchanged are then rows and columns, not rows and diagonals. `None` if
    /// the first value does not depend on `tree`, or not by whole steps, or if the loop was skewed
    /// already.
    fn dependence_on_outer(&self, program: &Program, tree: Green) -> Option<i64> {
        let Node::Loop { body, .. } = self.get(tree) else { return None };
        let Node::Loop { header, .. } = self.get(self.item(body, 0)?) else { return None };
        let origin = self.header(header).origins.first()?;
        let info = program.loop_info(origin.of);
        let is_skewed = origin.map.get(info.depth as usize)?.coefficient_of_level(1) != 0;
        let variable = info.space.variable.as_ref().filter(|_| !is_skewed)?;
        let here = variable.substitute(&mut |level| origin.map.get(level as usize).cloned())?;
        let [step, by] = [0, 1].map(|level| here.coefficient_of_level(level));
        by.checked_div(step).filter(|steps| *steps != 0 && by % step == 0)
    }
}

/// Returns the ranges of two interchanged loops: of the former inner one, over the loops around
/// both, and of the former outer one, over the former inner one, level 0, and the loops around.
fn ranges(outer: &Span, inner: &Span) -> Option<(Span, Span)> {
    let (
        Span::Range { scale: outer_scale, lower: outer_lower, upper: outer_upper },
        Span::Range { scale: inner_scale, lower, upper },
    ) = (outer, inner)
    else {
        return None;
    };
    let (mut y, mut x) = (Bounds::default(), Bounds::default());
    for form in outer_lower {
        x.lower.push((*outer_scale, form.raised(1)?));
    }
    for form in outer_upper {
        x.upper.push((*outer_scale, form.raised(1)?));
    }
    let one = AffineForm::constant(1);
    let bounds = lower.iter().map(|form| (form, true)).chain(upper.iter().map(|form| (form, false)));
    for (form, is_lower) in bounds {
        let factor = form.coefficient_of_level(0);
        let rest = form.plus(&AffineForm::level(0), factor.checked_neg()?)?;
        if !rest.all_atoms(&|atom| *atom != Atom::Level(0)) {
            return None;
        }
        let around = rest.substitute(&mut |level| Some(AffineForm::level(level.checked_sub(1)?)))?;
        let side = if is_lower { &mut y.lower } else { &mut y.upper };
        if factor == 0 {
            side.push((*inner_scale, around));
            continue;
        }
        // The bound of `y` is loosest where `factor · x` is least for a lower bound, and greatest
        // for an upper one: at the first or at the last `x`.
        let scale = inner_scale.checked_mul(*outer_scale)?;
        let ends: Vec<AffineForm> = match (factor > 0) == is_lower {
            true => outer_lower.to_vec(),
            false => outer_upper.iter().map(|end| end.minus(&one)).collect::<Option<_>>()?,
        };
        for end in ends {
            side.push((scale, around.times(*outer_scale)?.plus(&end, factor)?));
        }
        // The other levels are those of the new nest too. As a bound of `x`: `factor · x` is at
        // most `gap` for a lower bound of `y`, and more than `gap` for an upper one.
        let gap = AffineForm::default().plus(&AffineForm::level(0), *inner_scale)?.minus(&rest)?;
        let positive = factor.checked_abs()?;
        match (is_lower, factor > 0) {
            (true, true) => x.upper.push((positive, gap.plus(&one, 1)?)),
            (true, false) => x.lower.push((positive, gap.times(-1)?)),
            (false, true) => x.lower.push((positive, gap.plus(&one, 1)?)),
            (false, false) => x.upper.push((positive, gap.times(-1)?)),
        }
    }
    Some((y.into_span()?, x.into_span()?))
}
