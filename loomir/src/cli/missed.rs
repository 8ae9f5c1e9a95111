//! Loops that fusion leaves apart or does not see: `--fail-on-missed`, and operations that other
//! tools make loops of.

use crate::dialects::linalg::Structured;
use crate::ir::{Body, Context, Diagnostic, Diagnostics, Loc, Op, Severity};
use crate::lowering::linalg_to_loops::has_computations;
use crate::transforms::fusion::read_as_loops;
use clap::{Arg, ArgMatches};

use super::Failure;
use super::flags::{flag, is_on};
use super::input::Input;

const FAIL: &str = "fail-on-missed";

/// The flag that makes loops left apart a failure.
pub(super) fn arg() -> Arg {
    flag(FAIL, "End with status 1 if neighbouring loops stay apart")
}

/// Fails if the arguments ask for it and so many pairs of neighbouring loops stayed apart.
pub(super) fn fail(
    matches: &ArgMatches,
    ctx: &Context,
    refused: usize,
    input: &Input,
) -> Result<(), Failure> {
    if refused == 0 || !is_on(matches, FAIL) {
        return Ok(());
    }
    let message = match refused {
        1 => "1 pair of neighbouring loops stayed apart".to_owned(),
        many => format!("{many} pairs of neighbouring loops stayed apart"),
    };
    Err(input.failure(ctx, &Diagnostic::error(Loc::UNKNOWN, message).into()))
}

/// Warns of the first operation that is no loop yet, but that a pass or a tool makes loops of.
/// Linear in the module.
pub(super) fn foreign(module: &Body) -> Diagnostics {
    let ctx = module.ctx();
    let mut bodies = vec![module];
    while let Some(body) = bodies.pop() {
        let read = read_as_loops(body);
        let has_computations = has_computations(body);
        for op in body.all_ops() {
            let view = body.op_ref(op);
            let is_own =
                |op: Op| read.contains(&op) || has_computations && Structured::of(body.op_ref(op)).is_some();
            let is_read = |op: Op| is_own(op) || body.parent_op(op).is_some_and(is_own);
            if let Some(help) = ctx.elsewhere(ctx.str(view.info().dialect())).filter(|_| !is_read(op)) {
                let message = format!("'{}' is not a loop, so fusion leaves it as it is", view.name());
                return Diagnostic::new(Severity::Warning, view.loc(), message).help(help).into();
            }
            bodies.extend(body.nested(op));
        }
    }
    Diagnostics::new()
}
