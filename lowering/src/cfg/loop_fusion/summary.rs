//! What is known of the loops of a function before any is fused: how often they run, what they touch, what keeps them apart from others.
//!
//! It is read once, and stays true: operations move, but iterations of fused loops have the numbers they had, and so have levels. Values are names in it; one that has gone still names
//! what it was.
//!
//! Cost: that of scalar evolution and of accesses; for each loop its operations and accesses, so these times how deep loops nest.
//!
//! **Assumptions.**
//! - Attributes of a declaration forbid as much as those of a call: `convergent`, `returns_twice`
//!   and `noduplicate`.
//! - A store overwrites for sure only if its type fills its bytes.
//!
//! Tried with `loop_fusion_traps/declared.ll` and `store_sizes.ll`.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::layout::{DataLayout, Layout};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Op, Trait, Type, Value};
use loomir_transforms::access::base::Base;
use loomir_transforms::access::{Class, Domain};
use loomir_transforms::affine::AffineForm;
use loomir_transforms::affine::facts::Facts;
use loomir_transforms::tree::access_summary::{AccessSummary, Representative};

use super::candidate::Adjacent;
use super::exit_values::Finals;
use crate::cfg::Analysis;
use crate::cfg::accesses::{Access, Accesses, last_iteration};
use crate::cfg::calls::{self, Touched};
use crate::cfg::effects::{has_one_effect, unused};
use crate::cfg::guards;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId};

/// What is known of the loops of a function.
pub(super) struct Summaries {
    loops: HashMap<LoopId, Summary>,
    /// The accesses of an operation, for each number of loops around as they are seen inside these.
    /// Nothing for a number of loops inside which no loops are adjacent: nobody asks there.
    accesses: HashMap<Op, Vec<Option<AccessSummary>>>,
    /// What keeps operations where they are, of those that it does.
    barriers: HashMap<Op, Barrier>,
    /// Operations of which there must be one.
    single: HashSet<Op>,
    /// What is known of parameters.
    pub(super) facts: Arc<Facts>,
}

/// What is known of one loop.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    /// How often its backedge is taken, exactly.
    pub(super) count: Option<Count>,
    /// That as a form over the levels and values outside: the number of its last iteration.
    pub(super) last: Option<AffineForm>,
    /// What it touches.
    pub(super) nest: AccessSummary,
    /// Something in it that control must not be led around, or that may not be left.
    pub(super) barrier: Option<Barrier>,
    /// An operation in it that must not run unless all before it did, and returned: it may be undefined, or somebody sees it.
    pub(super) late: Option<Op>,
    /// An operation in it that somebody sees.
    pub(super) seen: Option<Op>,
    /// Whether nothing in it writes but ordinary stores.
    pub(super) stores_plainly: bool,
    /// The argument of its header that decides whether it goes on.
    pub(super) variable: Option<Counter>,
    /// Arguments of its header that count likewise as others may.
    pub(super) counters: Vec<Counter>,
    /// What it leaves behind.
    pub(super) finals: Finals,
}

/// A number of iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    /// A number.
    Constant(u128),
    /// An expression; equal ones are one.
    Symbolic(ExprId),
}

/// An argument of a header that is a recurrence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Counter {
    /// The argument.
    pub(super) argument: Value,
    /// Its type: an address may have the expression of an integer.
    ty: Type,
    /// Its start, and what is added.
    operands: Box<[ExprId]>,
}

/// Why a loop stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Barrier {
    /// An operation that may not return, or throw.
    MayNotReturn(Op),
    /// An operation that threads come to together.
    Convergent(Op),
    /// A loop in it that may not end: an operation of it.
    Endless(Op),
}

impl Barrier {
    /// The operation.
    pub(super) fn op(self) -> Op {
        match self {
            Barrier::MayNotReturn(op) | Barrier::Convergent(op) | Barrier::Endless(op) => op,
        }
    }

