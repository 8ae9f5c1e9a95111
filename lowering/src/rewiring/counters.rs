//! Canonical counters: each loop is counted by one argument of its header that starts at zero and
//! grows by one.
//!
//! Another header argument that grows by a fixed amount becomes its initial value plus a multiple
//! of the counter. If the trip count is known, the latch compares the counter with it. Loops that
//! count differently but behave the same are then written alike. Words wrap as before; new
//! operations have no no-wrap flags.
//!
//! Loops need a preheader and one latch. Cost: that of scalar evolution, and linear in the replaced
//! uses.

use hashbrown::HashMap;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Type, Value};

use super::formula::{Counters, Formula, binary, number, resize};
use crate::cfg::Analysis;
use crate::cfg::branch::{Ending, Target, end_block, set_successor_operands, successor_operands, targets};
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;

/// A loop that can be counted.
struct Counted {
    id: LoopId,
    header: Block,
    preheader: Block,
    latch: Block,
    /// The backedge-taken count, if only the latch leaves the loop.
    count: Option<Formula>,
}

/// Adds counters to the loops of a function and returns their number.
pub(super) fn count_loops(function: &mut Body, analysis: &Analysis, data_layout: &DataLayout) -> usize {
    let loops = loops(function, analysis, data_layout);
    let mut counters = Counters::new();
    // What arguments have become.
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    for own in &loops {
        let counter = add_counter(function, own);
        counters.insert(own.id, counter);
        close_forms(function, analysis, own, counter, &mut replaced);
        if let Some(count) = &own.count {
            test(function, own, counter, count, &counters, &replaced);
        }
    }
    loops.len()
}

/// Returns the loops that can be counted, outer ones first.
fn loops(function: &Body, analysis: &Analysis, data_layout: &DataLayout) -> Vec<Counted> {
    let mut scev = ScalarEvolution::new(function, analysis, data_layout);
    let mut found = Vec::new();
    for id in scev.loops_from_the_outside() {
        let roles = Roles::of(analysis, id);
        let (Some(preheader), Some(latch)) = (roles.preheader, roles.latch()) else { continue };
        let exact = scev.counts(id).exact.filter(|_| roles.exiting == [latch]);
        let count = exact.and_then(|exact| Formula::of(&scev, exact, id));
        let [header, preheader, latch] = [roles.header, preheader, latch].map(|node| analysis.block(node));
        found.push(Counted { id, header, preheader, latch, count });
    }
    found
}

/// Adds the argument that counts.
fn add_counter(function: &mut Body, own: &Counted) -> Value {
    let counter = function.add_argument(own.header, Type::I64);
    let [entering, closing] = [own.preheader, own.latch].map(|block| function.terminator(block));
    let (Some(entering), Some(closing)) = (entering, closing) else { return counter };
    let zero = number(&mut Builder::before(function, entering), Type::I64, 0);
    hand(function, entering, own.header, zero);
    let mut b = Builder::before(function, closing);
    let one = number(&mut b, Type::I64, 1);
    let next = binary(&mut b, llvm::AddOp::DEF, counter, one);
    hand(function, closing, own.header, next);
    counter
}

/// Passes one more value to a block.
fn hand(function: &mut Body, branch: Op, to: Block, value: Value) {
    let mut operands = successor_operands(function, branch);
    for (block, operands) in function.successors(branch).zip(&mut operands) {
        if block == to {
            operands.push(value);
        }
    }
    set_successor_operands(function, branch, &operands);
}

