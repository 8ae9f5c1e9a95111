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
//!   leaves the object before it wraps around. Volatile accesses may be elsewhere.
//! - If so many iterations are certain to run into undefined behaviour, the count need not hold.
//!   They are certain if each iteration is certain to complete.
//! - The count need not hold either if no iteration has an effect, and the loop leaves no value. A
//!   condition that does not change may decide that: rows without columns. Tried with
//!   `fixtures/raising/columns.ll`.
//! - An object has less than two to the power of 63 elements. An index moves in one direction too,
//!   if its product with the size of an element does not wrap around.
//!
//! **Cost.** The operations of each loop once for each loop around, if no range bounds it.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::interp::layout::Layout;
use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::{NUSW, NUW, byte_offsets, no_wrap_flags};
use loomir_ir::graph::Digraph;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Op, Value};
use loomir_transforms::affine::operation::Predicate;

use crate::cfg::branch::{is_plain, targets};
use crate::cfg::effects::is_seen;
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId, ExprType};

/// The width of a count that may be too large.
const WIDTH: u32 = 64;
/// The maximal number of loops around a loop, or in it, that are examined for it.
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
    /// another place of one object in each iteration that has an effect.
    fn has_accesses(&mut self, scev: &mut ScalarEvolution<'_>, of: LoopId) -> bool {
        if let Some(known) = self.by_accesses.get(&of) {
            return *known;
        }
        let answer = !scev.may_stop(of) && {
            let course = Course::of(scev, of);
            has_accesses_on(scev, &course, MAX_AROUND)
        };
        self.by_accesses.insert(of, answer);
        answer
    }
}

/// True if each iteration on a course, or each iteration of a loop inside with the same count that
/// it enters, accesses another place of one object. Looks at so many loops one in the other.
fn has_accesses_on(scev: &mut ScalarEvolution<'_>, course: &Course, depth: usize) -> bool {
    let (function, analysis, of) = (scev.function(), scev.analysis(), course.of);
    let latches = scev.latches(of);
    for node in analysis.loops().get(of).nodes.iter().copied() {
        if !course.passes(node, &latches) {
            continue;
        }
        let ops = function.ops(analysis.block(node));
        let pointers: Vec<Value> = ops.filter_map(|op| accessed(scev, op)).collect();
        if pointers.into_iter().any(|pointer| moves(scev, course, node, pointer)) {
            return true;
        }
    }
    let Some(count) = scev.counts(of).exact.filter(|_| depth > 1) else { return false };
    let children = analysis.loops().get(of).children.iter().copied();
    for inner in children {
        let is_alike = scev.counts(inner).exact == Some(count)
            && course.passes(analysis.loops().get(inner).header(), &latches)
            && !scev.may_stop(inner);
        // The loop around may have effects where this one has none.
        let whole = is_alike.then(|| Course::whole(scev, inner));
        if whole.is_some_and(|whole| has_accesses_on(scev, &whole, depth - 1)) {
            return true;
        }
    }
    false
}

/// The iterations of a loop that have effects. Conditions that do not change may decide that none
/// has.
struct Course {
    of: LoopId,
    /// The nodes of the loop.
    nodes: HashMap<u32, u32>,
    /// Their dominators, where each such condition leads to the effects.
    dominators: DominatorTree,
}

