//! Loads that a loop carries to its next iteration become loads there again.
//!
//! ```text
//!     x = load a[0]                     for i {
//!     for i, carrying x {                 x = load a[i]
//!       y = load a[i + 1]         ──>     y = load a[i + 1]
//!       use x, y                          use x, y
//!       carry y }                       }
//! ```
//!
//! Compilers keep in registers what the last iteration has loaded. A loop that carries values keeps
//! its order, and hides which elements it reads. Here the value is loaded once more, if nothing can
//! have changed it. What remains of it, later passes of a compiler find again.
//!
//! **Assumptions.**
//! - Addresses are computed modulo 2^64. What iteration -1 would load is what was loaded before the
//!   loop, if both addresses are one linear form. Promises about wrapping that hold in the other
//!   iterations need not hold for it, and are dropped.
//! - Between the two loads of one place nothing writes that may overlap it. Tried in
//!   `fixtures/raising/carried.ll`.
//!
//! **Cost.** Linear in the operations of each loop that carries values.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm::memory::address::{NUW, byte_offsets, no_wrap_flags};
use loomir_dialects::llvm::{GEPOp, LoadOp, METADATA, OrOp};
use loomir_dialects::{arith, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, Block, Body, Builder, Diagnostics, Mapping, Op, Type, Value};

use crate::access::pointers::accessed;
use crate::affine::operation::{Binary, Operation};
use crate::effects::Effects;
use crate::simplify::licm::footprint::Footprint;

/// The maximal number of operations that compute an address.
const MAX_OPS: usize = 16;
/// The names of the attributes with promises about wrapping.
const GEP_FLAGS: &str = "noWrapFlags";
const INTEGER_FLAGS: &str = "overflowFlags";

/// The pass `reload-carried`, on any operation that owns a body and on all inside. Addresses are
/// laid out as the module says.
pub const PASS: PassInfo = PassInfo {
    name: "reload-carried",
    anchor: None,
    summary: "Load again what loops carry from one iteration's load to the next iteration",
    options: &[],
    make: |_| Ok(Box::new(ReloadCarried)),
};

struct ReloadCarried;

impl Pass for ReloadCarried {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let layout = DataLayout::of_symbols(body.ctx(), cx.symbols);
        body.for_each_body(&mut |body| cx.count("Loads", reload_carried(body, &layout) as u64));
        Ok(())
    }
}

/// Replaces carried loads of the loops of a body. Returns their number.
pub fn reload_carried(body: &mut Body, layout: &DataLayout) -> usize {
    let is_carrying = |op: &Op| body.is(*op, scf::ForOp::DEF) && body.num_results(*op) > 0;
    let loops: Vec<Op> = body.all_ops().filter(is_carrying).collect();
    let (mut replaced, mut effects) = (0, Effects::of(body));
    for loop_op in loops {
        // A value may be carried through several iterations; the last load comes first.
        for _ in 0..body.num_results(loop_op) {
            let mut all = 0..body.num_results(loop_op);
            let found = all.find_map(|at| Carried::of(body, &effects, loop_op, at, layout));
            let Some(found) = found else { break };
            found.write(body, &mut effects);
            replaced += 1;
        }
    }
    replaced
}

/// A load whose result the next iteration uses.
struct Carried {
    /// The value that a loop carries.
    argument: Value,
    load: Op,
    /// The operations of the body that compute its address, in order.
    computing: Vec<Op>,
    variable: Value,
    step: Value,
    /// True if the load before the loop has other metadata.
    differs: bool,
}

