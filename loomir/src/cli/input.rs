//! Reading the input: a file by name, or `-` for standard input.

use std::io::Read;

use clap::{Arg, ArgMatches};
use loomir::ir::{Body, Context, Diagnostics};

use super::{Failure, render};

/// A source text with its name.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) text: String,
}

/// The argument that names the input.
pub(super) fn arg() -> Arg {
    Arg::new("input").value_name("IN").required(true).help("The file to read, or - for standard input")
}

/// Reads what the argument names.
pub(super) fn read(matches: &ArgMatches) -> Result<Input, Failure> {
    let name = matches.get_one::<String>("input").map_or("-", String::as_str);
    let (shown, bytes) = if name == "-" {
        let mut bytes = Vec::new();
        ("<stdin>", std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (name, std::fs::read(name))
    };
    let bytes = bytes.map_err(|error| Failure::input(format!("cannot read '{shown}': {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Input { name: shown.into(), text }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            Err(Failure::input(format!("'{shown}' is not UTF-8: line {line}, byte {at}")))
        }
    }
}

impl Input {
    /// Reads and verifies the module.
    pub(super) fn parse(&self, ctx: &Context) -> Result<Body, Failure> {
        loomir::parse(ctx, &self.text, &self.name).map_err(|diagnostics| self.failure(ctx, &diagnostics))
    }

    /// Diagnostics about this input, rendered.
    pub(super) fn failure(&self, ctx: &Context, diagnostics: &Diagnostics) -> Failure {
        Failure::Input(render::render(ctx, diagnostics, self))
    }
}
