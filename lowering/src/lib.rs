//! Lowering: from structured programs to LLVM IR.
//!
//! | step | module | pass |
//! | --- | --- | --- |
//! | `linalg` to loops of `scf` | [`linalg_to_loops`] | `convert-linalg-to-loops` |
//! | `linalg` to loops of `affine` | [`linalg_to_loops`] | `convert-linalg-to-affine-loops` |
//! | affine loops to structured ones | [`affine_to_scf`] | `lower-affine` |
//! | parallel loops to calls that threads share | [`scf_to_threads`] | `scf-parallel-to-threads` |
//! | structured control flow to branches | [`scf_to_cf`] | `convert-scf-to-cf` |
//! | everything to the `llvm` dialect | [`to_llvm`] | `convert-to-llvm` |
//! | all of these, in order | [`lower_to_llvm`] | `lower-to-llvm` |
//! | the `llvm` dialect to LLVM's text, and back | [`ll`] | |
//! | functions as control flow graphs | [`mod@cfg`] | |
//! | the `llvm` dialect on the loop tree, and back | [`raising`] | `lift-cf-to-scf` |
//! | check that fusion and lowering commute | [`rewiring`] | `check-rewiring` |
//! | LLVM itself, behind feature `llvm` | `jit` | |
//!
//! Each step is one walk with side tables, linear in the program.
#![deny(unsafe_code)]

use loomir_ir::{Body, Diagnostics};

pub mod affine_to_scf;
pub mod cf_to_scf;
pub mod cfg;
mod emit;
pub mod expand_strided_metadata;
#[cfg(feature = "llvm")]
pub mod jit;
pub mod linalg_to_loops;
pub mod ll;
mod passes;
pub mod raising;
pub mod rewiring;
pub mod scf_to_cf;
pub mod scf_to_threads;
pub mod to_llvm;

pub use affine_to_scf::lower_affine;
pub use linalg_to_loops::convert_linalg_to_loops;
pub use ll::{from_ll, from_ll_in_part, is_ll, ll_outline, splice, to_ll};
pub use passes::PASSES;
pub use scf_to_cf::convert_scf_to_cf;
pub use to_llvm::{convert_to_llvm, convert_to_llvm_with, register};

/// Lowers a module all the way to the `llvm` dialect.
///
/// # Errors
/// The error of the first step that fails.
pub fn lower_to_llvm(module: &mut Body) -> Result<(), Diagnostics> {
    lower_to_llvm_with(module, to_llvm::Options::default())
}

/// Lowers a module all the way to the `llvm` dialect, with these conventions of functions.
///
/// # Errors
/// The error of the first step that fails.
pub fn lower_to_llvm_with(module: &mut Body, options: to_llvm::Options) -> Result<(), Diagnostics> {
    if to_llvm::is_converted(module) {
        return Ok(());
    }
    loomir_dialects::irdl::meaning::lower(module)?;
    convert_linalg_to_loops(module, linalg_to_loops::Loops::Scf)?;
    lower_affine(module)?;
    convert_scf_to_cf(module)?;
    convert_to_llvm_with(module, options)
}
