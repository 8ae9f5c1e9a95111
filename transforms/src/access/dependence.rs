//! Whether two accesses conflict in the wrong order.

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
/// **Owed:** [`Answer::Never`] only if there are no two instances as asked; [`Answer::At`] only
/// with two that satisfy all that is said of them. All else is an answer too.
pub trait Dependence: fmt::Debug + Send + Sync {
    /// True if accesses of objects that are known to be apart, and two reads, are known not to
    /// conflict. If not, all accesses do.
    fn tells_objects_apart(&self) -> bool {
        true
    }

    /// Whether there are two instances as asked.
    fn meet(&self, question: &Question<'_>) -> Answer;

    /// Forms over those parameters that `is_kept` accepts, and over nothing else, none of which is
    /// negative wherever there are two instances as asked. So if one of them is, there are none.
    /// Nothing if that is not known.
    fn necessary(&self, question: &Question<'_>, is_kept: &dyn Fn(&Atom) -> bool) -> Option<Vec<AffineForm>> {
        let _ = (question, is_kept);
        None
    }
}

/// Two accesses of objects that may overlap, and what their instances have to be like: touch one
/// element, and stand to each other in an order.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The first access. Its domain constrains its levels.
    pub first: &'q Class,
    /// The second access.
    pub second: &'q Class,
    /// The loops around both, whose levels they share.
    pub loop_context: &'q LoopContext,
    /// Subscripts of the first and of the second, equal where both touch one element. What is not
    /// known of that is not said.
    pub equal: &'q [(&'q AffineForm, &'q AffineForm)],
    /// All of these hold.
    pub order: &'q [Relation<'q>],
    /// Forms that an example is to give values of.
    pub shown: &'q [&'q AffineForm],
    /// What the answer may cost.
    pub limits: &'q Limits,
}

impl Question<'_> {
    /// The pairs of instances as asked.
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

/// How a form over the levels of the first instance and one over those of the second lie to each
/// other.
#[derive(Clone, Copy, Debug)]
pub struct Relation<'q> {
    /// Of the first instance.
    pub first: &'q AffineForm,
    /// How it lies to the other.
    pub is: Order,
    /// Of the second instance.
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

/// Whether there are two instances as asked.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There are none.
    Never,
    /// There may be.
    Perhaps,
    /// These are, for what is known of the accesses.
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
    /// What a form over the levels of one of the instances is; nothing if it has a parameter that
    /// is not among those of the question, or does not fit 64 bits.
    pub fn value(&self, form: &AffineForm, side: Side) -> Option<i64> {
        self.pair.value(&self.point, form, side)
    }
}

/// All that touches memory depends on all that does.
#[derive(Clone, Copy, Debug)]
pub struct Unanalysed;

/// Accesses of objects that may overlap depend on each other, if one writes.
#[derive(Clone, Copy, Debug)]
pub struct Flat;

/// Each subscript by itself, in the directions asked about: by divisibility and by bounds that are
/// numbers. Linear in the terms of the forms.
#[derive(Clone, Copy, Debug)]
pub struct Directions;

/// By the difference of both places in one iteration, and how it grows. Linear in the terms of the
/// forms.
#[derive(Clone, Copy, Debug)]
pub struct Differences;

/// As one of these says, where that holds exactly too: what none of them can show is not asked any
/// further.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed(
    /// Cheap ones.
    pub &'static [&'static dyn Dependence],
);

/// Exactly: by integer sets, where a constant distance does not already say that there are none.
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

    fn necessary(&self, question: &Question<'_>, is_kept: &dyn Fn(&Atom) -> bool) -> Option<Vec<AffineForm>> {
        question.pairs().system.shadow(&question.loop_context.facts, is_kept)
    }
}

/// An implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn Dependence>> {
    Some(match name {
        "none" => Arc::new(Unanalysed),
        "flat" => Arc::new(Flat),
        "directions" => Arc::new(Directions),
        "polyhedral" => Arc::new(Polyhedral),
        _ => return None,
    })
}
