//! Questions about conditions that two solvers answer: one of propositional logic, and one of exact
//! integers.
//!
//! A condition is false if no numbers give it and the facts that have values in common with it. It
//! is true if none gives the facts and its negation. Numbers that are found are kept: if they show
//! that a condition may be either, no solver is asked.
//!
//! **Assumptions.**
//! - A solver is right if it finds that no numbers are possible.
//! - Facts hold, and neither they nor the condition are poison. Terms that are no poison, as these
//!   are none, break no promise.
//! - Terms that a solver does not understand stand for any number.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::encoding::Writer;
use super::integers::Numbers;
use super::models::{Found, Model};
use super::terms::{Ask, Known, Node, Store, TermId, each_operand};

#[cfg(test)]
mod tests;

/// The most steps of the solver for a question.
const MAX_STEPS: u64 = 6_000;
/// The least work of a search of the solver of propositional logic.
const SOLVING: usize = 3;
/// The variables of a formula that make one more piece of work.
const VARIABLES: u32 = 2_000;
/// The most lists of numbers that are kept.
const MAX_MODELS: usize = 100;
/// The most terms of a question.
const MAX_TERMS: usize = 600;

/// The questions of a proof with their answers.
pub(super) struct Questions {
    known: HashMap<Key, Option<bool>>,
    /// Numbers that were found, the last ones first.
    models: VecDeque<Model>,
    /// The work that may still be done.
    left: usize,
}

/// All that an answer depends on.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    condition: TermId,
    facts: Vec<Known>,
    /// The terms inside that are no poison.
    free: Vec<TermId>,
}

impl Questions {
    /// Returns an empty list, for questions of so much work.
    pub(super) fn new(most: usize) -> Questions {
        Questions { known: HashMap::new(), models: VecDeque::new(), left: most }
    }
}

impl Ask for Questions {
    fn ask(
        &mut self,
        store: &Store,
        facts: &[Known],
        free: &HashSet<TermId>,
        condition: TermId,
    ) -> Option<bool> {
        let mut cone = Cone::default();
        cone.add(store, condition, 1)?;
        let related = related(store, facts, &mut cone);
        let terms = cone.in_order();
        let key = Key {
            condition,
            facts: related.clone(),
            free: terms.iter().map(|(term, _)| *term).filter(|term| free.contains(term)).collect(),
        };
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.left == 0 {
            return None;
        }
        let question = Question { store, facts: &related, free, condition, terms };
        let (answer, work) = question.answer(&mut self.models);
        self.left = self.left.saturating_sub(work);
        self.known.insert(key, answer);
        answer
    }
}

/// A question about a condition under facts.
struct Question<'s> {
    store: &'s Store,
    facts: &'s [Known],
    /// Terms that are no poison.
    free: &'s HashSet<TermId>,
    condition: TermId,
    /// All terms inside, in ascending order, with their widths.
    terms: Vec<(TermId, u32)>,
}

