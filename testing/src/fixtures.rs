//! Fixtures: files of MLIR, or of LLVM IR, with directives in comments. In LLVM IR they begin with
//! `;` instead of `//`.
//!
//! | line | means |
//! | --- | --- |
//! | `// RUN: fuse --alias=distinct` | run the command `loomir fuse --alias=distinct` on each program, with its own defaults |
//! | `// EDIT: --alias=distinct 0 fuse 1; 0 reverse` | make edits of the program's tree, if the judge approves: see [`scripts`](crate::scripts) |
//! | `// CALL: kernel iota zeros @0` | call the function before and after each run and edit; both must give the same |
//! | `// CALL: kernel` | the same with generated arguments, shared buffers included |
//! | `// PEER: --cse` | `mlir-opt` with these options prints the same as the runs of `opt`, or refuses the program too |
//! | `// DIFFERS: reason` | for this program it does not, and why |
//! | `// -----` | separates programs, which get the same runs; a `// CALL:` above the first one is for it alone |
//!
//! The outcome of a fixture is a text for a snapshot: for each run and program the printed output,
//! followed by what the command says on standard error, as comments. Lines in remarks are lines of
//! the file.
//!
//! The command runs in this process. `--remarks=lines` is added unless the line says another form,
//! and `opt` verifies after each pass. A fused program is fused once more, which must change
//! nothing.

use loomir::dialects::interp::Limits;
use loomir::ir::pass::PassRegistry;
use loomir::ir::text::{SPLIT_MARKER, attr_to_string, split_source, type_to_string};
use loomir::ir::{Block, Body, Context, Op, Registry, Trait};
use loomir::{AliasMode, CommandOutput, lowering};

use crate::behaviour::{Input, inputs, retain_distinct, same_behaviour};
use crate::check::Checker;
use crate::random::Random;
use crate::scripts::Script;

/// The dialects and passes of the command that fixtures run.
#[derive(Clone, Copy)]
pub struct Tool {
    /// Returns the dialects.
    pub registry: fn() -> Registry,
    /// Returns the passes.
    pub passes: fn() -> PassRegistry,
}

impl Default for Tool {
    /// Returns Loomir's own.
    fn default() -> Tool {
        Tool { registry: loomir::registry, passes: loomir::passes }
    }
}

/// A fixture's programs and directives.
struct Fixture {
    /// Command lines, each with its line in the file.
    runs: Vec<(String, u32)>,
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

impl Fixture {
    /// Returns a program that `mlir-opt` is asked about, if it is.
    fn peered(&self, program: &Source, printed: Option<String>) -> Option<Peered> {
        let options = self.peer.clone()?;
        Some(Peered { options, source: program.text.clone(), printed, differs: program.differs })
    }
}

/// The outcome of a fixture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The text for the snapshot.
    pub text: String,
    /// Every printed program in MLIR, for other tools to read.
    pub printed: Vec<String>,
    /// Every printed program in LLVM IR.
    pub printed_ll: Vec<String>,
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
    /// The program as Loomir prints it when transformed. `None`: Loomir refuses to.
    pub printed: Option<String>,
    /// True if the fixture states a reason why `mlir-opt` prints something else.
    pub differs: bool,
}

impl Peered {
    /// Compares with the text that `mlir-opt` printed, or `None` if it refuses the program. Names,
    /// the order of constants at the start of a block, and what is left of a schedule do not count.
    ///
    /// # Errors
    /// If the two are equal and should not be, or the other way round.
    pub fn compare(&self, theirs: Option<&str>) -> Result<(), String> {
        let checker = Checker::default();
        let settled = |text: &str| {
            let mut module = checker.read(text).map_err(|errors| checker.lines(&errors))?;
            module.for_each_body(&mut sort_constants);
            erase_schedule(&mut module);
            Ok::<String, String>(loomir::print(&module))
        };
        let theirs = theirs.map(settled).transpose()?;
        let ours = self.printed.as_deref().map(settled).transpose()?;
        let shown = |text: &Option<String>| text.clone().unwrap_or("an error".to_owned());
        let (program, options) = (self.source.trim(), &self.options);
        match (theirs == ours, self.differs) {
            (true, false) | (false, true) => Ok(()),
            (false, false) => {
                let (theirs, ours) = (shown(&theirs), shown(&ours));
                Err(format!("mlir-opt {options} prints\n{theirs}\nand not\n{ours}\nfor\n{program}"))
            }
            (true, true) => Err(format!("mlir-opt {options} prints the same:\n{}", shown(&theirs))),
        }
    }
}

