//! Places in a text: bytes, and the lines and columns of the protocol.
//!
//! A column counts units of UTF-16, or bytes if the client agrees. A place beyond the end of a line
//! is the end of that line, as the protocol says; a place inside a character is its start.

use loomir_ir::text::outline::Span;
use lsp_types::{Position, Range};

/// The unit of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Encoding {
    Utf8,
    #[default]
    Utf16,
}

/// The first bytes of the lines of a text.
#[derive(Debug)]
pub(super) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Finds the lines of a text. Linear.
    pub(super) fn of(text: &str) -> Lines {
        let breaks = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, at)| at);
        Lines { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Returns the line of a byte, from 0. Logarithmic.
    pub(super) fn line_of(&self, offset: u32) -> u32 {
        (self.starts.partition_point(|start| *start <= offset) as u32).saturating_sub(1)
    }

    /// Returns the first byte of a line, or the end of the text.
    pub(super) fn start(&self, text: &str, line: u32) -> u32 {
        self.starts.get(line as usize).copied().unwrap_or(text.len() as u32)
    }

    /// Returns a line without its break.
    pub(super) fn line<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let (start, end) = (self.start(text, line), self.start(text, line.saturating_add(1)));
        let line = text.get(start as usize..end as usize).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Returns the byte of a line and a column in bytes, both from 1.
    pub(super) fn offset_of(&self, text: &str, line: u32, column: u32) -> Option<u32> {
        let line = line.checked_sub(1).filter(|line| *line < self.len())?;
        let own = self.line(text, line);
        let column = own.floor_char_boundary((column.saturating_sub(1) as usize).min(own.len()));
        Some(self.start(text, line) + column as u32)
    }

    /// Returns the byte of a place of the protocol.
    pub(super) fn offset(&self, text: &str, place: Position, encoding: Encoding) -> u32 {
        let line = self.line(text, place.line);
        let column = match encoding {
            Encoding::Utf8 => line.floor_char_boundary((place.character as usize).min(line.len())),
            Encoding::Utf16 => {
                let mut units = 0;
                let is_before = |c: &char| {
                    units += c.len_utf16() as u32;
                    units <= place.character
                };
                line.chars().take_while(is_before).map(char::len_utf8).sum()
            }
        };
        self.start(text, place.line) + column as u32
    }

    /// Returns the place of a byte in the protocol.
    pub(super) fn position(&self, text: &str, offset: u32, encoding: Encoding) -> Position {
        let offset = text.floor_char_boundary((offset as usize).min(text.len())) as u32;
        let line = self.line_of(offset);
        let before = &text[self.start(text, line) as usize..offset as usize];
        let character = match encoding {
            Encoding::Utf8 => before.len() as u32,
            Encoding::Utf16 => before.chars().map(|c| c.len_utf16() as u32).sum(),
        };
        Position { line, character }
    }

    /// Returns a range of bytes as the protocol has it.
    pub(super) fn range(&self, text: &str, span: &Span, encoding: Encoding) -> Range {
        let place = |offset| self.position(text, offset, encoding);
        Range { start: place(span.start), end: place(span.end) }
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
    pub(super) fn range(&self, span: &Span) -> Range {
        self.lines.range(self.text, span, self.encoding)
    }

    /// Returns the text of some bytes.
    pub(super) fn slice(&self, span: &Span) -> &'d str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the line of a byte.
    pub(super) fn line_at(&self, offset: u32) -> &'d str {
        self.lines.line(self.text, self.lines.line_of(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_protocol_both_ways() {
        let text = "a😀b\r\nc\n";
        let lines = Lines::of(text);
        for (encoding, columns) in [(Encoding::Utf16, [0, 1, 3, 4]), (Encoding::Utf8, [0, 1, 5, 6])] {
            for (offset, character) in [0, 1, 5, 6].into_iter().zip(columns) {
                let place = Position { line: 0, character };
                assert_eq!(lines.position(text, offset, encoding), place);
                assert_eq!(lines.offset(text, place, encoding), offset);
            }
        }
        let beyond = |line, character| lines.offset(text, Position { line, character }, Encoding::Utf16);
        assert_eq!(
            [beyond(0, 2), beyond(0, 99), beyond(1, 99), beyond(2, 0), beyond(9, 9)],
            [1, 6, 9, 10, 10]
        );
        assert_eq!((lines.offset_of(text, 2, 1), lines.offset_of(text, 9, 1)), (Some(8), None));
    }
}
