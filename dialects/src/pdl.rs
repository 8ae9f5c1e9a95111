//! The `pdl` dialect: patterns, as programs.
//!
//! A `pdl.pattern` describes operations, and what takes their place. Syntax is MLIR's.
//! [`compile()`] makes a [`Pattern`](loomir_ir::rewrite::Pattern) of it. The pass `apply-patterns`
//! runs those of loaded files.
//!
//! # Limits
//!
//! - There are no ranges, and no functions of other languages (`apply_native_…`,
//!   `rewrite … with`).
//! - A pattern is matched from its root to operands. All it describes must be reached this way.
//! - Only the root can be replaced.

use std::borrow::Cow;

use loomir_ir::opdef::AttrConstraint;
use loomir_ir::text::AsmNames;
use loomir_ir::{Registry, dialect};

pub mod compile;
mod pattern;
mod types;

pub use compile::compile;
pub use pattern::LoadedPattern;

use crate::names::Inside;

const STRINGS: AttrConstraint =
    AttrConstraint::Where(Cow::Borrowed("string array attribute"), crate::transform::verify::is_strings);
const BENEFIT: AttrConstraint = AttrConstraint::Confined(
    &AttrConstraint::Integer(16),
    Cow::Borrowed("16-bit signless integer attribute whose value is non-negative"),
    |ctx, attr| attr.as_int(ctx).is_some_and(|value| value >= 0),
);

dialect! {
    /// Patterns that rewrite operations.
    pub PDL = "pdl" {
        types [types::ATTRIBUTE, types::OPERATION, types::TYPE, types::VALUE]
        directives [types::ATTRIBUTES]
    }

    /// A pattern: operations to match, and a rewrite at the end.
    PatternOp = "pattern" {
        attrs { benefit: Required BENEFIT, sym_name: Optional String }
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, Symbol]
        format "($sym_name^)? `:` `benefit` `(` $benefit `)` attr-dict-with-keyword $body"
        interfaces { dyn AsmNames = Inside("pdl") }
    }

    /// An attribute: a given one, one of a type, or any.
    AttributeOp = "attribute" {
        operands { valueType: Optional Plain("pdl.type") }
        results { output: One Plain("pdl.attribute") }
        attrs { value: Optional Any }
        format "(`:` $valueType^)? (`=` $value^)? attr-dict-with-keyword"
    }

    /// Erases an operation.
    EraseOp = "erase" {
        operands { opValue: One Plain("pdl.operation") }
        format "$opValue attr-dict"
    }

    /// An operand that is computed anywhere.
    OperandOp = "operand" {
        operands { valueType: Optional Plain("pdl.type") }
        results { value: One Plain("pdl.value") }
        format "(`:` $valueType^)? attr-dict"
    }

    /// An operation: one to match or, in a rewrite, one to make.
    OperationOp = "operation" {
        operands {
            operandValues: Variadic Plain("pdl.value"),
            attributeValues: Variadic Plain("pdl.attribute"),
            typeValues: Variadic Plain("pdl.type"),
        }
        results { op: One Plain("pdl.operation") }
        attrs { opName: Optional String, attributeValueNames: Required STRINGS }
        traits [AttrSizedOperandSegments]
        format "($opName^)? (`(` $operandValues^ `:` type($operandValues) `)`)? custom<OperationOpAttributes>($attributeValues, $attributeValueNames) (`->` `(` $typeValues^ `:` type($typeValues) `)`)? attr-dict"
    }

    /// Replaces an operation by values, or by another one.
    ReplaceOp = "replace" {
        operands {
            opValue: One Plain("pdl.operation"),
            replOperation: Optional Plain("pdl.operation"),
            replValues: Variadic Plain("pdl.value"),
        }
        traits [AttrSizedOperandSegments]
        format "$opValue `with` (`(` $replValues^ `:` type($replValues) `)`)? ($replOperation^)? attr-dict"
    }

    /// A result of an operation.
    ResultOp = "result" {
        operands { parent: One Plain("pdl.operation") }
        results { val: One Plain("pdl.value") }
        attrs { index: Required Integer(32) }
        format "$index `of` $parent attr-dict"
    }

    /// The rewrite of a pattern whose root is given.
    RewriteOp = "rewrite" {
        operands { root: Optional Plain("pdl.operation"), externalArgs: Variadic Any }
        attrs { name: Optional String }
        regions { body: AtMostOneBlock }
        traits [AttrSizedOperandSegments, NoTerminator, Terminator]
        format "($root^)? (`with` $name^ (`(` $externalArgs^ `:` type($externalArgs) `)`)?)? ($body^)? attr-dict-with-keyword"
        interfaces { dyn AsmNames = Inside("pdl") }
    }

    /// A type: a given one, or any.
    TypeOp = "type" {
        results { result: One Plain("pdl.type") }
        attrs { constantType: Optional TypeAttr }
        format "attr-dict (`:` $constantType^)?"
    }
}

/// Registers the dialect.
pub fn register(registry: &mut Registry) {
    registry.dialect(&PDL);
}