/// Erases what is left of a schedule that was erased: an empty module, and an attribute.
fn erase_schedule(module: &mut Body) {
    const MARK: &str = "transform.with_named_sequence";
    for op in module.all_ops().collect::<Vec<Op>>() {
        let inner = module.nested(op).filter(|inner| inner.attr(inner.root(), MARK).is_some());
        if inner.is_some_and(|inner| inner.all_ops().next().is_none()) {
            module.erase(op);
        }
    }
    let root = module.root();
    module.remove_attr(root, MARK);
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

/// Runs the directives of a fixture with Loomir's own command.
///
/// # Errors
/// If a directive is wrong, or a program behaves differently before and after.
pub fn run(source: &str) -> Result<Outcome, String> {
    Tool::default().run(source)
}

impl Tool {
    /// Runs the directives of a fixture.
    ///
    /// # Errors
    /// As for [`run`].
    pub fn run(&self, source: &str) -> Result<Outcome, String> {
        let fixture = read(source)?;
        let checker = Checker { ctx: Context::new((self.registry)()), passes: (self.passes)() };
        let mut outcome = Outcome::default();
        for (line, number) in &fixture.runs {
            outcome.text += &format!("// RUN: {line}\n");
            for (i, program) in fixture.programs.iter().enumerate() {
                if i > 0 {
                    outcome.text += "// -----\n";
                }
                let done = self.command(line, &program.text);
                if done.status == 2 {
                    return Err(format!("line {number}: can't run '{line}': {}", done.err));
                }
                // What a command prints instead of a program stands alone.
                match prints_program(line) {
                    true => outcome.text += &(done.out.clone() + &as_comments(&unnamed(&done.err))),
                    false => outcome.text += &unnamed(&(done.out.clone() + &done.err)),
                }
                if done.status != 0 && prints_program(line) {
                    outcome.peered.extend(fixture.peered(program, None));
                }
                if done.status == 0 && prints_program(line) {
                    self.accept(&checker, &fixture, line, program, done.out, &mut outcome)
                        .map_err(|error| format!("{line}: {error}"))?;
                }
            }
        }
        for (i, program) in fixture.programs.iter().filter(|program| !program.edits.is_empty()).enumerate() {
            if i > 0 {
                outcome.text += "// -----\n";
            }
            edited(&checker, program, &mut outcome)?;
        }
        Ok(outcome)
    }

    /// Runs a command line in this process.
    fn command(&self, line: &str, input: &str) -> CommandOutput {
        let mut line = line.to_owned();
        if !line.contains("--remarks") && ["fuse", "opt", "explain"].contains(&name(&line)) {
            line += " --remarks=lines";
        }
        if name(&line) == "opt" {
            line += " --verify-each --verify-analyses";
        }
        let mut done = loomir::run_command((self.registry)(), (self.passes)(), &line, input);
        // `opt` ends its output with an empty line, as `mlir-opt` does. LLVM IR keeps the lines
        // before a program.
        done.out = done.out.trim_end().trim_start_matches('\n').to_owned();
        if !done.out.is_empty() {
            done.out.push('\n');
        }
        done
    }

    /// Checks a printed program: it reads back, is settled if it was fused, and computes the same.
    fn accept(
        &self,
        checker: &Checker,
        fixture: &Fixture,
        line: &str,
        program: &Source,
        printed: String,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        let is_fused = name(line) == "fuse";
        if is_fused {
            let again = self.command(line, &printed).out;
            if again != printed {
                return Err(format!("fused once more, it is\n{again}\nand not\n{printed}"));
            }
        }
        let after = checker.read(&printed).map_err(|errors| checker.lines(&errors))?;
        let are_distinct = is_fused && line.contains("--alias=distinct");
        compare(checker, are_distinct, program, &after)?;
        if lowering::is_ll(&printed) {
            outcome.printed_ll.push(printed);
            return Ok(());
        }
        checker.assert_reads_back(&printed);
        if !is_fused {
            outcome.peered.extend(fixture.peered(program, Some(printed.clone())));
        }
        outcome.printed.push(printed);
        Ok(())
    }
}

/// Returns lines about places without the name of the input.
fn unnamed(lines: &str) -> String {
    lines.replace("<stdin>:", "")
}

/// Returns the name of a command line's subcommand.
fn name(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// True if the command prints a program on standard output.
fn prints_program(line: &str) -> bool {
    let emits = line.split_once("--emit=").map(|(_, form)| form.split_whitespace().next());
    let is_program = emits.is_none_or(|form| matches!(form, Some("mlir" | "generic" | "ll")));
    let is_redirected = line.split_whitespace().any(|word| word == "-o");
    ["fuse", "opt"].contains(&name(line)) && is_program && !is_redirected
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
                fixture.runs.push((words.trim().to_owned(), number));
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
    let has_edits = fixture.programs.iter().any(|program| !program.edits.is_empty());
    match fixture.runs.is_empty() && !has_edits {
        true => Err("no line says '// RUN: …' or '// EDIT: …'".into()),
        false => Ok(fixture),
    }
}
