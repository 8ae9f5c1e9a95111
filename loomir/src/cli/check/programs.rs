//! The two programs of a check, brought to one level.

use crate::check::functions::Originals;
use crate::dialects::interfaces::FunctionLike;
use crate::dialects::irdl::meaning;
use crate::ir::{Body, Context};
use clap::ArgMatches;

use super::super::input::Input;
use super::Failure;

/// A program with its source.
pub(super) struct Program {
    pub(super) input: Input,
    pub(super) module: Body,
}

/// Two programs of one level, and as they were if one of them was lowered.
pub(super) struct Level<'l> {
    pub(super) before: &'l Body,
    pub(super) after: &'l Body,
    pub(super) originals: Option<Originals<'l>>,
}

impl Program {
    /// Reads and verifies a program.
    pub(super) fn read(ctx: &Context, input: Input, matches: &ArgMatches) -> Result<Program, Failure> {
        let module = input.parse(ctx, matches)?;
        Ok(Program { input, module })
    }

    /// True if its functions are functions of LLVM.
    fn is_lowered(&self) -> bool {
        let names = functions(&self.module);
        names.iter().any(|name| name == "llvm.func") && names.iter().all(|name| name != "func.func")
    }
}

/// Calls `f` with both programs on one level: if one of them is LLVM's and the other is not, the
/// other is lowered.
///
/// # Errors
/// The errors of lowering.
pub(super) fn on_one_level<R>(
    ctx: &Context,
    before: &Program,
    after: &Program,
    f: impl FnOnce(Level<'_>) -> R,
) -> Result<R, Failure> {
    let meant = (with_meaning(before)?, with_meaning(after)?);
    let mut level = Level {
        before: meant.0.as_ref().unwrap_or(&before.module),
        after: meant.1.as_ref().unwrap_or(&after.module),
        originals: None,
    };
    let (was, is) = (before.is_lowered(), after.is_lowered());
    let module;
    if was != is {
        let (before, after) = (level.before, level.after);
        level.originals = Some(Originals { before, after, after_is_lowered: was });
    }
    if is && !was {
        module = lower(ctx, before)?;
        level.before = &module;
    } else if was && !is {
        module = lower(ctx, after)?;
        level.after = &module;
    }
    Ok(f(level))
}

/// Returns a program with the meanings of loaded operations in their place, if there are any.
fn with_meaning(program: &Program) -> Result<Option<Body>, Failure> {
    let module = &program.module;
    if !meaning::has_meanings(module.ctx()) {
        return Ok(None);
    }
    let mut copy = module.duplicate();
    meaning::lower(&mut copy).map_err(|errors| program.input.failure(module.ctx(), &errors))?;
    Ok(Some(copy))
}

/// Lowers a copy of a program.
fn lower(ctx: &Context, program: &Program) -> Result<Body, Failure> {
    // A program that was read and verified reads again.
    let mut module = crate::parse(ctx, &program.input.text, &program.input.name)
        .map_err(|diagnostics| program.input.failure(ctx, &diagnostics))?;
    crate::lowering::lower_to_llvm(&mut module)
        .map_err(|diagnostics| program.input.failure(ctx, &diagnostics))?;
    Ok(module)
}

fn symbols(module: &Body) -> Vec<crate::ir::Op> {
    let top = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    top.flat_map(|block| module.ops(block)).collect()
}

/// Returns the names of the operations that define functions.
fn functions(module: &Body) -> Vec<String> {
    let refs = symbols(module)
        .into_iter()
        .map(|op| module.nested(op).map_or_else(|| module.op_ref(op), Body::root_ref));
    refs.filter(|op| op.info().interface::<dyn FunctionLike>().is_some())
        .map(|op| op.name().to_owned())
        .collect()
}
