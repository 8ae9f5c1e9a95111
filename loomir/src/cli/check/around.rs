//! A check around passes: Loomir's own one by one, or those of another compiler as a whole.

use crate::ir::pass::PassInstrumentor;
use crate::ir::{Body, Context};
use clap::ArgMatches;

use super::super::input::Input;
use super::super::tool;
use super::programs::Program;
use super::{DIFFERENT, Failure, Tools, finish, input, report};

/// Checks what `run` does to a program: `passes`, `mlir-opt` or `opt`.
pub(super) fn main(tools: &Tools, matches: &ArgMatches, run: &str) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let words = matches.get_one::<String>(run).map_or("", String::as_str);
    match run {
        "passes" => around_each(tools, source, words, matches),
        _ => around_tool(tools, source, (run, words), matches),
    }
}

/// Checks around each pass of a pipeline, up to the first that goes wrong.
fn around_each(tools: &Tools, source: Input, pipeline: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let ctx = &tools.ctx;
    let mut before = Program::read(ctx, source, matches)?;
    let read = tools.passes.parse_for(pipeline, &before.module);
    let steps = read.map_err(|error| Failure::usage(error.to_text(pipeline)))?.into_steps();
    let count = steps.len();
    let mut all = report::Report::default();
    let mut worst = 0;
    for (number, (name, step)) in (1..).zip(steps) {
        let mut module = before.input.parse(ctx, matches)?;
        let done = step.run(&mut module, &PassInstrumentor::new());
        if !done.succeeded() {
            return Err(before.input.failure(ctx, &done.diagnostics));
        }
        let title = format!("pass {number} of {count}, {name}");
        let after = printed(ctx, &module, format!("<after {name}>"), &before, matches)?;
        let (report, status) = report::of(tools, &before, &after, matches, Some(title))?;
        all.append(report);
        worst = worse(worst, status);
        if status == DIFFERENT || status == 1 {
            break;
        }
        before = after;
    }
    tools.console.print(&all.text(matches))?;
    finish(worst)
}

/// Returns the status that says more of what went wrong.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |status: u8| [0, 4, 1, 3].iter().position(|own| *own == status).unwrap_or(4);
    if rank(other) > rank(one) { other } else { one }
}

/// Returns what a program has become, read from its text as a user would.
fn printed(
    ctx: &Context,
    module: &Body,
    name: String,
    before: &Program,
    matches: &ArgMatches,
) -> Result<Program, Failure> {
    let input = Input { name, text: crate::print(module), form: before.input.form };
    Program::read(ctx, input, matches)
}

/// Checks around another compiler.
fn around_tool(
    tools: &Tools,
    source: Input,
    (name, words): (&str, &str),
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let (ctx, form) = (&tools.ctx, source.form);
    let mut before = Program::read(ctx, source, matches)?;
    let is_ll = crate::lowering::is_ll(&before.input.text);
    let text = match (name, is_ll) {
        ("opt", false) => {
            let mut module = before.input.parse(ctx, matches)?;
            let failure = |diagnostics| before.input.failure(ctx, &diagnostics);
            crate::lowering::lower_to_llvm(&mut module).map_err(failure)?;
            let text = crate::lowering::to_ll(&module).map_err(failure)?;
            let name = format!("<{}, lowered>", before.input.name);
            before = Program::read(ctx, Input { name, text, form }, matches)?;
            tool::run("opt", &format!("-S {words}"), before.input.text.as_bytes())?
        }
        ("opt", true) => tool::run("opt", &format!("-S {words}"), before.input.text.as_bytes())?,
        (_, true) => {
            return Err(Failure::input(format!(
                "'{}' is LLVM IR, which mlir-opt does not read\nhelp: check around LLVM's tool: --opt='ARGS'",
                before.input.name
            )));
        }
        (_, false) => tool::run("mlir-opt", words, before.input.text.as_bytes())?,
    };
    let after = Program::read(ctx, Input { name: format!("<after {name}>"), text, form }, matches)?;
    let (report, status) = report::of(tools, &before, &after, matches, None)?;
    tools.console.print(&report.text(matches))?;
    finish(status)
}
