//! `loomir fuse`: the main job.

use clap::{Arg, ArgMatches, Command};
use loomir::{AliasMode, ContractionOptions, FuseOptions};

use super::{Failure, analyses, input, output, remarks};

pub(super) fn command() -> Command {
    Command::new("fuse")
        .about("Fuses every loop that may be fused and contracts arrays; prints the program, remarks on standard error")
        .args(input::args())
        .arg(output::arg())
        .arg(alias_arg())
        .arg(contract_arg())
        .args(analyses::args())
        .arg(remarks::arg())
        .arg(quiet_arg())
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

/// The argument that says whether to contract arrays.
fn contract_arg() -> Arg {
    Arg::new("contract")
        .long("contract")
        .value_name("BOOL")
        .default_value("true")
        .value_parser(clap::value_parser!(bool))
        .help("Whether arrays that fusion made unnecessary become values or smaller ones")
}

fn quiet_arg() -> Arg {
    Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(clap::ArgAction::SetTrue)
        .help("No remarks, as with --remarks=none")
}

/// What the argument of [`alias_arg`] says.
pub(super) fn alias(matches: &ArgMatches) -> Result<AliasMode, Failure> {
    matches.get_one::<String>("alias").map_or("version", String::as_str).parse().map_err(Failure::usage)
}

pub(super) fn main(matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(matches)?;
    let ctx = loomir::context();
    let mut module = source.parse(&ctx, matches)?;
    let analyses = analyses::chosen(matches)?;
    let options = FuseOptions { alias: alias(matches)?, analyses, ..FuseOptions::default() };
    let mut said = loomir::fuse(&mut module, &options).remarks;
    if matches.get_one::<bool>("contract") == Some(&true) {
        let options = ContractionOptions { analyses: options.analyses, ..ContractionOptions::default() };
        said.append(loomir::contract(&mut module, &options).remarks);
    }
    if !matches.get_flag("quiet") {
        output::to_stderr(&remarks::show(matches, &ctx, said, &source));
    }
    output::write(matches, &loomir::print(&module))
}
