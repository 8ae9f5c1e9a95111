//! Distribution and fusion: two loops of one, and one loop of several.
//!
//! Each fused loop runs its iteration `x - start` at time `x`, for `start ≤ x` and `scale · x <`
//! each of its ends. The fused loop runs the times that all of them share. Earlier times of a loop
//! run in a loop before the fused one, later times in a loop behind it. Both follow the order of
//! the loops.
//!
//! ```text
//!     first    [0, n)       0 | 1 2 … n-1 |
//!     second   [1, n + 1)       1 2 … n-1 | n          one iteration later
//!              before ──────┘    fused      └── after
//! ```

use super::range::counted;
use crate::affine::AffineForm;
use crate::tree::green::{Green, Header, Mark, Node, Origin, Span, TreeStore};
use crate::tree::program::Program;

/// One of several fused loops.
pub(crate) struct Times {
    /// The origins that it runs, at these times.
    pub(crate) origins: Box<[Origin]>,
    pub(crate) body: Green,
    /// The first time.
    pub(crate) start: i64,
    /// The exclusive upper bounds of the loop's times, divided by the scale: forms over the loops
    /// around.
    pub(crate) ends: Vec<AffineForm>,
}

/// The times that several loops have in common.
pub(crate) struct Together {
    /// The step of all loops.
    pub(crate) scale: i64,
    /// The first time.
    pub(crate) start: i64,
    /// The exclusive upper bounds of the times, divided by the scale.
    pub(crate) ends: Vec<AffineForm>,
    /// True if iterations may run in any order.
    pub(crate) parallel: bool,
}

/// The result of fusing several loops.
pub(crate) struct Parts {
    /// The remainders before the common times.
    pub(crate) before: Vec<Green>,
    /// The loop that runs the common times.
    pub(crate) fused: Green,
    /// The remainders after the common times.
    pub(crate) after: Vec<Green>,
}

impl Parts {
    /// Returns all loops in execution order.
    pub(crate) fn into_items(self) -> Vec<Green> {
        let Parts { mut before, fused, after } = self;
        before.push(fused);
        before.extend(after);
        before
    }
}

impl Together {
    /// Adds the remainders of `own` before and behind the common times to `parts`.
    pub(crate) fn add_rest(&self, own: &Times, parts: &mut Parts, trees: &mut TreeStore) {
        if own.start < self.start {
            let mut upper = own.ends.clone();
            upper.push(self.first());
            let lower = AffineForm::constant(own.start.saturating_mul(self.scale));
            parts.before.extend(self.part(own, vec![lower], upper, trees));
        }
        // For each common end: the times behind it, and before the ends that come earlier in the
        // list.
        let mut upper = own.ends.clone();
        let mut after = Vec::new();
        for end in self.ends.iter().filter(|end| !own.ends.contains(end)) {
            after.extend(self.part(own, vec![self.first(), end.clone()], upper.clone(), trees));
            upper.push(end.clone());
        }
        after.reverse();
        parts.after.append(&mut after);
    }

    /// Returns the times as values of an induction variable.
    pub(crate) fn span(&self) -> Span {
        Span::range(self.scale, vec![self.first()], self.ends.clone())
    }

    /// Returns the product of the first time and the scale.
    fn first(&self) -> AffineForm {
        AffineForm::constant(self.start.saturating_mul(self.scale))
    }

    fn part(
        &self,
        own: &Times,
        lower: Vec<AffineForm>,
        upper: Vec<AffineForm>,
        trees: &mut TreeStore,
    ) -> Option<Green> {
        let span = Span::range(self.scale, lower, upper);
        let origins = own.origins.clone();
        let header = Header { span, origins, parallel: self.parallel, mark: Some(Mark::Remainder) };
        (!header.span.is_empty()).then(|| trees.make_loop(header, own.body))
    }
}

impl TreeStore {
    /// Returns two loops fused, with the second shifted by `shift` iterations.
    ///
    /// Loops with bounds unknown to the tree run the iterations of the first. `None` if one of them
    /// is no loop, their steps differ, or `shift` is negative.
    pub(crate) fn fused(
        &mut self,
        program: &Program,
        first: Green,
        second: Green,
        shift: i64,
    ) -> Option<Parts> {
        let (Node::Loop { header: a, body }, Node::Loop { header: b, body: behind }) =
            (self.get(first), self.get(second))
        else {
            return None;
        };
        let (a, b) = (self.header(a).clone(), self.header(b).clone());
        let behind = self.shifted(behind, shift)?;
        let shifted = b.origins.iter().map(|origin| origin.shifted(shift)).collect::<Option<Box<[_]>>>()?;
        let origins = a.origins.iter().chain(&shifted).cloned().collect();
        let joined = self.join(body, behind);
        // The judge decides if the iterations of both may run in any order.
        let parallel = a.parallel && b.parallel;
        let spans = (times(program, &a), times(program, &b));
        let (Some((scale, own)), Some((step, others))) = spans else {
            let header = Header { span: a.span, origins, parallel, mark: None };
            let fused = (shift == 0).then(|| self.make_loop(header, joined))?;
            return Some(Parts { before: Vec::new(), fused, after: Vec::new() });
        };
        let later = shift.checked_mul(scale).filter(|later| scale == step && *later >= 0)?;
        let first = Times { origins: a.origins, body, start: own.0, ends: own.1 };
        let ends = others.1.iter().map(|end| end.plus(&AffineForm::constant(later), 1));
        let start = others.0.checked_add(shift)?;
        let second = Times { origins: shifted, body: behind, start, ends: ends.collect::<Option<_>>()? };
        let mut ends = first.ends.clone();
        ends.extend(second.ends.iter().filter(|end| !first.ends.contains(end)).cloned());
        let start = first.start.max(second.start);
        let common = Together { scale, start, ends, parallel };
        let is_whole = [&first, &second].iter().all(|own| own.start == start && own.ends == common.ends);
        let is_as_first = parallel && shift == 0 && is_whole && a.span == Span::Whole;
        let span = if is_as_first { Span::Whole } else { common.span() };
        let header = Header { span, origins, parallel, mark: None };
        let fused = self.make_loop(header, joined);
        let mut parts = Parts { before: Vec::new(), fused, after: Vec::new() };
        common.add_rest(&first, &mut parts, self);
        common.add_rest(&second, &mut parts, self);
        Some(parts)
    }

    /// Returns the loop `tree` as two: one runs the first `at` items of its body, one the others.
    pub(crate) fn distributed(&mut self, tree: Green, at: usize) -> Option<[Green; 2]> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let (first, second) = self.split(body, at);
        Some([first, second].map(|part| self.with_header(header, part)))
    }
}

/// Returns the scale of a loop with a constant lower bound, that bound, and the ends of its times.
fn times(program: &Program, header: &Header) -> Option<(i64, (i64, Vec<AffineForm>))> {
    let Span::Range { scale, lower, upper } = counted(program, header)?.span else { return None };
    let [lower] = &lower[..] else { return None };
    Some((scale, (lower.ceil_div(scale)?.as_constant()?, upper.to_vec())))
}
