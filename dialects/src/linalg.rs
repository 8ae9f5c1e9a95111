//! The `linalg` dialect on memrefs: loop nests around a scalar computation.
//!
//! Each operation iterates over a box of integer points. At each point it reads an element of every
//! operand, as an affine map of the point says, computes, and writes its outputs. `linalg.generic`
//! spells this out. The other operations are names for common cases: their computation is a region
//! that the custom form leaves out, and their maps follow from the name (`named.rs`).
//!
//! [`Structured`] views any of them in the general form. The verifier, the interpreter and the
//! lowering to loops use that view alone, so a new name is one entry in two tables: here and in
//! `named.rs`.
//!
//! **Limits.** Operands are memrefs and scalars. Operations on tensors are read and refused, with
//! the command that makes memrefs of them.

use loomir_ir::opdef::{AttrConstraint, EnumDef, EnumStorage};
use loomir_ir::{Context, Registry, Type, TypeKind, dialect};

mod attributes;
mod evaluate;
mod interfaces;
mod named;
mod structured;
mod syntax;
mod verify;

pub use structured::Structured;

/// The meaning of integer operands whose type is converted.
pub static TYPE_FN: EnumDef = EnumDef {
    name: "linalg.type_fn",
    cases: &[("cast_signed", 0), ("cast_unsigned", 1)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Attribute,
};

/// The order of a loop's iterations: any, or one after the other.
pub static ITERATOR_TYPE: EnumDef = EnumDef {
    name: "linalg.iterator_type",
    cases: &[("parallel", 0), ("reduction", 1)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Attribute,
};

const SHAPED: &str = "shaped of any type values";
const PAIR: &str = "64-bit signless int elements attribute of shape [2]";
const NUMBER: AttrConstraint = AttrConstraint::Integer(64);
const DIMENSION: &str = "64-bit signless integer attribute whose minimum value is 0";

fn is_shaped(ctx: &Context, ty: Type) -> bool {
    ty.shape(ctx).is_some() || matches!(ty.kind(ctx), TypeKind::MemRef { .. } | TypeKind::Tensor { .. })
}

dialect! {
    /// Loop nests around a scalar computation, on memrefs.
    pub LINALG = "linalg" { enums [TYPE_FN, ITERATOR_TYPE] }

    /// A loop nest in the general form: a map for each operand, the order of each loop, and the
    /// computation at a point. The region gets an element of each operand and yields those of the
    /// outputs.
    GenericOp = "generic" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        attrs { indexing_maps: Required Array, iterator_types: Required Array, doc: Optional String, library_call: Optional String }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_generic, syntax::print_generic);
        verify verify::structured;
    }

    /// The number of the iteration of loop `dim` around it.
    IndexOp = "index" {
        results { result: One Index }
        attrs { dim: Required Confined(&NUMBER, DIMENSION, attributes::is_not_negative) }
        traits [Pure]
        format "$dim attr-dict `:` type($result)"
        verify verify::index;
    }

    /// Ends the computation with the new elements of the outputs.
    YieldOp = "yield" {
        operands { values: Variadic Any }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($values^ `:` type($values))?"
        verify verify::yielded;
    }

    /// Writes a number to all elements.
    FillOp = "fill",
    /// The sum of two memrefs, element by element.
    AddOp = "add",
    /// The difference of two memrefs, element by element.
    SubOp = "sub",
    /// The product of two memrefs, element by element.
    MulOp = "mul",
    /// The quotient of two memrefs, element by element.
    DivOp = "div",
    /// The quotient of two memrefs of unsigned integers, element by element.
    DivUnsignedOp = "div_unsigned",
    /// The greater of two elements.
    MaxOp = "max",
    /// The less of two elements.
    MinOp = "min",
    /// The absolute value of each element.
    AbsOp = "abs",
    /// The least integer that is not less than each element.
    CeilOp = "ceil",
    /// The exponential of each element.
    ExpOp = "exp",
    /// The greatest integer that is not greater than each element.
    FloorOp = "floor",
    /// The natural logarithm of each element.
    LogOp = "log",
    /// The negative of each element.
    NegFOp = "negf",
    /// The reciprocal of the square root of each element.
    RsqrtOp = "rsqrt",
    /// The square root of each element.
    SqrtOp = "sqrt",
    /// The hyperbolic tangent of each element.
    TanhOp = "tanh",
    /// The product of two vectors, added to a number.
    DotOp = "dot",
    /// The product of a matrix and a vector, added to a vector.
    MatvecOp = "matvec",
    /// The product of a vector and a matrix, added to a vector.
    VecmatOp = "vecmat" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_named, syntax::print_named);
        verify verify::structured;
    }

    /// Copies a memref, with conversion of the elements.
    CopyOp = "copy" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        attrs { cast: Implied = "#linalg.type_fn<cast_signed>" Enum(&TYPE_FN) }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_named, syntax::print_named);
        verify verify::structured;
    }

    /// The product of two matrices, added to a matrix.
    MatmulOp = "matmul" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        attrs {
            indexing_maps: Default = "[affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]" Array,
            cast: Implied = "#linalg.type_fn<cast_signed>" Enum(&TYPE_FN),
        }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_named, syntax::print_named);
        verify verify::structured;
    }

    /// The product of each pair of matrices, added to a matrix.
    BatchMatmulOp = "batch_matmul" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        attrs {
            indexing_maps: Default = "[affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]" Array,
            cast: Implied = "#linalg.type_fn<cast_signed>" Enum(&TYPE_FN),
        }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_named, syntax::print_named);
        verify verify::structured;
    }

    /// Convolution of images, the channel last, with filters, the channel last but one.
    Conv2dNhwcHwcfOp = "conv_2d_nhwc_hwcf",
    /// Convolution of images, the channel first, with filters, the channel first.
    Conv2dNchwFchwOp = "conv_2d_nchw_fchw",
    /// Convolution of each channel of images, the channel last, with a filter of its own.
    DepthwiseConv2dNhwcHwcOp = "depthwise_conv_2d_nhwc_hwc",
    /// The sum of each window of images, the channel last.
    PoolingNhwcSumOp = "pooling_nhwc_sum",
    /// The maximum of each window of images, the channel last.
    PoolingNhwcMaxOp = "pooling_nhwc_max",
    /// The maximum of each window of images of unsigned integers, the channel last.
    PoolingNhwcMaxUnsignedOp = "pooling_nhwc_max_unsigned",
    /// The minimum of each window of images, the channel last.
    PoolingNhwcMinOp = "pooling_nhwc_min",
    /// The minimum of each window of images of unsigned integers, the channel last.
    PoolingNhwcMinUnsignedOp = "pooling_nhwc_min_unsigned",
    /// The sum of each window of images, the channel first.
    PoolingNchwSumOp = "pooling_nchw_sum",
    /// The maximum of each window of images, the channel first.
    PoolingNchwMaxOp = "pooling_nchw_max" {
        operands { inputs: Variadic Any, outputs: Variadic Where(SHAPED, is_shaped) }
        results { results: Variadic Any }
        attrs {
            strides: Optional Where(PAIR, attributes::is_pair),
            dilations: Optional Where(PAIR, attributes::is_pair),
        }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_named, syntax::print_named);
        verify verify::structured;
    }

    /// Copies a memref with its dimensions in another order: dimension `i` of the output is
    /// dimension `permutation[i]` of the input.
    TransposeOp = "transpose" {
        operands { input: One Where(SHAPED, is_shaped), init: One Where(SHAPED, is_shaped) }
        results { result: Variadic Any }
        attrs { permutation: Required DenseArray(Type::I64) }
        regions { region: SingleBlock }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_transpose, syntax::print_transpose);
        verify verify::transpose;
    }

    /// Copies a memref along new dimensions: `dimensions` are those of the output that the input
    /// does not have.
    BroadcastOp = "broadcast" {
        operands { input: One Where(SHAPED, is_shaped), init: One Where(SHAPED, is_shaped) }
        results { result: Variadic Any }
        attrs { dimensions: Required DenseArray(Type::I64) }
        regions { region: SingleBlock }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_broadcast, syntax::print_broadcast);
        verify verify::broadcast;
    }
}

/// Registers the dialect and its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&LINALG);
    evaluate::register(registry);
    interfaces::register(registry);
}
