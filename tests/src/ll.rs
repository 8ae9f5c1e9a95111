//! Random programs in LLVM IR without undefined behaviour, and the campaign that compares the
//! interpreter with `lli` on them.
//!
//! The programs use the features of the dialect: integers of all widths, floats, vectors, structs
//! and arrays, memory read at other widths than it was written, pointers, loops, switches,
//! recursion, calls through tables, intrinsics, atomic updates, flags and attributes that state
//! promises. All promises hold, so the interpreter must find nothing undefined. Each program
//! returns a number that depends on everything computed, and that number must be the same.
//!
//! | module | makes |
//! | --- | --- |
//! | `types` | types and constants |
//! | `function` | control flow, calls, and the visible values |
//! | `integers`, `floats`, `vectors`, `memory` | operations |
//! | `program` | variables, functions, the function to call |

use std::fmt::Write;

use loomir::dialects::interp::{self, Limits, Output};
use loomir::ir::Diagnostics;
use loomir::ir::verifier::verify;

use crate::peers::Peer;
use crate::random::Random;

mod floats;
mod function;
mod integers;
mod memory;
mod program;
mod types;
mod vectors;

/// The statistics of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Functions, in all programs.
    pub functions: u64,
    /// Lines of text.
    pub lines: u64,
    /// Operations that the interpreter executed.
    pub steps: u64,
    /// Programs that `lli` ran after `opt -O2`.
    pub optimised: u64,
    /// Programs that `lli` ran in Loomir's text.
    pub written: u64,
    /// Programs that LLVM does not compile because of its own errors. They are not counted among
    /// the others.
    pub given_up: u64,
}

/// The number of programs of one process.
const BATCH: u64 = 25;

/// The target of the text: sizes and alignments are those of x86-64.
const TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";

/// The tools of LLVM that a campaign uses.
#[derive(Clone, Debug)]
pub struct Judges {
    /// Runs programs.
    pub lli: Peer,
    /// Optimises programs.
    pub opt: Peer,
}

impl Judges {
    /// Finds the tools, if the variable `LOOMIR_LLVM` names their folder.
    pub fn find() -> Option<Judges> {
        Some(Judges { lli: Peer::find("lli")?, opt: Peer::find("opt")? })
    }
}

/// Returns the text of a case of a campaign, without a caller. The function to call is `@p` and the
/// number of the case.
pub fn case(seed: u64, index: u64) -> String {
    program::program(&mut Random::of_case(seed, index), &format!("p{index}"))
}

/// Runs `cases` programs of the campaign of `seed`, from number `first` on.
///
/// # Errors
/// The first program that the interpreter and LLVM do not agree on.
pub fn run(seed: u64, first: u64, cases: u64, judges: &Judges, tally: &mut Tally) -> Result<(), String> {
    let mut at = first;
    while at < first + cases {
        let end = (at + BATCH).min(first + cases);
        let texts: Vec<String> = (at..end).map(|index| case(seed, index)).collect();
        compare(at, &texts, at / BATCH % 3, judges, tally)?;
        at = end;
    }
    Ok(())
}

/// Runs programs, numbered from `first` on, by the interpreter and by LLVM: unchanged, as Loomir
/// writes them, or optimized by LLVM.
fn compare(first: u64, texts: &[String], way: u64, judges: &Judges, tally: &mut Tally) -> Result<(), String> {
    let text = format!("{TARGET}declare ptr @malloc(i64)\ndeclare ptr @calloc(i64, i64)\n{}", texts.concat());
    let ctx = loomir::context();
    let module = loomir::parse(&ctx, &text, "case.ll").map_err(|errors| errors.to_text(&ctx))?;
    let errors = verify(&module);
    if errors.has_errors() {
        return Err(errors.to_text(&ctx));
    }
    let given = match way {
        0 => text.clone(),
        1 => loomir::lowering::to_ll(&module).map_err(|errors| errors.to_text(&ctx))?,
        _ => text.clone(),
    };
    let mut given = given + "\n" + &main_function(first, texts.len() as u64);
    if way == 2 {
        given = judges.opt.run(&given, &["-passes=default<O2>", "-S", "-o", "-"])?;
    }
    let output = judges.lli.output(&given, &["-"])?;
    let theirs = String::from_utf8_lossy(&output.stdout).into_owned();
    if theirs.lines().count() < texts.len() {
        if texts.len() > 1 {
            // A fault would end the whole run, so each program runs separately.
            let mut each = (first..).zip(texts);
            return each
                .try_for_each(|(at, text)| compare(at, std::slice::from_ref(text), way, judges, tally));
        }
        if String::from_utf8_lossy(&output.stderr).contains("LLVM ERROR") {
            tally.given_up += 1;
            return Ok(());
        }
        if way != 2 {
            // LLVM's machine code may be wrong, for example if stack slots of vectors are
            // misaligned. Then another way of execution is right.
            return compare(first, texts, 2, judges, tally);
        }
    }
    let mut theirs = theirs.lines();
    for (number, program) in (first..).zip(texts) {
        let limits = Limits { steps: 10_000_000, ..Limits::default() };
        let outcome = interp::run(&module, &format!("p{number}"), &[], &limits)
            .map_err(|fault| format!("{}{program}", Diagnostics::from(fault.diagnostic).to_text(&ctx)))?;
        let [Output::Number(ours)] = outcome.results[..] else { return Err("no result".into()) };
        let (ours, theirs) = (format!("{:x}", ours.bits), theirs.next().unwrap_or("nothing"));
        if ours != theirs {
            return Err(format!("@p{number}: the interpreter says {ours}, LLVM says {theirs}\n{program}"));
        }
        tally.lines += program.lines().count() as u64;
        tally.functions += program.matches("\ndefine ").count() as u64;
        tally.steps += outcome.steps;
        tally.cases += 1;
        tally.optimised += u64::from(way == 2);
        tally.written += u64::from(way == 1);
    }
    Ok(())
}

/// Returns a `main` that prints the results of the programs, one a line.
fn main_function(first: u64, count: u64) -> String {
    let mut text = String::from(
        "@format = private constant [6 x i8] c\"%llx\\0A\\00\"\ndeclare i32 @dprintf(i32, ptr, ...)\ndefine i32 @main() {\n",
    );
    for number in first..first + count {
        let _ = writeln!(text, "  %r{number} = call i64 @p{number}()");
        let _ = writeln!(text, "  call i32 (i32, ptr, ...) @dprintf(i32 1, ptr @format, i64 %r{number})");
    }
    text + "  ret i32 0\n}\n"
}
