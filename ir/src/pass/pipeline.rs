//! Pipelines as text: `builtin.module(func.func(canonicalize,loop-fusion{max-depth=2}),cse)`.
//!
//! The syntax is MLIR's. An element is a pass, with options between braces as `name=value`
//! separated by blanks (a bare name means `true`; a value with blanks stands in braces or quotes; a
//! list's elements are separated by commas), or an operation's name, or `any`, with the passes for
//! it in parentheses. Linear in the text.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Pass, PassManager};
use crate::body::Body;
use crate::diagnostics::suggest::did_you_mean;

/// Deepest nesting of parentheses in a pipeline.
const MAX_DEPTH: usize = 64;

/// The anchor of a pipeline for all operations that own a body.
pub(super) const ANY: &str = "any";

/// The registered information about a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name in pipelines.
    pub name: &'static str,
    /// The operation it runs on; `None` for any that owns a body.
    pub anchor: Option<&'static str>,
    /// Its purpose, in a line.
    pub summary: &'static str,
    /// Names, defaults and meanings of its options.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    /// Makes the pass from options, whose names have been checked.
    pub make: fn(&Options) -> Result<Box<dyn Pass>, String>,
}

/// Options of a pass as written. As text they are what stands behind the pass's name:
/// `{name=value …}`, or nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// The last value given for `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The value of `name` as `T`, or `default` if it is not given.
    ///
    /// # Errors
    /// A message if the value is not a `T`.
    pub fn parse<T: FromStr<Err: Display>>(&self, name: &str, default: T) -> Result<T, String> {
        self.get(name).map_or(Ok(default), |text| value(name, text))
    }

    /// The elements of all values given for `name`, which commas separate.
    ///
    /// # Errors
    /// A message if an element is not a `T`.
    pub fn list<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Vec<T>, String> {
        let given = self.0.iter().filter(|(own, _)| own == name);
        let elements = given.flat_map(|(_, values)| values.split(',')).map(str::trim);
        elements.filter(|element| !element.is_empty()).map(|element| value(name, element)).collect()
    }

    /// Adds an option.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), value.into()));
    }
}

fn value<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| {
        let error = error.to_string();
        // What the type itself says may quote the value.
        match error.starts_with('\'') {
            true => format!("option '{name}': {error}"),
            false => format!("'{text}' is no value for option '{name}': {error}"),
        }
    })
}

/// A message about a value of an option, and what was meant if the message names something alike.
fn with_suggestion(message: String, given: &[GivenOption<'_>]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let named = message.split(|c| !is_word(c)).filter(|word| word.len() > 2);
    let is_meant = |word: &&str| !given.iter().any(|option| option.value == *word || option.name == *word);
    let named: Vec<&str> = named.filter(is_meant).collect();
    let values = given.iter().filter(|option| message.contains(&format!("'{}'", option.value)));
    let help = values.filter_map(|option| did_you_mean(option.value, named.iter().copied())).next();
    help.map_or_else(|| message.clone(), |help| format!("{message}; {help}"))
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "{" } else { " " })?;
            let in_braces = format!("{{{value}}}");
            if is_plain(value) {
                write!(f, "{name}={value}")?;
            } else if behind_braces(&in_braces) == Some(in_braces.len()) {
                write!(f, "{name}={in_braces}")?;
            } else {
                // It was read from quotes, of the kind that isn't in it.
                let quote = if value.contains('"') { '\'' } else { '"' };
                write!(f, "{name}={quote}{value}{quote}")?;
            }
        }
        f.write_str(if self.0.is_empty() { "" } else { "}" })
    }
}

/// True if a value can stand without braces and quotes.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && !value.contains(|c: char| c.is_ascii_whitespace() || "{}\"'".contains(c))
}

/// Where the text behind the braces begins that `text` begins with. What stands in quotes does not
/// count.
fn behind_braces(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'"' | b'\'' => at += bytes[at..].iter().position(|b| b == byte)? + 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The passes that are known, by name and anchor.
#[derive(Clone, Debug, Default)]
pub struct PassRegistry {
    infos: Vec<PassInfo>,
}

/// An error in the text of a pipeline, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineError {
    /// What.
    pub message: String,
    /// Byte offset in the text.
    pub offset: usize,
}

impl PipelineError {
    /// The message, and below it the line of the pipeline `text` with a caret at the place.
    pub fn to_text(&self, text: &str) -> String {
        let (before, behind) = text.split_at(self.offset.min(text.len()));
        let start = before.rsplit('\n').next().unwrap_or_default();
        let rest = behind.split('\n').next().unwrap_or_default();
        let blanks = " ".repeat(start.chars().count());
        format!("{}\n  {start}{rest}\n  {blanks}^", self.message)
    }
}

