//! Loomir's dialects and the reference interpreter.
//!
//! One file a dialect, with its operations as a table (see [`mod@loomir_ir::dialect`]) and, beside it in a folder of the same name, their
//! syntax, verifiers, folds and interfaces. [`register_all`] makes a registry know them all.
#![forbid(unsafe_code)]

pub mod affine;
pub mod arith;
pub mod branch;
pub mod builtin;
pub mod cf;
mod checks;
mod elements;
pub mod float;
pub mod func;
pub mod index;
pub mod interfaces;
pub mod interp;
pub mod llvm;
pub mod math;
pub mod memref;
mod names;
pub mod scf;
mod syntax;
pub mod ub;

use loomir_ir::{Context, Registry};

/// Registers every dialect of this crate with all its interfaces.
pub fn register_all(registry: &mut Registry) {
    builtin::register(registry);
    func::register(registry);
    arith::register(registry);
    math::register(registry);
    index::register(registry);
    memref::register(registry);
    ub::register(registry);
    affine::register(registry);
    scf::register(registry);
    cf::register(registry);
    llvm::register(registry);
}

/// A context that knows every dialect of this crate.
pub fn context() -> Context {
    let mut registry = Registry::new();
    register_all(&mut registry);
    Context::new(registry)
}
