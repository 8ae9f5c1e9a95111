//! The promises of calls: attributes of the call itself, and of the named function.
//!
//! Attributes are promises: a call that breaks one is undefined. The function's body is not
//! examined, so a declaration is as good as a definition.
//!
//! **Assumptions.**
//! - A permission holds if the call or the function has the attribute. A prohibition (`convergent`,
//!   `noduplicate`) holds if either has it.
//! - A function of the C library is recognised by its name only if it is a declaration with
//!   external linkage and a fitting signature, and neither the call nor the function around it has
//!   `nobuiltin`. Anything else may be a function of the program.
//!
//! Tried with `fusion_traps/names.ll` and `fusion_traps/declared.ll`.

use loomir_dialects::interfaces::MemoryEffects;
use loomir_dialects::llvm;
use loomir_dialects::llvm::types::is_pointer;
use loomir_ir::symbols::{Symbol, SymbolTable};
use loomir_ir::text::attr_to_string;
use loomir_ir::{Attr, AttrKind, Body, Context, Op, OpRef, Trait, Value};

/// Allocation functions of the C library, with their numbers of integer arguments.
const ALLOCATORS: [(&str, usize); 4] = [("malloc", 1), ("calloc", 2), ("aligned_alloc", 2), ("_Znwm", 1)];

/// The memory that a call may touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Touched {
    /// No memory.
    Nothing,
    /// The objects of these pointers, which are all of its pointer arguments.
    Arguments {
        /// The pointers.
        pointers: Vec<Value>,
        /// True if the call may write to these objects.
        writes: bool,
    },
    /// Anything.
    World {
        /// True if it may write.
        writes: bool,
    },
}

/// True if the result of a call is the address of an object that no other pointer refers to.
pub(super) fn makes_object(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    let ctx = function.ctx();
    let is_new = || {
        let results = function.attr(op, "res_attrs").and_then(|attrs| attrs.as_array(ctx));
        let first = results.and_then(|attrs| attrs.first().copied());
        first.is_some_and(|attr: Attr| match attr.kind(ctx) {
            AttrKind::Dictionary(dict) => dict.get(ctx, "llvm.noalias").is_some(),
            _ => false,
        })
    };
    function.is(op, llvm::CallOp::DEF) && (is_new() || is_library_allocator(function, op, symbols))
}

fn is_library_allocator(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    let ctx = function.ctx();
    let name = function.attr(op, "callee").and_then(|name| name.as_flat_symbol(ctx));
    let known = name.and_then(|name| ALLOCATORS.iter().find(|(own, _)| *own == ctx.str(name)));
    let (Some(name), Some((_, integers))) = (name, known) else { return false };
    let takes_integers = function.num_operands(op) == *integers
        && function.operands(op).all(|operand| function.value_type(operand).is_signless_integer(ctx));
    takes_integers
        && symbols.get(name).is_some_and(|symbol| is_library_function(ctx, symbol))
        && !forbids_library(ctx, function.root_ref())
        && !forbids_library(ctx, function.op_ref(op))
}

/// True if a symbol is a declaration of a function that the C library must define.
fn is_library_function(ctx: &Context, symbol: &Symbol) -> bool {
    let linkage = symbol.attr(ctx, "linkage").map(|linkage| attr_to_string(ctx, linkage));
    let is_declared = !symbol.has_body && linkage.is_none_or(|linkage| linkage.contains("<external>"));
    let all = |name: &str| symbol.attr(ctx, name);
    is_declared && ctx.op_info(symbol.name).is(llvm::FuncOp::DEF) && !says_no_builtin(ctx, &all)
}

/// True if a call, or the function around it, forbids builtin meanings of C library names.
fn forbids_library(ctx: &Context, op: OpRef<'_>) -> bool {
    says_no_builtin(ctx, &|name| op.attr(name))
}

/// Any attribute about builtins counts, even one about a single function.
fn says_no_builtin(ctx: &Context, attr: &dyn Fn(&str) -> Option<Attr>) -> bool {
    let is_said =
        |text: &str| text.contains("no-builtin") || text.contains("nobuiltin") || text.contains("no_builtin");
    ["no_builtins", "nobuiltins", "nobuiltin", "no_builtin"].into_iter().any(|name| attr(name).is_some())
        || attr("passthrough").is_some_and(|all| is_said(&attr_to_string(ctx, all)))
}

