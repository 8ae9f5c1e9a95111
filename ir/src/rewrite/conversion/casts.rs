//! Casts that stand in between converted and unconverted values.

use crate::body::Body;
use crate::builder::OperationState;
use crate::diagnostics::Diagnostic;
use crate::entity::{Op, Value};
use crate::location::Loc;
use crate::text::type_to_string;
use crate::types::Type;

/// The operation that stands in.
const NAME: &str = "builtin.unrealized_conversion_cast";

/// The longest chain of casts that is followed to a value of the wanted types.
const CHAIN: usize = 64;

/// The side to which a cast of a conversion leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CastKind {
    /// From converted values to a value of the original type.
    Source,
    /// From a value of the original type to values of converted types.
    Target,
}

/// Replaces casts that undo each other by the values before them, and erases casts without uses,
/// in this body only. Returns the number of casts that remain.
///
/// This is the pass `reconcile-unrealized-casts`. Linear in the casts and their uses.
pub fn reconcile_casts(body: &mut Body) -> usize {
    let name = body.ctx().op_name(NAME);
    let casts: Vec<Op> = body.all_ops().filter(|op| body.op_name(*op) == name).collect();
    cancel(body, casts).len()
}

/// Returns a cast that stands nowhere.
pub(super) fn make(body: &mut Body, values: &[Value], types: &[Type], loc: Loc) -> Op {
    let state = OperationState::new(body.ctx(), NAME, loc).operands(values).results(types);
    body.create(state)
}

/// Lets pairs of these casts, given in the order of the text, cancel, and erases those without
/// uses. Returns the others.
pub(super) fn cancel(body: &mut Body, casts: Vec<Op>) -> Vec<Op> {
    let mut listed = vec![false; body.num_op_slots()];
    casts.iter().for_each(|cast| listed[cast.index()] = true);
    // A cast is looked at again when its inputs change. In a graph region that may go on for ever.
    let mut budget = casts.len().saturating_mul(16);
    let mut queue = casts.clone();
    while let Some(cast) = queue.pop().filter(|_| budget > 0) {
        budget -= 1;
        if !body.has_used_results(cast) {
            continue;
        }
        let Some(values) = values_before(body, cast, &listed) else { continue };
        let results: Vec<Value> = body.results(cast).collect();
        let users = results.iter().flat_map(|result| body.uses(*result)).map(|own| own.op);
        queue.extend(users.filter(|user| listed[user.index()]));
        for (result, value) in results.into_iter().zip(values) {
            body.replace_all_uses(result, value);
        }
    }
    erase_unused(body, &casts, &mut listed);
    casts.into_iter().filter(|cast| listed[cast.index()]).collect()
}

/// Returns the values that a chain of casts starts with, if they have the types it ends with.
fn values_before(body: &Body, cast: Op, listed: &[bool]) -> Option<Vec<Value>> {
    let is_wanted = |op: Op| {
        body.num_operands(op) == body.num_results(cast)
            && body
                .operands(op)
                .zip(body.results(cast))
                .all(|(a, b)| body.value_type(a) == body.value_type(b))
    };
    let mut current = cast;
    for _ in 0..CHAIN {
        if is_wanted(current) {
            let values: Vec<Value> = body.operands(current).collect();
            return values.iter().all(|value| body.defining_op(*value) != Some(cast)).then_some(values);
        }
        let before = body.operands(current).next().and_then(|first| body.defining_op(first));
        current = before.filter(|op| listed[op.index()] && body.results(*op).eq(body.operands(current)))?;
    }
    None
}

fn erase_unused(body: &mut Body, casts: &[Op], listed: &mut [bool]) {
    let mut queue = casts.to_vec();
    while let Some(cast) = queue.pop() {
        if !listed[cast.index()] || body.has_used_results(cast) {
            continue;
        }
        let inputs = body.operands(cast).filter_map(|value| body.defining_op(value));
        queue.extend(inputs.filter(|op| listed[op.index()] && *op != cast));
        listed[cast.index()] = false;
        body.erase(cast);
    }
}

/// Returns the diagnostic for a cast that no materialisation makes.
pub(super) fn unresolved(body: &Body, cast: Op, kind: CastKind) -> Diagnostic {
    let list = |types: Vec<Type>| match &types[..] {
        [] => "nothing".to_owned(),
        types => types.iter().map(|ty| type_to_string(body.ctx(), *ty)).collect::<Vec<_>>().join(", "),
    };
    let from = list(body.operands(cast).map(|value| body.value_type(value)).collect());
    let to = list(body.results(cast).map(|value| body.value_type(value)).collect());
    let user = body.results(cast).flat_map(|result| body.uses(result)).next().map_or(cast, |own| own.op);
    let (name, loc) = (body.op_ref(user).name(), body.loc(user));
    match kind {
        CastKind::Source => {
            Diagnostic::error(loc, format!("'{name}' uses a value of type {to} that was converted"))
                .note(body.loc(cast), format!("it is {from} now"))
                .help(format!("convert '{name}', or add a source materialisation from {from} to {to}"))
        }
        CastKind::Target => {
            Diagnostic::error(loc, format!("'{name}' needs {to}, made of a value that stays {from}"))
                .note(body.loc(cast), format!("the value of type {from} is defined here"))
                .help(format!("convert its definition, or add a target materialisation from {from} to {to}"))
        }
    }
}
