//! Case distinction on a condition, for the coverage of a statement.
//!
//! An unswitched loop is in the tree twice: behind a condition, and behind its negation. Only one
//! copy runs. In each case the leaves of that copy must cover the statement.
//!
//! # Assumptions
//!
//! - A condition has one outcome in one iteration of the loops that decide it. If this iteration is
//!   that of a statement's instance, the condition has one outcome for the instance. Tried in
//!   `fixtures/unswitch`.
//! - Threads may come together in a call with unknown effects. It must not get a new condition.
//!   Tried in `fixtures/unswitch/refused.mlir`.
//!
//! **Cost.** Nothing for leaves without conditions of their own; else a comparison for each leaf
//! and condition.

use loomir_dialects::interfaces::CallLike;
use loomir_dialects::llvm;
use loomir_ir::Op;

use super::changed_region::ChangedRegion;
use super::scheduled::{Condition, OpaqueCondition, ScheduledStatement};
use crate::access::Domain;
use crate::affine::AffineForm;
use crate::tree::{IfId, StatementId};

/// The statement and its leaves, if a condition has one outcome.
pub(super) struct Case {
    pub(super) whole: ScheduledStatement,
    pub(super) leaves: Vec<ScheduledStatement>,
}

/// A condition that decides if a leaf runs: an `if` and the number of loops that decide it.
type Key = (IfId, usize);

/// Returns the two cases of a condition that is around a leaf, but not around the statement in the
/// program. `None` if there is no such condition.
///
/// # Errors
///
/// The `if` with the condition, if the statement may not get a new one.
pub(super) fn of_a_condition(
    part: &ChangedRegion<'_>,
    whole: &ScheduledStatement,
    leaves: &[&ScheduledStatement],
) -> Result<Option<[Case; 2]>, Op> {
    let new = leaves.iter().find_map(|leaf| {
        let mut own = decided(leaf);
        own.find(|own| decided(whole).all(|wanted| wanted != *own))
    });
    let Some((key, _)) = new else { return Ok(None) };
    if may_be_convergent(part, whole.statement) {
        return Err(part.program.if_info(key.0).op);
    }
    let in_case = |outcome: bool| Case {
        whole: case_of_whole(part, whole, (key, outcome)),
        leaves: leaves.iter().filter_map(|leaf| case_of_leaf(leaf, (key, outcome))).collect(),
    };
    Ok(Some([in_case(true), in_case(false)]))
}

/// Returns the conditions with their outcomes that are decided by the iteration of the leaf's own
/// instance.
fn decided(leaf: &ScheduledStatement) -> impl Iterator<Item = (Key, bool)> {
    leaf.conditions.iter().filter(|own| is_own(leaf, &own.iteration)).map(key)
}

fn key(condition: &Condition) -> (Key, bool) {
    ((condition.of, condition.iteration.len()), condition.holds)
}

/// True if an iteration is that of the leaf's instance.
fn is_own(leaf: &ScheduledStatement, iteration: &[AffineForm]) -> bool {
    leaf.map.get(..iteration.len()) == Some(iteration)
}

/// Returns the leaf without the condition. `None` if it needs the other outcome.
fn case_of_leaf(leaf: &ScheduledStatement, known: (Key, bool)) -> Option<ScheduledStatement> {
    let (own, outcome) = known;
    let needs_other = decided(leaf).any(|(key, holds)| key == own && holds != outcome);
    (!needs_other).then(|| without(leaf, known))
}

/// Returns the statement in the program for a case: with what the outcome says about numbers.
fn case_of_whole(
    part: &ChangedRegion<'_>,
    whole: &ScheduledStatement,
    known: (Key, bool),
) -> ScheduledStatement {
    let ((of, _), outcome) = known;
    let mut own = without(whole, known);
    let mut domain = Domain::clone(&own.domain);
    if decided(whole).any(|(key, holds)| key == known.0 && holds != outcome) {
        domain.constraints.push(AffineForm::constant(-1));
        domain.exact = false;
    }
    // Constraints of an outcome are necessary for it.
    let condition = part.program.if_info(of).condition.outcome(outcome);
    let known =
        condition.constraints.iter().filter(|form| part.program.is_known(form, part.loop_context.depth));
    domain.constraints.extend(known.filter_map(|form| whole.in_place(form)));
    domain.exact &= condition.exact;
    own.domain = domain.into();
    own
}

/// Returns the leaf without one outcome of a condition.
fn without(leaf: &ScheduledStatement, known: (Key, bool)) -> ScheduledStatement {
    let mut own = leaf.clone();
    let is_known = |condition: &Condition| is_own(leaf, &condition.iteration) && key(condition) == known;
    own.conditions.retain(|condition| !is_known(condition));
    own.unsaid.retain(|(what, iteration)| match *what {
        OpaqueCondition::Condition(of, holds) => {
            !is_known(&Condition { of, holds, iteration: iteration.clone() })
        }
        OpaqueCondition::Extent(_) => true,
    });
    own
}

/// True if threads may come together in the statement.
fn may_be_convergent(part: &ChangedRegion<'_>, id: StatementId) -> bool {
    let info = part.program.statement(id);
    let is_call = |op: Op| {
        part.body.info(op).interface::<dyn CallLike>().is_some() || part.body.is(op, llvm::InlineAsmOp::DEF)
    };
    info.effects.world.is_some() && info.ops.iter().any(|op| part.body.preorder(*op).any(is_call))
}
