//! Substitution of forms for the loops around a tree.

use crate::affine::AffineForm;
use crate::tree::edit::range::counted;
use crate::tree::green::{Green, Header, Node, Span, TreeStore};
use crate::tree::program::Program;

impl TreeStore {
    /// Returns a loop's body with `shift` subtracted from its induction variable: statements that
    /// ran at `x` now run at `x + shift`.
    pub fn shifted(&mut self, body: Green, shift: i64) -> Option<Green> {
        if shift == 0 {
            return Some(body);
        }
        let earlier = AffineForm::level(0).plus(&AffineForm::constant(shift), -1)?;
        self.substituted(body, &|level| {
            Some(if level == 0 { earlier.clone() } else { AffineForm::level(level) })
        })
    }

    /// Returns the loop `tree` with its iterations renumbered: it runs at `x + by` the iteration of
    /// `x`. The form `by` is over the loops around. `None` if `tree` is no loop, or its range is
    /// known only when the program runs.
    pub(crate) fn moved(&mut self, program: &Program, tree: Green, by: &AffineForm) -> Option<Green> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel, mark } = counted(program, self.header(header))?;
        let Span::Range { scale, .. } = span else { return None };
        let span = span.mapped(&|form| form.plus(by, scale))?;
        let earlier = AffineForm::level(0).minus(&by.raised(1)?)?;
        let with = |level: u32| Some(if level == 0 { earlier.clone() } else { AffineForm::level(level) });
        let origins = origins.iter().map(|own| own.mapped(&|form| form.substitute(&mut |level| with(level))));
        let origins = origins.collect::<Option<_>>()?;
        let body = self.substituted(body, &with)?;
        Some(self.make_loop(Header { span, origins, parallel, mark }, body))
    }

    /// Returns a tree with forms substituted for the levels around it, over the new surrounding
    /// levels.
    pub(crate) fn substituted(
        &mut self,
        tree: Green,
        with: &dyn Fn(u32) -> Option<AffineForm>,
    ) -> Option<Green> {
        self.substitute(tree, 0, with)
    }

    /// Recurses once for each loop or guard. Raising bounds their nesting depth. `depth` loops of
    /// the tree are around.
    fn substitute(
        &mut self,
        tree: Green,
        depth: u32,
        with: &dyn Fn(u32) -> Option<AffineForm>,
    ) -> Option<Green> {
        if self.free(tree) <= depth {
            return Some(tree);
        }
        let inside = |depth: u32| {
            move |form: &AffineForm| {
                form.substitute(&mut |level| match level.checked_sub(depth) {
                    Some(outer) => with(outer)?.raised(depth),
                    None => Some(AffineForm::level(level)),
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
                let header = self.header(header).clone();
                let span = header.span.mapped(&inside(depth))?;
                let origins = header.origins.iter().map(|origin| origin.mapped(&inside(depth + 1)));
                let origins = origins.collect::<Option<_>>()?;
                let body = self.substitute(body, depth + 1, with)?;
                Some(self.make_loop(Header { span, origins, ..header }, body))
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
}
