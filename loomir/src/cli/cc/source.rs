//! A look at a file in C, to spare the front end where nothing can fuse.

use std::path::Path;

/// Words that make loops.
const LOOPS: [&str; 4] = ["for", "while", "do", "goto"];

/// True if a file may have two loops: by its own words, or because it includes more than headers.
/// Loops that only macros of headers make are not seen. Linear in the file.
pub(super) fn may_have_loops(path: &Path) -> bool {
    std::fs::read(path).map_or(true, |text| has_loops(&text))
}

fn has_loops(text: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = text.split(|byte| !is_word(byte));
    let loops = words.filter(|word| LOOPS.iter().any(|own| own.as_bytes() == *word));
    loops.take(2).count() == 2 || text.split(|byte| *byte == b'\n').any(includes_code)
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
    }
}
