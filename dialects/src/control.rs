//! Control flow between the regions of any operation: for [`RegionBranch`]es what they say, for
//! loops and conditionals what their interfaces imply.
//!
//! Each function returns `None` for an operation of which nothing is known. Its regions may then
//! run in any order, any number of times, with any arguments.

use loomir_ir::{OpRef, Trait, Value};

use crate::interfaces::{
    Bound, Conditional, Constants, Decision, LoopBounds, LoopLike, RegionBranch, RegionEdge, Step,
};
use crate::{llvm, ub};

/// Returns the edges that control may take when it reaches `op`.
pub fn entry_edges(op: OpRef<'_>, constants: &Constants<'_>) -> Option<Vec<RegionEdge>> {
    let info = op.info();
    if let Some(model) = info.interface::<dyn RegionBranch>() {
        return Some(model.entry_edges(op, constants));
    }
    if let Some(model) = info.interface::<dyn LoopLike>() {
        let inits = carried(op, model)?;
        let runs = if model.is_unsigned(op) { None } else { runs(op, &model.bounds(op), constants) };
        let body = RegionEdge { to: Some(0), operands: inits.clone(), first: 1 };
        let behind = RegionEdge { to: None, operands: inits, first: 0 };
        return Some(match runs {
            Some(true) => vec![body],
            Some(false) => vec![behind],
            None => vec![body, behind],
        });
    }
    let decision = info.interface::<dyn Conditional>()?.decision(op)?;
    let holds = match decision {
        Decision::Value(value) => {
            constants(value).and_then(|attr| attr.as_int(op.ctx())).map(|number| number != 0)
        }
        Decision::Set(..) => None,
    };
    let has_else = op.regions().nth(1).is_some_and(|region| op.body().entry_block(region).is_some());
    let otherwise = has_else.then_some(1);
    let to = |to| RegionEdge { to, operands: 0..0, first: 0 };
    Some(match holds {
        Some(true) => vec![to(Some(0))],
        Some(false) => vec![to(otherwise)],
        None => vec![to(Some(0)), to(otherwise)],
    })
}

/// Returns the edges that control may take at `terminator`, which ends a block in a region of `op`
/// and has no successors.
pub fn exit_edges(
    op: OpRef<'_>,
    terminator: OpRef<'_>,
    constants: &Constants<'_>,
) -> Option<Vec<RegionEdge>> {
    if is_unreachable(terminator) {
        return Some(Vec::new());
    }
    let info = op.info();
    if let Some(model) = info.interface::<dyn RegionBranch>() {
        let region = op.body().region_index(op.body().region_of(terminator.op())?);
        return model.exit_edges(op, region, terminator, constants);
    }
    if !terminator.info().has_trait(Trait::ReturnLike) || terminator.num_operands() != op.num_results() {
        return None;
    }
    let behind = RegionEdge { to: None, operands: 0..terminator.num_operands(), first: 0 };
    if let Some(model) = info.interface::<dyn LoopLike>() {
        carried(op, model)?;
        return Some(vec![RegionEdge { to: Some(0), first: 1, ..behind.clone() }, behind]);
    }
    info.interface::<dyn Conditional>().map(|_| vec![behind])
}

/// True if control never reaches `op` in a defined execution.
pub fn is_unreachable(op: OpRef<'_>) -> bool {
    op.is(ub::UnreachableOp::DEF) || op.is(llvm::UnreachableOp::DEF)
}

/// Returns the operands of a loop that are its initial values, if they are its last operands.
fn carried(op: OpRef<'_>, model: &dyn LoopLike) -> Option<std::ops::Range<usize>> {
    let inits = model.inits(op);
    let start = op.num_operands().checked_sub(inits.len())?;
    let arguments = op.body().num_arguments(op.body().single_block(model.body(op))?);
    let fits = op.operands().skip(start).eq(inits.iter().copied())
        && op.regions().len() == 1
        && arguments == inits.len() + 1
        && op.num_results() == inits.len();
    fits.then(|| start..op.num_operands())
}

/// Returns true if a loop certainly has an iteration, and false if it certainly has none.
fn runs(op: OpRef<'_>, bounds: &LoopBounds, constants: &Constants<'_>) -> Option<bool> {
    // The attribute `true` reads as 1, but as a bound it is -1.
    let is_truth = |value: Value| op.type_of(value).integer_width(op.ctx()) == Some(1);
    let number = |value: Value| constants(value).and_then(|attr| attr.as_int(op.ctx()));
    let number = |value: Value| number(value).filter(|_| !is_truth(value));
    let end = |bound: &Bound| match bound {
        Bound::Value(value) => number(*value),
        Bound::Map(subscripts) => {
            let map = subscripts.map.data(op.ctx());
            match map.results[..] {
                [result] => match result.kind(op.ctx()) {
                    loomir_ir::AffineExprKind::Constant(number) => Some(number),
                    _ => None,
                },
                _ => None,
            }
        }
    };
    let is_positive = match bounds.step {
        Step::Constant(number) => number > 0,
        Step::Value(value) => number(value).is_some_and(|number| number > 0),
    };
    let (lower, upper) = (end(&bounds.lower)?, end(&bounds.upper)?);
    is_positive.then_some(lower < upper)
}
