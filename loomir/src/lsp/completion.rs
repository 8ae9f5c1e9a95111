//! Completion: operations, their attributes, and names in scope.

use loomir_ir::opdef::Presence;
use loomir_ir::text::outline::{NameKind, Named, Span};
use loomir_ir::text::type_to_string;
use loomir_ir::{Context, OpDef};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionTextEdit, Documentation, MarkupContent,
    MarkupKind, TextEdit,
};

use super::document::Document;
use super::hover::documentation;
use super::index::{Part, Settings};
use super::lines::Seen;

/// The most names that are offered.
const MAX_NAMES: usize = 500;

pub(super) fn answer(
    settings: &Settings,
    document: &mut Document,
    params: &CompletionParams,
) -> Vec<CompletionItem> {
    let offset = document.offset(params.text_document_position.position);
    let (index, seen) = document.indexed(settings);
    let is_ll = index.is_ll;
    let Some(part) = index.part_at(offset) else { return Vec::new() };
    let before = word_before(seen, offset);
    let at = Place { ctx: &settings.ctx, seen, part, word: before.clone() };
    let word = seen.slice(&before);
    match word.chars().next() {
        Some('%' | '@' | '^' | '#' | '!') => at.names(offset),
        _ if at.begins_op(is_ll) => at.operations(is_ll),
        _ if !is_ll => at.attributes(offset),
        _ => Vec::new(),
    }
}

/// Returns the word that ends at a byte, with its sign.
fn word_before(seen: Seen<'_>, offset: u32) -> Span {
    let start = seen.lines.start(seen.text, seen.lines.line_of(offset));
    let line = seen.slice(&(start..offset));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    let word = line.trim_end_matches(is_part);
    let sign = word.chars().next_back().filter(|c| matches!(c, '%' | '@' | '^' | '#' | '!'));
    let length = line.len() - word.len() + sign.map_or(0, char::len_utf8);
    offset - length as u32..offset
}

/// A place where something is to be completed.
struct Place<'a> {
    ctx: &'a Context,
    seen: Seen<'a>,
    part: &'a Part,
    /// The word before the place.
    word: Span,
}

