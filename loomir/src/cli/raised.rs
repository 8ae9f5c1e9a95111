//! The summary line about functions of the `llvm` dialect.

use crate::Raised;

/// Returns one line about the loops of a program in LLVM IR: those on the loop tree, and why others
/// are not. Empty if there are none.
pub(super) fn summary(raised: &Raised, fused: usize, refused: usize) -> String {
    if raised.loops == 0 {
        return String::new();
    }
    let kept = raised.kept.iter().map(|(why, loops)| format!("; {loops} kept as branches, because {why}"));
    let kept: String = kept.collect();
    format!(
        "{} on the loop tree of {}, {} counted; {fused} fused, {} kept apart{kept}\n",
        raised.raised(),
        counted(raised.loops, "loop"),
        raised.counted,
        counted(refused, "pair"),
    )
}

/// Returns a number with its noun.
pub(super) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
