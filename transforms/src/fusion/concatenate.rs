//! Concatenation: two neighbouring loops with equal bodies, of which the second begins where the
//! first ends, become one loop.
//!
//! ```text
//!     for j in 0..i + 1 { S(j) }
//!     for j in i + 1..n { S(j) }    ──>    for j in 0..n { S(j) }
//! ```
//!
//! The iterations run in the same order as before, so no dependence matters. But none may be added:
//! `0 ≤ i + 1 ≤ n` must be known. If it is not, an `scf` loop runs from the least of the first two
//! bounds to the greatest of the last two. Operations between the loops run before both, if they
//! only compute. A loop whose other neighbour has the same bounds is left to be fused with that.
//!
//! **Assumptions.**
//! - The second loop's end is used before the first loop runs. If it may be poison, the first loop
//!   must be certain to return. Tried with `fixtures/fusion/concatenation.mlir`.
//! - The steps are equal, and divide the distance of the lower bounds. Tried with
//!   `fixtures/fusion/concatenation.mlir`.
//!
//! **Cost.** Each loop is compared with the next one. Only blocks with two equal bodies are raised.

use hashbrown::HashMap;
use loomir_dialects::{affine, arith, scf};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, OperationState, Type, Value};
use loomir_polyhedra::Limits;

use super::make_adjacent::ENTRIES_PASSED;
use super::pair::root_of;
use super::{NAME, Options, remarks};
use crate::access::LoopContext;
use crate::affine::AffineForm;
use crate::effects::{Effects, Summary};
use crate::equal::has_equal_bodies;
use crate::marks;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{LoopId, Program, TreeStore};

/// The limits on the comparison of two bounds.
const COMPARISON: Limits = Limits::steps(10_000);

/// Concatenates loops of a function. Returns the number of pairs that became one loop, and a remark
/// for each pair with equal bodies that did, or would have under other bounds.
pub(super) fn concatenate(body: &mut Body, options: &Options) -> (usize, Diagnostics) {
    let mut said = Diagnostics::default();
    let candidates = candidates(body);
    if candidates.is_empty() {
        return (0, said);
    }
    let effects = Effects::of(body);
    let mut done = 0;
    for (root, pairs) in by_root(body, candidates, options) {
        let mut trees = TreeStore::default();
        let program = raise_by(&options.analyses, body, root, &mut trees, options.alias);
        let mut ranges = Ranges::of(&program, &trees);
        let mut remarks = Vec::new();
        // The last pair comes first: then the second loop of a pair is complete.
        for (first, second) in pairs.into_iter().rev() {
            let Some(found) = ranges.found(body, first, second) else { continue };
            if let Err(why) = &found {
                remarks.push(why.remark(body, first, second));
            }
            let Ok(order) = found else { continue };
            let may_stop = effects.get(first).may_not_return() && ranges.may_be_undefined(second);
            if may_stop {
                remarks.push(Refusal::MayNotReturn.remark(body, first, second));
            } else if options.edits.allows_more() {
                remarks.push(done_remark(body, first, second));
                options.edits.made(NAME, body.loc(second));
                ranges.join(first, second, order);
                write(body, first, second, order);
                done += 1;
            }
        }
        remarks.into_iter().rev().for_each(|remark| said.push(remark));
    }
    (done, said)
}

/// Returns the blocks that are raised to a tree of their own, each with its pairs.
fn by_root(body: &Body, pairs: Vec<(Op, Op)>, options: &Options) -> Vec<(Block, Vec<(Op, Op)>)> {
    let roots = roots(body, &options.analyses).into_iter().collect();
    let mut blocks: Vec<(Block, Vec<(Op, Op)>)> = Vec::new();
    let mut places: HashMap<Block, usize> = HashMap::new();
    for pair in pairs {
        let Some(root) = root_of(body, pair.0, &roots) else { continue };
        let at = *places.entry(root).or_insert(blocks.len());
        if at == blocks.len() {
            blocks.push((root, Vec::new()));
        }
        blocks[at].1.push(pair);
    }
    blocks
}

/// Returns the pairs of neighbouring loops with equal bodies, in the order of the text.
fn candidates(body: &Body) -> Vec<(Op, Op)> {
    let is_loop = |op: &Op| body.is(*op, scf::ForOp::DEF) || body.is(*op, affine::ForOp::DEF);
    let loops = body.all_ops().filter(is_loop);
    loops
        .filter_map(|first| Some((first, next_loop(body, first)?)))
        .filter(|pair| is_alike(body, *pair))
        .collect()
}

