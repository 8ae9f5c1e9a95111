//! Edits of trees: each makes a new tree that runs the same statements otherwise.
//!
//! None of them asks whether it may be done, and most of what they make is wrong: that is [`legality`](crate::legality)'s to say, afterwards, of
//! the whole tree. They fail only if there is no such loop, or a number leaves 64 bits.
//!
//! **Cost.** Linear in the nodes that refer to the loops concerned; logarithmic in the length of sequences.

use super::green::{Forest, Green, Header, Node, Origin, Span};
use super::program::Program;
use crate::dependence::form::{Atom, Form};

impl Forest {
    /// A body of a loop whose variable is replaced by itself minus `delay`: what ran at `x` now runs at `x + delay`.
    pub fn delayed(&mut self, body: Green, delay: i64) -> Option<Green> {
        if delay == 0 {
            return Some(body);
        }
        let earlier = Form::level(0).plus(&Form::constant(delay), -1)?;
        self.substituted(body, &|level| Some(if level == 0 { earlier.clone() } else { Form::level(level) }))
    }

    /// A tree with forms in the place of the levels around it, over what is around it then.
    pub fn substituted(&mut self, tree: Green, with: &dyn Fn(u32) -> Option<Form>) -> Option<Green> {
        self.substitute(tree, 0, with)
    }

    /// Recurses once a loop or guard, and these nest at most as deep as they are raised. `depth` loops of the tree are around.
    fn substitute(&mut self, tree: Green, depth: u32, with: &dyn Fn(u32) -> Option<Form>) -> Option<Green> {
        if self.free(tree) <= depth {
            return Some(tree);
        }
        let inside = |depth: u32| {
            move |form: &Form| {
                form.substitute(&mut |level| match level.checked_sub(depth) {
                    Some(outer) => with(outer)?.raised(depth),
                    None => Some(Form::level(level)),
                })
            }
        };
        match self.get(tree) {
            Node::Empty => Some(tree),
            Node::Sequence { .. } => {
                let items: Vec<Green> = self.items(tree).collect();
                let items: Option<Vec<Green>> =
                    items.into_iter().map(|item| self.substitute(item, depth, with)).collect();
                Some(self.sequence(&items?))
            }
            Node::Loop { header, body } => {
                let header = self.header(header);
                let span = header.span.mapped(&inside(depth))?;
                let origins = header.origins.iter().map(|origin| origin.mapped(&inside(depth + 1)));
                let origins = origins.collect::<Option<_>>()?;
                let parallel = header.parallel;
                let body = self.substitute(body, depth + 1, with)?;
                Some(self.make_loop(Header { span, origins, parallel }, body))
            }
            Node::Versioned { assumption, fast, fallback } => {
                let fast = self.substitute(fast, depth, with)?;
                let fallback = self.substitute(fallback, depth, with)?;
                let assumed = self.assumptions(assumption).to_vec();
                Some(self.versioned(assumed, fast, fallback))
            }
            Node::Guard { of, map, holds, body } => {
                let forms = self.map(map).iter().map(inside(depth)).collect::<Option<_>>()?;
                let map = self.make_map(forms);
                let body = self.substitute(body, depth, with)?;
                Some(self.guard(of, map, holds, body))
            }
            Node::Leaf { statement, map } => {
                let forms = self.map(map).iter().map(inside(depth)).collect::<Option<_>>()?;
                let map = self.make_map(forms);
                Some(self.leaf(statement, map))
            }
        }
    }

