//! Loops that scalar evolution counts become `scf.for`.
//!
//! The loop counts its iterations from zero. Header arguments that change by a fixed step become
//! expressions of that count. Other arguments are carried. A loop may leave at several places if
//! all of them are counted: its last iteration is the one that leaves, and its tests stay.
//!
//! **Assumptions.**
//! - A backedge-taken count is exact only if each iteration reaches the latch, so evaluating it
//!   before the loop is no earlier than the program would.
//! - A recurrence with the flag `nsw` has its exact value in each iteration, read as signed.
//!   In 64 bits neither `k * step` nor the sum with the start leaves the range then, if there are
//!   less than two to the power of 63 iterations (`bounded`). Other loops count unsigned, and their
//!   sums of 64 bits have no flags.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm::memory::address::{INBOUNDS, no_wrap_flags};
use loomir_dialects::{arith, llvm};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Builder, OpDef, Type, Value};

use super::Uncounted;
use super::bounded::{self, Bounds};
use crate::cfg::arithmetic::{self, address};
use crate::cfg::branch::targets;
use crate::cfg::expander::{Recipe, values_of_tests};
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId, Flags};

/// A loop with a number of iterations that is known when it begins.
pub(super) struct Counted {
    /// The number of iterations. At least 1 and less than two to the power of 64.
    pub(super) trips: Recipe,
    /// True if there may be two to the power of 63 iterations or more.
    pub(super) unsigned: bool,
    /// Values that are not poison if the loop runs.
    pub(super) settled: HashSet<Value>,
    /// For each header argument, its steps.
    pub(super) variables: Vec<Option<Variable>>,
    /// For each argument of each exit, the variable that it is, and true if it is its next value.
    pub(super) finals: HashMap<Block, Vec<Option<(usize, bool)>>>,
}

/// A header argument that changes by a fixed step.
pub(super) struct Variable {
    pub(super) step: Recipe,
    kind: Kind,
}

enum Kind {
    /// An integer of this width, at most 64, with flags.
    Integer(u32, Flags),
    /// An address. True if each step stays in bounds of one object.
    Address(bool),
}

/// Returns the loops that count, of a function in loop-simplify form with closed loops, and why
/// each other loop does not.
pub(super) fn counted_loops(
    scev: &mut ScalarEvolution<'_>,
) -> (HashMap<LoopId, Counted>, Vec<(LoopId, Uncounted)>) {
    let (mut all, mut others, mut bounds) = (HashMap::new(), Vec::new(), Bounds::default());
    for of in scev.loops_from_the_outside() {
        match counted(scev, of, &mut bounds) {
            Ok(counted) => drop(all.insert(of, counted)),
            Err(why) => others.push((of, why)),
        }
    }
    (all, others)
}

fn counted(scev: &mut ScalarEvolution<'_>, of: LoopId, bounds: &mut Bounds) -> Result<Counted, Uncounted> {
    let roles = Roles::of(scev.analysis(), of);
    let Some(count) = scev.counts(of).exact else { return Err(why_unknown(scev, of, &roles)) };
    let is_signed =
        scev.width(count) <= 64 && (bounded::fits(scev, of, count) || bounds.by_object(scev, of, count));
    if !is_signed && !bounded::fits_unsigned(scev, of, count) {
        return Err(Uncounted::Long);
    }
    let trips = trips(scev, of, count).ok_or(Uncounted::Unwritten)?;
    written(scev, of, &roles, (trips, !is_signed)).ok_or(Uncounted::Unwritten)
}

/// Returns the number of iterations, which is one more than the count. It has at most 64 bits.
fn trips(scev: &mut ScalarEvolution<'_>, of: LoopId, count: ExprId) -> Option<Recipe> {
    let trips = scev.trip_count(of)?;
    if scev.width(count) < 64 && scev.range_in(trips, Some(of)).signed.0 >= 0 {
        return Recipe::of_number(scev, of, trips);
    }
    let is_wide = scev.width(count) == 64;
    if is_wide || bounded::is_natural(scev, of, count) {
        let (one, count) = (scev.constant(64, 1), scev.sign_extend(count, 64));
        let trips = scev.add(&[count, one]);
        let number = Recipe::of_number(scev, of, trips);
        if is_wide || number.is_some() {
            return number;
        }
    }
    Recipe::of(scev, of, trips)
}

