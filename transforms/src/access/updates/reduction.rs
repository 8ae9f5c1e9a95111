//! Operations that may be applied in any order.
//!
//! | a step of one | if |
//! | --- | --- |
//! | a sum, difference, product, `andi`, `ori`, `xori`, least or greatest number of words | always: words wrap around |
//! | `addf`, `subf`, `mulf` | with `reassoc`: without, another order rounds differently |
//! | `minimumf`, `maximumf` | always: a NaN comes before all numbers, and -0.0 is less than 0.0 |
//! | `minnumf`, `maxnumf` | with `nnan` and `nsz`: the result for a signalling NaN depends on the order, and either of two zeros is returned |
//!
//! A difference is the sum of its subtracted operands. Steps on floats are of one reduction only if
//! they have the same flags. Otherwise a flag could make a promise about a number that only another
//! order produces.
//!
//! Promises about intermediate sums and products (`nsw`, `nuw`; `nnan` and `ninf` of floats) need
//! not hold in another order, and a broken promise is poison. Such flags
//! [have to be dropped](drop_poison_flags) there. The intermediate results of minimum and maximum
//! are always among the combined numbers, so their flags stay valid.
//!
//! **Assumptions.**
//! - Words wrap; floats are combined in another order only with `reassoc`, or where no order
//!   rounds. Tried with `fixtures/fusion/updates.mlir` and `update_flags.mlir`.

use loomir_dialects::arith;
use loomir_ir::opdef::{EnumDef, OpDef};
use loomir_ir::{Attr, Body, Op, Value};

use crate::affine::operation::{Binary, Operation};

/// An associative and commutative operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// A reduction of words.
    Word(Binary),
    /// A reduction of floats with these flags, numbers of [`arith::FASTMATH`].
    Float(Combining, u64),
}

/// The combining operation of two floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "they are called what they are called in `arith`")]
pub enum Combining {
    Add,
    Mul,
    Minimum,
    Maximum,
    MinNum,
    MaxNum,
}

/// For each combining operation, its definition and the flags that make it associative and
/// commutative.
const FLOATS: [(&OpDef, Combining, &[&str]); 7] = [
    (arith::AddFOp::DEF, Combining::Add, &["reassoc"]),
    (arith::SubFOp::DEF, Combining::Add, &["reassoc"]),
    (arith::MulFOp::DEF, Combining::Mul, &["reassoc"]),
    (arith::MinimumFOp::DEF, Combining::Minimum, &[]),
    (arith::MaximumFOp::DEF, Combining::Maximum, &[]),
    (arith::MinNumFOp::DEF, Combining::MinNum, &["nnan", "nsz"]),
    (arith::MaxNumFOp::DEF, Combining::MaxNum, &["nnan", "nsz"]),
];

impl Reduction {
    /// Returns the reduction that an operation is a step of, and its operands. Either operand may
    /// be the accumulator, if it is present.
    pub fn of(body: &Body, op: Op) -> Option<(Reduction, [Option<Value>; 2])> {
        use Binary::{Add, And, MaxS, MaxU, MinS, MinU, Mul, Or, Sub, Xor};
        let info = body.info(op);
        if let Some((def, combining, needed)) = FLOATS.iter().find(|(def, ..)| info.is(def)) {
            let flags = flags(body, op, "fastmath", &arith::FASTMATH);
            let needed = union(&arith::FASTMATH, needed);
            let [a, b] = operands(body, op, std::ptr::eq(*def, arith::SubFOp::DEF));
            return (flags & needed == needed).then_some((Reduction::Float(*combining, flags), [a, b]));
        }
        let Operation::Binary(binary) = Operation::of(body, op)? else { return None };
        let reduction = match binary {
            Sub => Add,
            Add | Mul | And | Or | Xor | MinS | MinU | MaxS | MaxU => binary,
            _ => return None,
        };
        Some((Reduction::Word(reduction), operands(body, op, binary == Sub)))
    }
}

/// Returns the operands that may be the accumulator; for a difference only the first.
fn operands(body: &Body, op: Op, is_difference: bool) -> [Option<Value>; 2] {
    [Some(body.operand(op, 0)), Some(body.operand(op, 1)).filter(|_| !is_difference)]
}

fn flags(body: &Body, op: Op, name: &str, of: &EnumDef) -> u64 {
    body.attr(op, name).and_then(|attr| of.value(body.ctx(), attr)).unwrap_or(0)
}

fn union(of: &EnumDef, names: &[&str]) -> u64 {
    names.iter().filter_map(|name| of.value_of(name)).fold(0, |all, flag| all | flag)
}

/// True if a step of a reduction has flags that make it poison in an order in which they do not
/// hold.
pub fn has_poison_flags(body: &Body, op: Op) -> bool {
    without_poison_flags(body, op).is_some()
}

/// Drops these flags from the operation.
pub fn drop_poison_flags(body: &mut Body, op: Op) {
    if let Some((name, left)) = without_poison_flags(body, op) {
        body.set_attr(op, name, left);
    }
}

/// Returns the attribute with such flags, and its value without them.
fn without_poison_flags(body: &Body, op: Op) -> Option<(&'static str, Attr)> {
    let (reduction, _) = Reduction::of(body, op)?;
    let (name, all, promises) = match reduction {
        Reduction::Word(_) => ("overflowFlags", &arith::OVERFLOW, &["nsw", "nuw"]),
        Reduction::Float(Combining::Add | Combining::Mul, _) => {
            ("fastmath", &arith::FASTMATH, &["nnan", "ninf"])
        }
        Reduction::Float(..) => return None,
    };
    let (own, promises) = (flags(body, op, name, all), union(all, promises));
    (own & promises != 0).then(|| (name, all.attr(body.ctx(), own & !promises)))
}
