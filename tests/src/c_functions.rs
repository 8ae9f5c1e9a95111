//! The campaign on C functions: random functions of neighbouring loops behind pointers, compiled by
//! clang, fused, and compiled to machine code.
//!
//! Clang's front end runs at three levels. Loomir works on the text as `loomir fuse` does. Each
//! function is called with pointers that are apart, equal, adjacent, or overlap by one byte or
//! more, and with numbers at the limits of their types. Memory, results, and the values that called
//! functions receive must be those of the program as it was, without optimisation. That program has
//! sanitizers, which say what calls are defined. Memory around the buffers may not be touched, so
//! that stray accesses are found too. `driver.c` makes the calls.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use loomir::ir::pass::EditLimit;
use loomir::lowering::raising::Facts;
use loomir::{ContractionOptions, FuseOptions, ProgramOptions};

use crate::check::Checker;
use crate::peers::Peer;
use crate::random::Random;

use generate::{Function, function};

mod body;
mod calls;
mod generate;
mod signature;
mod types;

/// The C program that makes the calls.
const DRIVER: &str = include_str!("c_functions/driver.c");
/// Functions of one program.
const BATCH: u64 = 100;
/// The options of the front end, of each level.
const LEVELS: [&[&str]; 3] = [
    &["-O0", "-Xclang", "-disable-O0-optnone"],
    &["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"],
    &["-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"],
];
/// The options of the first program.
const SANITIZED: [&str; 3] = ["-O0", "-fsanitize=undefined", "-fsanitize-trap=undefined"];

/// The options of other programs. LLVM's vectorizer makes checks before outer loops that are wrong
/// if these may run 2^63 times: addresses of so many iterations wrap around.
const OPTIMIZED: [&str; 3] = ["-O3", "-mllvm", "-hoist-runtime-checks=false"];

/// The counts of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions that changed, at each level.
    pub changed: [u64; 3],
    /// Functions that changed at any level.
    pub changed_at_all: u64,
    /// Loops on the loop tree.
    pub loops: u64,
    /// Loops that were fused.
    pub fused: u64,
    /// Edits of `optimize` beside fusion.
    pub edits: u64,
    /// Functions that were written anew without edits.
    pub anew: u64,
    /// Defined calls, each compared at each level.
    pub calls: u64,
    /// Calls that end in a function that does not return.
    pub left: u64,
    /// Calls that are not defined.
    pub undefined: u64,
    /// Functions with run-time checks that were made.
    pub versioned: u64,
    /// Functions among them whose checks both held and failed.
    pub both_ways: u64,
    /// Checks that held, and checks that failed.
    pub checks: [u64; 2],
    /// Functions with a call that ends in another way than it should.
    pub failures: u64,
}

impl Tally {
    /// Adds the checks of a function: how often they held, and how often they failed.
    fn count_checks(&mut self, counts: &str) {
        let counts: Vec<u64> = counts.split(' ').filter_map(|count| count.parse().ok()).collect();
        if let [held, failed] = counts[..] {
            self.versioned += 1;
            self.both_ways += u64::from(held > 0 && failed > 0);
            self.checks[0] += held;
            self.checks[1] += failed;
        }
    }
}

/// The programs and the folder of a campaign.
pub struct Tools<'t> {
    /// Clang.
    pub clang: &'t Peer,
    /// The folder that receives programs.
    pub folder: &'t Path,
}

/// Runs `cases` functions of the campaign of `seed`, from number `first` on. Differences are
/// counted, and passed to `found`.
///
/// # Errors
/// The reason why a batch can't be judged.
pub fn run(
    seed: u64,
    (first, cases): (u64, u64),
    tools: &Tools<'_>,
    tally: &mut Tally,
    found: &mut dyn FnMut(&str),
) -> Result<(), String> {
    for at in (first..first + cases).step_by(BATCH as usize) {
        let batch = Batch::of(seed, at, (at + BATCH).min(first + cases));
        batch.judge(tools, tally, found).map_err(|error| format!("seed {seed}, case {at}: {error}"))?;
        tally.cases += batch.functions.len() as u64;
    }
    Ok(())
}

/// Returns the C text of one case.
pub fn text(seed: u64, index: u64) -> String {
    Batch::of(seed, index, index + 1).text()
}

/// Some functions, which are compiled together.
struct Batch {
    first: u64,
    is_strict: bool,
    functions: Vec<Function>,
}

