//! Sparse data-flow analysis of SSA values: through blocks, through operations with regions, and
//! across calls of private functions.
//!
//! | module | holds |
//! | --- | --- |
//! | [`program`] | the bodies of a program, with the calls between its functions |
//! | [`forward`] | the solver: facts of values from the facts of operands |
//! | [`liveness`] | the values that matter to what a program does |
//! | [`ranges`] | the lattice of integer ranges |
//! | [`constants`] | the lattice of constants |
//!
//! The solver is that of M. N. Wegman and F. K. Zadeck, *Constant propagation with conditional
//! branches* (TOPLAS 13(2), 1991). It starts from the assumption that nothing runs, and follows
//! only edges that some execution may take, so facts and reachability improve each other.

pub mod constants;
pub mod forward;
pub mod liveness;
pub mod program;
pub mod ranges;
