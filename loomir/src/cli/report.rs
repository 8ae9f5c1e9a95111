//! `--report`: the page that shows what was done and why.

use crate::ir::pass::EditLimit;
use crate::ir::{Body, Diagnostics};
use crate::report::{Repeated, Seen, page};
use crate::{FuseOptions, Fused};
use clap::{Arg, ArgMatches};

use super::input::Input;
use super::{Failure, Tools, output};

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

/// Returns the remarks that the page on a fused program shows. Of LLVM IR, which `read` is, also
/// those of `explain` on loops that do not count, or have accesses that are not affine.
pub(super) fn remarks(
    unread: Diagnostics,
    read: Option<Body>,
    options: &FuseOptions,
    fused: &Fused,
) -> Diagnostics {
    let mut all = unread;
    if let Some(mut module) = read {
        let options = FuseOptions { remarks: false, max_rounds: 1, ..options.clone() };
        all.append(crate::explain(&mut module, &options).remarks());
    }
    all.append(crate::explained::without_uncounted(&fused.raised, fused.fusion.remarks.clone()));
    all.append(fused.contraction.remarks.clone());
    all
}

/// Returns the program after so many edits, which `run` makes within a limit. `None` if the command
/// itself made fewer.
pub(super) fn repeated(
    edits: u64,
    own: &EditLimit,
    run: impl FnOnce(EditLimit) -> Option<Body>,
) -> Option<Repeated> {
    if own.is_set() && own.so_far().count < edits {
        return None;
    }
    let limit = EditLimit::at_most(edits);
    let program = run(limit.clone())?;
    let made = limit.so_far();
    let pass = made.last.map_or(String::new(), |(pass, _)| pass);
    Some(Repeated { program, edits: made.count, pass })
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
        json: super::remarks::json,
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
