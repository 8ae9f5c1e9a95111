//! Metadata: kept as it is written.
//!
//! A module holds its nodes in one dictionary, by number or name; an operation, a function or a variable holds what is attached to it in another,
//! by kind.

use loomir_ir::{Attr, AttrKind, Name, OperationState};

use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::METADATA;

impl Reader<'_> {
    /// `!0 = distinct !{…}` or `!name = !{…}`.
    pub(super) fn metadata_definition(&mut self) -> Result<(Name, Attr)> {
        let name = self.ctx.name(&self.text()[1..]);
        self.advance();
        self.expect("=")?;
        let start = self.pos;
        self.accept_word("distinct");
        let end = self.metadata_node()?;
        Ok((name, self.ctx.string_attr(self.slice(start, end))))
    }

    /// Skips `!12`, `!{…}`, `!"text"` or `!DIName(…)`, and returns its last token.
    pub(super) fn metadata_node(&mut self) -> Result<usize> {
        if self.kind() != Kind::Metadata {
            return Err(self.error("expected a node of metadata"));
        }
        self.advance();
        let is_alone = self.text_at(self.pos - 1) == "!";
        if is_alone && self.kind() == Kind::Text {
            self.advance();
        } else if self.is_sign("{") && is_alone || self.is_sign("(") {
            self.skip_balanced()?;
        } else if is_alone {
            return Err(self.error("expected a node of metadata"));
        }
        Ok(self.pos - 1)
    }

    /// `!kind !node`, one after the other, behind a comma each where `comma` says so. They are added to an operation.
    pub(super) fn attachments(&mut self, state: &mut OperationState, comma: bool) -> Result<()> {
        let mut all = Vec::new();
        loop {
            let is_next = match comma {
                true => self.is_sign(",") && self.tokens[self.pos + 1].kind == Kind::Metadata,
                false => self.kind() == Kind::Metadata,
            };
            if !is_next {
                break;
            }
            if comma {
                self.advance();
            }
            let kind = self.ctx.name(&self.text()[1..]);
            self.advance();
            let start = self.pos;
            let end = self.metadata_node()?;
            all.push((kind, self.ctx.string_attr(self.slice(start, end))));
        }
        if !all.is_empty() {
            let dict = self.ctx.attr(AttrKind::Dictionary(self.ctx.dict(all)));
            state.set_attr(&self.ctx, METADATA, dict);
        }
        Ok(())
    }
}
