//! Remarks about loops that are not tried with the loop before: loops that are statements, and
//! loops under conditions.
//!
//! **Cost.** Linear in the sequence, and in the first few items of each conditional.

use loomir_ir::Op;

use super::schedule::Entry;
use super::versioned_region::Segment;
use super::{Fusion, remarks};
use crate::marks;
use crate::tree::{Green, If, Node};

/// The maximal number of items that are looked at in a conditional, to find a loop.
const ITEMS: usize = 64;

/// A loop of a sequence, perhaps in a conditional.
#[derive(Clone, Copy)]
struct Known {
    of: Op,
    conditional: Option<Op>,
}

impl Fusion<'_> {
    /// Reports why loops that are statements of a sequence with other loops are not fused, and why
    /// loops are not tried with the loop before.
    pub(super) fn remark_on_others(&mut self, segments: &[Segment]) {
        if !self.options.remarks {
            return;
        }
        let entries = || segments.iter().flat_map(|segment| &segment.entries);
        let is_loop = |entry: &&Entry| match entry {
            Entry::Statement(_, passive) => remarks::no_candidate(self.body, passive.op).is_some(),
            Entry::Group(_) => true,
            Entry::If(..) => false,
        };
        let has_several = entries().filter(is_loop).nth(1).is_some();
        let (mut before, mut was_tried): (Option<Known>, bool) = (None, false);
        for entry in entries() {
            let own = match entry {
                Entry::Statement(_, passive) => {
                    let remark = remarks::no_candidate(self.body, passive.op).filter(|_| has_several);
                    remark.into_iter().for_each(|remark| self.report.remarks.push(remark));
                    continue;
                }
                Entry::Group(group) => Known { of: group.op(self.program), conditional: None },
                Entry::If(own, _) => match self.loop_under(own) {
                    Some(own) => own,
                    None => continue,
                },
            };
            let is_open = own.conditional.is_some() || !was_tried;
            if let Some(first) = before.filter(|_| is_open)
                && (first.conditional.is_some() || own.conditional.is_some())
            {
                let conditions = [first.conditional, own.conditional];
                let remark = remarks::under_conditions(self.body, (first.of, own.of), conditions);
                self.report.remarks.push(remark);
            }
            was_tried |= own.conditional.is_none();
            before = Some(own);
        }
    }

    /// Returns a loop in a conditional, if one is among its first items. A run-time check is no
    /// condition of the program.
    fn loop_under(&self, own: &If) -> Option<Known> {
        let conditional = self.program.if_info(own.of).op;
        if self.body.attr(conditional, marks::VERSIONED).is_some() {
            return None;
        }
        let mut left = ITEMS;
        let of = own.bodies.iter().flatten().find_map(|side| self.first_loop(*side, &mut left))?;
        Some(Known { of, conditional: Some(conditional) })
    }

    /// Returns the first loop of a sequence. Recurses once a conditional. Their nesting depth is
    /// bounded when they are raised.
    fn first_loop(&self, sequence: Green, left: &mut usize) -> Option<Op> {
        for item in self.trees.items(sequence) {
            *left = left.checked_sub(1)?;
            let found = match self.trees.get(item) {
                Node::Guard { body, .. } => self.first_loop(body, left),
                Node::Loop { header, .. } => {
                    let first = self.trees.header(header).origins.first();
                    first.map(|first| self.program.loop_info(first.of).op)
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
