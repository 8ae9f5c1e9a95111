//! Helpers to test passes and dialects through text, and Loomir's own test harness.
#![forbid(unsafe_code)]

pub mod generate;
pub mod program;
pub mod random;
