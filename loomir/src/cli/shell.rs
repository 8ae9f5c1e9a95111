//! `loomir completions` and `loomir man`: completions for shells, and the manual. Both are made
//! from the command's table.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{Failure, NAME, Tools, output};

pub(super) fn completions_command() -> Command {
    Command::new("completions").about("Prints a script with which a shell completes the command's words").arg(
        Arg::new("shell")
            .value_name("SHELL")
            .required(true)
            .value_parser(value_parser!(Shell))
            .help("The shell"),
    )
}

pub(super) fn completions(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let Some(shell) = matches.get_one::<Shell>("shell") else {
        return Err(Failure::usage("a shell is needed"));
    };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut tools.command(), NAME, &mut script);
    tools.console.print(&String::from_utf8_lossy(&script))
}

pub(super) fn man_command() -> Command {
    Command::new("man")
        .about("Prints a page of the manual, to read with 'man -l -'")
        .arg(Arg::new("command").value_name("COMMAND").help("The subcommand; the whole command if absent"))
        .arg(output::arg())
}

pub(super) fn man(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let mut all = tools.command();
    all.build();
    let command = match matches.get_one::<String>("command") {
        None => all,
        Some(name) => {
            let found = all.find_subcommand(name).cloned();
            found.ok_or_else(|| Failure::usage(format!("'{name}' is no subcommand")))?
        }
    };
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(command).render(&mut page);
    written.map_err(|why| Failure::input(format!("the page cannot be written: {why}")))?;
    output::write(tools, matches, &String::from_utf8_lossy(&page))
}
