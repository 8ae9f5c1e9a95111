//! Aliases (`#map = …`, `!t = …`), and the names `#…` and `!…`.
//!
//! Aliases of aliases can stand for exponentially much, which would be printed in full: what all
//! uses of aliases stand for is limited.
//!
//! What a dialect nobody registered writes is kept as text, with aliases inside expanded, so that
//! it can be printed anywhere.

use std::borrow::Cow;

use super::{EXPANSION_FACTOR, MAX_EXPANSION, Parser};
use crate::attributes::Attr;
use crate::text::lexer::{Kind, Lexer};
use crate::text::{ParseResult, attr_to_string, type_to_string};

/// The weight of text that aliases are written out in.
const REREAD: u64 = 4;

/// The text or value that an alias stands for.
#[derive(Clone, Copy)]
pub(super) struct Alias<T> {
    pub(super) value: T,
    /// Length of the text it stands for, in bytes.
    length: u64,
}

/// `#…` or `!…` as written.
pub(super) struct Symbol<'s> {
    /// First byte, the `#` or `!`.
    pub(super) start: u32,
    /// The text before the first dot, or the alias.
    pub(super) dialect: &'s str,
    /// The text behind the dot, or between `<` and `>`.
    pub(super) body: &'s str,
    pub(super) is_alias: bool,
    /// First byte of the body.
    body_start: u32,
    /// The byte behind the symbol.
    end: u32,
}

impl Symbol<'_> {
    /// The full name, `dialect.mnemonic`, that a definition would have.
    pub(super) fn name(&self) -> Option<String> {
        let mnemonic = self.mnemonic();
        (!mnemonic.is_empty()).then(|| format!("{}.{mnemonic}", self.dialect))
    }

    /// The full name as it is written, without the sigil; the dialect alone if the body has no
    /// name.
    pub(super) fn to_text(&self) -> String {
        self.name().unwrap_or_else(|| self.dialect.to_owned())
    }

    fn mnemonic(&self) -> &str {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
        let end = self.body.bytes().position(|b| !is_part(b)).unwrap_or(self.body.len());
        &self.body[..end]
    }
}

/// True if `#dialect<body>` can be written `#dialect.body`: a name, alone or with brackets that
/// match behind it.
pub(crate) fn is_pretty(body: &str) -> bool {
    if !body.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let rest = body.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    if rest.is_empty() {
        return true;
    }
    if !rest.starts_with('<') || !rest.ends_with('>') {
        return false;
    }
    let mut open = Vec::new();
    let mut bytes = rest.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'<' | b'[' | b'(' | b'{' => open.push(byte),
            b'-' if bytes.peek().is_some_and(|(_, b)| *b == b'>') => {
                bytes.next();
            }
            b'>' | b']' | b')' | b'}' => {
                if open.pop() != Some(opening(byte)) {
                    return false;
                }
                if open.is_empty() && at + 1 != rest.len() {
                    return false;
                }
            }
            b'"' => loop {
                match bytes.next() {
                    None => return false,
                    Some((_, b'"')) => break,
                    Some((_, b'\\')) => {
                        bytes.next();
                    }
                    Some(_) => {}
                }
            },
            0 => return false,
            _ => {}
        }
    }
    open.is_empty()
}

fn opening(close: u8) -> u8 {
    match close {
        b'>' => b'<',
        b']' => b'[',
        b')' => b'(',
        _ => b'{',
    }
}

