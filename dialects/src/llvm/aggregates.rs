//! Elements of vectors, structs and arrays.

use loomir_ir::{Type, dialect};

use super::constraints::{Aggregate, Integer, LlvmType, LlvmVector, Primitive};

mod fold;
mod syntax;
mod verify;

dialect! {
    /// Elements of vectors, structs and arrays.
    pub AGGREGATES = "llvm" {}

    /// An element of a vector; poison if the position is out of range.
    ExtractElementOp = "extractelement" {
        operands { vector: One LlvmVector, position: One Integer }
        results { res: One ElementOf("vector") }
        traits [Pure]
        format "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
    }

    /// A vector with one element replaced; poison if the position is out of range.
    InsertElementOp = "insertelement" {
        operands { vector: One LlvmVector, value: One ElementOf("vector"), position: One Integer }
        results { res: One SameAs("vector") }
        traits [Pure]
        format "$value `,` $vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
    }

    /// Elements of two vectors in a new order; -1 in the mask leaves an element poison.
    ShuffleVectorOp = "shufflevector" {
        operands { v1: One LlvmVector, v2: One SameAs("v1") }
        results { res: One LlvmVector }
        attrs { mask: Required DenseArray(Type::I32) }
        traits [Pure]
        syntax (syntax::parse_shuffle, syntax::print_shuffle);
        verify_signature verify::verify_shuffle;
    }

    /// The part of a struct or array at a position, one index a level.
    ExtractValueOp = "extractvalue" {
        operands { container: One Aggregate }
        results { res: One LlvmType }
        attrs { position: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_extract, syntax::print_extract);
        verify_signature verify::verify_extract;
        fold fold::fold_extract;
    }

    /// A struct or array with the part at a position replaced.
    InsertValueOp = "insertvalue" {
        operands { container: One Aggregate, value: One Primitive }
        results { res: One SameAs("container") }
        attrs { position: Required DenseArray(Type::I64) }
        traits [Pure]
        syntax (syntax::parse_insert, syntax::print_insert);
        verify_signature verify::verify_insert;
    }
}