/// Returns the reason why the number of iterations of a loop is unknown.
fn why_unknown(scev: &mut ScalarEvolution<'_>, of: LoopId, roles: &Roles) -> Uncounted {
    let function = scev.function();
    let from = match roles.exiting[..] {
        [] => return Uncounted::Endless,
        [from] if roles.exits.len() == 1 => from,
        _ => return Uncounted::SeveralExits,
    };
    if roles.latch().is_none_or(|latch| !scev.analysis().dominators().dominates(from, latch)) {
        return Uncounted::Middle;
    }
    let branch = function.terminator(scev.analysis().block(from));
    let flag = branch.and_then(|branch| function.operands(branch).next());
    let test =
        flag.and_then(|flag| function.defining_op(flag)).filter(|op| function.is(*op, llvm::ICmpOp::DEF));
    let Some(test) = test else { return Uncounted::Data };
    let sides = [0, 1].map(|at| function.operand(test, at));
    if sides.iter().any(|side| scev.expr_type(*side).is_none()) {
        return Uncounted::Data;
    }
    let counts = |scev: &mut ScalarEvolution<'_>, value: Value| {
        let mut id = scev.expr(value);
        while let Expr::Cast(_, inner, _) | Expr::PtrToInt(inner) = scev.get(id) {
            id = *inner;
        }
        matches!(scev.get(id), Expr::AddRec(around, _) if *around == of)
    };
    let fixed = |scev: &mut ScalarEvolution<'_>, value: Value| {
        let id = scev.expr(value);
        scev.is_invariant(id, of)
    };
    let [counting, other] = match counts(scev, sides[0]) {
        true => sides,
        false => [sides[1], sides[0]],
    };
    match (counts(scev, counting), counts(scev, other), fixed(scev, other)) {
        (true, _, true) => Uncounted::Wraps,
        (true, true, _) => Uncounted::Bound,
        _ => Uncounted::Data,
    }
}

/// Returns a loop that counts, with this number of iterations, which may be unsigned.
fn written(
    scev: &mut ScalarEvolution<'_>,
    of: LoopId,
    roles: &Roles,
    (trips, unsigned): (Recipe, bool),
) -> Option<Counted> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let header = analysis.block(roles.header);
    let arguments: Vec<Value> = function.arguments(header).collect();
    let variables: Vec<Option<Variable>> =
        arguments.iter().map(|argument| variable(scev, of, *argument, unsigned)).collect();
    let variable_of = |value: Value| {
        let is_next = |argument: &Value| scev.header_argument(*argument).is_some_and(|own| own.next == value);
        let own = arguments.iter().position(|argument| *argument == value).map(|at| (at, false));
        let found = own.or_else(|| Some((arguments.iter().position(is_next)?, true)));
        found.filter(|(at, _)| variables[*at].is_some())
    };
    let mut finals: HashMap<Block, Vec<Option<(usize, bool)>>> = HashMap::new();
    for from in &roles.exiting {
        let edges = targets(function, function.terminator(analysis.block(*from))?);
        for edge in edges.into_iter().filter(|to| roles.exits.contains(&analysis.number(to.block))) {
            let own: Vec<_> = edge.operands.iter().map(|value| variable_of(*value)).collect();
            let known = finals.entry(edge.block).or_insert_with(|| own.clone());
            for (known, own) in known.iter_mut().zip(own) {
                *known = known.filter(|known| Some(*known) == own);
            }
        }
    }
    // The test of another block may be left out.
    let certain = match roles.exiting[..] {
        [only] if Some(only) == roles.latch() => only,
        _ => roles.header,
    };
    let settled = values_of_tests(scev, of, &[certain]).collect();
    Some(Counted { trips, unsigned, settled, variables, finals })
}

/// Returns a header argument of a loop, which may count unsigned, if it changes by a fixed step.
fn variable(scev: &mut ScalarEvolution<'_>, of: LoopId, argument: Value, unsigned: bool) -> Option<Variable> {
    let ty = scev.expr_type(argument).filter(|ty| ty.width() <= 64)?;
    let id = scev.expr(argument);
    let Expr::AddRec(around, parts) = scev.get(id).clone() else { return None };
    let [_, step] = parts[..] else { return None };
    if around != of || scev.header_argument(argument).is_none() {
        return None;
    }
    let function = scev.function();
    let kind = if ty.is_pointer() {
        if ty.width() != 64 {
            return None;
        }
        let next = scev.header_argument(argument)?.next;
        let stays = function.defining_op(next).is_some_and(|op| {
            function.is(op, llvm::GEPOp::DEF)
                && function.operand(op, 0) == argument
                && no_wrap_flags(function.op_ref(op)) & INBOUNDS == INBOUNDS
        });
        Kind::Address(stays)
    } else {
        // What the steps promise holds where the value is not poison.
        let flags = match unsigned && ty.width() == 64 {
            true => Flags::NONE,
            false => scev.flags(id).and(scev.promised(argument, of, step)),
        };
        Kind::Integer(ty.width(), flags)
    };
    Some(Variable { step: Recipe::of(scev, of, step)?, kind })
}

