//! Counting by running: for loops whose exit depends on constants alone, and that run briefly.
//!
//! The header's arguments start as constants. The values that return to them, and the condition,
//! are computed from them by operations that can be evaluated, including floats of 32 and 64 bits.
//! At most [`MAX_ITERATIONS`] iterations of at most [`MAX_OPERATIONS`] operations each are run.
//!
//! **Assumptions.**
//! - An operation whose result may be poison, undefined or machine-dependent is not run.
//! - Floats are run with the default rounding, and only while all of them are ordinary numbers.
//!
//! Tried with `loop_fusion_traps/no_operands.ll` and `lowering/tests/scev/opt.rs`.

use hashbrown::HashMap;
use loomir_dialects::interp::float::{self, Double, Format, Single};
use loomir_dialects::interp::integer::{self, Rounding, Wrap, mask};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, FloatKind, Op, OpDef, TypeKind, Value};

use super::ScalarEvolution;
use super::count::Limit;

const MAX_ITERATIONS: u128 = 128;
const MAX_OPERATIONS: usize = 48;

impl ScalarEvolution<'_> {
    /// Returns the number of iterations for which a condition continues the loop, if running it
    /// determines that.
    pub(super) fn count_by_running(&mut self, condition: Value, leaves_if: bool, of: LoopId) -> Limit {
        match self.run(condition, leaves_if, of) {
            Some(count) => {
                let count = self.constant(32, count);
                self.exactly(of, count)
            }
            None => Limit::default(),
        }
    }

    /// Returns the result of an operation on integers. `None` if it is poison, undefined, or
    /// unknown here.
    pub(crate) fn result_of(&self, op: Op, operands: &[u128]) -> Option<u128> {
        compute(self.function, op, operands)
    }

    fn run(&mut self, condition: Value, leaves_if: bool, of: LoopId) -> Option<u128> {
        // The values computed in an iteration, operands first, and the header arguments with their
        // next values.
        let (mut order, mut arguments): (Vec<Value>, Vec<(Value, Value)>) = (Vec::new(), Vec::new());
        let mut numbers: HashMap<Value, u128> = HashMap::new();
        let mut seen: HashMap<Value, ()> = HashMap::new();
        let mut stack = vec![(condition, false)];
        while let Some((value, is_ready)) = stack.pop() {
            if is_ready {
                order.push(value);
                continue;
            }
            if seen.insert(value, ()).is_some() {
                continue;
            }
            if seen.len() > MAX_OPERATIONS {
                return None;
            }
            if let Some(bits) = self.known_bits(value)? {
                numbers.insert(value, bits);
                continue;
            }
            if let Some(header) = self.header_argument(value) {
                if header.of != of {
                    return None;
                }
                let start = self.known_bits(header.start)??;
                numbers.insert(value, start);
                arguments.push((value, header.next));
                stack.push((header.next, false));
                continue;
            }
            stack.push((value, true));
            match self.function.defining_op(value) {
                Some(op) if self.is_in(op, of) => {
                    stack.extend(self.function.operands(op).map(|operand| (operand, false)))
                }
                Some(_) => return None,
                None => stack.push((self.only_incoming(value)?, false)),
            }
        }
        for count in 0..MAX_ITERATIONS {
            for value in &order {
                let bits = match self.function.defining_op(*value) {
                    Some(op) => {
                        let operands: Option<Vec<u128>> = self
                            .function
                            .operands(op)
                            .map(|operand| numbers.get(&operand).copied())
                            .collect();
                        let operands = operands?;
                        compute(self.function, op, &operands)
                            .or_else(|| compute_floats(self.function, op, &operands))?
                    }
                    None => *numbers.get(&self.only_incoming(*value)?)?,
                };
                numbers.insert(*value, bits);
            }
            if (*numbers.get(&condition)? != 0) == leaves_if {
                return Some(count);
            }
            let next: Option<Vec<u128>> =
                arguments.iter().map(|(_, next)| numbers.get(next).copied()).collect();
            for ((argument, _), bits) in arguments.iter().zip(next?) {
                numbers.insert(*argument, bits);
            }
        }
        None
    }

    /// Returns the bits of a value, or `Some(None)` if the value is no constant. Returns `None` for
    /// types that are not simulated.
    fn known_bits(&mut self, value: Value) -> Option<Option<u128>> {
        if float_format(self.function, value).is_some() {
            return Some(self.number(value));
        }
        self.expr_type(value)?;
        let id = self.expr(value);
        Some(self.as_constant(id))
    }

    fn is_in(&self, op: Op, of: LoopId) -> bool {
        let block = self.function.block_of(op);
        block.is_some_and(|block| self.analysis.loops().contains(of, self.analysis.number(block)))
    }
}

/// The conversions of floats of a type.
type FloatFormat = (fn(u128) -> f64, fn(f64) -> u128);

/// Returns the format of a value's type; `None` if it is not of 32 or 64 bits.
fn float_format(function: &Body, value: Value) -> Option<FloatFormat> {
    match function.value_type(value).kind(function.ctx()) {
        TypeKind::Float(FloatKind::F32) => Some((Single::read, Single::write)),
        TypeKind::Float(FloatKind::F64) => Some((Double::read, Double::write)),
        _ => None,
    }
}

