//! The campaign that runs fused loops as machine code: random functions of neighbouring loops with
//! [rare constructs](crate::neighbours::odd), before and after fusion.
//!
//! The interpreter finds the defined calls, and compares their outcomes. Then `clang` compiles both
//! texts without optimisation and with all of it, and the four programs must print the same. Some
//! texts state the data layout of a machine with 32-bit addresses, which no test machine has. They
//! are fused under it, and then interpreted without it. Their numbers are small, so that addresses
//! do not wrap in either width.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use loomir::dialects::interp::Limits;
use loomir::dialects::interp::layout::DATA_LAYOUT;
use loomir::ir::Body;
use loomir::ir::pass::{PassInstrumentor, Record};

use crate::behaviour::{Ending, Input, call, show};
use crate::check::Checker;
use crate::neighbours::{BYTES, CALLED, Neighbours, odd, odd_neighbours};
use crate::peers::Peer;
use crate::random::Random;

/// The counts of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions of texts for 32-bit addresses.
    pub narrow: u64,
    /// Loops that were fused.
    pub fused: u64,
    /// Calls that the interpreter compared.
    pub interpreted: u64,
    /// Calls that were compared with machine code.
    pub native: u64,
}

/// Functions of one text.
const BATCH: u64 = 100;
/// The limits of a call. Loops that count to a number of 64 bits would never end.
const LIMITS: Limits = Limits { steps: 100_000, call_depth: 16, memory: 1 << 20 };
/// One in this many texts is for 32-bit addresses.
const NARROW: u64 = 5;

const WIDE_TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";
const NARROW_TARGET: &str = "target datalayout = \"e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128\"\n";

/// Runs `cases` functions of the campaign of `seed`, from number `first` on. `folder` receives the
/// compiled programs.
///
/// # Errors
/// The first function that behaves differently, or the reason why it can't be judged.
pub fn run(
    seed: u64,
    (first, cases): (u64, u64),
    clang: &Peer,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut at = first;
    while at < first + cases {
        let end = (at + BATCH).min(first + cases);
        let is_narrow = (at / BATCH) % NARROW == NARROW - 1;
        let batch: Vec<(String, Neighbours)> = (at..end).map(|index| case(seed, index)).collect();
        compare(&batch, is_narrow, clang, folder, tally).map_err(|error| format!("seed {seed}: {error}"))?;
        at = end;
    }
    Ok(())
}

/// Returns a case of a campaign, with its name.
pub fn case(seed: u64, index: u64) -> (String, Neighbours) {
    let name = format!("f{index}");
    let function = odd_neighbours(&mut Random::of_case(seed, index), &name);
    (name, function)
}

fn compare(
    batch: &[(String, Neighbours)],
    is_narrow: bool,
    clang: &Peer,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let checker = Checker::default();
    let target = if is_narrow { NARROW_TARGET } else { WIDE_TARGET };
    let text = batch.iter().fold(format!("{target}{CALLED}{}", odd::CALLED), |all, (_, own)| all + &own.text);
    let read = loomir::lowering::from_ll(&checker.ctx, &text, "case.ll");
    let mut before = read.map_err(|errors| checker.lines(&errors))?;
    let mut after = before.duplicate();
    tally.fused += fuse(&mut after, &checker)?;
    for module in [&mut before, &mut after].into_iter().filter(|_| is_narrow) {
        let root = module.root();
        module.remove_attr(root, DATA_LAYOUT);
    }
    let mut defined = Vec::new();
    for (name, function) in batch {
        let calls = same_calls(&before, &after, name, &function.calls)
            .map_err(|error| format!("{error}\n{target}{CALLED}{}{}", odd::CALLED, function.text))?;
        tally.interpreted += calls.len() as u64;
        defined.extend(calls.into_iter().map(|input| (name.as_str(), input)));
    }
    tally.cases += batch.len() as u64;
    if is_narrow {
        tally.narrow += batch.len() as u64;
        return Ok(());
    }
    tally.native += defined.len() as u64;
    let print = |module: &Body| loomir::lowering::to_ll(module).map_err(|errors| checker.lines(&errors));
    let driver = driver(&defined);
    let mut expected: Option<(String, String)> = None;
    for (side, text) in [("before", text), ("after", print(&after)?)] {
        for level in ["-O0", "-O2"] {
            let how = format!("{side} fusion at {level}");
            let printed = machine_code(clang, folder, &text, &driver, level)
                .map_err(|error| format!("{how}: {error}"))?;
            match &expected {
                Some((other, known)) if *known != printed => {
                    let line = known.lines().zip(printed.lines()).find(|(a, b)| a != b);
                    return Err(format!("{other} and {how} differ: {line:?}"));
                }
                Some(_) => {}
                None => expected = Some((how, printed)),
            }
        }
    }
    Ok(())
}

