//! Loomir's dialects and the reference interpreter.
//!
//! Each dialect has one file with its operations as a table (see [`mod@loomir_ir::dialect`]) and,
//! beside it in a folder of the same name, their syntax, verifiers, folds and interfaces.
//! [`register_all`] registers all of them.
#![forbid(unsafe_code)]

pub mod affine;
pub mod arith;
pub mod branch;
pub mod builtin;
pub mod cf;
mod checks;
pub mod control;
mod elements;
pub mod float;
pub mod func;
pub mod index;
pub mod interfaces;
pub mod interp;
pub mod irdl;
pub mod linalg;
pub mod llvm;
pub mod loomir;
pub mod math;
pub mod memref;
mod names;
pub mod pdl;
pub mod ranges;
pub mod scf;
mod syntax;
pub mod transform;
pub mod ub;
pub mod vector;

use loomir_ir::{Context, Registry};

/// Registers every dialect of this crate with all its interfaces.
pub fn register_all(registry: &mut Registry) {
    builtin::register(registry);
    func::register(registry);
    arith::register(registry);
    math::register(registry);
    vector::register(registry);
    index::register(registry);
    memref::register(registry);
    ub::register(registry);
    affine::register(registry);
    linalg::register(registry);
    scf::register(registry);
    cf::register(registry);
    llvm::register(registry);
    transform::register(registry);
    irdl::register(registry);
    pdl::register(registry);
    loomir::register(registry);
    for (dialect, help) in ELSEWHERE {
        registry.elsewhere(dialect, help);
    }
}

/// Dialects that other tools convert to these, and the way.
const ELSEWHERE: [(&str, &str); 5] = [
    ("linalg", LINALG),
    ("tensor", TENSORS),
    ("bufferization", TENSORS),
    ("transform", SCHEDULES),
    (
        "tosa",
        "make 'linalg' of it first: mlir-opt -pass-pipeline='builtin.module(func.func(tosa-to-linalg))' IN -o OUT",
    ),
];

/// The way from `linalg` to loops.
const LINALG: &str = "make loops of it first: loomir opt --convert-linalg-to-affine-loops IN -o OUT \
                      (operations that Loomir does not have: mlir-opt -convert-linalg-to-loops)";

/// The operations of schedules that there are.
const SCHEDULES: &str = "there are the control flow of schedules, 'structured.match', passes, and of \
                         loops: loop.unroll, unroll_and_jam, peel, coalesce, fuse_sibling, outline, \
                         promote_if_one_iteration, forall_to_for, parallel_for_to_nested_fors, and \
                         'loomir.tile', interchange, skew, fuse, … for the rest";

/// The way from tensors to loops.
const TENSORS: &str = "make memrefs and loops first: \
    mlir-opt -one-shot-bufferize=bufferize-function-boundaries -convert-linalg-to-loops IN -o OUT";

/// Returns a context with every dialect of this crate.
pub fn context() -> Context {
    let mut registry = Registry::new();
    register_all(&mut registry);
    Context::new(registry)
}
