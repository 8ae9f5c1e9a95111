//! Flattening: a perfect nest of two loops becomes one loop.
//!
//! With `m` iterations of the inner loop, `for i in 0..n { for j in 0..m { … } }` becomes
//! `for x in 0..n·m` with `i = ⌊x / m⌋` and `j = x - m·⌊x / m⌋`.
//! The order does not change.

use super::range::counted;
use crate::affine::{AffineForm, Atom};
use crate::tree::green::{Green, Header, Mark, Node, Span, TreeStore};
use crate::tree::program::Program;

/// A nest of two loops that may be flattened.
struct Nest {
    outer: Header,
    inner: Header,
    /// The body of the inner loop.
    body: Green,
    /// The trip count of the outer loop, over the loops around it.
    outer_count: AffineForm,
    /// The trip count of the inner loop.
    inner_count: i64,
}

impl TreeStore {
    /// Flattens the perfect nest `tree`. `None` if it is no nest of two loops that count from zero
    /// and carry no values, or if the inner trip count is not a constant.
    pub(crate) fn flattened(&mut self, program: &Program, tree: Green) -> Option<Green> {
        let Nest { outer, inner, body, outer_count, inner_count } = self.nest(program, tree).ok()?;
        let quotient = AffineForm::level(0).floor_div(inner_count)?;
        let rest = AffineForm::level(0).plus(&quotient, inner_count.checked_neg()?)?;
        let with_outer =
            |level: u32| Some(if level == 0 { quotient.clone() } else { AffineForm::level(level) });
        let with_inner = |level: u32| match level {
            0 => Some(rest.clone()),
            1 => Some(quotient.clone()),
            _ => Some(AffineForm::level(level - 1)),
        };
        let mut origins = Vec::new();
        for origin in &outer.origins {
            origins.push(origin.mapped(&|form| form.substitute(&mut |level| with_outer(level)))?);
        }
        for origin in &inner.origins {
            origins.push(origin.mapped(&|form| form.substitute(&mut |level| with_inner(level)))?);
        }
        let body = self.substituted(body, &with_inner)?;
        let span = Span::range(1, vec![AffineForm::constant(0)], vec![outer_count.times(inner_count)?]);
        let parallel = outer.parallel && inner.parallel;
        let mark = Some(Mark::Flattened);
        Some(self.make_loop(Header { span, origins: origins.into(), parallel, mark }, body))
    }

    /// Returns the reason why a loop around others cannot be flattened, and the trip count of its
    /// inner loop otherwise.
    pub(crate) fn flat_count(&self, program: &Program, tree: Green) -> Result<i64, &'static str> {
        self.nest(program, tree).map(|nest| nest.inner_count)
    }

    fn nest(&self, program: &Program, tree: Green) -> Result<Nest, &'static str> {
        let Node::Loop { header: outer, body } = self.get(tree) else { return Err("it is no loop") };
        let only = self.only_item(body);
        let Some(Node::Loop { header: inner, body }) = only.map(|only| self.get(only)) else {
            return Err("its body is more than one loop");
        };
        let (outer, inner) = (self.header(outer), self.header(inner));
        let infos = || outer.origins.iter().chain(&inner.origins).map(|own| program.loop_info(own.of));
        if infos().any(|info| info.has_results()) {
            return Err("a loop carries values");
        }
        if outer.parallel || inner.parallel {
            return Err("a loop is parallel");
        }
        let is_one = |own: &Header| own.origins.len() == 1 || own.mark == Some(Mark::Flattened);
        if !is_one(outer) || !is_one(inner) {
            return Err("its loops were fused");
        }
        let depths = |own: &Header| own.origins.iter().map(|own| program.loop_info(own.of).depth).collect();
        let mut outside: Vec<u32> = depths(outer);
        for info in infos().skip(outer.origins.len()) {
            outside.extend(info.depth.checked_sub(1));
            let varies = |form: &AffineForm| {
                !form.all_atoms(&|atom| !outside.iter().any(|depth| *atom == Atom::Level(*depth)))
            };
            if info.space.bounds().any(varies) {
                return Err("the bounds of its inner loop depend on it");
            }
            let least = outside.iter().min().copied().unwrap_or(0);
            if !info.space.bounds().chain(&info.space.variable).all(|form| program.is_known(form, least)) {
                return Err("the bounds of its inner loop are computed in it");
            }
        }
        let (Some(outer), Some(inner)) = (counted(program, outer), counted(program, inner)) else {
            return Err("a trip count is not known before the loops");
        };
        let outer_count = count(&outer).ok_or("a trip count is not known before the loops")?;
        let inner_count = count(&inner).and_then(|own| own.as_constant()).filter(|count| *count > 0);
        let inner_count = inner_count.ok_or("the trip count of its inner loop is not constant")?;
        Ok(Nest { outer, inner, body, outer_count, inner_count })
    }
}

/// Returns the trip count of a loop that begins at zero and has one end. It may be negative.
fn count(header: &Header) -> Option<AffineForm> {
    let Span::Range { scale, lower, upper } = &header.span else { return None };
    let [end] = &upper[..] else { return None };
    if lower[..] == [AffineForm::constant(0)] { end.ceil_div(*scale) } else { None }
}
