//! Code actions: fuse a loop with the one above, or the reason why not; and the word that was
//! probably meant.
//!
//! A client asks at each move of the cursor, so that only loops whose header the cursor is in are
//! looked at. The edit replaces the lines of the function that change, and keeps the names of
//! values. Comments that stand alone among these lines move before them.

use loomir_ir::{Body, Diagnostic, Loc, Op};
use loomir_transforms::access::structure::Structure;
use lsp_types::{
    CodeAction, CodeActionDisabled, CodeActionKind, CodeActionOrCommand, CodeActionParams, DocumentChanges,
    OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use super::document::Document;
use super::fusion::{self, Fused};
use super::index::{Part, Settings};
use super::lines::Seen;
use crate::AliasMode;

/// The client's ability to show an action with the reason why it is disabled.
#[derive(Clone, Copy)]
pub(super) struct ShowsDisabled(pub(super) bool);

pub(super) fn answer(
    settings: &Settings,
    document: &mut Document,
    params: &CodeActionParams,
    disabled: ShowsDisabled,
) -> Vec<CodeActionOrCommand> {
    let uri = &params.text_document.uri;
    let offset = document.offset(params.range.start);
    let (index, seen) = document.indexed(settings);
    let mut actions: Vec<CodeAction> =
        params.context.diagnostics.iter().filter_map(|own| replacement(seen, uri, own)).collect();
    if let Some(part) = index.part_at(offset) {
        actions.extend(fusion_with_loop_above(part, seen, settings, (uri, offset), disabled));
    }
    let only = params.context.only.as_deref();
    let is_wanted = |action: &CodeAction| {
        let kind = action.kind.as_ref().map_or("", CodeActionKind::as_str);
        only.is_none_or(|only| only.iter().any(|own| kind.starts_with(own.as_str())))
    };
    actions.into_iter().filter(is_wanted).map(CodeActionOrCommand::CodeAction).collect()
}

fn edit(seen: Seen<'_>, uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let document = OptionalVersionedTextDocumentIdentifier { uri: uri.clone(), version: Some(seen.version) };
    let edits = edits.into_iter().map(OneOf::Left).collect();
    let edit = TextDocumentEdit { text_document: document, edits };
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(vec![edit])), ..WorkspaceEdit::default() }
}

/// Returns the action that writes what a diagnostic proposes.
fn replacement(seen: Seen<'_>, uri: &Uri, own: &lsp_types::Diagnostic) -> Option<CodeAction> {
    let (_, behind) = own.message.split_once("did you mean '")?;
    let (meant, _) = behind.split_once("'?")?;
    let change = TextEdit { range: own.range, new_text: meant.to_owned() };
    Some(CodeAction {
        title: format!("Write '{meant}'"),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![own.clone()]),
        edit: Some(edit(seen, uri, vec![change])),
        ..CodeAction::default()
    })
}

/// Returns the action that fuses the loop at a byte with the loop above.
fn fusion_with_loop_above(
    part: &mut Part,
    seen: Seen<'_>,
    settings: &Settings,
    (uri, offset): (&Uri, u32),
    ShowsDisabled(shows): ShowsDisabled,
) -> Option<CodeAction> {
    let function = part.function_at(offset)?;
    part.loops_of(seen, settings, function);
    let loops = part.known_loops(function)?;
    let body = part.looked_through(seen, function, loops)?;
    let line = seen.lines.line_of(offset);
    let of = loops.all.iter().find(|own| seen.lines.line_of(own.start) == line)?;
    let above = loop_above(body, of.op)?;
    let place = |op: Op| body.all_ops().position(|own| own == op);
    let pair = [place(above)?, place(of.op)?];
    let fuse = |alias| fusion::fuse(part, seen, settings, function, (pair, alias));
    let title = "Fuse with the loop above";
    let done = match fuse(settings.alias.untested()) {
        Ok(fused) => Ok((title.to_owned(), fused)),
        // The user may know more.
        Err(why) => match fuse(AliasMode::Distinct) {
            Ok(fused) => Ok((format!("{title} (arguments must not overlap)"), fused)),
            Err(_) => Err(why),
        },
    };
    let kind = Some(CodeActionKind::REFACTOR_REWRITE);
    Some(match done {
        Ok((title, Fused { span, text })) => {
            let change = TextEdit { range: seen.range(&span), new_text: text };
            let edit = Some(edit(seen, uri, vec![change]));
            CodeAction { title, kind, edit, ..CodeAction::default() }
        }
        Err(why) => {
            let reason = reason(&why, body.loc(above));
            let disabled = shows.then(|| CodeActionDisabled { reason: reason.clone() });
            let title =
                if shows { title.to_owned() } else { format!("Not fused with the loop above: {reason}") };
            CodeAction { title, kind, disabled, ..CodeAction::default() }
        }
    })
}

/// Returns the last loop before a loop in the same block.
fn loop_above(body: &Body, op: Op) -> Option<Op> {
    let before = std::iter::successors(body.prev_op(op), |op| body.prev_op(*op));
    let is_loop = |op: &Op| {
        matches!(Structure::of(body, *op), Some(Structure::Loop { .. } | Structure::Parallel { .. }))
    };
    before.into_iter().find(is_loop)
}

/// Returns a refusal as one line, without the note about the loop above.
fn reason(why: &Diagnostic, above: Loc) -> String {
    let mut text = why.message.rsplit_once("]: ").map_or(&*why.message, |(_, reason)| reason).to_owned();
    for (_, note) in why.notes.iter().filter(|(loc, _)| *loc != above) {
        text += &format!("; {note}");
    }
    if let Some(help) = &why.help {
        text += &format!(". {help}");
    }
    text
}
