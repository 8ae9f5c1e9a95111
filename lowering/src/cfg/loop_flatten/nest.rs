//! The nest of two loops that can be flattened, and the values that need another form.
//!
//! ```text
//!     fore ─> … ─> preheader of the inner loop     a straight line without effect
//!       │                 │
//!     guard        inner loop ↺                    anything
//!       │                 │
//!     aft ─> … ─> latch of the outer loop          a straight line without effect
//! ```
//!
//! If a guard decides that the inner loop runs, it does so before the outer loop, once and for all.
//!
//! With `m` iterations of the inner loop, iteration `(i, j)` becomes iteration `x = m·i + j`.
//! Values are followed backwards from all that has an effect:
//!
//! | a value | becomes |
//! | --- | --- |
//! | `a + s·m·i + s·j` | `a + s·x` |
//! | an argument of the inner loop that goes on where the last run of that loop ended | the argument of the outer loop |
//! | `a + s·i` or `a + s·j`, used apart | `a + s·(x / m)` or `a + s·(x mod m)`, if a division is allowed |
//!
//! Any other argument of the two headers makes the nest stay.
//!
//! **Assumptions.**
//! - Loops are closed: values leave the inner loop as arguments of the block behind it, and the
//!   outer loop as operands of its latch. Scalar evolution looks through such arguments, so a value
//!   that it names may be in a loop that changes too.
//! - Words wrap, and so do their recurrences. `x` is the exact number, so this holds for each word
//!   cut from it, or extended with zeros.
//! - Counts are right whenever the loops are left at their latches.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::{INBOUNDS, no_wrap_flags};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Op, Trait, Value, ValueDef};

use super::Preferences;
use crate::cfg::branch::{Target, successor_operands, targets};
use crate::cfg::calls;
use crate::cfg::expander::{Recipe, is_closed};
use crate::cfg::loop_unroll::directives::{self, Flattened};
use crate::cfg::loop_unroll::facts;
use crate::cfg::loop_unroll::shape::{Shape, headers_inside};
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Cast, Expr, ExprId};
use crate::ll::is_for_size;

/// A nest that can be flattened.
pub(super) struct Nest {
    pub(super) outer: Shape,
    pub(super) inner: Shape,
    /// The numbers of backedges taken by the outer loop, and by each run of the inner one.
    pub(super) backedges: [Recipe; 2],
    /// The number of bits of the new counter.
    pub(super) width: u32,
    /// True if the number of iterations may be too great for the counter.
    pub(super) is_tested: bool,
    /// The guard of the inner loop.
    pub(super) guard: Option<Guard>,
    /// The values that are computed from the counter.
    pub(super) computed: Vec<Computed>,
    /// The numbers of the outer header's arguments that stay.
    pub(super) kept: HashSet<usize>,
    /// The properties of the new loop.
    pub(super) said: Flattened,
    /// The headers of the loops inside.
    pub(super) headers: Vec<Block>,
}

/// A branch that decides, equally in all iterations of the outer loop, if the inner one runs.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    pub(super) block: Block,
    /// The condition for the first edge, from before the outer loop.
    pub(super) condition: Value,
    /// The edge to the inner loop.
    pub(super) enters: usize,
}

/// A number that a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// The number of the iteration.
    Iteration,
    /// The number of the outer iteration: the first one by the trip count of the inner loop.
    Quotient,
    /// The number of the inner iteration: what is left over.
    Rest,
}

/// A value `base + start + step · number`.
pub(super) struct Computed {
    pub(super) value: Value,
    /// The base of an address, and the flags of the new one.
    pub(super) base: Option<(Value, i64)>,
    pub(super) start: Recipe,
    pub(super) step: Recipe,
    pub(super) number: Number,
}

impl Nest {
    /// True if the nest is kept beside the new loop, for what that can't do.
    pub(super) fn is_kept(&self) -> bool {
        self.is_tested || self.guard.is_some()
    }

