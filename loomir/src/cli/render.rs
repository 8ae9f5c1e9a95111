//! The command's use of [`crate::render`]: with colours or without.

use crate::ir::{Context, Diagnostics};
use clap::{Arg, ArgMatches};

use super::console::{Console, Stream};
use super::input::Input;

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

/// Renders diagnostics about several sources. The first source says how.
pub(super) fn render_of(
    ctx: &Context,
    diagnostics: &Diagnostics,
    inputs: &[&Input],
    stream: Stream,
) -> String {
    let Some(first) = inputs.first() else { return String::new() };
    let sources: Vec<(&str, &str)> = inputs.iter().map(|own| (&*own.name, &*own.text)).collect();
    crate::render::render(ctx, diagnostics, &sources, first.form.is_colored(stream))
}
