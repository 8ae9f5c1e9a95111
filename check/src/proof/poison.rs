//! Arguments that may be poison.
//!
//! Proofs take arguments to be numbers. In LLVM IR one without `noundef` may be poison. A function
//! that freezes it then does something where one that does not is undefined, and so does one that
//! selects by it where another branches.

use hashbrown::HashSet;
use loomir_ir::{Attr, AttrKind, Op, OpRef, Value, ValueDef};

/// Returns for each argument of a function true if it says that the argument is not poison.
pub(crate) fn solid_arguments(function: OpRef<'_>) -> Vec<bool> {
    let ctx = function.ctx();
    let is_solid = |attributes: &Attr| {
        matches!(attributes.kind(ctx), AttrKind::Dictionary(dict)
            if dict.get(ctx, "llvm.noundef").is_some())
    };
    let attributes = function.attr("arg_attrs").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    attributes.iter().map(is_solid).collect()
}

/// True if the other one of two functions may be undefined where an argument is poison, and the
/// original is not: it freezes fewer arguments, or branches by more of them. Linear.
///
/// Values that merge from several blocks are not followed.
pub(super) fn matters(functions: [OpRef<'_>; 2]) -> bool {
    if functions.iter().any(|function| function.name() != "llvm.func") {
        return false;
    }
    let solid = solid_arguments(functions[1]);
    let is_open = |at: &usize| !solid.get(*at).copied().unwrap_or(false);
    let [before, after] = functions.map(|function| {
        [&["llvm.freeze"][..], &["llvm.cond_br", "llvm.switch"]].map(|users| arguments_of(function, users))
    });
    let frozen = before[0].difference(&after[0]);
    let branched = after[1].difference(&before[1]);
    frozen.chain(branched).any(is_open)
}

/// Returns the arguments that the first operands of some operations are computed from, without a
/// freeze in between.
fn arguments_of(function: OpRef<'_>, users: &[&str]) -> HashSet<usize> {
    let body = function.body();
    let entry = function.regions().next().and_then(|region| body.entry_block(region));
    let is_user = |op: &Op| users.contains(&body.op_ref(*op).name());
    let mut left: Vec<Value> =
        body.preorder(function.op()).filter(is_user).filter_map(|op| body.operands(op).next()).collect();
    let (mut seen, mut found) = (HashSet::new(), HashSet::new());
    while let Some(value) = left.pop() {
        if !seen.insert(value) {
            continue;
        }
        match body.def(value) {
            ValueDef::BlockArgument { block, index } if Some(block) == entry => {
                found.insert(index);
            }
            ValueDef::OpResult { op, .. } if body.op_ref(op).name() != "llvm.freeze" => {
                left.extend(body.operands(op));
            }
            _ => {}
        }
    }
    found
}
