//! Names of values and blocks, as MLIR gives them.
//!
//! Regions are numbered from the outside in, each starting where the region around it ended, so
//! neighbours count from the same number; in generic form numbers are used once in the whole text.
//! Names that operations suggest ([`AsmNames`]) are made unique among those visible. A value's name
//! is a 32-bit code in a table a body; only suggested names are strings.

use std::borrow::Cow;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};

use super::survey::Survey;
use crate::body::{Body, OpRef, ValueDef};
use crate::entity::{Block, Op, Value};
use crate::text::PrintOptions;
use crate::text::op_printer::AsmNames;

const UNNAMED: u32 = u32::MAX;
/// The code is an index of a text.
const TEXT: u32 = 1 << 31;
/// The code is the number of an argument.
const ARGUMENT: u32 = 1 << 30;

/// Names of all values and blocks of some bodies.
#[derive(Default)]
pub(crate) struct Names<'p> {
    bodies: Vec<BodyNames<'p>>,
    /// By the number of the body's arena.
    index: HashMap<u32, usize, FixedState>,
    texts: Vec<Box<str>>,
    /// First results of the groups of operations that have more than one, by body and operation.
    groups: HashMap<(usize, usize), Vec<usize>, FixedState>,
    /// Codes of the values of all bodies, one body behind the other.
    values: Vec<u32>,
    /// Positions of the blocks of all bodies in their regions, as above.
    blocks: Vec<u32>,
}

struct BodyNames<'p> {
    body: &'p Body,
    /// Where its values and blocks begin.
    first_value: usize,
    first_block: usize,
}

/// Counters of numbers, arguments and conflicts.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    argument: u32,
    conflict: u32,
}

struct Numbering<'n, 'p> {
    names: Names<'p>,
    survey: Survey,
    counters: Counters,
    /// Suggested names in use, as numbers of texts, and as a list to remove them from.
    used: HashTable<u32>,
    log: Vec<u32>,
    /// True if a suggested name could be taken for that of an argument.
    may_clash: bool,
    options: &'n PrintOptions,
}

/// A name in front of `#`, or of a single value.
pub(crate) enum NameText<'n> {
    Number(u32),
    Argument(u32),
    Text(&'n str),
    None,
}

impl<'p> Names<'p> {
    /// Names of all values inside an operation, and what occurs there.
    pub(crate) fn of(root: OpRef<'p>, options: &PrintOptions) -> (Names<'p>, Survey) {
        let mut n = Numbering {
            names: Names::default(),
            survey: Survey::default(),
            counters: Counters::default(),
            used: HashTable::new(),
            log: Vec::new(),
            may_clash: false,
            options,
        };
        let body = n.body(root.body());
        n.survey.operation(root);
        n.operation(body, root);
        // Regions still to be numbered, the next one last, each with the state to begin with.
        let mark = n.log.len();
        let mut regions: Vec<(OpRef<'p>, usize, Counters, usize)> =
            (0..root.regions().len()).map(|i| (root, i, n.counters, mark)).collect();
        while let Some((op, index, counters, mark)) = regions.pop() {
            if !options.generic && !options.unique_ssa_ids {
                n.counters = counters;
            }
            n.forget(mark);
            let body = n.body(op.body());
            let inner = n.region(body, op, index);
            let mark = n.log.len();
            for op in inner {
                regions.extend((0..op.regions().len()).map(|i| (op, i, n.counters, mark)));
            }
        }
        (n.names, n.survey)
    }

    /// The number by which the other methods know a body.
    pub(crate) fn index_of(&self, body: &Body) -> usize {
        self.index.get(&body.arena_number()).copied().unwrap_or(usize::MAX)
    }

    /// The name of a value, and its number among those of the name if there are several.
    pub(crate) fn value(&self, index: usize, value: Value) -> (NameText<'_>, Option<usize>) {
        let Some(names) = self.bodies.get(index) else { return (NameText::None, None) };
        let body = names.body;
        let (mut lookup, mut number) = (value, None);
        if let ValueDef::OpResult { op, index: result } = body.def(value) {
            let count = body.num_results(op);
            if count > 1 {
                let groups = self.groups(index, op);
                let at = groups.partition_point(|first| *first <= result) - 1;
                let end = groups.get(at + 1).copied().unwrap_or(count);
                number = (end - groups[at] > 1).then_some(result - groups[at]);
                lookup = body.result(op, groups[at]);
            }
        }
        (self.text(self.values[names.first_value + lookup.index()]), number)
    }

    /// The body of an index.
    pub(crate) fn body(&self, index: usize) -> Option<&'p Body> {
        self.bodies.get(index).map(|b| b.body)
    }

