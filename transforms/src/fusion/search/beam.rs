//! A beam search for groupings of more loops than an exhaustive search allows.
//!
//! Loop by loop, each kept beginning of a grouping continues in a few ways: the loop joins one of
//! the nearest groups, or begins one. Only the beginnings with the greatest savings are kept. The
//! search therefore finds groupings that save less now and more later, if the difference is small.
//! It does not guarantee the optimum.
//!
//! **Cost.** A bounded number of questions a loop; the steps of the search bound all of it.

use super::{COPIED, Placed, Search};
use crate::fusion::Fusion;
use crate::fusion::grouping::{GROUPS_TRIED, Name};
use crate::fusion::schedule::Entry;

/// The number of partial groupings that are kept.
const WIDTH: usize = 4;

/// The beginning of a grouping.
struct Beginning {
    line: Vec<Placed>,
    partners: Vec<Option<Name>>,
    saved: f64,
}

impl Search<'_> {
    /// Examines promising groupings of the entries from `start` on. Finds nothing if the steps run
    /// out.
    pub(super) fn explore_beam(&mut self, fusion: &mut Fusion<'_>, start: usize) {
        let mut kept = vec![Beginning { line: Vec::new(), partners: self.partners.clone(), saved: 0.0 }];
        for item in start..self.end {
            let mut next = Vec::new();
            for beginning in kept {
                self.go_on(fusion, item, beginning, &mut next);
                if !self.is_complete {
                    return;
                }
            }
            // The order is stable: among equal savings nearer groups are kept.
            next.sort_by(|a, b| b.saved.total_cmp(&a.saved));
            next.truncate(WIDTH);
            kept = next;
        }
        if let Some(best) = kept.into_iter().next().filter(|best| best.saved > self.best) {
            self.best = best.saved;
            self.found = Some(best.partners);
        }
    }

    /// Adds the continuations of a beginning with an item.
    fn go_on(
        &mut self,
        fusion: &mut Fusion<'_>,
        item: usize,
        mut beginning: Beginning,
        next: &mut Vec<Beginning>,
    ) {
        let Entry::Group(second) = &self.entries[item] else {
            self.pass(fusion, item, &mut beginning.line);
            return next.push(beginning);
        };
        let line = &beginning.line;
        let groups = (0..line.len()).rev().filter(|at| matches!(line[*at].entry, Entry::Group(_)));
        for at in groups.take(GROUPS_TRIED).collect::<Vec<usize>>() {
            let Some((joined, saved)) = self.joined(fusion, line, at, item, second) else { continue };
            let mut partners = beginning.partners.clone();
            partners[item] = Some(line[at].name);
            next.push(Beginning { line: joined, partners, saved: beginning.saved + saved });
        }
        if self.take(1 + beginning.line.len() / COPIED) {
            beginning.line.push(self.alone(item));
            next.push(beginning);
        }
    }
}
