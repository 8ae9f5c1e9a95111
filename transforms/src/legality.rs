//! Legality: decides if a tree may replace the program it was made from.
//!
//! A dependence goes from one instance of a statement to a later one if both touch one location and
//! at least one writes. A tree is legal iff every instance still runs once, every value is computed
//! before it is used, and no dependence is reversed. Questions about iterations ask if a union of
//! integer conjunctions is empty, and are decided exactly. A [`Witness`] says what would go wrong:
//! a point of such a union is two iterations that would swap, or one that would be lost.
//!
//! | question | about | answered by |
//! | --- | --- | --- |
//! | may this tree run, and be written | any tree | [`Checker::judge`] |
//! | the same, with a witness | any tree | [`Checker::check`] |
//! | which updates are reordered there | a legal tree | [`Checker::reordered`] |
//! | may these two neighbours run merged | loops that fusion tries | [`merged`] |
//! | may these two be reordered | entries between loops | [`independent`] |
//! | may these pieces run in this order | loops of a graph | [`Schedule::judge`] |
//! | may this storage be shared, or removed | arrays that contraction tries | `StorageJudge` |
//!
//! [`Dependences`](crate::listing::Dependences) lists the dependences to keep.
//!
//! [`merged`] and [`independent`] answer the first question for edits that keep whole iterations,
//! class by class before there is a tree. They guide a search, and their answers approve nothing.
//! Writing needs an [`Approved`] tree, or an [`ApprovedPlan`] for a graph.
//!
//! **Assumptions.**
//! - The effects of a statement are complete; no question here looks at operations. Tried with
//!   `tests/tests/all/legality.rs`: random edits judged, and the trees run.
//! - Two iterations of one loop see one value of a parameter: it is computed outside of the judged
//!   code. Tried with `fixtures/fusion/computed_bounds.mlir`.
//!
//! # Limits
//!
//! - A question about dependences may cost 100,000 steps (`QUESTION`), about two milliseconds.
//!   Loops with coefficients near 2^40 under `mod` and `floordiv` stay apart.

use loomir_ir::{Body, Diagnostic, Op, Value};
use loomir_polyhedra::Limits;

use crate::access::base::{Base, Bases, Overlap};
use crate::access::callees::{Callees, callee};
use crate::access::{Class, Dependence, Example};
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};
use crate::assumption::{self, Assumption};
use crate::tree::Program;
use crate::tree::access_summary::{AccessSummary, LoopIteration};

pub use check::Checker;
pub(crate) use explain::{iterations, object, symbols};
pub use judge::Approved;
pub use merge::{independent, merged};
pub use permutable::Permutable;
pub use runtime_checks::{at_least as assumed_at_least, zero as assumed_zero};
pub use schedule::{ApprovedPlan, Ending, Piece, Schedule};

mod atomic_updates;
mod band;
mod carried;
mod cases;
mod changed_region;
mod check;
mod coverage;
mod difference;
mod explain;
mod judge;
pub mod meeting;
mod merge;
mod order;
mod pairs;
mod permutable;
mod reordered;
mod runtime_checks;
mod schedule;
pub(crate) mod scheduled;
mod scope;
pub(crate) mod storage;

/// The analyses that decide dependences.
#[derive(Clone, Copy)]
pub struct DependenceOracle<'a> {
    /// The overlap of objects.
    pub bases: &'a Bases<'a>,
    /// The dependence test.
    pub dependence: &'a dyn Dependence,
    /// The limits on one question.
    pub limits: &'a Limits,
    /// If set, legality may assume relations between parameters; a run-time check before this
    /// program's trees guards them.
    pub tested_before: Option<&'a Program>,
}

