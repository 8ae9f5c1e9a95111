//! Fusing many loops as control flow graphs, the whole command, beside `opt -passes=loop-fusion`:
//! what it costs, how that grows, and how many times as much the peer takes. `cargo xtask bench`
//! keeps the report in `results/graph_fusion.md`.
//!
//! Processor time of the whole process, the least of several runs.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use loomir_benches::graphs::Graphs;
use loomir_benches::process::{least, measured_command, own_command};

const RUNS: usize = 5;
/// Seconds that the largest program may take.
const LIMIT: f64 = 2.0;
/// Time may grow with the loops to this power.
const EXPONENT: f64 = 1.2;
/// The least ratio of the peer's time to Loomir's where the peer fuses.
const WANTED: f64 = 50.0;

fn main() {
    if measured_command() {
        return;
    }
    println!("Seconds of processor time, the least of {RUNS} runs, of one run for `opt`.\n");
    println!(
        "| program | 300 | 1000 | 3000 | exponent from 300 to 3000 | at most {LIMIT} s and {EXPONENT} | opt, 1000 | times | at least {WANTED} |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for graphs in Graphs::ALL {
        let times: Vec<f64> = [300, 1000, 3000].iter().map(|count| own(graphs, *count)).collect();
        let exponent = (times[2] / times[0]).log10();
        let verdict = if times[2] <= LIMIT && exponent <= EXPONENT { "pass" } else { "**fail**" };
        let theirs = peer(graphs, 1000).unwrap_or(f64::NAN);
        let factor = theirs / times[1];
        let is_fused = !matches!(graphs, Graphs::Ahead | Graphs::Apart);
        let wanted = match is_fused {
            true if factor >= WANTED => "pass",
            true => "**fail**",
            false => "not fused",
        };
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {exponent:.2} | {verdict} | {theirs:.2} | {factor:.1} | {wanted} |",
            graphs.name(),
            times[0],
            times[1],
            times[2]
        );
    }
}

fn own(graphs: Graphs, count: usize) -> f64 {
    let pipeline = "--pass-pipeline=builtin.module(llvm.func(loop-fusion))";
    let words = ["opt", pipeline, "--emit=ll"];
    least(&own_command(), &words, ("ll", &graphs.program(count)), RUNS).unwrap_or(f64::NAN)
}

fn peer(graphs: Graphs, count: usize) -> Option<f64> {
    let prefix = std::env::var_os("LOOMIR_LLVM").map_or(PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let words = ["-passes=loop-fusion", "-S"];
    least(&prefix.join("bin/opt"), &words, ("ll", &graphs.program(count)), 1)
}
