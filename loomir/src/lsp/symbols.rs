//! Document symbols: modules, functions and variables, with the loops inside.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_ir::Context;
use loomir_ir::text::outline::{NameKind, Span};
use lsp_types::{DocumentSymbol, SymbolKind};

use super::document::Document;
use super::index::{Part, Settings};
use super::lines::Seen;

/// The deepest nesting that is listed.
const MAX_DEPTH: usize = 32;

/// The longest detail, in bytes.
const MAX_DETAIL: usize = 80;

pub(super) fn answer(settings: &Settings, document: &mut Document) -> Vec<DocumentSymbol> {
    let (index, seen) = document.indexed(settings);
    index.parts.iter().flat_map(|part| nested(listed(&settings.ctx, part, seen))).collect()
}

/// Returns the symbols and loops of a program, in the order of the text.
fn listed(ctx: &Context, part: &Part, seen: Seen<'_>) -> Vec<(Span, DocumentSymbol)> {
    let mut all = Vec::new();
    for named in part.outline.names.iter().filter(|named| named.kind == NameKind::Symbol) {
        let op = named.op.and_then(|at| part.outline.ops.get(at));
        let line = seen.lines.line_of(named.span.start);
        let end = seen.lines.start(seen.text, line) + seen.line_at(named.span.start).len() as u32;
        let span = op.map_or(named.span.start..end, |op| op.span.clone());
        let kind = match op.and_then(|op| op.op_name).map(|name| ctx.op_str(name)) {
            Some(name) if name.ends_with(".func") => SymbolKind::FUNCTION,
            Some(name) if name.ends_with("module") => SymbolKind::MODULE,
            _ => SymbolKind::VARIABLE,
        };
        let name = seen.slice(&named.span).to_owned();
        all.push((span.clone(), symbol(seen, (name, kind), &span, &named.span)));
    }
    for op in &part.outline.ops {
        let info = op.op_name.map(|name| ctx.op_info(name));
        let is_loop = info.is_some_and(|info| {
            info.interface::<dyn LoopLike>().is_some() || info.interface::<dyn ParallelLike>().is_some()
        });
        if is_loop {
            let header = seen.line_at(op.name.start).trim();
            let name = header[..header.floor_char_boundary(MAX_DETAIL)].trim_end_matches([' ', '{']);
            let kind = SymbolKind::OPERATOR;
            all.push((op.span.clone(), symbol(seen, (name.to_owned(), kind), &op.span, &op.name)));
        }
    }
    all.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    all
}

#[allow(deprecated, reason = "the type has a field that is deprecated, and no other constructor")]
fn symbol(
    seen: Seen<'_>,
    (name, kind): (String, SymbolKind),
    span: &Span,
    selection: &Span,
) -> DocumentSymbol {
    let span = span.start.min(selection.start)..span.end.max(selection.end);
    DocumentSymbol {
        name,
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range: seen.range(&span),
        selection_range: seen.range(selection),
        children: None,
    }
}

/// Puts symbols into those around them. Linear.
fn nested(all: Vec<(Span, DocumentSymbol)>) -> Vec<DocumentSymbol> {
    let mut top = Vec::new();
    let mut open: Vec<(u32, DocumentSymbol)> = Vec::new();
    let close = |open: &mut Vec<(u32, DocumentSymbol)>, top: &mut Vec<DocumentSymbol>| {
        if let Some((_, own)) = open.pop() {
            match open.last_mut() {
                Some((_, around)) => around.children.get_or_insert_default().push(own),
                None => top.push(own),
            }
        }
    };
    for (span, own) in all {
        while open.last().is_some_and(|(end, _)| *end <= span.start) {
            close(&mut open, &mut top);
        }
        if open.len() < MAX_DEPTH {
            open.push((span.end, own));
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}
