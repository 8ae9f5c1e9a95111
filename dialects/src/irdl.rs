//! The `irdl` dialect: programs that define dialects.
//!
//! An `irdl.dialect` holds definitions of types, attributes and operations. Each is a list of
//! constraints on parameters, or on values, attributes and regions. Syntax and rules are MLIR's.
//! [`load()`] makes tables of the definitions, as [`dialect!`](loomir_ir::dialect!) does.
//! Attributes of Loomir's say what the dialect cannot: see [`extensions`].
//!
//! # Limits
//!
//! - `irdl.c_pred` is read and printed. A dialect that uses it cannot be loaded, since the
//!   predicate is C++.

use std::borrow::Cow;

use loomir_ir::opdef::AttrConstraint;
use loomir_ir::{Context, Registry, dialect};

pub mod constraints;
mod directives;
pub mod extensions;
pub mod load;
pub mod meaning;
mod rules;
mod types;
mod verify;

pub use load::load;
pub use meaning::Loaded;
pub use types::variadicities;

const STRINGS: AttrConstraint =
    AttrConstraint::Where(Cow::Borrowed("string array attribute"), crate::transform::verify::is_strings);
const VARIADICITIES: AttrConstraint =
    AttrConstraint::Where(Cow::Borrowed("VariadicityArray attribute"), |ctx: &Context, attr| {
        variadicities(ctx, attr).is_some()
    });

dialect! {
    /// Definitions of dialects.
    pub IRDL = "irdl" {
        types [types::ATTRIBUTE, types::REGION]
        directives [
            directives::SINGLE_BLOCK,
            directives::NAMED_VALUES,
            directives::VARIADIC_VALUES,
            directives::ATTRIBUTES,
        ]
        constant meaning::constants::materialize;
    }

    /// A dialect.
    DialectOp = "dialect" {
        attrs { sym_name: Required String }
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, NoTerminator, Symbol, SymbolTable]
        format "$sym_name attr-dict-with-keyword custom<SingleBlockRegion>($body)"
        verify verify::dialect;
        interfaces { dyn loomir_ir::symbols::SymbolUser = verify::References }
    }

    /// A type with parameters.
    TypeOp = "type" {
        attrs { sym_name: Required String }
        regions { body: SingleBlock }
        traits [NoTerminator, Symbol]
        format "$sym_name attr-dict-with-keyword custom<SingleBlockRegion>($body)"
        verify verify::definition;
    }

    /// An attribute with parameters.
    AttributeOp = "attribute" {
        attrs { sym_name: Required String }
        regions { body: SingleBlock }
        traits [NoTerminator, Symbol]
        format "$sym_name attr-dict-with-keyword custom<SingleBlockRegion>($body)"
        verify verify::definition;
    }

    /// An operation.
    OperationOp = "operation" {
        attrs { sym_name: Required String }
        regions { body: SingleBlock }
        traits [NoTerminator, Symbol]
        format "$sym_name attr-dict-with-keyword custom<SingleBlockRegion>($body)"
        verify verify::operation;
    }

    /// The parameters of a type or attribute.
    ParametersOp = "parameters" {
        operands { args: Variadic Plain("irdl.attribute") }
        attrs { names: Required STRINGS }
        format "`` custom<NamedValueList>($args, $names) attr-dict"
        verify verify::parameters;
    }

    /// The operands of an operation.
    OperandsOp = "operands",
    /// The results of an operation.
    ResultsOp = "results" {
        operands { args: Variadic Plain("irdl.attribute") }
        attrs { names: Required STRINGS, variadicity: Required VARIADICITIES }
        format "`` custom<NamedValueListWithVariadicity>($args, $names, $variadicity) attr-dict"
        verify verify::values;
    }

    /// The attributes of an operation.
    AttributesOp = "attributes" {
        operands { attributeValues: Variadic Plain("irdl.attribute") }
        attrs { attributeValueNames: Required STRINGS }
        format "custom<AttributesOp>($attributeValues, $attributeValueNames) attr-dict"
        verify verify::attributes;
    }

    /// A region of an operation: the types of its arguments, and the number of its blocks.
    RegionOp = "region" {
        operands { entryBlockArgs: Variadic Plain("irdl.attribute") }
        results { output: One Plain("irdl.region") }
        attrs { numberOfBlocks: Optional Integer(32), constrainedArguments: Optional Unit }
        format "``(`(` $entryBlockArgs $constrainedArguments^ `)`)? ``(` ` `with` `size` $numberOfBlocks^)? attr-dict"
        verify verify::region;
    }

    /// The regions of an operation.
    RegionsOp = "regions" {
        operands { args: Variadic Plain("irdl.region") }
        attrs { names: Required STRINGS }
        format "`` custom<NamedValueList>($args, $names) attr-dict"
        verify verify::regions;
    }

    /// A constraint that accepts one attribute or type.
    IsOp = "is" {
        results { output: One Plain("irdl.attribute") }
        attrs { expected: Required Any }
        traits [Pure]
        format "$expected ` ` attr-dict"
        verify verify::constraint;
    }

    /// A constraint that accepts any parameters of one attribute or type.
    BaseOp = "base" {
        results { output: One Plain("irdl.attribute") }
        attrs { base_ref: Optional Symbol, base_name: Optional String }
        format "($base_ref^)? ($base_name^)? ` ` attr-dict"
        verify verify::base;
    }

    /// A constraint on an attribute or type and on its parameters.
    ParametricOp = "parametric" {
        operands { args: Variadic Plain("irdl.attribute") }
        results { output: One Plain("irdl.attribute") }
        attrs { base_type: Required Symbol }
        traits [Pure]
        format "$base_type `<` $args `>` ` ` attr-dict"
        verify verify::constraint;
    }

    /// A constraint that accepts everything.
    AnyOp = "any" {
        results { output: One Plain("irdl.attribute") }
        format "attr-dict"
        verify verify::constraint;
    }

    /// A constraint that accepts what at least one constraint accepts.
    AnyOfOp = "any_of",
    /// A constraint that accepts what all constraints accept.
    AllOfOp = "all_of" {
        operands { args: Variadic Plain("irdl.attribute") }
        results { output: One Plain("irdl.attribute") }
        format "`(` $args `)` ` ` attr-dict"
        verify verify::choice;
    }

    /// A constraint in C++.
    CPredOp = "c_pred" {
        results { output: One Plain("irdl.attribute") }
        attrs { pred: Required String }
        format "$pred ` ` attr-dict"
    }
}

/// Registers the dialect.
pub fn register(registry: &mut Registry) {
    registry.dialect(&IRDL);
    registry.kept_attribute("irdl.variadicity_array", types::is_variadicity_array);
}
