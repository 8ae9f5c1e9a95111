//! Functions that no proof in step may be about: the second program may run an operation as often
//! as it likes where its results are the same, and in other blocks than the first program. Some
//! operations do not allow that.
//!
//! **Assumptions.**
//! - Of a call that must stay where it is, LLVM says so at the call or at the function, or it is an
//!   intrinsic of a target. Tried with `calls_stay_where_they_are` in `check/tests/simulation.rs`.
//! - A result of floats is a function of the operands, but under fast-math flags other than `nnan`
//!   and `ninf`, and where products and sums may be one operation. Tried in
//!   `check/tests/simulation/pairs.rs`.

use loomir_ir::{Body, Name, OpRef, Trait, symbols, text};

use super::terms::Try;
use crate::proof::flag_bits;

/// Flags of floats, by the names of their attributes, under which a result is a function of the
/// operands: `nnan` and `ninf`.
const CLOSED_FLAGS: [(&str, u64); 2] = [("fastmathFlags", 1 | 2), ("fastmath", 2 | 4)];

/// The words that keep a call where it is: threads execute it together, it returns twice, or it may
/// not be copied. The last says how floats are rounded.
const FIXED: [&str; 4] = ["convergent", "returns_twice", "noduplicate", "strictfp"];

/// The names that intrinsics begin with which may be such calls, whatever is said of them.
const TARGETS: [&str; 7] = [
    "llvm.nvvm.",
    "llvm.amdgcn.",
    "llvm.r600.",
    "llvm.spv.",
    "llvm.dx.",
    "llvm.experimental.convergence.",
    "llvm.eh.sjlj.",
];

/// Functions that return twice, whatever is said of them.
const TWICE: [&str; 8] =
    ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "savectx", "vfork", "getcontext", "setjmp_syscall"];

/// The reason for a call that must stay where it is.
pub(super) const STAYS: &str = "the second program has a call that must stay where it is";

const ROUNDED: &str = "an operation of the second program may be rounded in several ways";

/// True if a name stands for a function whose calls must stay where they are.
pub(super) fn stays(module: &Body, name: Name) -> bool {
    let text = module.ctx().str(name);
    let function = symbols::lookup(module, text).map(|op| module.op_ref(op));
    stays_by_name(text) || function.is_some_and(says_it_stays)
}

fn stays_by_name(name: &str) -> bool {
    TARGETS.iter().any(|target| name.starts_with(target)) || TWICE.contains(&name)
}

/// True if an attribute of a call or of a function keeps calls where they are.
fn says_it_stays(op: OpRef<'_>) -> bool {
    says(op, &FIXED)
}

/// True if an operation has an attribute of one of these names, also one that only LLVM knows.
fn says(op: OpRef<'_>, words: &[&str]) -> bool {
    let listed = op.attr("passthrough").map(|attr| text::attr_to_string(op.ctx(), attr));
    let is_listed = |word: &&str| listed.as_ref().is_some_and(|text| text.contains(*word));
    words.iter().any(|word| op.attr(word).is_some() || is_listed(word))
}

/// Checks that a function of the second program promises nothing of its loops or branches, which it
/// may have in another form than the first program, and has no operation that must stay.
///
/// # Errors
///
/// The reason why no proof may be about it.
pub(super) fn check(function: OpRef<'_>) -> Try<()> {
    let (body, ctx) = (function.body(), function.ctx());
    let contracts = function.attr("fp_contract").is_some_and(|how| how.as_str(ctx) == Some("fast"));
    if contracts || says(function, &["fp-math"]) {
        return Err(ROUNDED);
    }
    for op in body.all_ops().filter(|op| *op != body.root()) {
        for (_, attr) in [body.properties(op), body.attributes(op)].iter().flat_map(|own| own.entries(ctx)) {
            let text = text::attr_to_string(ctx, *attr);
            if text.contains("mustProgress") || text.contains("parallelAccesses") {
                return Err("a loop of the second program promises something");
            }
        }
        let others = body.attributes(op).without(ctx, "loop_annotation");
        if body.has_trait(op, Trait::Terminator) && !others.is_empty() {
            return Err("a branch of the second program has attributes");
        }
        if body.attr(op, "noalias_scopes").is_some() {
            return Err("the second program has scopes of aliasing");
        }
        may_move(body.op_ref(op))?;
        let mut others = body.attributes(op).entries(ctx).iter();
        if others.any(|(_, attr)| text::attr_to_string(ctx, *attr).contains("noalias")) {
            return Err("the second program has scopes of aliasing");
        }
    }
    Ok(())
}

/// Checks that an operation may be copied, and run in other blocks.
fn may_move(op: OpRef<'_>) -> Try<()> {
    let may_round = CLOSED_FLAGS.iter().any(|(name, closed)| flag_bits(op, name) & !closed != 0);
    let intrinsic = op.attr("intrin").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
    if may_round || op.name().ends_with("fmuladd") || intrinsic.contains("fmuladd") {
        return Err(ROUNDED);
    }
    if says_it_stays(op) || stays_by_name(intrinsic) || op.name() == "llvm.inline_asm" {
        return Err(STAYS);
    }
    if op.def().is_none() {
        return Err("the second program has an operation that is not registered");
    }
    Ok(())
}
