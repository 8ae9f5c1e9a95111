//! Response files: `@FILE` stands for the words in a file.

use std::ffi::OsString;

use super::super::words::split;

/// The maximal nesting of response files.
const MAX_DEPTH: usize = 32;

/// Returns the words with the contents of response files in their places. A word whose file cannot
/// be read stays.
pub(super) fn expanded(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all = Vec::new();
    for word in words {
        expand(word, 0, &mut all);
    }
    all
}

fn expand(word: OsString, depth: usize, all: &mut Vec<OsString>) {
    let text = word.to_str().and_then(|text| text.strip_prefix('@')).filter(|_| depth < MAX_DEPTH);
    match text.and_then(|name| std::fs::read_to_string(name).ok()) {
        Some(contents) => {
            split(&contents, true).words.into_iter().for_each(|word| expand(word.into(), depth + 1, all))
        }
        None => all.push(word),
    }
}

#[cfg(test)]
mod tests {
    fn split(text: &str) -> Vec<String> {
        super::split(text, true).words
    }

    #[test]
    fn words_are_split_as_clang_does() {
        assert_eq!(split("-c  'a b.c'\n-DX=\"1 \\\" 2\" c\\ d ''"), ["-c", "a b.c", "-DX=1 \" 2", "c d", ""]);
        assert_eq!(split(r"'\n' \n"), ["n", "n"]);
    }
}
