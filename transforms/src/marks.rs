//! Attributes by which fusion knows what an earlier run wrote.
//!
//! Without them a second run would take a remainder for a loop like any other and split it again,
//! or give a part of a loop back to where it came from. All are discardable: a program without them
//! does the same.

/// Marks a loop over the iterations that fusion left over. It is not fused again.
pub(crate) const REMAINDER: &str = "loomir.remainder";

/// Marks a loop in which a part of another loop runs. It is not distributed for another fusion.
pub(crate) const DISTRIBUTED: &str = "loomir.distributed";

/// Marks the run-time check of a versioned nest. Nothing inside is versioned again.
pub(crate) const VERSIONED: &str = "loomir.versioned";
