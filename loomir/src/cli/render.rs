//! Diagnostics as text for people: message, source line, caret, notes, help.

use std::ops::Range;

use crate::ir::{Context, Diagnostic, Diagnostics, Loc, Severity};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use clap::{Arg, ArgMatches};

use super::console::{Console, Stream};
use super::input::Input;
use crate::lsp::word_end;

/// When to use colours.
#[derive(Clone, Copy, Default)]
pub(super) enum Color {
    /// On a terminal, unless the variable `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// The argument that says when.
    pub(super) fn arg() -> Arg {
        Arg::new("color")
            .long("color")
            .value_name("WHEN")
            .default_value("auto")
            .value_parser(["auto", "always", "never"])
            .global(true)
            .help("When to colour diagnostics: on a terminal without NO_COLOR, always, or never")
    }

    /// Returns what the argument says.
    pub(super) fn of(matches: &ArgMatches) -> Color {
        match matches.get_one::<String>("color").map(String::as_str) {
            Some("always") => Color::Always,
            Some("never") => Color::Never,
            _ => Color::Auto,
        }
    }

    pub(super) fn is_on(self, console: &Console, stream: Stream) -> bool {
        match (self, stream) {
            (Color::Always, _) => true,
            (Color::Never, _) => false,
            (Color::Auto, _) if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
            (Color::Auto, stream) => console.is_terminal(stream),
        }
    }
}

/// Renders diagnostics about several sources, one after the other, with a blank line between. The
/// first source says how. Linear in the sources and the diagnostics.
pub(super) fn render_of(
    ctx: &Context,
    diagnostics: &Diagnostics,
    inputs: &[&Input],
    stream: Stream,
) -> String {
    let Some(first) = inputs.first().filter(|_| !diagnostics.is_empty()) else { return String::new() };
    let sources: Vec<Lines<'_>> = inputs.iter().map(|input| Lines::of(input)).collect();
    let renderer = if first.form.is_colored(stream) { Renderer::styled() } else { Renderer::plain() };
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
    fn of(input: &'a Input) -> Self {
        let (name, text) = (input.name.as_str(), input.text.as_str());
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