    /// Returns the nest of a loop and the only loop inside.
    ///
    /// # Errors
    ///
    /// Why the nest can't be flattened.
    pub(super) fn of(
        scev: &mut ScalarEvolution<'_>,
        (id, child): (LoopId, LoopId),
        symbols: &SymbolTable,
        preferences: &Preferences,
    ) -> Result<Nest, &'static str> {
        let function = scev.function();
        let not_simple = "a loop of the nest is not in loop-simplify form";
        let outer = Shape::of(scev, id).ok_or(not_simple)?;
        let inner = Shape::of(scev, child).ok_or(not_simple)?;
        if ![&outer, &inner].into_iter().all(|shape| shape.leaves_at_latch(function)) {
            return Err("a loop of the nest does not leave at its latch alone");
        }
        let (between, guard) = between(function, &outer, &inner)?;
        if guard.is_some() && !preferences.version {
            return Err("its inner loop may not run; 'loop-flatten-version-loops=true' allows a test");
        }
        for op in outer.blocks.iter().flat_map(|block| function.ops(*block)) {
            if calls::keeps_its_control(function, op, symbols) {
                return Err("it has a convergent operation");
            }
        }
        let latches = [&outer, &inner].map(|shape| shape.backedge(function).map(|(branch, _)| branch));
        let [Some(out), Some(back)] = latches else { return Err(not_simple) };
        let said = directives::flattened(function, [out, back])?;
        let unknown = "its number of iterations is not known";
        let counts = [(id, &outer), (child, &inner)].map(|(of, shape)| shape.count_at_latch(scev, of));
        let [Some(of_outer), Some(of_inner)] = counts else { return Err(unknown) };
        if ![of_outer, of_inner].into_iter().all(|count| scev.is_invariant(count, id)) {
            return Err("the inner loop does not run equally often each time");
        }
        let recipes = [of_outer, of_inner].map(|count| Recipe::of(scev, id, count));
        let [Some(outer_count), Some(inner_count)] = recipes else { return Err(unknown) };
        let most = [of_outer, of_inner].map(|count| scev.range_in(count, Some(child)).unsigned.1);
        let widths = [of_outer, of_inner].map(|count| scev.width(count));
        let (width, is_tested) = counter(widths, most, preferences)?;
        if guard.is_some() || is_tested {
            may_be_kept(function, &outer, symbols, is_tested)?;
        }
        // A divisor has to fit, too.
        let divides = preferences.divide && (is_tested || most[1] < mask(width));
        let mut finder = Finder {
            scev,
            loops: (id, child),
            outer: &outer,
            inner: &inner,
            between,
            guard,
            blocks: outer.blocks.iter().copied().collect(),
            trips: of_inner,
            divides,
            repeated: 0,
            computed: Vec::new(),
            kept: HashSet::new(),
        };
        finder.find()?;
        let Finder { repeated, computed, kept, .. } = finder;
        if repeated > preferences.most_repeated {
            return Err("too many operations between its loops would be repeated");
        }
        let headers = headers_inside(scev.analysis(), id);
        let backedges = [outer_count, inner_count];
        Ok(Nest { outer, inner, backedges, width, is_tested, guard, computed, kept, said, headers })
    }
}

/// Checks that a nest may be copied.
///
/// # Errors
///
/// Why it may not.
fn may_be_kept(
    function: &Body,
    outer: &Shape,
    symbols: &SymbolTable,
    is_whole: bool,
) -> Result<(), &'static str> {
    match facts::fixed(function, outer, symbols) {
        Some(why) => Err(why),
        None if is_whole && is_for_size(function.root_ref()) => {
            Err("the nest would be kept beside, and its function is to be small")
        }
        None => Ok(()),
    }
}

