//! The passes that every compiler has: they simplify a program and change no loop.
//!
//! | module | pass |
//! | --- | --- |
//! | [`canonicalize`] | `canonicalize`: folding, patterns and dead code |
//! | [`control_flow_sink`] | `control-flow-sink`: operations that one side of a conditional uses |
//! | [`cse`] | `cse`: common subexpressions |
//! | [`dce`] | `dce`: dead code |
//! | [`int_range`] | `int-range-optimizations`: values and comparisons that ranges decide |
//! | [`inline`] | `inline`: calls replaced by the bodies of the called functions |
//! | [`licm`] | `loop-invariant-code-motion` |
//! | [`reconcile_casts`] | `reconcile-unrealized-casts`: casts that undo each other |
//! | [`remove_dead_values`] | `remove-dead-values`: arguments and results that nothing depends on |
//! | [`sccp`] | `sccp`: values that are one constant |
//! | [`sroa`] | `sroa`: stack memory split into its elements |
//! | [`symbol_dce`] | `symbol-dce`: private symbols that nothing refers to |
//!
//! Names are `mlir-opt`'s where it has the pass. Each asks [`effects`](crate::effects) for what an
//! operation may do, so all of them work on any dialect.

use loomir_ir::pass::PassInfo;

pub mod apply_patterns;
mod blocks;
pub mod canonicalize;
pub mod control_flow_sink;
pub mod cse;
pub mod dce;
pub mod inline;
pub mod int_range;
pub mod licm;
pub mod reconcile_casts;
pub mod remove_dead_values;
pub mod sccp;
pub mod sroa;
pub mod symbol_dce;
pub mod symbol_privatize;

/// The passes of this module.
pub(crate) const PASSES: &[PassInfo] = &[
    apply_patterns::PASS,
    canonicalize::PASS,
    control_flow_sink::PASS,
    cse::PASS,
    dce::PASS,
    inline::PASS,
    int_range::PASS,
    licm::PASS,
    reconcile_casts::PASS,
    remove_dead_values::PASS,
    sccp::PASS,
    sroa::PASS,
    symbol_dce::PASS,
    symbol_privatize::PASS,
];
