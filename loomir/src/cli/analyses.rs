//! The flags that choose analyses: one for each interface, named as the options of passes are.

use crate::transforms::access::{Analyses, INTERFACES};
use clap::{Arg, ArgMatches};

use super::Failure;

pub(super) fn args() -> Vec<Arg> {
    let arg = |interface: crate::transforms::access::Interface| {
        let mut help = interface.help.to_owned();
        help[..1].make_ascii_uppercase();
        Arg::new(interface.name)
            .long(interface.name)
            .value_name("NAME")
            .default_value(interface.default)
            .value_parser(interface.implementations.to_vec())
            .help(help)
    };
    INTERFACES.into_iter().map(arg).collect()
}

/// Returns the analyses that the arguments choose.
pub(super) fn chosen(matches: &ArgMatches) -> Result<Analyses, Failure> {
    let mut analyses = Analyses::default();
    for interface in INTERFACES {
        if let Some(name) = matches.get_one::<String>(interface.name) {
            analyses.choose(interface.name, name).map_err(Failure::usage)?;
        }
    }
    Ok(analyses)
}