/// Returns the blocks of the outer loop that are not in the inner one, and the guard of that loop
/// if there is one.
///
/// # Errors
///
/// Why these blocks are no straight line without effects.
fn between(
    function: &Body,
    outer: &Shape,
    inner: &Shape,
) -> Result<(HashSet<Block>, Option<Guard>), &'static str> {
    const SEVERAL_WAYS: &str = "the inner loop does not run in every iteration";
    let next = |block: Block| {
        let end = function.terminator(block).filter(|op| function.is(*op, llvm::BrOp::DEF))?;
        function.successors(end).next()
    };
    let most = outer.blocks.len();
    let first = inner.exits.first().and_then(|exit| exit.targets.first()).copied();
    let line = std::iter::successors(first, |block| next(*block).filter(|_| *block != outer.latch));
    let aft: HashSet<Block> = line.take(most).collect();
    let (mut fore, mut guard, mut block) = (HashSet::new(), None, outer.header);
    while fore.insert(block) && block != inner.preheader {
        block = match next(block) {
            Some(next) => next,
            None => {
                let (own, to) = guarding(function, block, &aft).ok_or(SEVERAL_WAYS)?;
                let inside = function.value_block(own.condition);
                if guard.replace(own).is_some() || inside.is_some_and(|own| outer.blocks.contains(&own)) {
                    return Err(SEVERAL_WAYS);
                }
                to
            }
        };
    }
    if fore.len() + aft.len() + inner.blocks.len() != most || !aft.contains(&outer.latch) {
        return Err(SEVERAL_WAYS);
    }
    fore.extend(aft);
    for block in &fore {
        let end = function.terminator(*block);
        if function.ops(*block).any(|op| Some(op) != end && !function.has_trait(op, Trait::Pure)) {
            return Err("an operation between its loops may have an effect");
        }
    }
    Ok((fore, guard))
}

/// Returns the guard at the end of a block, and the block that it leads to if the inner loop runs.
fn guarding(function: &Body, block: Block, aft: &HashSet<Block>) -> Option<(Guard, Block)> {
    let end = function.terminator(block).filter(|op| function.is(*op, llvm::CondBrOp::DEF))?;
    let [yes, no] = <[Block; 2]>::try_from(function.successors(end).collect::<Vec<_>>()).ok()?;
    let condition = function.operand(end, 0);
    match [yes, no].map(|to| aft.contains(&to)) {
        [false, true] => Some((Guard { block, condition, enters: 0 }, yes)),
        [true, false] => Some((Guard { block, condition, enters: 1 }, no)),
        _ => None,
    }
}

/// The greatest width of a counter.
const WIDEST: u32 = 64;

/// Returns the number of bits of the new counter, and true if they may be too few. `most` are the
/// greatest numbers of backedges of the two loops.
///
/// # Errors
///
/// Why there is no such counter.
fn counter(widths: [u32; 2], most: [u128; 2], own: &Preferences) -> Result<(u32, bool), &'static str> {
    let [outer, inner] = most;
    let all = outer.checked_add(1).zip(inner.checked_add(1)).and_then(|(a, b)| a.checked_mul(b));
    let fits = |width: u32| all.is_some_and(|all| all <= 1 << width);
    let natural = widths[0].max(widths[1]);
    let widest = if own.widen { natural.max(WIDEST) } else { natural };
    match () {
        () if widest > WIDEST => Err("its counter has more than 64 bits"),
        () if fits(natural) => Ok((natural, false)),
        () if fits(widest) => Ok((widest, false)),
        () if own.version && widest > 1 => Ok((widest, true)),
        () => Err("the number of all iterations may overflow"),
    }
}

/// Follows values from what has an effect to what they are computed from.
struct Finder<'a, 'f> {
    scev: &'a mut ScalarEvolution<'f>,
    loops: (LoopId, LoopId),
    outer: &'a Shape,
    inner: &'a Shape,
    between: HashSet<Block>,
    guard: Option<Guard>,
    /// The blocks of the outer loop.
    blocks: HashSet<Block>,
    /// The number of backedges that the inner loop takes.
    trips: ExprId,
    divides: bool,
    repeated: u64,
    computed: Vec<Computed>,
    kept: HashSet<usize>,
}

