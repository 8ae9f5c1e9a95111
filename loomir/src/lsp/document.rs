//! An open document: its text, its lines, and its index.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

use super::index::{Index, Settings};
use super::lines::{Encoding, Lines};

/// A document that the client has open.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) version: i32,
    pub(super) lines: Lines,
    encoding: Encoding,
    /// The index of the text, once something asks for it.
    index: Option<Index>,
}

impl Document {
    pub(super) fn new(text: String, version: i32, encoding: Encoding) -> Document {
        Document { lines: Lines::of(&text), text, version, encoding, index: None }
    }

    /// Changes the text. Each change counts on those before it.
    pub(super) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let (start, end) = (self.offset(range.start), self.offset(range.end));
                    self.text.replace_range(start as usize..end.max(start) as usize, &change.text);
                }
            }
            self.lines = Lines::of(&self.text);
        }
        self.version = version;
        self.index = None;
    }

    /// Returns the index of the text, made once for each version, with the text and its lines.
    pub(super) fn indexed(&mut self, settings: &Settings) -> (&mut Index, Seen<'_>) {
        let Document { text, lines, encoding, index, version } = self;
        let index = index.get_or_insert_with(|| Index::of(settings, text));
        (index, Seen { text, lines, encoding: *encoding, version: *version })
    }

    /// Returns the byte of a place.
    pub(super) fn offset(&self, place: Position) -> u32 {
        self.lines.offset(&self.text, place, self.encoding)
    }
}

/// The text of a document, to read.
#[derive(Clone, Copy)]
pub(super) struct Seen<'d> {
    pub(super) text: &'d str,
    pub(super) lines: &'d Lines,
    pub(super) encoding: Encoding,
    pub(super) version: i32,
}

impl<'d> Seen<'d> {
    /// Returns the place of a byte.
    pub(super) fn position(&self, offset: u32) -> Position {
        self.lines.position(self.text, offset, self.encoding)
    }

    /// Returns the range of some bytes.
    pub(super) fn range(&self, span: &std::ops::Range<u32>) -> Range {
        self.lines.range(self.text, span, self.encoding)
    }

    /// Returns the text of some bytes.
    pub(super) fn slice(&self, span: &std::ops::Range<u32>) -> &'d str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the line of a byte.
    pub(super) fn line_at(&self, offset: u32) -> &'d str {
        self.lines.line(self.text, self.lines.line_of(offset))
    }
}
