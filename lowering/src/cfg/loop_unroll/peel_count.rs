//! The number of iterations whose peeling makes the rest of a loop simpler.
//!
//! - An argument of the header becomes invariant after `k` iterations if the value that comes back
//!   to it is invariant after `k - 1`. An invariant value needs none; a comparison, cast or
//!   arithmetic needs as many as its operands.
//! - A comparison of a monotonic recurrence with an invariant bound has one outcome in the first
//!   iterations and the other afterwards. The number is that of the first ones.
//!
//! The rules and their limits are those of LLVM's `LoopPeel`. They say what helps, not what is
//! legal.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Op, OpDef, Value};
use loomir_transforms::affine::operation::Predicate;

use super::peel_loads;
use super::shape::Shape;
use crate::cfg::branch::successor_operands;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId};
use crate::cfg::scev::facts::Connective;

/// The maximal depth of `and` and `or` that are looked through.
const MAX_DEPTH: u32 = 4;
/// The maximal depth of values that an argument depends on.
const MAX_CHAIN: u32 = 64;

/// Operations whose result is invariant if their operands are.
const FOLLOWED: &[&OpDef] = &[
    llvm::AddOp::DEF,
    llvm::SubOp::DEF,
    llvm::MulOp::DEF,
    llvm::UDivOp::DEF,
    llvm::SDivOp::DEF,
    llvm::URemOp::DEF,
    llvm::SRemOp::DEF,
    llvm::ShlOp::DEF,
    llvm::LShrOp::DEF,
    llvm::AShrOp::DEF,
    llvm::AndOp::DEF,
    llvm::OrOp::DEF,
    llvm::XOrOp::DEF,
    llvm::FAddOp::DEF,
    llvm::FSubOp::DEF,
    llvm::FMulOp::DEF,
    llvm::FDivOp::DEF,
    llvm::FRemOp::DEF,
    llvm::ICmpOp::DEF,
    llvm::FCmpOp::DEF,
    llvm::TruncOp::DEF,
    llvm::ZExtOp::DEF,
    llvm::SExtOp::DEF,
    llvm::FPExtOp::DEF,
    llvm::FPTruncOp::DEF,
    llvm::FPToSIOp::DEF,
    llvm::FPToUIOp::DEF,
    llvm::SIToFPOp::DEF,
    llvm::UIToFPOp::DEF,
    llvm::PtrToIntOp::DEF,
    llvm::IntToPtrOp::DEF,
    llvm::BitcastOp::DEF,
    llvm::AddrSpaceCastOp::DEF,
];

/// Returns the number of first iterations to peel, at most `max`; zero if that helps nothing.
pub(super) fn first(scev: &mut ScalarEvolution<'_>, id: LoopId, shape: &Shape, max: u64) -> u64 {
    let by_arguments = Arguments::new(scev, id, shape).count(max);
    let by_conditions = Conditions { scev, id, max, first: 0 }.first(shape);
    match by_arguments.max(by_conditions) {
        0 => peel_loads::count(scev, id, shape),
        count => count,
    }
}

/// Counts iterations until arguments of a header are invariant.
struct Arguments<'s, 'f> {
    scev: &'s ScalarEvolution<'f>,
    id: LoopId,
    header: Block,
    /// The values that come back to the header's arguments.
    carried: Vec<Value>,
    known: HashMap<Value, Option<u64>>,
}

impl<'s, 'f> Arguments<'s, 'f> {
    fn new(scev: &'s ScalarEvolution<'f>, id: LoopId, shape: &Shape) -> Self {
        let function = scev.function();
        let backedge = shape.backedge(function);
        let carried = backedge.map(|(op, index)| successor_operands(function, op).swap_remove(index));
        let carried = carried.unwrap_or_default();
        Arguments { scev, id, header: shape.header, carried, known: HashMap::new() }
    }

    /// Returns the number of iterations after which every argument is invariant that ever is,
    /// within `max`.
    fn count(mut self, max: u64) -> u64 {
        let arguments: Vec<Value> = self.scev.function().arguments(self.header).collect();
        let counts = arguments.into_iter().filter_map(|argument| self.iterations(argument, max, MAX_CHAIN));
        counts.collect::<Vec<u64>>().into_iter().max().unwrap_or(0)
    }

