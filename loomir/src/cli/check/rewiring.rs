//! `loomir check IN --rewiring`: compares fusing on the tree and lowering with fusing on the graph.

use crate::ir::Diagnostics;
use crate::lowering::rewiring::{self, Options};
use clap::ArgMatches;

use super::super::console::Stream;
use super::super::{fuse, remarks};
use super::{Failure, Tools, input};

/// Checks each fusion of two neighbouring loops.
pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let ctx = &tools.ctx;
    let module = source.parse(ctx, matches)?;
    let options = Options { tree: fuse::alias(matches)?, ..Options::default() };
    let report =
        rewiring::check(&module, &options).map_err(|diagnostics| source.failure(ctx, &diagnostics))?;
    let mut said = Diagnostics::new();
    report.steps.iter().for_each(|step| said.push(rewiring::told(&module, step)));
    let differ = report.steps.len() - report.steps.iter().filter(|step| step.outcome.holds()).count();
    let refused = report.steps.len() - differ - report.equal();
    let counts = match report.steps.is_empty() {
        true => format!("nothing to compare: {}\n", nothing(report.apart)),
        false => format!("{} equal, {differ} different, {refused} not compared\n", report.equal()),
    };
    let shown = remarks::say(ctx, &said, &source, Stream::Out);
    if !report.holds() {
        return Err(Failure::Input(if remarks::as_data(matches) { shown } else { shown + &counts }));
    }
    tools.console.print(&if remarks::as_data(matches) { shown } else { shown + &counts })
}

/// Says why no two loops were compared, of which so many neighbours stay apart.
fn nothing(apart: usize) -> String {
    match apart {
        0 => "the program has no two neighbouring loops".into(),
        1 => "the tree does not fuse the one pair of neighbouring loops as they are".into(),
        many => format!("the tree fuses none of the {many} pairs of neighbouring loops as they are"),
    }
}
