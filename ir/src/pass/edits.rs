//! A bound on the edits that passes make, to find the one that goes wrong by bisection.
//!
//! A pass that makes edits asks [`EditLimit::left`] before each and counts it by
//! [`EditLimit::made`]. Passes that count nothing run as ever: what lowers a program or brings it
//! into form has to.

use std::sync::{Arc, Mutex, PoisonError};

use crate::location::Loc;

/// A number of edits that may be made, shared by all that makes them. Without a limit nothing is
/// counted.
///
/// Passes that run on several bodies at a time would share it in no fixed order. So a pipeline
/// with a limit works on one body after the other.
#[derive(Clone, Debug, Default)]
pub struct EditLimit {
    limit: Option<Arc<Limit>>,
}

#[derive(Debug)]
struct Limit {
    most: u64,
    made: Mutex<Made>,
}

/// The edits that were made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Made {
    /// Their number.
    pub count: u64,
    /// The pass that made the last one, and its place.
    pub last: Option<(String, Loc)>,
}

impl EditLimit {
    /// A limit of so many edits.
    pub fn at_most(most: u64) -> EditLimit {
        EditLimit { limit: Some(Arc::new(Limit { most, made: Mutex::default() })) }
    }

    /// True if there is a limit.
    pub fn is_set(&self) -> bool {
        self.limit.is_some()
    }

    /// Returns the number of edits that may still be made; `None` without a limit.
    pub fn left(&self) -> Option<u64> {
        self.limit.as_ref().map(|limit| limit.most.saturating_sub(self.so_far().count))
    }

    /// True if another edit may be made.
    pub fn allows_more(&self) -> bool {
        self.left() != Some(0)
    }

    /// Counts an edit that a pass made at a place.
    pub fn made(&self, pass: &str, loc: Loc) {
        if let Some(limit) = &self.limit {
            let mut made = limit.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.count += 1;
            made.last = Some((pass.to_owned(), loc));
        }
    }

    /// Returns the edits that were made so far.
    pub fn so_far(&self) -> Made {
        let made = |limit: &Arc<Limit>| limit.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.limit.as_ref().map(made).unwrap_or_default()
    }
}
