//! Dependences between accesses of a function: the questions of the tree, answered by the same
//! tests.
//!
//! An access has one instance of its classes for each iteration vector. Instances of two accesses
//! *meet* if they touch one byte and one of them writes it.

use loomir_transforms::access::base::{Bases, Overlap};
use loomir_transforms::access::{Answer, Class, Dependence, LoopContext, Order, Question, Relation};
use loomir_transforms::affine::AffineForm;
use loomir_transforms::legality::meeting::Meeting;
use loomir_transforms::polyhedra::Limits;

use super::{Access, Accesses};

/// The maximal number of loops with distinguished directions.
const MAX_DIRECTIONS: u32 = 6;

/// The analyses that decide dependences.
#[derive(Clone, Copy)]
pub struct DependenceOracle<'a> {
    /// The overlap of objects.
    pub bases: &'a Bases<'a>,
    /// The dependence test.
    pub dependence: &'a dyn Dependence,
    /// The limits on one question.
    pub limits: &'a Limits,
}

/// For each common loop from the outside, the relation of the first access's iteration to the
/// second's.
pub type Directions = Vec<Order>;

impl Accesses<'_> {
    /// Decides if instances of two accesses meet in the same iteration of `shared` common loops and
    /// with these orders at further levels. An answer with an example is certain. If something was
    /// approximated, the answer is [perhaps](Answer::Perhaps).
    pub fn meet(
        &self,
        first: &Access,
        second: &Access,
        shared: u32,
        order: &[(u32, Order)],
        oracle: &DependenceOracle<'_>,
    ) -> Answer {
        let mut found = Answer::Never;
        for a in &first.classes {
            for b in &second.classes {
                if !a.writes && !b.writes {
                    continue;
                }
                match self.classes_meet(a, b, shared, order, oracle) {
                    Answer::Never => {}
                    Answer::At(example) => return Answer::At(example),
                    Answer::Perhaps => found = Answer::Perhaps,
                    Answer::Unknown if matches!(found, Answer::Never) => found = Answer::Unknown,
                    Answer::Unknown => {}
                }
            }
        }
        found
    }

    fn classes_meet(
        &self,
        a: &Class,
        b: &Class,
        shared: u32,
        order: &[(u32, Order)],
        oracle: &DependenceOracle<'_>,
    ) -> Answer {
        let overlap = oracle.bases.overlap(a.base, b.base);
        if overlap == Overlap::Apart && oracle.dependence.tells_objects_apart() {
            return Answer::Never;
        }
        let [a, b] = [a, b].map(|class| self.within(class, shared));
        let meeting = Meeting::of(&a, &b, overlap);
        let levels: Vec<AffineForm> = order.iter().map(|(level, _)| AffineForm::level(*level)).collect();
        let relations: Vec<Relation<'_>> = levels
            .iter()
            .zip(order)
            .map(|(level, (_, is))| Relation { first: level, is: *is, second: level })
            .collect();
        let loop_context = LoopContext {
            depth: shared,
            constraints: Vec::new(),
            exact: true,
            variables: vec![None; shared as usize],
            facts: self.facts.clone(),
        };
        let question = Question {
            first: &a,
            second: &b,
            loop_context: &loop_context,
            equal: &meeting.pairs,
            order: &relations,
            shown: &[],
            limits: oracle.limits,
        };
        let is_certain = overlap == Overlap::Same && meeting.exact && a.domain.exact && b.domain.exact;
        match oracle.dependence.meet(&question) {
            Answer::At(_) if !is_certain => Answer::Perhaps,
            answer => answer,
        }
    }

    /// Decides if fusion would reverse a dependence between an access of one loop and one of
    /// another. The loops are siblings at this level. Iterations of equal number run together, the
    /// second loop's after the first's.
    pub fn turned_around(
        &self,
        first: &Access,
        second: &Access,
        level: u32,
        oracle: &DependenceOracle<'_>,
    ) -> Answer {
        self.meet(first, second, level, &[(level, Order::Greater)], oracle)
    }

    /// Returns the directions in which two accesses meet, in the common loops.
    pub fn directions(
        &self,
        first: &Access,
        second: &Access,
        oracle: &DependenceOracle<'_>,
    ) -> Vec<Directions> {
        let levels = first.common(second).min(MAX_DIRECTIONS);
        let mut found = Vec::new();
        let mut pending: Vec<Directions> = vec![Vec::new()];
        while let Some(directions) = pending.pop() {
            let shared = directions.iter().take_while(|order| **order == Order::Equal).count() as u32;
            let order: Vec<(u32, Order)> =
                (0..).zip(directions.iter().copied()).skip(shared as usize).collect();
            if matches!(self.meet(first, second, shared, &order, oracle), Answer::Never) {
                continue;
            }
            if directions.len() == levels as usize {
                found.push(directions);
                continue;
            }
            let next = |order: Order| [&directions[..], &[order]].concat();
            // The direction pushed last is examined first.
            pending.extend([Order::Greater, Order::Equal, Order::Less].map(next));
        }
        found
    }
}
