//! Files that hold several programs, with a marker between them.

/// The marker between the programs of a file.
pub const SPLIT_MARKER: &str = "// -----";

/// One program of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'s> {
    /// Its text.
    pub text: &'s str,
    /// The number of its first line in the file.
    pub first_line: u32,
}

/// The pieces of a file between lines that are the marker, blanks around it aside. A file without
/// one is one piece. Linear in the file.
///
/// ```
/// use loomir_ir::text::{SPLIT_MARKER, split_source};
/// let chunks = split_source("a\n// -----\n// ----- not alone\nb\n", SPLIT_MARKER);
/// assert_eq!((chunks[0].text, chunks[0].first_line), ("a\n", 1));
/// assert_eq!((chunks[1].text, chunks[1].first_line), ("// ----- not alone\nb\n", 3));
/// ```
pub fn split_source<'s>(source: &'s str, marker: &str) -> Vec<Chunk<'s>> {
    let mut chunks = Vec::new();
    let (mut start, mut at, mut first_line) = (0, 0, 1);
    for (number, line) in (1u32..).zip(source.split_inclusive('\n')) {
        let end = at + line.len();
        if line.trim() == marker.trim() {
            chunks.push(Chunk { text: &source[start..at], first_line });
            (start, first_line) = (end, number + 1);
        }
        at = end;
    }
    chunks.push(Chunk { text: &source[start..], first_line });
    chunks
}
