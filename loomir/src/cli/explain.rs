//! `loomir explain`: what fusion does with each pair of neighbouring loops, or unrolling with each
//! loop, and why; or the estimated time of each loop.

use crate::FuseOptions;
use clap::{ArgMatches, Command};

use super::console::Stream;
use super::flags::is_on;
use super::progress::{self, Line};
use super::{Failure, Tools, analyses, fuse, input, missed, raised, remarks};

mod cost;
mod unroll;

pub(super) fn command() -> Command {
    Command::new("explain")
        .about(
            "Says of every pair of neighbouring loops whether it may be fused, and why not; or of every \
             loop why it is unrolled or not; or how long it takes",
        )
        .args(input::args())
        .arg(fuse::alias_arg())
        .args(fuse::choice_args())
        .args(analyses::args())
        .arg(remarks::arg())
        .arg(missed::arg())
        .args(unroll::args())
        .arg(cost::arg())
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let ctx = &tools.ctx;
    let mut module = source.parse(ctx, matches)?;
    if is_on(matches, "unroll") {
        return unroll::main(tools, matches, &source, &mut module);
    }
    if is_on(matches, cost::FLAG) {
        return cost::main(tools, matches, &source, &mut module);
    }
    tools.console.say(&remarks::say(ctx, &missed::foreign(&module), &source, Stream::Err));
    // Later rounds speak of loops that are not in the source.
    let progress = progress::of(&tools.console);
    progress.number(&module);
    let options = FuseOptions { max_rounds: 1, progress, ..fuse::options(matches)? };
    let line = Line::show(&options.progress);
    let explained = crate::explain(&mut module, &options);
    drop(line);
    let refused = explained.fusion.refused;
    let counts = match raised::summary(&explained.raised, &explained.fusion, 0) {
        none if none.is_empty() => format!("{} fused, {refused} refused\n", explained.fusion.fused),
        line => line + &raised::access_summary(&explained.accesses),
    };
    let mut all = explained.remarks();
    all.append(explained.fusion.remarks);
    let said = remarks::say(ctx, &all, &source, Stream::Out);
    tools.console.print(&if remarks::as_data(matches) { said } else { said + &counts })?;
    missed::fail(matches, ctx, refused, &source)
}
