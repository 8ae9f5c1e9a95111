//! Bounds on the work of a question, counted in steps, so that answers depend on the input alone.
//!
//! One step is about one operation on numbers of one machine word, a nanosecond or two: a pivot of
//! a tableau counts its rows times its columns, and large numbers by their length. So a limit
//! bounds time on every path, whatever the question. A limit that is reached is reported
//! ([`LimitReached`], [`Emptiness::Unknown`](crate::Emptiness)), never replaced by a guess.

use std::fmt;

/// The number of steps one question may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps allowed.
    pub steps: u64,
}

impl Limits {
    /// Limits of `steps` steps.
    pub const fn steps(steps: u64) -> Limits {
        Limits { steps }
    }
}

impl Default for Limits {
    /// Ten thousand million steps: some ten seconds at the very worst. An ordinary dependence
    /// question takes a thousand.
    fn default() -> Limits {
        Limits { steps: 10_000_000_000 }
    }
}

/// A question that was given up because its [`Limits`] were reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitReached {
    /// The limit that was in force.
    pub limits: Limits,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer within {} steps", self.limits.steps)
    }
}

impl std::error::Error for LimitReached {}

/// Why arithmetic on one rung of the number ladder stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A number did not fit; the next wider kind of number is tried.
    Overflow,
    /// The steps are used up.
    Limit,
}

/// The result of exact arithmetic: the value, or why there is none.
pub(crate) type Exact<V> = Result<V, Stop>;

/// The steps left of a [`Limits`] while a question is worked on.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    left: u64,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Budget {
        Budget { limits: *limits, left: limits.steps }
    }

    /// Uses up `steps`.
    #[inline]
    pub(crate) fn tick(&mut self, steps: usize) -> Exact<()> {
        match self.left.checked_sub(steps as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Stop::Limit)
            }
        }
    }

    /// Returns the error of a budget that is spent.
    pub(crate) fn reached(&self) -> LimitReached {
        LimitReached { limits: self.limits }
    }
}
