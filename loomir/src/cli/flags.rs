//! Flags as LLVM's command lines have them: `--flag`, `--flag=false`, and `-flag` for `--flag`.

use std::ffi::OsString;

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

/// A flag that is off unless given.
pub(super) fn flag(name: &'static str, help: &'static str) -> Arg {
    switch(name, "false", help)
}

/// A flag that is on unless turned off.
pub(super) fn flag_on(name: &'static str, help: &'static str) -> Arg {
    switch(name, "true", help)
}

fn switch(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("BOOL")
        .num_args(0..=1)
        .require_equals(true)
        .default_value(default)
        .default_missing_value("true")
        .hide_default_value(default == "false")
        .hide_possible_values(true)
        .value_parser(BoolishValueParser::new())
        .action(ArgAction::Set)
        .help(help)
}

/// True if a flag is on.
pub(super) fn is_on(matches: &ArgMatches, name: &str) -> bool {
    matches.get_one::<bool>(name).is_some_and(|on| *on)
}

/// The arguments of the process, with a second dash for options of the subcommand that are given
/// with one.
pub(super) fn with_two_dashes(command: &Command, args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let Some(subcommand) = args.get(1).and_then(|name| command.find_subcommand(name)) else { return args };
    let is_long = |name: &str| {
        let mut options = subcommand.get_arguments();
        options.any(|arg| {
            arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
        })
    };
    let corrected = |arg: OsString| match arg.to_str().and_then(|text| text.strip_prefix('-')) {
        Some(rest) if rest.len() > 1 && is_long(rest.split('=').next().unwrap_or(rest)) => {
            format!("--{rest}").into()
        }
        _ => arg,
    };
    args.into_iter().map(corrected).collect()
}