/// True if control flow around an operation must not change. Threads reach a convergent operation
/// together, and an operation that returns twice remembers its caller.
pub(crate) fn keeps_its_control(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    is_marked(function, op, symbols, &["convergent", "returns_twice"])
}

/// True if threads reach an operation together.
pub(super) fn is_convergent(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    is_marked(function, op, symbols, &["convergent"])
}

/// True if an operation may not return to the next one.
pub(super) fn may_not_return(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    let is_call = function.is(op, llvm::InvokeOp::DEF);
    if function.has_trait(op, Trait::Pure) || function.has_trait(op, Trait::Terminator) && !is_call {
        return false;
    }
    let model = function.info(op).interface::<dyn MemoryEffects>();
    let may = model.is_none_or(|model| model.may_not_return(function.op_ref(op)));
    may && !returns(function, op, symbols)
}

/// True if an operation may not be duplicated, even where each copy runs in place of it.
pub(super) fn is_unique(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    is_marked(function, op, symbols, &["returns_twice", "noduplicate"])
}

/// Returns the name of the intrinsic function that an operation calls, without the prefix `llvm.`.
pub(super) fn intrinsic(function: &Body, op: Op) -> Option<&str> {
    if !function.is(op, llvm::CallIntrinsicOp::DEF) {
        return function.op_ref(op).name().strip_prefix("llvm.intr.");
    }
    function.attr(op, "intrin")?.as_str(function.ctx())?.strip_prefix("llvm.")
}

/// True if an operation is a call that deoptimizes: it stands before a return.
pub(crate) fn is_deoptimize(function: &Body, op: Op) -> bool {
    intrinsic(function, op).is_some_and(|name| name.starts_with("experimental.deoptimize"))
}

/// True if an operation declares alias scopes, which are new ones each time that it runs.
pub(super) fn declares_scopes(function: &Body, op: Op) -> bool {
    intrinsic(function, op) == Some("experimental.noalias.scope.decl")
}

/// True if an operation may be duplicated. One that declares alias scopes would need new scopes.
pub(super) fn may_be_copied(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    !declares_scopes(function, op)
        && !is_marked(function, op, symbols, &["convergent", "returns_twice", "noduplicate"])
}

/// True if an operation, or the function that it calls, has one of these attributes: directly, or
/// among those passed through to LLVM.
fn is_marked(function: &Body, op: Op, symbols: &SymbolTable, words: &[&str]) -> bool {
    let ctx = function.ctx();
    let is_passed = |attr: Attr| {
        let all = attr.as_array(ctx).unwrap_or_default();
        all.iter().any(|attr| attr.as_str(ctx).is_some_and(|own| words.contains(&own)))
    };
    if words.iter().any(|word| function.attr(op, word).is_some()) {
        return true;
    }
    function.is(op, llvm::CallOp::DEF)
        && (words.iter().any(|word| said(function, op, symbols, word).next().is_some())
            || said(function, op, symbols, "passthrough").any(is_passed))
}

/// True if a call always returns to the next operation. False for an operation that is no call.
pub(super) fn returns(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    ["no_unwind", "will_return"].iter().all(|name| said(function, op, symbols, name).next().is_some())
}

/// Returns the memory that a call may touch; `None` if an operation is no call.
pub(super) fn touched(function: &Body, op: Op, symbols: &SymbolTable) -> Option<Touched> {
    if !function.is(op, llvm::CallOp::DEF) {
        return None;
    }
    // Operands of bundles may be read or written too: only the attributes of the call itself cover
    // them.
    let has_bundles = || function.attr(op, "op_bundle_tags").is_some();
    if function.attr(op, "memory_effects").is_none() && has_bundles() {
        return Some(Touched::World { writes: true });
    }
    // If two promises exist, both hold. The stronger one is enough here.
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

/// Returns the attribute of a call and the attribute of the function that it names.
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

/// Returns the memory that `#llvm.memory_effects<other = none, argMem = read, …>` lets a call
/// touch.
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
