//! Reversal of loops, permutation of the loops of a nest and of the items of a body.

use hashbrown::HashSet;
use std::cmp::Ordering;

use super::range::{counted, ends};
use crate::affine::{AffineForm, Atom};
use crate::tree::green::{Green, Header, Mark, Node, Origin, TreeStore};
use crate::tree::program::Program;

impl TreeStore {
    /// Returns the loop `tree`, reversed. `None` if `tree` is no loop, or its first and its last
    /// iteration are not a single affine form each.
    pub(crate) fn reversed(&mut self, program: &Program, tree: Green) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel, .. } = counted(program, self.header(header))?;
        let (first, last) = ends(&span)?;
        let mirror = first.plus(&last, 1)?.raised(1)?.minus(&AffineForm::level(0))?;
        let with = |level: u32| Some(if level == 0 { mirror.clone() } else { AffineForm::level(level) });
        let body = self.substituted(body, &with)?;
        let origins = origins.iter().map(|origin| origin.mapped(&|form| form.substitute(&mut |l| with(l))));
        let origins = origins.collect::<Option<_>>()?;
        Some(self.make_loop(Header { span, origins, parallel, mark: None }, body))
    }

    /// Returns the loop `tree` with its iterations in order, or in any order. `None` if `tree` is
    /// no loop, or it carries values and should run in any order.
    pub(crate) fn with_order(&mut self, program: &Program, tree: Green, parallel: bool) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let header = Header { parallel, ..self.header(header).clone() };
        let mark = header.mark.filter(|mark| !matches!(mark, Mark::Hilbert { .. }));
        let header = Header { mark, ..header };
        let carries = header.origins.iter().any(|own| program.loop_info(own.of).has_results());
        (!parallel || !carries).then(|| self.make_loop(header, body))
    }

    /// Returns the loop `tree` with the items of its body in this order, of their former numbers.
    /// `None` if `tree` is no loop, or the order is no permutation of its items.
    pub(crate) fn arranged(&mut self, tree: Green, order: &[usize]) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let items: Vec<Green> = self.items(body).collect();
        let is_permutation =
            order.len() == items.len() && order.iter().collect::<HashSet<_>>().len() == order.len();
        let items = order.iter().map(|at| items.get(*at).copied()).collect::<Option<Vec<Green>>>()?;
        let body = self.sequence(&items);
        is_permutation.then(|| self.with_header(header, body))
    }

    /// Returns the loop `tree` interchanged with the loop that fills its body: the order "for each
    /// x each y" becomes "for each y each x". `None` if there are no two such loops, or the inner
    /// one's values depend on the outer one's induction variable.
    pub(crate) fn interchanged(&mut self, program: &Program, tree: Green) -> Option<Green> {
        let Node::Loop { header: outer, body } = self.get(tree) else { return None };
        let only = self.only_item(body)?;
        let Node::Loop { header: inner, body } = self.get(only) else { return None };
        let (outer, inner) = (counted(program, self.header(outer))?, counted(program, self.header(inner))?);
        let outwards =
            |form: &AffineForm| form.substitute(&mut |level| Some(AffineForm::level(level.checked_sub(1)?)));
        // A loop that runs in any order within one outer iteration need not do so across all of
        // them.
        let inner = Header {
            parallel: inner.parallel && outer.parallel,
            span: inner.span.mapped(&outwards)?,
            origins: inner
                .origins
                .iter()
                .map(|origin| without_outer(program, origin))
                .collect::<Option<_>>()?,
            mark: None,
        };
        let inwards = |level: u32| Some(AffineForm::level(if level == 0 { 0 } else { level + 1 }));
        let deeper = |origin: &Origin| origin.mapped(&|form| form.substitute(&mut |level| inwards(level)));
        let outer = Header {
            parallel: outer.parallel,
            span: outer.span.mapped(&|form| form.raised(1))?,
            origins: outer.origins.iter().map(deeper).collect::<Option<_>>()?,
            mark: None,
        };
        let swap = |level: u32| Some(AffineForm::level(if level < 2 { 1 - level } else { level }));
        let body = self.substituted(body, &swap)?;
        let inside = self.make_loop(outer, body);
        let inside = self.sequence(&[inside]);
        Some(self.make_loop(inner, inside))
    }

    /// Moves the loop that is `inwards` levels inside the loop `tree` outermost. The other loops
    /// keep their order. `None` if a loop between them is not the only item of the body around it,
    /// or two loops cannot be interchanged.
    pub(crate) fn outermost(&mut self, program: &Program, tree: Green, inwards: usize) -> Option<Green> {
        self.moved_out(program, tree, inwards, TreeStore::interchanged)
    }

    /// The same with another function that interchanges two loops.
    fn moved_out(
        &mut self,
        program: &Program,
        tree: Green,
        inwards: usize,
        interchange: fn(&mut TreeStore, &Program, Green) -> Option<Green>,
    ) -> Option<Green> {
        let mut headers = Vec::new();
        let mut inner = tree;
        for _ in 1..inwards {
            let Node::Loop { header, body } = self.get(inner) else { return None };
            headers.push(header);
            inner = self.only_item(body)?;
        }
        for header in headers.into_iter().rev() {
            let moved = interchange(self, program, inner)?;
            let body = self.sequence(&[moved]);
            inner = self.with_header(header, body);
        }
        if inwards == 0 { Some(tree) } else { interchange(self, program, inner) }
    }

    /// Permutes the loops of the perfect nest `tree`. The order holds the former number of each
    /// loop, from the outside. `None` if the order is no permutation, or two loops can be swapped
    /// in no [form](TreeStore::swapped).
    pub(crate) fn permuted(&mut self, program: &Program, tree: Green, order: &[usize]) -> Option<Green> {
        let (outermost, others) = order.split_first()?;
        let tree = self.moved_out(program, tree, *outermost, TreeStore::swapped)?;
        if others.is_empty() {
            return (*outermost == 0).then_some(tree);
        }
        // Loops further out than the moved one are one level further in now.
        let left = others.iter().map(|at| match at.cmp(outermost) {
            Ordering::Less => Some(*at),
            Ordering::Equal => None,
            Ordering::Greater => at.checked_sub(1),
        });
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let inner = self.only_item(body)?;
        let inner = self.permuted(program, inner, &left.collect::<Option<Vec<_>>>()?)?;
        let body = self.sequence(&[inner]);
        Some(self.with_header(header, body))
    }
}

/// Returns the origin of a loop that moves out of its parent. `None` if its values depend on the
/// parent's induction variable. Otherwise 0 replaces that variable, which is unknown there.
fn without_outer(program: &Program, origin: &Origin) -> Option<Origin> {
    let space = &program.loop_info(origin.of).space;
    let here = |form: &AffineForm| form.substitute(&mut |level| origin.map.get(level as usize).cloned());
    let is_free =
        |form: &AffineForm| here(form).is_some_and(|form| form.all_atoms(&|atom| *atom != Atom::Level(1)));
    if !space.variable.iter().chain(&space.domain.constraints).all(is_free) {
        return None;
    }
    let out = |level: u32| match level {
        1 => Some(AffineForm::constant(0)),
        _ => Some(AffineForm::level(level.saturating_sub(1))),
    };
    origin.mapped(&|form| form.substitute(&mut |level| out(level)))
}
