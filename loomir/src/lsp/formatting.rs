//! Formatting: indentation as the printer has it, and no blanks at the ends of lines.
//!
//! Only blanks change, so that names and comments stay. An operation stands two columns further in
//! than the one around it, a label where the operation around it stands. Further lines of an
//! operation move with its first. Text that cannot be read stays as it is.

use loomir_ir::text::outline::NameKind;
use lsp_types::TextEdit;

use super::document::Document;
use super::index::{Part, Settings};

/// The columns of one level.
const INDENT: usize = 2;

pub(super) fn answer(settings: &Settings, document: &mut Document) -> Option<Vec<TextEdit>> {
    let (index, seen) = document.indexed(settings);
    if index.parts.iter().any(|part| part.diagnostics.has_errors()) {
        return None;
    }
    let mut edits = Vec::new();
    let mut moved = 0isize;
    let (mut blanks, mut part, mut cursor) = (0, 0, Cursor::default());
    for line in 0..seen.lines.len() {
        let (start, text) = (seen.lines.start(seen.text, line), seen.lines.line(seen.text, line));
        let (indent, trimmed) = (text.len() - text.trim_start().len(), text.trim());
        if trimmed.is_empty() {
            blanks += 1;
            // Of several empty lines one stays.
            let is_last = line + 1 == seen.lines.len();
            let end = seen.lines.start(seen.text, line + 1);
            if blanks > 1 && !is_last {
                edits.push((start..end, String::new()));
            } else if !text.is_empty() {
                edits.push((start..start + text.len() as u32, String::new()));
            }
            continue;
        }
        blanks = 0;
        let first = start + indent as u32;
        while index.parts.get(part + 1).is_some_and(|next| next.start <= first) {
            part += 1;
            cursor = Cursor::default();
        }
        let wanted = index.parts.get(part).and_then(|part| cursor.indent(part, first, trimmed, index.is_ll));
        let wanted = match wanted {
            Some(wanted) => {
                moved = wanted as isize - indent as isize;
                wanted
            }
            None => indent.saturating_add_signed(moved),
        };
        if wanted != indent || text[..indent].contains('\t') {
            edits.push((start..first, " ".repeat(wanted)));
        }
        let end = start + text.trim_end().len() as u32;
        if end < start + text.len() as u32 {
            edits.push((end..start + text.len() as u32, String::new()));
        }
    }
    let edit = |(span, new_text)| TextEdit { range: seen.range(&span), new_text };
    Some(edits.into_iter().map(edit).collect())
}

/// The place in an outline, for lines that are asked about in order.
#[derive(Default)]
struct Cursor {
    op: usize,
    region: usize,
    name: usize,
    open: Vec<usize>,
}

impl Cursor {
    /// Returns the indentation of a line, given its first byte that is no blank. `None` if the line
    /// goes on with an operation of an earlier one.
    fn indent(&mut self, part: &Part, first: u32, text: &str, is_ll: bool) -> Option<usize> {
        let outline = &part.outline;
        while outline.regions.get(self.region).is_some_and(|own| own.span.start < first) {
            self.open.push(self.region);
            self.region += 1;
        }
        while self.open.last().is_some_and(|at| outline.regions[*at].span.end <= first) {
            self.open.pop();
        }
        let depth = self.open.len();
        let closes = |at: &usize| outline.regions[*at].span.end == first + 1;
        if text.starts_with('}') && self.open.last().is_some_and(closes) {
            return Some(INDENT * (depth - 1));
        }
        while outline.ops.get(self.op).is_some_and(|own| own.span.start < first) {
            self.op += 1;
        }
        while outline.names.get(self.name).is_some_and(|own| own.span.start < first) {
            self.name += 1;
        }
        let is_op = outline.ops.get(self.op).is_some_and(|own| own.span.start == first);
        let named = outline.names.get(self.name).filter(|own| own.span.start == first);
        let is_name = named.is_some_and(|own| own.kind == NameKind::Block || own.op.is_none());
        let is_comment = text.starts_with(if is_ll { ";" } else { "//" });
        match (is_op, is_name) {
            // A label, or an alias.
            (false, true) => Some(INDENT * depth.saturating_sub(1)),
            (true, _) => Some(INDENT * depth),
            _ if is_comment => Some(INDENT * depth),
            _ => None,
        }
    }
}
