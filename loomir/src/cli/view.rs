//! `loomir view`: the loops of a program, and the decisions about them, as a page for browsers.

use crate::FuseOptions;
use clap::{ArgMatches, Command};

use super::console::Stream;
use super::progress::{self, Line};
use super::{Failure, Tools, analyses, fuse, input, output, remarks};

pub(super) fn command() -> Command {
    Command::new("view")
        .about("Fuses loops as 'fuse' does, and writes a page that shows the loops before and after, and why")
        .args(input::args())
        .arg(output::arg())
        .arg(fuse::alias_arg())
        .args(fuse::choice_args())
        .arg(fuse::contract_arg())
        .args(analyses::args())
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let progress = progress::of(&tools.console);
    let options = FuseOptions { progress: progress.clone(), ..fuse::options(matches)? };
    let job = fuse::Job { tools, matches, source: &source, options: &options, task: fuse::Task::Fuse };
    let line = Line::show(&progress);
    let mut done = job.run(&options)?;
    let page = job.page("view", &mut done);
    drop(line);
    tools.console.say(&remarks::say(&tools.ctx, &done.unread, &source, Stream::Err));
    output::write(tools, matches, &page)?;
    tools.console.forget(done.module);
    Ok(())
}
