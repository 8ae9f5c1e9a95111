//! Fixtures: files of MLIR, or of LLVM IR, with directives in comments. In LLVM IR they begin with
//! `;` instead of `//`.
//!
//! | line | means |
//! | --- | --- |
//! | `// RUN: fuse --alias=distinct --dependence=flat` | fuse all loops, as the command does and with its defaults |
//! | `// RUN: explain` | print why loops do not count and accesses are not affine |
//! | `// RUN: opt PIPELINE` | run a pipeline |
//! | `// RUN: check` | read and verify only |
//! | `// RUN: print loops` | print the loops of functions of the `llvm` dialect, as `opt` does; or `cycles`, `domtree`, `postdomtree`, `scalar-evolution` |
//! | `// RUN: print dependences --alias=distinct --dependence=flat` | print the dependences of each function, as the pass does |
//! | `// RUN: edit` | make the edits of each `// EDIT:` line, each line by itself, if the judge approves |
//! | `// EDIT: --alias=distinct 0 fuse 1; 0 reverse` | edits of the program's tree: see [`scripts`](crate::scripts) |
//! | `// CALL: kernel iota zeros @0` | after each run: call the function before and after; both must give the same |
//! | `// PEER: --cse` | `mlir-opt` with these options prints the same as the `opt` runs |
//! | `// DIFFERS: reason` | for this program it does not, and why |
//! | `// CALL: kernel` | the same with generated arguments, shared buffers included |
//! | `// -----` | separates programs, which get the same runs; a `// CALL:` above the first one is for it alone |
//!
//! The outcome of a fixture is a text for a snapshot: for each run and program the printed output,
//! followed by remarks or errors as comments. Lines in remarks are lines of the file.

use loomir::dialects::interp::Limits;
use loomir::ir::text::{SPLIT_MARKER, attr_to_string, split_source, type_to_string};
use loomir::ir::{Block, Body, Diagnostics, Op, Trait};
use loomir::lowering::cfg::{self, print::Printed};
use loomir::transforms::access::Analyses;
use loomir::transforms::listing;
use loomir::{AliasMode, CostSource, FuseOptions};

use crate::behaviour::{Input, inputs, retain_distinct, same_behaviour};
use crate::check::Checker;
use crate::random::Random;
use crate::scripts::Script;

/// A directive for the programs of a fixture.
#[derive(Clone, Debug)]
enum Command {
    Check,
    /// Print remarks on loops.
    Explain,
    /// Fuse with these options.
    Fuse(Box<FuseOptions>),
    Opt(String),
    /// Make the edits of the `// EDIT:` lines.
    Edit,
    Print(Printed),
    /// Print the dependences under this alias assumption and with these analyses.
    Dependences(AliasMode, Analyses),
}

/// A fixture's programs and directives.
struct Fixture {
    runs: Vec<(String, Command)>,
    /// Options of `mlir-opt`, which must then print the same.
    peer: Option<String>,
    programs: Vec<Source>,
}

/// One program.
struct Source {
    /// The text, behind as many empty lines as there are lines before it in the file.
    text: String,
    /// The functions and arguments. Without arguments, they are generated.
    calls: Vec<(String, Input)>,
    /// Lines of edits.
    edits: Vec<(String, Script)>,
    /// True if `mlir-opt` prints something else, for a reason that the fixture states.
    differs: bool,
}

/// The outcome of a fixture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The text for the snapshot.
    pub text: String,
    /// Every program printed so far, for other tools to read.
    pub printed: Vec<String>,
    /// Programs to be transformed by `mlir-opt` too.
    pub peered: Vec<Peered>,
}

/// A program that `mlir-opt` transforms too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peered {
    /// The options of `mlir-opt`.
    pub options: String,
    /// The program.
    pub source: String,
    /// The program as Loomir prints it when transformed.
    pub printed: String,
    /// True if the fixture states a reason why `mlir-opt` prints something else.
    pub differs: bool,
}

