//! Loops that scalar evolution counts become `scf.for`.
//!
//! The loop counts its iterations from zero. Header arguments that change by a fixed step become
//! expressions of that count. Other arguments are carried.
//!
//! **Assumptions.**
//! - A backedge-taken count is exact only if each iteration reaches the latch, so evaluating it
//!   before the loop is no earlier than the program would.
//! - A recurrence with the flag `nsw` has its exact value in each iteration, read as signed.
//!   In 64 bits neither `k * step` nor the sum with the start leaves the range then.
//! - No object covers half of all addresses: a loop that accesses another place of one object in
//!   each iteration has less than two to the power of 63 iterations.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::memory::address::byte_offsets;
use loomir_dialects::llvm::types::array;
use loomir_dialects::{arith, llvm};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Builder, OpDef, Type, Value};

use crate::cfg::arithmetic;
use crate::cfg::branch::targets;
use crate::cfg::expander::{Recipe, values_of_test};
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprType, Flags};

/// A loop with a number of iterations that is known when it begins.
pub(super) struct Counted {
    /// The number of iterations. At least 1 and less than two to the power of 63.
    pub(super) trips: Recipe,
    /// Values that are not poison if the loop runs.
    pub(super) settled: HashSet<Value>,
    /// For each header argument, its steps.
    pub(super) variables: Vec<Option<Variable>>,
    /// For each argument of the exit, the variable that it is, and true if it is its next value.
    pub(super) finals: Vec<Option<(usize, bool)>>,
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

/// Returns the loops that count, of a function in loop-simplify form with closed loops.
pub(super) fn counted_loops(scev: &mut ScalarEvolution<'_>) -> HashMap<LoopId, Counted> {
    let all = scev.loops_from_the_outside();
    all.into_iter().filter_map(|of| Some((of, counted(scev, of)?))).collect()
}

fn counted(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Option<Counted> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let roles = Roles::of(analysis, of);
    let latch = roles.latch().filter(|latch| roles.exiting == [*latch])?;
    let exit = match roles.exits[..] {
        [exit] => analysis.block(exit),
        _ => return None,
    };
    let trips = scev.trip_count(of)?;
    let range = scev.range_in(trips, Some(of));
    let is_bounded = range.unsigned.1 <= i64::MAX as u128;
    if !is_bounded && (scev.width(trips) > 64 || !is_bounded_by_an_object(scev, of, latch)) {
        return None;
    }
    // A number of 64 bits that is read as signed, or fewer bits that are not negative so.
    let trips = match scev.width(trips) {
        ..=64 if range.signed.0 >= 0 || !is_bounded => Recipe::of_number(scev, of, trips)?,
        ..=65 => Recipe::of(scev, of, trips)?,
        _ => return None,
    };
    let header = analysis.block(roles.header);
    let arguments: Vec<Value> = function.arguments(header).collect();
    let variables: Vec<Option<Variable>> =
        arguments.iter().map(|argument| variable(scev, of, *argument)).collect();
    let branch = function.terminator(analysis.block(latch))?;
    let left = targets(function, branch).into_iter().find(|to| to.block == exit)?;
    let finals = left.operands.iter().map(|value| {
        let is_next =
            |argument: &Value| scev.header_argument(*argument).is_some_and(|own| own.next == *value);
        let own = arguments.iter().position(|argument| argument == value).map(|at| (at, false));
        let found = own.or_else(|| Some((arguments.iter().position(is_next)?, true)));
        found.filter(|(at, _)| variables[*at].is_some())
    });
    let finals = finals.collect();
    let settled = values_of_test(scev, of).collect();
    Some(Counted { trips, settled, variables, finals })
}

/// True if each iteration accesses another place of one object, which has less than two to the
/// power of 63 places. A greater count is undefined behaviour then.
///
/// The address is in bounds of the object that an invariant address is in, and its index counts up.
/// The index therefore leaves the object before it wraps, wherever it starts.
fn is_bounded_by_an_object(scev: &mut ScalarEvolution<'_>, of: LoopId, latch: u32) -> bool {
    let (function, analysis) = (scev.function(), scev.analysis());
    let nodes = analysis.loops().get(of).nodes.iter().copied();
    let always = nodes.filter(|node| analysis.dominators().dominates(*node, latch));
    let accesses = always.flat_map(|node| function.ops(analysis.block(node))).filter_map(|op| {
        let is = |def| function.is(op, def);
        match (is(llvm::LoadOp::DEF), is(llvm::StoreOp::DEF)) {
            (true, _) => Some(function.operand(op, 0)),
            (_, true) => Some(function.operand(op, 1)),
            _ => None,
        }
    });
    let accesses: Vec<Value> = accesses.collect();
    accesses.into_iter().any(|pointer| counts_in_bounds(scev, of, pointer))
}

/// True if an address is `getelementptr inbounds`, on an invariant address, of one index of 64 bits
/// that counts up.
fn counts_in_bounds(scev: &mut ScalarEvolution<'_>, of: LoopId, pointer: Value) -> bool {
    let function = scev.function();
    let Some(op) = function.defining_op(pointer).filter(|op| function.is(*op, llvm::GEPOp::DEF)) else {
        return false;
    };
    let flags = function.attr(op, "noWrapFlags").and_then(|flags| flags.as_int(function.ctx()));
    let base = function.operand(op, 0);
    let is_invariant = function.value_block(base).is_some_and(|block| {
        let node = scev.analysis().number(block);
        !scev.analysis().loops().contains(of, node)
    });
    let offsets = byte_offsets(function.op_ref(op), scev.data_layout());
    let Ok((0.., [(index, 1..=MAX_SCALE)])) = offsets.as_ref().map(|(fixed, scaled)| (*fixed, &scaled[..]))
    else {
        return false;
    };
    let is_word = |ty: ExprType| ty == ExprType::Integer(64);
    if flags.is_none_or(|flags| flags & 1 == 0)
        || !is_invariant
        || !scev.expr_type(base).is_some_and(|ty| ty == ExprType::Pointer(64))
        || !scev.expr_type(*index).is_some_and(is_word)
    {
        return false;
    }
    let id = scev.expr(*index);
    let Expr::AddRec(around, parts) = scev.get(id).clone() else { return false };
    let [_, step] = parts[..] else { return false };
    let is_small = |number: Option<u128>| number.is_some_and(|number| number <= MAX_SCALE as u128);
    around == of && is_small(scev.as_constant(step)) && scev.as_constant(step) != Some(0)
}

/// The greatest factor that such an address may have.
const MAX_SCALE: i64 = 1 << 20;

fn variable(scev: &mut ScalarEvolution<'_>, of: LoopId, argument: Value) -> Option<Variable> {
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
            let flags = function.attr(op, "noWrapFlags").and_then(|flags| flags.as_int(function.ctx()));
            function.is(op, llvm::GEPOp::DEF)
                && function.operand(op, 0) == argument
                && flags.is_some_and(|flags| flags & 1 != 0)
        });
        Kind::Address(stays)
    } else {
        // What the steps promise holds where the value is not poison.
        let flags = scev.flags(id).and(scev.promised(argument, of, step));
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
                let (ctx, ty) = (builder.ctx(), builder.type_of(start));
                let element = match unit {
                    1 => ctx.int_type(8),
                    _ => array(&ctx, u64::from(unit), ctx.int_type(8)),
                };
                let indices = ctx.dense_ints_attr(Type::I32, &[DYNAMIC_INDEX]);
                let state = builder.state(llvm::GEPOp::DEF).operands(&[start, offset]).results(&[ty]);
                let state = state.attr(&ctx, "rawConstantIndices", indices);
                let state = state.attr(&ctx, "elem_type", ctx.type_attr(element));
                let flags = ctx.int_attr(Type::I32, if exact { INBOUNDS } else { 0 });
                builder.value(state.attr(&ctx, "noWrapFlags", flags))
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

/// The flags of an address computation in bounds.
const INBOUNDS: i64 = 3;

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
