//! The size of code as LLVM counts it where no target is known.
//!
//! Most operations count one; divisions four; constants, arguments and address computations that a
//! load or store can do by itself nothing; calls one for each parameter and one more. This follows
//! LLVM's `TargetTransformInfoImplBase`.

use hashbrown::HashSet;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::byte_offsets;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Op, OpDef, Trait};

use crate::cfg::calls;
use crate::cfg::conditions::constant_bits;
use crate::cfg::effects::is_speculatable;

/// The count of an expensive operation.
const EXPENSIVE: u64 = 4;

/// Intrinsic functions that are no code, without the prefix `llvm.`.
const NO_CODE: &[&str] = &[
    "assume",
    "dbg.declare",
    "dbg.label",
    "dbg.value",
    "experimental.noalias.scope.decl",
    "invariant.end",
    "invariant.start",
    "launder.invariant.group",
    "lifetime.end",
    "lifetime.start",
    "ptr.annotation",
    "strip.invariant.group",
    "var.annotation",
];

/// Operations without operands that stand for constants.
const CONSTANTS: &[&str] =
    &["llvm.mlir.addressof", "llvm.mlir.none", "llvm.mlir.poison", "llvm.mlir.undef", "llvm.mlir.zero"];

/// Functions of the C library that become instructions.
const INLINE_FUNCTIONS: &[&str] = &[
    "abs",
    "ceil",
    "copysign",
    "copysignf",
    "copysignl",
    "cos",
    "cosf",
    "cosl",
    "exp2",
    "exp2f",
    "exp2l",
    "fabs",
    "fabsf",
    "fabsl",
    "ffs",
    "ffsl",
    "floor",
    "floorf",
    "fmax",
    "fmaxf",
    "fmaxl",
    "fmin",
    "fminf",
    "fminl",
    "labs",
    "llabs",
    "pow",
    "powf",
    "powl",
    "round",
    "sin",
    "sinf",
    "sinl",
    "sqrt",
    "sqrtf",
    "sqrtl",
];

/// Returns the size of an operation.
pub(super) fn of(function: &Body, op: Op, layout: &DataLayout, symbols: &SymbolTable) -> u64 {
    let is = |defs: &[&'static OpDef]| defs.iter().any(|def| function.is(op, def));
    let is_constant =
        function.has_trait(op, Trait::ConstantLike) || CONSTANTS.contains(&function.op_ref(op).name());
    if is_constant || calls::intrinsic(function, op).is_some_and(|name| NO_CODE.contains(&name)) {
        0
    } else if is(&[llvm::UDivOp::DEF, llvm::SDivOp::DEF, llvm::URemOp::DEF, llvm::SRemOp::DEF])
        || is(&[llvm::FDivOp::DEF, llvm::FRemOp::DEF])
    {
        EXPENSIVE
    } else if is(&[llvm::FreezeOp::DEF, llvm::ExtractValueOp::DEF]) || is_static_alloca(function, op) {
        0
    } else if is(&[llvm::GEPOp::DEF]) {
        u64::from(!is_foldable_address(function, op, layout))
    } else if is(&[llvm::BitcastOp::DEF]) {
        let is_pointer = |value| llvm::types::is_pointer(function.ctx(), function.value_type(value));
        let both = function.operands(op).chain(function.results(op)).all(is_pointer);
        u64::from(!both)
    } else if is(&[llvm::CallOp::DEF]) {
        call(function, op, symbols)
    } else {
        1
    }
}

/// Returns the operations of some blocks that are there for assumptions alone. They are no code.
pub(super) fn ephemeral(function: &Body, blocks: &[Block]) -> HashSet<Op> {
    let ops = blocks.iter().flat_map(|block| function.ops(*block));
    let mut pending: Vec<Op> = ops.filter(|op| function.is(*op, llvm::AssumeOp::DEF)).collect();
    let within: HashSet<Block> = blocks.iter().copied().collect();
    let mut found: HashSet<Op> = HashSet::new();
    while let Some(op) = pending.pop() {
        let is_only_assumed =
            function.results(op).all(|own| function.uses(own).all(|used| found.contains(&used.op)));
        let is_here = function.block_of(op).is_some_and(|block| within.contains(&block));
        let is_assumption = function.is(op, llvm::AssumeOp::DEF);
        if is_here && (is_assumption || is_speculatable(function, op)) && is_only_assumed && found.insert(op)
        {
            pending.extend(function.operands(op).filter_map(|value| function.defining_op(value)));
        }
    }
    found
}

/// True for a stack slot of constant size.
fn is_static_alloca(function: &Body, op: Op) -> bool {
    let is_constant = || {
        let size = function.defining_op(function.operand(op, 0));
        size.is_some_and(|size| function.has_trait(size, Trait::ConstantLike))
    };
    let is_in_entry = || function.block_of(op).is_some_and(|block| function.is_entry(block));
    function.is(op, llvm::AllocaOp::DEF) && is_constant() && is_in_entry()
}

/// True if an address is a register, or a register plus an index that is not scaled.
fn is_foldable_address(function: &Body, op: Op, layout: &DataLayout) -> bool {
    let base = function.defining_op(function.operand(op, 0));
    let is_global = base.is_some_and(|base| function.op_ref(base).name() == "llvm.mlir.addressof");
    let Ok((mut offset, indices)) = byte_offsets(function.op_ref(op), layout) else { return false };
    let mut scales = Vec::new();
    for (index, scale) in indices {
        match constant_bits(function, index) {
            Some((bits, width)) => offset += (signed(width, bits) as i64).wrapping_mul(scale),
            None => scales.push(scale),
        }
    }
    !is_global && offset == 0 && matches!(scales[..], [] | [1])
}

/// Returns the size of a call: one, if the function becomes an instruction.
fn call(function: &Body, op: Op, symbols: &SymbolTable) -> u64 {
    let ctx = function.ctx();
    let callee = function.attr(op, "callee");
    let symbol = callee.and_then(|callee| symbols.resolve(ctx, callee));
    let name = callee.and_then(|name| name.as_flat_symbol(ctx)).map(|name| ctx.str(name));
    let is_local = symbol.is_some_and(|symbol| symbol.has_body);
    if name.is_some_and(|name| INLINE_FUNCTIONS.contains(&name)) && !is_local {
        return 1;
    }
    1 + function.num_operands(op) as u64 - u64::from(callee.is_none())
}