/// Returns the result of an operation on floats without flags, if every number in it is zero or of
/// ordinary size. Other results may depend on the machine.
fn compute_floats(function: &Body, op: Op, operands: &[u128]) -> Option<u128> {
    let (ctx, info) = (function.ctx(), function.info(op));
    let (read, write) = float_format(function, function.operands(op).next()?)?;
    let flags = function.attr(op, "fastmathFlags").and_then(|f| llvm::attributes::FASTMATH.value(ctx, f));
    let is_ordinary =
        |number: &f64| *number == 0.0 || (number.is_normal() && read(write(*number)).is_normal());
    let numbers: Vec<f64> = operands.iter().map(|bits| read(*bits)).collect();
    if flags.unwrap_or(0) != 0 || !numbers.iter().all(is_ordinary) {
        return None;
    }
    let is = |def: &'static OpDef| info.is(def);
    let result = match numbers[..] {
        [a] if is(llvm::FNegOp::DEF) => -a,
        [a, b] if is(llvm::FCmpOp::DEF) => {
            let predicate = llvm::attributes::FCMP_PREDICATE.value(ctx, function.attr(op, "predicate")?)?;
            return Some(u128::from(float::compare(predicate, a, b)));
        }
        [a, b] if is(llvm::FAddOp::DEF) => a + b,
        [a, b] if is(llvm::FSubOp::DEF) => a - b,
        [a, b] if is(llvm::FMulOp::DEF) => a * b,
        [a, b] if is(llvm::FDivOp::DEF) => a / b,
        _ => return None,
    };
    is_ordinary(&result).then(|| write(result))
}

/// Returns the result of an operation on integers. `None` if it is poison, undefined, or unknown
/// here.
pub(super) fn compute(function: &Body, op: Op, operands: &[u128]) -> Option<u128> {
    let ctx = function.ctx();
    let width_of = |value: Value| {
        function.value_type(value).integer_width(ctx).filter(|width| (1..=128).contains(width))
    };
    let result = width_of(function.results(op).next()?)?;
    let info = function.info(op);
    let is = |def: &'static OpDef| info.is(def);
    let has = |name: &str| function.attr(op, name).is_some();
    // Calls and inline assembly may have results but no operands.
    let width = width_of(function.operands(op).next()?)?;
    let overflow =
        function.attr(op, "overflowFlags").and_then(|flags| llvm::attributes::OVERFLOW.value(ctx, flags));
    let wrap = Wrap::from_flags(overflow.unwrap_or(0));
    let bits = match *operands {
        [a] if is(llvm::ZExtOp::DEF) => Some(a).filter(|a| !has("nonNeg") || integer::signed(width, *a) >= 0),
        [a] if is(llvm::SExtOp::DEF) => Some(integer::signed(width, a) as u128),
        [a] if is(llvm::TruncOp::DEF) && wrap == Wrap::default() => Some(a),
        [a] if is(llvm::FreezeOp::DEF) => Some(a),
        [condition, yes, no] if is(llvm::SelectOp::DEF) => Some(if condition != 0 { yes } else { no }),
        [a, b] => {
            if is(llvm::ICmpOp::DEF) {
                let number = llvm::attributes::ICMP_PREDICATE.value(ctx, function.attr(op, "predicate")?)?;
                let compare = integer::compare(number)?;
                return Some(u128::from(compare(width, a, b)));
            }
            let less = |signed: bool| {
                if signed { integer::signed(width, a) < integer::signed(width, b) } else { a < b }
            };
            let exact = has("isExact");
            let computed = if is(llvm::AddOp::DEF) {
                integer::add(width, wrap, a, b)
            } else if is(llvm::SubOp::DEF) {
                integer::sub(width, wrap, a, b)
            } else if is(llvm::MulOp::DEF) {
                integer::mul(width, wrap, a, b)
            } else if is(llvm::ShlOp::DEF) {
                integer::shl(width, wrap, a, b)
            } else if is(llvm::LShrOp::DEF) {
                integer::shift_right_unsigned(width, exact, a, b)
            } else if is(llvm::AShrOp::DEF) {
                integer::shift_right_signed(width, exact, a, b)
            } else if is(llvm::UDivOp::DEF) {
                integer::div_unsigned(Rounding::Truncate, exact, a, b)
            } else if is(llvm::SDivOp::DEF) {
                integer::div_signed(width, Rounding::Truncate, exact, a, b)
            } else if is(llvm::URemOp::DEF) {
                integer::rem_unsigned(a, b)
            } else if is(llvm::SRemOp::DEF) {
                integer::rem_signed(width, a, b)
            } else if is(llvm::AndOp::DEF) {
                Ok(a & b)
            } else if is(llvm::OrOp::DEF) && !(has("isDisjoint") && a & b != 0) {
                Ok(a | b)
            } else if is(llvm::XOrOp::DEF) {
                Ok(a ^ b)
            } else if is(llvm::SMinOp::DEF) || is(llvm::SMaxOp::DEF) {
                Ok(if less(true) == is(llvm::SMinOp::DEF) { a } else { b })
            } else if is(llvm::UMinOp::DEF) || is(llvm::UMaxOp::DEF) {
                Ok(if less(false) == is(llvm::UMinOp::DEF) { a } else { b })
            } else {
                return None;
            };
            computed.ok()
        }
        _ => None,
    };
    bits.map(|bits| bits & mask(result))
}