impl PassRegistry {
    /// No passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pass, in place of one with the same name and anchor.
    pub fn add(&mut self, info: PassInfo) -> &mut Self {
        self.infos.retain(|own| (own.name, own.anchor) != (info.name, info.anchor));
        self.infos.push(info);
        self
    }

    /// All passes in order of registration.
    pub fn infos(&self) -> &[PassInfo] {
        &self.infos
    }

    /// The pass called `name` for bodies of `anchor`: the one anchored there or, failing that, one
    /// for any operation.
    pub fn get(&self, name: &str, anchor: &str) -> Option<&PassInfo> {
        let mut candidates = self.infos.iter().filter(|info| info.name == name);
        candidates
            .clone()
            .find(|info| info.anchor == Some(anchor))
            .or_else(|| candidates.find(|info| info.anchor.is_none()))
    }

    /// Returns the operations that passes called `name` run on, or [`ANY`].
    fn anchors_of(&self, name: &str) -> Vec<&'static str> {
        let all = self.infos.iter().filter(|info| info.name == name);
        all.map(|info| info.anchor.unwrap_or(ANY)).collect()
    }

    /// Reads a pipeline. Its outermost element names the operation it runs on; a bare list of
    /// passes runs on `builtin.module`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(&self, text: &str) -> Result<PassManager, PipelineError> {
        self.read(text, None)
    }

    /// Reads a pipeline for a program. A bare list of passes runs on its root or, where a pass is
    /// not for that, on the operations inside: on all those in the root's blocks for which there is
    /// a pass of this name.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse_for(&self, text: &str, program: &Body) -> Result<PassManager, PipelineError> {
        let inside = program.all_ops().filter_map(|op| Some(program.nested(op)?.root_ref().name()));
        let mut names: Vec<&str> = Vec::new();
        for name in inside {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        self.read(text, Some((program.root_ref().name(), &names)))
    }

    /// Reads a pipeline, for a root and what is inside of it if that is known.
    fn read(&self, text: &str, program: Option<(&str, &[&str])>) -> Result<PassManager, PipelineError> {
        let mut parser = Parser { registry: self, text, at: 0, inside: None };
        parser.skip_blanks();
        let start = parser.at;
        let name = parser.name();
        let anchored = parser.peek() == Some(b'(');
        let manager = if anchored && !name.is_empty() {
            parser.at += 1;
            let manager = parser.list(name, 1)?;
            parser.expect(b')')?;
            manager
        } else {
            parser.at = start;
            parser.inside = program.map(|(_, inside)| inside);
            parser.list(program.map_or("builtin.module", |(root, _)| root), 0)?
        };
        parser.skip_blanks();
        match parser.peek() {
            None => Ok(manager),
            Some(_) => Err(parser.error("expected the end of the pipeline")),
        }
    }
}

/// An option as it is read, with its place.
struct GivenOption<'t> {
    offset: usize,
    name: &'t str,
    value: &'t str,
}

struct Parser<'t> {
    registry: &'t PassRegistry,
    text: &'t str,
    at: usize,
    /// The names of the operations inside the root, if passes of a bare list may run on these.
    inside: Option<&'t [&'t str]>,
}

