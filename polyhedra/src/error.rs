//! [`Error`]: what an operation on sets may answer instead of a set.

use std::fmt;

use crate::limits::{Budget, Exact, LimitReached, Limits};

/// Why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The steps allowed were used up.
    Limit(LimitReached),
    /// The operands live in different spaces; both are named.
    SpaceMismatch(String, String),
    /// The optimum asked for lies at infinity, or the set to be counted or drawn is infinite.
    Unbounded,
    /// A dimension was named by a number beyond the last.
    NoSuchDimension(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Limit(limit) => fmt::Display::fmt(limit, f),
            Error::SpaceMismatch(left, right) => write!(f, "the spaces {left} and {right} differ"),
            Error::Unbounded => f.write_str("the set is unbounded in the direction asked for"),
            Error::NoSuchDimension(index) => write!(f, "there is no dimension {index}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<LimitReached> for Error {
    fn from(limit: LimitReached) -> Error {
        Error::Limit(limit)
    }
}

/// Runs an exact computation under limits.
pub(crate) fn limited<V>(limits: &Limits, run: impl FnOnce(&mut Budget) -> Exact<V>) -> Result<V, Error> {
    let mut budget = Budget::new(limits);
    run(&mut budget).map_err(|_| Error::Limit(budget.reached()))
}