impl Batch {
    fn of(seed: u64, first: u64, end: u64) -> Batch {
        // All functions of a file are compiled with the same rules for types.
        let is_strict = (first / BATCH).is_multiple_of(3);
        let make = |index| function(&mut Random::of_case(seed, index), index, is_strict);
        Batch { first, is_strict, functions: (first..end).map(make).collect() }
    }

    /// Returns the functions as C.
    fn text(&self) -> String {
        let start = types::declarations() + &types::variables();
        self.functions.iter().fold(start, |all, own| all + &own.text)
    }

    /// Returns the header of the driver: functions and calls.
    fn cases(&self) -> String {
        let mut text = types::declarations();
        self.functions.iter().for_each(|own| text += &own.wrapper);
        text += "static const wrapper functions[] = {";
        (0..self.functions.len()).for_each(|at| _ = write!(text, "w{}, ", self.first + at as u64));
        text += "};\nstatic const call calls[] = {\n";
        for (at, own) in self.functions.iter().enumerate() {
            own.calls.iter().for_each(|call| _ = writeln!(text, "  {{{at}, {call}}},"));
        }
        text +=
            "};\ntypedef struct { char *at; int bytes; } variable;\nstatic const variable variables[] = {";
        for ty in types::VARIABLES {
            let name = ty.name();
            let _ = write!(text, "{{(char *)g{name}, sizeof g{name}}}, ");
        }
        text + &format!("}};\nenum {{ VARIABLES = {} }};\n", types::VARIABLES.len())
    }

    /// Returns LLVM IR that reports each run-time check, and whether it holds, to the driver.
    fn with_counts(&self, text: &str) -> String {
        let (mut counted, mut function) = (String::new(), 0);
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once(" @f").filter(|_| line.starts_with("define")) {
                let number = rest.split('(').next().and_then(|number| number.parse::<u64>().ok());
                function = number.map_or(0, |number| number - self.first);
            }
            let condition = line.trim_start().strip_prefix("br i1 ").and_then(|rest| rest.split_once(','));
            if let Some((condition, _)) = condition.filter(|_| line.contains("!loomir.check ")) {
                let _ = writeln!(counted, "  call void @check_of_version(i64 {function}, i1 {condition})");
            }
            counted += line;
            counted += "\n";
        }
        counted + "declare void @check_of_version(i64, i1)\n"
    }

    fn judge(&self, tools: &Tools<'_>, tally: &mut Tally, found: &mut dyn FnMut(&str)) -> Result<(), String> {
        let rules = if self.is_strict { "-fstrict-aliasing" } else { "-fno-strict-aliasing" };
        tools.write("cases.h", &self.cases())?;
        let source = tools.write("cases.c", &self.text())?;
        let driver = tools.write("driver.c", DRIVER)?;
        let object = tools.path("driver.o");
        tools.clang.run("", &["-O1", "-w", "-c", &driver, "-o", &object])?;
        let program = tools.path("program");
        let options = [&SANITIZED[..], &["-w", rules, &source, &object, "-o", &program]].concat();
        tools.clang.run("", &options)?;
        let expected = tools.call(&["first"], "")?;
        let endings = |how: char| expected.lines().filter(|line| line.starts_with(how)).count() as u64;
        let (left, undefined) = (endings('L'), endings('U'));
        tally.calls += expected.lines().count() as u64 - undefined;
        tally.left += left;
        tally.undefined += undefined;
        let mut changed = vec![false; self.functions.len()];
        let mut failed = vec![false; self.functions.len()];
        for (level, flags) in LEVELS.iter().enumerate() {
            let options = [flags, &["-w", rules, "-S", "-emit-llvm", &source, "-o", "-"][..]].concat();
            let before = tools.clang.run("", &options)?;
            let (after, names) = transformed(&before, Edits::Fuse, Facts::Told, tally)?;
            tally.changed[level] += names.len() as u64;
            for name in names {
                let index = name.strip_prefix('f').and_then(|number| number.parse::<u64>().ok());
                let own = index.and_then(|index| changed.get_mut((index - self.first) as usize));
                own.into_iter().for_each(|own| *own = true);
            }
            let mut variants = vec![(flags[0].to_owned(), after)];
            let mut own = Tally::default();
            // One level of each batch traps where a fact does not hold, and counts checks. Another
            // one has all functions written anew.
            match (self.first / BATCH + level as u64) % LEVELS.len() as u64 {
                0 => {
                    let (text, _) = transformed(&before, Edits::Fuse, Facts::Checked, &mut own)?;
                    variants.push((format!("{} --check-metadata", flags[0]), self.with_counts(&text)));
                }
                1 => {
                    let (text, _) = transformed(&before, Edits::Optimize, Facts::Told, &mut own)?;
                    tally.edits += own.edits;
                    variants.push((format!("{} optimised", flags[0]), text));
                }
                _ => {
                    let (text, names) = transformed(&before, Edits::None, Facts::Told, &mut own)?;
                    tally.anew += names.len() as u64;
                    variants.push((format!("{} --regenerate=all", flags[0]), text));
                }
            }
            for (how, after) in variants {
                let said = tools.differences(&after, &object, &expected)?;
                for line in said.lines() {
                    if let Some(counts) = line.strip_prefix("versions ") {
                        tally.count_checks(counts);
                        continue;
                    }
                    let at = line.split(' ').nth(1).and_then(|at| at.parse::<usize>().ok());
                    let Some(at) = at.filter(|at| *at < failed.len()) else { return Err(said) };
                    if !std::mem::replace(&mut failed[at], true) {
                        // Clang may be wrong by itself.
                        let alone = tools.differences(&before, &object, &expected)?;
                        let whose = if alone.lines().any(|own| own == line) { "clang" } else { "Loomir" };
                        let index = self.first + at as u64;
                        found(&format!("{whose}: case {index}, {how}: {line}\n{}", self.functions[at].text));
                    }
                }
            }
        }
        tally.changed_at_all += changed.iter().filter(|own| **own).count() as u64;
        tally.failures += failed.iter().filter(|own| **own).count() as u64;
        Ok(())
    }
}

