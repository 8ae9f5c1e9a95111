//! The summary lines about functions of the `llvm` dialect.

use crate::{Accesses, FuseReport, Raised};

/// Returns one line about the loops of a program in LLVM IR: those on the loop tree, the number of
/// `edits` beside fusion, and why loops do not count. Empty if there are none.
pub(super) fn summary(raised: &Raised, fusion: &FuseReport, edits: u64) -> String {
    if raised.loops == 0 {
        return String::new();
    }
    let mut text = format!(
        "{}, {} on the loop tree, {} counted; {} fused, {} refused",
        counted(raised.loops, "loop"),
        raised.raised(),
        raised.counted,
        fusion.fused,
        fusion.refused,
    );
    if edits > 0 {
        text += &format!(", {edits} transformed otherwise");
    }
    let reasons = raised.reasons();
    if !reasons.is_empty() {
        let parts = reasons.iter().map(|(why, number)| format!("{number} {}", why.of_several(*number == 1)));
        let parts: Vec<String> = parts.collect();
        text += &format!("; {} not counted: {}", raised.uncounted.len(), parts.join(", "));
    }
    text + "\n"
}

/// Returns one line about the accesses in counted loops. Empty if there are none.
pub(super) fn access_summary(accesses: &Accesses) -> String {
    match accesses.counts() {
        (_, 0) => String::new(),
        (affine, all) => {
            let tested = match accesses.tested() {
                0 => String::new(),
                tested => format!(", {tested} of them if a test before the loops holds"),
            };
            format!("{} in counted loops, {affine} affine{tested}\n", counted_in(all, "access", "accesses"))
        }
    }
}

/// Returns a number with its noun.
pub(super) fn counted(number: usize, what: &str) -> String {
    counted_in(number, what, &format!("{what}s"))
}

fn counted_in(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
