//! Helpers to test passes and dialects through text, and Loomir's own test harness.
//!
//! Who writes a pass or a dialect needs the first two; the others make and judge programs by the
//! thousand.
//!
//! | module | holds |
//! | --- | --- |
//! | [`check`] | a program and a pipeline in, text for a snapshot out |
//! | [`behaviour`] | whether two programs do the same, by execution |
//! | [`fixtures`] | files that say themselves what to do with them |
//! | [`peers`] | LLVM's tools as judges |
//! | [`program`], [`generate`] | small programs of neighbouring loops, with an executor of their own; random ones |
//! | [`twin`] | programs of floats with integers instead |
//! | [`oracle`] | which loops of a run may be fused, by looking at a trace |
//! | [`edits`], [`instances`], [`meetings`] | random edits of loop trees; what a tree runs, instance by instance; which of these touch one location |
//! | [`scripts`] | edits of loop trees as text, what they make of a program and what the judge says |
//! | [`graphs`] | random control flow graphs, and what `opt` finds in them |
//! | [`ll`] | random programs in LLVM IR, and what `lli` makes of them |
//! | [`hazards`] | random functions of loops that may be undefined, or end the program |
//! | [`transformations`] | all random programs before and after each transformation |
//! | [`mutations`], [`verdicts`] | small changes of programs; what the checker says of right and wrong pairs |
//! | [`expressions`] | random integer expressions, and what they compute |
//! | [`neighbours`], [`pairs`] | random functions of neighbouring loops in LLVM IR; which of these Loomir and `opt` make one |
//! | [`campaign`] | all of the trees' put together |
//! | [`rewiring`] | fusion of the tree held against fusion of the graph |
//! | [`blocks`] | what of a module is raised to a tree |
//! | [`chains`] | long programs, for tests of scaling |
#![forbid(unsafe_code)]

pub mod behaviour;
pub mod blocks;
pub mod campaign;
pub mod chains;
pub mod check;
pub mod edits;
pub mod expressions;
pub mod fixtures;
pub mod generate;
pub mod graphs;
pub mod hazards;
pub mod instances;
pub mod ll;
pub mod meetings;
pub mod mutations;
pub mod native;
pub mod neighbours;
pub mod oracle;
pub mod pairs;
pub mod peers;
pub mod program;
pub mod random;
pub mod rewiring;
pub mod scripts;
pub mod transformations;
pub mod twin;
pub mod verdicts;

pub use behaviour::same_behaviour;
pub use check::{Checked, Checker, check_pass};
