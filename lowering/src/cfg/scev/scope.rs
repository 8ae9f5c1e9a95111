//! The scopes of expressions, and their values outside of loops: the value at a scope.
//!
//! **Assumptions.**
//! - The value at a scope is the value behind a loop that was left according to its count, or is
//!   not used.
//!
//! Tried with `lowering/tests/scev/watch.rs`, which compares the live-out values of loops.

use hashbrown::HashSet;
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;

use super::ScalarEvolution;
use super::expr::{Expr, ExprId};

impl ScalarEvolution<'_> {
    /// Returns the values in an expression, each once, in the order of the expression.
    pub fn leaves(&self, id: ExprId) -> Vec<Value> {
        let (mut leaves, mut seen) = (Vec::new(), HashSet::new());
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if seen.insert(id) {
                if let Expr::Unknown(value) = self.pool.get(id) {
                    leaves.push(*value);
                }
                let mark = pending.len();
                self.pool.get(id).each_operand(&mut |operand| pending.push(operand));
                pending[mark..].reverse();
            }
        }
        leaves
    }

    /// True if `accept` holds for each value and each recurrence in an expression.
    fn all_parts(&self, id: ExprId, accept: &dyn Fn(&Expr) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if seen.insert(id) {
                let expr = self.pool.get(id);
                if matches!(expr, Expr::Unknown(_) | Expr::AddRec(..)) && !accept(expr) {
                    return false;
                }
                expr.each_operand(&mut |operand| pending.push(operand));
            }
        }
        true
    }

    fn node_of(&self, value: Value) -> u32 {
        self.function.value_block(value).map_or(0, |block| self.analysis.number(block))
    }

    /// True if an expression does not change while a loop runs.
    pub fn is_invariant(&self, id: ExprId, inside: LoopId) -> bool {
        let loops = self.analysis.loops();
        self.all_parts(id, &|part| match part {
            Expr::Unknown(value) => !loops.contains(inside, self.node_of(*value)),
            Expr::AddRec(of, _) => !loops.contains(inside, loops.get(*of).header()),
            _ => true,
        })
    }

    /// True if an expression is defined before a loop is entered.
    pub(super) fn is_available(&self, id: ExprId, at: LoopId) -> bool {
        let header = self.analysis.loops().get(at).header();
        let is_before = |node: u32| node != header && self.analysis.dominators().dominates(node, header);
        self.all_parts(id, &|part| match part {
            Expr::Unknown(value) => is_before(self.node_of(*value)),
            Expr::AddRec(of, _) => is_before(self.analysis.loops().get(*of).header()),
            _ => true,
        })
    }

    /// Returns the value of an expression in a loop, or outside of all. Recurrences of loops that
    /// are left there become their final values. Unknown ones stay unchanged.
    pub fn at_scope(&mut self, id: ExprId, scope: Option<LoopId>) -> ExprId {
        self.remembered(|this| &mut this.scoped, (id, scope), |this| this.compute_at_scope(id, scope))
    }

    fn compute_at_scope(&mut self, id: ExprId, scope: Option<LoopId>) -> ExprId {
        let expr = self.pool.get(id).clone();
        if let Expr::AddRec(of, _) = expr {
            let loops = self.analysis.loops();
            let is_inside = scope.is_some_and(|scope| loops.contains(of, loops.get(scope).header()));
            if !is_inside
                && let Some(count) = self.counts(of).exact
                && let Some(last) = self.at_iteration(id, count)
                && self.pool.is_small(last)
            {
                return self.at_scope(last, scope);
            }
        }
        let mut operands = Vec::new();
        expr.each_operand(&mut |operand| operands.push(operand));
        let scoped: Vec<ExprId> = operands.iter().map(|operand| self.at_scope(*operand, scope)).collect();
        if scoped == operands { id } else { self.rebuilt(id, &scoped) }
    }

    /// Returns an expression with other operands.
    pub(super) fn rebuilt(&mut self, id: ExprId, operands: &[ExprId]) -> ExprId {
        match self.pool.get(id).clone() {
            Expr::Constant(..) | Expr::Unknown(_) => id,
            Expr::PtrToInt(_) => self.ptr_to_int(operands[0]),
            Expr::Cast(cast, _, width) => self.cast(cast, operands[0], width),
            Expr::Add(_) => self.add(operands),
            Expr::Mul(_) => self.mul(operands),
            Expr::UDiv(..) => self.udiv(operands[0], operands[1]),
            Expr::AddRec(of, _) => self.recurrence(of, operands),
            Expr::MinMax(kind, _) => self.min_max(kind, operands),
        }
    }
}
