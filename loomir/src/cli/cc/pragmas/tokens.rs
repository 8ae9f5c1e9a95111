//! The words, signs and pragmas of preprocessed C, with their places.

use std::ops::{Index, Range};

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// One other character.
    Sign,
    /// A number, or a literal in quotes.
    Literal,
    /// A whole line `#pragma …`, without its end.
    Pragma,
}

/// A token.
#[derive(Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// Its first byte in the source.
    pub(super) start: usize,
    /// The number of bytes before it in its line.
    pub(super) column: usize,
    /// The number of its line in the source, from 0.
    row: usize,
    /// The line marker before it.
    marker: usize,
}

impl<'s> Token<'s> {
    /// Returns its bytes in the source.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Returns a pragma without `#pragma`.
    pub(super) fn pragma(&self) -> &'s str {
        let text = self.text.strip_prefix('#').filter(|_| self.kind == Kind::Pragma);
        text.and_then(|text| after_word(text, "pragma")).unwrap_or_default()
    }

    /// Returns a pragma of OpenMP without `#pragma omp`.
    pub(super) fn omp(&self) -> &'s str {
        after_word(self.pragma(), "omp").unwrap_or_default()
    }
}

/// Returns the text behind a word, without the blanks around it.
fn after_word<'s>(text: &'s str, word: &str) -> Option<&'s str> {
    let rest = text.trim_start().strip_prefix(word)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

/// A line marker: `# LINE "FILE" FLAGS`.
#[derive(Debug)]
struct Marker<'s> {
    /// The line in the source behind it, from 0.
    row: usize,
    line: usize,
    file: &'s str,
    /// True if it is a header of the system.
    is_system: bool,
}

/// All tokens of a source.
#[derive(Debug)]
pub(super) struct Tokens<'s> {
    all: Vec<Token<'s>>,
    markers: Vec<Marker<'s>>,
}

impl<'s> Index<usize> for Tokens<'s> {
    type Output = Token<'s>;

    fn index(&self, at: usize) -> &Token<'s> {
        &self.all[at]
    }
}

impl<'s> Tokens<'s> {
    /// Splits a source into tokens. Comments and lines that begin with `#` are no tokens, but for
    /// pragmas. Linear.
    pub(super) fn of(source: &'s str) -> Tokens<'s> {
        let start = Marker { row: 0, line: 1, file: "", is_system: false };
        let mut tokens = Tokens { all: Vec::new(), markers: vec![start] };
        let (mut at, mut row, mut row_start) = (0, 0, 0);
        while let Some(byte) = source.as_bytes().get(at).copied() {
            let rest = &source[at..];
            let is_line_start = source[row_start..at].trim_start().is_empty();
            let (length, kind) = match byte {
                b'#' if is_line_start => {
                    let length = line_length(rest);
                    tokens.note_marker(&rest[..length], row + 1);
                    let is_pragma = after_word(&rest[1..length], "pragma").is_some();
                    (length, is_pragma.then_some(Kind::Pragma))
                }
                b'/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |end| end + 2), None),
                b'/' if rest.starts_with("//") => (line_length(rest), None),
                _ if byte.is_ascii_whitespace() => (1, None),
                _ => token(rest),
            };
            let text = &rest[..length];
            if let Some(kind) = kind {
                let marker = tokens.markers.len() - 1;
                tokens.all.push(Token { kind, text, start: at, column: at - row_start, row, marker });
            }
            at += length;
            if let Some(end) = text.rfind('\n') {
                row += text.matches('\n').count();
                row_start = at - (length - end - 1);
            }
        }
        tokens
    }

    /// Notes a line marker.
    fn note_marker(&mut self, text: &'s str, row: usize) {
        let mut parts = text[1..].splitn(3, '"');
        let (Some(number), Some(file), flags) = (parts.next(), parts.next(), parts.next()) else { return };
        let number = number.trim().strip_prefix("line ").unwrap_or(number.trim());
        if let Ok(line) = number.parse() {
            let is_system = flags.is_some_and(|flags| flags.split(' ').any(|own| own == "3"));
            self.markers.push(Marker { row, line, file, is_system });
        }
    }

    /// Returns a token.
    pub(super) fn get(&self, at: usize) -> Option<&Token<'s>> {
        self.all.get(at)
    }

    /// True if a token is this word.
    pub(super) fn is_word(&self, at: usize, word: &str) -> bool {
        self.get(at).is_some_and(|own| own.kind == Kind::Word && own.text == word)
    }

    /// True if a token is this sign.
    pub(super) fn is_sign(&self, at: usize, sign: char) -> bool {
        self.get(at).is_some_and(|own| own.kind == Kind::Sign && own.text.starts_with(sign))
    }

    /// Returns the file and the line of a token.
    pub(super) fn place(&self, at: usize) -> (&'s str, usize) {
        let token = &self.all[at];
        let marker = &self.markers[token.marker];
        (marker.file, marker.line + token.row - marker.row)
    }

    /// Returns the flags of a line marker that stays in the file of a token.
    pub(super) fn flags(&self, at: usize) -> &'static str {
        if self.markers[self.all[at].marker].is_system { " 3" } else { "" }
    }
}

/// Returns the length of the rest of a line. A backslash joins it with the next one.
fn line_length(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    text[..length].trim_end_matches(['\n', '\r']).len()
}

/// Returns the length and the kind of the token at the beginning of a text.
fn token(text: &str) -> (usize, Option<Kind>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let word = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let behind = &text[word..];
    let is_raw = behind.starts_with('"') && ["R", "LR", "uR", "UR", "u8R"].contains(&&text[..word]);
    let first = text.chars().next().map_or(1, char::len_utf8);
    if is_raw {
        return (word + raw_literal(behind), Some(Kind::Literal));
    }
    match text.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => (literal(text, *quote), Some(Kind::Literal)),
        Some(b'0'..=b'9') => (number(text), Some(Kind::Literal)),
        _ if word > 0 => (word, Some(Kind::Word)),
        _ => (first, Some(Kind::Sign)),
    }
}

/// Returns the length of a number. Apostrophes may part its digits.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_sign = matches!(byte, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P');
        let is_part = *byte == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !byte.is_ascii_alphanumeric() && *byte != b'.' && *byte != b'_' && !is_sign && !is_part {
            break;
        }
        at += 1;
    }
    at
}

/// Returns the length of a literal. It ends with its line, if nothing else ends it.
fn literal(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            // What is behind a backslash may be a character of several bytes.
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of a raw literal from its quote on.
fn raw_literal(text: &str) -> usize {
    let Some(open) = text.find('(') else { return text.len() };
    let end = format!("){}\"", &text[1..open]);
    text.find(&end).map_or(text.len(), |at| at + end.len())
}
