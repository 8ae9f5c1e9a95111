//! `loomir fuse`: the main job.

use clap::{Arg, ArgMatches, Command};
use loomir::{AliasMode, FuseOptions};

use super::{Failure, input, output, render};

pub(super) fn command() -> Command {
    Command::new("fuse")
        .about("Fuses every loop that may be fused; prints the program, remarks on standard error")
        .args(input::args())
        .arg(output::arg())
        .arg(alias_arg())
        .arg(Arg::new("quiet").short('q').long("quiet").action(clap::ArgAction::SetTrue).help("No remarks"))
}

/// The argument that says what to assume of memrefs.
pub(super) fn alias_arg() -> Arg {
    Arg::new("alias")
        .long("alias")
        .value_name("MODE")
        .default_value("version")
        .value_parser(["version", "may", "distinct"])
        .help("What to assume of memrefs nothing is known of: tested when run, may overlap, or two arguments are distinct")
}

/// What the argument of [`alias_arg`] says.
pub(super) fn alias(matches: &ArgMatches) -> Result<AliasMode, Failure> {
    matches.get_one::<String>("alias").map_or("version", String::as_str).parse().map_err(Failure::usage)
}

pub(super) fn main(matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(matches)?;
    let ctx = loomir::context();
    let mut module = source.parse(&ctx, matches)?;
    let report = loomir::fuse(&mut module, &FuseOptions { alias: alias(matches)?, ..FuseOptions::default() });
    if !matches.get_flag("quiet") {
        output::to_stderr(&render::render(&ctx, &report.remarks, &source));
    }
    output::write(matches, &loomir::print(&module))
}