impl Question<'_> {
    /// Returns the value of the condition, and how much work it was. Numbers that show what it may
    /// be are kept for other questions.
    fn answer(&self, models: &mut VecDeque<Model>) -> (Option<bool>, usize) {
        let mut is_possible = [false, false];
        for model in models.iter() {
            if let Some(holds) = self.under(model) {
                is_possible[usize::from(holds)] = true;
                if is_possible == [true, true] {
                    return (None, 0);
                }
            }
        }
        let unknowns: Vec<(TermId, u32)> =
            self.terms.iter().filter(|(term, _)| is_unknown(self.store, *term)).copied().collect();
        let mut numbers = None;
        let mut work = 0;
        // The solver of propositional logic is quick to find numbers, and the one of integers to
        // see that there are none.
        for holds in [true, false] {
            if is_possible[usize::from(holds)] {
                continue;
            }
            let (mut found, size) = self.solve(holds, &unknowns);
            work += SOLVING + (size / VARIABLES) as usize;
            if let Found::Nothing = found {
                let numbers = numbers
                    .get_or_insert_with(|| Numbers::of(self.store, self.facts, self.free, unknowns.clone()));
                found = numbers.with_value(self.condition, holds);
                work += std::mem::take(&mut numbers.searches);
            }
            match found {
                Found::Excluded => return (Some(!holds), work),
                Found::Numbers(model) if self.under(&model) == Some(holds) => {
                    is_possible[usize::from(holds)] = true;
                    models.push_front(model);
                    models.truncate(MAX_MODELS);
                }
                _ => {}
            }
        }
        (None, work)
    }

    /// Returns the value of the condition for some numbers, if all facts hold for them.
    fn under(&self, model: &Model) -> Option<bool> {
        let values = model.values(self.store, &self.terms);
        let holds = |fact: &Known| values.get(&fact.0) == Some(&u64::from(fact.1));
        let value = values.get(&self.condition).filter(|_| self.facts.iter().all(holds))?;
        Some(*value != 0)
    }

    /// Looks for numbers as bits that give the condition a value. Returns the number of variables
    /// of the formula, too.
    fn solve(&self, value: bool, unknowns: &[(TermId, u32)]) -> (Found, u32) {
        let mut writer = Writer::new(self.store, MAX_STEPS);
        for (term, width) in &self.terms {
            writer.write(*term, *width, self.free.contains(term));
            if writer.is_too_large() {
                return (Found::Nothing, writer.size());
            }
        }
        for (condition, holds) in self.facts.iter().copied().chain([(self.condition, value)]) {
            writer.require(condition, holds);
        }
        let found = match writer.is_possible() {
            Some(false) => Found::Excluded,
            None => Found::Nothing,
            Some(true) => {
                Found::Numbers(Model::new(unknowns.iter().map(|(term, _)| (*term, writer.found(*term)))))
            }
        };
        (found, writer.size())
    }
}

/// True if a term stands for a value of which nothing is known.
fn is_unknown(store: &Store, term: TermId) -> bool {
    matches!(store.node(term), Node::Argument { .. } | Node::Symbol(_) | Node::Operation(_))
}

/// Returns the facts that have values in common with a condition, directly or not, and adds their
/// terms.
fn related(store: &Store, facts: &[Known], cone: &mut Cone) -> Vec<Known> {
    let mut open: Vec<(Known, Cone)> = Vec::new();
    for fact in facts {
        let mut own = Cone::default();
        if own.add(store, fact.0, 1).is_some() {
            open.push((*fact, own));
        }
    }
    let (mut related, mut found) = (Vec::new(), true);
    while found {
        found = false;
        let (near, far): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, own)| own.shares(store, cone));
        open = far;
        for (fact, own) in near {
            if cone.terms.len() + own.terms.len() <= MAX_TERMS {
                cone.terms.extend(own.terms);
                related.push(fact);
                found = true;
            }
        }
    }
    related.sort_unstable();
    related
}

/// The terms that a condition is made of, with their widths.
#[derive(Default)]
struct Cone {
    terms: HashMap<TermId, u32>,
}

impl Cone {
    /// Adds a term and all inside that is written as bits; `None` if they are too many.
    fn add(&mut self, store: &Store, term: TermId, width: u32) -> Option<()> {
        let mut pending = vec![(term, width)];
        while let Some((term, width)) = pending.pop() {
            if self.terms.insert(term, width).is_some() {
                continue;
            }
            if self.terms.len() > MAX_TERMS || !(1..=64).contains(&width) {
                return None;
            }
            match store.node(term) {
                Node::Zero { width, operand } => pending.push((*operand, *width)),
                Node::Less { width, operands, .. } => pending.extend(operands.map(|own| (own, *width))),
                Node::Cast { widths, operand, .. } => pending.push((*operand, widths[0])),
                Node::Select([condition, yes, no]) => {
                    pending.extend([(*condition, 1), (*yes, width), (*no, width)]);
                }
                Node::Operation(_) => {}
                node => each_operand(node, &mut |operand| pending.push((operand, width))),
            }
        }
        Some(())
    }

    /// True if both contain an unknown value.
    fn shares(&self, store: &Store, other: &Cone) -> bool {
        self.terms.keys().any(|term| is_unknown(store, *term) && other.terms.contains_key(term))
    }

    /// Returns the terms with their widths. Operands have smaller numbers than what is made of
    /// them.
    fn in_order(&self) -> Vec<(TermId, u32)> {
        let mut terms: Vec<_> = self.terms.iter().map(|(term, width)| (*term, *width)).collect();
        terms.sort_unstable();
        terms
    }
}
