//! Writing of the additional parts of a function's text: names, flags of phi nodes, debug records.

use std::fmt;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Body, Op, Value};

use super::names::identifier;
use crate::ll::as_read::{AsRead, Named, is_literal, lines, named};

/// The name of a value or block in a text, without a sign before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Label {
    /// None: it is a literal at its uses.
    #[default]
    None,
    /// The number of an unnamed value or block.
    Number(u32),
    /// A name as written, in quotes if necessary.
    Name(Rc<str>),
}

impl Label {
    /// Writes it at the end of a text.
    pub(super) fn write(&self, text: &mut String) {
        match self {
            Label::None => text.push_str("<none>"),
            Label::Number(number) => text.push_str(itoa::Buffer::new().format(*number)),
            Label::Name(name) => text.push_str(name),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

/// Assigns labels, in LLVM's order of numbering.
#[derive(Default)]
pub(super) struct Labels {
    names: HashMap<Named, Rc<str>>,
    next: u32,
}

impl Labels {
    /// Returns the next number.
    pub(super) fn number(&mut self) -> Label {
        self.next += 1;
        Label::Number(self.next - 1)
    }

    /// Returns the name of something, or the next number.
    pub(super) fn of(&mut self, named: Named) -> Label {
        match self.names.get(&named) {
            Some(name) => Label::Name(name.clone()),
            None => self.number(),
        }
    }
}

/// A piece of a debug record.
pub(super) enum Piece {
    Text(String),
    Value(Value),
}

/// The additional parts of a function's text without names.
#[derive(Default)]
pub(super) struct Beside {
    flags: HashMap<Value, String>,
    attached: HashMap<Value, String>,
    /// Records in front of an operation.
    records: HashMap<Op, Vec<Vec<Piece>>>,
    /// Results that are written at their uses, as constant expressions.
    expressions: HashSet<Value>,
}

impl Beside {
    /// Returns the additional parts of a function's text, if it is unchanged.
    pub(super) fn of(function: &Body) -> (Labels, Beside) {
        let AsRead { names, flags, attached, records, expressions } = AsRead::of(function);
        let (mut labels, mut beside) = (Labels::default(), Beside::default());
        if [&names, &flags, &attached, &records, &expressions].iter().all(|list| list.is_empty()) {
            return (labels, beside);
        }
        let all = named(function);
        let value = |place: usize| match all.get(place) {
            Some(Named::Value(value)) => Some(*value),
            _ => None,
        };
        for (place, name) in names {
            labels.names.extend(all.get(place).map(|of| (*of, identifier(&name).into())));
        }
        let of_values = |list: Vec<(usize, String)>| {
            list.into_iter().filter_map(|(place, text)| Some((value(place)?, text))).collect()
        };
        beside.flags = of_values(flags);
        beside.attached = of_values(attached);
        beside.expressions = expressions.into_iter().filter_map(|(place, _)| value(place)).collect();
        if !records.is_empty() {
            let mut ops: Vec<(usize, Op)> =
                lines(function).into_iter().map(|(op, line)| (line, op)).collect();
            // Of several operations with one line the last is written there; the others are
            // literals.
            ops.retain(|(_, op)| !is_literal(function, *op));
            let ops: HashMap<usize, Op> = ops.into_iter().collect();
            for (mut line, text) in records {
                while ops.get(&line).is_some_and(|op| beside.is_expression(function, *op)) {
                    line += 1;
                }
                if let Some(op) = ops.get(&line) {
                    beside.records.entry(*op).or_default().push(pieces(&text, value));
                }
            }
        }
        (labels, beside)
    }

    /// True if an operation is written at its uses, as a constant expression.
    pub(super) fn is_expression(&self, function: &Body, op: Op) -> bool {
        function.results(op).next().is_some_and(|result| self.expressions.contains(&result))
    }

    /// Returns the records in front of an operation.
    pub(super) fn records(&self, op: Op) -> &[Vec<Piece>] {
        self.records.get(&op).map(Vec::as_slice).unwrap_or_default()
    }

    /// Flags of the phi node that an argument is.
    pub(super) fn flags(&self, argument: Value) -> Option<&str> {
        self.flags.get(&argument).map(String::as_str)
    }

    /// Attachments of the phi node that an argument is, or nothing.
    pub(super) fn attached(&self, argument: Value) -> &str {
        self.attached.get(&argument).map(String::as_str).unwrap_or_default()
    }
}

/// Splits a record into pieces. `%5` refers to the value with place 5, except in quotes.
fn pieces(text: &str, value: impl Fn(usize) -> Option<Value>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut from, mut is_quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        is_quoted ^= byte == b'"';
        if byte != b'%' || is_quoted {
            continue;
        }
        let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let behind = at + 1 + digits;
        if let Some(value) = text[at + 1..behind].parse().ok().and_then(&value) {
            pieces.push(Piece::Text(text[from..at].to_owned()));
            pieces.push(Piece::Value(value));
            from = behind;
        }
    }
    pieces.push(Piece::Text(text[from..].to_owned()));
    pieces
}
