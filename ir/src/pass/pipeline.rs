//! Pipelines as text: `builtin.module(func.func(canonicalize,loop-fusion{max-depth=2}),cse)`.
//!
//! The syntax is MLIR's. An element is a pass, with options between braces as `name=value` separated by blanks (a bare name means `true`; a value with
//! blanks stands in braces or quotes), or an operation's name with the passes for it in parentheses.

use super::{Pass, PassManager};

/// Deepest nesting of parentheses in a pipeline.
const MAX_DEPTH: usize = 64;

/// What is registered of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name in pipelines.
    pub name: &'static str,
    /// The operation it runs on; `None` for any that owns a body.
    pub anchor: Option<&'static str>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Names, defaults and meanings of its options.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    /// Makes the pass from options, whose names have been checked.
    pub make: fn(&Options) -> Result<Box<dyn Pass>, String>,
}

/// Options of a pass as written.
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
    pub fn parse<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("'{text}' is no value for option '{name}'")),
        }
    }

    /// Adds an option.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), value.into()));
    }
}

/// The passes that are known, by name and anchor.
#[derive(Clone, Debug, Default)]
pub struct PassRegistry {
    infos: Vec<PassInfo>,
}

/// What is wrong with a pipeline, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineError {
    /// What.
    pub message: String,
    /// Byte offset in the text.
    pub offset: usize,
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

    /// The pass called `name` for bodies of `anchor`: the one anchored there or, failing that, one for any operation.
    pub fn get(&self, name: &str, anchor: &str) -> Option<&PassInfo> {
        let mut candidates = self.infos.iter().filter(|info| info.name == name);
        candidates
            .clone()
            .find(|info| info.anchor == Some(anchor))
            .or_else(|| candidates.find(|info| info.anchor.is_none() || anchor == "any"))
    }

    /// Reads a pipeline. Its outermost element names the operation it runs on; a bare list of passes runs on `builtin.module`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(&self, text: &str) -> Result<PassManager, PipelineError> {
        let mut parser = Parser { registry: self, text, at: 0 };
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
            parser.list("builtin.module", 0)?
        };
        parser.skip_blanks();
        match parser.peek() {
            None => Ok(manager),
            Some(_) => Err(parser.error("expected the end of the pipeline")),
        }
    }
}

struct Parser<'t> {
    registry: &'t PassRegistry,
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn error(&self, message: impl Into<String>) -> PipelineError {
        PipelineError { message: message.into(), offset: self.at }
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
                let options = self.options()?;
                let pass = self.make(name, anchor, &options);
                manager.add(pass.map_err(|message| PipelineError { message, offset: start })?);
            }
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return Ok(manager),
            }
        }
    }

    fn make(&self, name: &str, anchor: &str, options: &Options) -> Result<Box<dyn Pass>, String> {
        let Some(info) = self.registry.get(name, anchor) else {
            let anchors: Vec<&str> = (self.registry.infos.iter())
                .filter(|info| info.name == name)
                .filter_map(|info| info.anchor)
                .collect();
            return Err(if anchors.is_empty() {
                format!("there is no pass called '{name}'")
            } else {
                format!("pass '{name}' runs on {}, not on '{anchor}'", anchors.join(" or "))
            });
        };
        for (option, _) in &options.0 {
            if !info.options.iter().any(|(own, ..)| own == option) {
                return Err(format!("pass '{name}' has no option '{option}'"));
            }
        }
        (info.make)(options)
    }

    fn options(&mut self) -> Result<Options, PipelineError> {
        let mut options = Options::default();
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
            options.push(name, value);
        }
    }

    fn option_value(&mut self) -> Result<&'t str, PipelineError> {
        let start = self.at;
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                let rest = &self.text[start + 1..];
                let Some(end) = rest.find(quote as char) else {
                    return Err(self.error("unterminated string"));
                };
                self.at = start + end + 2;
                Ok(&rest[..end])
            }
            Some(b'{') => {
                let mut depth = 0usize;
                while let Some(byte) = self.peek() {
                    self.at += 1;
                    match byte {
                        b'{' => depth += 1,
                        b'}' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        return Ok(&self.text[start + 1..self.at - 1]);
                    }
                }
                Err(self.error("expected '}'"))
            }
            _ => {
                while self.peek().is_some_and(|b| !b.is_ascii_whitespace() && b != b'}') {
                    self.at += 1;
                }
                Ok(&self.text[start..self.at])
            }
        }
    }
}