impl Carried {
    fn of(body: &Body, effects: &Effects, loop_op: Op, at: usize, layout: &DataLayout) -> Option<Carried> {
        let old = scf::ForOp(loop_op);
        let block = body.single_block(body.region(loop_op, 0))?;
        let (variable, argument) = (body.argument(block, 0), body.argument(block, at + 1));
        let init = *old.initArgs(body).get(at)?;
        let yielded = body.operand(body.terminator(block)?, at);
        if !body.is_used(argument) || body.is_used(body.result(loop_op, at)) {
            return None;
        }
        let load = plain_load(body, yielded, block, layout)?;
        let before = plain_load(body, init, body.block_of(loop_op)?, layout)?;
        let metadata = |op| body.attr(op, METADATA);
        let step = old.step(body);
        let number = constant_of(body, step).and_then(|step| step.as_int(body.ctx()))?;
        let earlier = Linear::of(body, old.lowerBound(body), layout).plus(&Linear::constant(number), -1);
        let here = Linear::of(body, body.operand(load, 0), layout).with(variable, &earlier);
        let is_same = here == Linear::of(body, body.operand(before, 0), layout)
            && body.value_type(init) == body.value_type(argument)
            && body.attr(load, "alignment") == body.attr(before, "alignment");
        let computing = slice(body, body.operand(load, 0), block, variable)?;
        let between = std::iter::successors(body.next_op(before), |op| body.next_op(*op));
        let is_kept = between.take_while(|op| *op != loop_op).all(|op| !effects.get(op).writes());
        (is_same && is_kept && Footprint::of(body, loop_op).lets_move(body, load)).then(|| Carried {
            argument,
            load,
            computing,
            variable,
            step,
            differs: metadata(load) != metadata(before),
        })
    }

    /// Loads the value at the start of the iteration that uses it.
    fn write(self, body: &mut Body, effects: &mut Effects) {
        let Some(first) = body.block_of(self.load).and_then(|block| body.first_op(block)) else { return };
        let mut mapping = Mapping::default();
        let mut builder = Builder::before(body, first);
        let state = builder.state(arith::SubIOp::DEF).operands(&[self.variable, self.step]);
        let earlier = builder.value(state);
        mapping.map(self.variable, earlier);
        body.defining_op(earlier).into_iter().for_each(|op| effects.add(body, op));
        let kept = match self.computing.iter().filter(|op| body.is(**op, GEPOp::DEF)).count() {
            // Both ends are addresses that the other iterations compute.
            1 => !NUW,
            // An address on the way may be outside of the object.
            _ => 0,
        };
        for op in self.computing.into_iter().chain([self.load]) {
            let copy = body.copy_op(op, &mut mapping);
            Builder::before(body, first).place(copy);
            drop_promises(body, copy, kept);
            if self.differs {
                body.remove_attr(copy, METADATA);
            }
            effects.add(body, copy);
        }
        body.replace_all_uses(self.argument, mapping.value(body.result(self.load, 0)));
    }
}

/// Returns the load in a block whose result a value is.
fn plain_load(body: &Body, value: Value, block: Block, layout: &DataLayout) -> Option<Op> {
    let op = body.defining_op(value).filter(|op| body.is(*op, LoadOp::DEF))?;
    (body.block_of(op) == Some(block) && accessed(body, op, layout).is_some()).then_some(op)
}

/// Returns the operations of a loop body that an address is computed by, in order. `None` if these
/// are too many, or if it depends on carried values or on other operations than sums.
fn slice(body: &Body, address: Value, block: Block, variable: Value) -> Option<Vec<Op>> {
    let (mut found, mut pending) = (HashSet::new(), vec![address]);
    while let Some(value) = pending.pop() {
        let Some(op) = body.defining_op(value) else {
            let is_own = body.arguments(block).any(|argument| argument == value);
            if is_own && value != variable {
                return None;
            }
            continue;
        };
        if body.block_of(op) != Some(block) || !found.insert(op) {
            continue;
        }
        if found.len() > MAX_OPS || Linear::step(body, op).is_none() {
            return None;
        }
        pending.extend(body.operands(op));
    }
    Some(body.ops(block).filter(|op| found.contains(op)).collect())
}

/// Drops promises that nothing wraps, which iteration -1 need not keep, but these of addresses.
fn drop_promises(body: &mut Body, op: Op, kept: i64) {
    if body.is(op, GEPOp::DEF) {
        let flags = no_wrap_flags(body.op_ref(op)) & kept;
        let flags = body.ctx().int_attr(Type::I32, flags);
        body.set_attr(op, GEP_FLAGS, flags);
    } else if body.attr(op, INTEGER_FLAGS).is_some() {
        body.remove_attr(op, INTEGER_FLAGS);
    }
}

