//! Strip-mining, index-set splitting and peeling.

use crate::affine::AffineForm;
use crate::tree::green::{Green, Header, Node, Origin, Span, TreeStore};
use crate::tree::program::Program;

impl TreeStore {
    /// True if a loop runs the iterations of its first origin, in either form of header.
    pub(crate) fn runs_whole(&self, program: &Program, header: &Header) -> bool {
        let as_origin = || counted(program, &Header { span: Span::Whole, ..header.clone() });
        header.span == Span::Whole || as_origin().is_some_and(|whole| whole.span == header.span)
    }

    /// Strip-mines the loop `tree`: a loop over blocks of `size` iterations around a loop over the
    /// iterations of one block.
    ///
    /// Blocks begin at multiples of `size`, counted from the first iteration of the program's loop.
    /// `None` if `tree` is no loop, `size` is not positive, the loop carries values, or its range
    /// is known only when the program runs.
    pub(crate) fn strip_mined(&mut self, program: &Program, tree: Green, size: i64) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel, .. } = counted(program, self.header(header))?;
        let Span::Range { scale, lower, upper } = span else { return None };
        let block = scale.checked_mul(size).filter(|_| size > 0)?;
        if origins.iter().any(|origin| program.loop_info(origin.of).has_results()) {
            return None;
        }
        // A block runs if its last iteration reaches the lower bound and its first is below the
        // upper bound.
        let last = AffineForm::constant(block.checked_sub(scale)?);
        let begins = lower.iter().map(|form| form.minus(&last)).collect::<Option<Vec<_>>>()?;
        let blocks = Span::range(block, begins, upper.to_vec());
        let begins_at_zero = lower.iter().filter_map(AffineForm::as_constant).any(|least| least >= 0);
        let inside = |form: &AffineForm| form.raised(1)?.plus(&AffineForm::level(0), block.checked_neg()?);
        let mut low = vec![AffineForm::constant(0)];
        for form in &lower {
            // No block begins before the first iteration.
            if !(begins_at_zero && form.as_constant() == Some(0)) {
                low.push(inside(form)?);
            }
        }
        let mut high = vec![AffineForm::constant(block)];
        for form in &upper {
            // If the upper bound is a multiple of the block, each block that begins before it also
            // ends there or before.
            if form.as_constant().is_none_or(|end| end % block != 0) {
                high.push(inside(form)?);
            }
        }
        let leap = AffineForm::default().plus(&AffineForm::level(0), size)?;
        let blockwise = |origin: &Origin| {
            origin.mapped(&|form| {
                form.substitute(&mut |l| Some(if l == 0 { leap.clone() } else { AffineForm::level(l) }))
            })
        };
        let within = AffineForm::level(0).plus(&AffineForm::level(1), size)?;
        let with = |level: u32| Some(if level == 0 { within.clone() } else { AffineForm::level(level + 1) });
        let in_block = |origin: &Origin| origin.mapped(&|form| form.substitute(&mut |level| with(level)));
        let outer = origins.iter().map(blockwise).collect::<Option<_>>()?;
        let inner = origins.iter().map(in_block).collect::<Option<_>>()?;
        let body = self.substituted(body, &with)?;
        let inner = self.make_loop(
            Header { span: Span::range(scale, low, high), origins: inner, parallel, mark: None },
            body,
        );
        let inner = self.sequence(&[inner]);
        Some(self.make_loop(Header { span: blocks, origins: outer, parallel, mark: None }, inner))
    }

    /// Peels first and last iterations of the loop `tree`: loops of at most one iteration run
    /// before and behind it. `None` if its first and its last iteration are not a single affine
    /// form each.
    pub(crate) fn peeled(
        &mut self,
        program: &Program,
        tree: Green,
        first: usize,
        last: usize,
    ) -> Option<Vec<Green>> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        if (first, last) == (0, 0) {
            return Some(vec![tree]);
        }
        let header = counted(program, self.header(header))?;
        let (begin, end) = ends(&header.span)?;
        let Span::Range { scale, lower, upper } = &header.span else { return None };
        let value = |form: &AffineForm, iterations: i64| {
            form.plus(&AffineForm::constant(1), iterations)?.times(*scale)
        };
        let [first, last] = [i64::try_from(first).ok()?, i64::try_from(last).ok()?];
        let (mut spans, mut low) = (Vec::new(), lower.to_vec());
        for number in 1..=first {
            let next = value(&begin, number)?;
            let after = [&lower[..], std::slice::from_ref(&next)].concat();
            spans.push((std::mem::replace(&mut low, after), [&upper[..], &[next]].concat()));
        }
        // The last `left` iterations are those behind.
        let before = |left: i64| match left {
            0 => Some(upper.to_vec()),
            _ => Some([&upper[..], &[value(&end, 1 - left)?]].concat()),
        };
        spans.push((low.clone(), before(last)?));
        for number in (0..last).rev() {
            spans.push(([&low[..], &[value(&end, -number)?]].concat(), before(number)?));
        }
        let all = spans.into_iter().map(|(lower, upper)| {
            let span = Span::range(*scale, lower, upper);
            self.make_loop(Header { span, mark: None, ..header.clone() }, body)
        });
        let all: Vec<Green> = all.collect();
        Some(all.into_iter().filter(|own| !self.is_never_run(*own)).collect())
    }

    /// True if a loop has no iteration for any parameters.
    pub(super) fn is_never_run(&self, tree: Green) -> bool {
        matches!(self.get(tree), Node::Loop { header, .. } if self.header(header).span.is_empty())
    }

    /// Splits the loop `tree` into two: one runs the iterations below `at`, a form over the
    /// surrounding loops, the other the rest.
    pub(crate) fn range_split(
        &mut self,
        program: &Program,
        tree: Green,
        at: &AffineForm,
    ) -> Option<[Green; 2]> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel, .. } = counted(program, self.header(header))?;
        let Span::Range { scale, lower, upper } = span else { return None };
        let at = at.times(scale)?;
        let with = |forms: &[AffineForm]| forms.iter().chain([&at]).cloned().collect();
        let below = Span::range(scale, lower.to_vec(), with(&upper));
        let from = Span::range(scale, with(&lower), upper.to_vec());
        Some([below, from].map(|span| {
            self.make_loop(Header { span, origins: origins.clone(), parallel, mark: None }, body)
        }))
    }
}

