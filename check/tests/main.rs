//! Tests of the crate. They are one program, because each one more has to be linked.

mod calls;
mod cases;
mod corpus;
mod execution;
mod faults;
mod graphs;
mod poison;
mod promises;
mod proofs;
mod random;
mod reduce;
mod runtime;
mod scale;
mod simulation;
mod support;
mod symbolic;
