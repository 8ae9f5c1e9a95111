//! Functions and calls of the dialect, and LLVM's rules for inlining, where they decide what a
//! program means.
//!
//! **Assumptions.**
//! - A definition that the linker may replace is not what runs. Tried in
//!   `fixtures/simplify/inline_llvm.mlir`.
//! - Function attributes that change the meaning of floating-point operations, or what code may be
//!   generated, must be equal in both functions. Tried there too.
//! - A tail call may not see memory of its function's frame. Inlined calls are no tail calls any
//!   more, because their new function has other memory.
//! - `noalias` scopes hold for one run of their function. Inlined accesses lose them.

use loomir_ir::{
    Attr, AttrKind, Block, Body, EnumDef, Name, Op, OpRef, OperationState, Region, Registry, Type, Value,
};

use super::attributes::{LINKAGE, TAIL_CALL_KIND};
use super::control::calls::{Call, arguments};
use super::globals::signature;
use super::types::LlvmType;
use super::{AllocaOp, BrOp, CallOp, FuncOp, METADATA, ReturnOp};
use crate::interfaces::{CallLike, FunctionLike, Inlinable, Inlining, ReturnAsBranch, StackAllocation};

/// Linkages of definitions that the linker may replace by others.
const REPLACEABLE: &[&str] = &["linkonce", "weak", "appending", "extern_weak", "common"];

/// Parameter attributes that ask the call for memory or registers of its own.
const CALLING: &[&str] = &[
    "llvm.byval",
    "llvm.byref",
    "llvm.inalloca",
    "llvm.preallocated",
    "llvm.swifterror",
    "llvm.swiftself",
    "llvm.swiftasync",
    "llvm.nest",
];

/// Attributes that both functions must have, with equal values, or neither.
const EQUAL: &[&str] = &[
    "arm_streaming",
    "arm_locally_streaming",
    "arm_streaming_compatible",
    "arm_new_za",
    "arm_in_za",
    "arm_out_za",
    "arm_inout_za",
    "arm_preserves_za",
    "vscale_range",
    "target_cpu",
    "target_features",
    "no_infs_fp_math",
    "no_nans_fp_math",
    "no_signed_zeros_fp_math",
    "denormal_fp_math",
    "denormal_fp_math_f32",
    "fp_contract",
    "garbageCollector",
];

/// Attributes of a function that must run as a function.
const ALONE: &[(&str, &str)] = &[
    ("no_inline", "the function has 'no_inline'"),
    ("optimize_none", "the function has 'optimize_none'"),
    ("personality", "the function handles exceptions"),
    ("instrument_function_entry", "the function is instrumented"),
    ("instrument_function_exit", "the function is instrumented"),
];

/// Entries of `passthrough` that do not change what the function computes.
const HARMLESS: &[&str] = &[
    "alwaysinline",
    "frame-pointer",
    "inlinehint",
    "min-legal-vector-width",
    "no-trapping-math",
    "nofree",
    "norecurse",
    "nosync",
    "nounwind",
    "stack-protector-buffer-size",
    "tune-cpu",
    "uwtable",
    "willreturn",
];

/// Entries of `passthrough` of a function that must run as a function.
const FORBIDDEN: &[&str] = &[
    "naked",
    "noduplicate",
    "noinline",
    "optnone",
    "presplitcoroutine",
    "returns_twice",
    "strictfp",
    "thunk",
];

