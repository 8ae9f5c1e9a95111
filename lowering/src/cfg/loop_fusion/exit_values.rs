//! What values of a loop are when it is left, where that is a number or what its counter is compared with.
//!
//! Read off scalar evolution before any loop is fused. What a counter is compared with is looked up when it is asked for, so it is a value that is there.
//!
//! **Soundness.** Only results of operations are named: arguments come and go where loops are fused. The comparison decides a branch in each iteration, so what is compared is no poison.
//!
//! Cost: linear in what loops hand out. Of loops that were fused a bounded number of values is known by a comparison.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Op, Value};

use crate::cfg::branch::targets;
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::ExprType;

use super::rewire::split;

/// Most values that are known by a comparison.
const MAX_COMPARED: usize = 16;

/// What a value is when its loop is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Final {
    /// A number.
    Number(i128),
    /// A value that does not change in the loop.
    Value(Value),
}

/// What values of a loop are when it is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Finals {
    numbers: HashMap<Value, i128>,
    /// Those that are this operand of the comparison by which the latch decides.
    compared: Vec<(Value, usize)>,
}

impl Finals {
    /// Those that a loop hands out.
    pub(super) fn of(scev: &mut ScalarEvolution<'_>, id: LoopId) -> Finals {
        let mut finals = Finals::default();
        let (function, analysis) = (scev.function(), scev.analysis());
        let own = analysis.loops().get(id);
        let (header, scope) = (analysis.block(own.header()), own.parent);
        let Some(latch) = Roles::of(analysis, id).latch().map(|latch| analysis.block(latch)) else {
            return finals;
        };
        let branch = function.terminator(latch).filter(|op| function.is(*op, llvm::CondBrOp::DEF));
        let Some((_, out)) = branch.and_then(|branch| split(targets(function, branch), header)) else {
            return finals;
        };
        let test = test_of(function, latch);
        for value in out.operands {
            let is_inside = function.value_block(value).is_some_and(|block| {
                function.defining_op(value).is_some() && analysis.loops().contains(id, analysis.number(block))
            });
            let Some(ExprType::Integer(width)) = scev.expr_type(value).filter(|_| is_inside) else {
                continue;
            };
            let expr = scev.expr(value);
            let last = scev.at_scope(expr, scope);
            if let Some(bits) = scev.as_constant(last) {
                finals.numbers.insert(value, signed(width, bits));
                continue;
            }
            let side = test.and_then(|test| {
                (0..2).find(|side| {
                    let other = function.operand(test, *side);
                    if scev.expr_type(other) != Some(ExprType::Integer(width)) {
                        return false;
                    }
                    let other = scev.expr(other);
                    other == last && scev.is_invariant(other, id)
                })
            });
            finals.compared.extend(side.map(|side| (value, side)));
        }
        finals.compared.truncate(MAX_COMPARED);
        finals
    }

    /// What a value is when the loop with this latch is left.
    pub(super) fn get(&self, function: &Body, latch: Block, value: Value) -> Option<Final> {
        function.defining_op(value)?;
        if let Some(number) = self.numbers.get(&value) {
            return Some(Final::Number(*number));
        }
        let (_, side) = self.compared.iter().find(|(own, _)| *own == value)?;
        Some(Final::Value(function.operand(test_of(function, latch)?, *side)))
    }

    /// Both loops with these latches are about to become one that is tested as the second is.
    pub(super) fn join(&mut self, function: &Body, latches: [Block; 2], second: Finals) {
        let [own, other] = latches.map(|latch| test_of(function, latch));
        self.numbers.extend(second.numbers);
        let same = |(value, side): (Value, usize)| {
            let compared = function.operand(own?, side);
            let side = (0..2).find(|side| other.is_some_and(|op| function.operand(op, *side) == compared))?;
            Some((value, side))
        };
        let kept: Vec<(Value, usize)> =
            std::mem::take(&mut self.compared).into_iter().filter_map(same).collect();
        self.compared = second.compared;
        self.compared.extend(kept);
        self.compared.truncate(MAX_COMPARED);
    }
}

/// The comparison by which a latch decides.
fn test_of(function: &Body, latch: Block) -> Option<Op> {
    let branch = function.terminator(latch).filter(|op| function.is(*op, llvm::CondBrOp::DEF))?;
    function.defining_op(function.operand(branch, 0)).filter(|op| function.is(*op, llvm::ICmpOp::DEF))
}
