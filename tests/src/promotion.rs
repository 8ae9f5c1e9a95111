//! The campaign that runs promoted programs as machine code with memory that faults: random
//! functions before and after `fuse`.
//!
//! Buffers lie between pages without access, once up against the page behind and once against the
//! page before. What the original does not write is read-only for the promoted program. It must not
//! fault, and leave the same memory and result. `driver.c` says how.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use loomir::ir::Body;
use loomir::{ContractionOptions, FuseOptions};

use crate::check::Checker;
use crate::peers::Peer;
use crate::random::Random;

use generate::{Function, function};

mod generate;

/// The C program that makes the calls.
const DRIVER: &str = include_str!("promotion/driver.c");
/// Functions of one program.
const BATCH: u64 = 100;

/// The counts of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions with an element of memory that a loop keeps in a register.
    pub promoted: u64,
    /// These elements.
    pub elements: u64,
    /// Calls that are defined before, and so were compared.
    pub compared: u64,
    /// Calls that are not.
    pub undefined: u64,
    /// Buffers of the compared calls that were read-only.
    pub read_only: u64,
}

/// Runs `cases` functions of the campaign of `seed`, from number `first` on. `folder` receives the
/// compiled programs.
///
/// # Errors
/// The first function that faults or differs, or the reason why it can't be judged.
pub fn run(
    seed: u64,
    (first, cases): (u64, u64),
    clang: &Peer,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let checker = Checker::default();
    for at in (first..first + cases).step_by(BATCH as usize) {
        let numbers = at..(at + BATCH).min(first + cases);
        let batch: Vec<(u64, Function)> =
            numbers.map(|index| (index, function(&mut Random::of_case(seed, index)))).collect();
        compare(&checker, &batch, clang, folder, tally).map_err(|error| format!("seed {seed}: {error}"))?;
        tally.cases += batch.len() as u64;
    }
    Ok(())
}

fn compare(
    checker: &Checker,
    batch: &[(u64, Function)],
    clang: &Peer,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let lines = |errors: &_, text: &str| format!("{}\n{text}", checker.lines(errors));
    let read = |prefix: &str| {
        let text = text(batch, prefix);
        checker.read(&text).map_err(|errors| lines(&errors, &text))
    };
    let (before, mut after) = (read("before")?, read("after")?);
    for function in after.nested_in_order() {
        let promoted = fuse(function);
        tally.promoted += u64::from(promoted > 0);
        tally.elements += promoted;
    }
    let fused = loomir::print(&after);
    checker.read(&fused).map_err(|errors| lines(&errors, &fused))?;
    let lower = |module: &Body| loomir::to_ll(module).map_err(|errors| checker.lines(&errors));
    let (before, after) = (lower(&before)?, lower(&after)?);
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        Ok::<String, String>(file.to_string_lossy().into_owned())
    };
    write("cases.h", &cases(batch))?;
    let files = [write("before.ll", &before)?, write("after.ll", &after)?, write("driver.c", DRIVER)?];
    let program = folder.join("program");
    let output = program.to_string_lossy().into_owned();
    let options = ["-O0", "-w", "-Wno-override-module", &files[0], &files[1], &files[2], "-o", &output];
    clang.run("", &options)?;
    let finished = Command::new(&program).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&finished.stdout).into_owned();
    if !finished.status.success() {
        return Err(failed(batch, &fused, &format!("{}: {said}", finished.status)));
    }
    let counts: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [compared, undefined, read_only] = counts[..] else { return Err(format!("the driver says {said}")) };
    tally.compared += compared;
    tally.undefined += undefined;
    tally.read_only += read_only;
    Ok(())
}

/// Fuses, contracts and promotes what a function allows. Returns the number of promoted elements.
fn fuse(function: &mut Body) -> u64 {
    let (fusion, contraction) = (FuseOptions::default(), ContractionOptions::default());
    loomir::fuse_and_contract(function, &fusion, &contraction).1.promoted as u64
}

/// Returns the module of a batch. The names begin with `prefix`.
fn text(batch: &[(u64, Function)], prefix: &str) -> String {
    batch
        .iter()
        .fold(String::new(), |all, (index, own)| format!("{all}func.func @{prefix}{index}{}", own.text))
}

/// Returns the functions and the calls as C.
fn cases(batch: &[(u64, Function)]) -> String {
    let mut text = String::new();
    for (index, _) in batch {
        let _ = writeln!(text, "void before{index}(void);\nvoid after{index}(void);");
    }
    text += "static const function functions[] = {\n";
    for (index, own) in batch {
        let element = own.element;
        let _ = writeln!(text, "  {{\"before{index}\", {element}, before{index}, after{index}}},");
    }
    text += "};\nstatic const call calls[] = {\n";
    for (at, (_, own)) in batch.iter().enumerate() {
        for call in &own.calls {
            let _ = writeln!(text, "  {{{at}, {call}}},");
        }
    }
    text + "};\n"
}

/// Returns the message of a driver that found a difference, with the function before and after.
fn failed(batch: &[(u64, Function)], fused: &str, message: &str) -> String {
    let name = message.split_whitespace().find_map(|word| word.strip_prefix("before")?.parse::<u64>().ok());
    let found = batch.iter().find(|(index, _)| Some(*index) == name);
    let Some((index, own)) = found else { return message.to_owned() };
    let start = fused.find(&format!("func.func @after{index}(")).unwrap_or(0);
    let after = fused[start..].split("\n  }\n").next().unwrap_or("");
    format!("{message}\nfunc.func @before{index}{}\n{after}\n}}", own.text)
}
