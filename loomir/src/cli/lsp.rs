//! `loomir lsp`: the server that editors ask, on the standard streams.

use clap::{Arg, ArgMatches, Command};

use super::console::Console;
use super::flags::{flag, is_on};
use super::{Failure, Tools, fuse, input};
use crate::lsp::{Options, serve};

pub(super) fn command() -> Command {
    Command::new("lsp")
        .about("Answers an editor about .mlir and .ll files, by the language server protocol")
        .arg(flag(
            input::ALLOW_UNREGISTERED,
            "Read operations, types and attributes that nobody registered, as opaque",
        ))
        .arg(fuse::alias_arg())
        // Editors pass it to every server.
        .arg(Arg::new("stdio").long("stdio").num_args(0).hide(true).help("The only way to talk to it"))
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let allow_unregistered = is_on(matches, input::ALLOW_UNREGISTERED);
    let options = Options { allow_unregistered, alias: fuse::alias(matches)?.alias };
    let status = match &tools.console {
        Console::Process => serve(&tools.ctx, &options, std::io::stdin(), &mut std::io::stdout()),
        Console::Memory { input, .. } => {
            let mut output = Vec::new();
            let input = std::io::Cursor::new(input.clone().into_bytes());
            let status = serve(&tools.ctx, &options, input, &mut output);
            tools.console.print(&String::from_utf8_lossy(&output))?;
            status
        }
    };
    if status == 0 { Ok(()) } else { Err(Failure::Status(status)) }
}
