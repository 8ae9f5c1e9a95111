//! Conversion of counting `scf.while` loops to `scf.for`.
//!
//! A loop counts if its condition is one comparison of a carried value with a value from outside,
//! and each iteration adds a positive constant to the carried value. All other carried values and
//! computations stay. The conversion is done only if both loops behave the same. Either the sum has
//! the flag that makes an overflow undefined, as it is for `scf.for`, or it cannot overflow. Other
//! computations of the condition region move to the start of the body, and are repeated once behind
//! the loop.
//!
//! MLIR's transformation of the same name accepts unsound cases: steps that may be zero, sums that
//! may wrap.
//!
//! # Assumptions
//!
//! - The condition is computed again only in iterations that computed it, so a division may be in
//!   it. A type of more than 64 bits is refused. Tried in `fixtures/fusion/while.mlir`.
//!
//! **Cost.** Linear in the operations of each loop.

use hashbrown::HashSet;
use loomir_dialects::{arith, memref, scf};
use loomir_ir::opdef::OpDef;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Body, Builder, Diagnostics, InsertPoint, Mapping, Op, Trait, Type, Value, ValueDef};

use crate::affine::Forms;

/// The pass `scf-uplift-while-to-for`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "scf-uplift-while-to-for",
    anchor: None,
    summary: "Write scf.while as scf.for where it counts",
    options: &[],
    make: |_| Ok(Box::new(WhileToFor)),
};

struct WhileToFor;

impl Pass for WhileToFor {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Loops uplifted", uplift(body) as u64));
        Ok(())
    }
}

/// Converts the counting loops of a body to `scf.for`. Returns the number of conversions.
pub fn uplift(body: &mut Body) -> usize {
    let loops: Vec<Op> = body.all_ops().filter(|op| body.is(*op, scf::WhileOp::DEF)).collect();
    let mut uplifted = 0;
    // Inner loops come first. Then nothing inside an outer loop changes later.
    for op in loops.into_iter().rev() {
        if let Some(counting) = Counting::of(body, op) {
            counting.write(body);
            uplifted += 1;
        }
    }
    uplifted
}

/// A loop that counts.
struct Counting {
    op: Op,
    /// The block that ends in the condition, and the body block.
    before: Block,
    after: Block,
    /// The index of the counting value among the carried ones.
    position: usize,
    /// The end: the loop continues while the value is below it. It comes from outside or is a
    /// constant.
    end: Value,
    /// Or at it.
    inclusive: bool,
    /// The step, a constant, as a value and as a number.
    step: (Value, i64),
    /// True if the counter is compared as unsigned.
    unsigned: bool,
    /// The sources of the body's arguments and of the results in the block before: an argument of
    /// that block, a value computed in it, or a value from outside.
    passed: Vec<Value>,
    /// The sum.
    increment: Op,
}

impl Counting {
    fn of(body: &Body, op: Op) -> Option<Counting> {
        let [before, after] = [0, 1].map(|index| body.single_block(body.region(op, index)));
        let (before, after) = (before?, after?);
        let (condition, yielded) = (body.terminator(before)?, body.terminator(after)?);
        let computes = |inside: Op| inside == condition || body.has_trait(inside, Trait::Pure);
        if !body.ops(before).all(computes) {
            return None;
        }
        let compare = body.defining_op(body.operand(condition, 0))?;
        if body.block_of(compare) != Some(before) || !body.is(compare, arith::CmpIOp::DEF) {
            return None;
        }
        let predicate = arith::CMPI_PREDICATE.value(body.ctx(), body.attr(compare, "predicate")?)?;
        let predicate = arith::CMPI_PREDICATE.text_of(predicate)?;
        let [a, b] = [0, 1].map(|index| body.operand(compare, index));
        let (counter, end, less) = match predicate.as_str() {
            "slt" | "sle" | "ult" | "ule" => (a, b, predicate.as_str()),
            "sgt" => (b, a, "slt"),
            "sge" => (b, a, "sle"),
            "ugt" => (b, a, "ult"),
            "uge" => (b, a, "ule"),
            _ => return None,
        };
        let ValueDef::BlockArgument { block, index: position } = body.def(counter) else { return None };
        if block != before {
            return None;
        }
        let passed: Vec<Value> = body.operands(condition).skip(1).collect();
        let in_before = |value: Value| match body.def(value) {
            ValueDef::BlockArgument { block, index } if block == after => passed[index],
            _ => value,
        };
        let increment = body.defining_op(in_before(body.operand(yielded, position)))?;
        let is_fixed = constant_of(body, end).is_some() || !body.is_defined_within(end, op);
        if !is_fixed || !body.is(increment, arith::AddIOp::DEF) {
            return None;
        }
        // A stack allocation in an `scf.for` ends with the iteration.
        if body.ops(after).any(|inside| body.preorder(inside).any(|op| body.is(op, memref::AllocaOp::DEF))) {
            return None;
        }
        let [x, y] = [0, 1].map(|index| body.operand(increment, index));
        let step = match (in_before(x) == counter, in_before(y) == counter) {
            (true, false) => y,
            (false, true) => x,
            _ => return None,
        };
        let number = constant_of(body, step)?.as_int(body.ctx()).filter(|step| *step > 0)?;
        let counting = Counting {
            op,
            before,
            after,
            position,
            end,
            inclusive: less.ends_with('e'),
            step: (step, number),
            unsigned: less.starts_with('u'),
            passed,
            increment,
        };
        counting.counts_in_the_integers(body)
    }

