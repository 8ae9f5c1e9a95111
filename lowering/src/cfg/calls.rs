//! What a call says of itself, and the function that it names of all its calls: whether it returns, and what it touches.
//!
//! Attributes are promises: a call that breaks one is undefined. Nothing of the function's body is looked at, so a declaration says as much as a definition.

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::is_pointer;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::attr_to_string;
use loomir_ir::{Attr, Body, Op, Value};

/// What a call may touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Touched {
    /// No memory.
    Nothing,
    /// What these pointers, all that it is given, point into.
    Arguments {
        /// The pointers.
        pointers: Vec<Value>,
        /// Whether it may write there.
        writes: bool,
    },
    /// Anything.
    World {
        /// Whether it may write.
        writes: bool,
    },
}

/// Whether a call, once it is reached, comes back to what follows it. No, if an operation is no call.
pub(super) fn returns(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    ["no_unwind", "will_return"].iter().all(|name| said(function, op, symbols, name).next().is_some())
}

/// What a call may touch; nothing, if an operation is no call.
pub(super) fn touched(function: &Body, op: Op, symbols: &SymbolTable) -> Option<Touched> {
    if !function.is(op, llvm::CallOp::DEF) {
        return None;
    }
    // Of two promises both hold; one that says it all is enough here.
    let all = said(function, op, symbols, "memory_effects").map(|said| of_memory(function, op, said));
    Some(all.min_by_key(rank).unwrap_or(Touched::World { writes: true }))
}

fn rank(touched: &Touched) -> u8 {
    match touched {
        Touched::Nothing => 0,
        Touched::Arguments { writes, .. } => 1 + u8::from(*writes),
        Touched::World { writes } => 3 + u8::from(*writes),
    }
}

/// An attribute of a call and of the function that it names.
fn said<'a>(
    function: &'a Body,
    op: Op,
    symbols: &'a SymbolTable,
    name: &'a str,
) -> impl Iterator<Item = Attr> + 'a {
    let ctx = function.ctx();
    let is_call = function.is(op, llvm::CallOp::DEF);
    let callee = function.attr(op, "callee").filter(|_| is_call);
    let callee = callee.and_then(|callee| symbols.resolve(ctx, callee));
    let own = function.attr(op, name).filter(|_| is_call);
    own.into_iter().chain(callee.and_then(|symbol| symbol.attr(ctx, name)))
}

/// What `#llvm.memory_effects<other = none, argMem = read, …>` lets a call touch.
fn of_memory(function: &Body, op: Op, effects: Attr) -> Touched {
    let ctx = function.ctx();
    let text = attr_to_string(ctx, effects);
    let inside = text.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
    let Some((inside, _)) = inside else { return Touched::World { writes: true } };
    let parts: Vec<(&str, &str)> = inside
        .split(',')
        .filter_map(|part| part.split_once('='))
        .map(|(place, effect)| (place.trim(), effect.trim()))
        .filter(|(_, effect)| *effect != "none")
        .collect();
    let writes = parts.iter().any(|(_, effect)| *effect != "read");
    if parts.is_empty() {
        return Touched::Nothing;
    }
    let mut pointers = Vec::new();
    for value in function.operands(op) {
        let ty = function.value_type(value);
        if is_pointer(ctx, ty) {
            pointers.push(value);
        } else if !ty.is_signless_integer(ctx) && !ty.is_float(ctx) {
            return Touched::World { writes };
        }
    }
    match parts.iter().all(|(place, _)| *place == "argMem") {
        true => Touched::Arguments { pointers, writes },
        false => Touched::World { writes },
    }
}
