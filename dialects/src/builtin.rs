//! The `builtin` dialect: the module, and the cast that stands in for a conversion not yet done.

use loomir_ir::text::AsmNames;
use loomir_ir::{Body, Context, Loc, Op, OperationState, Registry, dialect};

use crate::names::Inside;

mod evaluate;
mod fold;
mod verify;

dialect! {
    /// The operations that every program needs: the module around it, and casts between the types
    /// of dialects during lowering.
    pub BUILTIN = "builtin" {}

    /// A container of other operations, at the top of every program. Its one block holds functions,
    /// globals and other symbols in any order, without a terminator. It may have a name of its own.
    ModuleOp = "module" {
        attrs { sym_name: Optional String, sym_visibility: Optional String }
        regions { bodyRegion: SingleBlock }
        traits [AffineScope, IsolatedFromAbove, SymbolTable, Symbol, GraphRegion, NoTerminator]
        format "($sym_name^)? attr-dict-with-keyword $bodyRegion"
        verify verify::module;
    }

    /// Values converted to other types by a conversion that is not decided yet. Conversions insert
    /// it where converted and unconverted operations meet. None may be left in a program that is to
    /// run.
    UnrealizedConversionCastOp = "unrealized_conversion_cast" {
        operands { inputs: Variadic Any }
        results { outputs: Variadic Any }
        traits [Pure]
        format "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"
        verify verify::unrealized_conversion_cast;
        fold fold::unrealized_conversion_cast;
    }
}

impl ModuleOp {
    /// Returns a module with nothing in it.
    pub fn create(ctx: &Context, loc: Loc) -> Body {
        let mut module = Body::new(ctx, OperationState::of(ctx, Self::DEF, loc));
        let region = module.region(module.root(), 0);
        module.append_block(region, &[]);
        module
    }

    /// Appends a function, or another operation with a body of its own, to a module.
    pub fn append(module: &mut Body, nested: Body) -> Op {
        let region = module.region(module.root(), 0);
        let block = module.entry_block(region).unwrap_or_else(|| module.append_block(region, &[]));
        let op = module.adopt(nested);
        module.append_op(block, op);
        op
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&BUILTIN);
    evaluate::register(registry);
    registry.attach_to::<dyn AsmNames>(crate::builtin::ModuleOp::DEF, Box::new(Inside("builtin")));
}
