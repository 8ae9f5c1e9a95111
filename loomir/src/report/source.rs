//! The source text: its lines, and places in it.

use loomir_ir::{Context, Loc};
use serde_json::Value;

use super::origin::Origins;

/// The most lines that are shown.
const MAX_LINES: usize = 20_000;

/// The longest line that is shown as a whole, in bytes.
const MAX_WIDTH: usize = 400;

/// The longest text of an operation, in bytes.
const MAX_TEXT: usize = 160;

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The source of a page.
#[derive(Clone, Debug)]
pub(super) struct Source<'s> {
    /// The name of its file.
    pub(super) name: &'s str,
    /// The lines that are shown.
    pub(super) lines: Vec<&'s str>,
    /// The number of lines that are left out at the end.
    pub(super) left_out: usize,
    /// True for LLVM IR.
    pub(super) is_ll: bool,
    /// The places that loops of LLVM IR come from.
    origins: Origins<'s>,
}

impl<'s> Source<'s> {
    pub(super) fn new(name: &'s str, text: &'s str) -> Source<'s> {
        let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
        let left_out = text.lines().count() - lines.len();
        let is_ll = crate::lowering::is_ll(text);
        let origins = if is_ll { Origins::of(&text.lines().collect::<Vec<_>>()) } else { Origins::default() };
        Source { name, lines, left_out, is_ll, origins }
    }

    /// Returns a place, if it is in this file and shown.
    pub(super) fn place(&self, ctx: &Context, loc: Loc) -> Option<Place> {
        let (file, line, column) = loc.file_line_col(ctx)?;
        self.shown(file, line, column)
    }

    /// Returns the place that a remark's data says, if it is in this file and shown.
    pub(super) fn place_in(&self, data: &Value) -> Option<Place> {
        let number = |key: &str| data[key].as_u64().and_then(|number| u32::try_from(number).ok());
        self.shown(data["file"].as_str()?, number("line")?, number("column")?)
    }

    fn shown(&self, file: &str, line: u32, column: u32) -> Option<Place> {
        let is_shown = file == self.name && line > 0 && line as usize <= self.lines.len();
        is_shown.then_some(Place { line, column })
    }

    /// Returns the file and line that a loop of LLVM IR comes from, if debug information tells.
    pub(super) fn origin(&self, place: Place) -> Option<String> {
        self.origins.of_loop(&self.lines, place.line as usize)
    }

    /// Returns the names that the function at a place of LLVM IR gives to its arguments in its own
    /// language. Empty if debug information does not tell all of them.
    pub(super) fn arguments(&self, place: Place, arguments: usize) -> Vec<String> {
        self.origins.arguments(&self.lines, place.line as usize, arguments)
    }

    /// Returns a line as far as it is shown, and true if there is more.
    pub(super) fn line(&self, number: usize) -> (&'s str, bool) {
        let line = self.lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
        let end = line.floor_char_boundary(MAX_WIDTH);
        (&line[..end], end < line.len())
    }

    /// Returns the text of the operation at a place. In LLVM IR, where a line has one.
    pub(super) fn snippet(&self, place: Place) -> Option<String> {
        let line = self.lines.get(place.line as usize - 1)?;
        let from = if self.is_ll { line } else { line.get(place.column.checked_sub(1)? as usize..)? };
        Some(shortened(from)).filter(|text| !text.is_empty())
    }
}

/// Returns the text of an operation on a line, without its types, its results and the brace of a
/// region.
pub(super) fn shortened(line: &str) -> String {
    let text = line.trim();
    let text = match text.split_once(" = ") {
        Some((results, rest)) if results.starts_with('%') && !results.contains('(') => rest,
        _ => text,
    };
    let text = text.split(" : ").next().unwrap_or(text);
    let text = text.split(" {").next().unwrap_or(text);
    let text = text.split(", align ").next().unwrap_or(text);
    let text = text.split(", !").next().unwrap_or(text);
    let end = text.floor_char_boundary(MAX_TEXT);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", &text[..end])
}
