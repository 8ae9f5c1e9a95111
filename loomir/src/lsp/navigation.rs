//! Definitions and uses of values, blocks, symbols and aliases.

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams,
    GotoDefinitionResponse, Location, ReferenceParams,
};

use super::document::Document;
use super::index::Settings;

pub(super) fn definition(
    settings: &Settings,
    document: &mut Document,
    params: &GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let at = &params.text_document_position_params;
    let offset = document.offset(at.position);
    let (index, seen) = document.indexed(settings);
    let outline = &index.part_at(offset)?.outline;
    let named = outline.names.get(outline.occurrence_at(offset)?.name)?;
    let location = Location { uri: at.text_document.uri.clone(), range: seen.range(&named.span) };
    Some(GotoDefinitionResponse::Scalar(location))
}

pub(super) fn references(
    settings: &Settings,
    document: &mut Document,
    params: &ReferenceParams,
) -> Option<Vec<Location>> {
    let at = &params.text_document_position;
    let offset = document.offset(at.position);
    let (index, seen) = document.indexed(settings);
    let outline = &index.part_at(offset)?.outline;
    let all = outline.occurrences_of(outline.occurrence_at(offset)?.name);
    let wanted = all.filter(|own| !own.is_definition || params.context.include_declaration);
    let uri = &at.text_document.uri;
    Some(wanted.map(|own| Location { uri: uri.clone(), range: seen.range(&own.span) }).collect())
}

pub(super) fn highlights(
    settings: &Settings,
    document: &mut Document,
    params: &DocumentHighlightParams,
) -> Option<Vec<DocumentHighlight>> {
    let offset = document.offset(params.text_document_position_params.position);
    let (index, seen) = document.indexed(settings);
    let outline = &index.part_at(offset)?.outline;
    let all = outline.occurrences_of(outline.occurrence_at(offset)?.name);
    let shown = all.map(|own| DocumentHighlight {
        range: seen.range(&own.span),
        kind: Some(match own.is_definition {
            true => DocumentHighlightKind::WRITE,
            false => DocumentHighlightKind::READ,
        }),
    });
    Some(shown.collect())
}