/// A sum of multiples of values and a number, modulo 2^64.
#[derive(Clone, PartialEq, Eq, Default)]
struct Linear {
    terms: HashMap<Value, i64>,
    constant: i64,
}

/// An operation on words of 64 bits, or on addresses, that a [`Linear`] follows.
enum Step {
    Binary(Binary),
    Cast,
    Address,
}

impl Linear {
    fn constant(constant: i64) -> Linear {
        Linear { terms: HashMap::new(), constant }
    }

    fn of_value(value: Value) -> Linear {
        Linear { terms: HashMap::from_iter([(value, 1)]), constant: 0 }
    }

    /// Returns the operation as a step, if it is one.
    fn step(body: &Body, op: Op) -> Option<Step> {
        let is_wide = |value: Value| {
            let ty = body.value_type(value);
            ty == Type::INDEX || ty.integer_width(body.ctx()) == Some(64)
        };
        if body.is(op, GEPOp::DEF) {
            return Some(Step::Address);
        }
        if body.is(op, arith::IndexCastOp::DEF) {
            return is_wide(body.operand(op, 0)).then_some(Step::Cast);
        }
        // A sum written as `or` promises more.
        match Operation::of(body, op).filter(|_| !body.is(op, OrOp::DEF))? {
            Operation::Binary(binary @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl)) => {
                is_wide(body.result(op, 0)).then_some(Step::Binary(binary))
            }
            _ => None,
        }
    }

    /// Returns the form of a value of 64 bits or of an address. What it does not follow is a term.
    fn of(body: &Body, value: Value, layout: &DataLayout) -> Linear {
        Linear::within(body, value, layout, MAX_OPS)
    }

    fn within(body: &Body, value: Value, layout: &DataLayout, left: usize) -> Linear {
        let whole = Linear::of_value(value);
        if let Some(number) = constant_of(body, value).and_then(|number: Attr| number.as_int(body.ctx())) {
            return Linear::constant(number);
        }
        let Some(op) = body.defining_op(value) else { return whole };
        let (Some(step), Some(left)) = (Linear::step(body, op), left.checked_sub(1)) else { return whole };
        let operand = |at: usize| Linear::within(body, body.operand(op, at), layout, left);
        match step {
            Step::Cast => operand(0),
            Step::Binary(Binary::Add) => operand(0).plus(&operand(1), 1),
            Step::Binary(Binary::Sub) => operand(0).plus(&operand(1), -1),
            Step::Binary(binary) => {
                let (a, b) = (operand(0), operand(1));
                match (a.as_constant(), b.as_constant(), binary) {
                    (_, Some(factor), Binary::Mul) => Linear::default().plus(&a, factor),
                    (Some(factor), _, Binary::Mul) => Linear::default().plus(&b, factor),
                    (_, Some(by @ 0..64), Binary::Shl) => Linear::default().plus(&a, 1 << by),
                    _ => whole,
                }
            }
            Step::Address => {
                let Ok((fixed, scaled)) = byte_offsets(body.op_ref(op), layout) else { return whole };
                let mut all = operand(0).plus(&Linear::constant(fixed), 1);
                for (index, scale) in scaled {
                    if body.value_type(index).integer_width(body.ctx()).is_some_and(|width| width != 64) {
                        return whole;
                    }
                    all = all.plus(&Linear::within(body, index, layout, left), scale);
                }
                all
            }
        }
    }

    fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (value, own) in &other.terms {
            let sum = self.terms.entry(*value).or_default();
            *sum = sum.wrapping_add(own.wrapping_mul(factor));
        }
        self.terms.retain(|_, factor| *factor != 0);
        self
    }

    /// Returns the form with a value replaced by another form.
    fn with(mut self, value: Value, by: &Linear) -> Linear {
        match self.terms.remove(&value) {
            Some(factor) => self.plus(by, factor),
            None => self,
        }
    }
}
