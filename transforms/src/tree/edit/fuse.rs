//! Distribution and fusion: two loops of one, and one loop of several.
//!
//! Each fused loop runs at the times `x` with `scale · x ≥` each of its starts and `scale · x <`
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
    /// The lower bounds of the loop's times, divided by the scale: forms over the loops around.
    pub(crate) starts: Vec<AffineForm>,
    /// The exclusive upper bounds of the loop's times, divided by the scale: forms over the loops
    /// around.
    pub(crate) ends: Vec<AffineForm>,
}

/// The times that several loops have in common.
pub(crate) struct Together {
    /// The step of all loops.
    pub(crate) scale: i64,
    /// The lower bounds of the times, divided by the scale.
    pub(crate) starts: Vec<AffineForm>,
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
        // For each common start: the times before it, and from the starts on that come earlier in
        // the list.
        let mut lower = own.starts.clone();
        for start in self.starts.iter().filter(|start| !own.starts.contains(start)) {
            let upper = [&own.ends[..], std::slice::from_ref(start)].concat();
            parts.before.extend(self.part(own, lower.clone(), upper, trees));
            lower.push(start.clone());
        }
        // For each common end: the times behind it, and before the ends that come earlier in the
        // list.
        let mut upper = own.ends.clone();
        let mut after = Vec::new();
        for end in self.ends.iter().filter(|end| !own.ends.contains(end)) {
            let lower = [&self.starts[..], std::slice::from_ref(end)].concat();
            after.extend(self.part(own, lower, upper.clone(), trees));
            upper.push(end.clone());
        }
        after.reverse();
        parts.after.append(&mut after);
    }

    /// Returns the times as values of an induction variable.
    pub(crate) fn span(&self) -> Span {
        Span::range(self.scale, self.starts.clone(), self.ends.clone())
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
    /// Loops with bounds unknown to the tree run the iterations of the first. Loops of different
    /// steps are fused iteration by iteration. `None` if one of them is no loop, or `shift` is
    /// negative.
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
        let is_of_one_step = scale == step;
        let (scale, own, others) = match is_of_one_step {
            true => (scale, own, others),
            false => (1, iterations(scale, own)?, iterations(step, others)?),
        };
        let later = shift.checked_mul(scale).filter(|later| *later >= 0)?;
        let first = Times { origins: a.origins, body, starts: own.0, ends: own.1 };
        let [starts, ends] = [others.0, others.1].map(|forms| {
            let later = forms.iter().map(|form| form.plus(&AffineForm::constant(later), 1));
            later.collect::<Option<Vec<AffineForm>>>()
        });
        let second = Times { origins: shifted, body: behind, starts: starts?, ends: ends? };
        let all = |own: &[AffineForm], others: &[AffineForm]| {
            let others = others.iter().filter(|form| !own.contains(form));
            own.iter().chain(others).cloned().collect::<Vec<_>>()
        };
        let starts = latest(all(&first.starts, &second.starts));
        let common = Together { scale, starts, ends: all(&first.ends, &second.ends), parallel };
        let is_whole =
            [&first, &second].iter().all(|own| own.starts == common.starts && own.ends == common.ends);
        let is_as_first = is_whole && shift == 0 && (!is_of_one_step || parallel && a.span == Span::Whole);
        let span = if is_as_first { a.span } else { common.span() };
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

/// The bounds of a loop's times, divided by the scale.
type Bounds = (Vec<AffineForm>, Vec<AffineForm>);

/// Returns the scale of a loop, and the bounds of its times. Constant starts are multiples of the
/// scale.
fn times(program: &Program, header: &Header) -> Option<(i64, Bounds)> {
    let Span::Range { scale, lower, upper } = counted(program, header)?.span else { return None };
    let multiple = |form: &AffineForm| match form.as_constant() {
        Some(_) => form.ceil_div(scale)?.times(scale),
        None => Some(form.clone()),
    };
    Some((scale, (lower.iter().map(multiple).collect::<Option<_>>()?, upper.to_vec())))
}

/// Returns bounds of `scale · x` as bounds of `x`.
fn iterations(scale: i64, (starts, ends): Bounds) -> Option<Bounds> {
    let all = |forms: Vec<AffineForm>| forms.iter().map(|form| form.ceil_div(scale)).collect::<Option<_>>();
    Some((all(starts)?, all(ends)?))
}

/// Returns the starts without all constants but the greatest.
fn latest(mut starts: Vec<AffineForm>) -> Vec<AffineForm> {
    let greatest = starts.iter().filter_map(AffineForm::as_constant).max();
    starts.retain(|start| start.as_constant().is_none() || start.as_constant() == greatest);
    starts
}
