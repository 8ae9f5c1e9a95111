//! The campaigns: `cargo run --release -p loomir-tests --example campaigns -- NAME [--cases N]
//! [--seed S] [--first K]`. They are one program, because each one more has to be linked.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "campaigns report to the terminal")]

use std::process::ExitCode;

mod c_functions;
mod check;
mod compositions;
mod everyday;
mod exponentials;
mod flattening;
mod fusion;
mod graphs;
mod hazards;
mod ll;
mod loop_fusion;
mod native;
mod parallel;
mod promotion;
mod raising;
mod rewiring;
mod steps;
mod theirs;
mod transformations;
mod unrolling;

/// A campaign: its name, and what runs it.
type Campaign = (&'static str, fn() -> ExitCode);

/// The campaigns by their names.
const CAMPAIGNS: [Campaign; 19] = [
    ("c-functions", c_functions::main),
    ("check", check::main),
    ("compositions", compositions::main),
    ("everyday", everyday::main),
    ("exponentials", exponentials::main),
    ("flattening", flattening::main),
    ("fusion", fusion::main),
    ("graphs", graphs::main),
    ("hazards", hazards::main),
    ("ll", ll::main),
    ("loop-fusion", loop_fusion::main),
    ("native", native::main),
    ("parallel", parallel::main),
    ("promotion", promotion::main),
    ("raising", raising::main),
    ("rewiring", rewiring::main),
    ("theirs", theirs::main),
    ("transformations", transformations::main),
    ("unrolling", unrolling::main),
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match CAMPAIGNS.iter().find(|(own, _)| *own == name) {
        Some((_, run)) => run(),
        None => {
            let names: Vec<&str> = CAMPAIGNS.iter().map(|(own, _)| *own).collect();
            eprintln!("usage: campaigns NAME [OPTION…], where NAME is one of {}", names.join(", "));
            ExitCode::from(2)
        }
    }
}

/// Returns the arguments behind the name of the campaign.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(2)
}
