//! Programs made wrong on purpose: what Loomir made of the fixtures, with one change in the text.
//!
//! Many changes make a wrong program. The prover may call no program equal that does something else
//! on some input.

mod support;

use std::fmt::Write;

use loomir_check::proof::{Assumption, Proof, ProofOptions};
use support::pairs::{fixtures, pairs};
use support::run::{Random, difference};
use support::{functions, printed, prove_named, try_parse};

/// Returns a copy of a text with one change; `None` if there is nothing to change.
fn changed(text: &str, random: &mut Random) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let index = random.below(lines.len());
    let line = lines[index].clone();
    let new = match random.below(9) {
        0 | 1 => with_number(&line, random)?,
        2 if line.contains("load") || line.contains("store") => {
            let end = line.find(']')?;
            let sign = if random.chance(50) { "+" } else { "-" };
            format!("{} {sign} 1{}", &line[..end], &line[end..])
        }
        3 => swapped_operands(&line)?,
        4 => {
            let renamed = [
                ("slt", "sle"),
                ("sle", "slt"),
                ("sgt", "sge"),
                ("sge", "sgt"),
                ("eq,", "ne,"),
                ("addi", "subi"),
                ("subi", "addi"),
                ("addf", "mulf"),
                ("mulf", "addf"),
                ("muli", "addi"),
                ("minsi", "maxsi"),
            ];
            let at = random.below(renamed.len());
            let (from, to) =
                renamed.iter().cycle().skip(at).take(renamed.len()).find(|(from, _)| line.contains(from))?;
            line.replacen(from, to, 1)
        }
        5 if line.contains("store") => {
            lines.remove(index);
            return Some(lines.join("\n"));
        }
        6 => {
            lines.swap(index, index.checked_sub(1)?);
            return Some(lines.join("\n"));
        }
        7 => with_other_value(&line, text, random)?,
        _ => {
            // A line moves down.
            let line = lines.remove(index);
            let to = (index + 1 + random.below(4)).min(lines.len());
            lines.insert(to, line);
            return Some(lines.join("\n"));
        }
    };
    lines[index] = new;
    Some(lines.join("\n"))
}

/// Adds or subtracts one from a number that stands by itself.
fn with_number(line: &str, random: &mut Random) -> Option<String> {
    let bytes = line.as_bytes();
    let is_own = |at: usize| {
        bytes[at].is_ascii_digit()
            && at > 0
            && (b" -(,[".contains(&bytes[at - 1]))
            && line[at..]
                .find(|c: char| !c.is_ascii_digit())
                .is_none_or(|end| b" )],".contains(&bytes[at + end]))
    };
    let places: Vec<usize> = (0..bytes.len()).filter(|at| is_own(*at)).collect();
    let at = *places.get(random.below(places.len()))?;
    let end = line[at..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| at + end);
    let number: i64 = line[at..end].parse().ok()?;
    let number = if random.chance(50) { number.saturating_add(1) } else { (number - 1).max(0) };
    Some(format!("{}{number}{}", &line[..at], &line[end..]))
}

fn swapped_operands(line: &str) -> Option<String> {
    let at = line.find("arith.")?;
    let first = at + line[at..].find('%')?;
    let middle = first + line[first..].find(", %")?;
    let end = middle + 2 + line[middle + 2..].find([' ', ','])?;
    let (a, b) = (&line[first..middle], &line[middle + 2..end]);
    Some(format!("{}{b}, {a}{}", &line[..first], &line[end..]))
}

/// Replaces one use of a value by another value.
fn with_other_value(line: &str, text: &str, random: &mut Random) -> Option<String> {
    let names = |text: &str| -> Vec<(usize, usize)> {
        let starts = text.match_indices('%').map(|(at, _)| at);
        let end = |at: usize| {
            text[at + 1..]
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(text.len(), |end| at + 1 + end)
        };
        starts.map(|at| (at, end(at))).collect()
    };
    let all = names(text);
    let own = names(line);
    let (from, to) = *own.get(random.below(own.len()))?;
    let (a, b) = *all.get(random.below(all.len()))?;
    Some(format!("{}{}{}", &line[..from], &text[a..b], &line[to..]))
}

/// Judges changes of all pairs of a folder.
fn judge(folder: &str, seed: u64, each: usize, told: &mut String) -> (usize, usize) {
    let (mut judged, mut equal) = (0, 0);
    let mut random = Random(seed);
    for path in fixtures(folder) {
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
                    if [Assumption::Reassociation, Assumption::EqualCallees]
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
    let (seed, each) = (variable("LOOMIR_CHECK_SEED", 1), variable("LOOMIR_CHECK_EACH", 6) as usize);
    let mut told = String::new();
    let mut sums = (0, 0);
    for folder in ["edits", "fusion", "distribution", "contraction", "cost", "peel", "strip_mine"] {
        let (judged, equal) = judge(folder, seed, each, &mut told);
        sums = (sums.0 + judged, sums.1 + equal);
    }
    assert!(told.is_empty(), "{told}");
    // Most changes are seen, and some change nothing.
    assert!(sums.0 > 50 * each && sums.1 > 0 && 10 * sums.1 < 6 * sums.0, "{sums:?}");
}