    /// The groups of results of an operation: the first of each.
    pub(crate) fn groups(&self, index: usize, op: Op) -> &[usize] {
        self.groups.get(&(index, op.index())).map_or(&[0], |groups| groups)
    }

    /// The position of a block in its region.
    pub(crate) fn block(&self, index: usize, block: Block) -> u32 {
        self.bodies.get(index).map_or(UNNAMED, |names| self.blocks[names.first_block + block.index()])
    }

    fn text(&self, code: u32) -> NameText<'_> {
        match code {
            UNNAMED => NameText::None,
            _ if code & TEXT != 0 => NameText::Text(&self.texts[(code & !TEXT) as usize]),
            _ if code & ARGUMENT != 0 => NameText::Argument(code & !ARGUMENT),
            _ => NameText::Number(code),
        }
    }
}

impl<'p> Numbering<'_, 'p> {
    fn body(&mut self, body: &'p Body) -> usize {
        let Names { bodies, index, values, blocks, .. } = &mut self.names;
        *index.entry(body.arena_number()).or_insert_with(|| {
            let (first_value, first_block) = (values.len(), blocks.len());
            values.resize(first_value + body.num_value_slots(), UNNAMED);
            blocks.resize(first_block + body.num_block_slots(), UNNAMED);
            bodies.push(BodyNames { body, first_value, first_block });
            bodies.len() - 1
        })
    }

    /// The code of a value's name, to change.
    fn code(&mut self, body: usize, value: Value) -> &mut u32 {
        &mut self.names.values[self.names.bodies[body].first_value + value.index()]
    }

    /// Names everything in a region; yields the operations in it that have regions.
    fn region(&mut self, body: usize, op: OpRef<'p>, index: usize) -> Vec<OpRef<'p>> {
        let region = op.region(index);
        if !self.options.generic
            && let Some(hints) = op.info().interface::<dyn AsmNames>()
        {
            for (value, name) in hints.argument_names(op, region) {
                self.suggest(body, value, &name);
            }
        }
        let mut inner = Vec::new();
        for (position, block) in op.body().blocks(region).enumerate() {
            let first = self.names.bodies[body].first_block;
            self.names.blocks[first + block.index()] = position as u32;
            for argument in op.body().arguments(block) {
                self.survey.ty(op.body().value_type(argument));
                if *self.code(body, argument) != UNNAMED {
                    continue;
                }
                if position == 0 {
                    self.argument(body, argument);
                } else {
                    self.number_or_place(body, argument);
                }
            }
            for o in op.body().ops(block) {
                let o = op.body().op_ref(o);
                self.survey.operation(o);
                // An operation with a body of its own has no results.
                if std::ptr::eq(o.body(), op.body()) {
                    self.operation(body, o);
                }
                if o.regions().len() > 0 {
                    inner.push(o);
                }
            }
        }
        inner
    }

    /// Names the results of an operation.
    fn operation(&mut self, body: usize, op: OpRef<'_>) {
        if op.num_results() == 0 {
            return;
        }
        if !self.options.generic
            && let Some(hints) = op.info().interface::<dyn AsmNames>()
        {
            let mut groups = Vec::new();
            for (value, name) in hints.result_names(op) {
                self.suggest(body, value, &name);
                if let ValueDef::OpResult { index, .. } = op.body().def(value)
                    && index > 0
                {
                    groups.push(index);
                }
            }
            if !groups.is_empty() {
                groups.push(0);
                groups.sort_unstable();
                groups.dedup();
                self.names.groups.insert((body, op.op().index()), groups);
            }
        }
        let first = op.result(0);
        if *self.code(body, first) == UNNAMED {
            self.number_or_place(body, first);
        }
    }

    fn number(&mut self, body: usize, value: Value) {
        *self.code(body, value) = self.counters.value;
        self.counters.value += 1;
    }

    fn number_or_place(&mut self, body: usize, value: Value) {
        match self.name_of_place(body, value) {
            Some(name) => self.suggest(body, value, name),
            None => self.number(body, value),
        }
    }

    /// Returns the name that a value's location gives it, if that is asked for.
    fn name_of_place(&self, body: usize, value: Value) -> Option<&'p str> {
        let body = self.names.bodies[body].body;
        let loc = || match body.def(value) {
            ValueDef::OpResult { op, .. } => body.loc(op),
            _ => body.argument_loc(value),
        };
        self.options.nameloc_as_prefix.then(loc)?.first_name(body.ctx())
    }

    fn argument(&mut self, body: usize, value: Value) {
        let number = self.counters.argument;
        if let Some(name) = self.name_of_place(body, value) {
            self.suggest(body, value, name);
            self.counters.argument += 1;
            return;
        }
        self.counters.argument += 1;
        if self.may_clash {
            let name = format!("arg{number}");
            if self.is_used(&name) {
                return self.suggest(body, value, &name);
            }
        }
        *self.code(body, value) = number | ARGUMENT;
    }

    /// Gives a value a suggested name, or that of its location, changed so that it is a name and
    /// nobody else's.
    fn suggest(&mut self, body: usize, value: Value, name: &str) {
        let name = self.name_of_place(body, value).unwrap_or(name);
        if name.is_empty() {
            return self.number(body, value);
        }
        let mut name = identifier(name);
        let argument = name.strip_prefix("arg").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if let Some(number) = argument {
            self.may_clash = true;
            let taken = number.parse::<u32>().is_ok_and(|n| n < self.counters.argument);
            if taken {
                name = self.probe(&name).into();
            }
        }
        if self.is_used(&name) {
            name = self.probe(&name).into();
        }
        let text = self.names.texts.len() as u32;
        *self.code(body, value) = text | TEXT;
        self.log.push(text);
        self.names.texts.push(name.into());
        let texts = &self.names.texts;
        let hash = |text: &u32| hash_of(&texts[*text as usize]);
        self.used.insert_unique(hash(&text), text, hash);
    }

    fn is_used(&self, name: &str) -> bool {
        self.used.find(hash_of(name), |text| &*self.names.texts[*text as usize] == name).is_some()
    }

    fn probe(&mut self, name: &str) -> String {
        loop {
            let probe = format!("{name}_{}", self.counters.conflict);
            self.counters.conflict += 1;
            if !self.is_used(&probe) {
                return probe;
            }
        }
    }

    /// Gives names back that were suggested since a mark.
    fn forget(&mut self, mark: usize) {
        for text in self.log.drain(mark..) {
            let hash = hash_of(&self.names.texts[text as usize]);
            if let Ok(entry) = self.used.find_entry(hash, |own| *own == text) {
                entry.remove();
            }
        }
    }
}

fn hash_of(name: &str) -> u64 {
    FixedState::default().hash_one(name)
}

/// A name that the lexer reads as one: no digit in front, no foreign characters.
fn identifier(name: &str) -> Cow<'_, str> {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'$' | b'.' | b'_' | b'-');
    if !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(is_part) {
        return name.into();
    }
    let mut text = String::with_capacity(name.len());
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        text.push('_');
    }
    for byte in name.bytes() {
        match byte {
            b' ' => text.push('_'),
            _ if is_part(byte) => text.push(byte as char),
            _ => text.push_str(&format!("{byte:X}")),
        }
    }
    text.into()
}
