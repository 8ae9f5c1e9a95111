//! How long each stage takes, and how that grows: parse, verify, fuse, print, on programs of N and 2N loops; beside it, as a
//! whole process, `mlir-opt` on the same text where it is installed.
//!
//! Figures are the least of several runs, in this process's wall clock; `mlir-opt`'s include its start. Run it with `cargo xtask bench`.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loomir::FuseOptions;
use loomir::ir::{text, verifier};
use loomir_benches::{Kind, program};

const RUNS: usize = 5;

fn main() {
    println!("| program | loops | parse | verify | fuse | print | all | mlir-opt |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for kind in Kind::ALL {
        for count in [1000, 2000] {
            let source = program(kind, count);
            let stages = (0..RUNS).map(|_| measure(&source)).reduce(least).unwrap_or_default();
            let cells: Vec<String> = stages.iter().map(|time| milliseconds(*time)).collect();
            let sum = milliseconds(stages.iter().sum());
            let peer = mlir_opt(&source).map_or("–".into(), milliseconds);
            println!("| {} | {count} | {} | {sum} | {peer} |", kind.name(), cells.join(" | "));
        }
    }
}

fn measure(source: &str) -> [Duration; 4] {
    let ctx = loomir::context();
    let mut clock = Instant::now();
    let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed();
    let mut module = text::parse(&ctx, source, "bench.mlir").expect("the program is well formed");
    let parse = lap();
    assert!(!verifier::verify(&module).has_errors());
    let verify = lap();
    loomir::fuse(&mut module, &FuseOptions::default());
    let fuse = lap();
    let printed = loomir::print(&module);
    let print = lap();
    assert!(!printed.is_empty());
    [parse, verify, fuse, print]
}

fn least(a: [Duration; 4], b: [Duration; 4]) -> [Duration; 4] {
    std::array::from_fn(|i| a[i].min(b[i]))
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// `mlir-opt` with its own fusion on the same text; given up after the first run that takes long.
fn mlir_opt(source: &str) -> Option<Duration> {
    let prefix =
        std::env::var_os("MLIR_SYS_220_PREFIX").map_or(PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let tool = prefix.join("bin/mlir-opt");
    let input = std::env::temp_dir().join(format!("loomir-bench-{}.mlir", std::process::id()));
    std::fs::write(&input, source).ok()?;
    let mut best: Option<Duration> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let done = Command::new(&tool)
            .args(["--mlir-disable-threading", "--affine-loop-fusion"])
            .arg(&input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let time = start.elapsed();
        if !done.is_ok_and(|status| status.success()) {
            best = None;
            break;
        }
        best = Some(best.map_or(time, |best| best.min(time)));
        if time > Duration::from_secs(5) {
            break;
        }
    }
    let _ = std::fs::remove_file(&input);
    best
}