impl DependenceOracle<'_> {
    /// Returns the overlap of two objects; `None` if they are distinct.
    pub(crate) fn overlap(&self, a: Base, b: Base) -> Option<Overlap> {
        match self.bases.overlap(a, b) {
            Overlap::Apart | Overlap::AssumedApart if !self.dependence.tells_objects_apart() => {
                Some(Overlap::May)
            }
            Overlap::Apart => None,
            overlap => Some(overlap),
        }
    }

    /// Returns the objects of a nest whose accesses may conflict with accesses of an object.
    fn near<'n>(&self, nest: &'n AccessSummary, base: Base) -> impl Iterator<Item = Base> + use<'n> {
        let all = (!self.dependence.tells_objects_apart()).then(|| nest.bases());
        let near = all.is_none().then(|| nest.bases_near(base));
        all.into_iter().flatten().chain(near.into_iter().flatten())
    }

    /// True if two accesses of objects that may overlap may conflict.
    fn may_conflict(&self, a: &Class, b: &Class) -> bool {
        let is_one = (a.base, a.origin) == (b.base, b.origin);
        let may_swap = is_one && a.update.is_some() && a.update == b.update;
        ((a.writes || b.writes) && !may_swap) || !self.dependence.tells_objects_apart()
    }
}

/// The limit on one question about dependences: ten times the hardest question of all fixtures, and
/// about two milliseconds even with numbers of many words. Harder questions are about subscripts
/// like `(i * 1099511627791) mod 1099511627689`, and such loops stay apart.
pub const QUESTION: Limits = Limits::steps(100_000);

/// The verdict on the legality of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every dependence is kept if the assumptions hold.
    Legal {
        /// All of these assumptions have to hold.
        assumed: Vec<Assumption>,
    },
    /// The edit certainly changes the meaning of the program.
    Illegal(Witness),
    /// The edit may be illegal: something was approximated.
    MayBeIllegal(Witness),
    /// The solver's limit was reached.
    Unknown {
        /// Two operations with an undecided order, or one operation twice.
        accesses: (Op, Op),
    },
}

/// The failure of an illegal edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// Two dependent instances whose order would be reversed.
    Order {
        /// The instance that must be first.
        first: Instance,
        /// The other instance.
        second: Instance,
        /// For each of them, true if it writes.
        writes: [bool; 2],
        /// The reason why they conflict.
        cause: Cause,
    },
    /// An instance that would not run.
    Lost(Instance),
    /// An instance that would run more than once.
    Repeated(Instance),
    /// An instance that would run although the program does not run it.
    Added(Instance),
    /// The trip count of this loop, or the value of this condition, is known only at run time, and
    /// the statements it controls do not stay together.
    Extent(Op),
    /// This loop has carried values, and does not run whole and in order.
    Carried(Op),
    /// A value that is not available at one of its uses.
    Unavailable {
        /// The value.
        value: Value,
        /// The operation that uses it.
        user: Op,
    },
}

/// One execution of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The operation.
    pub op: Op,
    /// The iterations of the loops of the program around the operation that an edit concerns, from
    /// the outside. Also empty if they are unknown.
    pub iteration: Box<[Iteration]>,
    /// The values of parameters that the induction variables depend on.
    pub symbols: Box<[(Value, i64)]>,
}

/// An iteration of a loop of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Iteration {
    /// The iteration in which the induction variable has this value.
    Variable(i64),
    /// The iteration with this number, from zero. The value of the induction variable is unknown.
    Number(i64),
}

impl Instance {
    /// Returns an unknown execution.
    fn unknown(op: Op) -> Instance {
        Instance { op, iteration: Box::default(), symbols: Box::default() }
    }

    /// Returns the execution in an example.
    pub(crate) fn of<'f>(
        op: Op,
        example: Option<&Example>,
        iteration: impl IntoIterator<Item = &'f LoopIteration>,
        side: Side,
    ) -> Instance {
        match example {
            Some(example) => Instance::at(op, iteration, &|form| example.value(form, side)),
            None => Instance::unknown(op),
        }
    }

    /// Returns the execution in which forms have these values.
    fn at<'f>(
        op: Op,
        iteration: impl IntoIterator<Item = &'f LoopIteration>,
        value: &dyn Fn(&AffineForm) -> Option<i64>,
    ) -> Instance {
        let mut symbols = Vec::new();
        let told =
            |own: &LoopIteration| match own.variable.as_ref().and_then(|form| Some((form, value(form)?))) {
                Some((form, at)) => {
                    add_symbols(&mut symbols, form, value);
                    Iteration::Variable(at)
                }
                None => Iteration::Number(value(&own.number).unwrap_or_default()),
            };
        let iteration = iteration.into_iter().map(told).collect();
        Instance { op, iteration, symbols: symbols.into() }
    }
}