    /// The one of two that asks for more.
    fn stronger(self, other: Barrier) -> Barrier {
        if matches!(other, Barrier::Convergent(_)) { other } else { self }
    }
}

impl Summary {
    /// Returns what is known of a loop that touches this, and has these marks.
    fn of(scev: &mut ScalarEvolution<'_>, of: LoopId, nest: AccessSummary, marks: Marks) -> Summary {
        let (function, analysis) = (scev.function(), scev.analysis());
        let exact = scev.counts(of).exact;
        let count = exact.map(|count| match scev.get(count) {
            Expr::Constant(_, number) => Count::Constant(*number),
            _ => Count::Symbolic(count),
        });
        let last = last_iteration(scev, of);
        let header = analysis.block(analysis.loops().get(of).header());
        let counters: Vec<Counter> =
            function.arguments(header).filter_map(|argument| counter(scev, argument, of)).collect();
        let variable = guards::bounds(scev, of).map(|bounds| bounds.variable);
        let variable = counters.iter().find(|counter| Some(counter.argument) == variable).cloned();
        let Marks { barrier, late, seen, odd } = marks;
        let finals = Finals::of(scev, of);
        let stores_plainly = odd.is_none();
        Summary { count, last, nest, barrier, late, seen, stores_plainly, variable, counters, finals }
    }

    /// Where a loop of this one and another behind it in each iteration would show that one of them may not be left: what keeps it, and the operation of the other that somebody would miss, or see too
    /// early.
    pub(super) fn ends_early(&self, second: &Summary) -> Option<(Barrier, Op)> {
        self.barrier.zip(second.late).or_else(|| second.barrier.zip(self.seen))
    }

    /// Adds what runs behind this one in each iteration.
    pub(super) fn add(&mut self, second: &Summary) {
        self.nest.merge(&second.nest);
        self.barrier = self.barrier.or(second.barrier);
        self.late = self.late.or(second.late);
        self.seen = self.seen.or(second.seen);
        self.stores_plainly &= second.stores_plainly;
    }
}

impl Counter {
    /// True if both have one value in iterations of equal number, and one may stand for the other.
    pub(super) fn counts_like(&self, other: &Counter) -> bool {
        self.ty == other.ty && self.operands == other.operands
    }
}

impl Summaries {
    /// Returns what is known of the loops of a function of a module with these symbols. Of loops
    /// that are
    /// not `wanted` it says that they touch anything. Loads that nobody uses do not count, unless
    /// `all` do.
    pub(super) fn of(
        function: &Body,
        analysis: &Analysis,
        symbols: &SymbolTable,
        wanted: &Adjacent,
        all: bool,
    ) -> Summaries {
        let data_layout = DataLayout::of_symbols(function.ctx(), symbols);
        let mut scev = ScalarEvolution::new(function, analysis, &data_layout);
        let accesses = Accesses::of_blocks(symbols, &mut scev, &|node| wanted.touches(analysis, node));
        let mut table = AccessTable::default();
        let unused: HashSet<Op> =
            if all { HashSet::new() } else { unused(function, true).into_iter().collect() };
        for access in &accesses.all {
            table.add(&accesses, access, !unused.contains(&access.op), (analysis, wanted));
        }
        let facts = accesses.facts().clone();
        let writing: HashSet<Op> =
            accesses.all.iter().filter(|access| access.writes()).map(|access| access.op).collect();
        let (mut barriers, mut single) = (HashMap::new(), HashSet::new());
        for block in function.blocks(function.region(function.root(), 0)) {
            for op in function.ops(block) {
                if !calls::may_be_copied(function, op, symbols) {
                    single.insert(op);
                }
                barriers.extend(barrier(function, op, symbols).map(|found| (op, found)));
                if calls::touched(function, op, symbols) == Some(Touched::Nothing) {
                    table.add_nothing(op, analysis.number_at(function, op), analysis);
                }
            }
        }
        let mut marks: HashMap<LoopId, Marks> = HashMap::new();
        for (of, _) in analysis.loops().iter() {
            let own = Marks::of(&mut scev, of, (&writing, &barriers), &data_layout);
            marks.insert(of, own.around(&mut scev, of, &marks));
        }
        let mut loops = HashMap::new();
        for of in scev.loops_from_the_outside() {
            let known = marks.get(&of).copied().unwrap_or_default();
            let header = analysis.block(analysis.loops().get(of).header());
            let (nest, marks) = match (wanted.covers(analysis, of), function.first_op(header)) {
                (true, _) => (table.loops.remove(&of).unwrap_or_default(), known),
                (false, first) => (
                    first.map(anything).unwrap_or_default(),
                    Marks { late: first, seen: first, odd: first, ..known },
                ),
            };
            loops.insert(of, Summary::of(&mut scev, of, nest, marks));
        }
        Summaries { loops, accesses: table.ops, barriers, single, facts }
    }

