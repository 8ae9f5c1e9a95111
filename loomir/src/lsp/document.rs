//! An open document: its text, its lines, and its index.

use lsp_types::{Position, TextDocumentContentChangeEvent};

use super::index::{Index, Settings};
use super::lines::{Encoding, Lines, Seen};

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
