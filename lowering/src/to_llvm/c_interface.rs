//! Wrappers that C can call, and wrappers that call C: `llvm.emit_c_interface`.
//!
//! For a function `f` the function `_mlir_ciface_f` takes each memref as a pointer to its
//! descriptor. A result that is a struct (a memref, a complex number, several results) is written
//! to where an additional first argument points. Beside a definition stands a wrapper with this
//! interface. A declaration becomes a private function that calls it.
//!
//! Functions that take bare pointers have no wrapper: C can call them as they are.

use loomir_dialects::func;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_dialects::llvm::types::{LlvmType, function, pointer, void};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{
    Attr, AttrKind, Body, Context, Diagnostic, Diagnostics, Dict, OperationState, Type, TypeKind, Value,
};

use super::function::{self, FunctionConverter};
use super::symbols::Symbols;
use super::types::TypeConverter;
use super::{Options, descriptor};

/// The attribute of a function that has a wrapper.
const EMIT: &str = "llvm.emit_c_interface";
/// The start of the names of wrappers.
const PREFIX: &str = "_mlir_ciface_";

/// Returns the new function of `old`, with its wrapper if it has one.
pub(super) fn add_to(
    old: &Body,
    new: Body,
    options: Options,
    types: &mut TypeConverter,
    symbols: &mut Symbols,
) -> Result<Vec<Body>, Diagnostics> {
    let (ctx, root) = (old.ctx().clone(), old.root());
    let has_wrapper = old.is(root, func::FuncOp::DEF) && old.attr(root, EMIT).is_some();
    if !has_wrapper || function::is_bare(old, options) {
        return Ok(vec![new]);
    }
    let error = |text: &str| Diagnostics::from(Diagnostic::error(old.loc(root), text));
    if old.attr(root, "func.varargs") == Some(Attr::TRUE) {
        return Err(error("a variadic function cannot have a wrapper for C"));
    }
    let name = old.attr(root, SYMBOL_NAME).and_then(|name| name.as_str(&ctx)).unwrap_or_default();
    let wrapper_name = format!("{PREFIX}{name}");
    if symbols.is_taken(ctx.name(&wrapper_name)) {
        return Err(error(&format!("the wrapper for C needs the name '@{wrapper_name}', which is taken")));
    }
    let Some(signature) = Signature::of(old, types) else {
        return Err(error("the type of this function has no counterpart for C"));
    };
    let wrapper = signature.declare(old, &wrapper_name);
    if old.entry_block(old.region(root, 0)).is_some() {
        let mut cx = FunctionConverter::new(old, wrapper, options, types, symbols);
        call_function(&mut cx, ctx.symbol_attr(name), &signature)?;
        return Ok(vec![new, cx.finish()]);
    }
    let mut new = new;
    let private = LINKAGE.value_of("private").unwrap_or(0);
    new.set_attr(new.root(), "linkage", LINKAGE.attr(&ctx, private));
    let mut cx = FunctionConverter::new(old, new, options, types, symbols);
    call_wrapper(&mut cx, ctx.symbol_attr(&wrapper_name), &signature)?;
    Ok(vec![cx.finish(), wrapper])
}

/// The interface of a function for C.
struct Signature {
    inputs: Vec<Type>,
    /// The result of the function itself, void if it has none.
    result: Type,
    /// True if the wrapper writes the result to memory.
    in_memory: bool,
    /// The type of the wrapper.
    ty: Type,
}

impl Signature {
    fn of(old: &Body, types: &mut TypeConverter) -> Option<Signature> {
        let ctx = old.ctx();
        let (inputs, results) = old.attr(old.root(), "function_type")?.as_type(ctx)?.function(ctx)?;
        let result = types.pack_results(results, false)?;
        let in_memory = matches!(LlvmType::of(ctx, result), Some(LlvmType::Struct(_)));
        let mut params = if in_memory { vec![pointer(ctx)] } else { Vec::new() };
        for input in inputs {
            let converted = types.convert(*input)?;
            params.push(if is_memref(ctx, *input) { pointer(ctx) } else { converted });
        }
        let ty = function(ctx, if in_memory { void(ctx) } else { result }, &params, false);
        Some(Signature { inputs: inputs.to_vec(), result, in_memory, ty })
    }

