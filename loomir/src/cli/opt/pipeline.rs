//! Which passes to run: `--pass-pipeline`, or passes as flags, in their order. `--patterns` counts
//! as the pass that applies them.

use crate::ir::Body;
use crate::ir::pass::{PassManager, PipelineError};
use clap::{Arg, ArgAction, ArgMatches};

use super::{Failure, Tools, string};
use crate::cli::load;
use crate::transforms::simplify::apply_patterns;

pub(super) fn args() -> [Arg; 1] {
    [Arg::new("pass-pipeline")
        .long("pass-pipeline")
        .short('p')
        .value_name("PIPELINE")
        .help("What to run, as text: builtin.module(func.func(canonicalize,loop-fusion{alias=distinct}))")]
}

/// One option for each name of a pass.
pub(super) fn pass_args(tools: &Tools) -> Vec<Arg> {
    let mut args: Vec<Arg> = Vec::new();
    for info in tools.passes.infos() {
        if args.iter().any(|arg| arg.get_id() == info.name) {
            continue;
        }
        args.push(
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
    args
}

/// The text of the pipeline that the arguments say. Passes given as flags are a bare list.
pub(super) fn text(tools: &Tools, matches: &ArgMatches) -> Result<String, Failure> {
    let registry = &tools.passes;
    let mut flags: Vec<(usize, &str, &str)> = Vec::new();
    for arg in pass_args(tools) {
        let name = arg.get_id().as_str();
        let info = registry.infos().iter().find(|info| info.name == name);
        if let (Some(info), Some(indices), Some(values)) =
            (info, matches.indices_of(name), matches.get_many::<String>(name))
        {
            flags.extend(indices.zip(values).map(|(at, value)| (at, info.name, value.as_str())));
        }
    }
    let applied = apply_patterns::PASS.name;
    let patterns = matches.indices_of(load::PATTERNS).and_then(|mut all| all.next());
    let in_text = string(matches, "pass-pipeline");
    if let (Some(_), Some(text)) = (patterns, in_text)
        && !text.contains(applied)
    {
        let message = format!("--patterns needs '{applied}' in the pipeline, where they are to be applied");
        return Err(Failure::usage(message));
    }
    if let (Some(at), None) = (patterns, in_text)
        && !flags.iter().any(|(_, name, _)| *name == applied)
    {
        flags.push((at, applied, ""));
    }
    flags.sort_by_key(|(at, ..)| *at);
    match in_text {
        Some(_) if !flags.is_empty() => {
            Err(Failure::usage("--pass-pipeline and passes as flags exclude each other"))
        }
        Some(text) => Ok(text.to_owned()),
        None => {
            let element = |(_, name, options): &(usize, &str, &str)| match options.is_empty() {
                true => (*name).to_owned(),
                false => format!("{name}{{{options}}}"),
            };
            Ok(flags.iter().map(element).collect::<Vec<String>>().join(","))
        }
    }
}

/// The pipeline of this text for a program.
pub(super) fn read(tools: &Tools, text: &str, program: &Body) -> Result<PassManager, PipelineError> {
    tools.passes.parse_for(text, program)
}
