//! Two programs that are brought to one level, so that they can be compared.

use loomir_check::functions::Originals;
use loomir_dialects::interfaces::FunctionLike;
use loomir_dialects::irdl::meaning;
use loomir_ir::{Body, Diagnostics};

/// Two programs of one level, and as they were if one of them was lowered.
#[derive(Clone, Copy, Debug)]
pub struct SameLevel<'l> {
    /// The first program.
    pub before: &'l Body,
    /// The second program.
    pub after: &'l Body,
    /// Both programs before one of them was lowered.
    pub originals: Option<Originals<'l>>,
}

/// One of two programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The first program.
    Before,
    /// The second program.
    After,
}

/// Calls `f` with two verified programs of one context on one level. If one of them is LLVM's and
/// the other is not, the other is lowered. Operations of loaded dialects get their meanings.
///
/// # Errors
/// The errors of lowering, and the program that has them.
pub fn on_one_level<R>(
    before: &Body,
    after: &Body,
    f: impl FnOnce(SameLevel<'_>) -> R,
) -> Result<R, (Which, Diagnostics)> {
    let meant = (with_meaning(before, Which::Before)?, with_meaning(after, Which::After)?);
    let mut level = SameLevel {
        before: meant.0.as_ref().unwrap_or(before),
        after: meant.1.as_ref().unwrap_or(after),
        originals: None,
    };
    let (was, is) = (is_lowered(before), is_lowered(after));
    let module;
    if was != is {
        let (before, after) = (level.before, level.after);
        level.originals = Some(Originals { before, after, after_is_lowered: was });
    }
    if is && !was {
        module = lowered(before, Which::Before)?;
        level.before = &module;
    } else if was && !is {
        module = lowered(after, Which::After)?;
        level.after = &module;
    }
    Ok(f(level))
}

/// Returns a program with the meanings of loaded operations in their place, if there are any.
fn with_meaning(program: &Body, which: Which) -> Result<Option<Body>, (Which, Diagnostics)> {
    if !meaning::has_meanings(program.ctx()) {
        return Ok(None);
    }
    let mut copy = program.duplicate();
    meaning::lower(&mut copy).map_err(|errors| (which, errors))?;
    Ok(Some(copy))
}

fn lowered(program: &Body, which: Which) -> Result<Body, (Which, Diagnostics)> {
    let mut copy = program.duplicate();
    loomir_lowering::lower_to_llvm(&mut copy).map_err(|errors| (which, errors))?;
    Ok(copy)
}

/// True if the functions of a program are functions of LLVM.
fn is_lowered(program: &Body) -> bool {
    let top = program.own_regions(program.root()).flat_map(|region| program.blocks(region));
    let functions = top
        .flat_map(|block| program.ops(block))
        .map(|op| program.op_ref(op))
        .filter(|op| op.info().interface::<dyn FunctionLike>().is_some());
    let names: Vec<&str> = functions.map(|op| op.name()).collect();
    names.contains(&"llvm.func") && !names.contains(&"func.func")
}
