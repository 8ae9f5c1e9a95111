//! The two programs of a check.

use crate::ir::{Body, Context};
use crate::{SameLevel, Which};
use clap::ArgMatches;

use super::super::input::Input;
use super::Failure;

/// A program with its source.
pub(super) struct Program {
    pub(super) input: Input,
    pub(super) module: Body,
}

impl Program {
    /// Reads and verifies a program.
    pub(super) fn read(ctx: &Context, input: Input, matches: &ArgMatches) -> Result<Program, Failure> {
        let module = input.parse(ctx, matches)?;
        Ok(Program { input, module })
    }
}

/// Calls `f` with both programs on one level ([`crate::on_one_level`]).
///
/// # Errors
/// The errors of lowering.
pub(super) fn on_one_level<R>(
    ctx: &Context,
    before: &Program,
    after: &Program,
    f: impl FnOnce(SameLevel<'_>) -> R,
) -> Result<R, Failure> {
    crate::on_one_level(&before.module, &after.module, f).map_err(|(which, errors)| {
        let program = if which == Which::Before { before } else { after };
        program.input.failure(ctx, &errors)
    })
}
