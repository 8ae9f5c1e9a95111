//! Local rewriting: folds, patterns, and the driver that applies them until nothing changes.
//!
//! A [`Pattern`] looks at one operation and may replace it. The driver keeps a worklist: an
//! operation is visited again when an operand or user of it changes, so the work is proportional to
//! what changes, bounded by [`Limits`]. It also folds (definitions' `fold` hooks, constants made by
//! the dialect) and erases operations without effect and use.

use crate::attributes::Attr;
use crate::body::Body;
use crate::builder::{Builder, InsertPoint, OperationState};
use crate::context::Context;
use crate::entity::{Op, Value};
use crate::opdef::{Folded, Trait};
use crate::types::Type;

/// A rewrite of one kind of operation.
pub trait Pattern: Send + Sync {
    /// Rewrites `op` if it matches, and says whether it did.
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> bool;
}

/// Bounds on the work of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Visits of operations, as a multiple of the operations there are at first.
    pub visits_per_op: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { visits_per_op: 64 }
    }
}

/// The work that a driver did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Operations folded away.
    pub folded: usize,
    /// Patterns applied.
    pub rewritten: usize,
    /// Operations erased since nothing used them.
    pub erased: usize,
    /// True if the limit was reached before nothing changed any more.
    pub limit_reached: bool,
}

impl Report {
    /// True if anything changed.
    pub fn changed(&self) -> bool {
        self.folded + self.rewritten + self.erased > 0
    }
}

/// Changes a body and keeps the worklist of the driver true.
pub struct Rewriter<'b> {
    body: &'b mut Body,
    worklist: Vec<Op>,
    queued: Vec<bool>,
}

impl<'b> Rewriter<'b> {
    fn new(body: &'b mut Body) -> Self {
        let queued = vec![false; body.num_op_slots()];
        Rewriter { body, worklist: Vec::new(), queued }
    }

    /// The body, for reading.
    pub fn body(&self) -> &Body {
        self.body
    }

    /// The body, to change in ways the driver need not hear of.
    pub fn body_mut(&mut self) -> &mut Body {
        self.body
    }

    /// The context.
    pub fn ctx(&self) -> Context {
        self.body.ctx().clone()
    }

    /// Has `op` visited (again).
    pub fn revisit(&mut self, op: Op) {
        if self.queued.len() <= op.index() {
            self.queued.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.queued[op.index()], true) {
            self.worklist.push(op);
        }
    }

    /// Makes an operation before `before`.
    pub fn insert_before(&mut self, before: Op, state: OperationState) -> Op {
        let op = Builder::new(self.body, InsertPoint::Before(before)).insert(state);
        self.revisit(op);
        op
    }

    /// Replaces the results of `op` and erases it.
    ///
    /// # Panics
    /// If there are fewer values than results: a defect of the pattern.
    pub fn replace(&mut self, op: Op, values: &[Value]) {
        let results: Vec<Value> = self.body.results(op).collect();
        assert!(values.len() >= results.len(), "a value for each result");
        for (from, to) in results.into_iter().zip(values) {
            self.replace_all_uses(from, *to);
        }
        self.erase(op);
    }

    /// Makes all uses of one value uses of another.
    pub fn replace_all_uses(&mut self, from: Value, to: Value) {
        let users: Vec<Op> = self.body.uses(from).map(|u| u.op).collect();
        self.body.replace_all_uses(from, to);
        for user in users {
            self.revisit(user);
        }
    }

    /// Erases an operation whose results nobody uses.
    pub fn erase(&mut self, op: Op) {
        let inside: Vec<Op> = self.body.preorder(op).collect();
        for op in &inside {
            for value in self.body.operands(*op).collect::<Vec<_>>() {
                if let Some(def) = self.body.defining_op(value) {
                    self.revisit(def);
                }
            }
        }
        for op in inside {
            // A queued operation that is gone is skipped when its turn comes.
            if let Some(queued) = self.queued.get_mut(op.index()) {
                *queued = false;
            }
        }
        self.body.erase(op);
    }

