//! The part of a tree that the legality check covers.

use std::rc::Rc;

use hashbrown::HashSet;
use loomir_ir::{Body, Op};

use super::scheduled::ScheduledStatement;
use super::{DependenceOracle, Instance, Verdict, Witness};
use crate::access::LoopContext;
use crate::access::base::Base;
use crate::affine::{AffineForm, Atom};
use crate::tree::access_summary::LoopIteration;
use crate::tree::{Path, Program, StatementId, TreeStore};

/// Neighbouring items in a sequence of the tree, which are judged.
pub(super) struct ChangedRegion<'a> {
    pub(super) body: &'a Body,
    pub(super) program: &'a Program,
    pub(super) trees: &'a TreeStore,
    pub(super) oracle: DependenceOracle<'a>,
    /// The loops around the items.
    pub(super) loop_context: &'a LoopContext,
    /// Set if a loop is judged separately.
    pub(super) alone: Option<Alone<'a>>,
    /// True if every pair of accesses is examined.
    pub(super) asks_of_all: bool,
    /// For each item its place in the program, if it is there unchanged.
    pub(super) places: Rc<[Option<usize>]>,
}

/// A loop that is judged separately.
#[derive(Clone, Copy)]
pub(super) struct Alone<'a> {
    /// The operation of the region. Values from outside are available, and nothing outside uses
    /// values from inside.
    pub(super) op: Op,
    /// Operations inside whose results are available wherever they are used.
    pub(super) handed_on: &'a HashSet<Op>,
}

impl<'a> ChangedRegion<'a> {
    /// Returns the region under the facts of `loop_context`.
    pub(super) fn within<'b>(&self, loop_context: &'b LoopContext) -> ChangedRegion<'b>
    where
        'a: 'b,
    {
        ChangedRegion { loop_context, places: self.places.clone(), ..*self }
    }

    /// Returns the place of a leaf's item in the program, if it is there unchanged.
    pub(super) fn place_of(&self, leaf: &ScheduledStatement) -> Option<usize> {
        self.places[leaf.item as usize]
    }

    /// True if the order of two leaves may have changed.
    pub(super) fn is_moved(&self, a: &ScheduledStatement, b: &ScheduledStatement) -> bool {
        match (self.place_of(a), self.place_of(b)) {
            (Some(x), Some(y)) => (x < y) != (a.item < b.item),
            _ => true,
        }
    }

    /// Returns the loops of the program around two statements, from the outside.
    pub(super) fn loops_around_both(&self, a: StatementId, b: StatementId) -> Path {
        let path = |id: StatementId| self.program.path(self.program.statement(id).parent);
        path(a).into_iter().zip(path(b)).take_while(|(x, y)| x == y).map(|(of, _)| of).collect()
    }

    /// True if an object is allocated inside the judged iterations.
    pub(super) fn is_made_inside(&self, base: Base) -> bool {
        match base {
            Base::Allocation(value) => {
                !self.program.is_known(&AffineForm::atom(Atom::Param(value)), self.loop_context.depth)
            }
            _ => false,
        }
    }

    /// Returns the instance of a statement that a leaf with this map runs, given values of forms.
    pub(super) fn instance(
        &self,
        id: StatementId,
        map: &[AffineForm],
        value: &dyn Fn(&AffineForm) -> Option<i64>,
    ) -> Instance {
        let iteration: Vec<_> = LoopIteration::over(self.program, id, map).collect();
        let own = &iteration[iteration.len().min(self.loop_context.depth as usize)..];
        Instance::at(self.program.statement(id).op(), own, value)
    }

    /// Returns an illegal verdict. It is certain if nothing was approximated.
    pub(super) fn at_fault(&self, witness: Witness, exact: bool) -> Verdict {
        if exact && self.loop_context.exact {
            Verdict::Illegal(witness)
        } else {
            Verdict::MayBeIllegal(witness)
        }
    }

    /// Returns the verdict that the solver gave up on the iterations of a statement.
    pub(super) fn unknown(&self, id: StatementId) -> Verdict {
        let op = self.program.statement(id).op();
        Verdict::Unknown { accesses: (op, op) }
    }
}
