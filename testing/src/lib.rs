//! Helpers to test dialects and passes of one's own through text and by execution.
//!
//! | module | holds |
//! | --- | --- |
//! | [`check`] | a program and a pipeline in, text for a snapshot out |
//! | [`behaviour`] | equivalence of two programs, by execution |
//! | [`fixtures`](mod@fixtures) | files with directives in comments |
//! | [`scripts`] | edits of loop trees as text, their results and the judge's verdicts |
//! | [`peers`] | LLVM's tools as judges |
//! | [`programs`] | random programs of a dialect, from its definition |
//! | [`random`] | random numbers from a seed |
//! | [`snapshots`] | snapshots of programs after passes; comparisons before and after, in a line |
//! | [`blocks`] | the blocks of a module that are raised to trees |
#![forbid(unsafe_code)]

pub mod behaviour;
pub mod blocks;
pub mod check;
pub mod fixtures;
pub mod peers;
pub mod programs;
pub mod random;
pub mod scripts;
pub mod snapshots;

pub use behaviour::{same_behaviour, same_interleaved};
pub use check::{Checked, Checker, check_pass};
pub use insta;