/// Decides if the body of `op`, an `llvm.func`, may take the place of a call in `caller`.
pub(super) fn of_function(op: OpRef<'_>, caller: OpRef<'_>) -> Inlining {
    if case(op, "linkage", &LINKAGE).is_some_and(|text| REPLACEABLE.contains(&&*text)) {
        return Inlining::Never("the linker may replace the function");
    }
    if let Some((_, reason)) = ALONE.iter().find(|(name, _)| op.attr(name).is_some()) {
        return Inlining::Never(reason);
    }
    if EQUAL.iter().any(|name| op.attr(name) != caller.attr(name)) {
        return Inlining::Never("the functions have different target or floating-point attributes");
    }
    let (own, others) = (passed_through(op), passed_through(caller));
    if own.iter().any(|entry| FORBIDDEN.contains(&&*entry.0)) {
        return Inlining::Never("an attribute in 'passthrough' forbids it");
    }
    let only_in =
        |a: &[Entry], b: &[Entry]| a.iter().any(|entry| !HARMLESS.contains(&&*entry.0) && !b.contains(entry));
    // A function that may run forever must not become part of one that may not.
    if only_in(&own, &others) || only_in(&others, &own) {
        return Inlining::Never("the functions have different attributes in 'passthrough'");
    }
    if has_calling_attributes(op) {
        return Inlining::Never("an argument is passed in memory or a register of the call");
    }
    if op.attr("always_inline").is_some() { Inlining::Always } else { Inlining::Allowed }
}

/// Returns the name of the case that an attribute holds.
fn case(op: OpRef<'_>, name: &str, cases: &EnumDef) -> Option<String> {
    cases.text_of(cases.value(op.ctx(), op.attr(name)?)?)
}

/// True if an operation is a tail call that must stay one: a return of its result follows.
pub fn is_must_tail(op: OpRef<'_>) -> bool {
    let kind = op.attr("TailCallKind").and_then(|kind| TAIL_CALL_KIND.value(op.ctx(), kind));
    kind.is_some() && kind == TAIL_CALL_KIND.value_of("musttail")
}

/// `llvm.func` as a function.
struct Function;

impl FunctionLike for Function {
    fn signature(&self, op: OpRef<'_>) -> (Vec<Type>, Vec<Type>) {
        let Some((params, result, _)) = signature(op) else { return Default::default() };
        let is_void = LlvmType::of(op.ctx(), result) == Some(LlvmType::Void);
        (params, if is_void { Vec::new() } else { vec![result] })
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }

    fn is_variadic(&self, op: OpRef<'_>) -> bool {
        signature(op).is_some_and(|(.., variadic)| variadic)
    }

    fn inlining(&self, op: OpRef<'_>, caller: OpRef<'_>) -> Inlining {
        of_function(op, caller)
    }
}

/// An attribute of LLVM by name, with its value if it has one.
type Entry = (String, Option<Attr>);

fn passed_through(op: OpRef<'_>) -> Vec<Entry> {
    let ctx = op.ctx();
    let entries = op.attr("passthrough").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    let entry = |attr: &Attr| match attr.kind(ctx) {
        AttrKind::Array(pair) => {
            let name = pair.first().and_then(|name| name.as_str(ctx)).unwrap_or_default();
            (name.to_owned(), pair.get(1).copied())
        }
        _ => (attr.as_str(ctx).unwrap_or_default().to_owned(), None),
    };
    entries.iter().map(entry).collect()
}

fn has_calling_attributes(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let dicts = op.attr("arg_attrs").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    dicts.iter().any(|attr| match attr.kind(ctx) {
        AttrKind::Dictionary(dict) => {
            dict.entries(ctx).iter().any(|(name, _)| CALLING.contains(&ctx.str(*name)))
        }
        _ => false,
    })
}

impl CallLike for Call {
    fn callee(&self, op: OpRef<'_>) -> Option<Attr> {
        op.attr("callee")
    }

    fn arguments(&self, op: OpRef<'_>) -> Vec<Value> {
        arguments(op)
    }

    fn inlining(&self, op: OpRef<'_>) -> Inlining {
        if op.attr("no_inline").is_some() {
            return Inlining::Never("the call has 'no_inline'");
        }
        if !op.operand_group("op_bundle_operands").is_empty() || has_bundles(op) {
            return Inlining::Never("the call has operand bundles");
        }
        if has_calling_attributes(op) {
            return Inlining::Never("an argument is passed in memory or a register of the call");
        }
        if op.attr("always_inline").is_some() { Inlining::Always } else { Inlining::Allowed }
    }
}

