//! Arguments that may be poison.
//!
//! Proofs take arguments to be numbers. In LLVM IR one without `noundef` may be poison. A function
//! that freezes it then does something where one that does not is undefined, and so does one that
//! selects by it where another branches.

use loomir_ir::{Attr, AttrKind, OpRef};

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
/// original is not: it freezes less, or branches more. Linear.
pub(super) fn matters(functions: [OpRef<'_>; 2]) -> bool {
    let solid = solid_arguments(functions[1]);
    let body = functions[1].body();
    let entry = functions[1].regions().next().and_then(|region| body.entry_block(region));
    let arguments = entry.map_or(0, |entry| body.num_arguments(entry));
    let is_open = (0..arguments).any(|at| !solid.get(at).copied().unwrap_or(false));
    if functions.iter().any(|function| function.name() != "llvm.func") || !is_open {
        return false;
    }
    let [(freezes, branches), (left, own)] = functions.map(frozen_and_branched);
    left < freezes || own > branches
}

/// Returns how often a function freezes, and how often it branches by what was not just frozen.
fn frozen_and_branched(function: OpRef<'_>) -> (usize, usize) {
    let body = function.body();
    let (mut freezes, mut branches) = (0, 0);
    for op in body.preorder(function.op()).map(|op| body.op_ref(op)) {
        match op.name() {
            "llvm.freeze" => freezes += 1,
            "llvm.cond_br" | "llvm.switch" => {
                let by = body.defining_op(op.operand(0)).map(|by| body.op_ref(by).name());
                branches += usize::from(by != Some("llvm.freeze"));
            }
            _ => {}
        }
    }
    (freezes, branches)
}
