//! The `memref` dialect: memory as multi-dimensional arrays.
//!
//! A memref is a pointer with sizes, strides and an offset. Some operations make objects (`alloc`,
//! `alloca`, `global`), some make other views of one (`cast`, `subview`, …: see
//! [`ViewLike`](crate::interfaces::ViewLike)), some access elements. This file is the table; the
//! folder beside it holds syntax, verifiers, folds and the interfaces.

use loomir_ir::{Registry, Type, dialect};

use crate::arith::ATOMIC_RMW_KIND;

mod dma;
pub(crate) mod evaluate;
mod fold;
mod interfaces;
pub(crate) mod layout;
pub(crate) mod patterns;
mod syntax;
mod verify;

pub use verify::views::{reassociation_groups, subview_drops};

pub(crate) use verify::is_alignment;
use verify::{globals, is_locality, views};

pub(crate) const POWER_OF_TWO: &str =
    "64-bit signless integer attribute whose value is positive and whose value is a power of two > 0";

dialect! {
    /// Memory as multi-dimensional arrays: making, viewing and accessing them.
    pub MEMREF = "memref" { constant crate::arith::materialize_constant; }

    /// Makes an object on the heap, uninitialised. An operand for each dynamic size, then, in
    /// brackets, one for each symbol of the layout map. It lives until `dealloc`.
    AllocOp = "alloc" {
        operands { dynamicSizes: Variadic Index, symbolOperands: Variadic Index }
        results { memref: One RankedMemRef }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        traits [AttrSizedOperandSegments, DistinctResults]
        format "`(`$dynamicSizes`)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)"
        verify_signature verify::alloc;
    }

    /// Makes an object on the stack, uninitialised. It lives until the scope around it ends: a
    /// function, or `alloca_scope`.
    AllocaOp = "alloca" {
        operands { dynamicSizes: Variadic Index, symbolOperands: Variadic Index }
        results { memref: One RankedMemRef }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        traits [AttrSizedOperandSegments, DistinctResults]
        format "`(`$dynamicSizes`)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)"
        verify verify::alloca;
    }

    /// An object of another size with the contents of the old one, as far as both have room; the
    /// old one's life ends.
    ReallocOp = "realloc" {
        operands { source: One Where("1D memref of any type values", layout::is_one_dimensional), dynamicResultSize: Optional Index }
        results { result: One Where("1D memref of any type values", layout::is_one_dimensional) }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        traits [DistinctResults]
        format "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)"
        verify_signature verify::realloc;
    }

    /// Ends the life of an object made by `alloc`, given the very memref that `alloc` returned.
    DeallocOp = "dealloc" {
        operands { memref: One MemRef }
        format "$memref attr-dict `:` type($memref)"
    }

    /// The element at a place. To be outside the memref is undefined behaviour.
    LoadOp = "load" {
        operands { memref: One RankedMemRef, indices: Variadic Index }
        results { result: One ElementOf("memref") }
        attrs { nontemporal: Implied = "false" Bool, alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$memref `[` $indices `]` attr-dict `:` type($memref)"
        verify_signature verify::load;
    }

    /// Writes the element at a place. To be outside the memref is undefined behaviour.
    StoreOp = "store" {
        operands { value: One ElementOf("memref"), memref: One RankedMemRef, indices: Variadic Index }
        attrs { nontemporal: Implied = "false" Bool, alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"
        verify_signature verify::store;
    }

    /// The size of a dimension. A dimension the memref does not have is undefined behaviour.
    DimOp = "dim" {
        operands { source: One Where("unranked.memref of any type values or non-0-ranked.memref of any type values", layout::has_dimensions), index: One Index }
        results { result: One Index }
        format "attr-dict $source `,` $index `:` type($source)"
        fold fold::dim;
    }

    /// The number of dimensions.
    RankOp = "rank" {
        operands { memref: One MemRef }
        results { result: One Index }
        traits [Pure]
        format "$memref attr-dict `:` type($memref)"
        fold fold::rank;
    }

    /// The same memref under a type that knows more or less of its sizes, strides and offset, or of
    /// its rank. What the new type claims must hold when it runs.
    CastOp = "cast" {
        operands { source: One MemRef }
        results { dest: One MemRef }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type($dest)"
        verify_signature views::cast;
        fold fold::cast;
    }

    /// The same memref in another memory space.
    MemorySpaceCastOp = "memory_space_cast" {
        operands { source: One MemRef }
        results { dest: One MemRef }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type($dest)"
        verify_signature views::memory_space_cast;
        fold fold::memory_space_cast;
    }

    /// Copies every element to a memref of the same shape. Undefined if the two overlap without
    /// being the same.
    CopyOp = "copy" {
        operands { source: One MemRef, target: One MemRef }
        format "$source `,` $target attr-dict `:` type($source) `to` type($target)"
        verify verify::copy;
    }

    /// A part of a memref: for each dimension an offset, a size and a stride, in elements of the
    /// source, each a number or an operand. Dimensions of size one may be dropped from the result's
    /// type.
    SubViewOp = "subview" {
        operands { source: One RankedMemRef, offsets: Variadic Index, sizes: Variadic Index, strides: Variadic Index }
        results { result: One RankedMemRef }
        attrs {
            static_offsets: Required DenseArray(Type::I64),
            static_sizes: Required DenseArray(Type::I64),
            static_strides: Required DenseArray(Type::I64),
        }
        traits [AttrSizedOperandSegments, Pure]
        syntax (syntax::parse_subview, syntax::print_subview);
        verify views::subview;
        fold fold::subview;
    }

    /// A memref of any type carved out of a buffer of bytes, from a byte on.
    ViewOp = "view" {
        operands { source: One Where("1D memref of 8-bit signless integer values", layout::is_byte_buffer), byte_shift: One Index, sizes: Variadic Index }
        results { result: One RankedMemRef }
        traits [Pure]
        format "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)"
        verify views::view;
        fold fold::view;
    }

    /// A memref over the same object. Its sizes, strides and offset do not depend on those of the
    /// source.
    ReinterpretCastOp = "reinterpret_cast" {
        operands { source: One MemRef, offsets: Variadic Index, sizes: Variadic Index, strides: Variadic Index }
        results { result: One Where("strided memref of any type values", layout::is_strided) }
        attrs {
            static_offsets: Required DenseArray(Type::I64),
            static_sizes: Required DenseArray(Type::I64),
            static_strides: Required DenseArray(Type::I64),
        }
        traits [AttrSizedOperandSegments, Pure]
        syntax (syntax::parse_reinterpret_cast, syntax::print_reinterpret_cast);
        verify views::reinterpret_cast;
        fold fold::reinterpret_cast;
    }

    /// A memref of the sizes another memref holds, over the same contiguous object.
    ReshapeOp = "reshape" {
        operands { source: One MemRef, shape: One Where("1D memref of signless integer or index values", layout::is_shape_buffer) }
        results { result: One MemRef }
        format "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"
        verify views::reshape;
    }

    /// The same elements in more dimensions: each dimension of the source becomes a group of
    /// dimensions.
    ExpandShapeOp = "expand_shape" {
        operands { src: One Where("strided memref of any type values", layout::is_strided), output_shape: Variadic Index }
        results { result: One Where("strided memref of any type values", layout::is_strided) }
        attrs {
            reassociation: Required Where("Array of 64-bit integer array attributes", views::is_index_list_array),
            static_output_shape: Required DenseArray(Type::I64),
        }
        traits [Pure]
        syntax (syntax::parse_expand_shape, syntax::print_expand_shape);
        verify views::expand_shape;
        fold fold::expand_shape;
    }

    /// The same elements in fewer dimensions: each group of dimensions of the source becomes one.
    /// The groups must be contiguous.
    CollapseShapeOp = "collapse_shape" {
        operands { src: One Where("strided memref of any type values", layout::is_strided) }
        results { result: One Where("strided memref of any type values", layout::is_strided) }
        attrs { reassociation: Required Where("Array of 64-bit integer array attributes", views::is_index_list_array) }
        traits [Pure]
        format "$src $reassociation attr-dict `:` type($src) `into` type($result)"
        verify views::collapse_shape;
        fold fold::collapse_shape;
    }

    /// The same elements with the dimensions in another order.
    TransposeOp = "transpose" {
        operands { r#in: One Where("strided memref of any type values", layout::is_strided) }
        results { result: One Where("strided memref of any type values", layout::is_strided) }
        attrs { permutation: Required AffineMap }
        traits [Pure]
        syntax (syntax::parse_transpose, syntax::print_transpose);
        verify views::transpose;
        fold fold::transpose;
    }

    /// The aligned pointer inside a memref, as an index.
    ExtractAlignedPointerAsIndexOp = "extract_aligned_pointer_as_index" {
        operands { source: One MemRef }
        results { aligned_pointer: One Index }
        traits [Pure]
        format "$source `:` type($source) `->` type(results) attr-dict"
    }

    /// The parts of a memref: its object as a memref of rank zero, its offset, its sizes and its
    /// strides.
    ExtractStridedMetadataOp = "extract_strided_metadata" {
        operands { source: One Where("strided memref of any type values", layout::is_strided) }
        results {
            base_buffer: One Where("strided memref of any type values of rank 0", layout::is_strided_scalar),
            offset: One Index,
            sizes: Variadic Index,
            strides: Variadic Index,
        }
        traits [Pure]
        syntax (syntax::parse_extract_strided_metadata, syntax::print_extract_strided_metadata);
        verify views::extract_strided_metadata;
    }

    /// An object that lives as long as the program, by name. Uninitialised if `initial_value` is
    /// `unit`, declared elsewhere if there is none, never written if `constant`.
    GlobalOp = "global" {
        attrs {
            sym_name: Required String,
            sym_visibility: Optional String,
            r#type: Required Where("memref type attribute", globals::is_memref_type),
            initial_value: Optional Any,
            constant: Optional Unit,
            alignment: Optional Where(POWER_OF_TWO, is_alignment),
        }
        traits [Symbol]
        syntax (syntax::parse_global, syntax::print_global);
        verify globals::global;
    }

    /// A global as a memref.
    GetGlobalOp = "get_global" {
        results { result: One Where("statically shaped memref of any type values", layout::is_static) }
        attrs { name: Required FlatSymbol }
        traits [Pure]
        format "$name `:` type($result) attr-dict"
    }

    /// The same memref, assumed to be aligned to `alignment` bytes. An access is undefined
    /// behaviour if it is not.
    AssumeAlignmentOp = "assume_alignment" {
        operands { memref: One RankedMemRef }
        results { result: One RankedMemRef }
        attrs { alignment: Required Integer(32) }
        traits [Pure, SameOperandsAndResultType]
        format "$memref `,` $alignment attr-dict `:` type($memref)"
        verify verify::assume_alignment;
    }

    /// The same memrefs, assumed not to overlap: an access through one never touches memory that
    /// another one accesses.
    DistinctObjectsOp = "distinct_objects" {
        operands { operands: Variadic RankedMemRef }
        results { results: Variadic RankedMemRef }
        traits [Pure]
        syntax (syntax::parse_distinct_objects, syntax::print_distinct_objects);
        verify verify::distinct_objects;
    }

    /// Starts an asynchronous copy of elements from one memory to another: a number of elements
    /// from a place on, in the slower memory optionally in strided pieces. `dma_wait` on the same
    /// element of the tag waits for the end. Not executed: the meaning of ranks and strides depends
    /// on the device.
    DmaStartOp = "dma_start" {
        operands { operands: Variadic Any }
        syntax (dma::parse_start, dma::print_start);
        verify dma::verify_start;
    }

    /// Waits until the transfer with this tag has ended.
    DmaWaitOp = "dma_wait" {
        operands { tagMemRef: One RankedMemRef, tagIndices: Variadic Index, numElements: One Index }
        format "$tagMemRef `[` $tagIndices `]` `,` $numElements attr-dict `:` type($tagMemRef)"
        verify dma::verify_wait;
    }

    /// Reads an element, combines it with a value and writes it back, all at once. The result is
    /// the element read.
    AtomicRMWOp = "atomic_rmw" {
        operands {
            value: One Where("signless integer or floating-point", verify::is_atomic_element),
            memref: One Where("memref of signless integer or floating-point values", layout::is_atomic_memref),
            indices: Variadic Index,
        }
        results { result: One SameAs("value") }
        attrs { kind: Required Enum(&ATOMIC_RMW_KIND) }
        format "$kind $value `,` $memref `[` $indices `]` attr-dict `:` `(` type($value) `,` type($memref) `)` `->` type($result)"
        verify verify::atomic_rmw;
    }

    /// Reads an element, computes a new one in its region and writes it back, all at once. The
    /// result is the element read.
    GenericAtomicRMWOp = "generic_atomic_rmw" {
        operands {
            memref: One Where("memref of signless integer or floating-point values", layout::is_atomic_memref),
            indices: Variadic Index,
        }
        results { result: One ElementOf("memref") }
        regions { atomic_body: SingleBlock }
        syntax (syntax::parse_generic_atomic_rmw, syntax::print_generic_atomic_rmw);
        verify verify::generic_atomic_rmw;
    }

    /// Ends the region of `generic_atomic_rmw` with the new element.
    AtomicYieldOp = "atomic_yield" {
        operands { result: One Any }
        traits [Pure, ReturnLike, Terminator]
        format "$result attr-dict `:` type($result)"
        verify verify::atomic_yield;
    }

    /// A scope that ends the life of stack objects made inside it.
    AllocaScopeOp = "alloca_scope" {
        results { results: Variadic Any }
        regions { bodyRegion: SingleBlock }
        traits [AutomaticAllocationScope, RecursiveMemoryEffects]
        syntax (syntax::parse_alloca_scope, syntax::print_alloca_scope);
        verify verify::alloca_scope;
    }

    /// Ends `alloca_scope` and gives its results.
    AllocaScopeReturnOp = "alloca_scope.return" {
        operands { results: Variadic Any }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($results^ `:` type($results))?"
        verify verify::alloca_scope_return;
    }

    /// A hint that an element will be read or written soon: from 0 (no locality) to 3 (keep it
    /// close), in the data or the instruction cache.
    PrefetchOp = "prefetch" {
        operands { memref: One RankedMemRef, indices: Variadic Index }
        attrs {
            isWrite: Required Bool,
            localityHint: Required Where("32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3", is_locality),
            isDataCache: Required Bool,
        }
        syntax (syntax::parse_prefetch, syntax::print_prefetch);
        verify verify::prefetch;
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&MEMREF);
    interfaces::register(registry);
    evaluate::register(registry);
    for patterns in [patterns::PATTERNS, patterns::sizes::PATTERNS, patterns::views::PATTERNS] {
        registry.patterns(patterns);
    }
}
