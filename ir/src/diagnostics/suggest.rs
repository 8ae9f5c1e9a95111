//! "Did you mean": the known word nearest to one that is misspelt.

/// Longest word that is looked at, in characters. Longer ones are hardly misspelt, and comparing is
/// quadratic.
const LONGEST: usize = 64;

/// Returns the candidate nearest to `word`, if at most a third of the word would have to change.
/// The first of equals wins.
///
/// Cost: for each candidate the product of both lengths, which are bounded.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).collect();
    let most = (word.len() / 3).max(1);
    let near = |candidate: &'c str| Some((distance(&word, candidate, most)?, candidate));
    candidates.into_iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, found)| found)
}

/// Returns the help that names the candidate nearest to `word`, if there is one.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(word, candidates).map(|found| format!("did you mean '{found}'?"))
}

/// Counts the characters to insert, delete, replace or swap with their neighbour, if those are at
/// most `most`.
fn distance(word: &[char], candidate: &str, most: usize) -> Option<usize> {
    let candidate: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
    let too_long = word.len().max(candidate.len()) > LONGEST;
    if too_long || word.len().abs_diff(candidate.len()) > most {
        return None;
    }
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=candidate.len()).collect();
    for (i, own) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in candidate.iter().enumerate() {
            let replaced = last[j] + usize::from(own != other);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *own == candidate[j - 1] && word[i - 1] == *other {
                let swapped: &Vec<usize> = &before;
                least = least.min(swapped[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|distance| *distance <= most)
}
