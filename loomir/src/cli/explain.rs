//! `loomir explain`: what fusion does with each pair of neighbouring loops, and why.

use clap::{ArgMatches, Command};

use super::{Failure, analyses, fuse, input, output, remarks};

pub(super) fn command() -> Command {
    Command::new("explain")
        .about("Says of every pair of neighbouring loops whether it may be fused, and why not")
        .args(input::args())
        .arg(fuse::alias_arg())
        .args(fuse::choice_args())
        .args(analyses::args())
        .arg(remarks::arg())
}

pub(super) fn main(matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(matches)?;
    let ctx = loomir::context();
    let mut module = source.parse(&ctx, matches)?;
    let report = loomir::fuse(&mut module, &fuse::options(matches)?);
    let counts = format!("{} fused, {} refused\n", report.fused, report.refused);
    let said = remarks::show(matches, &ctx, report.remarks, &source);
    output::to_stdout(&if remarks::as_json(matches) { said } else { said + &counts })
}
