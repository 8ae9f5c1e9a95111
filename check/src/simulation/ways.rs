//! Ways to go: choices that decide if a proof is found, and never if it holds.

/// The most work on questions to solvers.
const MAX_WORK: usize = 6_000;

/// A choice of what is told apart.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The number of visits of a pair of places that are told apart by their constants. Loops with
    /// a constant trip count may need it.
    pub(super) apart: usize,
    /// True if all values tell visits apart. Otherwise only the arguments of blocks do.
    pub(super) tells_all: bool,
    /// True if values of the first program are what they are where nothing is poison.
    pub(super) folds_poison: bool,
    /// True if the first program may stay where it is while the second one goes on.
    pub(super) may_wait: bool,
    /// The work that may be done on questions to solvers.
    pub(super) questions: usize,
    /// True if the place where the second program waits is told from others by constants.
    pub(super) tells_constants: bool,
    /// True if places of the first program before a branch that both take may still be best.
    pub(super) keeps_places: bool,
}

/// A way without any liberty.
const PLAIN: Way = Way {
    apart: 0,
    tells_all: false,
    folds_poison: false,
    may_wait: false,
    questions: 0,
    tells_constants: false,
    keeps_places: false,
};
/// A way that asks solvers.
const ASKING: Way = Way { folds_poison: true, may_wait: true, questions: MAX_WORK, ..PLAIN };

/// The ways to go, in the order in which they are tried.
pub(super) const WAYS: [Way; 9] = [
    PLAIN,
    Way { folds_poison: true, may_wait: true, ..PLAIN },
    Way { may_wait: true, ..PLAIN },
    Way { folds_poison: true, ..PLAIN },
    Way { apart: 24, may_wait: true, ..PLAIN },
    Way { apart: 1_100, tells_all: true, folds_poison: true, may_wait: true, ..PLAIN },
    Way { tells_constants: true, ..ASKING },
    Way { tells_constants: true, keeps_places: true, ..ASKING },
    Way { keeps_places: true, ..ASKING },
];