impl Course {
    /// Returns the course of the iterations that have effects.
    fn of(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Course {
        let effects = if leaves_values(scev, of) { None } else { place_of_effects(scev, of) };
        Course::to(scev, of, effects)
    }

    /// Returns the course of all iterations.
    fn whole(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Course {
        Course::to(scev, of, None)
    }

    fn to(scev: &mut ScalarEvolution<'_>, of: LoopId, effects: Option<u32>) -> Course {
        let analysis = scev.analysis();
        let own = &analysis.loops().get(of).nodes;
        let nodes: HashMap<u32, u32> = own.iter().copied().zip(0..).collect();
        let mut edges = Vec::new();
        for node in own {
            let needed = effects.and_then(|place| needed_edge(scev, of, (*node, place)));
            let all = analysis.graph().successors(*node).iter();
            let inside =
                all.filter(|to| needed.is_none_or(|only| only == **to)).filter_map(|to| nodes.get(to));
            edges.extend(inside.filter(|to| **to != 0).map(|to| (nodes[node], *to)));
        }
        let dominators = DominatorTree::new(&Digraph::new(own.len(), &edges), 0);
        Course { of, nodes, dominators }
    }

    /// True if an iteration passes through a node before it comes to one of these ends.
    fn passes(&self, node: u32, ends: &[u32]) -> bool {
        let Some(node) = self.nodes.get(&node).filter(|node| self.dominators.is_reachable(**node)) else {
            return false;
        };
        let known = ends.iter().filter_map(|end| self.nodes.get(end));
        let mut reached = known.filter(|end| self.dominators.is_reachable(**end)).peekable();
        reached.peek().is_some() && reached.all(|end| self.dominators.dominates(*node, *end))
    }
}

/// Returns the nearest node that dominates all effects in a loop. `None` if it has none.
fn place_of_effects(scev: &ScalarEvolution<'_>, of: LoopId) -> Option<u32> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let has_effects = |node: &&u32| {
        let mut ops = function.ops(analysis.block(**node));
        ops.any(|op| !is_plain(function, op) && is_seen(function, op))
    };
    let places = analysis.loops().get(of).nodes.iter().filter(has_effects).copied();
    places.reduce(|a, b| analysis.dominators().nearest_common(a, b))
}

/// Returns the edge of a branch in a loop that leads to the effects, if the branch goes the same
/// way in all iterations, and there are none the other way.
fn needed_edge(scev: &mut ScalarEvolution<'_>, of: LoopId, (node, effects): (u32, u32)) -> Option<u32> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let branch = function.terminator(analysis.block(node))?;
    if !function.is(branch, llvm::CondBrOp::DEF) {
        return None;
    }
    let leads_there = |to: &&u32| {
        analysis.graph().predecessors(**to) == [node] && analysis.dominators().dominates(**to, effects)
    };
    let to = *analysis.graph().successors(node).iter().find(leads_there)?;
    let condition = function.operand(branch, 0);
    scev.expr_type(condition)?;
    let condition = scev.expr(condition);
    scev.is_invariant(condition, of).then_some(to)
}

/// True if a value that a loop computes may be used behind it. The way out is such a value too.
fn leaves_values(scev: &ScalarEvolution<'_>, of: LoopId) -> bool {
    let (function, analysis) = (scev.function(), scev.analysis());
    let is_inside = |block| analysis.loops().contains(of, analysis.number(block));
    let roles = Roles::of(analysis, of);
    roles.exit_edges.len() > 1
        || roles.exiting.iter().any(|from| {
            let branch = function.terminator(analysis.block(*from));
            let ways = branch.map(|branch| targets(function, branch)).unwrap_or_default();
            let leaving = ways.into_iter().filter(|to| !is_inside(to.block));
            let mut values = leaving.flat_map(|to| to.operands);
            values.any(|value| function.value_block(value).is_none_or(is_inside))
        })
}

/// Returns the address of a load or store of at least a byte that is not volatile.
fn accessed(scev: &ScalarEvolution<'_>, op: Op) -> Option<Value> {
    let function = scev.function();
    let view = function.op_ref(op);
    let (pointer, ty) = match () {
        () if view.is(llvm::LoadOp::DEF) => (view.operand(0), view.result_type(0)),
        () if view.is(llvm::StoreOp::DEF) => (view.operand(1), view.operand_type(0)),
        () => return None,
    };
    let layout = Layout::of(function.ctx(), ty, scev.data_layout()).ok()?;
    (layout.store_size > 0 && view.attr("volatile_").is_none()).then_some(pointer)
}

/// True if an access in a node of a loop is at another place of its object each time the loops
/// around it in the loop run for the first time, and moves by a fixed distance.
fn moves(scev: &mut ScalarEvolution<'_>, course: &Course, node: u32, pointer: Value) -> bool {
    if scev.expr_type(pointer) != Some(ExprType::Pointer(WIDTH)) || !is_in_first_times(scev, course, node) {
        return false;
    }
    let address = scev.expr(pointer);
    [Some(address), element(scev, course.of, pointer)].into_iter().flatten().any(|place| {
        let steps = steps(scev, course.of, node, place);
        steps.is_some_and(|steps| is_moving(scev, course, &steps, node))
    })
}

/// True if each loop around a node passes through it in its first iteration, if it has effects.
fn is_in_first_times(scev: &ScalarEvolution<'_>, course: &Course, node: u32) -> bool {
    let loops = scev.analysis().loops();
    let around = std::iter::successors(loops.innermost(node), |own| loops.get(*own).parent);
    let mut inner = around.take_while(|own| *own != course.of);
    inner.all(|own| course.passes(node, &scev.latches(own)))
}

/// True if the last of some steps is not zero where a node runs: its range says so, or a loop
/// inside passes through all places between.
fn is_moving(scev: &mut ScalarEvolution<'_>, course: &Course, steps: &[(LoopId, ExprId)], node: u32) -> bool {
    let [inner @ .., (_, step)] = steps else { return false };
    let inside = scev.analysis().loops().innermost(node);
    if scev.range_in(*step, inside).unsigned.0 > 0 {
        return true;
    }
    // All places of the loop inside are in the object, less than half of all words apart. One step
    // further is no whole turn.
    let [.., (around, by)] = inner else { return false };
    let exiting = Roles::of(scev.analysis(), *around).exiting;
    let Some(times) = scev.trip_count(*around).filter(|_| course.passes(node, &exiting)) else {
        return false;
    };
    scev.width(times) == scev.width(*by)
        && scev.mul(&[times, *by]) == *step
        && is_moving(scev, course, inner, node)
}

/// Returns by how much a number grows in `of` and in the loops inside, from one first time that
/// the loops in them run to the next. `of` comes last.
fn steps(scev: &ScalarEvolution<'_>, of: LoopId, node: u32, mut id: ExprId) -> Option<Vec<(LoopId, ExprId)>> {
    let loops = scev.analysis().loops();
    let mut steps = Vec::new();
    while let Expr::AddRec(around, parts) = scev.get(id) {
        let [start, step] = parts[..] else { return None };
        steps.push((*around, step));
        if *around == of {
            return Some(steps);
        }
        // Behind a loop its variable has the last value.
        if !loops.contains(of, loops.get(*around).header()) || !loops.contains(*around, node) {
            return None;
        }
        id = start;
    }
    None
}

/// Returns the index of an address computation in a loop, if different indices are different places
/// in an object, in the same order: the product of the index and its size does not wrap around.
fn element(scev: &mut ScalarEvolution<'_>, of: LoopId, pointer: Value) -> Option<ExprId> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let view = function.defining_op(pointer).map(|op| function.op_ref(op))?;
    if !view.is(llvm::GEPOp::DEF) || no_wrap_flags(view) & (NUSW | NUW) == 0 {
        return None;
    }
    let root = function.value_block(view.operand(0))?;
    let (_, scaled) = byte_offsets(view, scev.data_layout()).ok()?;
    let [(index, 1..)] = scaled[..] else { return None };
    let is_element = !analysis.loops().contains(of, analysis.number(root))
        && scev.expr_type(index) == Some(ExprType::Integer(WIDTH));
    is_element.then(|| scev.expr(index))
}
