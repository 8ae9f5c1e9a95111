//! The passes that every compiler has: they simplify a program and change no loop.
//!
//! | module | pass |
//! | --- | --- |
//! | [`canonicalize`] | `canonicalize`: folding, patterns and dead code |
//! | [`cse`] | `cse`: common subexpressions |
//! | [`dce`] | `dce`: dead code |
//! | [`licm`] | `loop-invariant-code-motion` |
//!
//! Names are `mlir-opt`'s where it has the pass. Each asks [`effects`](crate::effects) for what an
//! operation may do, so all of them work on any dialect.

use loomir_ir::pass::PassInfo;

pub mod canonicalize;
pub mod cse;
pub mod dce;
pub mod licm;

/// The passes of this module.
pub(crate) const PASSES: &[PassInfo] = &[canonicalize::PASS, cse::PASS, dce::PASS, licm::PASS];
