//! The resource section at the end, and text of dialects nobody registered.

use hashbrown::HashSet;

use super::with_printer;
use crate::Name;
use crate::body::OpRef;
use crate::resources::{ExternalResources, ResourceValue};
use crate::text::OpPrinter;
use crate::text::lexer::{Kind, Lexer};

/// A part of the file metadata: groups of keys with their values as text.
struct Section<'a> {
    name: &'static str,
    groups: Vec<(&'a str, Vec<(&'a str, String)>)>,
}

impl OpPrinter<'_> {
    /// Writes the blobs that were referred to in what is printed, in that order, and the external
    /// resources of the operation's file.
    pub(crate) fn file_metadata(&mut self, op: OpRef<'_>) {
        let ctx = self.ctx;
        let mut groups: Vec<(&str, Vec<(&str, String)>)> = Vec::new();
        let mut seen = HashSet::new();
        for (owner, key) in std::mem::take(&mut self.resources) {
            let Some(blob) = ctx.resource(ctx.str(owner), key).filter(|_| seen.insert((owner, key))) else {
                continue;
            };
            let entry = (ctx.str(key), self.blob_text(&blob));
            match groups.iter_mut().find(|(name, _)| *name == ctx.str(owner)) {
                Some((_, entries)) => entries.push(entry),
                None => groups.push((ctx.str(owner), vec![entry])),
            }
        }
        let dialects = Section { name: "dialect_resources", groups };
        let external = op.body().external_resources().into_iter().flat_map(ExternalResources::groups);
        let external = external.map(|(group, entries)| {
            (group, entries.iter().map(|(key, value)| (key.as_str(), self.value_text(value))).collect())
        });
        let external = Section { name: "external_resources", groups: external.collect() };
        self.sections([dialects, external]);
    }

    fn blob_text(&self, blob: &[u8]) -> String {
        with_printer(self.ctx, |p| {
            p.write("\"0x");
            p.hex(blob);
            p.write("\"");
        })
    }

    fn value_text(&self, value: &ResourceValue) -> String {
        with_printer(self.ctx, |p| match value {
            ResourceValue::String(text) => p.string(text),
            ResourceValue::Bool(value) => p.write(if *value { "true" } else { "false" }),
        })
    }

    /// Writes sections without what is elided and, of what is left, nothing that is empty.
    fn sections<'a>(&mut self, sections: impl IntoIterator<Item = Section<'a>>) {
        let limit = self.options.elide_resources_longer_than.unwrap_or(usize::MAX);
        let mut first = true;
        for mut section in sections {
            for (_, entries) in &mut section.groups {
                entries.retain(|(_, text)| !text.starts_with('"') || text.len() <= limit);
            }
            section.groups.retain(|(_, entries)| !entries.is_empty());
            if section.groups.is_empty() {
                continue;
            }
            self.write(if first { "\n{-#\n  " } else { ",\n  " });
            first = false;
            self.write(section.name);
            self.write(": {\n    ");
            for (i, (group, entries)) in section.groups.into_iter().enumerate() {
                self.write(if i == 0 { "" } else { ",\n    " });
                self.keyword_or_string(group);
                self.write(": {\n      ");
                for (i, (key, text)) in entries.into_iter().enumerate() {
                    self.write(if i == 0 { "" } else { ",\n      " });
                    self.keyword_or_string(key);
                    self.write(": ");
                    self.write(&text);
                }
                self.write("\n    }");
            }
            self.write("\n  }");
        }
        if !first {
            self.write("\n#-}\n");
        }
    }

    /// Notes the resources of an unregistered dialect that a text of it may refer to.
    pub(crate) fn note_resources(&mut self, dialect: Name, body: &str) {
        let ctx = self.ctx;
        if !ctx.has_resources() {
            return;
        }
        let mut lexer = Lexer::new(body);
        loop {
            let token = lexer.next();
            let text = &body[token.start as usize..token.end as usize];
            match token.kind {
                Kind::Eof => return,
                Kind::Bare => self.resources.push((dialect, ctx.name(text))),
                _ => {}
            }
        }
    }

    /// Writes text of a dialect nobody registered, with aliases for the attributes and types in it
    /// that have them.
    pub(crate) fn opaque_body(&mut self, body: &str) {
        let words = ["affine_", "distinct", "loc("];
        if !body.contains(['#', '!']) && !words.iter().any(|word| body.contains(word)) {
            return self.write(body);
        }
        let mut lexer = Lexer::new(body);
        let mut copied = 0;
        loop {
            let token = lexer.next();
            let (start, end) = (token.start as usize, token.end as usize);
            let text = &body[start..end];
            match token.kind {
                Kind::Eof => break,
                Kind::Hash | Kind::Exclaim => {}
                Kind::Bare if matches!(text, "affine_map" | "affine_set" | "distinct" | "loc") => {}
                _ => continue,
            }
            let ends = match text {
                // The number, then the attribute.
                "distinct" => {
                    behind_brackets(body, end, b'[').and_then(|end| behind_brackets(body, end, b'<'))
                }
                "loc" => behind_brackets(body, end, b'('),
                _ => behind_brackets(body, end, b'<'),
            };
            let Some(end) = ends else { continue };
            self.write(&body[copied..start]);
            copied = end;
            lexer.set_pos(end as u32);
            let inner = &body[start..end];
            if token.kind == Kind::Exclaim {
                match crate::text::parse_type(self.ctx, inner) {
                    Ok(ty) => self.ty(ty),
                    Err(_) => self.write(inner),
                }
            } else {
                match crate::text::parse_attr(self.ctx, inner) {
                    Ok(attr) => self.attr(attr),
                    Err(_) => self.write(inner),
                }
            }
        }
        self.write(&body[copied..]);
    }
}

/// The byte behind the brackets that open at `at`, or `at` if none do; `None` if they don't close.
fn behind_brackets(text: &str, at: usize, bracket: u8) -> Option<usize> {
    if text.as_bytes().get(at) != Some(&bracket) {
        return Some(at);
    }
    let mut lexer = Lexer::new(text);
    lexer.set_pos(at as u32);
    let mut open = 0u32;
    loop {
        let token = lexer.next();
        match token.kind {
            Kind::Eof => return None,
            Kind::Less | Kind::LParen | Kind::LSquare | Kind::LBrace => open += 1,
            Kind::Greater | Kind::RParen | Kind::RSquare | Kind::RBrace => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return Some(token.end as usize);
        }
    }
}
