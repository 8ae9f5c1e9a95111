//! The lexer: text becomes tokens, each with its place.

use loomir::ir::{Context, Diagnostic, Diagnostics, Loc, LocKind};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Name,
    Number,
    Sign,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
    pub loc: Loc,
}

pub(crate) fn error(loc: Loc, message: impl Into<String>, help: &str) -> Diagnostics {
    Diagnostic::error(loc, message).help(help).into()
}

/// Returns the tokens of a text. The last one is the end.
pub(crate) fn tokens<'s>(ctx: &Context, file: &str, source: &'s str) -> Result<Vec<Token<'s>>, Diagnostics> {
    let mut tokens = Vec::new();
    let file = ctx.name(file);
    let mut end = Loc::UNKNOWN;
    for (line, number) in source.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default();
        let place = |rest: &str| {
            let column = u32::try_from(line.len() - rest.len() + 1).unwrap_or(u32::MAX);
            ctx.loc(LocKind::File { file, line: number, column })
        };
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let loc = place(rest);
            let length = |part: fn(char) -> bool| rest.find(|c| !part(c)).unwrap_or(rest.len());
            let (kind, length) = match first {
                'a'..='z' | 'A'..='Z' => (Kind::Name, length(|c| c.is_ascii_alphanumeric() || c == '_')),
                '0'..='9' => (Kind::Number, length(|c| c.is_ascii_digit() || c == '.')),
                sign if "(){}[],;=+-*/".contains(sign) => (Kind::Sign, 1),
                other => return Err(error(loc, format!("'{other}' begins no word"), "remove it")),
            };
            tokens.push(Token { kind, text: &rest[..length], loc });
            rest = rest[length..].trim_start();
        }
        end = place(rest);
    }
    tokens.push(Token { kind: Kind::End, text: "the end", loc: end });
    Ok(tokens)
}
