//! Functions of the `llvm` dialect on the loop tree, and back.
//!
//! [`raise`] writes a function with structured control flow ([`cf_to_scf`](crate::cf_to_scf)) and
//! cleans up. Whatever works on loops of `scf` then works on it. [`lower`] writes branches again.
//! [`convert_raised`] turns operations of other dialects, which were added on the way, into those
//! of `llvm`. A function in which nothing changed is best kept as it was.

use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::OVERFLOW;
use loomir_dialects::llvm::control::addresses::has_fixed_blocks;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Attr, Body, Diagnostics, Loc, Op, Value};
use loomir_transforms::affine::classes::may_be_poison;
use loomir_transforms::carried_loads::reload_carried;
use loomir_transforms::guard_folding::fold_guards;
use loomir_transforms::marks::VERSIONED;
use loomir_transforms::mem2reg::{Promoted, mem2reg};
use loomir_transforms::nest_sinking::sink_into_nests;
use loomir_transforms::simplify::canonicalize::canonicalize;
use loomir_transforms::simplify::cse::cse;
use loomir_transforms::simplify::int_range::drop_freezes;
use loomir_transforms::simplify::sroa::sroa;

pub use crate::cf_to_scf::{Lifted, Opaque, Uncounted};

use crate::cf_to_scf::{is_bound, lift_cf_to_scf, lift_parts_to_scf};
use crate::cfg::simplify_cfg::simplify_cfg;
use crate::cfg::{Analysis, place_of};
use crate::scf_to_cf::convert_scf_to_cf_with_flags;
use crate::to_llvm::{self, Options};
use crate::{convert_scf_to_cf, lower_affine};

mod checked;
mod dispatch;
mod facts;
mod gone;

pub use dispatch::dispatches;
pub use facts::Facts;
pub use gone::Gone;
use gone::Lost;

/// Returns the places of the loops of an `llvm.func`. Linear.
pub fn loops(function: &Body) -> Vec<Loc> {
    let region = function.region(function.root(), 0);
    let is_flat = function.blocks(region).nth(1).is_none();
    if is_flat {
        return gone::places(function);
    }
    let analysis = Analysis::with_all_loops(function);
    let place = |header| place_of(function, analysis.block(header));
    analysis.loops().iter().map(|(_, own)| place(own.header())).collect()
}

/// A function with structured control flow.
#[derive(Debug)]
pub struct RaisedFunction {
    /// The function.
    pub body: Body,
    /// Its loops, as they were found.
    pub loops: Lifted,
    /// The loops among them that are gone: their places, and the reasons.
    pub gone: Vec<(Loc, Gone)>,
}

/// Returns a copy of an `llvm.func` with structured control flow. The symbols are those of its
/// module.
///
/// # Errors
/// The reason why the function has no such form here.
pub fn raise(function: &Body, symbols: &SymbolTable) -> Result<RaisedFunction, Opaque> {
    let mut body = promoted(function, symbols)?;
    let loops = lift_cf_to_scf(&mut body, symbols)?;
    let gone = clean_up(&mut body, symbols);
    Ok(RaisedFunction { body, loops, gone })
}

/// Returns a copy of an `llvm.func` whose counted loops that stand side by side have structured
/// control flow, as far as this needs no [branches on data](dispatches). Everything else keeps its
/// blocks. `None` if there are no such loops, or if the function has no such form here.
pub fn raise_parts(function: &Body, symbols: &SymbolTable) -> Option<RaisedFunction> {
    let mut body = promoted(function, symbols).ok()?;
    let (parts, loops) = lift_parts_to_scf(&mut body, symbols).ok()?;
    if parts == 0 {
        return None;
    }
    let gone = clean_up(&mut body, symbols);
    Some(RaisedFunction { body, loops, gone })
}

/// Returns a copy of a function that may change, with its variables in values.
fn promoted(function: &Body, symbols: &SymbolTable) -> Result<Body, Opaque> {
    if is_untouchable(function) {
        return Err(Opaque::Untouchable);
    }
    if has_fixed_blocks(function) {
        return Err(Opaque::Branch);
    }
    if function.all_ops().any(|op| is_bound(function, op, symbols)) {
        return Err(Opaque::Bound);
    }
    let mut raised = function.duplicate();
    // What no optimizer saw keeps its variables in memory.
    let parted = sroa(&mut raised);
    if mem2reg(&mut raised) != Promoted::default() || parted > 0 {
        canonicalize(&mut raised);
        simplify_cfg(&mut raised, true);
    }
    Ok(raised)
}