impl Variable {
    /// Writes the value after some steps. `step` has 64 bits, without the sign of a narrower step.
    pub(super) fn at(
        &self,
        builder: &mut Builder<'_>,
        start: Value,
        step: Value,
        count: Value,
        is_behind: bool,
    ) -> Value {
        match self.kind {
            Kind::Address(stays) => {
                let exact = stays && !is_behind;
                // A constant step counts whole elements of that many bytes.
                let size = constant(builder, step).and_then(|step| u32::try_from(step).ok());
                let (unit, offset) = match size {
                    Some(size @ 1..) => (size, count),
                    _ => (1, self.product(builder, count, step, exact)),
                };
                address(builder, start, (offset, unit), if exact { INBOUNDS } else { 0 })
            }
            Kind::Integer(64, flags) => {
                let exact =
                    flags.nsw && !is_behind && self.starts_at_zero_or_steps_by_one(builder, start, step);
                let offset = self.product(builder, count, step, exact);
                if self.is_zero(builder, start) {
                    return offset;
                }
                sum(builder, start, offset, exact)
            }
            Kind::Integer(width, flags) => {
                let (nsw, nuw) = (flags.nsw && !is_behind, flags.nuw && !is_behind);
                let extend: &'static OpDef = if nsw || !nuw { llvm::SExtOp::DEF } else { llvm::ZExtOp::DEF };
                let narrow = resized(builder, llvm::TruncOp::DEF, step, width);
                let step = resized(builder, extend, narrow, 64);
                let start = resized(builder, extend, start, 64);
                let exact = nsw || nuw;
                let offset = self.product(builder, count, step, exact);
                let value = sum(builder, start, offset, exact);
                let flags = if nsw {
                    NSW
                } else if nuw {
                    NUW
                } else {
                    0
                };
                let ctx = builder.ctx();
                let state =
                    builder.state(llvm::TruncOp::DEF).operands(&[value]).results(&[ctx.int_type(width)]);
                let flags = ctx.int_attr(Type::I32, flags);
                builder.value(state.attr(&ctx, "overflowFlags", flags))
            }
        }
    }

    fn product(&self, builder: &mut Builder<'_>, count: Value, step: Value, exact: bool) -> Value {
        if constant(builder, step) == Some(1) {
            return count;
        }
        flagged(builder, llvm::MulOp::DEF, count, step, exact)
    }

    fn is_zero(&self, builder: &mut Builder<'_>, start: Value) -> bool {
        constant(builder, start) == Some(0)
    }

    fn starts_at_zero_or_steps_by_one(&self, builder: &mut Builder<'_>, start: Value, step: Value) -> bool {
        constant(builder, start) == Some(0) || matches!(constant(builder, step), Some(1 | -1))
    }
}

/// The flags of results that do not wrap, as signed and as unsigned numbers.
const NSW: i64 = 1;
const NUW: i64 = 2;

fn constant(builder: &mut Builder<'_>, value: Value) -> Option<i128> {
    let ctx = builder.ctx();
    let attr = loomir_ir::rewrite::constant_of(builder.body(), value)?;
    attr.as_int(&ctx).map(i128::from)
}

fn flagged(builder: &mut Builder<'_>, def: &'static OpDef, a: Value, b: Value, exact: bool) -> Value {
    let (ctx, ty) = (builder.ctx(), builder.type_of(a));
    let flags = ctx.int_attr(Type::I32, if exact { NSW } else { 0 });
    let state = builder.state(def).operands(&[a, b]).results(&[ty]).attr(&ctx, "overflowFlags", flags);
    builder.value(state)
}

fn sum(builder: &mut Builder<'_>, a: Value, b: Value, exact: bool) -> Value {
    flagged(builder, llvm::AddOp::DEF, a, b, exact)
}

pub(super) fn resized(builder: &mut Builder<'_>, def: &'static OpDef, value: Value, width: u32) -> Value {
    if builder.type_of(value).integer_width(&builder.ctx()) == Some(width) {
        return value;
    }
    if let Some(number) = constant(builder, value) {
        let bits = if def.name == llvm::ZExtOp::DEF.name {
            let own = builder.type_of(value).integer_width(&builder.ctx()).unwrap_or(64);
            number as u128 & loomir_dialects::interp::integer::mask(own)
        } else {
            number as u128
        };
        return arithmetic::constant(builder, width, bits);
    }
    let ty = builder.ctx().int_type(width);
    let state = builder.state(def).operands(&[value]).results(&[ty]);
    builder.value(state)
}

pub(super) fn cast(builder: &mut Builder<'_>, value: Value, to: Type) -> Value {
    if to == Type::INDEX
        && let Some(number) = constant(builder, value)
    {
        return index_constant(builder, number as i64);
    }
    let state = builder.state(arith::IndexCastOp::DEF).operands(&[value]).results(&[to]);
    builder.value(state)
}

pub(super) fn index_constant(builder: &mut Builder<'_>, number: i64) -> Value {
    let ctx = builder.ctx();
    let state = builder.state(arith::ConstantOp::DEF).attr(&ctx, "value", ctx.int_attr(Type::INDEX, number));
    builder.value(state.results(&[Type::INDEX]))
}
