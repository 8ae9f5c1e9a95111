//! Pairs of programs that Loomir made itself: the fixtures of the tree and what was seen to come of
//! them. Each is a right transformation, so a proof is missing wherever there is none.

use crate::support::pairs::{fixtures, pairs};
use crate::support::{functions, parse, printed, prove_named, told};
use loomir_check::proof::ProofOptions;

/// The pairs of a folder: how many are proved, and a line for each that is not.
struct Judged {
    equal: usize,
    changed: usize,
    lines: String,
}

/// Proves all pairs of a folder. Arguments are distinct if the run says so, or as told.
fn judged(folder: &str, distinct: Option<bool>) -> Judged {
    let (mut changed, mut equal) = (0, 0);
    let mut lines = String::new();
    for path in fixtures(folder) {
        for pair in pairs(&path) {
            let ctx = loomir_dialects::context();
            let (before, after) = (parse(&ctx, &pair.before), parse(&ctx, &pair.after));
            for (name, op) in functions(&before) {
                let Some((_, other)) = functions(&after).into_iter().find(|(own, _)| *own == name) else {
                    continue;
                };
                if printed(&before, op) == printed(&after, other) {
                    continue;
                }
                changed += 1;
                let said = pair.title.contains("alias=distinct");
                let options = ProofOptions { distinct: distinct.unwrap_or(said), ..ProofOptions::default() };
                let proof = prove_named(&before, &after, &name, &options).expect("both functions");
                match proof.is_equal() {
                    true => equal += 1,
                    false => lines.push_str(&format!("{} @{name}: {}\n", pair.title, told(&ctx, &proof))),
                }
            }
        }
    }
    Judged { equal, changed, lines }
}

/// The folders; how many pairs of each are proved at least, if arguments are distinct and if they
/// are only where the run says so.
const FOLDERS: [(&str, usize, usize); 8] = [
    ("edits", 51, 51),
    ("fusion", 226, 224),
    ("distribution", 23, 23),
    ("contraction", 28, 27),
    ("conditionals", 5, 5),
    ("cost", 18, 18),
    ("peel", 12, 12),
    ("strip_mine", 3, 3),
];

#[test]
fn most_of_what_loomir_does_is_proved() {
    let mut all = String::new();
    let mut fewer = Vec::new();
    for (folder, least, least_as_said) in FOLDERS {
        for (distinct, least) in [(Some(true), least), (None, least_as_said)] {
            let judged = judged(folder, distinct);
            if judged.equal < least {
                fewer.push(format!("{folder} {distinct:?}: {} instead of {least}", judged.equal));
            }
            let Judged { equal, changed, lines } = judged;
            all += &format!("{folder} {distinct:?}: {equal} of {changed} equal\n{lines}");
        }
    }
    // The list of what is open is kept where the variable says, to work through.
    if let Ok(path) = std::env::var("LOOMIR_CHECK_OPEN") {
        std::fs::write(path, &all).expect("the list is written");
    }
    assert!(fewer.is_empty(), "{}\n{all}", fewer.join("\n"));
}