/// Returns the next loop in a block, behind operations that only compute.
fn next_loop(body: &Body, first: Op) -> Option<Op> {
    let behind = std::iter::successors(body.next_op(first), |op| body.next_op(*op));
    let mut behind = behind.take(ENTRIES_PASSED);
    let next = behind.find(|op| body.own_regions(*op).len() > 0 || !is_passed(body, *op));
    next.filter(|next| body.op_name(*next) == body.op_name(first))
}

/// True if an operation may run before the loop that it stands behind.
fn is_passed(body: &Body, op: Op) -> bool {
    Summary::of_itself(body.op_ref(op)).is_speculatable()
}

/// True if two loops of one kind do the same, and the second goes on with what the first carries.
fn is_alike(body: &Body, (first, second): (Op, Op)) -> bool {
    let is_marked = |op: Op| marks::OF_LOOPS.iter().any(|mark| body.attr(op, mark).is_some());
    let carried = body.num_results(first);
    let inits = body.operands(second).skip(body.num_operands(second).saturating_sub(carried));
    let is_only_use = |value: Value| body.uses(value).all(|own| own.op == second);
    body.attributes(first) == body.attributes(second)
        && !is_marked(first)
        && body.num_results(second) == carried
        && inits.eq(body.results(first))
        && body.results(first).all(is_only_use)
        && body.operands(second).filter(|own| body.results(first).any(|result| result == *own)).count()
            == carried
        && has_equal_bodies(body, first, second)
}

/// The order of the bounds of two loops, of which the second begins where the first ends.
#[derive(Clone, Copy)]
struct Bounds {
    /// True if the first loop is known not to begin behind its end.
    first_increases: bool,
    /// The same of the second loop.
    second_increases: bool,
}

/// The reason why two loops with equal bodies stay apart.
enum Refusal {
    /// A bound may be less than the one before.
    UnknownOrder,
    /// The first loop may not return, and the bounds of the second may be undefined.
    MayNotReturn,
}

impl Refusal {
    fn remark(&self, body: &Body, first: Op, second: Op) -> Diagnostic {
        let (name, why) = match self {
            Refusal::UnknownOrder => ("UnknownOrder", "It is not known that the bounds increase"),
            Refusal::MayNotReturn => {
                ("MayNotReturn", "The first may not return, and the end of the second may be poison")
            }
        };
        remarks::remarks(body)
            .missed(name, body.loc(second), "Loops with equal bodies not concatenated", why)
            .note(body.loc(first), "the first loop is here")
            .arg("first", body.loc(first))
    }
}

/// Returns the remark about two loops that become one.
fn done_remark(body: &Body, first: Op, second: Op) -> Diagnostic {
    remarks::remarks(body)
        .passed("Concatenated", body.loc(second), "Loops with equal bodies concatenated")
        .note(body.loc(first), "with this loop, which ends where the other begins")
        .arg("first", body.loc(first))
}

/// The iterations of a loop: its lower bound, its upper bounds, and its step.
type Iterations = (AffineForm, Vec<AffineForm>, i64);

/// The iterations of the loops of a program, as far as they are affine.
struct Ranges<'p> {
    program: &'p Program,
    trees: &'p TreeStore,
    loops: HashMap<Op, LoopId>,
    /// The loops that have changed.
    changed: HashMap<Op, Option<Iterations>>,
}

