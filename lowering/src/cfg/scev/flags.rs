//! No-wrap facts.
//!
//! A fact about an expression must hold wherever its operands are defined, because the expression
//! may be written there. The flags of an operation say less: its result is poison if it wraps, and
//! poison may be ignored. A flag becomes a fact only in two cases. Poison certainly reaches an
//! operation for which it is undefined behaviour, or ranges prove the fact. A fact about a
//! recurrence must hold each time the header of the loop runs.
//!
//! **Assumptions.**
//! - A flag of one operation is no fact: it becomes one only where poison is certainly undefined
//!   behaviour.
//! - An operation that may not return ends the walk that proves it: calls, `unreachable`, traps.
//! - Address arithmetic counts as signed in the width of its address space.
//!
//! Tried with `loop_fusion_traps/counts.ll` and `lowering/tests/scev/random.rs`.

use hashbrown::HashSet;
use loomir_dialects::interfaces::MemoryEffects;
use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Op, OpDef, Value};

use super::ScalarEvolution;
use super::expr::{Expr, ExprId, Flags};
use super::range::{falling, steps};
use loomir_dialects::ranges::{Exact, product, signed_ends, sum};

/// The maximal number of operations on a walk from the definition of operands.
const MAX_WALK: usize = 256;
/// The maximal number of values that poison is followed to.
const MAX_POISONED: usize = 64;

/// Operations whose result is poison if an operand is.
const SPREAD: &[&OpDef] = &[
    llvm::AddOp::DEF,
    llvm::SubOp::DEF,
    llvm::MulOp::DEF,
    llvm::ShlOp::DEF,
    llvm::LShrOp::DEF,
    llvm::AShrOp::DEF,
    llvm::AndOp::DEF,
    llvm::OrOp::DEF,
    llvm::XOrOp::DEF,
    llvm::ICmpOp::DEF,
    llvm::ZExtOp::DEF,
    llvm::SExtOp::DEF,
    llvm::TruncOp::DEF,
    llvm::GEPOp::DEF,
    llvm::PtrToIntOp::DEF,
    llvm::IntToPtrOp::DEF,
    llvm::BitcastOp::DEF,
    llvm::SMaxOp::DEF,
    llvm::SMinOp::DEF,
    llvm::UMaxOp::DEF,
    llvm::UMinOp::DEF,
];

/// Operations for which poison in an operand is undefined behaviour, with the index of the operand.
const UNDEFINED: &[(&OpDef, usize)] = &[
    (llvm::CondBrOp::DEF, 0),
    (llvm::SwitchOp::DEF, 0),
    (llvm::LoadOp::DEF, 0),
    (llvm::StoreOp::DEF, 1),
    (llvm::UDivOp::DEF, 1),
    (llvm::URemOp::DEF, 1),
    (llvm::SDivOp::DEF, 1),
    (llvm::SRemOp::DEF, 1),
    (llvm::AssumeOp::DEF, 0),
];

