//! `loomir explain`: what fusion does with each pair of neighbouring loops, or unrolling with each
//! loop, and why.

use crate::FuseOptions;
use clap::{ArgMatches, Command};

use super::flags::is_on;
use super::render::Stream;
use super::{Failure, Tools, analyses, fuse, input, missed, output, remarks};

mod unroll;

pub(super) fn command() -> Command {
    Command::new("explain")
        .about(
            "Says of every pair of neighbouring loops whether it may be fused, and why not; or of every \
             loop why it is unrolled or not",
        )
        .args(input::args())
        .arg(fuse::alias_arg())
        .args(fuse::choice_args())
        .args(analyses::args())
        .arg(remarks::arg())
        .arg(missed::arg())
        .args(unroll::args())
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(&tools.ctx, matches)?;
    let ctx = &tools.ctx;
    let mut module = source.parse(ctx, matches)?;
    if is_on(matches, "unroll") {
        return unroll::main(tools, matches, &source, &mut module);
    }
    output::to_stderr(&remarks::say(ctx, &missed::foreign(&module), &source, Stream::Err));
    // Later rounds speak of loops that are not in the source.
    let options = FuseOptions { max_rounds: 1, ..fuse::options(matches)? };
    let report = crate::fuse(&mut module, &options);
    let counts = format!("{} fused, {} refused\n", report.fused, report.refused);
    let said = remarks::say(ctx, &report.remarks, &source, Stream::Out);
    output::to_stdout(&if remarks::as_json(matches) { said } else { said + &counts })?;
    missed::fail(matches, ctx, report.refused, &source)
}