impl Peered {
    /// Compares with the text that `mlir-opt` printed, apart from names and the order of constants
    /// at the start of a block.
    ///
    /// # Errors
    /// If the two are equal and should not be, or the other way round.
    pub fn compare(&self, theirs: &str) -> Result<(), String> {
        let checker = Checker::default();
        let theirs = checker.read(theirs).map_err(|errors| checker.lines(&errors))?;
        let ours = checker.read(&self.printed).map_err(|errors| checker.lines(&errors))?;
        let [ours, theirs] = [ours, theirs].map(|mut module| {
            module.for_each_body(&mut sort_constants);
            loomir::print(&module)
        });
        match (theirs == ours, self.differs) {
            (true, false) | (false, true) => Ok(()),
            (false, false) => Err(format!("mlir-opt {} prints\n{theirs}\nand not\n{ours}", self.options)),
            (true, true) => Err(format!("mlir-opt {} prints the same:\n{theirs}", self.options)),
        }
    }
}

/// Sorts the constants at the start of each block by their text. Their order tells where a
/// canonicalizer found them.
pub fn sort_constants(body: &mut Body) {
    let ctx = body.ctx().clone();
    let blocks: Vec<Block> = body.all_blocks().collect();
    for block in blocks {
        let is_constant = |op: &Op| body.has_trait(*op, Trait::ConstantLike);
        let mut constants: Vec<Op> = body.ops(block).take_while(is_constant).collect();
        let Some(next) = constants.last().and_then(|last| body.next_op(*last)) else { continue };
        constants.sort_by_key(|op| {
            let value = body.attr(*op, "value").map(|attr| attr_to_string(&ctx, attr));
            (value, type_to_string(&ctx, body.value_type(body.result(*op, 0))))
        });
        constants.into_iter().for_each(|op| body.move_before(op, next));
    }
}

/// Runs the directives of a fixture.
///
/// # Errors
/// If a directive is wrong, or a program behaves differently before and after.
pub fn run(source: &str) -> Result<Outcome, String> {
    let fixture = read(source)?;
    let checker = Checker::default();
    let mut outcome = Outcome { text: String::new(), printed: Vec::new(), peered: Vec::new() };
    for (title, command) in &fixture.runs {
        outcome.text += &format!("// RUN: {title}\n");
        for (i, program) in fixture.programs.iter().enumerate() {
            if i > 0 {
                outcome.text += "// -----\n";
            }
            if let Command::Print(what) = command {
                let module = checker.read(&program.text).map_err(|errors| checker.lines(&errors))?;
                let printed = cfg::print::print(&module, *what);
                outcome.text += &printed.map_err(|errors| checker.lines(&errors))?;
                continue;
            }
            if let Command::Dependences(alias, analyses) = command {
                let mut module =
                    checker.read(&program.text).map_err(|errors| as_comments(&checker.lines(&errors)))?;
                for function in module.nested_in_order() {
                    let name = function.attr(function.root(), "sym_name");
                    let name = name.and_then(|name| name.as_str(function.ctx())).unwrap_or_default();
                    let text = listing::print(function, *alias, analyses);
                    outcome.text += &format!("Dependences of @{name}:\n{text}");
                }
                continue;
            }
            if let Command::Explain = command {
                let mut module = checker.read(&program.text).map_err(|errors| checker.lines(&errors))?;
                let explained = loomir::explain(&mut module, &FuseOptions::default());
                outcome.text += &as_comments(&checker.lines(&explained.remarks()));
                continue;
            }
            if let Command::Edit = command {
                edited(&checker, program, &mut outcome)?;
                continue;
            }
            match transformed(&checker, command, &program.text) {
                Ok((module, remarks)) => {
                    let printed = loomir::print(&module);
                    checker.assert_reads_back(&printed);
                    outcome.text += &printed;
                    outcome.text += &as_comments(&checker.lines(&remarks));
                    is_settled(&checker, command, &printed).map_err(|e| format!("{title}: {e}"))?;
                    if let (Command::Opt(_), Some(options)) = (command, &fixture.peer) {
                        outcome.peered.push(Peered {
                            options: options.clone(),
                            source: program.text.clone(),
                            printed: printed.clone(),
                            differs: program.differs,
                        });
                    }
                    outcome.printed.push(printed);
                    let are_distinct =
                        matches!(command, Command::Fuse(own) if own.alias == AliasMode::Distinct);
                    compare(&checker, are_distinct, program, &module).map_err(|e| format!("{title}: {e}"))?;
                }
                Err(errors) => outcome.text += &as_comments(&checker.lines(&errors)),
            }
        }
    }
    Ok(outcome)
}

