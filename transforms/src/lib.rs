//! Dependences, legality and the loop transformations of Loomir.
//!
//! | module | holds |
//! | --- | --- |
//! | [`dependence`] | what loops touch: affine forms, base objects, access classes |
//! | [`tree`] | the loop tree: immutable, shared, many variants at once |
//! | [`analyses`] | what is asked of dependences, values, accesses and conditions, behind interfaces |
//! | [`assumption`] | what a fast version assumes, and what is tested before it |
//! | [`legality`] | the one question: does an edit keep every dependence |
//! | [`cost`] | what loops cost, and what fusing them saves |
//! | [`fusion`] | neighbouring loops become one |
//! | [`distribution`] | a loop becomes several |
//! | [`transform`] | what proposes edits: strip-mining, peeling |
//! | [`while_to_for`] | loops that count, written as such |
//! | [`if_to_select`] | conditionals that only compute become selections |
//! | [`simplify`] | when two integer expressions are one number |
//! | [`saturate`] | integer expressions become the cheapest that are equal |
//! | [`mem2reg`] | memory that is only loaded and stored becomes values |
//! | [`contraction`] | arrays become values or smaller ones |
//! | [`canonicalize`] | folding and dead code |
//! | [`regenerate`] | from an approved tree back to IR |
//! | [`remark`] | what passes say |
#![forbid(unsafe_code)]

use loomir_ir::pass::PassInfo;

pub use loomir_polyhedra as polyhedra;

pub mod analyses;
pub mod assumption;
pub mod canonicalize;
pub mod contraction;
pub mod cost;
pub mod dependence;
pub mod distribution;
mod expansion;
pub mod fusion;
pub mod if_to_select;
pub mod legality;
mod lookup;
mod marks;
pub mod mem2reg;
pub mod regenerate;
pub mod remark;
pub mod saturate;
pub mod simplify;
pub mod transform;
pub mod tree;
pub mod while_to_for;

/// Returns the passes of this crate.
pub fn passes() -> impl Iterator<Item = &'static PassInfo> {
    PASSES.iter().chain(transform::ALL.iter().map(|(pass, _)| pass))
}

/// Those that are no [transformations](transform).
const PASSES: &[PassInfo] = &[
    canonicalize::PASS,
    distribution::PASS,
    fusion::PASS,
    contraction::PASS,
    if_to_select::PASS,
    while_to_for::PASS,
    saturate::PASS,
    dependence::listing::PASS,
    mem2reg::PASS,
];