    /// Returns the wrapper without a body. Attributes of memrefs are about their elements, and are
    /// dropped.
    fn declare(&self, old: &Body, name: &str) -> Body {
        let (ctx, root) = (old.ctx(), old.root());
        let mut state = OperationState::of(ctx, llvm::FuncOp::DEF, old.loc(root))
            .attr(ctx, SYMBOL_NAME, ctx.string_attr(name))
            .attr(ctx, "function_type", ctx.type_attr(self.ty));
        function::keep_attributes(old, &mut state);
        if let Some(attrs) = old.attr(root, "arg_attrs").and_then(|attrs| attrs.as_array(ctx)) {
            let none = ctx.attr(AttrKind::Dictionary(Dict::EMPTY));
            let mut all = if self.in_memory { vec![none] } else { Vec::new() };
            let own = |(attr, ty): (&Attr, &Type)| if is_memref(ctx, *ty) { none } else { *attr };
            all.extend(attrs.iter().zip(&self.inputs).map(own));
            state.set_attr(ctx, "arg_attrs", ctx.array_attr(&all));
        }
        if let Some(attrs) = old.attr(root, "res_attrs").filter(|_| !self.in_memory) {
            state.set_attr(ctx, "res_attrs", attrs);
        }
        state.set_defaults(ctx);
        Body::new(ctx, state)
    }

    /// Returns the result of a call, if there is one.
    fn result(&self, ctx: &Context) -> Option<Type> {
        Some(self.result).filter(|ty| *ty != void(ctx))
    }
}

fn is_memref(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::MemRef { .. })
}

/// Fills the wrapper of a definition: reads descriptors and calls the function.
fn call_function(
    cx: &mut FunctionConverter<'_>,
    callee: Attr,
    signature: &Signature,
) -> Result<(), Diagnostic> {
    let ctx = cx.ctx();
    let place = signature.in_memory.then(|| cx.add_argument(pointer(&ctx)));
    let mut arguments = Vec::new();
    for input in &signature.inputs {
        let ty = cx.convert_type(*input)?;
        arguments.push((
            *input,
            ty,
            cx.add_argument(if is_memref(&ctx, *input) { pointer(&ctx) } else { ty }),
        ));
    }
    let mut operands = Vec::new();
    for (input, ty, argument) in arguments {
        match input.kind(&ctx) {
            TypeKind::MemRef { shape: Some(shape), .. } => {
                let whole = cx.load(argument, ty);
                operands.extend(descriptor::to_parts(cx, whole, shape.len()));
            }
            TypeKind::MemRef { shape: None, .. } => {
                let whole = cx.load(argument, ty);
                let (rank, pointer) = descriptor::unranked_parts(cx, whole);
                operands.extend([rank, pointer]);
            }
            _ => operands.push(argument),
        }
    }
    let result = cx.call(Some(callee), &operands, signature.result(&ctx));
    match (place, result) {
        (Some(place), Some(result)) => {
            cx.store(result, place);
            give_back(cx, None);
        }
        (_, result) => give_back(cx, result),
    }
    Ok(())
}

/// Fills a function that is declared only: writes descriptors to the stack and calls the wrapper.
fn call_wrapper(
    cx: &mut FunctionConverter<'_>,
    callee: Attr,
    signature: &Signature,
) -> Result<(), Diagnostic> {
    let ctx = cx.ctx();
    let mut arguments = Vec::new();
    for input in &signature.inputs {
        let types = cx.convert_argument(*input)?;
        let parts: Vec<Value> = types.iter().map(|ty| cx.add_argument(*ty)).collect();
        arguments.push((*input, parts));
    }
    let mut operands = Vec::new();
    let place = signature.in_memory.then(|| on_stack(cx, signature.result));
    operands.extend(place);
    for (input, parts) in arguments {
        if !is_memref(&ctx, input) {
            operands.extend(parts);
            continue;
        }
        let ty = cx.convert_type(input)?;
        let whole = descriptor::from_parts(cx, ty, &parts);
        let address = on_stack(cx, ty);
        cx.store(whole, address);
        operands.push(address);
    }
    let result = signature.result(&ctx).filter(|_| !signature.in_memory);
    let result = cx.call(Some(callee), &operands, result);
    let result = match place {
        Some(place) => Some(cx.load(place, signature.result)),
        None => result,
    };
    give_back(cx, result);
    Ok(())
}

fn on_stack(cx: &mut FunctionConverter<'_>, ty: Type) -> Value {
    let (one, ptr) = (cx.index(1), pointer(&cx.ctx()));
    cx.alloca(one, ty, ptr, None)
}

fn give_back(cx: &mut FunctionConverter<'_>, result: Option<Value>) {
    let operands: Vec<Value> = result.into_iter().collect();
    let state = cx.state(llvm::ReturnOp::DEF).operands(&operands);
    cx.insert(state);
}