/// Simplifies what was lifted. Returns the loops that are gone.
fn clean_up(raised: &mut Body, symbols: &SymbolTable) -> Vec<(Loc, Gone)> {
    let lifted = Lost::before(raised);
    canonicalize(raised);
    drop_copies(raised);
    drop_freezes(raised);
    cse(raised);
    fold_guards(raised);
    let layout = DataLayout::of_symbols(raised.ctx(), symbols);
    reload_carried(raised, &layout);
    canonicalize(raised);
    sink_into_nests(raised);
    lifted.after(raised)
}

/// Replaces numbers by those that they certainly equal: frozen numbers that are never poison, and
/// numbers extended to the width that they were truncated from without loss.
fn drop_copies(function: &mut Body) {
    let ops: Vec<Op> = function.all_ops().filter(|op| function.num_operands(*op) == 1).collect();
    for op in ops {
        let number = function.operand(op, 0);
        let original = if function.is(op, llvm::FreezeOp::DEF) {
            (!may_be_poison(function, number, false)).then_some(number)
        } else {
            extended_original(function, op)
        };
        if let Some(original) = original {
            function.replace_all_uses(function.result(op, 0), original);
            function.erase(op);
        }
    }
}

/// Returns the number that an extension restores: it was truncated without loss.
fn extended_original(function: &Body, op: Op) -> Option<Value> {
    let (signed, unsigned) = (function.is(op, llvm::SExtOp::DEF), function.is(op, llvm::ZExtOp::DEF));
    if !signed && !unsigned {
        return None;
    }
    let trunc = function.defining_op(function.operand(op, 0));
    let trunc = trunc.filter(|trunc| function.is(*trunc, llvm::TruncOp::DEF))?;
    let original = function.operand(trunc, 0);
    let flags = function.attr(trunc, "overflowFlags");
    let flags = flags.and_then(|flags| OVERFLOW.value(function.ctx(), flags));
    let (keeps_sign, keeps_bits) = (flags? & 1 != 0, flags? & 2 != 0);
    let is_natural = function.attr(op, "nonNeg").is_some();
    let is_kept = if signed { keeps_sign } else { keeps_bits || (is_natural && keeps_sign) };
    let is_alike = function.value_type(original) == function.value_type(function.result(op, 0));
    (is_kept && is_alike).then_some(original)
}

/// True if the attributes of a function forbid changes: `optnone`, `naked`, strict floating-point
/// rules, or a coroutine that is not split yet.
fn is_untouchable(function: &Body) -> bool {
    let forbidden = ["optnone", "naked", "strictfp", "presplitcoroutine"];
    let passed = function.root_ref().attr("passthrough");
    let passed = passed.and_then(|all| all.as_array(function.ctx())).unwrap_or_default();
    let says = |attr: &Attr| attr.as_str(function.ctx()).is_some_and(|own| forbidden.contains(&own));
    function.root_ref().attr("optimize_none").is_some() || passed.iter().any(says)
}

/// Writes a raised function with branches. Operations of `arith` and `index` remain. Loops of
/// versions are marked, because their check does not look like one any more.
///
/// # Errors
/// The errors of [`lower_affine`] and [`convert_scf_to_cf`].
pub fn lower(raised: &mut Body, facts: Facts) -> Result<(), Diagnostics> {
    lower_affine(raised)?;
    facts::state(raised, facts);
    mark_versions(raised);
    match facts {
        Facts::Told => convert_scf_to_cf_with_flags(raised),
        Facts::Omitted | Facts::Checked => convert_scf_to_cf(raised),
    }
}

/// Marks the loops on both sides of run-time checks.
fn mark_versions(raised: &mut Body) {
    let is_version = |op: &Op| raised.attr(*op, VERSIONED).is_some();
    let versions: Vec<Op> = raised.all_ops().filter(is_version).collect();
    let is_loop = |op: &Op| raised.info(*op).interface::<dyn LoopLike>().is_some();
    let loops: Vec<Op> = versions.iter().flat_map(|op| raised.preorder(*op)).filter(is_loop).collect();
    loops.into_iter().for_each(|op| raised.set_attr(op, VERSIONED, Attr::UNIT));
}

/// Converts the functions of a module that [`lower`] wrote to the `llvm` dialect, and simplifies
/// their control flow.
///
/// # Errors
/// Operations without a counterpart.
pub fn convert_raised(module: &mut Body) -> Result<(), Diagnostics> {
    let is_raised = |function: &Body| function.is(function.root(), llvm::FuncOp::DEF);
    to_llvm::convert_functions(module, Options::default(), &is_raised, &mut |function| {
        simplify_cfg(function, true);
    })
}