    fn iterations(&mut self, value: Value, max: u64, depth: u32) -> Option<u64> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        // A value that depends on itself is never invariant.
        self.known.insert(value, None);
        let function = self.scev.function();
        let analysis = self.scev.analysis();
        let is_inside = |block: Block| analysis.loops().contains(self.id, analysis.number(block));
        let count = if !function.value_block(value).is_some_and(is_inside) {
            Some(0)
        } else if depth == 0 {
            None
        } else if let Some(op) = function.defining_op(value) {
            let is_constant = function.has_trait(op, loomir_ir::Trait::ConstantLike);
            let is_followed = FOLLOWED.iter().any(|def| function.is(op, def));
            let operands: Vec<Value> = function.operands(op).collect();
            if is_constant {
                Some(0)
            } else if is_followed {
                let counts = operands.into_iter().map(|operand| self.iterations(operand, max, depth - 1));
                counts.collect::<Option<Vec<u64>>>().map(|counts| counts.into_iter().max().unwrap_or(0))
            } else {
                None
            }
        } else {
            let place = function.arguments(self.header).position(|argument| argument == value);
            let back = place.and_then(|place| self.carried.get(place).copied());
            let before = back.and_then(|back| self.iterations(back, max, depth - 1));
            before.map(|before| before + 1).filter(|count| *count <= max)
        };
        self.known.insert(value, count);
        count
    }
}

/// Counts iterations in which conditions have one outcome.
struct Conditions<'s, 'f> {
    scev: &'s mut ScalarEvolution<'f>,
    id: LoopId,
    max: u64,
    first: u64,
}

impl Conditions<'_, '_> {
    fn first(mut self, shape: &Shape) -> u64 {
        let most = self.scev.counts(self.id).constant_max.and_then(|most| self.scev.as_constant(most));
        if let Some(most) = most {
            self.max = self.max.min(u64::try_from(most.saturating_sub(1)).unwrap_or(u64::MAX));
        }
        let function = self.scev.function();
        for block in &shape.blocks {
            for op in function.ops(*block) {
                if function.is(op, llvm::SelectOp::DEF) {
                    self.condition(function.operand(op, 0), 0);
                } else if let Some((predicate, is_signed)) = extreme(self.scev, op) {
                    self.extreme(op, predicate, is_signed);
                }
            }
            let branch = function.terminator(*block).filter(|op| function.is(*op, llvm::CondBrOp::DEF));
            if let Some(branch) = branch.filter(|_| *block != shape.latch) {
                self.condition(function.operand(branch, 0), 0);
            }
        }
        self.first
    }

    fn condition(&mut self, condition: Value, depth: u32) {
        let function = self.scev.function();
        let Some(op) = function.defining_op(condition).filter(|_| depth < MAX_DEPTH) else { return };
        if let Some(Connective::Both { operands, .. }) = self.scev.connective(op) {
            operands.into_iter().for_each(|operand| self.condition(operand, depth + 1));
            return;
        }
        let Some(predicate) = self.scev.predicate(op) else { return };
        let sides = [0, 1].map(|index| function.operand(op, index));
        if sides.iter().any(|side| self.scev.expr_type(*side).is_none()) {
            return;
        }
        let [a, b] = sides.map(|side| self.scev.expr(side));
        let is_own = |this: &Self, id: ExprId| matches!(this.scev.get(id), Expr::AddRec(of, parts) if *of == this.id && parts.len() == 2);
        let (moving, bound, predicate) = if is_own(self, a) {
            (a, b, predicate)
        } else if is_own(self, b) {
            (b, a, predicate.swapped())
        } else {
            return;
        };
        if self.scev.is_invariant(bound, self.id) && self.is_monotonic(moving, predicate) {
            self.comparison(moving, bound, predicate);
        }
    }

    /// True if the outcome of a comparison changes at most once, or twice for one of equality.
    fn is_monotonic(&mut self, moving: ExprId, predicate: Predicate) -> bool {
        let flags = self.scev.flags(moving);
        match predicate {
            Predicate::Eq | Predicate::Ne => flags.nw || flags.nuw || flags.nsw,
            _ if predicate.is_signed() => flags.nsw,
            _ => flags.nuw,
        }
    }

