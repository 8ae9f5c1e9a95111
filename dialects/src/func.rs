//! The `func` dialect: functions, calls and returns.

use loomir_ir::{Registry, dialect};

pub(crate) mod evaluate;
mod interfaces;
pub(crate) mod syntax;
mod verify;

use verify::is_dictionaries;

const DICTIONARIES: &str = "Array of dictionary attributes";

dialect! {
    /// Functions with one region as their body, calls of them, and functions as values.
    pub FUNC = "func" { constant interfaces::materialize_constant; }

    /// A function: a symbol with a function type and a body whose entry block takes the arguments.
    /// Without a body it is a declaration, which must be private.
    FuncOp = "func" {
        attrs {
            sym_name: Required String,
            function_type: Required FunctionType,
            sym_visibility: Optional String,
            arg_attrs: Optional Where(DICTIONARIES, is_dictionaries),
            res_attrs: Optional Where(DICTIONARIES, is_dictionaries),
            no_inline: Optional Unit,
        }
        regions { body: Any }
        traits [AffineScope, AutomaticAllocationScope, IsolatedFromAbove, Symbol]
        syntax (syntax::parse_func, syntax::print_func);
        verify verify::func;
    }

    /// A call of a function by name.
    CallOp = "call" {
        operands { operands: Variadic Any }
        results { results: Variadic Any }
        attrs {
            callee: Required FlatSymbol,
            arg_attrs: Optional Where(DICTIONARIES, is_dictionaries),
            res_attrs: Optional Where(DICTIONARIES, is_dictionaries),
            no_inline: Optional Unit,
        }
        format "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)"
    }

    /// A call of a function that is a value.
    CallIndirectOp = "call_indirect" {
        operands { callee: One Where("function type", |ctx, ty| ty.function(ctx).is_some()), callee_operands: Variadic Any }
        results { results: Variadic Any }
        attrs {
            arg_attrs: Optional Where(DICTIONARIES, is_dictionaries),
            res_attrs: Optional Where(DICTIONARIES, is_dictionaries),
        }
        syntax (syntax::parse_call_indirect, syntax::print_call_indirect);
        verify verify::call_indirect;
    }

    /// A function as a value, by its name.
    ConstantOp = "constant" {
        results { result: One Any }
        attrs { value: Required FlatSymbol }
        traits [ConstantLike, Pure]
        format "attr-dict $value `:` type($result)"
    }

    /// Ends a function and gives its results to the caller.
    ReturnOp = "return" {
        operands { operands: Variadic Any }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($operands^ `:` type($operands))?"
        verify verify::r#return;
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&FUNC);
    evaluate::register(registry);
    interfaces::register(registry);
}
