//! Hover: types of values, documentation of operations, and what is known of a loop.

use loomir_ir::text::outline::NameKind;
use loomir_ir::text::type_to_string;
use loomir_ir::{Body, Op, OpDef};
use loomir_transforms::listing::loops::{Carried, LoopDependences};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::document::Document;
use super::index::{Part, Settings};
use super::lines::Seen;

/// The most dependences of a loop that are shown.
const MAX_DEPENDENCES: usize = 12;

/// The longest line of the document that is shown, in bytes.
const MAX_LINE: usize = 200;

pub(super) fn answer(settings: &Settings, document: &mut Document, params: &HoverParams) -> Option<Hover> {
    let offset = document.offset(params.text_document_position_params.position);
    let (index, seen) = document.indexed(settings);
    let language = if index.is_ll { "llvm" } else { "mlir" };
    let part = index.part_at(offset)?;
    let (span, text) = match part.outline.occurrence_at(offset).cloned() {
        Some(used) => {
            let mut text = of_name(part, seen, language, used.name)?;
            let named = part.outline.names[used.name].clone();
            if named.kind == NameKind::Block {
                text += &of_loop(part, seen, settings, named.span.start).unwrap_or_default();
            }
            (used.span, text)
        }
        None => {
            let at = part.outline.op_at(offset)?;
            let name = part.outline.ops[at].name.clone();
            if !(name.start..=name.end).contains(&offset) {
                return None;
            }
            let text = of_op(part, seen, settings, at)?;
            (name, text)
        }
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(seen.range(&span)) })
}

fn code(language: &str, text: &str) -> String {
    let text = &text[..text.floor_char_boundary(MAX_LINE)];
    // A longer fence than any in the text.
    let fence = if text.contains("```") { "`````" } else { "```" };
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Returns what a name stands for.
fn of_name(part: &Part, seen: Seen<'_>, language: &str, name: usize) -> Option<String> {
    let named = part.outline.names.get(name)?;
    let line = match named.kind {
        NameKind::Value => of_value(part, seen, name),
        _ => None,
    };
    let number = seen.lines.line_of(named.span.start) + 1;
    let first = seen.line_at(named.span.start).trim();
    let mut text = code(language, &line.unwrap_or_else(|| first.to_owned()));
    let uses = part.outline.occurrences_of(name).filter(|own| !own.is_definition).count();
    let uses = if uses == 1 { "1 use".to_owned() } else { format!("{uses} uses") };
    text += &match (named.kind, named.op.and_then(|at| part.outline.ops.get(at))) {
        (NameKind::Value, Some(op)) => {
            let what = if named.span.start < op.name.start { "result of" } else { "argument of" };
            format!("{what} `{}` in line {number}, {uses}\n", seen.slice(&op.name).trim_matches('"'))
        }
        _ => format!("defined in line {number}, {uses}\n"),
    };
    Some(text)
}

/// Returns a value with its types.
fn of_value(part: &Part, seen: Seen<'_>, name: usize) -> Option<String> {
    let named = &part.outline.names[name];
    let ctx = part.module.ctx();
    let mut types: Vec<String> = named.types.iter().map(|ty| type_to_string(ctx, *ty)).collect();
    if types.is_empty() {
        // LLVM IR writes the types of operands instead.
        let op = part.op_ref(seen.lines, named.op?)?;
        let is_result = part.outline.ops[named.op?].span.start == named.span.start;
        types.extend(op.results().filter(|_| is_result).map(|value| type_to_string(ctx, op.type_of(value))));
    }
    let text = seen.slice(&named.span);
    (!types.is_empty()).then(|| format!("{text} : {}", types.join(", ")))
}

/// Returns the documentation of an operation, and the facts about a loop.
fn of_op(part: &mut Part, seen: Seen<'_>, settings: &Settings, at: usize) -> Option<String> {
    let own = &part.outline.ops[at];
    let info = settings.ctx.op_info(own.op_name?);
    let mut text = match info.def() {
        Some(def) => documentation(def),
        None => format!("`{}` is not registered\n", settings.ctx.op_str(own.op_name?)),
    };
    let start = own.name.start;
    text += &of_loop(part, seen, settings, start).unwrap_or_default();
    Some(text)
}

/// Returns the documentation of a definition, in Markdown.
pub(super) fn documentation(def: &OpDef) -> String {
    let doc = def.doc.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let mut text = format!("**{}**\n\n{doc}\n", def.name);
    for (title, all) in [("operands", &def.operands), ("results", &def.results)] {
        if !all.is_empty() {
            let names: Vec<String> = all.iter().map(|own| format!("`{}`", own.name)).collect();
            text += &format!("\n{title}: {}\n", names.join(", "));
        }
    }
    if !def.attrs.is_empty() {
        let names: Vec<String> = def.attrs.iter().map(|own| format!("`{}`", own.name)).collect();
        text += &format!("\nattributes: {}\n", names.join(", "));
    }
    text
}

/// Returns the trip count of the loop that begins at a byte, and the dependences it carries.
fn of_loop(part: &mut Part, seen: Seen<'_>, settings: &Settings, start: u32) -> Option<String> {
    let function = part.function_at(start)?;
    part.loops_of(seen, settings, function);
    let part = &*part;
    let loops = part.known_loops(function)?;
    let of = loops.all.iter().find(|own| own.start == start)?;
    let body = part.looked_through(seen, function, loops)?;
    let mut text = "\n---\n".to_owned();
    text += &match part.count_text(seen, body, of) {
        Some(count) => format!("trip count: {count}\n"),
        None => "trip count: unknown before the loop runs\n".to_owned(),
    };
    match part.carried(body, of, settings.alias) {
        LoopDependences::NoLoop => {}
        LoopDependences::TooMany => text += "\ndependences: too many accesses to list them\n",
        LoopDependences::Carried(all) if all.is_empty() => {
            text += "\nno dependence through memory from one iteration to another\n";
        }
        LoopDependences::Carried(all) => {
            text += "\ndependences from one iteration to a later one:\n";
            for one in all.iter().take(MAX_DEPENDENCES) {
                text += &format!("- {}\n", of_dependence(body, one));
            }
            if all.len() > MAX_DEPENDENCES {
                text += &format!("- and {} more\n", all.len() - MAX_DEPENDENCES);
            }
        }
    }
    Some(text)
}

fn of_dependence(body: &Body, one: &Carried) -> String {
    let end = |op: Op| {
        let name = body.op_ref(op).name();
        match body.loc(op).file_line_col(body.ctx()) {
            Some((_, line, _)) => format!("`{name}` in line {line}"),
            None => format!("`{name}`"),
        }
    };
    let perhaps = if one.is_certain { "" } else { "perhaps " };
    let mut text = format!("{perhaps}{} from {} to {}", one.words.kinds, end(one.source), end(one.sink));
    text += &format!(" through {}", one.words.through);
    if !one.words.directions.is_empty() {
        text += &format!(", distance {}", one.words.directions);
    }
    if one.may_be_reordered {
        text += ", updates in any order";
    }
    if !one.words.example.is_empty() {
        text += &format!(" ({})", one.words.example);
    }
    text
}
