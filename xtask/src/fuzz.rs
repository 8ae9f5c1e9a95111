//! `cargo xtask fuzz`: a target of `fuzz/` under libFuzzer, with AddressSanitizer, and the record
//! of what it found.
//!
//! `fuzz/` has cargo-fuzz's layout and is outside the workspace, so that nothing else needs the
//! nightly compiler that the sanitizer does. This command does without cargo-fuzz itself. A new
//! target is a file `fuzz/fuzz_targets/NAME.rs`, a `[[bin]]` in `fuzz/Cargo.toml` and a line of
//! [`TARGETS`]. Inputs that add coverage are kept in `target/fuzz/corpus/NAME`, so the next run
//! goes on from there; an input that fails is kept in `target/fuzz/failures/NAME`, and giving the
//! target's program that file shows it again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Failure;
use crate::process::{command, execute, output, root};
use crate::record::{self, Heading};

/// One target.
struct Target {
    name: &'static str,
    /// The programs in files with this extension, anywhere in the project, are inputs to begin
    /// with. None if empty.
    seeds: &'static str,
    /// The longest input, in bytes.
    max_len: u32,
    does: &'static str,
}

const TARGETS: &[Target] = &[
    Target {
        name: "text",
        seeds: "mlir",
        max_len: 8192,
        does: "changed programs are read, verified, printed, read back and printed the same",
    },
    Target {
        name: "ll",
        seeds: "ll",
        max_len: 16384,
        does: "changed LLVM IR is read, verified, written, read back and written the same",
    },
    Target {
        name: "polyhedra",
        seeds: "isl",
        max_len: 512,
        does: "changed sets and relations are read, asked everything, printed and read back as the same",
    },
];

/// Flags with which a program reports its coverage and checks its memory.
const RUSTFLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks";

/// `NAME [--minutes N] [--seed S]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let usage = || {
        let list = TARGETS.iter().map(|target| format!("\n  {:<12}{}", target.name, target.does));
        format!("NAME [--minutes N] [--seed S], where NAME is one of{}", list.collect::<String>())
    };
    let (name, options) = arguments.split_first().ok_or_else(usage)?;
    let target = TARGETS.iter().find(|target| target.name == name).ok_or_else(usage)?;
    let (mut minutes, mut seed) = (20u64, 1u64);
    for option in options.chunks(2) {
        let [key, value] = option else { return Err(usage()) };
        let value = value.parse().map_err(|_| usage())?;
        match key.as_str() {
            "--minutes" => minutes = value,
            "--seed" => seed = value,
            _ => return Err(usage()),
        }
    }
    let program = build(target)?;
    let values = fuzz(target, &program, minutes, seed)?;
    let heading = Heading {
        title: format!("Fuzzing {name}"),
        does: target.does,
        command: format!("cargo xtask fuzz {name} --minutes {minutes} --seed {seed}"),
    };
    record::keep(&format!("fuzz-{name}"), &heading, &values)
}

fn folder(kind: &str, target: &Target) -> PathBuf {
    root().join("target/fuzz").join(kind).join(target.name)
}

/// Builds a target's program.
fn build(target: &Target) -> Result<PathBuf, Failure> {
    let nightly = |program: &str| {
        let mut command = command("rustup");
        command.args(["run", "nightly", program]).env_remove("CARGO").env_remove("RUSTC");
        command
    };
    let version = output(nightly("rustc").arg("-vV"))
        .map_err(|e| format!("{e}\nfuzzing needs a nightly compiler: rustup toolchain install nightly"))?;
    // Named, so that the flags are not for build scripts too.
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let mut cargo = nightly("cargo");
    cargo.args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"]);
    cargo.args(["--target", host, "--bin", target.name]).env("RUSTFLAGS", RUSTFLAGS);
    execute(&mut cargo)?;
    Ok(root().join("target/fuzz").join(host).join("release").join(target.name))
}

/// Runs it; what libFuzzer counted, or the input that failed.
fn fuzz(target: &Target, program: &Path, minutes: u64, seed: u64) -> Result<Vec<(String, String)>, Failure> {
    let (corpus, seeds, failures) =
        (folder("corpus", target), folder("seeds", target), folder("failures", target));
    for folder in [&corpus, &seeds, &failures] {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let count = copy_seeds(target, &seeds)?;
    let mut child = command(program)
        .arg(format!("-max_total_time={}", minutes * 60))
        .arg(format!("-seed={seed}"))
        .arg(format!("-max_len={}", target.max_len))
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])
        .args([&corpus, &seeds])
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let mut values = vec![("minutes".into(), minutes.to_string()), ("seed_inputs".into(), count.to_string())];
    let (mut last_status, mut last_lines) = (String::new(), std::collections::VecDeque::new());
    for line in child.stderr.take().into_iter().flat_map(|e| BufReader::new(e).lines()) {
        let Ok(line) = line else { continue };
        if let Some(stat) = line.strip_prefix("stat::") {
            values.extend(stat.split_once(':').map(|(key, value)| (key.into(), value.trim().into())));
        } else if line.contains(" cov: ") {
            last_status = line;
            if last_status.contains("pulse") {
                println!("{last_status}");
            }
        } else if !line.starts_with("    #") {
            last_lines.push_back(line);
            if last_lines.len() > 60 {
                last_lines.pop_front();
            }
        }
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    if !status.success() {
        let lines: Vec<String> = last_lines.into();
        return Err(format!("{status}\n{}", lines.join("\n")));
    }
    let words: Vec<&str> = last_status.split_whitespace().collect();
    for (word, key) in [("cov:", "edges_covered"), ("corp:", "corpus")] {
        if let Some(at) = words.iter().position(|w| *w == word) {
            values.extend(words.get(at + 1).map(|value| (key.into(), (*value).into())));
        }
    }
    Ok(values)
}

/// Copies the programs in the project's files of the target's extension to `to`, named by their
/// paths. Several in one file are parted by comments of dashes.
fn copy_seeds(target: &Target, to: &Path) -> Result<usize, Failure> {
    let root = root();
    let (mut count, mut folders) = (0, vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        if target.seeds.is_empty() {
            break;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                let name = entry.file_name();
                if name != "target" && name != ".git" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == target.seeds) {
                let name =
                    path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace(['/', '\\'], "-");
                let failed = |e| format!("{}: {e}", path.display());
                let text = fs::read_to_string(&path).map_err(failed)?;
                let is_separator = |line: &&str| matches!(line.trim_end(), "; -----" | "// -----");
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                for (place, program) in lines.split(is_separator).enumerate() {
                    fs::write(to.join(format!("{place}-{name}")), program.concat()).map_err(failed)?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}
