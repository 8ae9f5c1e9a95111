//! `loomir opt`: runs passes, as `mlir-opt` and `opt` do.

use std::fmt::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use loomir::ir::Body;
use loomir::ir::pass::{
    PassInstrumentor, PassManager, PassRegistry, PassSelection, PrintIr, Record, Report, VerifyEach,
};
use loomir::ir::text::PrintOptions;

use super::{Failure, input, output, render};

pub(super) fn command() -> Command {
    let mut command = Command::new("opt")
        .about("Runs passes and prints the program")
        .arg(input::arg())
        .arg(output::arg())
        .arg(Arg::new("pass-pipeline").long("pass-pipeline").value_name("PIPELINE").help(
            "What to run, as text: builtin.module(func.func(canonicalize,loop-fusion{alias=distinct}))",
        ))
        .arg(
            Arg::new("emit")
                .long("emit")
                .value_name("FORM")
                .value_parser(["mlir", "generic", "ll"])
                .default_value("mlir")
                .help("What to print: MLIR, its generic form, or LLVM IR (lowering what is left)"),
        )
        .arg(flag("print-ir-after-all", "Print the program after each pass, on standard error"))
        .arg(flag("verify-each", "Verify after each pass"))
        .arg(flag("timing", "Print how long each pass took, on standard error"))
        .arg(flag("stats", "Print the counts of each pass, on standard error"))
        .arg(flag("mlir-print-op-generic", "The same as --emit=generic"))
        .arg(flag("mlir-print-debuginfo", "Print locations"))
        .arg(
            Arg::new("remarks")
                .long("remarks")
                .value_name("FORM")
                .value_parser(["text", "none"])
                .default_value("text")
                .help("How to print remarks, on standard error"),
        );
    let mut seen: Vec<&str> = Vec::new();
    for info in loomir::passes().infos() {
        if !seen.contains(&info.name) {
            seen.push(info.name);
            command = command.arg(
                Arg::new(info.name)
                    .long(info.name)
                    .value_name("OPTIONS")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("")
                    .action(ArgAction::Append)
                    .help(info.summary)
                    .help_heading("Passes, in the order given"),
            );
        }
    }
    command
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(super) fn main(matches: &ArgMatches) -> Result<(), Failure> {
    let registry = loomir::passes();
    let manager = pipeline(matches, &registry)?;
    let source = input::read(matches)?;
    let ctx = loomir::context();
    let mut module = source.parse(&ctx)?;
    let mut how = PassInstrumentor::new();
    if matches.get_flag("print-ir-after-all") {
        how = how.with(PrintIr { after: PassSelection::All, ..PrintIr::default() });
    }
    let verify_each = matches.get_flag("verify-each");
    if verify_each {
        how = how.with(VerifyEach);
    }
    let report = manager.run(&mut module, &how);
    output::to_stderr(&logs(matches, &report));
    if !report.succeeded() {
        return Err(source.failure(&ctx, &report.diagnostics));
    }
    if matches.get_one::<String>("remarks").is_none_or(|form| form == "text") {
        output::to_stderr(&render::render(&ctx, &report.diagnostics, &source));
    }
    if !verify_each {
        let errors = loomir::ir::verifier::verify(&module);
        if errors.has_errors() {
            return Err(source.failure(&ctx, &errors));
        }
    }
    let text = emit(matches, &mut module).map_err(|errors| source.failure(&ctx, &errors))?;
    output::write(matches, &text)
}

/// The pipeline as text, or the passes that are given as flags, in their order.
fn pipeline(matches: &ArgMatches, registry: &PassRegistry) -> Result<PassManager, Failure> {
    let mut flags: Vec<(usize, &str, &str)> = Vec::new();
    for info in registry.infos() {
        if flags.iter().any(|(_, name, _)| *name == info.name) {
            continue;
        }
        if let (Some(indices), Some(values)) =
            (matches.indices_of(info.name), matches.get_many::<String>(info.name))
        {
            flags.extend(indices.zip(values).map(|(at, value)| (at, info.name, value.as_str())));
        }
    }
    flags.sort_by_key(|(at, ..)| *at);
    let text = match matches.get_one::<String>("pass-pipeline") {
        Some(_) if !flags.is_empty() => {
            return Err(Failure::usage("--pass-pipeline and passes as flags exclude each other"));
        }
        Some(text) => text.clone(),
        None => {
            let passes: Vec<String> =
                flags.iter().map(|(_, name, options)| element(registry, name, options)).collect();
            format!("builtin.module({})", passes.join(","))
        }
    };
    registry.parse(&text).map_err(|error| Failure::usage(error.to_text(&text)))
}

/// A pass given as a flag, nested where it is anchored.
fn element(registry: &PassRegistry, name: &str, options: &str) -> String {
    let pass = if options.is_empty() { name.to_owned() } else { format!("{name}{{{options}}}") };
    match registry.get(name, "builtin.module") {
        Some(_) => pass,
        None => match registry.infos().iter().find(|info| info.name == name).and_then(|info| info.anchor) {
            Some(anchor) => format!("{anchor}({pass})"),
            None => pass,
        },
    }
}

fn logs(matches: &ArgMatches, report: &Report) -> String {
    let mut text = String::new();
    for (title, dump) in &report.dumps {
        let _ = writeln!(text, "// -----// {title} //----- //\n{dump}");
    }
    let mut pending: Vec<&Record> = report.records.iter().rev().collect();
    while let Some(record) = pending.pop() {
        if matches.get_flag("stats") {
            for (name, count) in &record.statistics {
                let _ = writeln!(text, "{count:>8}  {}  {name}", record.name);
            }
        }
        if matches.get_flag("timing") {
            let _ = writeln!(text, "{:>10.6} s  {}", record.wall.as_secs_f64(), record.name);
        }
        pending.extend(record.children.iter().rev());
    }
    text
}

fn emit(matches: &ArgMatches, module: &mut Body) -> Result<String, loomir::ir::Diagnostics> {
    let form = matches.get_one::<String>("emit").map_or("mlir", String::as_str);
    if form == "ll" {
        loomir::lowering::lower_to_llvm(module)?;
        return loomir::lowering::to_ll(module);
    }
    let generic = form == "generic" || matches.get_flag("mlir-print-op-generic");
    let options = PrintOptions {
        generic,
        debug_info: matches.get_flag("mlir-print-debuginfo"),
        ..PrintOptions::default()
    };
    Ok(loomir::ir::text::print(module, &options))
}
