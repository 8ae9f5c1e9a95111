//! `--report`: the page that shows what was done and why.

use crate::FuseOptions;
use crate::ir::{Body, Diagnostics};
use crate::report::{Repeated, Seen, page};
use clap::{Arg, ArgMatches};

use super::input::Input;
use super::{Failure, Tools, output, remarks};

/// The argument that names the page.
pub(super) fn arg() -> Arg {
    Arg::new("report")
        .long("report")
        .value_name("FILE")
        .help("Write a page for browsers that shows the loops, what was done with them, and why not more")
}

/// Returns the name of the page, if one is asked for.
pub(super) fn file(matches: &ArgMatches) -> Option<&str> {
    matches.get_one::<String>("report").map(String::as_str)
}

/// A program and the decisions about it.
pub(super) struct Subject<'s> {
    pub(super) input: &'s Input,
    pub(super) command: &'s str,
    pub(super) remarks: &'s Diagnostics,
    /// The transformed program. It is not changed.
    pub(super) after: &'s mut Body,
    pub(super) options: &'s FuseOptions,
    /// Repeats everything with so many edits at most.
    pub(super) repeat: Option<&'s dyn Fn(u64) -> Option<Repeated>>,
}

/// Returns the page on a program.
pub(super) fn text(tools: &Tools, matches: &ArgMatches, subject: Subject<'_>) -> String {
    let Subject { input, command, remarks: said, after, options, repeat } = subject;
    let read = || -> Option<Body> {
        match crate::lowering::is_ll(&input.text) {
            true => {
                crate::parse_ll_in_part(&tools.ctx, &input.text, &input.name).ok().map(|(module, _)| module)
            }
            false => input.parse(&tools.ctx, matches).ok(),
        }
    };
    let source = (input.name.as_str(), input.text.as_str());
    page(Seen {
        ctx: &tools.ctx,
        source,
        command,
        json: remarks::json,
        remarks: said,
        read: &read,
        after,
        options,
        repeat,
    })
}

/// Writes the page if the arguments ask for it.
pub(super) fn write(tools: &Tools, matches: &ArgMatches, subject: Subject<'_>) -> Result<(), Failure> {
    match file(matches) {
        None => Ok(()),
        Some(path) => output::to_file(path, &text(tools, matches, subject)),
    }
}
