//! The facts about single loops that people ask for: the trip count, and the dependences that the
//! loop carries.
//!
//! **Cost.** Trip counts cost as much as raising. Dependences are those of the whole block around
//! the loop, so that blocks with many accesses to one object are refused.

use hashbrown::HashMap;
use loomir_ir::{Body, Op, Value};

use super::{Dependences, Options, Through, Words};
use crate::access::Analyses;
use crate::access::base::{AliasMode, Base, Bases};
use crate::affine::{AffineForm, Atom};
use crate::legality::QUESTION;
use crate::tree::program::LoopInfo;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{LoopId, Program, TreeStore};

/// The most pairs of accesses to one object, of all objects, in a block whose dependences are
/// listed. So many take a quarter of a second.
const MAX_PAIRS: usize = 10_000;

/// The most terms of a trip count that is written.
const MAX_TERMS: usize = 4;

/// The trip count of a loop, as far as it is known when the loop begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TripCount {
    /// A constant.
    Constant(u64),
    /// The least of these extents, divided by the step and rounded up; 0 if that is negative.
    Symbolic(Vec<AffineForm>, i64),
    /// No form.
    Unknown,
}

impl TripCount {
    /// Returns the trip count of a loop.
    pub fn of(info: &LoopInfo) -> TripCount {
        if let Some(count) = info.trip_count() {
            return TripCount::Constant(count);
        }
        let space = &info.space;
        let extents = space.extents().filter(|_| space.is_counted() && space.domain.exact);
        match extents.zip(space.step.filter(|step| *step > 0)) {
            Some((extents, step)) => TripCount::Symbolic(extents, step),
            None => TripCount::Unknown,
        }
    }

    /// Returns the trip count as a text, with names for values. `None` if it is unknown, has no
    /// name for a value, or is long.
    pub fn text(&self, name: &dyn Fn(Value) -> Option<String>) -> Option<String> {
        match self {
            TripCount::Constant(count) => Some(count.to_string()),
            TripCount::Unknown => None,
            TripCount::Symbolic(extents, step) => {
                let extents: Option<Vec<String>> = extents.iter().map(|own| form(own, name)).collect();
                let extents = extents?;
                let least = match &extents[..] {
                    [only] if *step == 1 || !only.contains(' ') => only.clone(),
                    [only] => format!("({only})"),
                    all => format!("min({})", all.join(", ")),
                };
                Some(if *step == 1 { least } else { format!("⌈{least} / {step}⌉") })
            }
        }
    }
}

/// Returns a form as a sum. `None` if it depends on loops around.
fn form(form: &AffineForm, name: &dyn Fn(Value) -> Option<String>) -> Option<String> {
    if form.terms().len() > MAX_TERMS {
        return None;
    }
    let mut text = String::new();
    for (atom, coefficient) in form.terms() {
        let values = match atom {
            Atom::Param(_) | Atom::Product(_) => atom.factors()?,
            Atom::Level(_) | Atom::FloorDiv(..) => return None,
        };
        let names: Option<Vec<String>> = values.iter().map(|value| name(*value)).collect();
        let term = names?.join(" · ");
        let sign = match (text.is_empty(), *coefficient < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text += sign;
        if coefficient.unsigned_abs() != 1 {
            text += &format!("{} · ", coefficient.unsigned_abs());
        }
        text += &term;
    }
    Some(match form.constant_part() {
        0 if !text.is_empty() => text,
        constant if text.is_empty() => constant.to_string(),
        constant if constant < 0 => format!("{text} - {}", constant.unsigned_abs()),
        constant => format!("{text} + {constant}"),
    })
}

/// Returns the loops of a function with their trip counts, in the order of the text. A parallel
/// loop is there once for each dimension.
pub fn trip_counts(body: &Body, alias: AliasMode, analyses: &Analyses) -> Vec<(Op, TripCount)> {
    let mut found = Vec::new();
    for block in roots(body, analyses) {
        let program = raise_by(analyses, body, block, &mut TreeStore::default(), alias);
        let infos = program.loops().map(|of| program.loop_info(of));
        found.extend(infos.map(|info| (info.op, TripCount::of(info))));
    }
    found
}

/// A dependence that a loop carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The dependence in words.
    pub words: Words,
    /// The operation that comes first.
    pub source: Op,
    /// The operation that comes later.
    pub sink: Op,
    /// True if nothing was approximated.
    pub is_certain: bool,
    /// True if both are updates whose order does not matter.
    pub may_be_reordered: bool,
}

/// The dependences of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoopDependences {
    /// The dependences through memory from one iteration to a later one.
    Carried(Vec<Carried>),
    /// The block around the loop has too many accesses.
    TooMany,
    /// The operation is no loop of a tree.
    NoLoop,
}

/// Returns the dependences through memory that a loop carries.
pub fn carried_by(body: &Body, op: Op, alias: AliasMode, analyses: &Analyses) -> LoopDependences {
    for block in roots(body, analyses) {
        let mut trees = TreeStore::default();
        let program = raise_by(analyses, body, block, &mut trees, alias);
        let is_it = |of: &LoopId| program.loop_info(*of).op == op;
        if !program.loops().any(|of| is_it(&of)) {
            continue;
        }
        if pairs(&program) > MAX_PAIRS {
            return LoopDependences::TooMany;
        }
        return LoopDependences::Carried(carried(body, (&program, &trees), &is_it, (alias, analyses)));
    }
    LoopDependences::NoLoop
}

/// Returns the number of pairs of accesses to one object. Linear.
fn pairs(program: &Program) -> usize {
    let mut counts: HashMap<&Base, usize> = HashMap::new();
    let accesses = program.statements().flat_map(|statement| &statement.effects.classes);
    accesses.for_each(|(class, _)| *counts.entry(&class.base).or_default() += 1);
    counts.into_values().fold(0, |all: usize, own| all.saturating_add(own.saturating_mul(own)))
}

fn carried(
    body: &Body,
    (program, trees): (&Program, &TreeStore),
    is_it: &dyn Fn(&LoopId) -> bool,
    (alias, analyses): (AliasMode, &Analyses),
) -> Vec<Carried> {
    let bases = Bases::new(body, alias);
    let options = Options { bases: &bases, dependence: &*analyses.dependence, limits: &QUESTION };
    let all = Dependences::of(body, program, trees, &options);
    let is_carried = |one: &&super::Dependence| {
        one.carrier.as_ref().is_some_and(is_it) && matches!(one.through, Through::Memory(_))
    };
    let carried = all.iter().filter(is_carried).map(|one| Carried {
        words: Words::of(body, one),
        source: one.source.op,
        sink: one.sink.op,
        is_certain: one.is_certain,
        may_be_reordered: one.reduction.is_some(),
    });
    carried.collect()
}
