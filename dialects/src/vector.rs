//! The `vector` dialect: values of several elements, and accesses to several elements of memory.
//!
//! This file is the table. The folder beside it holds syntax, verifiers, folds, execution and the
//! interfaces. Vectors are row-major; a vector without dimensions has one element.
//!
//! # Rules where MLIR leaves a choice
//!
//! - A load or store of a vector is undefined behaviour if an element is outside of a dimension of
//!   the memref. Elements that the mask switches off are not touched, wherever they are.
//! - `gather` and `scatter` count their indices along the last dimension. An index may lead to
//!   another row: any element of the object may be touched.
//! - `transfer_read` and `transfer_write` may begin behind the end of a dimension that is not
//!   `in_bounds`. It is undefined behaviour to begin before its start, or outside of a dimension
//!   that the vector does not have.
//! - Float reductions run from the first element to the last, whatever `fastmath` allows.
//!   `contract` rounds each product. `outerproduct` with `<add>` rounds once, as MLIR lowers it.
//! - A position outside of a vector gives poison.
//!
//! # Limits
//!
//! - Scalable vectors, `vscale`, `scalable.insert`, `scalable.extract`, `type_cast`, `mask` and
//!   `print` are read, verified and printed, but neither executed nor lowered. So are transfers,
//!   `gather` and `scatter` on tensors, and accesses to memrefs of vectors.
//! - Lowered to LLVM are the operations of `lowering/src/to_llvm/vector.rs`.

use loomir_ir::opdef::EnumStorage;
use loomir_ir::{EnumDef, Registry, Type, dialect};

use crate::arith::FASTMATH;
use crate::memref::{POWER_OF_TWO, is_alignment};

pub mod contraction;
pub(crate) mod evaluate;
mod fold;
pub mod interfaces;
pub mod rearrange;
pub mod shape;
mod syntax;
mod verify;

use shape::{
    is_base, is_line, is_line_of_index, is_printable, is_ranked_tensor, is_scalable_line, is_shaped,
};
use shape::{is_bools, is_fixed, is_fixed_bools, is_floats, is_integers, is_ranked, is_ranked_bools};

