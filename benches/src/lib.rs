//! Benchmarks of Loomir against its peers.
//!
//! This library makes the programs: loops that scale, many in one function or few in many functions
//! ([`loops`]), nests to edit ([`nests`]), the same as graphs ([`graphs`]), and straight-line code
//! ([`shapes`]); and times
//! what several of the benchmarks and tests ask for ([`process`], [`round_trip`]). The benchmarks
//! themselves are in `benches/`, their results in `results/`.
#![forbid(unsafe_code)]

pub mod graphs;
pub mod loops;
pub mod nests;
pub mod process;
pub mod round_trip;
pub mod shapes;
