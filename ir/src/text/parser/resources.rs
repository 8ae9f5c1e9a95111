//! The resource section at the end of a file, `{-# … #-}`.
//!
//! Blobs of dialects go to the context, under their keys; what tools wrote there for tools
//! (`external_resources`) is kept with the module.

use super::Parser;
use crate::resources::ResourceValue;
use crate::text::ParseResult;
use crate::text::lexer::{Kind, unescape};

/// The content of a section of the file metadata.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Dialect,
    External,
}

impl Parser<'_> {
    /// Reads `{-# … #-}`.
    pub(super) fn file_metadata(&mut self) -> ParseResult<()> {
        self.advance();
        self.list_until(Kind::MetadataEnd, "expected '#-}' to end the file metadata", |p| {
            let at = p.token.start;
            let section = match &*p.metadata_key("expected identifier key in file metadata dictionary")? {
                "dialect_resources" => Section::Dialect,
                "external_resources" => Section::External,
                other => {
                    let message = format!("unknown key '{other}' in file metadata dictionary");
                    return Err(p.error_at(at, message));
                }
            };
            p.expect(Kind::Colon, "expected ':'")?;
            p.expect(Kind::LBrace, "expected '{'")?;
            p.list_until(Kind::RBrace, "expected '}'", |p| {
                let owner = p.metadata_key("expected identifier key for 'resource' entry")?;
                p.expect(Kind::Colon, "expected ':'")?;
                p.expect(Kind::LBrace, "expected '{'")?;
                p.list_until(Kind::RBrace, "expected '}'", |p| {
                    let key = p.metadata_key("expected identifier key for 'resource' entry")?;
                    p.expect(Kind::Colon, "expected ':'")?;
                    p.resource_value(section, &owner, &key)
                })
            })
        })
    }

    fn metadata_key(&mut self, message: &str) -> ParseResult<String> {
        let key = match self.token.kind {
            Kind::Bare => self.text().to_owned(),
            Kind::String => String::from_utf8_lossy(&unescape(self.text())).into_owned(),
            _ => return Err(self.error_here(message)),
        };
        self.advance();
        Ok(key)
    }

    fn resource_value(&mut self, section: Section, owner: &str, key: &str) -> ParseResult<()> {
        let text = self.text();
        let value = match self.token.kind {
            Kind::String => ResourceValue::String(unescape(text).into()),
            Kind::Bare if matches!(text, "true" | "false") => ResourceValue::Bool(text == "true"),
            _ => return Err(self.missing("expected string or bool value in resource")),
        };
        match (section, value) {
            (Section::External, value) => self.resources.push(owner, key, value),
            (Section::Dialect, ResourceValue::String(blob)) => {
                let hex = std::str::from_utf8(&blob).ok().and_then(|t| t.strip_prefix("0x"));
                let Some(bytes) = hex.and_then(super::numbers::hex_bytes).filter(|b| b.len() >= 4) else {
                    let message = format!("expected hex string blob for key '{key}'");
                    return Err(self.error_here(message));
                };
                self.ctx.set_resource(owner, key, bytes.into());
            }
            (Section::Dialect, ResourceValue::Bool(_)) => {}
        }
        self.advance();
        Ok(())
    }
}
