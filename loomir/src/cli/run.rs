//! `loomir run`: executes a function.

use crate::Engine;
use crate::dialects::interp::{Interleaving, Limits};
use crate::ir::diagnostics::suggest::did_you_mean;
use crate::ir::symbols::{lookup, symbol_name};
use crate::ir::{Body, Diagnostic};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::{Failure, Tools, input, output};

pub(super) fn command() -> Command {
    Command::new("run")
        .about("Executes a function; prints its results and what its buffers hold, with a digest of each")
        .args(input::args())
        .arg(Arg::new("entry").long("entry").value_name("F").required(true).help("The function to execute"))
        .arg(
            Arg::new("arg")
                .long("arg")
                .value_name("ARG")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .help(
                    "An argument, in order: a number, zeros, iota, iota+FIRST, random:SEED, a list [1, 2.5], \
                     or @0 for the buffer of argument 0; with a type behind a colon where the parameter leaves it \
                     open: 'iota : memref<4x8xf32>'",
                ),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["interp", "jit"])
                .default_value("interp")
                .help("The interpreter, or LLVM (built with --features llvm)"),
        )
        .arg(
            Arg::new("opt-level")
                .short('O')
                .long("opt-level")
                .value_name("LEVEL")
                .value_parser(value_parser!(u32).range(0..=3))
                .default_value("2")
                .help("How hard LLVM optimises"),
        )
        .arg(
            Arg::new("profile").long("profile").value_name("FILE").help(
                "Write the program to a file, with how often each loop and branch ran; for --cost=profile",
            ),
        )
        .arg(
            Arg::new("races")
                .long("races")
                .action(ArgAction::SetTrue)
                .conflicts_with("profile")
                .help("Refuse parallel loops of which two iterations touch one element, and one writes it"),
        )
        .arg(
            Arg::new("interleave")
                .long("interleave")
                .value_name("SEED")
                .value_parser(value_parser!(u64))
                .conflicts_with_all(["profile", "order"])
                .help("Run iterations of parallel loops in a random interleaving; also with --races"),
        )
        .arg(
            Arg::new("order")
                .long("order")
                .value_name("FILE")
                .conflicts_with_all(["profile", "races"])
                .help("Draw the order in which elements of memrefs are stored, as SVG; print nothing"),
        )
        .arg(
            Arg::new("max-steps")
                .long("max-steps")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("Operations the interpreter executes before it gives up"),
        )
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let ctx = &tools.ctx;
    let mut module = source.parse(ctx, matches)?;
    let entry = matches.get_one::<String>("entry").map_or("", String::as_str);
    let arguments: Vec<&str> =
        matches.get_many::<String>("arg").unwrap_or_default().map(String::as_str).collect();
    let engine = match matches.get_one::<String>("engine").map(String::as_str) {
        Some("jit") => Engine::Jit(matches.get_one::<u32>("opt-level").copied().unwrap_or(2)),
        _ => Engine::Interpreter,
    };
    let default = Limits::default();
    let limits =
        Limits { steps: matches.get_one::<u64>("max-steps").copied().unwrap_or(default.steps), ..default };
    let (profile, order) = (matches.get_one::<String>("profile"), matches.get_one::<String>("order"));
    if let Some(path) = order {
        if engine != Engine::Interpreter {
            return Err(Failure::usage("only the interpreter draws; leave out '--engine=jit' or '--order'"));
        }
        known_entry(&module, entry).map_err(|error| source.failure(ctx, &error.into()))?;
        let drawn = crate::picture_of_order(&module, entry, &arguments, &limits);
        let picture = drawn.map_err(|diagnostics| source.failure(ctx, &diagnostics))?;
        return output::to_file(path, &picture);
    }
    let (finds_races, seed) = (matches.get_flag("races"), matches.get_one::<u64>("interleave").copied());
    if finds_races || seed.is_some() {
        if engine != Engine::Interpreter {
            return Err(Failure::usage(match seed {
                Some(_) => "only the interpreter interleaves; leave out '--engine=jit' or '--interleave'",
                None => "only the interpreter finds races; leave out '--engine=jit' or '--races'",
            }));
        }
        known_entry(&module, entry).map_err(|error| source.failure(ctx, &error.into()))?;
        let outcome = match seed {
            Some(seed) => {
                let interleaving = Interleaving { seed, finds_races };
                crate::interleave(&module, entry, &arguments, &limits, interleaving)
            }
            None => crate::find_races(&module, entry, &arguments, &limits),
        };
        let outcome = outcome.map_err(|diagnostics| source.failure(ctx, &diagnostics))?;
        return tools.console.print(&outcome.to_text());
    }
    if profile.is_some() && engine != Engine::Interpreter {
        return Err(Failure::usage("only the interpreter counts; leave out '--engine=jit' or '--profile'"));
    }
    known_entry(&module, entry).map_err(|error| source.failure(ctx, &error.into()))?;
    let failure = |diagnostics: crate::ir::Diagnostics| source.failure(ctx, &diagnostics);
    let Some(path) = profile else {
        let outcome = crate::execute(&mut module, entry, &arguments, engine, &limits).map_err(failure)?;
        return tools.console.print(&outcome.to_text());
    };
    let outcome = crate::profile(&mut module, entry, &arguments, &limits).map_err(failure)?;
    output::to_file(path, &crate::print(&module))?;
    tools.console.print(&outcome.to_text())
}

/// Refuses a function that the module does not have; names the one that may be meant.
fn known_entry(module: &Body, entry: &str) -> Result<(), Diagnostic> {
    if lookup(module, entry).is_some() {
        return Ok(());
    }
    let top = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let names = top.flat_map(|block| module.ops(block)).filter_map(|op| symbol_name(module, op));
    let names: Vec<&str> = names.map(|name| module.ctx().str(name)).collect();
    let loc = module.root_ref().loc();
    let error = Diagnostic::error(loc, format!("the module has no function `@{entry}`"));
    Err(match did_you_mean(entry, names) {
        Some(help) => error.help(help),
        None => error,
    })
}
