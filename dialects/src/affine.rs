//! The `affine` dialect: loops, branches and accesses whose bounds and subscripts are affine maps.
//!
//! Operands of a map are *dimensions*, then *symbols*. A dimension may be an induction variable of `affine.for` or
//! `affine.parallel`, an `affine.apply` of dimensions, or a symbol; a symbol is constant in the whole scope (see the validity rules in `affine/validity.rs`). So what an access touches is
//! an exact integer relation, never an approximation.
//!
//! A loop runs while its induction variable is below the least result of its upper bound map, from the greatest result of its lower
//! bound map, by a positive constant step.

use loomir_ir::{Registry, Type, dialect};

dialect! {
    /// Affine loops, conditions and accesses.
    pub AFFINE = "affine" {}

    /// The one result of an affine map.
    ApplyOp = "apply" {
        operands { mapOperands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
    }

    /// A counted loop with affine bounds and a constant step. Arguments, carried values and results as `scf.for`.
    ForOp = "for" {
        operands { lowerBoundOperands: Variadic Index, upperBoundOperands: Variadic Index, inits: Variadic Any }
        results { results: Variadic Any }
        attrs { lowerBoundMap: Required AffineMap, upperBoundMap: Required AffineMap, step: Required Index }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, AutomaticAllocationScope, RecursiveMemoryEffects]
    }

    /// Executes its first region if its operands are in the integer set, else its second.
    IfOp = "if" {
        operands { setOperands: Variadic Index }
        results { results: Variadic Any }
        attrs { condition: Required IntegerSet }
        regions { thenRegion: SingleBlock, elseRegion: AtMostOneBlock }
        traits [RecursiveMemoryEffects]
    }

    /// Reads one element of a memref; its subscripts are the results of a map.
    LoadOp = "load" {
        operands { memref: One MemRef, indices: Variadic Index }
        results { result: One ElementOf("memref") }
        attrs { map: Required AffineMap }
    }

    /// The least result of an affine map.
    MinOp = "min" {
        operands { operands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
    }

    /// The greatest result of an affine map.
    MaxOp = "max" {
        operands { operands: Variadic Index }
        results { result: One Index }
        attrs { map: Required AffineMap }
        traits [Pure]
    }

    /// A band of parallel loops. Bounds of all dimensions are in one map each; `…Groups` says how many results belong to each
    /// dimension. `reductions` says how each yielded value is combined.
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
    }

    /// Hints that an element will be read or written soon, and how long it is worth keeping near (0 to 3).
    PrefetchOp = "prefetch" {
        operands { memref: One MemRef, indices: Variadic Index }
        attrs {
            isWrite: Required Bool,
            localityHint: Required Integer(32),
            isDataCache: Required Bool,
            map: Required AffineMap,
        }
    }

    /// Writes one element of a memref; its subscripts are the results of a map.
    StoreOp = "store" {
        operands { value: One ElementOf("memref"), memref: One MemRef, indices: Variadic Index }
        attrs { map: Required AffineMap }
    }

    /// Ends a region, handing its operands to the operation around it.
    YieldOp = "yield" {
        operands { operands: Variadic Any }
        traits [Pure, Terminator, ReturnLike]
        format "attr-dict ($operands^ `:` type($operands))?"
    }

    /// Reads a vector of neighbouring elements of a memref, the first at the results of a map.
    VectorLoadOp = "vector_load" {
        operands { memref: One MemRef, indices: Variadic Index }
        results { result: One Vector }
        attrs { map: Required AffineMap }
    }

    /// Writes a vector to neighbouring elements of a memref, the first at the results of a map.
    VectorStoreOp = "vector_store" {
        operands { value: One Vector, memref: One MemRef, indices: Variadic Index }
        attrs { map: Required AffineMap }
    }

    /// Splits an index into its digits in a mixed-radix basis, most significant first. A basis shorter by one than the results
    /// leaves the first unbounded.
    DelinearizeIndexOp = "delinearize_index" {
        operands { linear_index: One Index, dynamic_basis: Variadic Index }
        results { multi_index: Variadic Index }
        attrs { static_basis: Required DenseArray(Type::I64) }
        traits [Pure]
    }

    /// Joins digits in a mixed-radix basis, most significant first, to one index. `disjoint` promises that each is below its base.
    LinearizeIndexOp = "linearize_index" {
        operands { multi_index: Variadic Index, dynamic_basis: Variadic Index }
        results { linear_index: One Index }
        attrs { static_basis: Required DenseArray(Type::I64), disjoint: Optional Unit }
        traits [Pure, AttrSizedOperandSegments]
    }
}

/// Makes the dialect and its interfaces known.
pub fn register(registry: &mut Registry) {
    registry.dialect(&AFFINE);
}