    /// What is known of a loop.
    pub(super) fn get(&self, of: LoopId) -> Option<&Summary> {
        self.loops.get(&of)
    }

    /// Why an operation stays where it is, if it does.
    pub(super) fn barrier(&self, op: Op) -> Option<Barrier> {
        self.barriers.get(&op).copied()
    }

    /// True if there may be copies of an operation.
    pub(super) fn may_be_copied(&self, op: Op) -> bool {
        !self.single.contains(&op)
    }

    /// True if there may be copies of every operation of the function.
    pub(super) fn all_may_be_copied(&self) -> bool {
        self.single.is_empty()
    }

    /// Returns the accesses of an operation, seen from inside so many loops. Nothing if it touches
    /// nothing, or
    /// if
    /// that is not known.
    pub(super) fn touched(&self, op: Op, depth: u32) -> Option<&AccessSummary> {
        self.accesses.get(&op)?.get(depth as usize)?.as_ref()
    }
}

/// The accesses of each loop and each operation.
#[derive(Default)]
struct AccessTable {
    loops: HashMap<LoopId, AccessSummary>,
    /// See [`Summaries`].
    ops: HashMap<Op, Vec<Option<AccessSummary>>>,
}

impl AccessTable {
    /// Adds an access to its operation and the loops around, where these are asked about. An access
    /// that does not count only registers its operation.
    fn add(
        &mut self,
        accesses: &Accesses<'_>,
        access: &Access,
        counts: bool,
        (analysis, wanted): (&Analysis, &Adjacent),
    ) {
        let seen = self.ops.entry(access.op).or_default();
        if seen.is_empty() {
            let around = std::iter::once(None).chain(access.loops.iter().copied().map(Some));
            seen.extend(around.map(|of| wanted.is_around(analysis, of).then(AccessSummary::default)));
        }
        if !counts {
            return;
        }
        for (depth, nest) in (0..).zip(seen.iter_mut()) {
            if let Some(nest) = nest {
                accesses.add_to(nest, access, depth);
            }
        }
        for (depth, of) in (0..).zip(&access.loops) {
            if wanted.covers(analysis, *of) {
                accesses.add_to(self.loops.entry(*of).or_default(), access, depth);
            }
        }
    }

    /// Adds an operation that touches nothing, in the block of this number.
    fn add_nothing(&mut self, op: Op, block: Option<u32>, analysis: &Analysis) {
        let around = block.map_or(0, |node| analysis.loops_around(node).count());
        self.ops.insert(op, vec![Some(AccessSummary::default()); around + 1]);
    }
}

/// Operations of a loop that restrict where it may run: the first of each kind.
#[derive(Clone, Copy, Default)]
struct Marks {
    barrier: Option<Barrier>,
    /// See [`Summary`].
    late: Option<Op>,
    seen: Option<Op>,
    /// One that somebody sees, and that is no ordinary store.
    odd: Option<Op>,
}

