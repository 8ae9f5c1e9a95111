//! Folding: regions, and runs of comments.

use lsp_types::{FoldingRange, FoldingRangeKind};

use super::document::Document;
use super::index::Settings;
use super::lines::Seen;

pub(super) fn answer(settings: &Settings, document: &mut Document) -> Vec<FoldingRange> {
    let (index, seen) = document.indexed(settings);
    let mut folds = Vec::new();
    for region in index.parts.iter().flat_map(|part| &part.outline.regions) {
        let first = seen.lines.line_of(region.span.start);
        // The line with the closing brace stays.
        let last = seen.lines.line_of(region.span.end.saturating_sub(1)).saturating_sub(1);
        folds.extend(fold(first, last, FoldingRangeKind::Region));
    }
    comments(seen, index.is_ll, &mut folds);
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds
}

fn fold(first: u32, last: u32, kind: FoldingRangeKind) -> Option<FoldingRange> {
    let own = FoldingRange { start_line: first, end_line: last, kind: Some(kind), ..FoldingRange::default() };
    (first < last).then_some(own)
}

fn comments(seen: Seen<'_>, is_ll: bool, folds: &mut Vec<FoldingRange>) {
    let sign = if is_ll { ";" } else { "//" };
    let mut first = None;
    for line in 0..=seen.lines.len() {
        let is_comment = seen.lines.line(seen.text, line).trim_start().starts_with(sign);
        match (is_comment, first) {
            (true, None) => first = Some(line),
            (false, Some(start)) => {
                folds.extend(fold(start, line - 1, FoldingRangeKind::Comment));
                first = None;
            }
            _ => {}
        }
    }
}
