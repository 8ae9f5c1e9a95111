//! The `affine` dialect: loops, branches and accesses whose bounds and subscripts are affine maps.
//!
//! Operands of a map are *dimensions*, then *symbols*. A dimension may be an induction variable of
//! `affine.for` or `affine.parallel`, an `affine.apply` of dimensions, or a symbol; a symbol is
//! constant in the whole scope (see [`validity`]). The elements that an access touches are
//! therefore an exact integer relation, never an approximation.
//!
//! A loop runs while its induction variable is below the least result of its upper bound map, from
//! the greatest result of its lower bound map, by a positive constant step.

use loomir_ir::{Attr, Body, Op, Registry, Type, dialect};

mod access;
mod dma;
mod evaluate;
mod flatten;
mod fold;
mod interfaces;
mod operands;
pub mod parallel;
pub(crate) mod patterns;
mod syntax;
pub mod validity;
mod verify;

/// True if an operation is a loop of the dialect. Its induction variables may be subscripts and
/// bounds of other operations.
pub fn is_loop(body: &Body, op: Op) -> bool {
    [ForOp::DEF, ParallelOp::DEF].into_iter().any(|def| body.is(op, def))
}

dialect! {
    /// Affine loops, conditions and accesses.
    pub AFFINE = "affine" {}

    /// The single result of an affine map.
    ApplyOp = "apply" {
        operands { mapOperands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
        syntax (syntax::parse_apply, syntax::print_apply);
        verify verify::verify_apply;
        fold fold::fold_apply;
    }

    /// A counted loop with affine bounds and a constant step. Arguments, carried values and results
    /// as `scf.for`.
    ForOp = "for" {
        operands { lowerBoundOperands: Variadic Index, upperBoundOperands: Variadic Index, inits: Variadic Any }
        results { results: Variadic Any }
        attrs { lowerBoundMap: Required AffineMap, upperBoundMap: Required AffineMap, step: Required Index }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, AutomaticAllocationScope, RecursiveMemoryEffects]
        syntax (syntax::parse_for, syntax::print_for);
        verify verify::verify_for;
        fold fold::fold_for;
    }

    /// Executes its first region if its operands are in the integer set, else its second.
    IfOp = "if" {
        operands { setOperands: Variadic Index }
        results { results: Variadic Any }
        attrs { condition: Required IntegerSet }
        regions { thenRegion: SingleBlock, elseRegion: AtMostOneBlock }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_if, syntax::print_if);
        verify verify::verify_if;
    }

    /// Reads one element of a memref; its subscripts are the results of a map.
    LoadOp = "load" {
        operands { memref: One MemRef, indices: Variadic Index }
        results { result: One Any }
        attrs { map: Required AffineMap }
        syntax (access::parse_load, access::print_load);
        verify verify::verify_load;
    }

    /// The least result of an affine map.
    MinOp = "min" {
        operands { operands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
        syntax (syntax::parse_apply, syntax::print_apply);
        verify verify::verify_min_max;
        fold fold::fold_min;
    }

    /// The greatest result of an affine map.
    MaxOp = "max" {
        operands { operands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
        syntax (syntax::parse_apply, syntax::print_apply);
        verify verify::verify_min_max;
        fold fold::fold_max;
    }

    /// A band of parallel loops. Bounds of all dimensions are in one map each; `…Groups` says how
    /// many results belong to each dimension. `reductions` says how each yielded value is combined.
    ParallelOp = "parallel" {
        operands { mapOperands: Variadic Index }
        results { results: Variadic Any }
        attrs {
            reductions: Required Array,
            lowerBoundsMap: Required AffineMap,
            lowerBoundsGroups: Required Elements,
            upperBoundsMap: Required AffineMap,
            upperBoundsGroups: Required Elements,
            steps: Required Array,
        }
        regions { region: SingleBlock }
        traits [AutomaticAllocationScope, RecursiveMemoryEffects]
        syntax (parallel::parse, parallel::print);
        verify parallel::verify;
    }

    /// Hints that an element will be read or written soon, and how long it is worth keeping near (0
    /// to 3).
    PrefetchOp = "prefetch" {
        operands { memref: One MemRef, indices: Variadic Index }
        attrs {
            isWrite: Required Bool,
            localityHint: Required Integer(32),
            isDataCache: Required Bool,
            map: Required AffineMap,
        }
        syntax (access::parse_prefetch, access::print_prefetch);
        verify verify::verify_prefetch;
    }

    /// Writes one element of a memref; its subscripts are the results of a map.
    StoreOp = "store" {
        operands { value: One Any, memref: One MemRef, indices: Variadic Index }
        attrs { map: Required AffineMap }
        syntax (access::parse_store, access::print_store);
        verify verify::verify_store;
    }

    /// Ends a region, handing its operands to the operation around it.
    YieldOp = "yield" {
        operands { operands: Variadic Any }
        traits [Pure, Terminator, ReturnLike]
        format "attr-dict ($operands^ `:` type($operands))?"
        verify verify::verify_yield;
    }

    /// Reads a vector of neighbouring elements of a memref, the first at the results of a map.
    VectorLoadOp = "vector_load" {
        operands { memref: One MemRef, indices: Variadic Index }
        results { result: One Vector }
        attrs { map: Required AffineMap }
        syntax (access::parse_vector_load, access::print_vector_load);
        verify verify::verify_vector_load;
    }

    /// Writes a vector to neighbouring elements of a memref, the first at the results of a map.
    VectorStoreOp = "vector_store" {
        operands { value: One Vector, memref: One MemRef, indices: Variadic Index }
        attrs { map: Required AffineMap }
        syntax (access::parse_vector_store, access::print_vector_store);
        verify verify::verify_vector_store;
    }

    /// As `memref.dma_start`, with affine subscripts, in the attributes `src_map`, `dst_map` and
    /// `tag_map`.
    DmaStartOp = "dma_start" {
        operands { operands: Variadic Any }
        syntax (dma::parse_start, dma::print);
        verify dma::verify;
    }

    /// As `memref.dma_wait`, with affine subscripts, in the attribute `tag_map`.
    DmaWaitOp = "dma_wait" {
        operands { operands: Variadic Any }
        syntax (dma::parse_wait, dma::print);
        verify dma::verify;
    }

    /// Splits an index into its digits in a mixed-radix basis, most significant first. A basis
    /// shorter by one than the results leaves the first unbounded.
    DelinearizeIndexOp = "delinearize_index" {
        operands { linear_index: One Index, dynamic_basis: Variadic Index }
        results { multi_index: Variadic Index }
        attrs { static_basis: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_delinearize, syntax::print_delinearize);
        verify verify::verify_delinearize;
        fold fold::fold_delinearize;
    }

    /// Joins digits in a mixed-radix basis, most significant first, to one index. `disjoint`
    /// promises that each is below its base.
    LinearizeIndexOp = "linearize_index" {
        operands { multi_index: Variadic Index, dynamic_basis: Variadic Index }
        results { linear_index: One Index }
        attrs { static_basis: Required DenseArray(Type::I64), disjoint: Default = "false" Where("unit attribute or false", |_, attr| attr == Attr::UNIT || attr == Attr::FALSE) }
        traits [Pure, AttrSizedOperandSegments]
        syntax (syntax::parse_linearize, syntax::print_linearize);
        verify verify::verify_linearize;
        fold fold::fold_linearize;
    }
}

/// Registers the dialect and its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&AFFINE);
    evaluate::register(registry);
    interfaces::register(registry);
    registry.patterns(patterns::PATTERNS);
}
