//! Tells whether two programs compute the same, by proof or by execution.
//!
//! The checker is an oracle for loop transformations, Loomir's own and those of other compilers. It
//! shares no code with `loomir-transforms`: no reading of accesses, no dependences, no legality. A
//! fault there cannot hide here.
#![forbid(unsafe_code)]

pub mod proof;

pub use proof::{Assumption, Proof, ProofOptions, Reason, Which, prove};