impl<'s> Parser<'s> {
    /// Reads `#name`, `#dialect.body<…>` or `#dialect<…>`, or the same with `!`.
    pub(super) fn dialect_symbol(&mut self) -> ParseResult<Symbol<'s>> {
        let (start, end) = (self.token.start, self.token.end);
        let text = self.slice(start + 1, end);
        let trailing = self.source.as_bytes().get(end as usize) == Some(&b'<');
        let Some((dialect, _)) = text.split_once('.') else {
            if !trailing {
                self.advance();
                let is_alias = true;
                return Ok(Symbol { start, dialect: text, body: "", is_alias, body_start: end, end });
            }
            let behind = self.skip_brackets(end)?;
            let body = self.slice(end + 1, behind - 1);
            return Ok(Symbol {
                start,
                dialect: text,
                body,
                is_alias: false,
                body_start: end + 1,
                end: behind,
            });
        };
        let body_start = start + 1 + dialect.len() as u32 + 1;
        let behind = if trailing {
            self.skip_brackets(end)?
        } else {
            self.advance();
            end
        };
        let body = self.slice(body_start, behind);
        Ok(Symbol { start, dialect, body, is_alias: false, body_start, end: behind })
    }

    /// Goes behind the `>` that belongs to the `<` at `open`; yields the byte behind it.
    fn skip_brackets(&mut self, open: u32) -> ParseResult<u32> {
        let bytes = self.source.as_bytes();
        let mut stack = Vec::new();
        let mut at = open as usize;
        loop {
            let Some(&byte) = bytes.get(at) else {
                return Err(self.error_at(at as u32, "unexpected end of file in dialect symbol"));
            };
            match byte {
                b'<' | b'[' | b'(' | b'{' => stack.push(byte),
                b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
                b'>' | b']' | b')' | b'}' => {
                    if stack.pop() != Some(opening(byte)) {
                        let message =
                            format!("unbalanced '{}' character in pretty dialect name", byte as char);
                        return Err(self.error_at(at as u32, message));
                    }
                    if stack.is_empty() {
                        let behind = at as u32 + 1;
                        self.set_pos(behind);
                        return Ok(behind);
                    }
                }
                b'"' => {
                    let mut lexer = Lexer::new(self.source);
                    lexer.set_pos(at as u32);
                    let token = lexer.next();
                    if token.kind != Kind::String {
                        return Err(self.error_at(at as u32, "expected '\"' in string literal"));
                    }
                    at = token.end as usize - 1;
                }
                0 => return Err(self.error_at(at as u32, "unexpected nul character in dialect symbol")),
                _ => {}
            }
            at += 1;
        }
    }

    /// Runs `read` on the symbol's text behind its mnemonic, all of which it must read, and goes
    /// behind the symbol.
    pub(super) fn inside_symbol<T>(
        &mut self,
        symbol: &Symbol<'s>,
        read: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        let verbose = symbol.body_start + symbol.body.len() as u32 != symbol.end;
        self.set_pos(symbol.body_start + symbol.mnemonic().len() as u32);
        let value = read(self)?;
        let closed = if verbose { self.accept(Kind::Greater) } else { true };
        // A dialect's reader may stop early, or run past the end.
        let last = self.token.start.min(symbol.end);
        if !closed || !self.slice(last, symbol.end).trim().is_empty() {
            return Err(self.missing("expected '>' to end this"));
        }
        if self.token.start < symbol.end {
            self.set_pos(symbol.end);
        }
        Ok(value)
    }

    /// Text of a dialect nobody registered with its aliases written out.
    pub(super) fn expand_aliases(&mut self, body: &'s str) -> ParseResult<Cow<'s, str>> {
        if !body.contains(['#', '!']) {
            return Ok(body.into());
        }
        let mut lexer = Lexer::new(body);
        let mut text = String::new();
        let mut copied = 0;
        loop {
            let token = lexer.next();
            let (start, end) = (token.start as usize, token.end as usize);
            let expansion = match token.kind {
                Kind::Eof => break,
                Kind::Hash => match self.known_attr_alias(&body[start + 1..end]) {
                    Some(alias) => Some(attr_to_string(self.ctx, self.used_in_text(alias)?)),
                    None => None,
                },
                Kind::Exclaim => match self.type_aliases.get(&body[start + 1..end]).copied() {
                    Some(alias) => Some(type_to_string(self.ctx, self.used_in_text(alias)?)),
                    None => None,
                },
                _ => None,
            };
            if let Some(expansion) = expansion {
                text.push_str(&body[copied..start]);
                text.push_str(&expansion);
                copied = end;
            }
        }
        if copied == 0 {
            return Ok(body.into());
        }
        text.push_str(&body[copied..]);
        Ok(text.into())
    }

    /// Reads `#alias = attribute`.
    pub(super) fn attr_alias_definition(&mut self) -> ParseResult<()> {
        let name = &self.text()[1..];
        if name.contains('.') {
            return Err(self.error_here("attribute names with a '.' are reserved for dialect-defined names"));
        }
        if self.attr_aliases.contains_key(name) {
            return Err(self.error_here(format!("redefinition of attribute alias id '{name}'")));
        }
        self.advance();
        self.expect(Kind::Equal, "expected '=' in attribute alias definition")?;
        let alias = self.defined(|p| p.attr(None))?;
        self.attr_aliases.insert(name, alias);
        Ok(())
    }

    /// Reads `!alias = type`.
    pub(super) fn type_alias_definition(&mut self) -> ParseResult<()> {
        let name = &self.text()[1..];
        if name.contains('.') {
            return Err(self.error_here("type names with a '.' are reserved for dialect-defined names"));
        }
        if self.type_aliases.contains_key(name) {
            return Err(self.error_here(format!("redefinition of type alias id '{name}'")));
        }
        self.advance();
        self.expect(Kind::Equal, "expected '=' in type alias definition")?;
        let alias = self.defined(Self::ty)?;
        self.type_aliases.insert(name, alias);
        Ok(())
    }

    /// Reads what an alias stands for.
    fn defined<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<Alias<T>> {
        let (start, expanded) = (self.token.start, self.expanded);
        let value = read(self)?;
        Ok(Alias { value, length: u64::from(self.token.start - start) + self.expanded - expanded })
    }

    /// Returns the meaning of an alias that is used here.
    pub(super) fn used<T>(&mut self, alias: Alias<T>) -> ParseResult<T> {
        self.expand_by(alias.length)?;
        Ok(alias.value)
    }

    /// Returns the meaning of an alias that is used in text that nobody understands. It counts more
    /// often, for that text is read again for whatever it stands in.
    fn used_in_text<T>(&mut self, alias: Alias<T>) -> ParseResult<T> {
        self.expanded_in_text += REREAD * alias.length;
        self.limit_expansion(self.expanded_in_text)?;
        self.used(alias)
    }

    /// Counts text that an alias stands for.
    pub(super) fn expand_by(&mut self, length: u64) -> ParseResult<()> {
        self.expanded += length;
        self.limit_expansion(self.expanded)
    }

    fn limit_expansion(&mut self, length: u64) -> ParseResult<()> {
        let limit = MAX_EXPANSION + EXPANSION_FACTOR * self.source.len() as u64;
        if length <= limit {
            return Ok(());
        }
        let message = format!("aliases stand for too much: all of it together may be {limit} bytes long");
        Err(self.limit_here(message))
    }

    /// The attribute an alias stands for.
    pub(super) fn attr_alias(&mut self, symbol: &Symbol<'s>) -> ParseResult<Attr> {
        match self.known_attr_alias(symbol.dialect) {
            Some(alias) => self.used(alias),
            None => {
                let message = format!("undefined symbol alias id '{}'", symbol.dialect);
                Err(self.error_at(symbol.start, message))
            }
        }
    }

    fn known_attr_alias(&self, name: &str) -> Option<Alias<Attr>> {
        let known = self.attr_aliases.get(name);
        known.or_else(|| self.later_aliases.get(name).filter(|_| self.reading_ahead)).copied()
    }

    /// Reads an alias where a location must stand. That of an operation may be defined further down
    /// (`ahead`).
    pub(super) fn location_alias(&mut self, ahead: bool) -> ParseResult<Attr> {
        let name = &self.text()[1..];
        if name.contains('.') || self.source.as_bytes().get(self.token.end as usize) == Some(&b'<') {
            return self.attr(None);
        }
        let mut alias = self.known_attr_alias(name);
        if alias.is_none() && ahead {
            if !self.has_read_ahead {
                self.read_ahead();
            }
            alias = self.later_aliases.get(name).copied();
        }
        let Some(Alias { value, .. }) = alias else {
            let message = format!("operation location alias '{name}' was never defined");
            return Err(self.error_here(message));
        };
        self.advance();
        Ok(value)
    }

    /// Reads the definitions of aliases that follow, in their order. Until their place is reached
    /// they stand for locations of operations and in each other, nowhere else; what is wrong with
    /// one is said at its place.
    fn read_ahead(&mut self) {
        (self.has_read_ahead, self.reading_ahead) = (true, true);
        let here = self.token.start;
        for (name, at) in alias_definitions(self.source, here) {
            self.set_pos(at);
            // The name and the sign behind it.
            self.advance();
            self.advance();
            if let Ok(alias) = self.defined(|p| p.attr(None)) {
                self.later_aliases.entry(name).or_insert(alias);
            }
        }
        self.set_pos(here);
        self.reading_ahead = false;
    }
}

/// Where in a source aliases of attributes are defined behind `from`: every line that begins with
/// `#name =`.
fn alias_definitions(source: &str, from: u32) -> Vec<(&str, u32)> {
    let mut found = Vec::new();
    let mut end = from as usize;
    for (i, line) in source[end..].split_inclusive('\n').enumerate() {
        end += line.len();
        let line = line.trim_start();
        // The first is the rest of a line.
        if i > 0 && line.starts_with('#') {
            let mut lexer = Lexer::new(line);
            let (name, equal) = (lexer.next(), lexer.next());
            if name.kind == Kind::Hash && equal.kind == Kind::Equal {
                found.push((&line[1..name.end as usize], (end - line.len()) as u32));
            }
        }
    }
    found
}
