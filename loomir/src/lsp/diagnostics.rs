//! Diagnostics: everything that is wrong with a text.

use loomir_ir::text::outline::Span;
use loomir_ir::{Context, Diagnostic, Loc, Severity};
use lsp_types::{
    Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    PublishDiagnosticsParams, Uri,
};

use super::document::Document;
use super::index::{FILE, Settings};
use super::lines::Seen;
use crate::render::word_end;

/// The most diagnostics of a document that are sent.
const MAX_SHOWN: usize = 1000;

/// Returns the diagnostics of the present version.
pub(super) fn of(settings: &Settings, document: &mut Document, uri: &Uri) -> PublishDiagnosticsParams {
    let (index, seen) = document.indexed(settings);
    let all = index.parts.iter().flat_map(|part| part.diagnostics.iter());
    let shown = all.take(MAX_SHOWN).map(|own| shown(&settings.ctx, seen, uri, own));
    PublishDiagnosticsParams { uri: uri.clone(), diagnostics: shown.collect(), version: Some(seen.version) }
}

fn shown(ctx: &Context, seen: Seen<'_>, uri: &Uri, own: &Diagnostic) -> Shown {
    let place = |loc| seen.range(&span(ctx, seen, loc).unwrap_or(0..0));
    let related = own.notes.iter().filter_map(|(loc, message)| {
        let range = seen.range(&span(ctx, seen, *loc)?);
        let location = Location { uri: uri.clone(), range };
        Some(DiagnosticRelatedInformation { location, message: message.clone() })
    });
    let related: Vec<_> = related.collect();
    let message = match &own.help {
        Some(help) => format!("{}\nhelp: {help}", own.message),
        None => own.message.clone(),
    };
    Shown {
        range: place(own.loc),
        severity: Some(match own.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Remark | Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        source: Some("loomir".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Shown::default()
    }
}

/// Returns the word at a location in the document. `None` if the location is elsewhere.
pub(super) fn span(ctx: &Context, seen: Seen<'_>, loc: Loc) -> Option<Span> {
    let (_, line, column) = loc.file_line_col(ctx).filter(|(file, _, _)| *file == FILE)?;
    // The module around the text is at line 0.
    let start = seen.lines.offset_of(seen.text, line.max(1), column)?;
    let at = start - seen.lines.start(seen.text, seen.lines.line_of(start));
    let end = word_end(seen.line_at(start), at as usize) as u32;
    Some(start..start + (end - at))
}
