//! Sets and relations as text, in isl's notation, both ways.
//!
//! ```
//! use loomir_polyhedra::Set;
//! let set: Set = "[n] -> { S[i, j] : 0 <= i < n and j = 2*floor(i/2) }".parse().unwrap();
//! assert_eq!(set.to_string(), "[n] -> { S[i, j] : j mod 2 = 0 and 0 <= i < n and -1 + i <= j <= i }");
//! ```
//!
//! What is read: `[params] -> { A[i, e] -> B[…] : formula; … }`; formulas of comparisons (`<`,
//! `<=`, `=`, `!=`, `>`, `>=`, chained, over lists, and lexicographic `<<`, `<<=`, `>>`, `>>=`),
//! `and`, `or`, `not`, `implies`, `exists (e: …)`, `true`, `false`; expressions with `floor(e/c)`,
//! `ceil(e/c)`, `floord`, `ceild`, `[e/c]`, `mod`, `%`, `min`, `max`. All parts of a text have one
//! space. What is printed is read back as the same set.

mod lexer;
mod parser;
mod printer;

use std::fmt;

pub(crate) use parser::parse;
pub(crate) use printer::print;

/// A text that is not a set or relation, and where it stops being one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Offset in bytes.
    pub offset: usize,
    /// The error: what was expected or is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ParseError {}