/// Makes the edits of each line of a program.
fn edited(checker: &Checker, program: &Source, outcome: &mut Outcome) -> Result<(), String> {
    for (title, script) in &program.edits {
        outcome.text += &format!("// EDIT: {title}\n");
        let mut module = checker.read(&program.text).map_err(|errors| checker.lines(&errors))?;
        let before = loomir::print(&module);
        let (tree, said) = script.apply(&mut module);
        outcome.text += &tree;
        outcome.text += &as_comments(&checker.lines(&said));
        let errors = loomir::ir::verifier::verify(&module);
        if errors.has_errors() {
            return Err(format!("{title}: {}", checker.lines(&errors)));
        }
        let printed = loomir::print(&module);
        if !said.is_empty() {
            if printed != before {
                return Err(format!("{title}: what is refused changes the program:\n{printed}"));
            }
            continue;
        }
        checker.assert_reads_back(&printed);
        outcome.text += &printed;
        outcome.printed.push(printed);
        let are_distinct = script.alias == AliasMode::Distinct;
        compare(checker, are_distinct, program, &module).map_err(|error| format!("{title}: {error}"))?;
    }
    Ok(())
}

fn transformed(checker: &Checker, command: &Command, text: &str) -> Result<(Body, Diagnostics), Diagnostics> {
    match command {
        Command::Check | Command::Explain | Command::Edit | Command::Print(_) | Command::Dependences(..) => {
            Ok((checker.read(text)?, Diagnostics::new()))
        }
        Command::Opt(pipeline) => checker.transformed(pipeline, text),
        Command::Fuse(options) => {
            let mut module = checker.read(text)?;
            let report = loomir::fuse(&mut module, options);
            let errors = loomir::ir::verifier::verify(&module);
            if errors.has_errors() { Err(errors) } else { Ok((module, report.remarks)) }
        }
    }
}

/// Checks that fusing the fused program once more changes nothing.
fn is_settled(checker: &Checker, command: &Command, printed: &str) -> Result<(), String> {
    let Command::Fuse(_) = command else { return Ok(()) };
    let again = transformed(checker, command, printed).map_err(|errors| checker.lines(&errors))?;
    let again = loomir::print(&again.0);
    if again == *printed {
        Ok(())
    } else {
        Err(format!("fused once more, it is\n{again}\nand not\n{printed}"))
    }
}

/// Runs the calls of a program before and after. If arguments are distinct, no two are one buffer.
fn compare(checker: &Checker, are_distinct: bool, program: &Source, after: &Body) -> Result<(), String> {
    let before = checker.read(&program.text).map_err(|errors| checker.lines(&errors))?;
    for (entry, arguments) in &program.calls {
        let mut random = Random::new(1);
        let mut generated =
            || inputs(&before, entry, &mut random).ok_or(format!("there is no function '{entry}'"));
        let mut calls = if arguments.is_empty() { generated()? } else { vec![arguments.clone()] };
        if are_distinct {
            retain_distinct(&mut calls);
        }
        let agreement = same_behaviour(&before, after, entry, &calls, &Limits::default())?;
        if agreement.compared == 0 && !calls.is_empty() {
            return Err(format!("no call of '{entry}' is defined"));
        }
    }
    Ok(())
}

fn as_comments(lines: &str) -> String {
    lines.lines().map(|line| format!("// {line}\n")).collect()
}

