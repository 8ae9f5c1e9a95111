//! Metadata: annotations of loops and weights of branches are attributes of the dialect; all other
//! metadata is kept as it is written.
//!
//! A module holds its nodes in one dictionary, by number or name. An operation, a function or a
//! variable holds its attachments in another, by kind. A node of a loop that became an attribute is
//! left out: such nodes are made anew when they are written.

use loomir_dialects::llvm;
use loomir_ir::{Attr, AttrKind, OperationState, Type};
use loomir_transforms::directive::DIRECTIVE;

use super::lexer::{Kind, unescape};
use super::{Reader, Result};
use crate::ll::METADATA;
use crate::ll::loops::{self, Properties, Said};

/// The start of a node that is a place in the source.
const PLACE: &str = "!DILocation";

/// The maximal number of properties of a loop, those in follow-ups included.
const MAX_PROPERTIES: usize = 256;

impl<'s> Reader<'s> {
    /// `!0 = distinct !{…}` or `!name = !{…}`.
    pub(super) fn metadata_definition(&mut self) -> Result<(&'s str, Attr)> {
        let name = self.text();
        self.advance();
        self.expect("=")?;
        let start = self.pos;
        self.accept_word("distinct");
        let end = self.metadata_node()?;
        let others = (start..=end).filter(|at| self.tokens[*at].kind == Kind::Metadata);
        let others: Vec<&str> = others.map(|at| self.text_at(at)).filter(|text| *text != name).collect();
        self.kept.extend(others);
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

    /// Reads attachments `!kind !node` and adds them to an operation. With `comma` each follows a
    /// comma.
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
            let kind = &self.text()[1..];
            self.advance();
            let start = self.pos;
            let end = self.metadata_node()?;
            let node = self.text_at(start);
            if kind == "llvm.loop"
                && start == end
                && let Some(places) = self.loop_annotation(state, node)
            {
                if !places.is_empty() {
                    all.push((self.ctx.name(loops::PLACES), self.ctx.string_attr(&places.join(", "))));
                    self.kept.extend(places);
                }
                continue;
            }
            let attribute = match kind {
                _ if start != end => None,
                "prof" => self.branch_weights(state, node),
                _ => None,
            };
            if let Some((name, value)) = attribute {
                state.set_attr(&self.ctx, name, value);
                continue;
            }
            self.kept.insert(node);
            all.push((self.ctx.name(kind), self.ctx.string_attr(self.slice(start, end))));
        }
        if !all.is_empty() {
            let dict = self.ctx.attr(AttrKind::Dictionary(self.ctx.dict(all)));
            state.set_attr(&self.ctx, METADATA, dict);
        }
        Ok(())
    }

    /// Gives a branch the annotation and the marks in the node of its loop:
    /// `distinct !{!self, !property, …}`. The node is then not kept. Returns the nodes in it that
    /// are places in the source. `None` if it has other properties.
    fn loop_annotation(&mut self, state: &mut OperationState, node: &'s str) -> Option<Vec<&'s str>> {
        let def = self.ctx.op_info(state.name);
        if !def.is(llvm::BrOp::DEF) && !def.is(llvm::CondBrOp::DEF) {
            return None;
        }
        let at = *self.nodes.get(node)?;
        let at = if self.is_word_at(at, "distinct") { at + 1 } else { return None };
        let parts = self.parts_of_node(at)?;
        let (first, properties) = parts.split_first()?;
        if *first != [node] {
            return None;
        }
        let is_place = |part: &&Vec<&'s str>| {
            let [only] = part[..] else { return false };
            let at = self.nodes.get(only).map(|at| at + usize::from(self.is_word_at(*at, "distinct")));
            at.is_some_and(|at| self.text_at(at) == PLACE)
        };
        let (places, properties): (Vec<_>, Vec<_>) = properties.iter().partition(is_place);
        let mut left = MAX_PROPERTIES;
        let mut read = |property: &Vec<&str>| {
            let [property] = property[..] else { return None };
            let at = *self.nodes.get(property)?;
            Some(self.loop_property(at, loops::MAX_FOLLOWED, &mut left)?.0)
        };
        let all: Vec<Option<(String, Said)>> = properties.into_iter().map(&mut read).collect();
        let said: Vec<(String, Said)> = all.iter().flatten().cloned().collect();
        // A loop with directives is written anew, without other properties.
        let is_directed = said.iter().any(|(name, _)| name == DIRECTIVE);
        if said.len() < all.len() && !is_directed {
            return None;
        }
        let is_mark = |(name, said): &(String, Said)| {
            name.starts_with(loops::MARK) && matches!(said, Said::Nothing | Said::Text(_))
        };
        let (marks, said): (Vec<_>, Vec<_>) = said.into_iter().partition(is_mark);
        if marks.is_empty() || !said.is_empty() {
            match Properties::new(said).annotation(&self.ctx) {
                Some(attr) => state.set_attr(&self.ctx, loops::ANNOTATION, attr),
                None if is_directed => {}
                None => return None,
            }
        }
        for (name, said) in &marks {
            let attr = match said {
                Said::Text(text) => self.ctx.attr(AttrKind::String(unescape(text).into())),
                _ => Attr::UNIT,
            };
            state.set_attr(&self.ctx, name, attr);
        }
        self.loops.insert(node);
        Some(places.into_iter().flatten().copied().collect())
    }

    /// Returns the property in the node at a token, `!{!"name", i32 2}`, and the token behind it.
    /// A follow-up lists nodes: `!{!"name", !1, !{!"other"}}`. At most `left` properties are read.
    fn loop_property(&self, at: usize, depth: usize, left: &mut usize) -> Option<((String, Said), usize)> {
        *left = left.checked_sub(1)?;
        let at = at + usize::from(self.is_word_at(at, "distinct"));
        let has = |at: usize, text: &str| at < self.tokens.len() && self.text_at(at) == text;
        if !has(at, "!") || !self.is_sign_at(at + 1, "{") || !has(at + 2, "!") {
            return None;
        }
        let name = self.tokens.get(at + 3).map(|_| self.text_at(at + 3))?;
        let name = name.strip_prefix('"')?.strip_suffix('"')?.to_owned();
        let (mut at, mut said, mut followed) = (at + 4, Said::Nothing, Vec::new());
        while self.is_sign_at(at, ",") && self.tokens.len() > at + 1 {
            at += 1;
            let text = self.text_at(at);
            let string = self.tokens.get(at + 1).map(|_| self.text_at(at + 1)).filter(|_| text == "!");
            let string = string.and_then(|own| own.strip_prefix('"')?.strip_suffix('"'));
            if let Some(string) = string.filter(|_| said == Said::Nothing) {
                said = Said::Text(string.to_owned());
                at += 2;
            } else if text == "!" {
                let (property, next) = self.loop_property(at, depth.checked_sub(1)?, left)?;
                followed.push(property);
                at = next;
            } else if self.tokens[at].kind == Kind::Metadata {
                let node = *self.nodes.get(text)?;
                followed.push(self.loop_property(node, depth.checked_sub(1)?, left)?.0);
                at += 1;
            } else if said == Said::Nothing && self.tokens.len() > at + 2 {
                said = Said::Typed(text.to_owned(), self.text_at(at + 1).to_owned());
                at += 2;
            } else {
                return None;
            }
        }
        let said = match (followed.is_empty(), said) {
            (true, said) => said,
            (false, Said::Nothing) => Said::Follow(Properties::new(followed)),
            _ => return None,
        };
        self.is_sign_at(at, "}").then_some(((name, said), at + 1))
    }

    /// Returns the weights in a node, for a branch with as many targets:
    /// `!{!"branch_weights", i32 1, i32 2}`.
    fn branch_weights(&self, state: &OperationState, node: &str) -> Option<(&'static str, Attr)> {
        let def = self.ctx.op_info(state.name);
        let is_invoke = def.is(llvm::InvokeOp::DEF);
        if !def.is(llvm::CondBrOp::DEF) && !def.is(llvm::SwitchOp::DEF) && !is_invoke {
            return None;
        }
        let parts = self.parts_of_node(*self.nodes.get(node)?)?;
        let (name, weights) = parts.split_first()?;
        // Of a call, a single weight counts its calls.
        let is_other = is_invoke && weights.len() != 2;
        if name[..] != ["!", "\"branch_weights\""] || weights.is_empty() || is_other {
            return None;
        }
        let weight = |part: &Vec<&str>| match part[..] {
            ["i32", weight] => weight.parse::<u32>().ok().map(|weight| i64::from(weight.cast_signed())),
            _ => None,
        };
        let weights = weights.iter().map(weight).collect::<Option<Vec<i64>>>()?;
        Some(("branch_weights", self.ctx.dense_ints_attr(Type::I32, &weights)))
    }

    /// Returns the parts of `!{…}` at a token, each as the texts of its tokens. `None` if it
    /// contains another node, or is not closed.
    fn parts_of_node(&self, at: usize) -> Option<Vec<Vec<&'s str>>> {
        if self.text_at(at) != "!" || !self.is_sign_at(at + 1, "{") {
            return None;
        }
        let mut parts = vec![Vec::new()];
        for at in at + 2..self.tokens.len() {
            match (self.tokens[at].kind, self.text_at(at)) {
                (Kind::Sign, "}") => return Some(parts),
                (Kind::Sign, ",") => parts.push(Vec::new()),
                (Kind::Sign | Kind::End, _) => return None,
                (_, text) => parts.last_mut()?.push(text),
            }
        }
        None
    }
}
