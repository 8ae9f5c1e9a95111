//! Attributes of functions, parameters and results. Attributes without a counterpart in the dialect
//! are kept as they are written.

use loomir_ir::{Attr, AttrKind, OperationState, Type};

use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::attributes::{
    FLAGS, NUMBERS, PLACES, STRINGS, TYPES, WORDS, is_of_parameters, is_word_of_parameter,
};

/// Attributes of a function or call, collected for its operation.
#[derive(Default)]
pub(super) struct Said {
    passthrough: Vec<Attr>,
    own: Vec<(&'static str, Attr)>,
}

impl Said {
    /// Gives them to an operation.
    pub(super) fn set(self, ctx: &loomir_ir::Context, state: &mut OperationState) {
        state.set_attrs(ctx, &self.own);
        if !self.passthrough.is_empty() {
            state.set_attr(ctx, "passthrough", ctx.array_attr(&self.passthrough));
        }
    }

    /// Sets the textual attributes of a variable.
    pub(super) fn set_of_variable(self, ctx: &loomir_ir::Context, state: &mut OperationState) {
        if !self.passthrough.is_empty() {
            state.set_attr(ctx, "target_specific_attrs", ctx.array_attr(&self.passthrough));
        }
    }
}

impl Reader<'_> {
    /// Reads a word, with its parentheses if it has any, as it is written.
    fn word_as_written(&mut self) -> Result<String> {
        let (word, start) = (self.text(), self.pos);
        self.advance();
        let end = if self.is_sign("(") { self.skip_balanced()?.1 } else { start };
        Ok(if end == start { word.to_owned() } else { self.slice(start, end).to_owned() })
    }

    // Functions and calls.

    /// Reads attributes of a function, including groups, as far as they go.
    pub(super) fn function_attributes(&mut self, said: &mut Said) -> Result<()> {
        loop {
            match (self.kind(), self.text()) {
                // A debug record of the next line.
                (Kind::Hash, name) if name.trim_start_matches('#').starts_with("dbg_") => return Ok(()),
                (Kind::Hash, name) => {
                    // An undefined group is empty.
                    let Some(start) = self.groups.get(name).copied() else {
                        self.advance();
                        continue;
                    };
                    let here = std::mem::replace(&mut self.pos, start);
                    while !self.is_sign("}") {
                        if !self.function_attribute(said)? {
                            return Err(self.error("expected an attribute"));
                        }
                    }
                    self.pos = here + 1;
                }
                _ if self.function_attribute(said)? => {}
                _ => return Ok(()),
            }
        }
    }

