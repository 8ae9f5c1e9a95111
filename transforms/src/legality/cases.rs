//! Case distinction on a condition, for the coverage of a statement.
//!
//! An unswitched loop is in the tree twice, behind a condition and behind its negation. Of the
//! leaves of a statement, only those of one copy run. In each case the leaves that run have to
//! cover the statement, and the condition says nothing more.
//!
//! # Assumptions
//!
//! - A condition decides alike in the same iteration of the loops that decide it. For an instance
//!   of the statement it has one outcome, if that iteration is the instance's own. Tried in
//!   `fixtures/unswitch`.
//! - Threads come together at convergent operations in the same control flow, so that none may be
//!   under a new condition. Each call of the `llvm` dialect with unknown effects is taken for one.
//!   Tried in `fixtures/unswitch/refused.mlir`.
//!
//! **Cost.** Nothing for leaves without conditions of their own; else a comparison a leaf and
//! condition.

use loomir_dialects::llvm;
use loomir_ir::{Body, Op};

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
pub(super) fn of_a_condition(
    part: &ChangedRegion<'_>,
    whole: &ScheduledStatement,
    leaves: &[&ScheduledStatement],
) -> Option<[Case; 2]> {
    let (key, _) = leaves.iter().find_map(|leaf| {
        let mut own = decided(leaf);
        own.find(|own| decided(whole).all(|wanted| wanted != *own))
    })?;
    if may_be_convergent(part, whole.statement) {
        return None;
    }
    let in_case = |outcome: bool| Case {
        whole: case_of_whole(part, whole, (key, outcome)),
        leaves: leaves.iter().filter_map(|leaf| case_of_leaf(leaf, (key, outcome))).collect(),
    };
    Some([in_case(true), in_case(false)])
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
    let is_call = |body: &Body, op: Op| body.is(op, llvm::CallOp::DEF) || body.is(op, llvm::InlineAsmOp::DEF);
    let calls = |op: &Op| part.body.preorder(*op).any(|op| is_call(part.body, op));
    info.effects.world.is_some() && info.ops.iter().any(calls)
}
