//! Reading of the additional parts of a function's text: names, flags and locations of phi nodes,
//! debug records.
//!
//! They are collected while the function is read, and stored with it at the end. Calls of
//! `llvm.dbg.value` and similar intrinsics of older LLVM become records, as in LLVM.

use hashbrown::HashMap;
use loomir_ir::{Block, Body, Op, Value};

use super::attributes::Said;
use super::function::{FunctionReader, LocalName};
use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::as_read::{AsRead, Named, lines, named};

/// The additional parts collected while a function is read.
#[derive(Default)]
pub(super) struct Beside<'s> {
    pub(super) names: Vec<(Named, LocalName<'s>)>,
    pub(super) flags: Vec<(Value, &'s str)>,
    pub(super) attached: Vec<(Value, String)>,
    records: Vec<Record<'s>>,
}

/// A debug record, and the operation before it in its block.
struct Record<'s> {
    block: Block,
    behind: Option<Op>,
    pieces: Vec<Piece<'s>>,
}

/// A part of the text of a record.
enum Piece<'s> {
    Text(&'s str),
    /// The name of a value, and its token.
    Local(LocalName<'s>, usize),
}

/// The intrinsics that records replace: their names, the names of the records, and the numbers of
/// arguments.
const INTRINSICS: [(&str, &str, usize); 4] = [
    ("llvm.dbg.value", "#dbg_value", 3),
    ("llvm.dbg.declare", "#dbg_declare", 3),
    ("llvm.dbg.assign", "#dbg_assign", 6),
    ("llvm.dbg.label", "#dbg_label", 1),
];

impl<'s> Reader<'s> {
    /// `#dbg_value(…)` and the like.
    pub(super) fn record(&mut self, f: &mut FunctionReader<'s>, block: Block) -> Result<()> {
        let start = self.pos;
        self.advance();
        let (_, end) = self.skip_balanced()?;
        let mut pieces = Vec::new();
        self.pieces(start, end, &mut pieces)?;
        f.note_record(block, pieces);
        Ok(())
    }

    /// Reads the arguments and the rest of a call of a debug intrinsic.
    pub(super) fn debug_call(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        callee: &str,
    ) -> Result<()> {
        let (start, end) = self.skip_balanced()?;
        self.function_attributes(&mut Said::default())?;
        let mut place = None;
        while self.is_sign(",") && self.tokens[self.pos + 1].kind == Kind::Metadata {
            self.advance();
            let is_place = self.text() == "!dbg";
            self.advance();
            let first = self.pos;
            let last = self.metadata_node()?;
            place = place.or(is_place.then_some((first, last)));
        }
        let arguments = self.arguments_between(start, end);
        let known = INTRINSICS.iter().find(|(name, ..)| *name == callee);
        let (Some((_, record, count)), Some((first, last))) = (known, place) else { return Ok(()) };
        // LLVM ignores records that name their subject by a text.
        let is_text = |first: &usize| self.tokens[first + 1].kind == Kind::Text;
        if arguments.len() != *count || arguments.iter().any(|(first, _)| is_text(first)) {
            return Ok(());
        }
        let mut pieces = vec![Piece::Text(record), Piece::Text("(")];
        for (first, last) in arguments {
            self.pieces(first, last, &mut pieces)?;
            pieces.push(Piece::Text(", "));
        }
        self.pieces(first, last, &mut pieces)?;
        pieces.push(Piece::Text(")"));
        f.note_record(block, pieces);
        Ok(())
    }

    /// Returns the first and last tokens of the arguments in a bracket, each without the word
    /// `metadata`.
    fn arguments_between(&self, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut arguments = Vec::new();
        let mut first = start + 1;
        let mut depth = 0usize;
        for at in start + 1..=end {
            match (self.tokens[at].kind, self.text_at(at)) {
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") if depth > 0 => depth -= 1,
                (Kind::Sign, "," | ")") if depth == 0 => {
                    first += usize::from(self.is_word_at(first, "metadata"));
                    if first < at {
                        arguments.push((first, at - 1));
                    }
                    first = at + 1;
                }
                _ => {}
            }
        }
        arguments
    }

    /// Splits the text between two tokens at names of values. Metadata nodes in it are kept.
    fn pieces(&mut self, first: usize, last: usize, pieces: &mut Vec<Piece<'s>>) -> Result<()> {
        let mut from = first;
        for at in first..=last {
            match self.tokens[at].kind {
                Kind::Metadata => {
                    self.kept.insert(self.text_at(at));
                }
                Kind::Local => {
                    if from < at {
                        let end = self.tokens[at].start as usize;
                        pieces.push(Piece::Text(&self.source[self.tokens[from].start as usize..end]));
                    }
                    from = at + 1;
                    if self.is_sign_at(from, "*") {
                        // A typed pointer of an old version.
                        pieces.push(Piece::Text("ptr"));
                        while self.is_sign_at(from, "*") {
                            from += 1;
                        }
                        continue;
                    }
                    pieces.push(Piece::Local(self.name_at(at)?, at));
                }
                _ => {}
            }
        }
        if from <= last {
            let behind_name = if from > first { self.tokens[from - 1].end } else { self.tokens[from].start };
            pieces.push(Piece::Text(&self.source[behind_name as usize..self.tokens[last].end as usize]));
        }
        Ok(())
    }

    /// Stores the collected parts with the function, which is complete now.
    pub(super) fn keep_beside(&self, f: &mut FunctionReader<'s>) -> Result<()> {
        let beside = std::mem::take(&mut f.beside);
        if beside.is_empty() && f.constants.expressions.is_empty() {
            return Ok(());
        }
        let places: HashMap<Named, usize> = named(&f.body).into_iter().zip(0..).collect();
        let of_values = |list: Vec<(Value, String)>| {
            let place = |value| places.get(&Named::Value(value)).copied();
            list.into_iter().filter_map(|(value, text)| Some((place(value)?, text))).collect()
        };
        let names = beside.names.iter().filter_map(|(of, name)| Some((*places.get(of)?, name.to_string())));
        let flags = beside.flags.iter().map(|(value, text)| (*value, (*text).to_owned())).collect();
        let expressions = f.constants.expressions.keys().map(|value| (*value, String::new())).collect();
        let mut kept = AsRead {
            names: names.collect(),
            flags: of_values(flags),
            attached: of_values(beside.attached),
            records: Vec::new(),
            expressions: of_values(expressions),
        };
        kept.expressions.sort_unstable();
        let lines = lines(&f.body);
        for record in beside.records {
            let line = line_of(&f.body, &lines, &record);
            let mut text = String::new();
            for piece in record.pieces {
                match piece {
                    Piece::Text(piece) => text.push_str(piece),
                    Piece::Local(name, token) => {
                        let Some(value) = f.value_of(&name) else {
                            return Err(self.error_at(token, format!("'%{name}' is not defined")));
                        };
                        match places.get(&Named::Value(value)) {
                            Some(place) => text.push_str(&format!("%{place}")),
                            None => text.push_str("poison"),
                        }
                    }
                }
            }
            kept.records.push((line, text.replace(['\n', '\r'], " ")));
        }
        kept.keep(&mut f.body);
        Ok(())
    }
}

/// Returns the number of lines before a record.
fn line_of(body: &Body, lines: &HashMap<Op, usize>, record: &Record<'_>) -> usize {
    let at = |op: Op| lines.get(&op).copied();
    let next = match record.behind {
        Some(op) => body.next_op(op),
        None => body.ops(record.block).next(),
    };
    next.and_then(at).unwrap_or_default()
}

impl Beside<'_> {
    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.flags.is_empty() && self.attached.is_empty() && self.records.is_empty()
    }
}

impl<'s> FunctionReader<'s> {
    fn note_record(&mut self, block: Block, pieces: Vec<Piece<'s>>) {
        let behind = self.body.last_op(block);
        self.beside.records.push(Record { block, behind, pieces });
    }
}
