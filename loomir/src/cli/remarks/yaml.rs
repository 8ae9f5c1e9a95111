//! Remarks as LLVM writes them, for the viewers that read LLVM's.
//!
//! Each remark is a document: its kind as a tag, then `Pass`, `Name`, `DebugLoc`, `Function` and
//! `Args`. A viewer joins the values of the arguments to a message, so that they are the message,
//! the notes and the way out. Notes have places of their own. Other facts are in the JSON alone.
//! Errors and warnings become comments, because LLVM has no such documents.

use crate::ir::diagnostics::RemarkKind;
use crate::ir::{Context, Diagnostic, Loc, Severity};

/// Returns a diagnostic as a document, or as comments.
pub(super) fn document(ctx: &Context, said: &Diagnostic) -> String {
    if said.severity != Severity::Remark {
        let text = crate::ir::Diagnostics::from(said.clone()).to_text(ctx);
        return text.lines().map(|line| format!("# {line}\n")).collect();
    }
    let remark = said.remark.as_deref();
    let tag = match remark.map(|remark| remark.kind) {
        Some(RemarkKind::Passed) => "Passed",
        Some(RemarkKind::Missed) => "Missed",
        Some(RemarkKind::Analysis) | None => "Analysis",
    };
    let mut text = format!("--- !{tag}\n");
    let mut field = |key: &str, value: String| text += &format!("{:<17}{value}\n", format!("{key}:"));
    field("Pass", scalar(remark.map_or("loomir", |remark| remark.pass)));
    field("Name", scalar(remark.map_or("Remark", |remark| remark.name)));
    if let Some(place) = place(ctx, said.loc) {
        field("DebugLoc", place);
    }
    field("Function", scalar(remark.map_or("", |remark| &remark.function)));
    text += "Args:\n";
    let function = remark.map_or("", |remark| &remark.function);
    let message = said.message.strip_prefix(&format!("[{function}]: ")).unwrap_or(&said.message);
    argument(&mut text, message, None);
    for (loc, note) in &said.notes {
        argument(&mut text, &format!("; {note}"), place(ctx, *loc));
    }
    if let Some(help) = &said.help {
        argument(&mut text, &format!("; help: {help}"), None);
    }
    text + "...\n"
}

fn argument(text: &mut String, value: &str, place: Option<String>) {
    *text += &format!("  - {:<17}{}\n", "String:", scalar(value));
    if let Some(place) = place {
        *text += &format!("    {:<17}{place}\n", "DebugLoc:");
    }
}

fn place(ctx: &Context, loc: Loc) -> Option<String> {
    let (file, line, column) = loc.file_line_col(ctx)?;
    Some(format!("{{ File: {}, Line: {line}, Column: {column} }}", scalar(file)))
}

/// Returns a text as a scalar: as it is if it is a word, otherwise in quotes.
fn scalar(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_word) {
        return text.to_owned();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    format!("\"{quoted}\"")
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn texts_are_quoted_where_yaml_needs_it() {
        let shown = ["loop-fusion", "it's", "a: b", "", "1", "a\n\"b\\"].map(scalar);
        assert_eq!(shown, ["loop-fusion", "'it''s'", "'a: b'", "''", "'1'", "\"a\\u000a\\\"b\\\\\""]);
    }
}
