//! Locations: `loc(…)` behind operations and arguments, and as attributes.

use super::Parser;
use crate::attributes::{Attr, AttrKind};
use crate::context::Context;
use crate::location::{Loc, LocKind};
use crate::text::ParseResult;
use crate::text::lexer::{Kind, unescape};

impl<'s> Parser<'s> {
    /// Reads `loc(…)` if it is next.
    pub(crate) fn optional_trailing_loc(&mut self) -> ParseResult<Option<Loc>> {
        if !self.accept_keyword("loc") {
            return Ok(None);
        }
        self.expect(Kind::LParen, "expected '(' in location")?;
        let loc = if self.is(Kind::Hash) { self.loc_alias(true)? } else { self.location()? };
        self.expect(Kind::RParen, "expected ')' in location")?;
        Ok(Some(loc))
    }

    /// Reads `(…)` behind `loc`.
    pub(super) fn parenthesised_loc(&mut self) -> ParseResult<Loc> {
        self.expect(Kind::LParen, "expected '(' in location")?;
        let loc = self.location()?;
        self.expect(Kind::RParen, "expected ')' in location")?;
        Ok(loc)
    }

    /// Reads what stands inside `loc(…)`, or an alias of a location.
    pub(super) fn location(&mut self) -> ParseResult<Loc> {
        match self.token.kind {
            Kind::Hash => self.loc_alias(false),
            Kind::String => self.nested(|p| p.name_or_file_location()),
            Kind::Bare => match self.text() {
                "unknown" => {
                    self.advance();
                    Ok(Loc::UNKNOWN)
                }
                "callsite" => self.nested(|p| p.call_site_location()),
                "fused" => self.nested(|p| p.fused_location()),
                _ => Err(self.missing("expected location instance")),
            },
            _ => Err(self.missing("expected location instance")),
        }
    }

    fn loc_alias(&mut self, ahead: bool) -> ParseResult<Loc> {
        let at = self.token.start;
        match self.location_alias(ahead)?.kind(self.ctx) {
            AttrKind::Location(loc) => Ok(*loc),
            _ => Err(self.error_at(at, "expected location attribute")),
        }
    }

    fn name_or_file_location(&mut self) -> ParseResult<Loc> {
        let bytes = unescape(self.text());
        let text = String::from_utf8_lossy(&bytes);
        let name = self.ctx.name(&text);
        self.advance();
        if self.accept(Kind::Colon) {
            // A file without a name is the standard input.
            let name = if text.is_empty() { self.ctx.name("-") } else { name };
            let line = self.location_number("expected integer line number in FileLineColRange")?;
            let mut column = 0;
            if self.accept(Kind::Colon) {
                column = self.location_number("expected integer column number in FileLineColRange")?;
            }
            if !self.accept_keyword("to") {
                return Ok(self.ctx.loc(LocKind::File { file: name, line, column }));
            }
            let mut end_line = line;
            if !self.is(Kind::Colon) {
                end_line = self.location_number("expected integer line number in FileLineColRange")?;
            }
            self.expect(Kind::Colon, "expected either integer or `:` post `to` in FileLineColRange")?;
            let end_column = self.location_number("expected integer column number in FileLineColRange")?;
            if (end_line, end_column) == (line, column) {
                return Ok(self.ctx.loc(LocKind::File { file: name, line, column }));
            }
            return Ok(self.ctx.loc(LocKind::FileRange { file: name, line, column, end_line, end_column }));
        }
        let mut child = Loc::UNKNOWN;
        if self.accept(Kind::LParen) {
            child = self.location()?;
            self.expect(Kind::RParen, "expected ')' after child location of NameLoc")?;
        }
        Ok(self.ctx.loc(LocKind::Name { name, child }))
    }

    fn location_number(&mut self, message: &str) -> ParseResult<u32> {
        let number = if self.is(Kind::Integer) { self.text().parse().ok() } else { None };
        let Some(number) = number else { return Err(self.error_here(message)) };
        self.advance();
        Ok(number)
    }

    fn call_site_location(&mut self) -> ParseResult<Loc> {
        self.advance();
        self.expect(Kind::LParen, "expected '(' in callsite location")?;
        let callee = self.location()?;
        if !self.accept_keyword("at") {
            return Err(self.missing("expected 'at' in callsite location"));
        }
        let caller = self.location()?;
        self.expect(Kind::RParen, "expected ')' in callsite location")?;
        Ok(self.ctx.loc(LocKind::CallSite { callee, caller }))
    }

    fn fused_location(&mut self) -> ParseResult<Loc> {
        self.advance();
        let mut metadata = None;
        if self.accept(Kind::Less) {
            metadata = Some(self.attr(None)?);
            self.expect(Kind::Greater, "expected '>' after fused location metadata")?;
        }
        self.expect(Kind::LSquare, "expected '[' in fused location")?;
        let mut children = Vec::new();
        self.list_until(Kind::RSquare, "expected ']' in fused location", |p| {
            children.push(p.location()?);
            Ok(())
        })?;
        Ok(fused(self.ctx, children, metadata))
    }
}

/// The fusion of locations: fusions of the same kind inside are opened up, unknown places and
/// repetitions add nothing, and one place alone is itself.
fn fused(ctx: &Context, children: Vec<Loc>, metadata: Option<Attr>) -> Loc {
    let mut seen = hashbrown::HashSet::new();
    let mut places = Vec::new();
    for child in children {
        let kind = child.kind(ctx);
        let own = match &*kind {
            LocKind::Fused { metadata: inner, children } if *inner == metadata => children,
            _ => std::slice::from_ref(&child),
        };
        places.extend(own.iter().filter(|loc| **loc != Loc::UNKNOWN && seen.insert(**loc)));
    }
    match places.as_slice() {
        [] if metadata.is_none() => return Loc::UNKNOWN,
        [one] if metadata.is_none() => return *one,
        [] => places.push(Loc::UNKNOWN),
        _ => {}
    }
    ctx.loc(LocKind::Fused { metadata, children: places.into() })
}
