//! Raising, dependences, legality and the loop transformations of Loomir.
#![forbid(unsafe_code)]