impl<'f> Finder<'_, 'f> {
    fn find(&mut self) -> Result<(), &'static str> {
        let function = self.scev.function();
        let (mut pending, mut seen) = (self.roots(function), HashSet::new());
        let mut incoming: HashMap<Value, Vec<Value>> = HashMap::new();
        for block in &self.outer.blocks {
            let branch = function.terminator(*block);
            let mut ways: Vec<Target> = branch.map(|branch| targets(function, branch)).unwrap_or_default();
            if let Some(guard) = self.guard.filter(|guard| guard.block == *block) {
                ways.swap_remove(1 - guard.enters);
            }
            for to in ways {
                for (argument, value) in function.arguments(to.block).zip(to.operands) {
                    incoming.entry(argument).or_default().push(value);
                }
            }
        }
        while let Some(value) = pending.pop() {
            let block = function.value_block(value).filter(|block| self.blocks.contains(block));
            let Some(block) = block else { continue };
            if !seen.insert(value) {
                continue;
            }
            match function.def(value) {
                ValueDef::BlockArgument { index, .. } if block == self.inner.header => {
                    match self.paired(&incoming, value, index) {
                        Some((outer, next)) => {
                            self.kept.insert(outer);
                            pending.push(next);
                        }
                        None if self.is_computed(function, value) => {}
                        None => self.divided(value, Number::Rest)?,
                    }
                }
                ValueDef::BlockArgument { .. } if block == self.outer.header => {
                    self.divided(value, Number::Quotient)?;
                }
                ValueDef::BlockArgument { .. } => {
                    pending.extend(incoming.get(&value).into_iter().flatten());
                }
                ValueDef::OpResult { op, .. } => {
                    if self.between.contains(&block) {
                        if function.is(op, llvm::FreezeOp::DEF) {
                            return Err("a number between its loops is chosen anew each time");
                        }
                        self.repeated += u64::from(!function.is(op, llvm::ConstantOp::DEF));
                    } else if self.is_computed(function, value) {
                        continue;
                    }
                    pending.extend(function.operands(op));
                }
            }
        }
        // An argument can't be both the value of this iteration and that of its row's begin.
        let is_both = |own: &Computed| match function.def(own.value) {
            ValueDef::BlockArgument { index, .. } => {
                own.number == Number::Quotient && self.kept.contains(&index)
            }
            ValueDef::OpResult { .. } => false,
        };
        match self.computed.iter().any(is_both) {
            true => Err("a value that both loops carry is used apart"),
            false => Ok(()),
        }
    }

    /// Returns the values that operations with effects use, or that decide where the inner loop
    /// goes or leave the nest.
    fn roots(&self, function: &Body) -> Vec<Value> {
        let mut roots = Vec::new();
        for block in self.inner.blocks.iter().copied() {
            let end = function.terminator(block);
            let has_effect = |op: &Op| Some(*op) != end && !function.has_trait(*op, Trait::Pure);
            roots.extend(function.ops(block).filter(has_effect).flat_map(|op| function.operands(op)));
            let is_plain = |op: &Op| function.is(*op, llvm::BrOp::DEF);
            let condition = end.filter(|op| block != self.inner.latch && !is_plain(op));
            roots.extend(condition.and_then(|op| function.operands(op).next()));
        }
        if let Some(branch) = function.terminator(self.outer.latch) {
            let operands = successor_operands(function, branch);
            let leaving = function.successors(branch).zip(operands);
            roots.extend(leaving.filter(|(to, _)| *to != self.outer.header).flat_map(|(_, own)| own));
        }
        roots
    }

    /// Returns the number of the outer loop's argument that an argument of the inner loop goes on
    /// with, and the next value, if it ends where the next run begins.
    fn paired(
        &self,
        incoming: &HashMap<Value, Vec<Value>>,
        value: Value,
        index: usize,
    ) -> Option<(usize, Value)> {
        let function = self.scev.function();
        let (branch, back) = self.inner.backedge(function)?;
        let next = *successor_operands(function, branch)[back].get(index)?;
        let [a, b] = incoming.get(&value)?[..] else { return None };
        let start = if a == next { b } else { a };
        let ValueDef::BlockArgument { block, index: outer } = function.def(start) else { return None };
        if block != self.outer.header {
            return None;
        }
        // Around the outer loop it must come back as the last next value of the same iteration: an
        // argument of the outer header is that of the iteration before.
        let (branch, back) = self.outer.backedge(function)?;
        let mut around = *successor_operands(function, branch)[back].get(outer)?;
        for _ in 0..=self.between.len() {
            if around == next {
                return Some((outer, next));
            }
            if function.value_block(around) == Some(self.outer.header) {
                return None;
            }
            let [only] = incoming.get(&around)?[..] else { return None };
            around = only;
        }
        None
    }

    /// True if a value of the inner loop is computed from the number of the iteration.
    fn is_computed(&mut self, function: &Body, value: Value) -> bool {
        // An address keeps its form if its indices are computed.
        let address = function.defining_op(value).filter(|op| function.is(*op, llvm::GEPOp::DEF));
        if let Some(op) = address
            && function.operands(op).all(|own| self.is_outside(own) || self.flat(own).is_some())
        {
            return false;
        }
        let found = self.flat(value).and_then(|(start, step)| {
            let Parts { base, start, step } = self.parts(value, start, step)?;
            let base = base.map(|base| (base, flags_from(function, value, base)));
            Some(Computed { value, base, start, step, number: Number::Iteration })
        });
        let is_found = found.is_some();
        self.computed.extend(found);
        is_found
    }

    fn is_outside(&self, value: Value) -> bool {
        let block = self.scev.function().value_block(value);
        !block.is_some_and(|block| self.blocks.contains(&block))
    }

    /// Returns `a` and `s` of a value `a + s·m·i + s·j`.
    fn flat(&mut self, value: Value) -> Option<(ExprId, ExprId)> {
        self.scev.expr_type(value)?;
        let (outer, inner) = self.loops;
        let id = self.scev.expr(value);
        let Expr::AddRec(of, operands) = self.scev.get(id).clone() else { return None };
        let [row, step] = operands[..] else { return None };
        let Expr::AddRec(around, operands) = self.scev.get(row).clone() else { return None };
        let [start, row_step] = operands[..] else { return None };
        if of != inner || around != outer || !self.scev.is_invariant(step, outer) {
            return None;
        }
        let width = self.scev.width(row_step);
        let is_row = |this: &mut Self, trips: ExprId| this.scev.mul(&[step, trips]) == row_step;
        let trips = self.trips_in(width);
        trips.into_iter().any(|trips| is_row(self, trips)).then_some((start, step))
    }

    /// Returns the number of iterations of the inner loop as words of this width, in several forms.
    fn trips_in(&mut self, width: u32) -> Vec<ExprId> {
        let own = self.scev.width(self.trips);
        let one = self.scev.constant(width, 1);
        let wide = match width < own {
            true => self.scev.truncate(self.trips, width),
            false => self.scev.cast(Cast::ZeroExtend, self.trips, width),
        };
        let mut all = vec![self.scev.add(&[wide, one])];
        let most = self.scev.range_in(self.trips, Some(self.loops.1)).unsigned.1;
        let narrow_one = self.scev.constant(own, 1);
        let narrow = self.scev.add(&[self.trips, narrow_one]);
        if width > own && most < mask(own) {
            all.push(self.scev.zero_extend(narrow, width));
        }
        if width > own && most < mask(own) >> 1 {
            all.push(self.scev.sign_extend(narrow, width));
        }
        all
    }

    /// Has a counter that is used apart computed by a division.
    ///
    /// # Errors
    ///
    /// Why it can't be.
    fn divided(&mut self, value: Value, number: Number) -> Result<(), &'static str> {
        let of = if number == Number::Rest { self.loops.1 } else { self.loops.0 };
        let expr = self.scev.expr_type(value).map(|_| self.scev.expr(value));
        let steps = expr.and_then(|id| match self.scev.get(id) {
            Expr::AddRec(own, operands) if *own == of => <[ExprId; 2]>::try_from(&operands[..]).ok(),
            _ => None,
        });
        let steps = steps.filter(|steps| steps.iter().all(|id| self.scev.is_invariant(*id, self.loops.0)));
        let Some([start, step]) = steps else {
            return Err("a value that a loop carries starts anew in each run of the inner loop");
        };
        if !self.divides {
            return Err("it would need a division; 'divide=true' allows it");
        }
        let unknown = "a value that a loop carries can't be computed before it";
        let Parts { base, start, step } = self.parts(value, start, step).ok_or(unknown)?;
        let base = base.map(|base| (base, 0));
        self.computed.push(Computed { value, base, start, step, number });
        Ok(())
    }

    /// True if a value is a base of addresses with this expression, and can be used before the
    /// outer loop. A loop that is over by then may change too.
    fn is_base(&mut self, own: Value, base: ExprId, of: Value) -> bool {
        let function = self.scev.function();
        self.is_outside(own)
            && is_closed(self.scev, self.loops.0, own)
            && function.value_type(own) == function.value_type(of)
            && self.scev.expr(own) == base
    }

    /// Returns the recipes of a start and a step. The base of an address stands apart.
    fn parts(&mut self, value: Value, start: ExprId, step: ExprId) -> Option<Parts> {
        let outer = self.loops.0;
        let (mut base, mut start) = (None, start);
        if self.scev.expr_type(value)?.is_pointer() {
            let summands = match self.scev.get(start).clone() {
                Expr::Add(summands) => summands.to_vec(),
                _ => vec![start],
            };
            let is_base = |this: &Self, id: ExprId| this.scev.type_of(id).is_pointer();
            let (bases, others): (Vec<ExprId>, Vec<ExprId>) =
                summands.into_iter().partition(|id| is_base(self, *id));
            let [only] = bases[..] else { return None };
            let Expr::Unknown(found) = *self.scev.get(only) else { return None };
            let bases = [found, root(self.scev.function(), value)];
            base = Some(bases.into_iter().find(|own| self.is_base(*own, only, value))?);
            let zero = self.scev.constant(self.scev.width(step), 0);
            start = self.scev.add(&[&others[..], &[zero]].concat());
        }
        let [start, step] = [start, step].map(|id| Recipe::of(self.scev, outer, id));
        Some(Parts { base, start: start?, step: step? })
    }
}

/// Returns the address that others were added to.
fn root(function: &Body, mut value: Value) -> Value {
    while let Some(op) = function.defining_op(value).filter(|op| function.is(*op, llvm::GEPOp::DEF)) {
        value = function.operand(op, 0);
    }
    value
}

/// Returns the flags of an address behind a base, in one step: `inbounds` if each step has it. Only
/// what holds of the whole offset holds of that step.
fn flags_from(function: &Body, mut value: Value, base: Value) -> i64 {
    while value != base {
        let op = function.defining_op(value).filter(|op| function.is(*op, llvm::GEPOp::DEF));
        match op.filter(|op| no_wrap_flags(function.op_ref(*op)) & INBOUNDS == INBOUNDS) {
            Some(op) => value = function.operand(op, 0),
            None => return 0,
        }
    }
    INBOUNDS
}

/// The parts of a value that is computed from a number.
struct Parts {
    base: Option<Value>,
    start: Recipe,
    step: Recipe,
}
