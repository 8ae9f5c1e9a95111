//! Tests for conflicts of two accesses in the wrong order.

use std::fmt;
use std::sync::Arc;

use loomir_polyhedra::{Emptiness, Limits, Point};

use super::Class;
use crate::access::LoopContext;
use crate::affine::system::{Pair, Side};
use crate::affine::{AffineForm, Atom};

mod differences;
mod directions;

/// Finds dependences.
///
/// **Owed:** [`Answer::Never`] only if no two such instances exist. [`Answer::At`] only with two
/// instances that satisfy every stated condition. Other answers are always allowed.
pub trait Dependence: fmt::Debug + Send + Sync {
    /// True if the dependence test excludes two reads, and accesses of distinct objects. Otherwise
    /// it assumes a conflict of any two accesses.
    fn tells_objects_apart(&self) -> bool {
        true
    }

    /// Decides if two such instances exist.
    fn meet(&self, question: &Question<'_>) -> Answer;

    /// True if the accesses are of different elements in whatever order, as far as a test tells
    /// that costs next to nothing. The order in question is not looked at.
    fn never_touch(&self, question: &Question<'_>) -> bool {
        let _ = question;
        false
    }

    /// Returns conditions that are necessary for two such instances: forms over parameters that
    /// `is_kept` accepts. Each is nonnegative wherever such instances exist; if one is negative,
    /// there are none. `None` if no conditions are known.
    fn necessary(&self, question: &Question<'_>, is_kept: &dyn Fn(&Atom) -> bool) -> Option<Vec<AffineForm>> {
        let _ = (question, is_kept);
        None
    }
}

/// A question about two accesses of objects that may overlap: do instances of them touch one
/// element in a given order?
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The first access. Its domain constrains its levels.
    pub first: &'q Class,
    /// The second access.
    pub second: &'q Class,
    /// The loops around both, whose levels they share.
    pub loop_context: &'q LoopContext,
    /// Pairs of subscripts of the first and the second access, equal if both touch one element.
    /// Unknown subscripts are left out.
    pub equal: &'q [(&'q AffineForm, &'q AffineForm)],
    /// All of these hold.
    pub order: &'q [Relation<'q>],
    /// Forms whose values an example must contain.
    pub shown: &'q [&'q AffineForm],
    /// The limits on the cost of the answer.
    pub limits: &'q Limits,
}

impl Question<'_> {
    /// Returns the pairs of instances that the question is about.
    fn pairs(&self) -> Pair {
        let Question { first, second, loop_context, equal, order, shown, .. } = *self;
        let forms: Vec<&AffineForm> =
            shown.iter().copied().chain(order.iter().flat_map(|one| [one.first, one.second])).collect();
        let (own, others) = (first.domain.instances(), second.domain.instances());
        let mut pair =
            Pair::with_forms(own, others, loop_context.depth, &loop_context.constraints, equal, &forms);
        for Relation { first, is, second } in order {
            let (x, y) = (pair.affine(first, Side::First), pair.affine(second, Side::Second));
            match is {
                Order::Less => pair.system.set.add_lt(x, y),
                Order::Equal => pair.system.set.add_eq(x, y),
                Order::Greater => pair.system.set.add_gt(x, y),
            }
        }
        pair
    }
}

/// A relation between a form over the levels of the first instance and one over the levels of the
/// second.
#[derive(Clone, Copy, Debug)]
pub struct Relation<'q> {
    /// The form over the first instance.
    pub first: &'q AffineForm,
    /// The relation of the first form to the second.
    pub is: Order,
    /// The form over the second instance.
    pub second: &'q AffineForm,
}

/// An order of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first is less.
    Less,
    /// They are equal.
    Equal,
    /// The first is greater.
    Greater,
}

/// The answer to a question about two instances.
#[derive(Clone, Debug)]
pub enum Answer {
    /// No such instances exist.
    Never,
    /// Such instances may exist.
    Perhaps,
    /// These two instances are an example, as far as the accesses are known.
    At(Box<Example>),
    /// The limit was reached.
    Unknown,
}

/// Two instances.
#[derive(Clone, Debug)]
pub struct Example {
    pair: Pair,
    point: Point,
}

impl Example {
    /// Returns the value of a form over the levels of one instance. `None` if it has a parameter
    /// that the question does not contain, or does not fit 64 bits.
    pub fn value(&self, form: &AffineForm, side: Side) -> Option<i64> {
        self.pair.value(&self.point, form, side)
    }
}

/// Every access of memory depends on every other.
#[derive(Clone, Copy, Debug)]
pub struct Unanalysed;

/// Accesses of objects that may overlap depend on each other, if one writes.
#[derive(Clone, Copy, Debug)]
pub struct Flat;

/// Tests each subscript separately, in the directions in question: by divisibility and by constant
/// bounds. Linear in the terms of the forms.
#[derive(Clone, Copy, Debug)]
pub struct Directions;

/// Compares both addresses in one iteration, and the growth of their difference. Linear in the
/// terms of the forms.
#[derive(Clone, Copy, Debug)]
pub struct Differences;

/// Fuses only pairs that a cheap test allows: [`Answer::Never`] needs a `Never` of one of these
/// tests and of the exact one. Otherwise the exact test is not asked.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed(
    /// Cheap ones.
    pub &'static [&'static dyn Dependence],
);

/// Decides exactly by integer sets, unless a constant distance already excludes a dependence.
#[derive(Clone, Copy, Debug)]
pub struct Polyhedral;

impl Dependence for Unanalysed {
    fn tells_objects_apart(&self) -> bool {
        false
    }

    fn meet(&self, _: &Question<'_>) -> Answer {
        Answer::Perhaps
    }
}

impl Dependence for Flat {
    fn meet(&self, _: &Question<'_>) -> Answer {
        Answer::Perhaps
    }
}

impl Dependence for Directions {
    fn meet(&self, question: &Question<'_>) -> Answer {
        if directions::never(question) { Answer::Never } else { Answer::Perhaps }
    }
}

impl Dependence for Differences {
    fn meet(&self, question: &Question<'_>) -> Answer {
        if differences::never(question) { Answer::Never } else { Answer::Perhaps }
    }
}

impl Dependence for Confirmed {
    fn meet(&self, question: &Question<'_>) -> Answer {
        let mut all = self.0.iter();
        match all.any(|own| matches!(own.meet(question), Answer::Never)) {
            true => Polyhedral.meet(question),
            false => Answer::Perhaps,
        }
    }
}

impl Dependence for Polyhedral {
    fn meet(&self, question: &Question<'_>) -> Answer {
        if directions::is_wrong_distance(question) {
            return Answer::Never;
        }
        let pair = question.pairs();
        match pair.system.is_empty(&question.loop_context.facts, question.limits) {
            Emptiness::Empty => Answer::Never,
            Emptiness::NonEmpty(point) => Answer::At(Box::new(Example { pair, point })),
            Emptiness::Unknown(_) => Answer::Unknown,
        }
    }

    fn never_touch(&self, question: &Question<'_>) -> bool {
        directions::never_touch(question)
    }

    fn necessary(&self, question: &Question<'_>, is_kept: &dyn Fn(&Atom) -> bool) -> Option<Vec<AffineForm>> {
        question.pairs().system.shadow(&question.loop_context.facts, is_kept)
    }
}

/// Returns an implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn Dependence>> {
    Some(match name {
        "none" => Arc::new(Unanalysed),
        "flat" => Arc::new(Flat),
        "directions" => Arc::new(Directions),
        "polyhedral" => Arc::new(Polyhedral),
        _ => return None,
    })
}
