//! Code that traps where a [fact](super::facts) does not hold.

use loomir_dialects::llvm::attributes::OVERFLOW;
use loomir_dialects::llvm::types::pointer;
use loomir_dialects::{arith, llvm, scf};
use loomir_ir::{Block, Body, Builder, InsertPoint, Loc, Op, Type, Value};

use hashbrown::HashMap;

use crate::emit::{Emit, NSW, NUW, Predicate};

/// Stops the program if a condition holds.
fn trap_if(function: &mut Body, condition: Value, at: InsertPoint) {
    let mut builder = Builder::new(function, at);
    let state = builder.state(scf::IfOp::DEF).operands(&[condition]);
    let around = builder.insert(state);
    let block = function.append_block(function.region(around, 0), &[]);
    let mut builder = Builder::new(function, InsertPoint::End(block));
    builder.build(llvm::TrapOp::DEF, &[], &[], &[]);
    builder.build(scf::YieldOp::DEF, &[&[]], &[], &[]);
}

/// The least and the greatest address that were accessed behind an object, in memory.
#[derive(Clone, Copy)]
struct Range {
    least: Value,
    end: Value,
}

/// Notes the addresses of all accesses in an arm, each with the numbers of its object and of those
/// apart from it. At the end of the arm two ranges that overlap stop the program.
pub(super) fn scopes(function: &mut Body, arm: Block, accesses: &[(Op, Vec<i64>)]) {
    let mut ranges: HashMap<i64, Range> = HashMap::new();
    let start = function.first_op(arm).map_or(InsertPoint::End(arm), InsertPoint::Before);
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    for (_, list) in accesses {
        for object in list {
            ranges.entry(*object).or_insert_with(|| Range {
                least: variable(function, -1, start),
                end: variable(function, 0, start),
            });
        }
        let Some((own, apart)) = list.split_first() else { continue };
        pairs.extend(apart.iter().map(|other| (*own.min(other), *own.max(other))));
    }
    for (op, list) in accesses {
        if let Some(range) = list.first().and_then(|own| ranges.get(own)) {
            note(function, *op, *range);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let Some(end) = function.terminator(arm).map(InsertPoint::Before) else { return };
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (ranges.get(&a), ranges.get(&b)) else { continue };
        let [a_least, a_end, b_least, b_end] =
            [a.least, a.end, b.least, b.end].map(|slot| load(function, slot, end));
        let mut builder = Builder::new(function, end);
        let first = builder.compare(Predicate::Ult, a_least, b_end);
        let second = builder.compare(Predicate::Ult, b_least, a_end);
        let both = builder.binary(arith::AndIOp::DEF, first, second);
        trap_if(function, both, end);
    }
}

/// Makes a variable of 64 bits.
fn variable(function: &mut Body, initial: i64, at: InsertPoint) -> Value {
    let mut builder = Builder::new(function, at);
    let ctx = builder.ctx();
    let one = number(&mut builder, 1);
    let attrs = [("elem_type", ctx.type_attr(Type::I64))];
    let slot = builder.build(llvm::AllocaOp::DEF, &[&[one]], &attrs, &[pointer(&ctx)]);
    let slot = builder.body().result(slot, 0);
    let initial = number(&mut builder, initial);
    builder.build(llvm::StoreOp::DEF, &[&[initial], &[slot]], &[], &[]);
    slot
}

fn number(builder: &mut Builder<'_>, value: i64) -> Value {
    let ctx = builder.ctx();
    builder.constant(ctx.int_attr(Type::I64, value), Type::I64)
}

fn load(function: &mut Body, slot: Value, at: InsertPoint) -> Value {
    let mut builder = Builder::new(function, at);
    let loaded = builder.build(llvm::LoadOp::DEF, &[&[slot]], &[], &[Type::I64]);
    builder.body().result(loaded, 0)
}

/// Extends a range by the memory of an access. Types without a known size count as a byte.
fn note(function: &mut Body, op: Op, range: Range) {
    let is_load = function.is(op, llvm::LoadOp::DEF);
    let (value, address) = match is_load {
        true => (function.result(op, 0), function.operand(op, 0)),
        false => (function.operand(op, 0), function.operand(op, 1)),
    };
    let bits = function.value_type(value).integer_width(function.ctx()).unwrap_or(8);
    let at = InsertPoint::Before(op);
    let [least, end] = [range.least, range.end].map(|slot| load(function, slot, at));
    let mut builder = Builder::new(function, at);
    let address = builder.build(llvm::PtrToIntOp::DEF, &[&[address]], &[], &[Type::I64]);
    let address = builder.body().result(address, 0);
    let bytes = number(&mut builder, i64::from(bits.div_ceil(8)));
    let behind = builder.binary(arith::AddIOp::DEF, address, bytes);
    let least = builder.binary(arith::MinUIOp::DEF, least, address);
    let end = builder.binary(arith::MaxUIOp::DEF, end, behind);
    builder.build(llvm::StoreOp::DEF, &[&[least], &[range.least]], &[], &[]);
    builder.build(llvm::StoreOp::DEF, &[&[end], &[range.end]], &[], &[]);
}

/// Stops the program before an addition to the counter of a loop that its flags exclude.
pub(super) fn counter(function: &mut Body, op: Op, flags: u64) {
    let Some(body) = function.single_block(function.region(op, 0)) else { return };
    let Some(end) = function.terminator(body).map(InsertPoint::Before) else { return };
    let variable = function.argument(body, 0);
    let ty = function.value_type(variable);
    let width = ty.integer_width(function.ctx()).unwrap_or(64).min(64);
    for (flag, last) in [(NSW, i64::MAX >> (64 - width)), (NUW, -1)] {
        if flags & flag != 0 {
            let mut builder = Builder::new(function, end);
            let ctx = builder.ctx();
            let last = builder.constant(ctx.int_attr(ty, last), ty);
            let is_last = builder.compare(Predicate::Eq, variable, last);
            trap_if(function, is_last, end);
        }
    }
}

/// Drops the flags of a truncation, and stops the program behind it if one does not hold.
pub(super) fn cut(function: &mut Body, op: Op, flags: u64) {
    let (wide, narrow) = (function.operand(op, 0), function.result(op, 0));
    let none = OVERFLOW.attr(function.ctx(), 0);
    function.set_attr(op, "overflowFlags", none);
    let Some(next) = function.next_op(op).map(InsertPoint::Before) else { return };
    for (flag, extension) in [(NSW, llvm::SExtOp::DEF), (NUW, llvm::ZExtOp::DEF)] {
        if flags & flag != 0 {
            let mut builder = Builder::new(function, next);
            builder.set_loc(Loc::UNKNOWN);
            let restored = builder.build(extension, &[&[narrow]], &[], &[Type::I64]);
            let restored = builder.body().result(restored, 0);
            let same = builder.compare(Predicate::Eq, restored, wide);
            let no = builder.ctx().int_attr(Type::I1, 0);
            let no = builder.constant(no, Type::I1);
            let differs = builder.compare(Predicate::Eq, same, no);
            trap_if(function, differs, next);
        }
    }
}
