//! Tells whether two programs compute the same, by proof or by execution.
//!
//! The checker is an oracle for loop transformations, Loomir's own and those of other compilers. It
//! shares no code with `loomir-transforms`: no reading of accesses, no dependences, no legality. A
//! fault there cannot hide here.
//!
//! [`functions::check`] compares two modules function by function. Functions of equal text are
//! equal; others are given to a prover, if there is one, and executed on generated inputs
//! ([`execution`]).
#![forbid(unsafe_code)]

pub mod execution;
pub mod functions;
pub mod proof;
pub mod reduce;
pub mod simulation;
pub mod symbolic;

pub use proof::{Assumption, Proof, ProofOptions, Reason, Which, prove};
