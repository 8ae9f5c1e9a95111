//! Fusing many loops, the whole command, beside `mlir-opt -affine-loop-fusion` where it can: what
//! it costs, how that grows, and how many times as much the peer takes. `cargo xtask bench` keeps
//! the report in `results/fusion.md`.
//!
//! Processor time of the whole process, the least of several runs.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use loomir_benches::loops::Loops;
use loomir_benches::process::{least, measured_command, own_command};

const RUNS: usize = 5;
/// Seconds that the largest program may take.
const LIMIT: f64 = 0.5;
/// Time may grow with the loops to this power.
const EXPONENT: f64 = 1.2;

fn main() {
    if measured_command() {
        return;
    }
    println!("Seconds of processor time, the least of {RUNS} runs.\n");
    println!(
        "| program | 300 | 1000 | 3000 | exponent from 300 to 3000 | at most {LIMIT} s and {EXPONENT} |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for loops in [Loops::Chain, Loops::ScfChain, Loops::Siblings, Loops::InPlace, Loops::ReadAhead] {
        let times: Vec<f64> = [300, 1000, 3000].iter().map(|count| own(loops, *count, "distinct")).collect();
        let exponent = (times[2] / times[0]).log10();
        let verdict = if times[2] <= LIMIT && exponent <= EXPONENT { "pass" } else { "**fail**" };
        let name = loops.name();
        println!(
            "| {name} | {:.3} | {:.3} | {:.3} | {exponent:.2} | {verdict} |",
            times[0], times[1], times[2]
        );
    }
    println!(
        "\n| program | loops or functions | Loomir | mlir-opt | times | wanted | |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (loops, count, alias, wanted) in [
        (Loops::Chain, 1000, "distinct", 20.0),
        (Loops::Chain, 1000, "version", 20.0),
        (Loops::Siblings, 1000, "distinct", 200.0),
        (Loops::InPlace, 100, "distinct", 200.0),
        (Loops::Functions, 10_000, "distinct", 4.0),
    ] {
        let Some(theirs) = peer(loops, count) else { continue };
        let ours = own(loops, count, alias);
        let times = theirs / ours;
        let verdict = if times >= wanted { "pass" } else { "**fail**" };
        println!(
            "| {}{} | {count} | {ours:.3} | {theirs:.2} | {times:.0} | {wanted} | {verdict} |",
            loops.name(),
            if alias == "version" { ", with run-time checks" } else { "" }
        );
    }
}

/// Returns what the command takes. The peer assumes that arguments are `distinct`.
fn own(loops: Loops, count: usize, alias: &str) -> f64 {
    let alias = format!("--alias={alias}");
    let words = ["fuse", "-q", &alias, "--allow-unregistered-dialect"];
    least(&own_command(), &words, ("mlir", &loops.program(count)), RUNS).unwrap_or(f64::NAN)
}

fn peer(loops: Loops, count: usize) -> Option<f64> {
    let prefix = std::env::var_os("LOOMIR_LLVM").map_or(PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let words = ["-affine-loop-fusion", "--mlir-disable-threading", "--allow-unregistered-dialect"];
    least(&prefix.join("bin/mlir-opt"), &words, ("mlir", &loops.program(count)), 1)
}
