//! Words of a command line in a text.

/// The words of a text.
pub(super) struct Words {
    pub(super) words: Vec<String>,
    /// True if a quote stays open.
    pub(super) is_open: bool,
}

/// Splits a text at blanks outside of quotes, as a shell does. With `escapes`, a backslash keeps
/// the character behind it, in quotes too.
pub(super) fn split(text: &str, escapes: bool) -> Words {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            _ if escapes && c == '\\' => word.get_or_insert_default().extend(chars.next()),
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Words { words, is_open: quote.is_some() }
}
