//! Decisions about a pair of loops: how it is fused, or why it is not.

use std::rc::Rc;

use loomir_ir::Op;

use super::Plan;
use crate::cost::{Saving, Work};
use crate::legality::{Verdict, Witness};

/// A fusion that may be done.
pub(super) struct Attempt {
    pub plan: Plan,
    pub saving: Saving,
    /// The cost of the second loop as it is joined, and how many iterations of both run at once.
    pub work: Option<(Rc<Work>, Option<f64>)>,
}

impl Attempt {
    /// Returns the cycles that it saves, if that was asked.
    pub(super) fn saved_cycles(&self) -> Option<i64> {
        self.work.is_some().then(|| self.saving.cycles.round() as i64)
    }
}

/// Why a pair was not fused.
#[derive(Clone, Debug)]
pub(super) enum Missed {
    /// The operations differ, such as `affine.for` and `scf.for`, or the mappings of their
    /// dimensions.
    DifferentKinds,
    /// This loop compares its variable as unsigned.
    Unsigned(Op),
    /// A step is not a known positive number.
    UnknownStep,
    /// The steps.
    Steps(i64, i64),
    /// The numbers of iterations, where known.
    TripCounts(Option<i64>, Option<i64>),
    /// The trip counts agree, but the difference of the variables is known at run time only.
    UnknownOffset,
    /// The loops run different numbers of iterations and have nothing in common.
    NothingShared,
    /// This operation of the second loop uses a result of the first.
    UsesResult(Op),
    /// This stands between the loops and cannot move.
    NonAdjacent(Box<Stuck>),
    /// The loops run different iterations, and the bounds of what not both have cannot be written.
    CannotBeCut,
    /// So many pairs of arguments would have to be tested.
    TooManyTests(usize),
    /// So many things would have to be tested, of which not all are about pairs of arguments.
    TooManyAssumptions(usize),
    /// A dependence is turned around, or may be.
    Dependences(Verdict),
    /// The same, unless the second ran `shift` iterations later, of which at most `most` may be.
    TooLate { shift: i64, most: i64, verdict: Box<Verdict> },
    /// It would cost more than it saves.
    NotBeneficial(Saving),
    /// It may be, but other loops are fused with which more is saved.
    OthersSaveMore,
    /// A dependence would go from one iteration to another of a parallel loop, or may.
    InOrder(Verdict),
}

impl Missed {
    /// True if other shapes of the loops may do better.
    pub(super) fn is_of_the_iterations(&self) -> bool {
        use Missed::{CannotBeCut, Dependences, InOrder, Steps, TripCounts, UnknownOffset};
        matches!(self, Steps(..) | TripCounts(..) | UnknownOffset | CannotBeCut | Dependences(_) | InOrder(_))
    }

    /// The operation of the first loop and that of the second whose order would change.
    pub(super) fn at_fault(&self) -> Option<(Op, Op)> {
        let (Missed::Dependences(verdict) | Missed::InOrder(verdict)) = self else { return None };
        match verdict {
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
    /// An operation of it, to show.
    pub op: Op,
    /// Why it cannot move before the first.
    pub hoisting: Option<Conflict>,
    /// Why the second cannot move before it.
    pub passing: Option<Conflict>,
}

/// Why two entries cannot change places.
#[derive(Clone, Debug)]
pub(super) enum Conflict {
    /// The one behind uses a result of the other.
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
    /// Another loop of it runs outermost.
    Interchanged(Which),
    /// A part of it is a loop of its own, which begins with this operation.
    Distributed(Which, Op),
}