/// The edits of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edits {
    /// No edits. Functions with loops are written anew from their loops.
    None,
    /// Fusion and contraction, as `fuse` makes.
    Fuse,
    /// All edits that `optimize` makes.
    Optimize,
}

/// Returns a text after `fuse` or `optimize`, or written anew, with the names of changed functions.
fn transformed(
    text: &str,
    edits: Edits,
    facts: Facts,
    tally: &mut Tally,
) -> Result<(String, Vec<String>), String> {
    let checker = Checker::default();
    let (mut module, _) =
        loomir::parse_ll_in_part(&checker.ctx, text, "cases.ll").map_err(|errors| checker.lines(&errors))?;
    let is_anew = edits == Edits::None;
    let most = if is_anew { EditLimit::at_most(0) } else { EditLimit::default() };
    let options = FuseOptions { remarks: false, edits: most, ..FuseOptions::default() };
    let contraction = ContractionOptions::after(&options);
    let program = ProgramOptions {
        contraction: Some(&contraction),
        optimizes: edits == Edits::Optimize,
        regenerate_all: is_anew,
        facts,
        ..ProgramOptions::of(&options)
    };
    let done = loomir::fuse_program(&mut module, &program);
    tally.edits += done.edits;
    tally.loops += done.raised.loops as u64;
    tally.fused += done.fusion.fused as u64;
    let names = done.changed.iter().map(|name| checker.ctx.str(*name).to_owned()).collect();
    let text =
        loomir::lowering::splice(text, &module, &done.changed).map_err(|errors| checker.lines(&errors))?;
    Ok((text, names))
}

impl Tools<'_> {
    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, text: &str) -> Result<String, String> {
        let path = self.path(name);
        std::fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?;
        Ok(path)
    }

    /// Runs the program.
    fn call(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let input = std::fs::File::open(self.write("input", input)?).map_err(|error| error.to_string())?;
        let mut command = Command::new(self.path("program"));
        let output = command.args(arguments).stdin(Stdio::from(input)).output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("the program ended with {}", output.status)),
        }
    }

    /// Compiles a text and makes its calls. Returns a line for each that ends in another way.
    fn differences(&self, text: &str, driver: &str, expected: &str) -> Result<String, String> {
        let source = self.write("cases.ll", text)?;
        let program = self.path("program");
        let options = [&OPTIMIZED[..], &["-w", "-Wno-override-module", &source, driver, "-o", &program]];
        self.clang.run("", &options.concat())?;
        self.call(&[], expected)
    }
}