impl<'p> Ranges<'p> {
    fn of(program: &'p Program, trees: &'p TreeStore) -> Ranges<'p> {
        let loops = program.loops().map(|id| (program.loop_info(id).op, id)).collect();
        Ranges { program, trees, loops, changed: HashMap::new() }
    }

    /// Returns the iterations of a loop, if its bounds are affine and its step is a constant.
    fn of_loop(&self, op: Op) -> Option<Iterations> {
        if let Some(changed) = self.changed.get(&op) {
            return changed.clone();
        }
        let space = &self.program.loop_info(*self.loops.get(&op)?).space;
        let uppers = space.uppers.iter().cloned().collect::<Option<Vec<AffineForm>>>()?;
        space.is_counted().then_some((space.lower.clone()?, uppers, space.step?))
    }

    /// Returns the order of two loops' bounds. `None` if the second does not begin where the first
    /// ends, or if another neighbour has the bounds of one of them.
    fn found(&self, body: &Body, first: Op, second: Op) -> Option<Result<Bounds, Refusal>> {
        let (own, others) = (self.of_loop(first)?, self.of_loop(second)?);
        let ([end], step) = (&own.1[..], own.2) else { return None };
        let distance = end.minus(&own.0)?;
        let is_multiple = distance.constant_part() % step == 0
            && distance.terms().iter().all(|(_, coefficient)| coefficient % step == 0);
        if step != others.2 || *end != others.0 || !is_multiple {
            return None;
        }
        let before = self.neighbour(body, first, &|op| body.prev_op(op));
        let behind = self.neighbour(body, second, &|op| body.next_op(op));
        if before.is_some_and(|before| before == own) || behind.is_some_and(|behind| behind == others) {
            return None;
        }
        let around = LoopContext::around(self.program, self.trees, *self.loops.get(&first)?);
        let increases = |from: &AffineForm, to: &AffineForm| {
            to.minus(from).is_some_and(|distance| around.implies(&distance, &COMPARISON))
        };
        let bounds = Bounds {
            first_increases: increases(&own.0, end),
            second_increases: others.1.iter().all(|upper| increases(end, upper)),
        };
        let is_known = bounds.first_increases && bounds.second_increases;
        Some(if is_known || body.is(first, scf::ForOp::DEF) {
            Ok(bounds)
        } else {
            Err(Refusal::UnknownOrder)
        })
    }

    /// Returns the iterations of the nearest loop on one side of a loop.
    fn neighbour(&self, body: &Body, op: Op, next: &dyn Fn(Op) -> Option<Op>) -> Option<Iterations> {
        let mut others = std::iter::successors(next(op), |op| next(*op)).take(ENTRIES_PASSED);
        others.find(|op| body.own_regions(*op).len() > 0).and_then(|op| self.of_loop(op))
    }

    /// True if the bounds of a loop may be undefined.
    fn may_be_undefined(&self, op: Op) -> bool {
        self.loops.get(&op).is_none_or(|id| self.program.loop_info(*id).may_be_undefined)
    }

    /// Notes that two loops became the first.
    fn join(&mut self, first: Op, second: Op, order: Bounds) {
        let is_known = order.first_increases && order.second_increases;
        let both = self.of_loop(first).zip(self.of_loop(second)).filter(|_| is_known);
        let both = both.map(|((lower, _, step), (_, uppers, _))| (lower, uppers, step));
        self.changed.insert(first, both);
        self.changed.insert(second, None);
    }
}

/// Makes two loops one: the first, in the place of the second.
fn write(body: &mut Body, first: Op, second: Op, order: Bounds) {
    body.move_before(first, second);
    if body.is(first, affine::ForOp::DEF) {
        let group = |op: Op, name: &str| body.op_ref(op).operand_group(name);
        let groups =
            [group(first, "lowerBoundOperands"), group(second, "upperBoundOperands"), group(first, "inits")];
        let segments = body
            .ctx()
            .dense_ints_attr(Type::I32, &groups.iter().map(|group| group.len() as i64).collect::<Vec<_>>());
        if let Some(map) = body.attr(second, "upperBoundMap") {
            body.set_attr(first, "upperBoundMap", map);
        }
        body.set_operands(first, &groups.concat());
        body.set_attr(first, OPERAND_SEGMENTS, segments);
    } else {
        let [lower, end, upper] = [(first, 0), (first, 1), (second, 1)].map(|(op, at)| body.operand(op, at));
        let lower =
            if order.first_increases { lower } else { pick(body, arith::MinSIOp::DEF, lower, end, first) };
        let upper =
            if order.second_increases { upper } else { pick(body, arith::MaxSIOp::DEF, end, upper, first) };
        body.set_operand(first, 0, lower);
        body.set_operand(first, 1, upper);
    }
    let results: Vec<(Value, Value)> = body.results(second).zip(body.results(first)).collect();
    for (from, to) in results {
        body.replace_all_uses(from, to);
    }
    body.erase(second);
}

/// Returns the lesser or the greater of two values, computed before a loop.
fn pick(body: &mut Body, def: &'static OpDef, a: Value, b: Value, before: Op) -> Value {
    let ctx = body.ctx().clone();
    let mut state = OperationState::of(&ctx, def, body.loc(before));
    state.operands.extend([a, b]);
    state.result_types = vec![body.value_type(a)];
    let op = body.create(state);
    body.insert_before(before, op);
    body.result(op, 0)
}
