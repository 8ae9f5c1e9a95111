//! Facts that a raised function tells LLVM about its new code, and the checks of these facts.
//!
//! Accesses in a tested arm get alias scopes: in each access the numbers of [`APART`], and at the
//! start of the arm a declaration, so that copies of the arm (inlined, unrolled) get scopes of
//! their own. Additions to induction variables get `nuw` and `nsw` ([`counter_flags`]). Loops that
//! certainly end say `mustprogress`.
//!
//! With [`Facts::Checked`] nothing is told. Code traps where a fact does not hold: the ranges of
//! addresses of objects that are apart, the additions, and numbers that raising cut off without
//! loss. Linear.

use hashbrown::HashSet;
use loomir_dialects::interfaces::{CallLike, Conditional};
use loomir_dialects::llvm::attributes::OVERFLOW;
use loomir_dialects::{arith, llvm, scf};
use loomir_ir::{Attr, AttrKind, Block, Body, Builder, InsertPoint, Op, Type};
use loomir_transforms::marks::{APART, CHECK, VERSIONED};

use super::checked;
use crate::emit::{NSW, NUW};
use crate::ll::{LOOP_ANNOTATION, kept_metadata};
use crate::scf_to_cf::counter_flags;

/// The use of facts about new code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Facts {
    /// None: the dialect has no form for some of them.
    #[default]
    Omitted,
    /// LLVM is told, in its text.
    Told,
    /// The program traps where one does not hold, and LLVM is not told.
    Checked,
}

/// The intrinsic that declares scopes.
const DECLARATION: &str = "llvm.experimental.noalias.scope.decl";

/// States the facts of a raised function, or checks them.
pub(super) fn state(function: &mut Body, facts: Facts) {
    arms(function, facts);
    if facts == Facts::Omitted {
        return;
    }
    let loops: Vec<Op> = function.all_ops().filter(|op| function.is(*op, scf::ForOp::DEF)).collect();
    if facts == Facts::Told {
        say_progress(function, &loops);
    }
    if facts == Facts::Checked {
        for op in loops {
            checked::counter(function, op, counter_flags(function, op));
        }
        let cuts: Vec<(Op, u64)> =
            function.all_ops().filter_map(|op| Some((op, cut(function, op)?))).collect();
        cuts.into_iter().for_each(|(op, flags)| checked::cut(function, op, flags));
    }
}

/// Marks the checks of versions, and declares or checks the scopes of their tested arms. Accesses
/// that left their arm say nothing.
fn arms(function: &mut Body, facts: Facts) {
    let marked = |op: &Op| function.attr(*op, VERSIONED).is_some() && function.is(*op, scf::IfOp::DEF);
    let versions: Vec<Op> = function.all_ops().filter(marked).collect();
    let mut lists: Vec<(Op, Attr)> = Vec::new();
    let mut declared: Vec<(Block, Attr)> = Vec::new();
    for (check, version) in versions.into_iter().enumerate() {
        if facts != Facts::Omitted {
            function.set_attr(version, CHECK, Attr::UNIT);
        }
        let Some(arm) = function.single_block(function.region(version, 0)) else { continue };
        let accesses = accesses(function, arm);
        if accesses.is_empty() || facts == Facts::Omitted {
            continue;
        }
        if facts == Facts::Checked {
            checked::scopes(function, arm, &accesses);
            continue;
        }
        let mut objects: Vec<i64> = accesses.iter().flat_map(|(_, list)| list.iter().copied()).collect();
        objects.sort_unstable();
        objects.dedup();
        let numbered = |numbers: &[i64]| {
            let ctx = function.ctx();
            let all = std::iter::once(check as i64).chain(numbers.iter().copied());
            ctx.array_attr(&all.map(|number| ctx.index_attr(number)).collect::<Vec<_>>())
        };
        lists.extend(accesses.iter().map(|(op, list)| (*op, numbered(list))));
        // A declaration names one scope.
        declared.extend(objects.iter().rev().map(|object| (arm, numbered(&[*object]))));
    }
    let listing: Vec<Op> = function.all_ops().filter(|op| function.attr(*op, APART).is_some()).collect();
    listing.into_iter().for_each(|op| function.remove_attr(op, APART));
    for (op, list) in lists {
        function.set_attr(op, APART, list);
    }
    declared.into_iter().for_each(|(arm, scopes)| declare(function, arm, scopes));
}

/// Returns the accesses in an arm with the numbers of their object and of those apart from it.
fn accesses(function: &Body, arm: Block) -> Vec<(Op, Vec<i64>)> {
    let ctx = function.ctx();
    let inside = function.ops(arm).flat_map(|op| function.preorder(op));
    let listed = inside.filter_map(|op| {
        let list = function.attr(op, APART)?.as_array(ctx)?;
        Some((op, list.iter().filter_map(|number| number.as_int(ctx)).collect()))
    });
    listed.collect()
}

fn declare(function: &mut Body, arm: Block, scopes: Attr) {
    let ctx = function.ctx().clone();
    let mut builder = Builder::new(function, InsertPoint::Start(arm));
    let mut state = builder.state(llvm::CallIntrinsicOp::DEF).attr(&ctx, APART, scopes);
    state.set_attr(&ctx, "intrin", ctx.string_attr(DECLARATION));
    state.set_segments(&ctx, &[0, 0]);
    builder.insert(state);
}

/// Says of each loop that it makes progress, if it certainly ends: it counts upwards, and contains
/// only such loops and operations that go on.
fn say_progress(function: &mut Body, loops: &[Op]) {
    let goes_on = |op: Op| {
        let info = function.info(op);
        let is_plain = function.own_regions(op).next().is_none()
            || info.interface::<dyn Conditional>().is_some()
            || info.is(scf::ForOp::DEF) && counter_flags(function, op) != 0;
        let may_stay = info.interface::<dyn CallLike>().is_some()
            || info.is(llvm::CallIntrinsicOp::DEF)
            || info.is(llvm::InlineAsmOp::DEF);
        is_plain && !may_stay
    };
    let mut may_stay: HashSet<Op> = HashSet::new();
    for op in function.all_ops().filter(|op| !goes_on(*op)) {
        let mut around = std::iter::successors(Some(op), |op| function.parent_op(*op));
        // What is around a known one is known too.
        let _ = around.all(|op| may_stay.insert(op));
    }
    let ctx = function.ctx().clone();
    let body = "loop_annotation<mustProgress = true>".into();
    let said = ctx.attr(AttrKind::Opaque { dialect: ctx.name("llvm"), body, pretty: true, ty: None });
    for op in loops.iter().filter(|op| !may_stay.contains(*op)) {
        let is_kept = kept_metadata(function.op_ref(*op), "llvm.loop").is_some();
        if !is_kept && function.attr(*op, LOOP_ANNOTATION).is_none() {
            function.set_attr(*op, LOOP_ANNOTATION, said);
        }
    }
}

/// Returns the flags of a truncation that raising made: its operand is a counter.
fn cut(function: &Body, op: Op) -> Option<u64> {
    if !function.is(op, llvm::TruncOp::DEF) {
        return None;
    }
    let counter = function.operand(op, 0);
    let is_counter = function.value_type(counter) == Type::I64
        && function.defining_op(counter).is_some_and(|op| function.is(op, arith::IndexCastOp::DEF));
    let flags = function.attr(op, "overflowFlags").and_then(|own| OVERFLOW.value(function.ctx(), own));
    flags.filter(|flags| is_counter && flags & (NSW | NUW) != 0)
}