/// Fuses the loops of all functions in every way. Returns the number of fusions.
fn fuse(module: &mut Body, checker: &Checker) -> Result<u64, String> {
    let registry = loomir::passes();
    let pipeline = "builtin.module(llvm.func(loop-fusion{peel-max-count=2 fusion-profitability=always}))";
    let manager = registry.parse(pipeline).map_err(|error| error.to_text(pipeline))?;
    let report = manager.run(module, &PassInstrumentor::new());
    if !report.succeeded() {
        return Err(checker.lines(&report.diagnostics));
    }
    let mut records: Vec<&Record> = report.records.iter().collect();
    let mut fused = 0;
    while let Some(record) = records.pop() {
        records.extend(&record.children);
        let counts = record.statistics.iter().filter(|(name, _)| *name == "Loops fused");
        fused += counts.map(|(_, count)| count).sum::<u64>();
    }
    Ok(fused)
}

/// Returns the calls that are defined and return. Both modules must agree on them.
fn same_calls(before: &Body, after: &Body, name: &str, calls: &[Input]) -> Result<Vec<Input>, String> {
    let mut defined = Vec::new();
    for input in calls {
        let expected = call(before, name, input, &LIMITS)?;
        if let Ending::Unspecified(_) = expected {
            continue;
        }
        let actual = call(after, name, input, &LIMITS)?;
        if actual != expected {
            let (before, after) = (show(&expected), show(&actual));
            return Err(format!("@{name}({}) differs\nbefore: {before}after: {after}", input.join(", ")));
        }
        if let Ending::Returned(_) = expected {
            defined.push(input.clone());
        }
    }
    Ok(defined)
}

/// Returns a C program that makes these calls and prints a line for each.
fn driver(calls: &[(&str, Input)]) -> String {
    let mut text = format!(
        "#include <stdio.h>\nstatic unsigned char buffers[3][{BYTES}];\nextern long pool[40];\n\
         __attribute__((noinline)) static void begin(void) {{ for (int i = 0; i < 40; i++) pool[i] = 0; for (int b = 0; b < 3; b++) for (int i = 0; i < {BYTES}; i++) buffers[b][i] = i; }}\n\
         __attribute__((noinline)) static void end(const char *name, long result) {{\n  unsigned long sum = 0;\n  \
         for (int b = 0; b < 3; b++) for (int i = 0; i < {BYTES}; i++) sum = sum * 31 + buffers[b][i];\n  \
         printf(\"%s %ld %lx\\n\", name, result, sum);\n}}\n"
    );
    let mut last = "";
    for (name, _) in calls {
        if std::mem::replace(&mut last, name) != *name {
            let _ = writeln!(text, "long {name}(long, long, long, _Bool, _Bool, void *, void *, void *);");
        }
    }
    text += "int main(void) {\n";
    for (name, input) in calls {
        let arguments: Vec<String> =
            input.iter().enumerate().map(|(at, argument)| c_argument(at, argument)).collect();
        let _ = writeln!(text, "  begin(); end(\"{name}\", {name}({}));", arguments.join(", "));
    }
    text + "  return 0;\n}\n"
}

/// Returns an argument of the command as a C expression.
fn c_argument(at: usize, text: &str) -> String {
    match text {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        // A part of the first array.
        _ if text.starts_with('@') => {
            let by = text.split(['+', ':']).nth(1).unwrap_or("0");
            format!("buffers[0] + {by}")
        }
        _ if text.contains("memref") => format!("buffers[{}]", at - 5),
        number => format!("{number}L"),
    }
}

/// Returns the output of a text and a driver, compiled at this level.
fn machine_code(
    clang: &Peer,
    folder: &Path,
    text: &str,
    driver: &str,
    level: &str,
) -> Result<String, String> {
    let [source, main, program] = ["case.ll", "main.c", "program"].map(|name| folder.join(name));
    let write = |path: &PathBuf, text: &str| std::fs::write(path, text).map_err(|error| error.to_string());
    write(&source, text)?;
    write(&main, driver)?;
    let paths = [&source, &main, &program].map(|path| path.to_string_lossy().into_owned());
    let options = [level, "-w", "-Wno-override-module", &paths[0], &paths[1], "-o", &paths[2]];
    clang.run("", &options)?;
    let output = Command::new(&program).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("the program ended with {}", output.status)),
    }
}
