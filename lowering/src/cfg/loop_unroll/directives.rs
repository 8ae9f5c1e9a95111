//! Directives about unrolling at a loop: LLVM's metadata, as the annotation of the latch's branch.

use loomir_ir::{Body, Op};
use loomir_transforms::unrolling::Directives;

use crate::cfg::branch::LOOP_ANNOTATION;
use crate::ll::{Properties, kept_metadata};

const UNROLL: &str = "llvm.loop.unroll.";
const JAM: &str = "llvm.loop.unroll_and_jam.";
const PEELED: &str = "llvm.loop.peeled.count";

/// Returns the properties at a latch's branch. `None` if it has some that can't be read.
fn properties(function: &Body, branch: Op) -> Option<Properties> {
    match function.attr(branch, LOOP_ANNOTATION) {
        Some(own) => Properties::of(function.ctx(), own),
        None => kept_metadata(function.op_ref(branch), "llvm.loop").is_none().then(Properties::default),
    }
}

/// Returns the directives at the branch of a latch, and the number of iterations peeled already.
/// `None` if there may be some that can't be read.
pub(super) fn read(function: &Body, branch: Op) -> Option<(Directives, u64)> {
    let own = properties(function, branch)?;
    let has = |name: &str| own.has(&format!("{UNROLL}{name}"));
    let directives = Directives {
        disable: has("disable"),
        enable: has("enable"),
        full: has("full"),
        count: own.number(&format!("{UNROLL}count")),
        runtime_disable: has("runtime.disable"),
        disable_nonforced: own.has("llvm.loop.disable_nonforced"),
        left_to_jam: jams(&own),
    };
    Some((directives, own.number(PEELED).unwrap_or(0)))
}

/// True if a directive at a latch's branch asks for unroll-and-jam.
pub(super) fn asks_for_jam(function: &Body, branch: Op) -> bool {
    properties(function, branch).is_some_and(|own| jams(&own))
}

fn jams(own: &Properties) -> bool {
    let count = own.number(&format!("{JAM}count"));
    let is_disabled = own.has(&format!("{JAM}disable")) || count == Some(1);
    !is_disabled && (own.has(&format!("{JAM}enable")) || count.is_some())
}

/// Marks a loop as unrolled: other directives about unrolling are gone, and none may follow.
pub(super) fn mark_unrolled(function: &mut Body, branch: Op) {
    let Some(mut own) = properties(function, branch) else { return };
    own.remove(UNROLL);
    own.set(&format!("{UNROLL}disable"), None);
    write(function, branch, &own);
}

/// Adds to the number of iterations that are peeled.
pub(super) fn mark_peeled(function: &mut Body, branch: Op, count: u64) {
    let Some(mut own) = properties(function, branch) else { return };
    let before = own.number(PEELED).unwrap_or(0);
    own.set(PEELED, Some(before.saturating_add(count)));
    write(function, branch, &own);
}

fn write(function: &mut Body, branch: Op, own: &Properties) {
    let ctx = function.ctx().clone();
    if let Some(annotation) = own.annotation(&ctx) {
        function.set_attr(branch, LOOP_ANNOTATION, annotation);
    }
}