    /// The loop `tree` run backwards. `None` if it is none, or its first and last iteration are not one affine form each.
    pub fn reversed(&mut self, program: &Program, tree: Green) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel } = counted(program, self.header(header))?;
        let (first, last) = ends(&span)?;
        let mirror = first.plus(&last, 1)?.raised(1)?.minus(&Form::level(0))?;
        let with = |level: u32| Some(if level == 0 { mirror.clone() } else { Form::level(level) });
        let body = self.substituted(body, &with)?;
        let origins = origins.iter().map(|origin| origin.mapped(&|form| form.substitute(&mut |l| with(l))));
        let origins = origins.collect::<Option<_>>()?;
        Some(self.make_loop(Header { span, origins, parallel }, body))
    }

    /// The loop `tree` and the one that is all of its body, changed places: what was run for each x and then each y is run for each y
    /// and then each x. `None` if there are no two such loops, or the inner one's values depend on the outer one's variable.
    pub fn interchanged(&mut self, program: &Program, tree: Green) -> Option<Green> {
        let Node::Loop { header: outer, body } = self.get(tree) else { return None };
        let only = self.item(body, 0).filter(|_| self.items_in(body) == 1)?;
        let Node::Loop { header: inner, body } = self.get(only) else { return None };
        let (outer, inner) = (counted(program, self.header(outer))?, counted(program, self.header(inner))?);
        let outwards = |form: &Form| form.substitute(&mut |level| Some(Form::level(level.checked_sub(1)?)));
        // What ran in any order inside of one iteration need not across all of them.
        let inner = Header {
            parallel: inner.parallel && outer.parallel,
            span: inner.span.mapped(&outwards)?,
            origins: inner
                .origins
                .iter()
                .map(|origin| without_outer(program, origin))
                .collect::<Option<_>>()?,
        };
        let inwards = |level: u32| Some(Form::level(if level == 0 { 0 } else { level + 1 }));
        let deeper = |origin: &Origin| origin.mapped(&|form| form.substitute(&mut |level| inwards(level)));
        let outer = Header {
            parallel: outer.parallel,
            span: outer.span.mapped(&|form| form.raised(1))?,
            origins: outer.origins.iter().map(deeper).collect::<Option<_>>()?,
        };
        let swap = |level: u32| Some(Form::level(if level < 2 { 1 - level } else { level }));
        let body = self.substituted(body, &swap)?;
        let inside = self.make_loop(outer, body);
        let inside = self.sequence(&[inside]);
        Some(self.make_loop(inner, inside))
    }

    /// The loop `tree` with the loop that is `inwards` levels further in run outermost, the others in the order they had. `None` if one of the loops
    /// between is not all of the body around it, or they cannot be interchanged.
    pub fn outermost(&mut self, program: &Program, tree: Green, inwards: usize) -> Option<Green> {
        let mut headers = Vec::new();
        let mut inner = tree;
        for _ in 1..inwards {
            let Node::Loop { header, body } = self.get(inner) else { return None };
            headers.push(header);
            inner = self.item(body, 0).filter(|_| self.items_in(body) == 1)?;
        }
        for header in headers.into_iter().rev() {
            let moved = self.interchanged(program, inner)?;
            let body = self.sequence(&[moved]);
            inner = self.with_header(header, body);
        }
        if inwards == 0 { Some(tree) } else { self.interchanged(program, inner) }
    }

    /// Whether a loop runs what its first origin runs, whether its header says so or spells it out.
    pub fn runs_whole(&self, program: &Program, header: &Header) -> bool {
        let as_origin = || counted(program, &Header { span: Span::Whole, ..header.clone() });
        header.span == Span::Whole || as_origin().is_some_and(|whole| whole.span == header.span)
    }

    /// Returns the loop `tree` as a loop over blocks of `size` iterations, around a loop over the
    /// iterations of one block: strip-mining.
    ///
    /// Blocks begin at multiples of `size`, counted from the first iteration of the program's loop.
    /// `None` if `tree` is no loop, `size` is not positive, the loop carries values, or its range is
    /// known only when the program runs.
    pub fn strip_mined(&mut self, program: &Program, tree: Green, size: i64) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel } = counted(program, self.header(header))?;
        let Span::Range { scale, lower, upper } = span else { return None };
        let block = scale.checked_mul(size).filter(|_| size > 0)?;
        if origins.iter().any(|origin| program.loop_info(origin.of).carried > 0) {
            return None;
        }
        // A block runs if its last iteration is not too early and its first not too late.
        let last = Form::constant(block.checked_sub(scale)?);
        let begins = lower.iter().map(|form| form.minus(&last)).collect::<Option<Vec<_>>>()?;
        let blocks = Span::range(block, begins, upper.to_vec());
        let begins_at_zero = lower.iter().filter_map(Form::as_constant).any(|least| least >= 0);
        let inside = |form: &Form| form.raised(1)?.plus(&Form::level(0), block.checked_neg()?);
        let mut low = vec![Form::constant(0)];
        for form in &lower {
            // No block begins before the first iteration.
            if !(begins_at_zero && form.as_constant() == Some(0)) {
                low.push(inside(form)?);
            }
        }
        let mut high = vec![Form::constant(block)];
        for form in &upper {
            // A block that begins before a multiple of its size ends there or before.
            if form.as_constant().is_none_or(|end| end % block != 0) {
                high.push(inside(form)?);
            }
        }
        let leap = Form::default().plus(&Form::level(0), size)?;
        let blockwise = |origin: &Origin| {
            origin.mapped(&|form| {
                form.substitute(&mut |l| Some(if l == 0 { leap.clone() } else { Form::level(l) }))
            })
        };
        let within = Form::level(0).plus(&Form::level(1), size)?;
        let with = |level: u32| Some(if level == 0 { within.clone() } else { Form::level(level + 1) });
        let in_block = |origin: &Origin| origin.mapped(&|form| form.substitute(&mut |level| with(level)));
        let outer = origins.iter().map(blockwise).collect::<Option<_>>()?;
        let inner = origins.iter().map(in_block).collect::<Option<_>>()?;
        let body = self.substituted(body, &with)?;
        let inner =
            self.make_loop(Header { span: Span::range(scale, low, high), origins: inner, parallel }, body);
        let inner = self.sequence(&[inner]);
        Some(self.make_loop(Header { span: blocks, origins: outer, parallel }, inner))
    }

    /// The loop `tree` as two: one runs the first `at` items of its body, one those behind.
    pub fn distributed(&mut self, tree: Green, at: usize) -> Option<[Green; 2]> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let (first, second) = self.split(body, at);
        Some([first, second].map(|part| self.with_header(header, part)))
    }

    /// Two loops as one that runs the iterations of the first, and in each what both run there.
    pub fn fused(&mut self, first: Green, second: Green) -> Option<Green> {
        let (Node::Loop { header, body }, Node::Loop { header: other, body: behind }) =
            (self.get(first), self.get(second))
        else {
            return None;
        };
        let Header { span, origins, .. } = self.header(header).clone();
        let origins = origins.iter().chain(&self.header(other).origins).cloned().collect();
        let body = self.join(body, behind);
        Some(self.make_loop(Header { span, origins, parallel: false }, body))
    }

    /// The loop `tree` as two: one runs the iterations below `at`, a form over the loops around, the other one those from there on.
    pub fn range_split(&mut self, program: &Program, tree: Green, at: &Form) -> Option<[Green; 2]> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel } = counted(program, self.header(header))?;
        let Span::Range { scale, lower, upper } = span else { return None };
        let at = at.times(scale)?;
        let with = |forms: &[Form]| forms.iter().chain([&at]).cloned().collect();
        let below = Span::range(scale, lower.to_vec(), with(&upper));
        let from = Span::range(scale, with(&lower), upper.to_vec());
        Some(
            [below, from]
                .map(|span| self.make_loop(Header { span, origins: origins.clone(), parallel }, body)),
        )
    }
}

