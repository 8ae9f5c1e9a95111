//! The `func` dialect: functions, calls and returns.

use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{Block, Body, Context, Loc, OperationState, Registry, Type, dialect};

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

impl FuncOp {
    /// Returns a function with an empty entry block, which takes the arguments.
    ///
    /// ```
    /// use loomir_dialects::{builtin, func};
    /// use loomir_ir::{Builder, Context, InsertPoint, Loc, Registry, Type, text};
    ///
    /// let mut registry = Registry::new();
    /// loomir_dialects::register_all(&mut registry);
    /// let ctx = Context::new(registry);
    /// let mut module = builtin::ModuleOp::create(&ctx, Loc::UNKNOWN);
    /// let types = [Type::I32];
    /// let (mut body, entry) = func::FuncOp::create(&ctx, Loc::UNKNOWN, "same", &types, &types);
    /// let x = body.argument(entry, 0);
    /// func::ReturnOp::build(&mut Builder::new(&mut body, InsertPoint::End(entry)), &[x]);
    /// builtin::ModuleOp::append(&mut module, body);
    /// assert!(text::print(&module, &Default::default()).contains("@same(%arg0: i32) -> i32"));
    /// ```
    pub fn create(ctx: &Context, loc: Loc, name: &str, inputs: &[Type], results: &[Type]) -> (Body, Block) {
        let ty = ctx.type_attr(ctx.function_type(inputs, results));
        let state = OperationState::of(ctx, Self::DEF, loc);
        let state = state.attr(ctx, SYMBOL_NAME, ctx.string_attr(name)).attr(ctx, "function_type", ty);
        let mut function = Body::new(ctx, state);
        let entry = function.append_block(function.region(function.root(), 0), inputs);
        (function, entry)
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&FUNC);
    evaluate::register(registry);
    interfaces::register(registry);
}
