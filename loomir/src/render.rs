//! Diagnostics as text for people: message, source line, caret, notes, help.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use loomir_ir::{Context, Diagnostic, Diagnostics, Loc, Severity};

/// Renders diagnostics as the command shows them, one after the other, with a blank line between.
///
/// `sources` are names and texts of files. Lines of other files are not shown. Linear in the
/// sources and the diagnostics.
///
/// ```
/// let ctx = loomir::context();
/// let source = "func.func @f() {";
/// let errors = loomir::parse(&ctx, source, "f.mlir").expect_err("a brace is missing");
/// let text = loomir::render(&ctx, &errors, &[("f.mlir", source)], false);
/// assert!(text.starts_with("error: "));
/// assert!(text.contains("1 | func.func @f() {"));
/// ```
pub fn render(
    ctx: &Context,
    diagnostics: &Diagnostics,
    sources: &[(&str, &str)],
    is_colored: bool,
) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let sources: Vec<Lines<'_>> = sources.iter().map(|source| Lines::of(*source)).collect();
    let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        text.push_str(&renderer.render(&groups(ctx, diagnostic, &sources)));
        text.push_str("\n\n");
    }
    text
}

fn groups<'a>(ctx: &Context, diagnostic: &'a Diagnostic, sources: &[Lines<'a>]) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::INFO.with_name("remark"),
        Severity::Note => Level::NOTE,
    };
    let mut groups =
        vec![group(ctx, level.primary_title(diagnostic.message.as_str()), diagnostic.loc, sources)];
    for (loc, note) in &diagnostic.notes {
        groups.push(group(ctx, Level::NOTE.secondary_title(note.as_str()), *loc, sources));
    }
    if let Some(help) = &diagnostic.help {
        groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
    }
    groups
}

fn group<'a>(
    ctx: &Context,
    title: annotate_snippets::Title<'a>,
    loc: Loc,
    sources: &[Lines<'a>],
) -> Group<'a> {
    let Some((file, line, column)) = loc.file_line_col(ctx) else { return Group::with_title(title) };
    let source = sources.iter().find(|source| source.name == file);
    let excerpt = source.and_then(|source| Some((source, source.excerpt(line, column)?)));
    let Some((source, (shown, span))) = excerpt else {
        let origin = Origin::path(file.to_owned());
        // What the text leaves out, as the module around it, has line 0.
        return title.element(match line {
            0 => origin,
            _ => origin.line(line as usize).char_column(column as usize),
        });
    };
    let snippet = Snippet::source(shown)
        .line_start(line as usize)
        .path(source.name)
        .annotation(AnnotationKind::Primary.span(span));
    title.element(snippet)
}

/// Longest part of a line that is shown behind its place, in bytes.
const LONGEST: usize = 240;

/// Lines are shown up to this byte; the renderer goes through them for each diagnostic, and shows
/// what fits.
const FARTHEST: usize = 1 << 16;

/// The lines of a source, found in constant time.
struct Lines<'a> {
    name: &'a str,
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of((name, text): (&'a str, &'a str)) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Lines { name, text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// A line, as far as it is looked at, and the bytes in it that a word at `column` takes. `None`
    /// if that is too far to the right.
    fn excerpt(&self, line: u32, column: u32) -> Option<(&'a str, Range<usize>)> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)?;
        let rest = &self.text[start..];
        let line = rest.split('\n').next()?;
        let at = (column as usize).saturating_sub(1).min(line.len());
        if at > FARTHEST {
            return None;
        }
        let at = line.floor_char_boundary(at);
        let shown = &line[..line.floor_char_boundary(at + LONGEST)];
        Some((shown, at..word_end(shown, at)))
    }
}

/// Returns the end of the word, or string, that begins at a byte of a line.
pub(crate) fn word_end(line: &str, at: usize) -> usize {
    if let Some(string) = line[at..].strip_prefix('"')
        && let Some(length) = string.find('"')
    {
        return at + length + 2;
    }
    let part = |c: char| c.is_alphanumeric() || "_.$%@^#!".contains(c);
    let length: usize = line[at..].chars().take_while(|c| part(*c)).map(char::len_utf8).sum();
    let one = line[at..].chars().next().map_or(0, char::len_utf8);
    at + length.max(one)
}
