//! Which passes to run: `--pass-pipeline`, or passes as flags, in their order.

use clap::{Arg, ArgAction, ArgMatches};
use loomir::ir::pass::{PassManager, PassRegistry};

use super::{Failure, string};

pub(super) fn args() -> [Arg; 1] {
    [Arg::new("pass-pipeline")
        .long("pass-pipeline")
        .short('p')
        .value_name("PIPELINE")
        .help("What to run, as text: builtin.module(func.func(canonicalize,loop-fusion{alias=distinct}))")]
}

/// One option for each name of a pass.
pub(super) fn pass_args() -> Vec<Arg> {
    let mut args: Vec<Arg> = Vec::new();
    for info in loomir::passes().infos() {
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

/// The pipeline that the arguments say; passes given as flags are made to run on a root of this name.
pub(super) fn read(matches: &ArgMatches, root: &str) -> Result<PassManager, Failure> {
    let registry = loomir::passes();
    let mut flags: Vec<(usize, &str, &str)> = Vec::new();
    for arg in pass_args() {
        let name = arg.get_id().as_str();
        let info = registry.infos().iter().find(|info| info.name == name);
        if let (Some(info), Some(indices), Some(values)) =
            (info, matches.indices_of(name), matches.get_many::<String>(name))
        {
            flags.extend(indices.zip(values).map(|(at, value)| (at, info.name, value.as_str())));
        }
    }
    flags.sort_by_key(|(at, ..)| *at);
    let text = match string(matches, "pass-pipeline") {
        Some(_) if !flags.is_empty() => {
            return Err(Failure::usage("--pass-pipeline and passes as flags exclude each other"));
        }
        Some(text) => text.to_owned(),
        None => {
            let passes: Vec<String> =
                flags.iter().map(|(_, name, options)| element(&registry, root, name, options)).collect();
            format!("{root}({})", passes.join(","))
        }
    };
    registry.parse(&text).map_err(|error| Failure::usage(error.to_text(&text)))
}

/// A pass given as a flag, nested where it is anchored.
fn element(registry: &PassRegistry, root: &str, name: &str, options: &str) -> String {
    let pass = if options.is_empty() { name.to_owned() } else { format!("{name}{{{options}}}") };
    match registry.get(name, root) {
        Some(_) => pass,
        None => match registry.infos().iter().find(|info| info.name == name).and_then(|info| info.anchor) {
            Some(anchor) => format!("{anchor}({pass})"),
            None => pass,
        },
    }
}
