//! Attributes by which fusion knows what an earlier run wrote.
//!
//! Without them a second run would take a remainder for a loop like any other, and split it again.
//! Both are discardable: a program without them does the same.

/// Marks a loop over the iterations that fusion left over. It is not fused again.
pub(crate) const REMAINDER: &str = "loomir.remainder";

/// Marks the run-time check of a versioned nest. Nothing inside is versioned again.
pub(crate) const VERSIONED: &str = "loomir.versioned";
