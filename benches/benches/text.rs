//! Reading, verifying, printing, copying and rewriting programs of 100,000 and 200,000 operations,
//! and the whole command, beside `mlir-opt` on the same text in the same run. The report ends with
//! what was aimed at and whether it is met; `cargo xtask bench` keeps it in `results/text.md`.
//!
//! Stages are the least of several runs, on the wall clock, as `mlir-opt --mlir-timing` counts its
//! own; commands are processor time of the whole process.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use loomir_benches::process::{Cost, cost, measured_command};
use loomir_benches::round_trip::{STAGES, least_of};
use loomir_benches::shapes::Shape;

const RUNS: usize = 7;
const COUNT: usize = 100_000;
/// Twice the operations may cost so many times as much.
const GROWTH: f64 = 2.2;

fn main() {
    if measured_command() {
        return;
    }
    let mut report = Report::default();
    println!("Milliseconds; commands: processor time and peak memory. The least of {RUNS} runs.\n");
    println!(
        "| program | operations | {} | command | mlir-opt: parse | print | command |",
        STAGES.join(" | ")
    );
    println!("|{}", " --- |".repeat(STAGES.len() + 6));
    for shape in Shape::ALL {
        let (once, twice) = (measure(shape, COUNT), measure(shape, 2 * COUNT));
        for (stage, (a, b)) in STAGES.iter().zip(once.stages.iter().zip(&twice.stages)) {
            let factor = b.as_secs_f64() / a.as_secs_f64();
            report.at_most(format!("{}: {stage}, 2N over N", shape.name()), factor, GROWTH);
        }
        report.against_peer(shape, &once);
    }
    let empty = Measured::commands("", None);
    if let Some(own) = empty.own {
        report.at_most("empty module: milliseconds".into(), milliseconds(own.time), 3.0);
        report.at_most("empty module: megabytes".into(), megabytes(own.memory), 10.0);
    }
    report.print();
}

/// Measurements of one program.
struct Measured {
    stages: [Duration; STAGES.len()],
    own: Option<Cost>,
    peer: Option<Cost>,
    /// The peer's parse, with verification, and print.
    peer_stages: Option<[Duration; 2]>,
}

impl Measured {
    /// The whole commands on a text.
    fn commands(source: &str, peer: Option<&PathBuf>) -> Measured {
        let input = std::env::temp_dir().join(format!("loomir-bench-{}.mlir", std::process::id()));
        let mut measured =
            Measured { stages: [Duration::MAX; STAGES.len()], own: None, peer: None, peer_stages: None };
        if std::fs::write(&input, source).is_err() {
            return measured;
        }
        let file = input.display().to_string();
        let own = command().display().to_string();
        measured.own = least_cost(&[&own, "opt", &file, "-o", "/dev/null"]);
        if let Some(peer) = peer {
            let tool = peer.display().to_string();
            measured.peer = least_cost(&[&tool, "--mlir-disable-threading", &file, "-o", "/dev/null"]);
            measured.peer_stages = (0..RUNS).filter_map(|_| peer_stages(peer, &file)).reduce(least);
        }
        let _ = std::fs::remove_file(&input);
        measured
    }
}

/// Measures a program and prints its row.
fn measure(shape: Shape, count: usize) -> Measured {
    let source = shape.program(count);
    let mut measured = Measured::commands(&source, mlir_opt().as_ref());
    measured.stages = least_of(RUNS, &source);
    let time =
        |time: Option<Duration>| time.map_or("–".into(), |time| format!("{:.1}", milliseconds(time)));
    let cost = |cost: Option<Cost>| {
        cost.map_or("–".into(), |c| format!("{:.1}, {:.0} MB", milliseconds(c.time), megabytes(c.memory)))
    };
    let own: Vec<String> = measured.stages.iter().map(|stage| time(Some(*stage))).collect();
    let [parse, print] = [0, 1].map(|stage| time(measured.peer_stages.map(|stages| stages[stage])));
    println!(
        "| {} | {count} | {} | {} | {parse} | {print} | {} |",
        shape.name(),
        own.join(" | "),
        cost(measured.own),
        cost(measured.peer)
    );
    measured
}

fn least<const N: usize>(a: [Duration; N], b: [Duration; N]) -> [Duration; N] {
    std::array::from_fn(|i| a[i].min(b[i]))
}

fn least_cost(command: &[&str]) -> Option<Cost> {
    let costs = (0..RUNS).filter_map(|_| cost(command));
    costs.reduce(|a, b| Cost { time: a.time.min(b.time), memory: a.memory.min(b.memory) })
}

/// The peer's own count of its time for parsing and printing.
fn peer_stages(tool: &PathBuf, file: &str) -> Option<[Duration; 2]> {
    let arguments = ["--mlir-disable-threading", "--mlir-timing", file, "-o", "/dev/null"];
    let output = Command::new(tool).args(arguments).output().ok()?;
    let report = String::from_utf8(output.stderr).ok()?;
    let of = |name: &str| {
        let line = report.lines().find(|line| line.trim_end().ends_with(name))?;
        Some(Duration::from_secs_f64(line.split_whitespace().next()?.parse().ok()?))
    };
    Some([of("Parser")?, of("Output")?])
}

/// The command, which `cargo xtask bench` builds beside the benchmarks.
fn command() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).map(|folder| folder.join("loomir")).unwrap_or_default()
}

fn mlir_opt() -> Option<PathBuf> {
    let prefix = std::env::var_os("LOOMIR_LLVM").map_or(PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    Some(prefix.join("bin/mlir-opt")).filter(|tool| tool.exists())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Targets with what was measured.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    failed: usize,
}

impl Report {
    fn add(&mut self, what: String, measured: f64, target: &str, met: bool) {
        self.failed += usize::from(!met);
        let verdict = if met { "pass" } else { "**fail**" };
        self.lines.push(format!("| {what} | {measured:.2} | {target} | {verdict} |"));
    }

    fn at_most(&mut self, what: String, measured: f64, limit: f64) {
        self.add(what, measured, &format!("at most {limit}"), measured <= limit);
    }

    fn at_least(&mut self, what: String, measured: f64, limit: f64) {
        self.add(what, measured, &format!("at least {limit}"), measured >= limit);
    }

    fn against_peer(&mut self, shape: Shape, measured: &Measured) {
        let over = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        let name = shape.name();
        if let Some([parse, print]) = measured.peer_stages {
            let [own_parse, own_verify, own_print, ..] = measured.stages;
            let factor = over(parse, own_parse + own_verify);
            self.at_least(format!("{name}: parse and verify, mlir-opt's time over ours"), factor, 3.0);
            self.at_least(format!("{name}: print, mlir-opt's time over ours"), over(print, own_print), 4.0);
        }
        if let (Some(own), Some(peer)) = (measured.own, measured.peer) {
            self.at_least(
                format!("{name}: command, mlir-opt's time over ours"),
                over(peer.time, own.time),
                4.0,
            );
            let memory = peer.memory as f64 / own.memory as f64;
            self.at_least(format!("{name}: command, mlir-opt's memory over ours"), memory, 2.0);
        }
    }

    fn print(&self) {
        println!("\n| target | measured | wanted | |\n| --- | --- | --- | --- |\n{}", self.lines.join("\n"));
        println!("\n{} of {} targets are met.", self.lines.len() - self.failed, self.lines.len());
    }
}
