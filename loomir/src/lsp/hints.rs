//! Inlay hints: the trip count behind the first line of a loop.

use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams};

use super::document::Document;
use super::index::{Part, Settings};
use super::lines::Seen;

pub(super) fn answer(
    settings: &Settings,
    document: &mut Document,
    params: &InlayHintParams,
) -> Vec<InlayHint> {
    let (start, end) = (document.offset(params.range.start), document.offset(params.range.end));
    let (index, seen) = document.indexed(settings);
    let mut hints = Vec::new();
    for part in &mut index.parts {
        let span = |part: &Part, at: usize| part.outline.ops[at].span.clone();
        let functions: Vec<usize> = part
            .functions()
            .filter(|at| {
                let own = span(part, *at);
                own.start <= end && start <= own.end
            })
            .collect();
        for function in functions {
            part.loops_of(seen, settings, function);
            let own = of_function(part, seen, function);
            hints.extend(own.into_iter().filter(|(at, _)| (start..=end).contains(at)).map(|(_, hint)| hint));
        }
    }
    hints
}

/// Returns the hints of a function, each with its byte.
fn of_function(part: &Part, seen: Seen<'_>, function: usize) -> Vec<(u32, InlayHint)> {
    let mut hints = Vec::new();
    let Some(loops) = part.known_loops(function) else { return hints };
    let Some(body) = part.looked_through(seen, function, loops) else { return hints };
    for own in &loops.all {
        let Some(count) = part.count_text(seen, body, own) else { continue };
        let line = seen.lines.line_of(own.start);
        let end = seen.lines.start(seen.text, line) + seen.lines.line(seen.text, line).len() as u32;
        let hint = InlayHint {
            position: seen.position(end),
            label: InlayHintLabel::String(format!("trip count {count}")),
            kind: None,
            text_edits: None,
            tooltip: None,
            padding_left: Some(true),
            padding_right: None,
            data: None,
        };
        hints.push((end, hint));
    }
    hints
}
