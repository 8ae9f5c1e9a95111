//! Which accesses of a function conflict, and in which order: the questions of the tree, answered
//! by what answers there.
//!
//! An access and another one are instances of their classes, one for each iteration vector. They
//! *meet* where both touch one byte and one of them writes it.

use loomir_transforms::access::base::{Bases, Overlap};
use loomir_transforms::access::{Answer, Class, Dependence, LoopContext, Order, Question, Relation};
use loomir_transforms::affine::AffineForm;
use loomir_transforms::legality::meeting::Meeting;
use loomir_transforms::polyhedra::Limits;

use super::{Access, Accesses};

/// Most loops of which directions are told apart.
const MAX_DIRECTIONS: u32 = 6;

/// What dependences are told with.
#[derive(Clone, Copy)]
pub struct DependenceOracle<'a> {
    /// Which objects may overlap.
    pub bases: &'a Bases<'a>,
    /// Who answers.
    pub dependence: &'a dyn Dependence,
    /// What one question may cost.
    pub limits: &'a Limits,
}

/// For each loop around both accesses from the outside, how the iteration of the first lies to that
/// of the second.
pub type Directions = Vec<Order>;

impl Accesses<'_> {
    /// Whether instances of two accesses meet that are in the same iteration of so many loops
    /// around both, and at further levels in these orders. An answer with an example is certain;
    /// where something was approximated, it is that they [may](Answer::Perhaps).
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

    /// Whether an access of one loop and one of another, siblings at this level whose iterations of
    /// equal number are to run together, the second one's behind the first one's, would meet in the
    /// wrong order.
    pub fn turned_around(
        &self,
        first: &Access,
        second: &Access,
        level: u32,
        oracle: &DependenceOracle<'_>,
    ) -> Answer {
        self.meet(first, second, level, &[(level, Order::Greater)], oracle)
    }

    /// The directions in which two accesses meet, in the loops around both.
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
            // What is pushed last is looked at first.
            pending.extend([Order::Greater, Order::Equal, Order::Less].map(next));
        }
        found
    }
}