impl<'t> Parser<'t> {
    fn error(&self, message: impl Into<String>) -> PipelineError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, offset: usize, message: impl Into<String>) -> PipelineError {
        PipelineError { message: message.into(), offset }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), PipelineError> {
        self.skip_blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(format!("expected '{}'", byte as char)))
        }
    }

    fn name(&mut self) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn list(&mut self, anchor: &str, depth: usize) -> Result<PassManager, PipelineError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("a pipeline nests at most {MAX_DEPTH} deep")));
        }
        let mut manager = PassManager::new(anchor);
        loop {
            self.skip_blanks();
            if matches!(self.peek(), None | Some(b')')) {
                return Ok(manager);
            }
            let start = self.at;
            let name = self.name();
            if name.is_empty() {
                return Err(self.error("expected the name of a pass or operation"));
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
                let inner = self.list(name, depth + 1)?;
                self.expect(b')')?;
                manager.nest(inner);
            } else {
                let given = self.options()?;
                let anchors = if depth == 0 { self.anchors(name, anchor, &given) } else { Vec::new() };
                for anchor in &anchors {
                    let (pass, options) = self.make(start, name, anchor, &given)?;
                    let mut inner = PassManager::new(anchor);
                    inner.add_known(pass, options, self.registry.anchors_of(name));
                    manager.nest(inner);
                }
                if anchors.is_empty() {
                    let (pass, options) = self.make(start, name, anchor, &given)?;
                    manager.add_known(pass, options, self.registry.anchors_of(name));
                }
            }
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return Ok(manager),
            }
        }
    }

    /// The operations to nest a pass of a bare list in, if it is not for the root: those the
    /// program has or, if it has none, the first one whose pass knows these options.
    fn anchors(&self, name: &str, root: &str, given: &[GivenOption<'t>]) -> Vec<&'static str> {
        let Some(inside) = self.inside.filter(|_| self.registry.get(name, root).is_none()) else {
            return Vec::new();
        };
        let infos = self.registry.infos.iter().filter(|info| info.name == name);
        let mut all: Vec<&'static str> = infos.filter_map(|info| info.anchor).collect();
        if all.iter().any(|anchor| inside.contains(anchor)) {
            all.retain(|anchor| inside.contains(anchor));
        } else {
            let knows = |anchor: &&'static str| self.make(0, name, anchor, given).is_ok();
            let first = all.iter().copied().find(knows).or(all.first().copied());
            all = first.into_iter().collect();
        }
        all
    }

    fn make(
        &self,
        offset: usize,
        name: &str,
        anchor: &str,
        given: &[GivenOption<'t>],
    ) -> Result<(Box<dyn Pass>, Options), PipelineError> {
        let Some(info) = self.registry.get(name, anchor) else {
            return Err(self.error_at(offset, self.why_not(name, anchor)));
        };
        let known = |option: &GivenOption<'_>| info.options.iter().any(|(own, ..)| *own == option.name);
        if let Some(option) = given.iter().find(|option| !known(option)) {
            let names: Vec<&str> = info.options.iter().map(|(name, ..)| *name).collect();
            let has = if names.is_empty() { "none".into() } else { names.join(", ") };
            let help = did_you_mean(option.name, names.iter().copied());
            let help = help.map_or(String::new(), |help| format!("; {help}"));
            let message = format!("pass '{name}' has no option '{}'; it has: {has}{help}", option.name);
            return Err(self.error_at(option.offset, message));
        }
        let options = Options(given.iter().map(|o| (o.name.to_owned(), o.value.to_owned())).collect());
        let pass = (info.make)(&options);
        let pass = pass.map_err(|message| self.error_at(offset, with_suggestion(message, given)))?;
        Ok((pass, options))
    }

    /// Why there is no pass called `name` for `anchor`.
    fn why_not(&self, name: &str, anchor: &str) -> String {
        let of_this_name = self.registry.infos.iter().filter(|info| info.name == name);
        let anchors: Vec<&str> = of_this_name.filter_map(|info| info.anchor).collect();
        match anchors.is_empty() {
            true => {
                let known = self.registry.infos.iter().map(|info| info.name);
                let help = did_you_mean(name, known).map_or(String::new(), |help| format!("; {help}"));
                format!("there is no pass called '{name}'{help}")
            }
            false => format!("pass '{name}' runs on {}, not on '{anchor}'", anchors.join(" or ")),
        }
    }

    fn options(&mut self) -> Result<Vec<GivenOption<'t>>, PipelineError> {
        let mut options = Vec::new();
        if self.peek() != Some(b'{') {
            return Ok(options);
        }
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return Err(self.error("expected '}'")),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(options);
                }
                Some(_) => {}
            }
            let offset = self.at;
            let name = self.name();
            if name.is_empty() {
                return Err(self.error("expected the name of an option"));
            }
            let value = if self.peek() == Some(b'=') {
                self.at += 1;
                self.option_value()?
            } else {
                "true"
            };
            options.push(GivenOption { offset, name, value });
        }
    }

    fn option_value(&mut self) -> Result<&'t str, PipelineError> {
        let start = self.at;
        let rest = &self.text[start..];
        let inner = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                let end = rest[1..].find(quote as char).ok_or_else(|| self.error("unterminated string"))?;
                1..end + 1
            }
            Some(b'{') => {
                let behind = behind_braces(rest).ok_or_else(|| self.error("this '{' is not closed"))?;
                1..behind - 1
            }
            _ => {
                let ends = |c: char| c.is_ascii_whitespace() || c == '}';
                let end = rest.find(ends).unwrap_or(rest.len());
                self.at += end;
                return Ok(&rest[..end]);
            }
        };
        self.at += inner.end + 1;
        match self.peek() {
            Some(b) if !b.is_ascii_whitespace() && b != b'}' => {
                Err(self.error("expected a blank or '}' behind the value"))
            }
            _ => Ok(&rest[inner]),
        }
    }
}