impl ScalarEvolution<'_> {
    /// Returns the no-wrap facts about an expression.
    pub fn flags(&mut self, id: ExprId) -> Flags {
        let proven = self.remembered(|this| &mut this.proven, id, |this| this.prove_flags(id));
        self.pool.flags(id).and(proven)
    }

    /// True if the result of an operation is poison where one of its operands is.
    pub(crate) fn spreads_poison(&self, op: Op) -> bool {
        let info = self.function.info(op);
        SPREAD.iter().any(|def| info.is(def))
    }

    /// Records a fact about an expression that holds wherever it is defined.
    pub(super) fn note(&mut self, id: ExprId, flags: Flags) {
        if matches!(self.pool.get(id), Expr::Add(_) | Expr::Mul(_) | Expr::AddRec(..)) {
            self.pool.note(id, flags);
        }
    }

    /// Records facts about the recurrence with these operands, if `id` is that recurrence and no
    /// simpler expression with the same values. Flags of stepping imply nothing about a recurrence
    /// without a step, for example.
    pub(super) fn note_recurrence(&mut self, id: ExprId, of: LoopId, operands: &[ExprId], flags: Flags) {
        if matches!(self.pool.get(id), Expr::AddRec(own, all) if *own == of && **all == *operands) {
            self.pool.note(id, flags);
        }
    }

    fn prove_flags(&mut self, id: ExprId) -> Flags {
        let width = self.width(id);
        let fits = |(unsigned, signed): Exact| {
            let ends = signed_ends(width);
            let nuw = unsigned.is_some_and(|exact| exact.1 <= mask(width));
            let nsw = signed.is_some_and(|exact| exact.0 >= ends.0 && exact.1 <= ends.1);
            Flags { nw: nuw || nsw, nuw, nsw }
        };
        match self.pool.get(id).clone() {
            Expr::Add(operands) => {
                let ranges: Vec<_> = operands.iter().map(|operand| self.range(*operand)).collect();
                fits(sum(&ranges))
            }
            Expr::Mul(operands) => {
                let ranges: Vec<_> = operands.iter().map(|operand| self.range(*operand)).collect();
                fits(product(&ranges))
            }
            Expr::AddRec(of, operands) if operands.len() == 2 => {
                let (start, step) = (self.range(operands[0]), self.range(operands[1]));
                let noted = self.pool.flags(id);
                let mut flags = Flags::NONE;
                if let Some(most) = self.constant_max(of) {
                    flags = fits(steps(start, step, most));
                    let way = step.signed.0.unsigned_abs().max(step.signed.1.unsigned_abs());
                    flags.nw |= most.checked_mul(way).is_some_and(|way| way <= mask(width));
                }
                let nsw = flags.nsw || noted.nsw;
                flags.nuw |= nsw && start.signed.0 >= 0 && step.signed.0 >= 0;
                flags.nw |= flags.nuw || nsw || noted.nuw;
                flags
            }
            _ => Flags::NONE,
        }
    }

    /// True if a recurrence decreases without going below zero, read as unsigned.
    pub(super) fn falls_unsigned(&mut self, id: ExprId) -> bool {
        let Expr::AddRec(of, operands) = self.pool.get(id).clone() else { return false };
        let [start, step] = *operands else { return false };
        let (start, step) = (self.range(start), self.range(step));
        self.constant_max(of).is_some_and(|most| falling(start, step, most).is_some())
    }

    /// True if poison in `next`, the value that returns to a header, is undefined behaviour in each
    /// iteration. Either `next` is used before each backedge in a way that forbids poison, or the
    /// header itself uses `argument` so.
    pub(super) fn is_never_poison_again(&self, of: LoopId, argument: Value, next: Value) -> bool {
        let own = self.analysis.loops().get(of);
        let latches: Vec<u32> = self.latches(of);
        let surely = |block: Block| {
            let node = self.analysis.number(block);
            self.analysis.loops().contains(of, node)
                && latches.iter().all(|latch| self.analysis.dominators().dominates(node, *latch))
        };
        let function = self.function;
        let mut poisoned: HashSet<Value> = HashSet::from_iter([next]);
        let mut pending = vec![next];
        while let Some(value) = pending.pop() {
            for used in function.uses(value) {
                let is_sure = function.block_of(used.op).is_some_and(surely);
                if is_sure && self.is_undefined_for(used.op, &|operand| operand == value) {
                    return true;
                }
                if self.spreads_poison(used.op) && poisoned.len() < MAX_POISONED {
                    let result = function.result(used.op, 0);
                    if poisoned.insert(result) {
                        pending.push(result);
                    }
                }
            }
        }
        let header = self.analysis.block(own.header());
        self.runs_into_undefined(header, None, argument)
    }

    /// True if a value is certain to be computed after the entry of a block or the execution of an
    /// operation. Its poison must also be certain to cause undefined behaviour.
    pub(super) fn is_never_poison_after(&self, block: Block, after: Option<Op>, value: Value) -> bool {
        self.runs_into_undefined(block, after, value)
    }

    /// Walks from the start of a block, or from behind an operation. Ends with true once poison in
    /// `value` is undefined behaviour, and with false at a fork.
    fn runs_into_undefined(&self, block: Block, after: Option<Op>, value: Value) -> bool {
        let function = self.function;
        let mut poisoned: HashSet<Value> = HashSet::from_iter([value]);
        let mut op = match after {
            Some(after) => function.next_op(after),
            None => function.first_op(block),
        };
        // The value may be defined behind the start. It has no uses before its definition.
        for _ in 0..MAX_WALK {
            let Some(at) = op else { return false };
            if self.is_undefined_for(at, &|operand| poisoned.contains(&operand)) {
                return true;
            }
            if function.has_trait(at, loomir_ir::Trait::Terminator) {
                let mut successors = function.block_successors(function.block_of(at).unwrap_or(block));
                let next = successors.next();
                let only = next.filter(|next| successors.all(|other| other == *next));
                let is_entered_once = only.is_some_and(|next| {
                    let node = self.analysis.number(next);
                    self.analysis.graph().predecessors(node).len() == 1
                });
                // A block with other predecessors may run again with other values.
                op = only.filter(|_| is_entered_once).and_then(|next| function.first_op(next));
                continue;
            }
            if !self.goes_on(at) {
                return false;
            }
            if self.spreads_poison(at) && function.operands(at).any(|operand| poisoned.contains(&operand)) {
                poisoned.insert(function.result(at, 0));
            }
            op = function.next_op(at);
        }
        false
    }

    /// True if the next operation is certain to be executed.
    pub(super) fn goes_on(&self, op: Op) -> bool {
        let view = self.function.op_ref(op);
        if self.function.has_trait(op, loomir_ir::Trait::Pure) {
            return true;
        }
        let is_known = view.info().interface::<dyn MemoryEffects>();
        is_known.is_some_and(|model| !model.may_not_return(view)) && view.attr("volatile_").is_none()
    }

    fn is_undefined_for(&self, op: Op, is_poison: &dyn Fn(Value) -> bool) -> bool {
        let info = self.function.info(op);
        let operand = UNDEFINED.iter().find(|(def, _)| info.is(def)).map(|(_, operand)| *operand);
        operand.is_some_and(|operand| is_poison(self.function.operand(op, operand)))
    }
}
