//! Loomir's own test harness: it makes and judges programs by the thousand. What authors of passes
//! and dialects need is in [`loomir_testing`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`program`], [`generate`] | small programs of neighbouring loops, with an executor of their own; random ones |
//! | [`twin`] | programs with integers in place of floats |
//! | [`oracle`] | legality of fusing loops, by the trace of a run |
//! | [`edits`], [`instances`], [`meetings`] | random edits of loop trees; execution of a tree, instance by instance; dependences between instances |
//! | [`graphs`] | random control flow graphs, and comparison of their analyses with `opt` |
//! | [`ll`] | random programs in LLVM IR, and comparison with `lli` |
//! | [`hazards`] | random functions of loops that may be undefined, or end the program |
//! | [`theirs`] | test programs of MLIR after a pass of ours and of `mlir-opt` |
//! | [`parallel`] | random loops made parallel, and operations on vectors |
//! | [`transformations`] | all random programs before and after each transformation |
//! | [`compositions`], [`hashed`] | random compositions of edits; trees with hashes for operations |
//! | [`mutations`], [`verdicts`] | small changes of programs; the checker's verdicts on right and wrong pairs |
//! | [`exponentials`] | exponential functions as arithmetic, beside the C library |
//! | [`expressions`] | random integer expressions, and their values |
//! | [`neighbours`], [`pairs`] | random functions of neighbouring loops in LLVM IR; the loops that Loomir and `opt` fuse |
//! | [`unrolling`], [`flattening`] | loops of graphs, unrolled, peeled, jammed; flattened |
//! | [`promotion`] | promotion to registers, with memory that faults |
//! | [`c_functions`] | random C functions through clang and fusion, with memory that overlaps |
//! | [`campaign`] | the fusion campaign on trees |
//! | [`rewiring`] | fusion of the tree compared with fusion of the graph |
//! | [`parts`] | cases in parts, at the same time |
//! | [`chains`] | long programs, for tests of scaling |
#![forbid(unsafe_code)]

pub mod c_functions;
mod callers;
pub mod campaign;
pub mod chains;
pub mod compositions;
pub mod edits;
pub mod everyday;
pub mod exponentials;
pub mod expressions;
pub mod flattening;
pub mod generate;
pub mod graphs;
pub mod hashed;
pub mod hazards;
pub mod instances;
pub mod ll;
mod locals;
pub mod meetings;
pub mod mutations;
pub mod native;
pub mod neighbours;
pub mod oracle;
pub mod orders;
pub mod pairs;
pub mod parallel;
pub mod parts;
mod pipelines;
pub mod program;
pub mod promotion;
pub mod raising;
pub mod rewiring;
pub mod schedules;
pub mod theirs;
pub mod transformations;
pub mod twin;
pub mod unrolling;
pub mod verdicts;

pub use loomir_testing::{Checked, Checker, behaviour, blocks, check, check_pass};
pub use loomir_testing::{fixtures, peers, random, same_behaviour, scripts};
