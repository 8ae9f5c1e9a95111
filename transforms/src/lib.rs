//! Raising, dependences, legality and the loop transformations of Loomir.
#![forbid(unsafe_code)]

pub mod dependence;
pub mod fusion;
pub mod legality;
