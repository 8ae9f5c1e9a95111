//! Benchmarks of Loomir against its peers.
#![forbid(unsafe_code)]
