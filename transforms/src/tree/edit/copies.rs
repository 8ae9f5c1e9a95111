//! Copies, written one after the other.

use hashbrown::HashMap;

use crate::tree::green::{Green, Header, Mark, Node, TreeStore};
use crate::tree::levels::in_iteration;

impl TreeStore {
    /// Returns a tree with each loop over [copies](Mark::Copies) written as items one after the
    /// other. They run the same instances in the same order. `None` if a number would exceed 64
    /// bits.
    pub(crate) fn written(&mut self, tree: Green) -> Option<Green> {
        self.written_by(tree, &mut HashMap::new())
    }

    /// Recurses once for each loop or guard. Raising bounds their nesting depth.
    fn written_by(&mut self, tree: Green, known: &mut HashMap<Green, Green>) -> Option<Green> {
        if !self.has_copies(tree) {
            return Some(tree);
        }
        if let Some(own) = known.get(&tree) {
            return Some(*own);
        }
        let new = match self.get(tree) {
            Node::Empty | Node::Leaf { .. } => tree,
            Node::Sequence { .. } => {
                let mut all = Vec::new();
                for item in self.items(tree).collect::<Vec<_>>() {
                    match self.copies_of(item) {
                        Some((count, body)) => {
                            let body = self.written_by(body, known)?;
                            all.extend(self.one_after_the_other(count, body)?);
                        }
                        None => all.push(self.written_by(item, known)?),
                    }
                }
                self.sequence(&all)
            }
            Node::Loop { header, body } => {
                let body = self.written_by(body, known)?;
                self.with_header(header, body)
            }
            Node::Guard { of, map, holds, body } => {
                let body = self.written_by(body, known)?;
                self.guard(of, map, holds, body)
            }
            Node::Versioned { assumption, fast, fallback } => {
                let [fast, fallback] = [fast, fallback].map(|own| self.written_by(own, known));
                let assumed = self.assumptions(assumption).to_vec();
                self.versioned(assumed, fast?, fallback?)
            }
        };
        known.insert(tree, new);
        Some(new)
    }

    /// Returns the number of copies and the body of a loop over copies.
    fn copies_of(&self, item: Green) -> Option<(i64, Green)> {
        let Node::Loop { header, body } = self.get(item) else { return None };
        let Header { span, mark, .. } = self.header(header);
        Some((span.trip_count()?, body)).filter(|_| *mark == Some(Mark::Copies))
    }

    fn one_after_the_other(&mut self, count: i64, body: Green) -> Option<Vec<Green>> {
        let items: Vec<Green> = self.items(body).collect();
        let mut all = Vec::new();
        for copy in 0..count {
            for item in &items {
                all.push(self.substituted(*item, &|level| Some(in_iteration(copy, level)))?);
            }
        }
        Some(all)
    }
}
