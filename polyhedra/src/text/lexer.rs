//! Tokens of the notation.

use super::ParseError;
use crate::int::Int;

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Number(Int),
    /// Punctuation and operators.
    Sign(&'static str),
    End,
}

/// Longest first, so that a prefix never hides a longer sign.
const SIGNS: [&str; 28] = [
    "<<=", ">>=", "->", "<=", ">=", "!=", "<>", "==", "<<", ">>", "=>", "&&", "||", "<", ">", "=", "{", "}",
    "[", "]", "(", ")", ",", ";", ":", "+", "-", "*",
];

const LATE_SIGNS: [&str; 3] = ["/", "%", "!"];

/// Digits a number may have.
const MAX_DIGITS: usize = 2000;

/// The tokens of a text with their offsets, an end token last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ParseError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if byte == b'#' {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
        } else if byte.is_ascii_digit() {
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
            let value = if at - start <= MAX_DIGITS { Int::parse(&text[start..at]) } else { None };
            match value {
                Some(value) => out.push((Token::Number(value), start)),
                None => {
                    return Err(ParseError { offset: start, message: "this number is too long".to_string() });
                }
            }
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'\''))
            {
                at += 1;
            }
            out.push((Token::Name(text[start..at].to_string()), start));
        } else if let Some(sign) =
            SIGNS.iter().chain(&LATE_SIGNS).find(|sign| bytes[at..].starts_with(sign.as_bytes()))
        {
            at += sign.len();
            out.push((Token::Sign(sign), start));
        } else {
            return Err(ParseError {
                offset: start,
                message: "this character has no meaning here".to_string(),
            });
        }
    }
    out.push((Token::End, text.len()));
    Ok(out)
}