    /// Returns the loop if none of its numbers wraps. The comparison becomes signed if possible.
    fn counts_in_the_integers(mut self, body: &Body) -> Option<Counting> {
        let first = body.operand(self.op, self.position);
        let width = match body.value_type(first) {
            Type::INDEX => 64,
            ty => ty.integer_width(body.ctx()).filter(|width| (2..=64).contains(width))?,
        };
        let mut forms = Forms::new(body, body.block_of(self.op)?);
        let (end, start) = (forms.range_of(self.end), forms.range_of(first));
        let flags = body.attr(self.increment, "overflowFlags");
        let flags = flags.and_then(|attr| arith::OVERFLOW.value(body.ctx(), attr)).unwrap_or(0);
        let has = |name| arith::OVERFLOW.value_of(name).is_some_and(|flag| flags & flag != 0);
        let (greatest, greatest_unsigned) = ((1i128 << (width - 1)) - 1, (1i128 << width) - 1);
        let extra = i128::from(self.inclusive);
        // The greatest last sum, if `end` is the exclusive upper bound.
        let sum = |end: i128| end + extra - 1 + i128::from(self.step.1);
        let fits_signed = end.1 + extra <= greatest && (has("nsw") || sum(end.1) <= greatest);
        if self.unsigned && start.0 >= 0 && end.0 >= 0 && fits_signed {
            self.unsigned = false;
        }
        let fits = if self.unsigned {
            let end = if end.0 >= 0 { end.1 } else { greatest_unsigned };
            end + extra <= greatest_unsigned && (has("nuw") || sum(end) <= greatest_unsigned)
        } else {
            fits_signed
        };
        fits.then_some(self)
    }

    /// Replaces the loop by an `scf.for`.
    fn write(self, body: &mut Body) {
        let (end, step) = self.write_bounds(body);
        let carried = Carried::of(&self, body);
        let new = self.write_header(body, &carried, (end, step));
        self.write_body(body, &carried, new);
        self.replace_results(body, &carried, (new, end));
        body.erase(self.op);
    }