/// Adds the values of the parameters of a form.
fn add_symbols(
    symbols: &mut Vec<(Value, i64)>,
    form: &AffineForm,
    value: &dyn Fn(&AffineForm) -> Option<i64>,
) {
    form.each_parameter(&mut |parameter| {
        let is_there = symbols.iter().any(|(own, _)| *own == parameter);
        let at = value(&AffineForm::atom(Atom::Param(parameter))).filter(|_| !is_there);
        symbols.extend(at.map(|at| (parameter, at)));
    });
}

/// The reason why two operations are assumed to touch one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Both touch one element of one object.
    Element(Box<Element>),
    /// Both touch one object; the elements are not known exactly.
    Object,
    /// Their objects may overlap. If both are arguments of a function, the arguments.
    MayOverlap(Option<(Value, Value)>),
    /// One of them touches the world, such as an unknown call.
    World,
}

/// An element of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// The object.
    pub base: Base,
    /// The subscripts are relative to this memref. `None` if they are relative to the base itself,
    /// a global.
    pub origin: Option<Value>,
    /// Its subscripts.
    pub subscripts: Vec<i64>,
    /// The values of the parameters of its subscripts.
    pub symbols: Vec<(Value, i64)>,
}

impl Verdict {
    /// Returns the verdict that every dependence is kept without assumptions.
    fn legal() -> Verdict {
        Verdict::Legal { assumed: Vec::new() }
    }

    /// True if the edit is legal, perhaps under assumptions.
    pub fn is_legal(&self) -> bool {
        matches!(self, Verdict::Legal { .. })
    }

    /// Adds the failure as notes to `remark`, with the locations of the operations. `then` names
    /// the change, such as "fused".
    pub fn explain(&self, body: &Body, remark: Diagnostic, then: &str) -> Diagnostic {
        explain::explain(self, body, remark, then)
    }

    /// Adds the reasons why calls among the operations at fault touch the world.
    pub fn explain_calls(&self, body: &Body, callees: &Callees, remark: Diagnostic) -> Diagnostic {
        match self {
            Verdict::Illegal(Witness::Order { first, second, cause: Cause::World, .. })
            | Verdict::MayBeIllegal(Witness::Order { first, second, cause: Cause::World, .. }) => {
                let ops = [first.op, second.op];
                let is_one =
                    ops[0] == ops[1] || callee(body, ops[0]).is_some_and(|f| callee(body, ops[1]) == Some(f));
                let different = &ops[..if is_one { 1 } else { 2 }];
                different.iter().fold(remark, |remark, op| callees.explain(body, *op, remark))
            }
            _ => remark,
        }
    }

    /// True if another order of the same iterations may be legal. Where two objects may overlap,
    /// any two iterations may touch one location.
    pub(crate) fn depends_on_order(&self) -> bool {
        let Verdict::MayBeIllegal(Witness::Order { cause, .. }) = self else { return true };
        !matches!(cause, Cause::MayOverlap(_) | Cause::World)
    }

    /// Returns the verdict with the two instances, or operations, in the other order.
    pub(crate) fn swapped(self) -> Verdict {
        let swap = |witness| match witness {
            Witness::Order { first, second, writes: [a, b], cause } => {
                Witness::Order { first: second, second: first, writes: [b, a], cause }
            }
            other => other,
        };
        match self {
            Verdict::Illegal(witness) => Verdict::Illegal(swap(witness)),
            Verdict::MayBeIllegal(witness) => Verdict::MayBeIllegal(swap(witness)),
            Verdict::Unknown { accesses: (a, b) } => Verdict::Unknown { accesses: (b, a) },
            legal => legal,
        }
    }

    /// Returns the worse of two verdicts. A certain failure beats a possible one; among equal kinds
    /// the first is kept.
    fn or(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Legal { assumed: mut all }, Verdict::Legal { assumed: more }) => {
                assumption::add(&mut all, more);
                Verdict::Legal { assumed: all }
            }
            (certain @ Verdict::Illegal(_), _) | (_, certain @ Verdict::Illegal(_)) => certain,
            (Verdict::Legal { .. }, doubt) | (doubt, _) => doubt,
        }
    }
}