fn has_bundles(op: OpRef<'_>) -> bool {
    op.attr("op_bundle_tags").and_then(|attr| attr.as_array(op.ctx())).is_some_and(|tags| !tags.is_empty())
}

/// A call or memory access: what it says of its function's frame and run does not hold elsewhere.
struct Inlined;

impl Inlinable for Inlined {
    fn inlining(&self, op: OpRef<'_>) -> Inlining {
        if is_must_tail(op) {
            return Inlining::Never("a call in it must be a tail call");
        }
        Inlining::Allowed
    }

    fn was_inlined(&self, body: &mut Body, op: Op) {
        for name in ["alias_scopes", "noalias_scopes"] {
            if body.attr(op, name).is_some() {
                body.remove_attr(op, name);
            }
        }
        let kind = case(body.op_ref(op), "TailCallKind", &TAIL_CALL_KIND);
        if kind.is_some_and(|text| text == "tail") {
            let none = TAIL_CALL_KIND.attr(body.ctx(), 0);
            body.set_attr(op, "TailCallKind", none);
        }
    }
}

/// Changes the kept metadata of an operation that was inlined in place of a call, given the kept
/// metadata of the call. It has the call's place in the source. Alias scopes are those of one run
/// of its function, and another copy is another run. The places of a loop are in its function.
pub fn move_metadata(body: &mut Body, op: Op, of_call: Option<Attr>) {
    let ctx = body.ctx().clone();
    let entries = |attr: Option<Attr>| match attr.map(|own| own.kind(&ctx)) {
        Some(AttrKind::Dictionary(all)) => all.entries(&ctx),
        _ => &[],
    };
    let old = body.attr(op, METADATA);
    let stays =
        |name: &str| !matches!(name, "dbg" | "alias.scope" | "noalias") && !name.starts_with("llvm.loop");
    let own = entries(old).iter().filter(|(name, _)| stays(ctx.str(*name)));
    let place = entries(of_call).iter().filter(|(name, _)| ctx.str(*name) == "dbg");
    let all: Vec<(Name, Attr)> = own.chain(place).copied().collect();
    let new = (!all.is_empty()).then(|| ctx.attr(AttrKind::Dictionary(ctx.dict(all))));
    match new {
        Some(new) if old != Some(new) => body.set_attr(op, METADATA, new),
        None if old.is_some() => body.remove_attr(op, METADATA),
        _ => {}
    }
}

struct Return;

impl ReturnAsBranch for Return {
    fn branch(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> OperationState {
        let state = OperationState::of(op.ctx(), BrOp::DEF, op.loc());
        state.operands(operands).successors(&[target])
    }
}

struct Alloca;

impl StackAllocation for Alloca {
    fn ends_with_scope(&self, _: OpRef<'_>) -> bool {
        false
    }
}

impl Inlinable for Alloca {
    fn inlining(&self, op: OpRef<'_>) -> Inlining {
        match op.attr("inalloca") {
            Some(_) => Inlining::Never("it allocates arguments of a call"),
            None => Inlining::Allowed,
        }
    }
}

pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn FunctionLike>(FuncOp::DEF, Box::new(Function));
    registry.attach_to::<dyn ReturnAsBranch>(ReturnOp::DEF, Box::new(Return));
    registry.attach_to::<dyn StackAllocation>(AllocaOp::DEF, Box::new(Alloca));
    registry.attach_to::<dyn Inlinable>(AllocaOp::DEF, Box::new(Alloca));
    registry.attach_to::<dyn CallLike>(CallOp::DEF, Box::new(Call));
    let accesses = ["llvm.call", "llvm.load", "llvm.store", "llvm.atomicrmw", "llvm.cmpxchg"];
    let copies = ["llvm.intr.memcpy", "llvm.intr.memcpy.inline", "llvm.intr.memmove", "llvm.intr.memset"];
    for name in accesses.into_iter().chain(copies) {
        registry.attach::<dyn Inlinable>(name, Box::new(Inlined));
    }
}
