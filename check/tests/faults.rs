//! Programs made wrong on purpose: what Loomir made of the fixtures, with one change in the text.
//!
//! Many changes make a wrong program. The prover may call no program equal that does something else
//! on some input.

use std::fmt::Write;

use crate::support::mutations::changed;
use crate::support::pairs::{fixtures, pairs};
use crate::support::random::Random;
use crate::support::run::difference;
use crate::support::{functions, printed, prove_named, try_parse};
use loomir_check::proof::{Assumption, Proof, ProofOptions};

/// Judges changes of the pairs in every second fixture of a folder.
fn judge((folder, half): (&str, usize), seed: u64, each: usize, told: &mut String) -> (usize, usize) {
    let (mut judged, mut equal) = (0, 0);
    let mut random = Random::new(seed);
    for path in fixtures(folder).into_iter().skip(half).step_by(2) {
        for pair in pairs(&path) {
            let ctx = loomir_dialects::context();
            let Ok(before) = try_parse(&ctx, &pair.before) else { continue };
            let Ok(right) = try_parse(&ctx, &pair.after) else { continue };
            for round in 0..each {
                // What is right for distinct arguments may be wrong for others.
                let text =
                    if round == 0 { Some(pair.after.clone()) } else { changed(&pair.after, &mut random) };
                let Some(text) = text else { continue };
                let Ok(after) = try_parse(&ctx, &text) else { continue };
                for (name, op) in functions(&after) {
                    let own = functions(&right).into_iter().find(|(own, _)| *own == name);
                    if round > 0 && own.is_some_and(|(_, own)| printed(&right, own) == printed(&after, op)) {
                        continue;
                    }
                    let distinct = round > 0 && random.chance(50);
                    let options = ProofOptions { distinct, ..ProofOptions::default() };
                    let Some(proof) = prove_named(&before, &after, &name, &options) else { continue };
                    judged += usize::from(round > 0);
                    if !proof.is_equal() {
                        continue;
                    }
                    equal += usize::from(round > 0);
                    let Proof::Equal { under } = &proof else { continue };
                    // Rounding may differ, and so may what is called: it was changed as well.
                    if [Assumption::Reassociation, Assumption::EqualCallees, Assumption::NoRaces]
                        .iter()
                        .any(|own| under.contains(own))
                    {
                        continue;
                    }
                    if let Some(different) = difference(&before, &after, &name, distinct, &mut random.clone())
                    {
                        let _ = writeln!(told, "{}: {different}\n{}\n{text}", pair.title, pair.before);
                    }
                }
            }
        }
    }
    (judged, equal)
}

#[test]
fn no_wrong_program_is_called_equal() {
    let variable = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (seed, each) = (variable("LOOMIR_CHECK_SEED", 1), variable("LOOMIR_CHECK_EACH", 4) as usize);
    let mut told = String::new();
    let mut sums = (0, 0);
    let folders =
        ["edits", "fusion", "distribution", "contraction", "conditionals", "cost", "peel", "strip_mine"];
    let judged = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || {
                let mut told = String::new();
                let sums = folders.map(|folder| judge((folder, half), seed, each, &mut told));
                (sums, told)
            })
        });
        halves.map(|half| half.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
    });
    for (half, said) in judged {
        half.into_iter().for_each(|(judged, equal)| sums = (sums.0 + judged, sums.1 + equal));
        told += &said;
    }
    assert!(told.is_empty(), "{told}");
    // Most changes are seen, and some change nothing.
    assert!(sums.0 > 50 * each && sums.1 > 0 && 10 * sums.1 < 6 * sums.0, "{sums:?}");
}