/// Replaces arguments that grow by a fixed amount by formulas over the counter.
fn close_forms(
    function: &mut Body,
    analysis: &Analysis,
    own: &Counted,
    counter: Value,
    replaced: &mut HashMap<Value, Value>,
) {
    for index in (0..function.num_arguments(own.header) - 1).rev() {
        let argument = function.argument(own.header, index);
        let Some((start, step)) = recurrence(function, analysis, own, index) else { continue };
        let ty = function.value_type(argument);
        let mut b = Builder::new(function, InsertPoint::Start(own.header));
        let step = match constant_like(b.body(), step) {
            // It may be inside the loop.
            Some(op) => {
                let ctx = b.ctx();
                let state = b.state(llvm::ConstantOp::DEF).results(&[ty]);
                b.value(state.attr(&ctx, "value", op))
            }
            None => step,
        };
        let count = resize(&mut b, counter, ty);
        let grown = binary(&mut b, llvm::MulOp::DEF, count, step);
        let value = binary(&mut b, llvm::AddOp::DEF, start, grown);
        function.replace_all_uses(argument, value);
        replaced.insert(argument, value);
        for block in [own.preheader, own.latch] {
            let Some(branch) = function.terminator(block) else { continue };
            let mut operands = successor_operands(function, branch);
            for (to, operands) in function.successors(branch).zip(&mut operands) {
                if to == own.header {
                    operands.remove(index);
                }
            }
            set_successor_operands(function, branch, &operands);
        }
        function.erase_argument(own.header, index);
    }
}

/// Returns the value of a constant.
fn constant_like(function: &Body, value: Value) -> Option<loomir_ir::Attr> {
    let op = function.defining_op(value).filter(|op| function.is(*op, llvm::ConstantOp::DEF))?;
    function.attr(op, "value")
}

/// Returns the initial value and the step of an argument, if the step is a value from outside of
/// the loop.
fn recurrence(function: &Body, analysis: &Analysis, own: &Counted, index: usize) -> Option<(Value, Value)> {
    let argument = function.argument(own.header, index);
    function.value_type(argument).integer_width(function.ctx()).filter(|width| *width <= 64)?;
    let handed = |block: Block| {
        let all = targets(function, function.terminator(block)?);
        all.into_iter().find(|to| to.block == own.header)?.operands.get(index).copied()
    };
    let (start, next) = (handed(own.preheader)?, handed(own.latch)?);
    let sum = function.defining_op(next).filter(|op| function.is(*op, llvm::AddOp::DEF))?;
    let [a, b] = [0, 1].map(|operand| function.operand(sum, operand));
    let step = if a == argument { b } else { a };
    let is_outside = function
        .value_block(step)
        .is_some_and(|block| !analysis.loops().contains(own.id, analysis.number(block)));
    let is_fixed = is_outside || constant_like(function, step).is_some();
    ([a, b].contains(&argument) && step != argument && is_fixed).then_some((start, step))
}

/// Makes the latch compare the counter with the backedge-taken count.
fn test(
    function: &mut Body,
    own: &Counted,
    counter: Value,
    count: &Formula,
    counters: &Counters,
    replaced: &HashMap<Value, Value>,
) {
    let [entering, closing] = [own.preheader, own.latch].map(|block| function.terminator(block));
    let (Some(entering), Some(closing)) = (entering, closing) else { return };
    let Ok([a, b]) = <[Target; 2]>::try_from(targets(function, closing)) else { return };
    let (back, out) = if a.block == own.header { (a, b) } else { (b, a) };
    if back.block != own.header || out.block == own.header || !function.is(closing, llvm::CondBrOp::DEF) {
        return;
    }
    let mut b = Builder::before(function, entering);
    let Some(limit) = count.write(&mut b, counters, replaced) else { return };
    if b.type_of(limit).integer_width(&b.ctx()).is_none_or(|width| width > 64) {
        return;
    }
    let limit = match b.type_of(limit) {
        Type::I64 => limit,
        _ => {
            let state = b.state(llvm::ZExtOp::DEF).operands(&[limit]).results(&[Type::I64]);
            b.value(state)
        }
    };
    let mut b = Builder::before(function, closing);
    let ctx = b.ctx();
    let predicate = ctx.int_attr(Type::I64, NOT_EQUAL);
    let state = b.state(llvm::ICmpOp::DEF).attr(&ctx, "predicate", predicate);
    let goes_on = b.value(state.operands(&[counter, limit]).results(&[Type::I1]));
    end_block(function, own.latch, &Ending::Conditional(goes_on, [back, out]));
}

/// The predicate of `llvm.icmp` for inequality.
const NOT_EQUAL: i128 = 1;
