//! Unswitching: a condition that does not depend on a loop is decided before the loop.

use crate::affine::AffineForm;
use crate::tree::green::{Green, Map, Node, TreeStore};
use crate::tree::ids::IfId;
use crate::tree::program::Program;

/// The most conditions that leave one loop. The loop is written up to two to this power times.
pub(crate) const MAX_CONDITIONS: u32 = 6;

/// A condition with the iteration that decides it, over the loops around the loop it leaves.
pub(crate) struct Invariant {
    /// The first of the equivalent `if`s.
    alike: IfId,
    /// An `if` with the condition.
    of: IfId,
    forms: Box<[AffineForm]>,
}

impl TreeStore {
    /// Returns the items that run the loop `tree` with up to `count` conditions decided before it:
    /// a copy of the loop for each outcome, without the code of the other one. A copy that runs no
    /// statement is left out.
    ///
    /// `None` if `tree` is no loop, if it has results, or if each condition in it depends on it.
    pub(crate) fn unswitched(&mut self, program: &Program, tree: Green, count: u32) -> Option<Vec<Green>> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let origins = &self.header(header).origins;
        if count == 0
            || count > MAX_CONDITIONS
            || origins.iter().any(|own| program.loop_info(own.of).has_results())
        {
            return None;
        }
        let condition = self.invariant(program, body, 1)?;
        let map = self.make_map(condition.forms.clone());
        let mut items = Vec::new();
        for holds in [true, false] {
            let body = self.decided(program, body, 1, (&condition, holds))?;
            if self.leaves(body) == 0 {
                continue;
            }
            let copy = self.with_header(header, body);
            let copies = self.unswitched(program, copy, count - 1).unwrap_or_else(|| vec![copy]);
            let copies = self.sequence(&copies);
            items.push(self.guard(condition.of, map, holds, copies));
        }
        Some(items)
    }

    /// Returns the first condition below `tree` that does not depend on the innermost `depth` loops
    /// around it. Recurses once for each loop or guard. Raising bounds their nesting depth.
    pub(crate) fn invariant(&self, program: &Program, tree: Green, depth: u32) -> Option<Invariant> {
        self.items(tree).find_map(|item| match self.get(item) {
            Node::Guard { of, map, body, .. } => {
                let own = self.outside(program, (of, map), depth);
                own.or_else(|| self.invariant(program, body, depth))
            }
            Node::Loop { body, .. } => self.invariant(program, body, depth + 1),
            _ => None,
        })
    }

    /// Returns a condition over the loops outside of the innermost `depth` ones. `None` if one of
    /// these decides it, or if it is only known by its form: where a value with this form is
    /// poison, another one need not be.
    fn outside(&self, program: &Program, (of, map): (IfId, Map), depth: u32) -> Option<Invariant> {
        let info = program.if_info(of);
        if program.if_info(info.alike).has_several_decisions {
            return None;
        }
        let map = self.map(map).get(..info.decided_inside as usize)?;
        let outwards = |level: u32| Some(AffineForm::level(level.checked_sub(depth)?));
        let forms = map.iter().map(|form| form.substitute(&mut |level| outwards(level)));
        Some(Invariant { alike: info.alike, of, forms: forms.collect::<Option<_>>()? })
    }

    /// Returns `tree`, inside `depth` loops, without guards of a condition that is known to hold,
    /// or to fail. Recurses as [`invariant`](TreeStore::invariant) does.
    pub(crate) fn decided(
        &mut self,
        program: &Program,
        tree: Green,
        depth: u32,
        known: (&Invariant, bool),
    ) -> Option<Green> {
        let mut items = Vec::new();
        for item in self.items(tree).collect::<Vec<_>>() {
            items.push(match self.get(item) {
                Node::Guard { of, map, holds, body } => {
                    let body = self.decided(program, body, depth, known)?;
                    let own = self.outside(program, (of, map), depth);
                    let (condition, outcome) = known;
                    match own.filter(|own| own.is(condition)) {
                        Some(_) if holds == outcome => body,
                        Some(_) => continue,
                        None => self.guard(of, map, holds, body),
                    }
                }
                Node::Loop { header, body } => {
                    let body = self.decided(program, body, depth + 1, known)?;
                    self.with_header(header, body)
                }
                _ => item,
            });
        }
        Some(self.flat_sequence(&items))
    }

    /// Returns the sequence of these items, and in place of a sequence its own items.
    fn flat_sequence(&mut self, items: &[Green]) -> Green {
        let mut flat = Vec::with_capacity(items.len());
        for item in items {
            match self.get(*item) {
                Node::Empty | Node::Sequence { .. } => flat.extend(self.items(*item)),
                _ => flat.push(*item),
            }
        }
        self.sequence(&flat)
    }
}

impl Invariant {
    /// True if both are the same condition in the same iteration.
    fn is(&self, other: &Invariant) -> bool {
        self.alike == other.alike && self.forms == other.forms
    }
}