    fn pop(&mut self) -> Option<Op> {
        while let Some(op) = self.worklist.pop() {
            if std::mem::replace(&mut self.queued[op.index()], false) {
                return Some(op);
            }
        }
        None
    }
}

/// Folds, applies `patterns` and erases what is unused, in this body only, until nothing changes.
pub fn apply_patterns_greedily(body: &mut Body, patterns: &[&dyn Pattern], limits: Limits) -> Report {
    let mut report = Report::default();
    let ops: Vec<Op> = body.all_ops().collect();
    let mut budget = ops.len().saturating_add(16).saturating_mul(limits.visits_per_op);
    let mut rewriter = Rewriter::new(body);
    for op in ops.into_iter().rev() {
        rewriter.revisit(op);
    }
    while let Some(op) = rewriter.pop() {
        if budget == 0 {
            report.limit_reached = true;
            break;
        }
        budget -= 1;
        if is_trivially_dead(rewriter.body, op) {
            rewriter.erase(op);
            report.erased += 1;
        } else if fold(&mut rewriter, op) {
            report.folded += 1;
        } else if patterns.iter().any(|p| p.rewrite(&mut rewriter, op)) {
            report.rewritten += 1;
        }
    }
    report
}

/// True if an operation has no effect and no used result.
pub fn is_trivially_dead(body: &Body, op: Op) -> bool {
    body.has_trait(op, Trait::Pure) && !body.has_trait(op, Trait::Terminator) && !body.has_used_results(op)
}

/// The constant a value is, if it is the result of a constant-like operation.
pub fn constant_of(body: &Body, value: Value) -> Option<Attr> {
    let op = body.defining_op(value)?;
    if body.has_trait(op, Trait::ConstantLike) { body.attr(op, "value") } else { None }
}

fn fold(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body = &*rewriter.body;
    if body.nested(op).is_some() || body.has_trait(op, Trait::ConstantLike) {
        return false;
    }
    let Some(fold) = body.info(op).def().and_then(|def| def.fold) else { return false };
    let constants: Vec<Option<Attr>> = body.operands(op).map(|v| constant_of(body, v)).collect();
    let Some(folded) = fold(body.op_ref(op), &constants) else { return false };
    let types: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
    if folded.len() != types.len() || types.is_empty() {
        return false;
    }
    let ctx = rewriter.ctx();
    let dialect = ctx.str(rewriter.body.info(op).dialect()).to_owned();
    // All constants must be expressible before anything is made.
    let mut states = Vec::new();
    for (folded, ty) in folded.iter().zip(&types) {
        states.push(match folded {
            Folded::Value(_) => None,
            Folded::Constant(attr) => match materialize(&ctx, &dialect, *attr, *ty) {
                Some(state) => Some(state),
                None => return false,
            },
        });
    }
    let loc = rewriter.body.loc(op);
    let values: Vec<Value> = folded
        .into_iter()
        .zip(states)
        .map(|(folded, state)| match (folded, state) {
            (Folded::Value(value), _) => value,
            (Folded::Constant(_), Some(mut state)) => {
                state.loc = loc;
                let constant = rewriter.insert_before(op, state);
                rewriter.body.result(constant, 0)
            }
            (Folded::Constant(_), None) => unreachable!("checked above"),
        })
        .collect();
    rewriter.replace(op, &values);
    true
}

/// A constant by the dialect of the folded operation or, if that makes none, by any other that
/// does.
fn materialize(ctx: &Context, dialect: &str, attr: Attr, ty: Type) -> Option<OperationState> {
    let own = ctx.dialect(dialect).and_then(|d| d.materialize_constant);
    let others = ctx.dialects().iter().filter_map(|d| d.materialize_constant);
    own.into_iter().chain(others).find_map(|make| make(ctx, attr, ty))
}
