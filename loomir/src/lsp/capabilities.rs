//! The abilities of the server, and those of the client that it heeds.

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    HoverProviderCapability, OneOf, PositionEncodingKind, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind,
};
use serde_json::{Value, json};

use super::actions::ShowsDisabled;
use super::lines::Encoding;

/// Returns the unit of columns: bytes, if the client can count them.
pub(super) fn encoding(client: &ClientCapabilities) -> Encoding {
    let known = client.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    match known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8)) {
        true => Encoding::Utf8,
        false => Encoding::Utf16,
    }
}

/// True if the client shows why a code action is disabled.
pub(super) fn shows_disabled(client: &ClientCapabilities) -> ShowsDisabled {
    let actions = client.text_document.as_ref().and_then(|own| own.code_action.as_ref());
    ShowsDisabled(actions.and_then(|own| own.disabled_support).unwrap_or_default())
}

/// Returns the answer to `initialize`.
pub(super) fn of_server(encoding: Encoding) -> Value {
    let signs = ["%", "@", "^", "#", "!", "."];
    let kinds = vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE];
    let capabilities = ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(true.into()),
        inlay_hint_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(signs.map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(kinds),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    };
    let info = json!({ "name": "loomir", "version": env!("CARGO_PKG_VERSION") });
    json!({ "capabilities": capabilities, "serverInfo": info })
}
