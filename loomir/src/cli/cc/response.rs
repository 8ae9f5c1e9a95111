//! Response files: `@FILE` stands for the words in a file.

use std::ffi::OsString;

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
        Some(contents) => split(&contents).into_iter().for_each(|word| expand(word.into(), depth + 1, all)),
        None => all.push(word),
    }
}

/// Splits a text at blanks, as clang does: quotes keep blanks, and a backslash keeps the character
/// behind it, in quotes too.
fn split(text: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            _ if c == '\\' => word.get_or_insert_default().extend(chars.next()),
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => all.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_clang_does() {
        assert_eq!(split("-c  'a b.c'\n-DX=\"1 \\\" 2\" c\\ d ''"), ["-c", "a b.c", "-DX=1 \" 2", "c d", ""]);
        assert_eq!(split(r"'\n' \n"), ["n", "n"]);
    }
}
