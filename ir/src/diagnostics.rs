//! Diagnostics as data: what is wrong, where, why, and what to do about it.
//!
//! Nothing here prints. Library code returns [`Diagnostics`], the command renders them with the
//! source line and a caret. Order is the order of discovery, which depends on the input alone.

use crate::context::Context;
use crate::location::Loc;

pub use remark::{Arg, Fields, Remark, RemarkKind};

pub mod remark;
pub mod suggest;

/// The weight of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input is at fault; nothing is produced.
    Error,
    /// Suspicious, but accepted.
    Warning,
    /// A report of something an optimisation did, or did not do.
    Remark,
    /// Belongs to the diagnostic before it.
    Note,
}

impl Severity {
    /// `error`, `warning`, `remark` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// One diagnostic with its notes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Its weight.
    pub severity: Severity,
    /// Where.
    pub loc: Loc,
    /// The cause, in one sentence without a full stop.
    pub message: String,
    /// Further places and causes.
    pub notes: Vec<(Loc, String)>,
    /// A way out, if one is known.
    pub help: Option<String>,
    /// The same as data, of a remark.
    pub remark: Option<Box<Remark>>,
}

impl Diagnostic {
    /// A diagnostic without notes.
    pub fn new(severity: Severity, loc: Loc, message: impl Into<String>) -> Self {
        Diagnostic { severity, loc, message: message.into(), notes: Vec::new(), help: None, remark: None }
    }

    /// An error.
    pub fn error(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, loc, message)
    }

    /// A warning.
    pub fn warning(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, loc, message)
    }

    /// A remark.
    pub fn remark(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, loc, message)
    }

    /// Returns true for a remark on what was done.
    pub fn is_passed(&self) -> bool {
        self.remark.as_ref().is_some_and(|remark| remark.kind == RemarkKind::Passed)
    }

    /// Returns true for a remark on what was not done.
    pub fn is_missed(&self) -> bool {
        self.remark.as_ref().is_some_and(|remark| remark.kind == RemarkKind::Missed)
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, loc: Loc, message: impl Into<String>) -> Self {
        self.notes.push((loc, message.into()));
        self
    }

    /// Says what a remark says as data.
    #[must_use]
    pub fn telling(mut self, remark: Remark) -> Self {
        self.remark = Some(Box::new(remark));
        self
    }

    /// Adds to what is said as data, if something is.
    #[must_use]
    pub fn arg(mut self, key: &'static str, value: impl Into<Arg>) -> Self {
        if let Some(remark) = &mut self.remark {
            remark.args.push((key, value.into()));
        }
        self
    }

    /// Adds to a list in what is said as data, if something is.
    #[must_use]
    pub fn listing(mut self, key: &'static str, value: impl Into<Arg>) -> Self {
        let Some(remark) = &mut self.remark else { return self };
        let known = remark.args.iter_mut().find_map(|(own, arg)| match arg {
            Arg::List(all) if *own == key => Some(all),
            _ => None,
        });
        match known {
            Some(all) => all.push(value.into()),
            None => remark.args.push((key, Arg::List(vec![value.into()]))),
        }
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.help = Some(message.into());
        self
    }
}

/// A list of diagnostics in order of discovery.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds an error.
    pub fn error(&mut self, loc: Loc, message: impl Into<String>) {
        self.push(Diagnostic::error(loc, message));
    }

    /// Adds all of another list.
    pub fn append(&mut self, mut other: Diagnostics) {
        self.0.append(&mut other.0);
    }

    /// Removes those behind the first `start` of which `keep` does not hold.
    pub fn retain_from(&mut self, start: usize, mut keep: impl FnMut(&Diagnostic) -> bool) {
        let behind = self.0.split_off(start.min(self.0.len()));
        self.0.extend(behind.into_iter().filter(|own| keep(own)));
    }

    /// True if there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `file:line:column: severity: message`, a line for each diagnostic, note and help: the form
    /// of tests and logs.
    pub fn to_text(&self, ctx: &Context) -> String {
        let mut text = String::new();
        for d in &self.0 {
            push_line(&mut text, ctx, d.loc, d.severity.name(), &d.message);
            for (loc, note) in &d.notes {
                push_line(&mut text, ctx, *loc, "note", note);
            }
            if let Some(help) = &d.help {
                push_line(&mut text, ctx, d.loc, "help", help);
            }
        }
        text
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}

fn push_line(text: &mut String, ctx: &Context, loc: Loc, kind: &str, message: &str) {
    use std::fmt::Write;
    let _ = match loc.file_line_col(ctx) {
        Some((file, line, column)) => writeln!(text, "{file}:{line}:{column}: {kind}: {message}"),
        None => writeln!(text, "{kind}: {message}"),
    };
}