    /// Extends the number of peeled iterations to those in which a comparison has the outcome that
    /// it has in the next one, if it has the other outcome afterwards.
    fn comparison(&mut self, moving: ExprId, bound: ExprId, predicate: Predicate) {
        let Some((mut at, step)) = self.value_after(moving, self.first) else { return };
        let mut outcome = predicate;
        if !self.knows(outcome, at, bound) {
            outcome = outcome.inverse();
        }
        let Some((count, behind)) = self.while_known(at, step, bound, outcome) else { return };
        at = behind;
        let next = self.scev.add(&[at, step]);
        let is_equality = matches!(predicate, Predicate::Eq | Predicate::Ne);
        let mut count = count;
        if is_equality
            && !self.knows(outcome.inverse(), next, bound)
            && !self.knows(outcome, at, bound)
            && self.knows(outcome, next, bound)
        {
            if count >= self.max {
                return;
            }
            count += 1;
        }
        self.first = self.first.max(count);
    }

    /// Extends the number of peeled iterations to those in which a minimum or maximum is decided.
    fn extreme(&mut self, op: Op, (less, greater): (Predicate, Predicate), is_signed: bool) {
        let function = self.scev.function();
        let sides = [0, 1].map(|index| function.operand(op, index));
        if sides.iter().any(|side| self.scev.expr_type(*side).is_none()) {
            return;
        }
        let [a, b] = sides.map(|side| self.scev.expr(side));
        let (moving, bound) = if self.scev.is_invariant(a, self.id) { (b, a) } else { (a, b) };
        let Some((at, step)) = self.value_after(moving, self.first) else { return };
        let range = self.scev.range(step).signed;
        let predicate = match range {
            (1.., _) => less,
            (_, ..=-1) => greater,
            _ => return,
        };
        let flags = self.scev.flags(moving);
        let fits = if is_signed { flags.nsw } else { flags.nuw };
        if !fits || !self.scev.is_invariant(bound, self.id) {
            return;
        }
        if let Some((count, _)) = self.while_known(at, step, bound, predicate) {
            self.first = self.first.max(count);
        }
    }

    /// Steps on from iteration `self.first` while a comparison is known to hold. Returns the number
    /// of iterations before the one in which its inverse is known to hold, and the value there.
    fn while_known(
        &mut self,
        mut at: ExprId,
        step: ExprId,
        bound: ExprId,
        predicate: Predicate,
    ) -> Option<(u64, ExprId)> {
        let mut count = self.first;
        while count < self.max && self.knows(predicate, at, bound) {
            at = self.scev.add(&[at, step]);
            count += 1;
        }
        self.knows(predicate.inverse(), at, bound).then_some((count, at))
    }

    fn knows(&mut self, predicate: Predicate, a: ExprId, b: ExprId) -> bool {
        self.scev.is_known(predicate, a, b, None)
    }

    /// Returns the value of a linear recurrence of the loop in an iteration, and its step.
    fn value_after(&mut self, moving: ExprId, iteration: u64) -> Option<(ExprId, ExprId)> {
        let Expr::AddRec(of, operands) = self.scev.get(moving).clone() else { return None };
        let [_, step] = operands[..] else { return None };
        let number = self.scev.constant(64, u128::from(iteration));
        let at = self.scev.at_iteration(moving, number).filter(|_| of == self.id)?;
        Some((at, step))
    }
}

/// Returns the predicates of a minimum or maximum for a rising and a falling operand, and true if
/// it is signed.
fn extreme(scev: &ScalarEvolution<'_>, op: Op) -> Option<((Predicate, Predicate), bool)> {
    let is = |defs: [&'static OpDef; 2]| defs.iter().any(|def| scev.function().is(op, def));
    if is([llvm::SMinOp::DEF, llvm::SMaxOp::DEF]) {
        Some(((Predicate::Slt, Predicate::Sgt), true))
    } else if is([llvm::UMinOp::DEF, llvm::UMaxOp::DEF]) {
        Some(((Predicate::Ult, Predicate::Ugt), false))
    } else {
        None
    }
}
