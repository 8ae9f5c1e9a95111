//! Decisions about a pair of loops: the fusion, or the reason against it.

use std::rc::Rc;

use loomir_ir::Op;

use super::Plan;
use crate::cost::{Saving, Work};
use crate::legality::{Verdict, Witness};

/// A legal fusion.
pub(super) struct Attempt {
    pub plan: Plan,
    pub saving: Saving,
    /// The cost of the second loop as joined, and the number of fused iterations that run at once.
    pub work: Option<(Rc<Work>, Option<f64>)>,
}

impl Attempt {
    /// Returns the saved cycles, if costs are computed.
    pub(super) fn saved_cycles(&self) -> Option<i64> {
        self.work.is_some().then(|| self.saving.cycles.round() as i64)
    }
}

/// The reason why a pair was not fused.
#[derive(Clone, Debug)]
pub(super) enum Missed {
    /// One of the loops is parallel, or their dimensions have other mappings.
    DifferentKinds,
    /// One of the loops combines values of its iterations, and not all dimensions of both would be
    /// fused.
    CombinesValues,
    /// This loop compares its induction variable as unsigned.
    Unsigned(Op),
    /// A step is not a known positive number.
    UnknownStep,
    /// The steps.
    Steps(i64, i64),
    /// The trip counts, where known.
    TripCounts(Option<i64>, Option<i64>),
    /// The trip counts agree, but the difference of the induction variables is known only at run
    /// time.
    UnknownOffset,
    /// One loop begins where the other has ended.
    NoCommonIterations,
    /// The loops have different trip counts and access no common object.
    NothingShared,
    /// One of the loops is the body of a conditional, and they access no common object.
    GuardedAlone,
    /// This operation of the second loop uses a result of the first.
    UsesResult(Op),
    /// An entry between the loops cannot move.
    NonAdjacent(Box<Stuck>),
    /// The loops run different iterations, and the bounds of the remainders cannot be written.
    CannotBeCut,
    /// Too many pairs of arguments would need a run-time check: this many.
    TooManyTests(usize),
    /// Too many run-time checks would be needed, not all about pairs of arguments.
    TooManyAssumptions(usize),
    /// A dependence is reversed, or may be.
    Dependences(Verdict),
    /// The same where equal values of the induction variables come together, because the lower
    /// bounds differ by a value.
    AtEqualValues(Verdict),
    /// The same, unless the second loop is shifted by `shift` iterations, which exceeds the maximum
    /// `most`.
    TooLate { shift: i64, most: i64, verdict: Box<Verdict> },
    /// The fusion would cost more than it saves.
    NotBeneficial(Saving),
    /// Legal, but fusing other loops saves more.
    OthersSaveMore,
    /// A dependence would be carried by a parallel loop, or may be.
    InOrder(Verdict),
}

impl Missed {
    /// True if other shapes of the loops may do better.
    pub(super) fn is_of_the_iterations(&self) -> bool {
        use Missed::{CannotBeCut, Steps, TripCounts, UnknownOffset};
        self.verdict().is_some() || matches!(self, Steps(..) | TripCounts(..) | UnknownOffset | CannotBeCut)
    }

    /// True if no other order of the two loops' iterations would do better.
    pub(super) fn is_of_any_order(&self) -> bool {
        self.verdict().is_some_and(|verdict| !verdict.depends_on_order())
    }

    /// Returns the verdict on the order of the two loops, if it is the reason.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        match self {
            Missed::Dependences(verdict) | Missed::AtEqualValues(verdict) | Missed::InOrder(verdict) => {
                Some(verdict)
            }
            _ => None,
        }
    }

    /// Returns the operation of the first loop and the operation of the second whose order would
    /// change.
    pub(super) fn at_fault(&self) -> Option<(Op, Op)> {
        match self.verdict()? {
            Verdict::Illegal(Witness::Order { first, second, .. })
            | Verdict::MayBeIllegal(Witness::Order { first, second, .. }) => Some((first.op, second.op)),
            Verdict::Unknown { accesses } => Some(*accesses),
            _ => None,
        }
    }
}

/// An entry between two others that can move neither before nor behind them.
#[derive(Clone, Debug)]
pub(super) struct Stuck {
    /// One of its operations, to show.
    pub op: Op,
    /// The reason why the entry cannot move before the first.
    pub hoisting: Option<Conflict>,
    /// The reason why the second cannot move before the entry.
    pub passing: Option<Conflict>,
}

/// The reason why two entries cannot be reordered.
#[derive(Clone, Debug)]
pub(super) enum Conflict {
    /// The later entry uses a result of the other.
    UsesResult,
    /// They touch one location, or may.
    Touches(Verdict),
}

/// One of two neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    First,
    Second,
}

/// The change of one of two neighbours before they were fused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// The first runs backwards.
    Backwards,
    /// The nest is interchanged: another of its loops becomes the outermost.
    Interchanged(Which),
    /// The loop runs in blocks of this many iterations.
    Blocks(Which, i64),
    /// The loop runs its iterations in any order, as the other one does.
    InAnyOrder(Which),
    /// The loop is distributed: a part of it becomes a loop of its own, beginning with this
    /// operation.
    Distributed(Which, Op),
}