impl Marks {
    /// Returns the marks of a loop, without the loops in it.
    fn of(
        scev: &mut ScalarEvolution<'_>,
        of: LoopId,
        (writing, barriers): (&HashSet<Op>, &HashMap<Op, Barrier>),
        data_layout: &DataLayout,
    ) -> Marks {
        let (function, analysis) = (scev.function(), scev.analysis());
        let nodes = analysis.loops().get(of).nodes.iter();
        let blocks = nodes.filter(|node| analysis.loops().innermost(**node) == Some(of));
        let ops: Vec<Op> = blocks.flat_map(|node| function.ops(analysis.block(*node))).collect();
        let is_late =
            |op: &Op| !function.has_trait(*op, Trait::Pure) && !function.has_trait(*op, Trait::Terminator);
        let is_seen = |op: &Op| writing.contains(op) || barriers.contains_key(op);
        let is_odd = |op: &Op| is_seen(op) && !is_plain_store(function, *op, data_layout);
        let first = |is_wanted: &dyn Fn(&Op) -> bool| ops.iter().copied().find(is_wanted);
        Marks {
            barrier: ops.iter().filter_map(|op| barriers.get(op).copied()).reduce(Barrier::stronger),
            late: first(&is_late),
            seen: first(&is_seen),
            odd: first(&is_odd),
        }
    }

    /// Adds the marks of the loops directly inside. One of these that may not end is a barrier.
    fn around(mut self, scev: &mut ScalarEvolution<'_>, of: LoopId, inner: &HashMap<LoopId, Marks>) -> Marks {
        let (function, analysis) = (scev.function(), scev.analysis());
        for child in &analysis.loops().get(of).children {
            let marks = inner.get(child).copied().unwrap_or_default();
            let endless = || {
                let header = analysis.block(analysis.loops().get(*child).header());
                let is_left = scev.counts(*child).constant_max.is_some();
                function.first_op(header).filter(|_| !is_left).map(Barrier::Endless)
            };
            let barrier = marks.barrier.or_else(endless);
            self.barrier = self.barrier.into_iter().chain(barrier).reduce(Barrier::stronger);
            self.late = self.late.or(marks.late);
            self.seen = self.seen.or(marks.seen);
            self.odd = self.odd.or(marks.odd);
        }
        self
    }
}

/// True if an operation stores all bits of the bytes that it touches, and nobody but who reads
/// there can
/// tell when.
fn is_plain_store(function: &Body, op: Op, target: &DataLayout) -> bool {
    function.is(op, llvm::StoreOp::DEF)
        && has_one_effect(function, op)
        && Layout::of(function.ctx(), function.value_type(function.operand(op, 0)), target)
            .is_ok_and(|layout| layout.fills_its_bytes())
}

/// Returns the nest that touches anything, by this operation.
pub(super) fn anything(op: Op) -> AccessSummary {
    let mut nest = AccessSummary::default();
    let domain = Arc::new(Domain { levels: 0, constraints: Vec::new(), exact: false });
    let class = Class::whole(Base::World, true, &domain);
    nest.add(Representative { class, op, iteration: Arc::new([]) });
    nest
}

fn counter(scev: &mut ScalarEvolution<'_>, argument: Value, of: LoopId) -> Option<Counter> {
    scev.expr_type(argument)?;
    let id = scev.expr(argument);
    let ty = scev.function().value_type(argument);
    let Expr::AddRec(own, operands) = scev.get(id) else { return None };
    (*own == of).then(|| Counter { argument, ty, operands: operands.clone() })
}

/// Why an operation stays where it is, if it does.
fn barrier(function: &Body, op: Op, symbols: &SymbolTable) -> Option<Barrier> {
    if calls::keeps_its_control(function, op, symbols) {
        return Some(Barrier::Convergent(op));
    }
    calls::may_not_return(function, op, symbols).then_some(Barrier::MayNotReturn(op))
}
