//! The statements of C, as far as they are needed to find the loops of a sequence.

use std::ops::Range;

use super::tokens::{Kind, Tokens};

/// The deepest nesting of statements that are not in braces, or of sequences.
const MOST_NESTED: usize = 64;

/// A loop of a sequence.
#[derive(Debug)]
pub(super) struct Member {
    /// The pragmas in front of it.
    pub(super) pragmas: Range<usize>,
    /// The word `for`.
    pub(super) at: usize,
}

/// Returns the first token that is no pragma.
pub(super) fn next_statement(tokens: &Tokens<'_>, at: usize) -> usize {
    let is_pragma = |at: &usize| tokens.get(*at).is_some_and(|own| own.kind == Kind::Pragma);
    (at..).find(|at| !is_pragma(at)).unwrap_or(at)
}

/// Returns the loops between braces, if there is nothing else. Braces inside are part of it.
pub(super) fn sequence(tokens: &Tokens<'_>, open: usize) -> Option<Vec<Member>> {
    let (mut members, mut depth, mut at) = (Vec::new(), 0, open);
    loop {
        let start = at;
        at = next_statement(tokens, at);
        if tokens.is_sign(at, '{') && start == at {
            depth += 1;
            at += 1;
        } else if tokens.is_sign(at, '}') && start == at {
            depth -= 1;
            at += 1;
            if depth == 0 {
                return (members.len() > 1).then_some(members);
            }
        } else if tokens.is_word(at, "for") {
            members.push(Member { pragmas: start..at, at });
            at = statement(tokens, at, 0)?;
        } else {
            return None;
        }
        if depth > MOST_NESTED {
            return None;
        }
    }
}

/// Returns the token behind a statement. Recurses once for each statement in a statement, braces
/// aside, at most [`MOST_NESTED`] times.
fn statement(tokens: &Tokens<'_>, at: usize, depth: usize) -> Option<usize> {
    if depth > MOST_NESTED {
        return None;
    }
    let at = next_statement(tokens, at);
    let inside = |at: usize| statement(tokens, at, depth + 1);
    let token = tokens.get(at)?;
    match (token.kind, token.text) {
        (Kind::Sign, "{") => group(tokens, at),
        (Kind::Word, "for" | "while" | "switch") => inside(group(tokens, at + 1)?),
        (Kind::Word, "if") => {
            let then = inside(group(tokens, at + 1)?)?;
            if tokens.is_word(then, "else") { inside(then + 1) } else { Some(then) }
        }
        (Kind::Word, "do") => {
            let end = inside(at + 1)?;
            let end = group(tokens, tokens.is_word(end, "while").then_some(end + 1)?)?;
            tokens.is_sign(end, ';').then_some(end + 1)
        }
        (Kind::Word, "case" | "default") => {
            let colon = (at..at + MOST_NESTED).find(|at| tokens.is_sign(*at, ':'))?;
            inside(colon + 1)
        }
        (Kind::Word, _) if tokens.is_sign(at + 1, ':') => inside(at + 2),
        _ => expression(tokens, at),
    }
}

/// Returns the token behind the next semicolon that is in no parentheses.
fn expression(tokens: &Tokens<'_>, mut at: usize) -> Option<usize> {
    loop {
        let token = tokens.get(at)?;
        match (token.kind, token.text) {
            (Kind::Sign, ";") => return Some(at + 1),
            (Kind::Sign, "(" | "[" | "{") => at = group(tokens, at)?,
            (Kind::Sign, ")" | "]" | "}") => return None,
            _ => at += 1,
        }
    }
}

/// Returns the token behind the parenthesis that closes one.
fn group(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    let mut closing = Vec::new();
    let mut at = open;
    loop {
        let token = tokens.get(at)?;
        at += 1;
        match (token.kind, token.text) {
            (Kind::Sign, "(") => closing.push(")"),
            (Kind::Sign, "[") => closing.push("]"),
            (Kind::Sign, "{") => closing.push("}"),
            (Kind::Sign, sign @ (")" | "]" | "}")) if closing.pop() != Some(sign) => return None,
            _ => {}
        }
        if closing.is_empty() {
            return (at > open + 1).then_some(at);
        }
    }
}
