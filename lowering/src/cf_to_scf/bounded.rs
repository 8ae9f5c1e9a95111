//! Loops with less than two to the power of 63 iterations.
//!
//! `scf.for` reads its number of iterations as signed, unless it is an unsigned loop. A count of
//! 64 bits fits if ranges say so, if a guard orders the two numbers that it is the difference of,
//! if it falls to its last value over the iterations of a loop around, or if the loop accesses
//! another place of one object in each iteration.
//!
//! **Assumptions.**
//! - No object covers half of all addresses. An access is in the object that its address is based
//!   on, whatever the arithmetic did. From place to place in one direction, the address therefore
//!   leaves the object before it wraps around.
//! - If so many iterations are certain to run into undefined behaviour, the count need not hold.
//!   They are certain if each iteration is certain to complete.
//!
//! **Cost.** The operations of each loop once for each loop around, if no range bounds it.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::llvm;
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;
use loomir_transforms::affine::operation::Predicate;

use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId, ExprType};

/// The width of a count that may be too large.
const WIDTH: u32 = 64;
/// The maximal number of loops around a loop that are examined for it.
const MAX_AROUND: usize = 8;

/// Answers about the loops of a function.
#[derive(Default)]
pub(super) struct Bounds {
    /// The loops with accesses that bound them.
    by_accesses: HashMap<LoopId, bool>,
}

/// Returns the highest number of a width that has a next one, both read as signed.
fn highest(width: u32) -> i128 {
    (1 << (width - 1)) - 2
}

