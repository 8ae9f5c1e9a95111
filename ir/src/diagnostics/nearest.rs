//! The name that somebody may have meant who wrote another one.

/// Longest names that are compared.
const MAX_LENGTH: usize = 64;

/// Returns the candidate that differs least from a word, if that is little: a third of its letters at
/// most. Of several the first. The cost is that of the lengths multiplied, for each candidate.
///
/// ```
/// use loomir_ir::diagnostics::nearest;
/// assert_eq!(nearest("adi", ["addi", "subi"]), Some("addi"));
/// assert_eq!(nearest("matmul", ["addi", "subi"]), None);
/// ```
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    let most = length.div_ceil(3);
    let near = candidates.into_iter().filter_map(|own| {
        let other = own.chars().count();
        let is_comparable = length.max(other) <= MAX_LENGTH && length.abs_diff(other) <= most;
        let distance = if is_comparable { distance(word, own) } else { usize::MAX };
        (distance > 0 && distance <= most).then_some((distance, own))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, own)| own)
}

/// Asks if the nearest of some names was meant.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(word, candidates).map(|own| format!("did you mean '{own}'?"))
}

/// The number of letters to insert, leave out or replace (Levenshtein's distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
