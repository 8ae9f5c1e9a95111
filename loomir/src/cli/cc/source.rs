//! A look at a file in C, to spare the front end where nothing can fuse.

use std::path::Path;

/// Words that make loops.
const LOOPS: [&str; 4] = ["for", "while", "do", "goto"];

/// True if a file may have two loops: by its own words, or because it includes more than headers.
/// Comments and literals do not count. Loops that only macros of headers make are not seen. Linear
/// in the file.
pub(super) fn may_have_loops(path: &Path) -> bool {
    std::fs::read(path).map_or(true, |text| has_loops(&text))
}

fn has_loops(text: &[u8]) -> bool {
    let is_loop = |word: &&[u8]| LOOPS.iter().any(|own| own.as_bytes() == *word);
    Words { rest: text }.filter(is_loop).take(2).count() == 2
        || text.split(|byte| *byte == b'\n').any(includes_code)
}

/// The words of a text in C, without comments and literals.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        loop {
            let length = match self.rest {
                [] => return None,
                [b'/', b'*', inside @ ..] => 4 + end(inside, b"*/"),
                [b'/', b'/', inside @ ..] => 2 + end(inside, b"\n"),
                [quote @ (b'"' | b'\''), inside @ ..] => 1 + literal(inside, *quote),
                [first, ..] if is_in_word(first) => {
                    let is_number = first.is_ascii_digit();
                    let is_inside = |byte: &u8| is_in_word(byte) || is_number && *byte == b'\'';
                    let length = self.rest.iter().take_while(|byte| is_inside(byte)).count();
                    let (word, rest) = self.rest.split_at(length);
                    self.rest = rest;
                    return Some(word);
                }
                _ => 1,
            };
            self.rest = self.rest.get(length..).unwrap_or_default();
        }
    }
}

/// Returns the number of bytes before `mark`, or all if there is none.
fn end(text: &[u8], mark: &[u8]) -> usize {
    text.windows(mark.len()).position(|own| own == mark).unwrap_or(text.len())
}

/// Returns the length of the rest of a literal. It ends with its line, if nothing else ends it.
fn literal(text: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' => at += 2,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// True if a line includes a file that is not called a header.
fn includes_code(line: &[u8]) -> bool {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { return false };
    let Some(rest) = rest.trim_ascii_start().strip_prefix(b"include") else { return false };
    let name = rest.trim_ascii();
    !name.ends_with(b".h>") && !name.ends_with(b".h\"")
}

#[cfg(test)]
mod tests {
    use super::has_loops;

    #[test]
    fn loops_are_words_or_included() {
        assert!(!has_loops(b"#include <a.h>\n # include \"b.h\"\nint f(int form) { for (;;) ; }"));
        assert!(has_loops(b"int f(int n) { while (n) n--; do n++; while (n < 3); }"));
        assert!(has_loops(b"a: if (n) goto a; b: if (m) goto b;"));
        assert!(has_loops(b"#include \"template.c\"\n"));
        assert!(has_loops(b"#include \"b.h\" /* more */\n"));
        assert!(!has_loops(b""));
        assert!(!has_loops(b"/* for this, do that */ // while\nchar *s = \"for \\\" do\", c = '\"'; for"));
        assert!(has_loops(b"int n = 1'000; for (;;) ; char c = '\\''; /* it's */ while (n) ;"));
        assert!(has_loops(b"#error don't\nfor (;;) ; for (;;) ; /* for"));
    }
}