/// Returns a header with explicit bounds of the induction variable. `None` if they are known only
/// at run time.
pub(crate) fn counted(program: &Program, header: &Header) -> Option<Header> {
    if header.span != Span::Whole {
        return Some(header.clone());
    }
    let lead = header.origins.first().filter(|lead| lead.iteration() == Some(&AffineForm::level(0)))?;
    let space = &program.loop_info(lead.of).space;
    if !space.is_counted() || !space.domain.exact {
        return None;
    }
    let around = |form: &AffineForm| {
        let here = form.substitute(&mut |level| lead.map.get(level as usize).cloned())?;
        here.substitute(&mut |level| Some(AffineForm::level(level.checked_sub(1)?)))
    };
    let upper = space.extents()?.iter().map(around).collect::<Option<_>>()?;
    let span = Span::range(space.step?, vec![AffineForm::constant(0)], upper);
    Some(Header { span, ..header.clone() })
}

/// Returns the first and the last value of an induction variable as forms over the loops around, if
/// each is a single form.
pub(super) fn ends(span: &Span) -> Option<(AffineForm, AffineForm)> {
    let Span::Range { scale, lower, upper } = span else { return None };
    let ([lower], [upper]) = (&lower[..], &upper[..]) else { return None };
    Some((lower.ceil_div(*scale)?, upper.ceil_div(*scale)?.plus(&AffineForm::constant(1), -1)?))
}