/// The operations that combine two elements to one.
pub static COMBINING_KIND: EnumDef = EnumDef {
    name: "vector.kind",
    cases: &[
        ("add", 0),
        ("mul", 1),
        ("minui", 2),
        ("minsi", 3),
        ("minnumf", 4),
        ("maxui", 5),
        ("maxsi", 6),
        ("maxnumf", 7),
        ("and", 8),
        ("or", 9),
        ("xor", 10),
        ("minimumf", 11),
        ("maximumf", 12),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

/// The kinds of dimensions of a contraction.
pub static ITERATOR_TYPE: EnumDef = EnumDef {
    name: "vector.iterator_type",
    cases: &[("parallel", 0), ("reduction", 1)],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

/// The text that `print` puts behind a value.
pub static PUNCTUATION: EnumDef = EnumDef {
    name: "vector.punctuation",
    cases: &[("no_punctuation", 0), ("newline", 1), ("comma", 2), ("open", 3), ("close", 4)],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

const RANKED: &str = "vector of any type values";
const FIXED: &str = "fixed-length vector of any type values";
const BOOLS: &str = "vector of 1-bit signless integer values";
const FIXED_BOOLS: &str = "fixed-length vector of 1-bit signless integer values";
const FLOATS: &str = "vector of floating-point values";
const INTEGERS: &str = "vector of integer or index values";
const LINE: &str = "vector of any type values of ranks 1";
const LINE_OF_INDEX: &str = "vector of index values of ranks 1";
const SCALABLE_LINE: &str = "scalable vector of any type values of ranks 1";
const SHAPED: &str = "shaped of any type values";
const BASE: &str = "Tensor or MemRef of any type values";
const RANKED_TENSOR: &str = "ranked tensor of any type values";
const PRINTABLE: &str = "";

dialect! {
    /// Values of several elements, and accesses to several elements of memory.
    pub VECTOR = "vector" {
        enums [COMBINING_KIND, ITERATOR_TYPE, PUNCTUATION]
        constant crate::arith::materialize_constant;
    }

    /// Reads neighbouring elements: a part of the memref's last dimensions, from a place on.
    LoadOp = "load" {
        operands { base: One RankedMemRef, indices: Variadic Index }
        results { result: One Vector }
        attrs { nontemporal: Implied = "false" Bool, alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"
        verify_signature verify::memory::load;
    }

    /// Writes neighbouring elements: a part of the memref's last dimensions, from a place on.
    StoreOp = "store" {
        operands { valueToStore: One Vector, base: One RankedMemRef, indices: Variadic Index }
        attrs { nontemporal: Implied = "false" Bool, alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)"
        verify_signature verify::memory::store;
    }

    /// Reads neighbouring elements where the mask is true. The others are those of `pass_thru`.
    MaskedLoadOp = "maskedload" {
        operands {
            base: One RankedMemRef,
            indices: Variadic Index,
            mask: One Where(BOOLS, is_ranked_bools),
            pass_thru: One Where(RANKED, is_ranked),
        }
        results { result: One Where(RANKED, is_ranked) }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
        verify_signature verify::memory::masked_load;
    }

    /// Writes neighbouring elements where the mask is true.
    MaskedStoreOp = "maskedstore" {
        operands {
            base: One RankedMemRef,
            indices: Variadic Index,
            mask: One Where(BOOLS, is_ranked_bools),
            valueToStore: One Where(RANKED, is_ranked),
        }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
        verify_signature verify::memory::masked_store;
    }

    /// Reads the elements at a place plus each index, where the mask is true. The others are those
    /// of `pass_thru`.
    GatherOp = "gather" {
        operands {
            base: One Where(BASE, is_base),
            offsets: Variadic Index,
            indices: One Where(INTEGERS, is_integers),
            mask: One Where(BOOLS, is_ranked_bools),
            pass_thru: One Where(RANKED, is_ranked),
        }
        results { result: One Where(RANKED, is_ranked) }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($indices)  `,` type($mask) `,` type($pass_thru) `into` type($result)"
        verify_signature verify::memory::gather;
    }

    /// Writes elements at a place plus each index, where the mask is true. Of two with the same
    /// index the later one stays.
    ScatterOp = "scatter" {
        operands {
            base: One Where(BASE, is_base),
            offsets: Variadic Index,
            indices: One Where(INTEGERS, is_integers),
            mask: One Where(BOOLS, is_ranked_bools),
            valueToStore: One Where(RANKED, is_ranked),
        }
        results { result: Optional Where(RANKED_TENSOR, is_ranked_tensor) }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($indices)  `,` type($mask) `,` type($valueToStore) (`->` type($result)^)?"
        verify_signature verify::memory::scatter;
    }

    /// Reads as many neighbouring elements as the mask has true ones, and spreads them there. The
    /// others are those of `pass_thru`.
    ExpandLoadOp = "expandload" {
        operands {
            base: One RankedMemRef,
            indices: Variadic Index,
            mask: One Where(FIXED_BOOLS, is_fixed_bools),
            pass_thru: One Where(RANKED, is_ranked),
        }
        results { result: One Where(RANKED, is_ranked) }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
        verify_signature verify::memory::masked_load;
    }

    /// Writes the elements whose mask is true to neighbouring places.
    CompressStoreOp = "compressstore" {
        operands {
            base: One RankedMemRef,
            indices: Variadic Index,
            mask: One Where(FIXED_BOOLS, is_fixed_bools),
            valueToStore: One Where(RANKED, is_ranked),
        }
        attrs { alignment: Optional Where(POWER_OF_TWO, is_alignment) }
        format "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore)"
        verify_signature verify::memory::masked_store;
    }

    /// Reads a part of a memref or tensor. The map names the dimension behind each dimension of the
    /// vector, or 0 to repeat. Elements outside, or switched off by the mask, are `padding`.
    TransferReadOp = "transfer_read" {
        operands {
            base: One Where(SHAPED, is_shaped),
            indices: Variadic Index,
            padding: One Any,
            mask: Optional Where(BOOLS, is_ranked_bools),
        }
        results { vector: One Vector }
        attrs { permutation_map: Required AffineMap, in_bounds: Required Where("1-bit boolean array attribute", verify::transfer::is_bool_array) }
        traits [AttrSizedOperandSegments]
        syntax (syntax::transfer::parse_read, syntax::transfer::print_read);
        verify_signature verify::transfer::read;
    }

    /// Writes a part of a memref or tensor. The map names the dimension behind each dimension of
    /// the vector. Elements outside, or switched off by the mask, are not written.
    TransferWriteOp = "transfer_write" {
        operands {
            valueToStore: One Vector,
            base: One Where(SHAPED, is_shaped),
            indices: Variadic Index,
            mask: Optional Where(BOOLS, is_ranked_bools),
        }
        results { result: Optional Where(RANKED_TENSOR, is_ranked_tensor) }
        attrs { permutation_map: Required AffineMap, in_bounds: Required Where("1-bit boolean array attribute", verify::transfer::is_bool_array) }
        traits [AttrSizedOperandSegments]
        syntax (syntax::transfer::parse_write, syntax::transfer::print_write);
        verify_signature verify::transfer::write;
    }

    /// A scalar or vector repeated in every place of a larger vector. A dimension of size one is
    /// stretched.
    BroadcastOp = "broadcast" {
        operands { source: One Any }
        results { vector: One Vector }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type($vector)"
        verify_signature verify::broadcast;
        fold fold::broadcast;
    }

    /// The element or part of a vector at a position.
    ExtractOp = "extract" {
        operands { source: One Vector, dynamic_position: Variadic Index }
        results { result: One Any }
        attrs { static_position: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_extract, syntax::print_extract);
        verify_signature verify::extract;
        fold fold::extract;
    }

    /// A vector with the element or part at a position replaced.
    InsertOp = "insert" {
        operands { valueToStore: One Any, dest: One Vector, dynamic_position: Variadic Index }
        results { result: One SameAs("dest") }
        attrs { static_position: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_insert, syntax::print_insert);
        verify_signature verify::insert;
        fold fold::insert;
    }

    /// Elements, or parts along the first dimension, of two vectors in a new order. -1 gives
    /// poison.
    ShuffleOp = "shuffle" {
        operands { v1: One Where(FIXED, is_fixed), v2: One Where(FIXED, is_fixed) }
        results { vector: One Where(RANKED, is_ranked) }
        attrs { mask: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_shuffle, syntax::print_shuffle);
        verify_signature verify::shuffle;
        fold fold::shuffle;
    }

    /// The elements of two vectors in turn, along the last dimension.
    InterleaveOp = "interleave" {
        operands { lhs: One Vector, rhs: One SameAs("lhs") }
        results { result: One Where(RANKED, is_ranked) }
        traits [Pure]
        format "$lhs `,` $rhs  attr-dict `:` type($lhs) `->` type($result)"
        verify_signature verify::interleave;
    }

    /// The elements at even positions of the last dimension, and those at odd ones.
    DeinterleaveOp = "deinterleave" {
        operands { source: One Where(RANKED, is_ranked) }
        results { res1: One Where(RANKED, is_ranked), res2: One SameAs("res1") }
        traits [Pure]
        format "$source attr-dict `:` type($source) `->` type($res1)"
        verify_signature verify::deinterleave;
    }

    /// `lhs * rhs + acc`, rounded once.
    FMAOp = "fma" {
        operands { lhs: One Where(FLOATS, is_floats), rhs: One SameAs("lhs"), acc: One SameAs("lhs") }
        results { result: One SameAs("lhs") }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"
    }

    /// All elements of a vector.
    ToElementsOp = "to_elements" {
        operands { source: One Vector }
        results { elements: Variadic Any }
        traits [Pure]
        syntax (syntax::parse_to_elements, syntax::print_to_elements);
        verify_signature verify::to_elements;
        fold fold::to_elements;
    }

    /// A vector of these elements.
    FromElementsOp = "from_elements" {
        operands { elements: Variadic ElementOf("dest") }
        results { dest: One Where(FIXED, is_fixed) }
        traits [Pure]
        format "$elements attr-dict `:` type($dest)"
        verify_signature verify::from_elements;
        fold fold::from_elements;
    }

    /// All elements of a vector combined to one, from `acc` on if there is one.
    ReductionOp = "reduction" {
        operands { vector: One Vector, acc: Optional SameAs("dest") }
        results { dest: One Any }
        attrs {
            kind: Required Enum(&COMBINING_KIND),
            fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH),
        }
        traits [Pure]
        format "$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($vector) `into` type($dest)"
        verify_signature verify::reduction;
    }

    /// The elements along some dimensions combined to one each, from those of `acc` on.
    MultiDimReductionOp = "multi_reduction" {
        operands { source: One Where(RANKED, is_ranked), acc: One SameAs("dest") }
        results { dest: One Any }
        attrs { kind: Required Enum(&COMBINING_KIND), reduction_dims: Required DenseArray(Type::I64) }
        traits [Pure]
        format "$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)"
        verify_signature verify::multi_reduction;
    }

    /// The products of the elements of two vectors, each combined with one of `acc`. If `rhs` is a
    /// scalar, its products with a vector.
    OuterProductOp = "outerproduct" {
        operands { lhs: One Where(RANKED, is_ranked), rhs: One Any, acc: Optional Where(RANKED, is_ranked) }
        results { result: One Where(RANKED, is_ranked) }
        attrs { kind: Default = "#vector.kind<add>" Enum(&COMBINING_KIND) }
        traits [Pure]
        syntax (syntax::product::parse_outer, syntax::product::print_outer);
        verify_signature verify::product::outer;
    }

    /// Products of elements of two vectors, combined with those of `acc`, along the dimensions of
    /// an iteration space. Maps name the elements of an iteration.
    ContractionOp = "contract" {
        operands { lhs: One Where(RANKED, is_ranked), rhs: One Where(RANKED, is_ranked), acc: One Any }
        results { result: One Any }
        attrs {
            indexing_maps: Required Array,
            iterator_types: Required Where("Iterator type should be an enum.", verify::product::is_iterators),
            kind: Default = "#vector.kind<add>" Enum(&COMBINING_KIND),
        }
        traits [Pure]
        syntax (syntax::product::parse_contract, syntax::product::print_contract);
        verify_signature verify::product::contract;
    }

    /// The combinations of the elements so far along a dimension, and those of all.
    ScanOp = "scan" {
        operands { source: One Where(RANKED, is_ranked), initial_value: One Vector }
        results { dest: One SameAs("source"), accumulated_value: One SameAs("initial_value") }
        attrs {
            kind: Required Enum(&COMBINING_KIND),
            reduction_dim: Required Integer(64),
            inclusive: Required Bool,
        }
        traits [Pure]
        format "$kind `,` $source `,` $initial_value attr-dict `:` type($source) `,` type($initial_value)"
        verify_signature verify::scan;
    }

    /// A mask that is true before a number in each dimension.
    CreateMaskOp = "create_mask" {
        operands { operands: Variadic Index }
        results { result: One Where(BOOLS, is_bools) }
        traits [Pure]
        format "$operands attr-dict `:` type(results)"
        verify_signature verify::create_mask;
        fold fold::create_mask;
    }

    /// A mask that is true before a constant in each dimension.
    ConstantMaskOp = "constant_mask" {
        results { result: One Where(BOOLS, is_bools) }
        attrs { mask_dim_sizes: Required DenseArray(Type::I64) }
        traits [Pure]
        format "$mask_dim_sizes attr-dict `:` type(results)"
        verify_signature verify::constant_mask;
        fold fold::constant_mask;
    }

    /// 0, 1, 2, …
    StepOp = "step" {
        results { result: One Where(LINE_OF_INDEX, is_line_of_index) }
        traits [Pure]
        format "attr-dict `:` type($result)"
    }

    /// The same elements in row-major order in another shape.
    ShapeCastOp = "shape_cast" {
        operands { source: One Vector }
        results { result: One Vector }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type($result)"
        verify_signature verify::cast::shape_cast;
        fold fold::shape_cast;
    }

    /// The same bits, cut into other elements along the last dimension.
    BitCastOp = "bitcast" {
        operands { source: One Vector }
        results { result: One Vector }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type($result)"
        verify_signature verify::cast::bitcast;
        fold fold::bitcast;
    }

    /// The same elements with the dimensions in another order.
    TransposeOp = "transpose" {
        operands { vector: One Vector }
        results { result: One Vector }
        attrs { permutation: Required DenseArray(Type::I64) }
        traits [Pure]
        format "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"
        verify_signature verify::cast::transpose;
        fold fold::transpose;
    }

    /// A part of a vector: an offset, a size and a stride, 1, for each of the first dimensions.
    ExtractStridedSliceOp = "extract_strided_slice" {
        operands { source: One Where(RANKED, is_ranked) }
        results { result: One Where(RANKED, is_ranked) }
        attrs {
            offsets: Required Where("64-bit integer array attribute", verify::slice::is_i64_array),
            sizes: Required Where("64-bit integer array attribute", verify::slice::is_i64_array),
            strides: Required Where("64-bit integer array attribute", verify::slice::is_i64_array),
        }
        traits [Pure]
        format "$source attr-dict `:` type($source) `to` type(results)"
        verify_signature verify::slice::extract;
    }

    /// A vector with a part replaced: an offset for each dimension and a stride, 1, for each of the
    /// last ones.
    InsertStridedSliceOp = "insert_strided_slice" {
        operands { valueToStore: One Where(RANKED, is_ranked), dest: One Where(RANKED, is_ranked) }
        results { result: One SameAs("dest") }
        attrs {
            offsets: Required Where("64-bit integer array attribute", verify::slice::is_i64_array),
            strides: Required Where("64-bit integer array attribute", verify::slice::is_i64_array),
        }
        traits [Pure]
        format "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"
        verify_signature verify::slice::insert;
    }

    /// The same memref with some of its last dimensions as those of vectors.
    TypeCastOp = "type_cast" {
        operands { memref: One Where("statically shaped memref of any type values", verify::cast::is_static) }
        results { result: One RankedMemRef }
        traits [Pure]
        format "$memref attr-dict `:` type($memref) `to` type($result)"
        verify_signature verify::cast::type_cast;
    }

    /// The operation in its region, only where the mask is true. Elsewhere the result is
    /// `passthru`.
    MaskOp = "mask" {
        operands { mask: One Where(BOOLS, is_ranked_bools), passthru: Optional Any }
        results { results: Variadic Any }
        regions { maskRegion: SingleBlock = YieldOp }
        traits [RecursiveMemoryEffects]
        syntax (syntax::mask::parse, syntax::mask::print);
        verify verify::masked::mask;
    }

    /// Ends the region of `mask` and gives its results.
    YieldOp = "yield" {
        operands { operands: Variadic Any }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($operands^ `:` type($operands))?"
    }

    /// Prints a value, or text, to standard output.
    PrintOp = "print" {
        operands { source: Optional Where(PRINTABLE, is_printable) }
        attrs { punctuation: Default = "#vector.punctuation<newline>" Enum(&PUNCTUATION), stringLiteral: Optional String }
        format "($source^ `:` type($source))? oilist(`str` $stringLiteral | `punctuation` $punctuation) attr-dict"
        verify_signature verify::print;
    }

    /// The number of times that the machine's vectors hold the smallest scalable vector.
    VectorScaleOp = "vscale" {
        results { res: One Index }
        traits [Pure]
        format "attr-dict"
    }

    /// A scalable vector with a part replaced, from a multiple of the part's length on.
    ScalableInsertOp = "scalable.insert" {
        operands { valueToStore: One Where(LINE, is_line), dest: One Where(SCALABLE_LINE, is_scalable_line) }
        results { result: One SameAs("dest") }
        attrs { pos: Required Integer(64) }
        traits [Pure]
        format "$valueToStore `,` $dest `[` $pos `]` attr-dict `:` type($valueToStore) `into` type($dest)"
        verify_signature verify::scalable_insert;
    }

    /// A part of a scalable vector, from a multiple of the part's length on.
    ScalableExtractOp = "scalable.extract" {
        operands { source: One Where(SCALABLE_LINE, is_scalable_line) }
        results { result: One Where(LINE, is_line) }
        attrs { pos: Required Integer(64) }
        traits [Pure]
        format "$source `[` $pos `]` attr-dict `:` type($result) `from` type($source)"
        verify_signature verify::scalable_extract;
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&VECTOR);
    interfaces::register(registry);
    evaluate::register(registry);
}