fn read(source: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture { runs: Vec::new(), peer: None, programs: Vec::new() };
    let source = source.replace("\n; -----", "\n// -----");
    for chunk in split_source(&source, SPLIT_MARKER) {
        let (mut calls, mut edits, mut differs) = (Vec::new(), Vec::new(), false);
        for (number, line) in (chunk.first_line..).zip(chunk.text.lines()) {
            let line = &line.strip_prefix("; ").map_or(line.to_owned(), |rest| format!("// {rest}"));
            if let Some(words) = line.strip_prefix("// RUN: ") {
                let command = command(words.trim()).ok_or(format!("line {number}: can't run '{words}'"))?;
                fixture.runs.push((words.trim().to_owned(), command));
            } else if let Some(options) = line.strip_prefix("// PEER: ") {
                fixture.peer = Some(options.trim().to_owned());
            } else if line.starts_with("// DIFFERS: ") {
                differs = true;
            } else if let Some(words) = line.strip_prefix("// EDIT: ") {
                let script = Script::parse(words).ok_or(format!("line {number}: can't edit '{words}'"))?;
                edits.push((words.trim().to_owned(), script));
            } else if let Some(words) = line.strip_prefix("// CALL: ") {
                let mut arguments = words.split_whitespace().map(str::to_owned);
                calls.extend(arguments.next().map(|entry| (entry, arguments.collect())));
            }
        }
        let text = "\n".repeat(chunk.first_line as usize - 1) + chunk.text;
        fixture.programs.push(Source { text, calls, edits, differs });
    }
    let makes_edits = fixture.runs.iter().any(|(_, command)| matches!(command, Command::Edit));
    let has_edits = fixture.programs.iter().any(|program| !program.edits.is_empty());
    match (fixture.runs.is_empty(), makes_edits == has_edits) {
        (true, _) => Err("no line says '// RUN: …'".into()),
        (_, false) => Err("of '// RUN: edit' and '// EDIT: …' there is only one".into()),
        _ => Ok(fixture),
    }
}

fn command(words: &str) -> Option<Command> {
    let (name, rest) = words.split_once(' ').unwrap_or((words, ""));
    match (name, rest.trim()) {
        ("check", "") => Some(Command::Check),
        ("edit", "") => Some(Command::Edit),
        ("explain", "") => Some(Command::Explain),
        ("fuse", options) => {
            let mut fuse = FuseOptions::default();
            for option in options.split_whitespace() {
                match option.strip_prefix("--")?.split_once('=')? {
                    ("alias", mode) => fuse.alias = mode.parse().ok()?,
                    ("max-tests", most) => fuse.max_tests = most.parse().ok()?,
                    ("fusion-profitability", mode) => fuse.profitability = mode.parse().ok()?,
                    ("cost", source) => fuse.cost = source.parse::<CostSource>().ok()?.cost(),
                    (interface, name) => fuse.analyses.choose(interface, name).ok()?,
                }
            }
            Some(Command::Fuse(Box::new(fuse)))
        }
        ("print", "loops") => Some(Command::Print(Printed::Loops)),
        ("print", "cycles") => Some(Command::Print(Printed::Cycles)),
        ("print", "scalar-evolution") => Some(Command::Print(Printed::ScalarEvolution)),
        ("print", "domtree") => Some(Command::Print(Printed::Dominators)),
        ("print", "postdomtree") => Some(Command::Print(Printed::PostDominators)),
        ("print", options) => {
            let (mut alias, mut analyses) = (AliasMode::May, Analyses::default());
            let mut options = options.split_whitespace();
            options.next().filter(|what| *what == "dependences")?;
            for option in options {
                match option.strip_prefix("--")?.split_once('=')? {
                    ("alias", mode) => alias = mode.parse().ok()?,
                    (interface, name) => analyses.choose(interface, name).ok()?,
                }
            }
            Some(Command::Dependences(alias, analyses))
        }
        ("opt", pipeline) => Some(Command::Opt(pipeline.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn what_would_test_nothing_is_refused() {
        let program = "func.func @kernel() { return }\n";
        let failed = |lines: &str| run(&format!("{lines}{program}")).err().unwrap_or_default();
        assert_eq!(failed("// RUN: check\n"), "");
        assert_eq!(failed(""), "no line says '// RUN: …'");
        let one = "of '// RUN: edit' and '// EDIT: …' there is only one";
        assert_eq!(failed("// RUN: edit\n"), one);
        assert_eq!(failed("// RUN: check\n// EDIT: 0 reverse\n"), one);
        assert_eq!(failed("// RUN: edit\n// EDIT: 0 turn\n"), "line 2: can't edit '0 turn'");
        assert_eq!(failed("// RUN: edit\n// EDIT: 0 reverse\n"), "");
    }
}