impl Place<'_> {
    /// True if an operation may begin at the word: at the start of a line, or behind results.
    fn begins_op(&self, is_ll: bool) -> bool {
        let start = self.seen.lines.start(self.seen.text, self.seen.lines.line_of(self.word.start));
        let before = self.seen.slice(&(start..self.word.start)).trim();
        let behind_results = before.starts_with('%') && before.ends_with('=');
        let is_inside = self.part.outline.regions.iter().any(|region| region.span.contains(&self.word.start));
        (before.is_empty() && (!is_ll || is_inside)) || behind_results
    }

    fn item(&self, label: &str, kind: CompletionItemKind) -> CompletionItem {
        // The client's words end at other characters.
        let edit = TextEdit { range: self.seen.range(&self.word), new_text: label.to_owned() };
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            text_edit: Some(CompletionTextEdit::Edit(edit)),
            ..CompletionItem::default()
        }
    }

    /// Offers the operations of all dialects, or the instructions of LLVM IR.
    fn operations(&self, is_ll: bool) -> Vec<CompletionItem> {
        let word = self.seen.slice(&self.word);
        let defs = self.ctx.dialects().iter().flat_map(|dialect| dialect.ops.iter());
        let named = defs.filter_map(|def| {
            let name = match is_ll {
                false => &*def.name,
                // Names with a dot are no instructions.
                true => def.name.strip_prefix("llvm.").filter(|name| !name.contains('.'))?,
            };
            name.starts_with(word).then_some((name, *def))
        });
        let item = |(name, def): (&str, &OpDef)| CompletionItem {
            detail: def.doc.split(['.', '\n']).next().map(|first| first.trim().to_owned()),
            documentation: Some(Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: documentation(def),
            })),
            ..self.item(name, CompletionItemKind::FUNCTION)
        };
        let mut items: Vec<CompletionItem> = named.map(item).collect();
        items.sort_by(|a, b| a.label.cmp(&b.label));
        items
    }

    /// Offers the attributes of the operation around, inside of its dictionary.
    fn attributes(&self, offset: u32) -> Vec<CompletionItem> {
        let outline = &self.part.outline;
        let behind = outline.ops.partition_point(|own| own.name.end <= self.word.start);
        let Some(own) = behind.checked_sub(1).and_then(|at| outline.ops.get(at)) else { return Vec::new() };
        let text = self.seen.slice(&(own.name.end..self.word.start));
        let is_dictionary = in_dictionary(text);
        let in_region = outline
            .regions
            .iter()
            .any(|region| region.span.contains(&offset) && region.span.start >= own.name.end);
        let def = own.op_name.and_then(|name| self.ctx.op_info(name).def());
        let Some(def) = def.filter(|_| is_dictionary && !in_region) else { return Vec::new() };
        let word = self.seen.slice(&self.word);
        let fitting = def.attrs.iter().filter(|attr| attr.name.starts_with(word));
        let item = |attr: &loomir_ir::opdef::AttrDef| CompletionItem {
            detail: Some(match &attr.presence {
                Presence::Required => "required".to_owned(),
                Presence::Optional => "optional".to_owned(),
                Presence::Default(text) | Presence::Implied(text) => format!("default {text}"),
            }),
            ..self.item(&attr.name, CompletionItemKind::FIELD)
        };
        fitting.map(item).collect()
    }

    /// Offers the names that are known here.
    fn names(&self, offset: u32) -> Vec<CompletionItem> {
        let outline = &self.part.outline;
        let word = self.seen.slice(&self.word);
        let sign = &word[..1];
        let around: Vec<usize> = {
            let regions = outline.regions.iter().enumerate();
            regions.filter(|(_, own)| own.span.contains(&offset)).map(|(at, _)| at).collect()
        };
        let isolated = around.iter().rposition(|at| outline.regions[*at].is_isolated).unwrap_or(0);
        let visible = &around[isolated..];
        let line = self.seen.lines.start(self.seen.text, self.seen.lines.line_of(offset));
        let is_known = |named: &Named| match named.kind {
            // LLVM IR may use a value in an earlier line.
            NameKind::Value if !self.part.is_ll && named.span.start >= line => false,
            NameKind::Value | NameKind::Block => named.region.is_none_or(|own| visible.contains(&own)),
            _ => true,
        };
        let mut items: Vec<CompletionItem> = Vec::new();
        for named in &outline.names {
            let text = self.seen.slice(&named.span);
            let is_label = self.seen.text[named.span.end as usize..].starts_with(':') && sign == "%";
            let text = if is_label && !text.starts_with('%') { format!("%{text}") } else { text.to_owned() };
            let is_here = named.span.contains(&self.word.start);
            if !text.starts_with(word) || is_here || !is_known(named) {
                continue;
            }
            if items.len() >= MAX_NAMES {
                break;
            }
            let kind = match named.kind {
                NameKind::Value => CompletionItemKind::VARIABLE,
                NameKind::Block => CompletionItemKind::REFERENCE,
                NameKind::Symbol => CompletionItemKind::FUNCTION,
                _ => CompletionItemKind::CONSTANT,
            };
            let types: Vec<String> = named.types.iter().map(|ty| type_to_string(self.ctx, *ty)).collect();
            let detail = (!types.is_empty()).then(|| types.join(", "));
            items.push(CompletionItem { detail, ..self.item(&text, kind) });
        }
        items
    }
}

/// True if a text behind the name of an operation ends inside of a brace, where a name may begin.
fn in_dictionary(text: &str) -> bool {
    let mut open = Vec::new();
    let mut is_string = false;
    for c in text.chars() {
        match c {
            '"' => is_string = !is_string,
            _ if is_string => {}
            '{' | '(' | '[' => open.push(c),
            '}' | ')' | ']' => _ = open.pop(),
            _ => {}
        }
    }
    !is_string && open.last() == Some(&'{') && text.trim_end().ends_with(['{', ','])
}

#[cfg(test)]
mod tests {
    use super::in_dictionary;

    #[test]
    fn names_of_attributes_begin_in_dictionaries() {
        for (text, is) in [
            (" %a {", true),
            (" %a <{a = 1, ", true),
            (" %a {a = ", false),
            (" %a {a = [1, ", false),
            (" (%a, ", false),
            (" {a = \"{", false),
        ] {
            assert_eq!(in_dictionary(text), is, "{text}");
        }
    }
}