    /// Writes the exclusive end and the step before the loop.
    fn write_bounds(&self, body: &mut Body) -> (Value, Value) {
        let op = self.op;
        let ctx = body.ctx().clone();
        let ty = body.value_type(body.operand(op, self.position));
        let mut builder = Builder::before(body, op);
        let number = |builder: &mut Builder<'_>, number: i64| {
            let state = builder.state(arith::ConstantOp::DEF).results(&[ty]);
            builder.value(state.attr(&ctx, "value", ctx.int_attr(ty, number)))
        };
        // The constant may be defined inside the loop.
        let is_there = |body: &Body, value: Value| !body.is_defined_within(value, op);
        let end = match constant_of(builder.body(), self.end).and_then(|attr| attr.as_int(&ctx)) {
            _ if !self.inclusive && is_there(builder.body(), self.end) => self.end,
            Some(end) => number(&mut builder, end.wrapping_add(i64::from(self.inclusive))),
            None => {
                let one = number(&mut builder, 1);
                let state = builder.state(arith::AddIOp::DEF).operands(&[self.end, one]);
                builder.value(state)
            }
        };
        let step = match self.step {
            (step, _) if is_there(builder.body(), step) => step,
            (_, step) => number(&mut builder, step),
        };
        (end, step)
    }

    /// Makes the `scf.for`, with an empty region.
    fn write_header(&self, body: &mut Body, carried: &Carried, (end, step): (Value, Value)) -> Op {
        let ctx = body.ctx().clone();
        let inits: Vec<Value> = body.operands(self.op).collect();
        let mut operands = vec![inits[self.position], end, step];
        operands.extend(carried.positions.iter().map(|i| inits[*i]));
        let types: Vec<Type> = carried.positions.iter().map(|i| body.value_type(inits[*i])).collect();
        let mut builder = Builder::before(body, self.op);
        let mut state = builder.state(scf::ForOp::DEF).operands(&operands).results(&types);
        if self.unsigned {
            state = state.attr(&ctx, "unsignedCmp", loomir_ir::Attr::UNIT);
        }
        let new = builder.insert(state);
        body.set_attributes(new, body.attributes(self.op));
        new
    }

    /// Moves the body, after the computations of the condition region that it uses.
    fn write_body(&self, body: &mut Body, carried: &Carried, new: Op) {
        let counter = body.argument(self.before, self.position);
        let region = body.region(new, 0);
        let block = body.append_block(region, &[]);
        let mut inside = Mapping::default();
        let variable = body.add_argument(block, body.value_type(body.operand(self.op, self.position)));
        body.set_argument_loc(variable, body.argument_loc(counter));
        inside.map(counter, variable);
        for i in &carried.positions {
            let old = body.argument(self.before, *i);
            let argument = body.add_argument(block, body.value_type(body.operand(self.op, *i)));
            body.set_argument_loc(argument, body.argument_loc(old));
            if *i != self.position {
                inside.map(old, argument);
            }
        }
        copy_needed(body, self.before, &self.passed, InsertPoint::End(block), &mut inside);
        let arguments: Vec<Value> = self.passed.iter().map(|value| inside.value(*value)).collect();
        body.inline_block(self.after, block, None, &arguments);
        if let Some(terminator) = body.terminator(block) {
            let next: Vec<Value> = carried.positions.iter().map(|i| body.operand(terminator, *i)).collect();
            body.set_operands(terminator, &next);
        }
        if body.block_of(self.increment) == Some(block) && !body.has_used_results(self.increment) {
            body.erase(self.increment);
        }
    }

    /// Computes the values that the old loop passed on behind the new loop, and replaces its
    /// results.
    fn replace_results(&self, body: &mut Body, carried: &Carried, (new, end): (Op, Value)) {
        let mut outside = Mapping::default();
        if carried.needs_counter && !carried.has_counter {
            let max: &'static OpDef = if self.unsigned { arith::MaxUIOp::DEF } else { arith::MaxSIOp::DEF };
            let counter = body.argument(self.before, self.position);
            let init = body.operand(self.op, self.position);
            let mut builder = Builder::before(body, self.op);
            let state = builder.state(max).operands(&[init, end]);
            outside.map(counter, builder.value(state));
        }
        for (result, i) in carried.positions.iter().enumerate() {
            outside.map(body.argument(self.before, *i), body.result(new, result));
        }
        copy_needed(body, self.before, &carried.shown, InsertPoint::Before(self.op), &mut outside);
        for (index, value) in self.passed.iter().enumerate() {
            let result = body.result(self.op, index);
            body.replace_all_uses(result, outside.value(*value));
        }
    }
}

/// The carried values of an `scf.for` that replace those of an `scf.while`.
struct Carried {
    /// The positions of the old carried values that remain.
    positions: Vec<usize>,
    /// Values of the condition block that are used behind the loop.
    shown: Vec<Value>,
    /// True if these values depend on the counter.
    needs_counter: bool,
    /// True if the counter is carried beside the induction variable, because its final value cannot
    /// be derived otherwise.
    has_counter: bool,
}

impl Carried {
    fn of(counting: &Counting, body: &Body) -> Carried {
        let Counting { op, before, position, .. } = *counting;
        let used: Vec<bool> = body.results(op).map(|result| body.is_used(result)).collect();
        let shown: Vec<Value> =
            counting.passed.iter().zip(&used).filter(|(_, used)| **used).map(|(value, _)| *value).collect();
        let needs_counter = needed(body, before, &shown).contains(&body.argument(before, position));
        // With a step of one, the final counter is the start or the end.
        let has_counter = counting.step.1 > 1 && needs_counter;
        let all = 0..body.operands(op).count();
        let positions = all.filter(|i| *i != position || has_counter).collect();
        Carried { positions, shown, needs_counter, has_counter }
    }
}

/// Returns the values of a block that these values depend on, including themselves. Linear in the
/// block's operations.
fn needed(body: &Body, block: Block, values: &[Value]) -> HashSet<Value> {
    let mut needed: HashSet<Value> = values.iter().copied().collect();
    let mut last = body.last_op(block);
    while let Some(op) = last {
        if body.results(op).any(|result| needed.contains(&result)) {
            needed.extend(body.operands(op));
        }
        last = body.prev_op(op);
    }
    needed
}

/// Copies the operations of a block that `values` depend on.
fn copy_needed(body: &mut Body, block: Block, values: &[Value], at: InsertPoint, mapping: &mut Mapping) {
    let needed = needed(body, block, values);
    let ops: Vec<Op> =
        body.ops(block).filter(|op| body.results(*op).any(|result| needed.contains(&result))).collect();
    for op in ops {
        let copy = body.copy_op(op, mapping);
        Builder::new(body, at).place(copy);
    }
}
