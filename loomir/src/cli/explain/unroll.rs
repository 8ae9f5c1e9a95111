//! `loomir explain --unroll`: the way to each decision about peeling, unrolling and jamming.
//!
//! The passes `loop-unroll-and-jam` and `loop-unroll` run on a copy, and their remarks are shown
//! loop by loop. Functions of other dialects are lowered before, and their loops rotated: the
//! passes decide about graphs.

use std::fmt::Write;

use clap::{Arg, ArgMatches};

use crate::ir::diagnostics::{Arg as Said, Remark};
use crate::ir::pass::PassInstrumentor;
use crate::ir::{Body, Context, Diagnostic, Diagnostics, Loc};

use super::super::console::Stream;
use super::super::flags::flag;
use super::super::input::Input;
use super::super::{Failure, Tools, remarks};

const DECISION: &str = crate::transforms::unrolling::explanation::NAME;

/// The arguments of the command.
pub(super) fn args() -> [Arg; 2] {
    [
        flag("unroll", "Print each step of the decision to peel, unroll or jam a loop, with its figures"),
        Arg::new("unroll-options")
            .long("unroll-options")
            .value_name("OPTIONS")
            .default_value("")
            .requires("unroll")
            .help("The options of 'loop-unroll', as in 'unroll-runtime=true unroll-threshold=300'"),
    ]
}

/// Explains the decisions about the loops of a module.
pub(super) fn main(
    tools: &Tools,
    matches: &ArgMatches,
    source: &Input,
    module: &mut Body,
) -> Result<(), Failure> {
    let ctx = &tools.ctx;
    let options = matches.get_one::<String>("unroll-options").map_or("", String::as_str);
    let lower = if has_other_functions(module) { "lower-to-llvm,llvm.func(loop-rotate)," } else { "" };
    let passes = format!("loop-unroll-and-jam{{explain=true}},loop-unroll{{explain=true {options}}}");
    let pipeline = format!("builtin.module({lower}llvm.func({passes}))");
    let found = run(&pipeline, module).map_err(|errors| source.failure(ctx, &errors))?;
    if remarks::as_data(matches) {
        return tools.console.print(&remarks::say(ctx, &found, source, Stream::Out));
    }
    let mut text = String::new();
    let decisions = found.iter().filter_map(|own| Some((own, own.remark.as_ref()?)));
    for (diagnostic, remark) in decisions.filter(|(_, remark)| remark.name == DECISION) {
        explain(&mut text, ctx, diagnostic.loc, remark);
    }
    if text.is_empty() {
        text.push_str("no loop to decide about\n");
    }
    tools.console.print(&text)
}

/// True if a module has functions that are no graphs of the `llvm` dialect.
fn has_other_functions(module: &Body) -> bool {
    let mut ops = module.all_ops();
    ops.any(|op| module.op_ref(op).name() == "func.func")
}

fn run(pipeline: &str, module: &mut Body) -> Result<Diagnostics, Diagnostics> {
    let read = crate::passes().parse_for(pipeline, module);
    let wrong = |text: String| Diagnostics::from(Diagnostic::error(Loc::UNKNOWN, text));
    let passes = read.map_err(|error| wrong(error.to_text(pipeline)))?;
    let report = passes.run(module, &PassInstrumentor::new());
    if report.succeeded() { Ok(report.diagnostics) } else { Err(report.diagnostics) }
}

/// Writes one decision: the loop, the steps in their order, and the outcome.
fn explain(text: &mut String, ctx: &Context, loc: Loc, remark: &Remark) {
    let place = match loc.file_line_col(ctx) {
        Some((file, line, column)) => format!("{file}:{line}:{column}: "),
        None => String::new(),
    };
    let pass = remark.pass;
    let _ = writeln!(text, "{place}loop of @{}, {pass}", remark.function);
    let arg = |name: &str| remark.args.iter().find(|(own, _)| *own == name).map(|(_, arg)| arg);
    let steps = match arg("steps") {
        Some(Said::List(steps)) => &steps[..],
        _ => &[],
    };
    let word = |step: &Said, name: &str| match step {
        Said::Fields(fields) => fields.iter().find_map(|(own, arg)| match arg {
            Said::Text(text) if *own == name => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    };
    for (number, step) in (1..).zip(steps) {
        let [name, answer] = ["step", "answer"].map(|name| word(step, name).unwrap_or_default());
        let _ = writeln!(text, "  {number}. {name:<12} {answer}");
    }
    if let Some(Said::Text(outcome)) = arg("outcome") {
        let _ = writeln!(text, "  => {outcome}");
    }
    text.push('\n');
}