    fn function_attribute(&mut self, said: &mut Said) -> Result<bool> {
        match self.kind() {
            Kind::Text => {
                let key = self.string_attr()?;
                let value = if self.accept("=") { Some(self.string_attr()?) } else { None };
                let text = key.as_str(&self.ctx).unwrap_or_default();
                let own = STRINGS.iter().find(|(_, word)| *word == text);
                match (own, value) {
                    (Some((name, _)), Some(value)) => {
                        let is_bool = name.starts_with("no_") && name.ends_with("_math");
                        let text = value.as_str(&self.ctx).unwrap_or_default();
                        let value = if is_bool { self.ctx.bool_attr(text == "true") } else { value };
                        said.own.push((name, value));
                    }
                    (_, Some(value)) => said.passthrough.push(self.ctx.array_attr(&[key, value])),
                    (_, None) => said.passthrough.push(key),
                }
            }
            Kind::Word => {
                let word = self.text();
                if is_of_parameters(word) {
                    return Err(self.error(format!("'{word}' applies to parameters, not to functions")));
                }
                if let Some((name, _)) = FLAGS.iter().find(|(_, own)| *own == word) {
                    self.advance();
                    said.own.push((name, Attr::UNIT));
                } else if word == "memory" && self.is_sign_behind("(") {
                    let effects = self.memory()?;
                    said.own.push(("memory_effects", effects));
                } else if matches!(word, "alignstack" | "align") && self.is_sign_behind("=") {
                    // As a group writes it.
                    self.advance();
                    self.advance();
                    let number: u64 = self.number()?;
                    said.passthrough.push(self.ctx.string_attr(&format!("{word}({number})")));
                } else if WORDS.contains(&word)
                    || self.is_sign_behind("(") && !matches!(word, "addrspace" | "comdat")
                {
                    let text = self.word_as_written()?;
                    said.passthrough.push(self.ctx.string_attr(&text));
                } else if self.is_unknown_attribute(word) {
                    self.advance();
                    // An unknown keyword, perhaps of a newer version.
                    said.passthrough.push(self.ctx.string_attr(word));
                } else {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// True if a word must be an attribute where attributes of functions are expected. Other words
    /// there are on a line of their own, or one of a few, or begin another item.
    fn is_unknown_attribute(&self, word: &str) -> bool {
        let others = [
            "define",
            "declare",
            "attributes",
            "target",
            "module",
            "source_filename",
            "section",
            "partition",
            "comdat",
            "align",
            "gc",
            "prefix",
            "prologue",
            "personality",
            "addrspace",
            "unnamed_addr",
            "local_unnamed_addr",
            "to",
        ];
        let on_one_line = self.tokens[self.pos].line == self.tokens[self.pos.saturating_sub(1)].line;
        on_one_line && is_lower(word) && !others.contains(&word)
    }

    /// `memory(read, argmem: readwrite)`.
    fn memory(&mut self) -> Result<Attr> {
        self.advance();
        self.advance();
        let mut default = None;
        let mut places: Vec<(&str, &str)> = Vec::new();
        while !self.accept(")") {
            if default.is_some() || !places.is_empty() {
                self.expect(",")?;
            }
            let text = self.text();
            self.advance();
            match text.strip_suffix(':') {
                Some(place) => {
                    let effect = self.text();
                    self.advance();
                    places.push((place, effect));
                }
                None => default = Some(text),
            }
            let said = places.last().map(|(_, effect)| *effect).or(default).unwrap_or_default();
            if !matches!(said, "none" | "read" | "write" | "readwrite") {
                return Err(self.error_at(self.pos - 1, "expected 'none', 'read', 'write' or 'readwrite'"));
            }
        }
        let default = default.unwrap_or("none");
        let effect = |word: &str| {
            let own = |(place, _): &&(&str, &str)| {
                *place == word || *place == "target_mem" && word.starts_with("target_mem")
            };
            places.iter().find(own).map_or(default, |(_, effect)| effect)
        };
        let parts: Vec<String> =
            PLACES.iter().map(|(name, word)| format!("{name} = {}", effect(word))).collect();
        let body = format!("memory_effects<{}>", parts.join(", "));
        Ok(self.ctx.attr(AttrKind::Opaque {
            dialect: self.ctx.name("llvm"),
            body: body.into(),
            pretty: true,
            ty: None,
        }))
    }

    // Parameters and results.

    /// Reads the attributes of a parameter, an argument or a result as a dictionary, if there are
    /// any.
    pub(super) fn value_attributes(&mut self) -> Result<Option<Attr>> {
        let mut all = Vec::new();
        while self.kind() == Kind::Word && !self.is_type() && is_lower(self.text()) {
            let word = self.text();
            let value = if word == "align" {
                self.advance();
                let in_parentheses = self.accept("(");
                let number = self.power_of_two()?.cast_signed();
                if in_parentheses {
                    self.expect(")")?;
                }
                self.ctx.int_attr(Type::I64, number)
            } else if NUMBERS.contains(&word) {
                self.advance();
                self.expect("(")?;
                let number: u64 = self.number()?;
                self.expect(")")?;
                self.ctx.int_attr(Type::I64, number)
            } else if TYPES.contains(&word) {
                self.advance();
                self.expect("(")?;
                let ty = self.ty()?;
                self.expect(")")?;
                self.ctx.type_attr(ty)
            } else if word == "nocapture" {
                // What `captures(none)` once was.
                self.advance();
                Attr::UNIT
            } else if is_word_of_parameter(word) && !self.is_sign_behind("(") {
                self.advance();
                Attr::UNIT
            } else if self.is_sign_behind("(") && !is_expression(word) {
                let text = self.word_as_written()?;
                if text == "captures(none)" {
                    all.push((self.ctx.name("llvm.nocapture"), Attr::UNIT));
                    continue;
                }
                self.ctx.string_attr(&text)
            } else {
                break;
            };
            all.push((self.ctx.name(&format!("llvm.{word}")), value));
        }
        if all.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.ctx.attr(AttrKind::Dictionary(self.ctx.dict(all)))))
    }
}

/// True if a word before parentheses is a constant expression, not an attribute.
fn is_expression(word: &str) -> bool {
    matches!(
        word,
        "getelementptr"
            | "ptrtoint"
            | "inttoptr"
            | "bitcast"
            | "addrspacecast"
            | "trunc"
            | "add"
            | "sub"
            | "xor"
            | "splat"
            | "blockaddress"
            | "asm"
            | "addrspace"
    )
}

fn is_lower(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
