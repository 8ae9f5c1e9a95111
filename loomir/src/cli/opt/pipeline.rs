//! Which passes to run: `--pass-pipeline`, or passes as flags, in their order.

use clap::{Arg, ArgAction, ArgMatches};
use loomir::ir::Body;
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

/// The operations of a program that passes may be anchored on.
pub(super) struct Anchors<'a> {
    /// The name of the root.
    pub(super) root: &'a str,
    /// The names of what stands directly in it. `None` before the program is known.
    pub(super) inside: Option<Vec<String>>,
}

impl<'a> Anchors<'a> {
    /// Those of a program.
    pub(super) fn of(program: &'a Body) -> Anchors<'a> {
        let mut inside: Vec<String> = Vec::new();
        for body in program.all_ops().filter_map(|op| program.nested(op)) {
            let name = body.root_ref().name();
            if !inside.iter().any(|own| own == name) {
                inside.push(name.to_owned());
            }
        }
        Anchors { root: program.root_ref().name(), inside: Some(inside) }
    }

    fn holds(&self, anchor: &str) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.iter().any(|own| own == anchor))
    }
}

/// The pipeline that the arguments say. Passes given as flags run where the program has what they are
/// anchored on.
pub(super) fn read(matches: &ArgMatches, anchors: &Anchors<'_>) -> Result<PassManager, Failure> {
    let root = anchors.root;
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
                flags.iter().map(|(_, name, options)| element(&registry, anchors, name, options)).collect();
            format!("{root}({})", passes.join(","))
        }
    };
    registry.parse(&text).map_err(|error| Failure::usage(error.to_text(&text)))
}

/// A pass given as a flag, nested where it is anchored: on each of its anchors that the program holds, or
/// on the first one if it holds none.
fn element(registry: &PassRegistry, anchors: &Anchors<'_>, name: &str, options: &str) -> String {
    let pass = if options.is_empty() { name.to_owned() } else { format!("{name}{{{options}}}") };
    if registry.get(name, anchors.root).is_some() {
        return pass;
    }
    let of_this_name = registry.infos().iter().filter(|info| info.name == name);
    let known: Vec<&str> = of_this_name.filter_map(|info| info.anchor).collect();
    let held: Vec<&str> = known.iter().copied().filter(|anchor| anchors.holds(anchor)).collect();
    let on = if held.is_empty() { known.get(..1).unwrap_or_default() } else { &held };
    let nested: Vec<String> = on.iter().map(|anchor| format!("{anchor}({pass})")).collect();
    if nested.is_empty() { pass } else { nested.join(",") }
}
