//! `loomir machine`: the machine that costs are about, as a text for `--machine`.

use clap::{Arg, ArgMatches, Command};

use crate::ir::diagnostics::suggest::did_you_mean;
use crate::transforms::cost::Machine;

use super::flags::{flag, is_on};
use super::{Failure, Tools};

mod host;
mod measure;

/// The name of this machine.
const HOST: &str = "host";

/// The argument that says for which machine costs are estimated.
pub(super) fn arg() -> Arg {
    Arg::new("machine").long("machine").value_name("NAME").default_value("generic").help(
        "The machine to estimate costs for: host, a name that 'loomir machine --list' shows, or a file that 'loomir machine' wrote",
    )
}

pub(super) fn command() -> Command {
    Command::new("machine")
        .about("Prints the caches, vector registers and cycles of a machine, for --machine")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .default_value(HOST)
                .help("The machine: this one, a known one, or a file"),
        )
        .arg(flag("measure", "Measure here how many cycles a line takes from each cache and from memory, and the place of a page"))
        .arg(flag("list", "List the machines that are known by name"))
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    if is_on(matches, "list") {
        let names: Vec<&str> = [HOST].into_iter().chain(Machine::names()).collect();
        return tools.console.print(&(names.join("\n") + "\n"));
    }
    let name = matches.get_one::<String>("name").map_or(HOST, String::as_str);
    let mut machine = named(name)?;
    if is_on(matches, "measure") {
        measure::cycles(&mut machine);
    }
    tools.console.print(&machine.to_string())
}

/// Returns the machine that [`arg`] names.
pub(super) fn chosen(matches: &ArgMatches) -> Result<Machine, Failure> {
    match matches.try_get_one::<String>("machine") {
        Ok(Some(name)) => named(name),
        _ => Ok(Machine::default()),
    }
}

/// Returns this machine, a known one, or that of a file.
pub(super) fn named(name: &str) -> Result<Machine, Failure> {
    if name == HOST {
        return Ok(host::read());
    }
    if let Some(machine) = Machine::named(name) {
        return Ok(machine);
    }
    match std::fs::read_to_string(name) {
        Ok(text) => text.parse().map_err(|error| Failure::usage(format!("machine '{name}', {error}"))),
        Err(error) => {
            let help = did_you_mean(name, [HOST].into_iter().chain(Machine::names()));
            let help = help.unwrap_or_else(|| "'loomir machine --list' shows those with a name".to_owned());
            Err(Failure::usage(format!("there is no machine '{name}', and no file: {error}\nhelp: {help}")))
        }
    }
}
