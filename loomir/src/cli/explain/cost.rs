//! `loomir explain --estimate`: the estimated time of each loop, as a table.
//!
//! ```text
//! product: 3.02e5 cycles, with 16 vector registers of 32 bytes
//!   loop     iterations   cycles  compute    fetch   miss L1   miss L2  miss LLC     pages
//!   3:3              12  3.02e5   2.96e5    6.1e3       768         0         0         0
//!     4:5            12  2.51e4   2.47e4    5.1e2        64         0         0         0
//!       7:7         500  2.05e3   2.02e3    3.2e1         0         0         0         0  vectors
//! ```

use std::fmt::Write;

use clap::{Arg, ArgMatches};

use crate::FunctionCost;
use crate::ir::diagnostics::{Arg as Said, Remark, RemarkKind};
use crate::ir::{Body, Context, Diagnostic, Diagnostics};
use crate::transforms::cost::{LoopCost, Pace};

use super::super::console::Stream;
use super::super::flags::flag;
use super::super::input::Input;
use super::super::{Failure, Tools, fuse, remarks};

/// The name of the flag, and of the source of its remarks.
pub(super) const FLAG: &str = "estimate";

/// The name of the remark on a loop.
const NAME: &str = "LoopCost";

/// The argument of the command.
pub(super) fn arg() -> Arg {
    flag(FLAG, "Print the estimated time of each loop, as 'loomir optimize' compares it")
        .conflicts_with("unroll")
}

/// Prints the estimates for the loops of a module.
pub(super) fn main(
    tools: &Tools,
    matches: &ArgMatches,
    source: &Input,
    module: &mut Body,
) -> Result<(), Failure> {
    let ctx = &tools.ctx;
    let costs = crate::costs(module, &fuse::options(matches)?);
    if remarks::as_data(matches) {
        let mut all = Diagnostics::new();
        let each = costs.iter().flat_map(|own| own.loops.iter().map(move |inside| remark(own, inside)));
        each.for_each(|remark| all.push(remark));
        return tools.console.print(&remarks::say(ctx, &all, source, Stream::Out));
    }
    if costs.is_empty() {
        return tools.console.print("no loop to estimate\n");
    }
    let tables: Vec<String> = costs.iter().map(|own| table(ctx, own)).collect();
    tools.console.print(&tables.join("\n"))
}

/// Returns the table of a function.
fn table(ctx: &Context, costs: &FunctionCost) -> String {
    let FunctionCost { function, machine, cycles, loops } = costs;
    let mut text = format!(
        "{function}: {cycles:.2e} cycles, with {} vector registers of {} bytes\n",
        machine.registers, machine.vector
    );
    let name = |own: &LoopCost| {
        let place = match own.place.file_line_col(ctx) {
            Some((_, line, column)) => format!("{line}:{column}"),
            None => "loop".to_owned(),
        };
        format!("{:1$}{place}", "", 2 * own.depth as usize)
    };
    let names: Vec<String> = loops.iter().map(name).collect();
    let width = names.iter().map(String::len).chain([4]).max().unwrap_or(4);
    let _ = write!(
        text,
        "  {:width$} {:>11} {:>8} {:>8} {:>8}",
        "loop", "iterations", "cycles", "compute", "fetch"
    );
    for cache in &machine.caches {
        let _ = write!(text, " {:>9}", format!("miss {}", cache.name));
    }
    let _ = writeln!(text, " {:>9}", "pages");
    for (own, name) in loops.iter().zip(names) {
        let trips = format!("{}{}", if own.is_guess { "~" } else { "" }, own.trips.round());
        let _ = write!(text, "  {name:width$} {trips:>11}");
        for cycles in [own.cycles, own.computing, own.fetching] {
            let _ = write!(text, " {cycles:>8.2e}");
        }
        for count in own.missed.iter().chain([&own.pages]) {
            let _ = write!(text, " {:>9}", number(*count));
        }
        let _ =
            writeln!(text, "{}", own.pace.as_ref().map_or(String::new(), |pace| format!("  {}", said(pace))));
    }
    text
}

/// A number of lines or pages: whole if it is short.
fn number(count: f64) -> String {
    if count < 1e6 { format!("{count:.0}") } else { format!("{count:.2e}") }
}

fn said(pace: &Pace) -> String {
    match pace {
        Pace::Vectors(lanes) => format!("{lanes} iterations at once"),
        Pace::Neighbours(lanes) => format!("{lanes:.3} neighbours at once"),
        Pace::Waiting => "each iteration waits for the one before".to_owned(),
        Pace::Single => "one iteration after the other".to_owned(),
    }
}

/// Returns the estimate for a loop as a remark.
fn remark(costs: &FunctionCost, own: &LoopCost) -> Diagnostic {
    let FunctionCost { function, machine, .. } = costs;
    let whole = |number: f64| Said::Number(number.round() as i64);
    let caches = machine.caches.iter().zip(&own.missed);
    let missed = |(cache, lines): (&crate::transforms::cost::Cache, &f64)| {
        Said::Fields(vec![("cache", Said::Text(cache.name.clone())), ("lines", whole(*lines))])
    };
    let args = vec![
        ("depth", Said::Number(i64::from(own.depth))),
        ("trips", whole(own.trips)),
        ("guess", Said::Flag(own.is_guess)),
        ("cycles", whole(own.cycles)),
        ("compute", whole(own.computing)),
        ("fetch", whole(own.fetching)),
        ("missed", Said::List(caches.map(missed).collect())),
        ("pages", whole(own.pages)),
        ("pace", own.pace.as_ref().map_or(Said::Unknown, |pace| Said::Text(said(pace)))),
    ];
    let (kind, pass, function) = (RemarkKind::Analysis, FLAG, function.clone());
    let message = format!("[{function}]: {:.2e} cycles are estimated each time the loop begins", own.cycles);
    Diagnostic::remark(own.place, message).telling(Remark { kind, pass, name: NAME, function, args })
}