/// A header that says by itself which values the variable takes. `None` if that is known only when the program runs.
fn counted(program: &Program, header: &Header) -> Option<Header> {
    if header.span != Span::Whole {
        return Some(header.clone());
    }
    let lead = header.origins.first().filter(|lead| lead.iteration() == Some(&Form::level(0)))?;
    let space = &program.loop_info(lead.of).space;
    if !space.is_counted() || !space.domain.exact {
        return None;
    }
    let around = |form: &Form| {
        let here = form.substitute(&mut |level| lead.map.get(level as usize).cloned())?;
        here.substitute(&mut |level| Some(Form::level(level.checked_sub(1)?)))
    };
    let upper = space.extents()?.iter().map(around).collect::<Option<_>>()?;
    let span = Span::range(space.step?, vec![Form::constant(0)], upper);
    Some(Header { span, origins: header.origins.clone(), parallel: header.parallel })
}

/// The first and the last value of a variable, forms over the loops around, where each is one.
fn ends(span: &Span) -> Option<(Form, Form)> {
    let Span::Range { scale, lower, upper } = span else { return None };
    let ([lower], [upper]) = (&lower[..], &upper[..]) else { return None };
    Some((lower.ceil_div(*scale)?, upper.ceil_div(*scale)?.plus(&Form::constant(1), -1)?))
}

/// An origin of a loop that moves out of the loop around it. `None` if its values depend on that one's variable; else that is 0, for what it is is
/// not known there.
fn without_outer(program: &Program, origin: &Origin) -> Option<Origin> {
    let space = &program.loop_info(origin.of).space;
    let here = |form: &Form| form.substitute(&mut |level| origin.map.get(level as usize).cloned());
    let is_free =
        |form: &Form| here(form).is_some_and(|form| form.all_atoms(&|atom| *atom != Atom::Level(1)));
    if !space.variable.iter().chain(&space.domain.constraints).all(is_free) {
        return None;
    }
    let out = |level: u32| match level {
        1 => Some(Form::constant(0)),
        _ => Some(Form::level(level.saturating_sub(1))),
    };
    origin.mapped(&|form| form.substitute(&mut |level| out(level)))
}