/// True if a backedge-taken count of a loop has less than 64 bits, or read as signed is not
/// negative and leaves room for one more.
pub(super) fn fits(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> bool {
    scev.width(count) < WIDTH || is_natural(scev, of, count)
}

/// True if a backedge-taken count of 64 bits, read as unsigned, leaves room for one more.
pub(super) fn fits_unsigned(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> bool {
    if scev.width(count) != WIDTH {
        return false;
    }
    let most = u128::from(u64::MAX) - 1;
    scev.range_in(count, Some(of)).unsigned.1 <= most
        || is_guarded(scev, of, count, most.cast_signed())
        || is_told_apart(scev, of, count)
}

/// True if a backedge-taken count of a loop, read as signed, is not negative and leaves room for
/// one more.
pub(super) fn is_natural(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> bool {
    let (range, width) = (scev.range_in(count, Some(of)), scev.width(count));
    let is_small = i128::try_from(range.unsigned.1).is_ok_and(|most| most <= highest(width.min(WIDTH)));
    let is_bounded = |scev: &mut ScalarEvolution<'_>| {
        is_guarded(scev, of, count, highest(width)) || is_falling(scev, of, count, range.signed.1)
    };
    is_small || (width <= WIDTH && is_bounded(scev))
}

/// True if a guard of the loop says that the count is a difference of ordered numbers, from zero to
/// `highest`.
fn is_guarded(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId, highest: i128) -> bool {
    let width = scev.width(count);
    for fact in scev.facts(of).iter() {
        let (less, more) = match fact.predicate.unsigned() {
            Predicate::Ult | Predicate::Ule => (fact.a, fact.b),
            Predicate::Ugt | Predicate::Uge => (fact.b, fact.a),
            _ => continue,
        };
        if scev.width(less) > width {
            continue;
        }
        let is_signed = fact.predicate.is_signed();
        let is_strict = matches!(fact.predicate.unsigned(), Predicate::Ult | Predicate::Ugt);
        let [less, more] = [less, more].map(|id| {
            let id = scev.ptr_to_int(id);
            if is_signed { scev.sign_extend(id, width) } else { scev.zero_extend(id, width) }
        });
        let way = scev.minus(more, less);
        let behind = scev.minus(count, way);
        let Some(behind) = scev.as_constant(behind) else { continue };
        let behind = signed(width, behind);
        let [low, high] = [less, more].map(|id| scev.range_in(id, Some(of)));
        let most = match is_signed {
            true => high.signed.1 - low.signed.0,
            false => high.unsigned.1 as i128 - low.unsigned.0 as i128,
        };
        if i128::from(is_strict) + behind >= 0 && most + behind <= highest {
            return true;
        }
    }
    false
}

/// True if the count steps from one number that fits to another over the iterations of a loop
/// around.
fn is_falling(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId, greatest: i128) -> bool {
    let Expr::AddRec(around, parts) = scev.get(count).clone() else { return false };
    let [start, _] = parts[..] else { return false };
    let header = scev.analysis().loops().get(of).header();
    if !scev.analysis().loops().contains(around, header)
        || around == of
        || greatest > highest(scev.width(count))
    {
        return false;
    }
    let Some(times) = scev.counts(around).exact.filter(|_| scev.flags(count).nsw) else { return false };
    let Some(end) = scev.at_iteration(count, times) else { return false };
    [start, end].into_iter().all(|id| scev.range_in(id, Some(around)).signed.0 >= 0)
}

/// True if a guard of the loop says that two numbers differ, and the count is one less than the
/// difference.
fn is_told_apart(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> bool {
    let width = scev.width(count);
    for fact in scev.facts(of).iter() {
        if fact.predicate != Predicate::Ne || scev.width(fact.a) != width {
            continue;
        }
        let [a, b] = [fact.a, fact.b].map(|id| scev.ptr_to_int(id));
        for (from, to) in [(a, b), (b, a)] {
            let way = scev.minus(to, from);
            let behind = scev.minus(count, way);
            if scev.as_constant(behind).is_some_and(|behind| signed(width, behind) == -1) {
                return true;
            }
        }
    }
    false
}

impl Bounds {
    /// True if more iterations of a loop are certain to leave an object.
    pub(super) fn by_object(&mut self, scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> bool {
        let mut around = Some(of);
        for _ in 0..MAX_AROUND {
            let Some(own) = around else { break };
            // A loop around with as many iterations is undefined too if this one has too many.
            if scev.counts(own).exact == Some(count) && self.has_accesses(scev, own) {
                return true;
            }
            around = scev.analysis().loops().get(own).parent;
        }
        false
    }

    /// True if a loop, or one in it with the same count that each iteration enters, accesses
    /// another place of one object in each iteration.
    fn has_accesses(&mut self, scev: &mut ScalarEvolution<'_>, of: LoopId) -> bool {
        if let Some(known) = self.by_accesses.get(&of) {
            return *known;
        }
        let answer = !scev.may_stop(of) && self.find_accesses(scev, of);
        self.by_accesses.insert(of, answer);
        answer
    }

    fn find_accesses(&mut self, scev: &mut ScalarEvolution<'_>, of: LoopId) -> bool {
        let (function, analysis) = (scev.function(), scev.analysis());
        let latches = scev.latches(of);
        let always = |node: u32| latches.iter().all(|latch| analysis.dominators().dominates(node, *latch));
        let nodes: Vec<u32> =
            analysis.loops().get(of).nodes.iter().copied().filter(|node| always(*node)).collect();
        for node in nodes {
            for op in function.ops(analysis.block(node)) {
                let pointer = match (function.is(op, llvm::LoadOp::DEF), function.is(op, llvm::StoreOp::DEF))
                {
                    (true, _) => function.operand(op, 0),
                    (_, true) => function.operand(op, 1),
                    _ => continue,
                };
                if moves(scev, of, pointer) {
                    return true;
                }
            }
        }
        let count = scev.counts(of).exact;
        let children: Vec<LoopId> = analysis.loops().get(of).children.clone();
        children.into_iter().any(|inner| {
            count.is_some()
                && scev.counts(inner).exact == count
                && always(analysis.loops().get(inner).header())
                && self.has_accesses(scev, inner)
        })
    }
}

/// True if an address in a loop moves by a fixed distance in each iteration, from one first time
/// that inner loops run to the next.
fn moves(scev: &mut ScalarEvolution<'_>, of: LoopId, pointer: Value) -> bool {
    if scev.expr_type(pointer) != Some(ExprType::Pointer(WIDTH)) {
        return false;
    }
    let mut id = scev.expr(pointer);
    while let Expr::AddRec(around, parts) = scev.get(id).clone() {
        if around == of {
            let [_, step] = parts[..] else { return false };
            return scev.range_in(step, Some(of)).unsigned.0 > 0;
        }
        let header = scev.analysis().loops().get(around).header();
        if !scev.analysis().loops().contains(of, header) {
            return false;
        }
        id = parts[0];
    }
    false
}
