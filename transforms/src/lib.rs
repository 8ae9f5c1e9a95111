//! Dependences, legality and the loop transformations of Loomir.
//!
//! | module | holds |
//! | --- | --- |
//! | [`effects`] | effects of operations with everything inside them |
//! | [`dataflow`] | sparse data-flow analysis: constants, liveness, facts of one's own |
//! | [`simplify`] | folding, common subexpressions, dead code, invariant code |
//! | [`affine`] | integer values as affine forms, with facts and ranges |
//! | [`access`] | accesses of operations: objects, subscripts, iteration domains; dependences between two accesses |
//! | [`approximation`] | functions that may be approximate become arithmetic |
//! | [`assumption`] | the assumptions of a fast version, tested before it |
//! | [`tree`] | the loop tree: immutable, shared, many variants at once |
//! | [`flow`] | the last writers of reads |
//! | [`legality`] | the one question: does an edit keep every dependence |
//! | [`listing`] | the dependences of a program, for people to read |
//! | [`cost`] | the cost of loops, and the saving of fusing them |
//! | [`fusion`] | neighbouring loops become one |
//! | [`distribution`] | a loop becomes several |
//! | [`unrolling`] | the decision to peel or unroll a loop |
//! | [`transform`] | transformations that propose edits: strip-mining, peeling, unrolling, unroll-and-jam, flattening |
//! | [`catalogue`] | the loop transformations that have pages in the book |
//! | [`schedule`] | programs of the `transform` dialect that transform loops |
//! | [`directive`] | loop transformations that the source asks for, in the notation of OpenMP |
//! | [`idioms`] | loops that fill or copy whole memrefs become one operation |
//! | [`while_to_for`] | counting `scf.while` loops become `scf.for` |
//! | [`scf_to_affine`] | loops, conditions and accesses become those of `affine` |
//! | [`guard_folding`] | guards of loops that run no iteration without them go |
//! | [`carried_loads`] | loads that a loop carries to its next iteration become loads there again |
//! | [`nest_sinking`] | a loop around one other loop becomes a perfect nest |
//! | [`if_to_select`] | pure conditionals become selections |
//! | [`saturate`] | integer expressions become the cheapest equal ones |
//! | [`mem2reg`] | memory that is only loaded and stored becomes values |
//! | [`prefetch`] | innermost loops ask ahead for memory |
//! | [`privatization`] | a buffer for each iteration |
//! | [`padding`] | longer rows of local arrays |
//! | [`promotion`] | elements that a loop keeps in a register |
//! | [`contraction`] | arrays become values or smaller ones |
//! | [`regenerate`] | from an approved tree back to IR |
//! | [`inventory`] | the accesses of counted loops, and why some are not affine |
//! | [`remark`] | remarks of passes |
//!
//! No two modules use each other. The layers are
//! `affine`, `access`, `tree`, `legality`, and on top the modules that propose, choose, write or
//! list.
#![forbid(unsafe_code)]

use loomir_ir::pass::PassInfo;

pub use loomir_polyhedra as polyhedra;

pub mod access;
pub mod affine;
pub mod approximation;
pub mod assumption;
pub mod carried_loads;
pub mod catalogue;
pub mod contraction;
pub mod cost;
pub mod dataflow;
pub mod directive;
pub mod distribution;
pub mod effects;
mod equal;
mod expansion;
pub mod flow;
pub mod fusion;
pub mod guard_folding;
pub mod idioms;
pub mod if_to_select;
pub mod inventory;
mod iterations;
pub mod legality;
pub mod listing;
mod lookup;
pub mod marks;
pub mod mem2reg;
mod naming;
pub mod nest_sinking;
pub mod packing;
pub mod padding;
pub mod prefetch;
pub mod privatization;
pub mod promotion;
mod references;
pub mod regenerate;
pub mod remark;
pub mod saturate;
pub mod scf_to_affine;
pub mod schedule;
pub mod simplify;
pub mod transform;
pub mod tree;
pub mod unrolling;
pub mod while_to_for;
pub(crate) mod widening;

/// Returns the passes of this crate.
pub fn passes() -> impl Iterator<Item = &'static PassInfo> {
    PASSES.iter().chain(simplify::PASSES).chain(transform::ALL.iter().map(|(pass, _)| pass))
}

/// The passes that are no [transformations](transform).
const PASSES: &[PassInfo] = &[
    distribution::PASS,
    fusion::PASS,
    contraction::PASS,
    packing::PASS,
    padding::PASS,
    prefetch::PASS,
    privatization::PASS,
    promotion::PASS,
    transform::tile_by::PASS,
    guard_folding::PASS,
    nest_sinking::PASS,
    carried_loads::PASS,
    idioms::PASS,
    if_to_select::PASS,
    scf_to_affine::PASS,
    approximation::PASS,
    while_to_for::PASS,
    saturate::PASS,
    listing::PASS,
    mem2reg::PASS,
];
