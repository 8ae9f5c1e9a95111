//! Operations that may be applied in any order.
//!
//! | a step of one | if |
//! | --- | --- |
//! | a sum, difference, product, `andi`, `ori`, `xori`, least or greatest number of words | always: words wrap around |
//! | `addf`, `subf`, `mulf` | with `reassoc`: without, another order rounds differently |
//! | `minimumf`, `maximumf` | always: a NaN comes before all numbers, and -0.0 is less than 0.0 |
//! | `minnumf`, `maxnumf` | with `nnan` and `nsz`: the result for a signalling NaN depends on the order, and either of two zeros is returned |
//!
//! The same holds for `llvm.fadd`, `llvm.fsub` and `llvm.fmul`.
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

use loomir_dialects::interp::integer::mask;
use loomir_dialects::{arith, llvm};
use loomir_ir::attributes::AttrKind;
use loomir_ir::opdef::{EnumDef, OpDef};
use loomir_ir::types::FloatKind;
use loomir_ir::{Attr, Body, Context, Op, Type, TypeKind, Value};

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
const FLOATS: [(&OpDef, Combining, &[&str]); 10] = [
    (arith::AddFOp::DEF, Combining::Add, &["reassoc"]),
    (arith::SubFOp::DEF, Combining::Add, &["reassoc"]),
    (arith::MulFOp::DEF, Combining::Mul, &["reassoc"]),
    (llvm::FAddOp::DEF, Combining::Add, &["reassoc"]),
    (llvm::FSubOp::DEF, Combining::Add, &["reassoc"]),
    (llvm::FMulOp::DEF, Combining::Mul, &["reassoc"]),
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
        if let Some((_, combining, needed)) = FLOATS.iter().find(|(def, ..)| info.is(def)) {
            let flags = fast_math(body, op);
            let needed = union(&arith::FASTMATH, needed);
            let [a, b] = operands(body, op, is_difference(body, op));
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

    /// Returns the neutral element for values of a scalar type, exactly: that of a sum of floats is
    /// -0.0. `None` if the type has none.
    pub fn neutral(self, ctx: &Context, ty: Type) -> Option<Attr> {
        match (self, ty.kind(ctx)) {
            (Reduction::Float(combining, _), TypeKind::Float(format)) => {
                let bits = combining.neutral(*format)?;
                Some(ctx.attr(AttrKind::Float { bits, ty }))
            }
            (Reduction::Word(binary), _) if ty.is_index() || ty.is_signless_integer(ctx) => {
                let width = ty.integer_width(ctx).unwrap_or(64);
                let highest = || (mask(width) >> 1) as i128;
                let value = match binary {
                    _ if width > 128 => return None,
                    Binary::Add | Binary::Or | Binary::Xor | Binary::MaxU => 0,
                    Binary::Mul => 1,
                    Binary::And | Binary::MinU => -1,
                    Binary::MaxS => -highest() - 1,
                    Binary::MinS => highest(),
                    _ => return None,
                };
                Some(ctx.int_attr(ty, value))
            }
            _ => None,
        }
    }
}

impl Reduction {
    /// Returns the name of the operation among [those of
    /// vectors](loomir_dialects::vector::COMBINING_KIND). `None` if it is none of them.
    pub fn kind(self) -> Option<&'static str> {
        Some(match self {
            Reduction::Word(Binary::Add) | Reduction::Float(Combining::Add, _) => "add",
            Reduction::Word(Binary::Mul) | Reduction::Float(Combining::Mul, _) => "mul",
            Reduction::Word(Binary::And) => "and",
            Reduction::Word(Binary::Or) => "or",
            Reduction::Word(Binary::Xor) => "xor",
            Reduction::Word(Binary::MinS) => "minsi",
            Reduction::Word(Binary::MinU) => "minui",
            Reduction::Word(Binary::MaxS) => "maxsi",
            Reduction::Word(Binary::MaxU) => "maxui",
            Reduction::Word(_) => return None,
            Reduction::Float(Combining::Minimum, _) => "minimumf",
            Reduction::Float(Combining::Maximum, _) => "maximumf",
            Reduction::Float(Combining::MinNum, _) => "minnumf",
            Reduction::Float(Combining::MaxNum, _) => "maxnumf",
        })
    }
}

impl Combining {
    fn neutral(self, format: FloatKind) -> Option<u128> {
        let (exponent, fraction) = match format {
            FloatKind::F16 => (5, 10),
            FloatKind::BF16 => (8, 7),
            FloatKind::F32 => (8, 23),
            FloatKind::F64 => (11, 52),
            FloatKind::F128 => (15, 112),
            _ => return None,
        };
        let sign = 1 << (exponent + fraction);
        let infinity = mask(exponent) << fraction;
        Some(match self {
            Combining::Add => sign,
            Combining::Mul => mask(exponent - 1) << fraction,
            Combining::Minimum => infinity,
            Combining::Maximum => infinity | sign,
            // A quiet NaN.
            Combining::MinNum | Combining::MaxNum => infinity | 1 << (fraction - 1),
        })
    }
}

/// True if a step of a reduction subtracts its second operand.
pub fn is_difference(body: &Body, op: Op) -> bool {
    let floats = [arith::SubFOp::DEF, llvm::FSubOp::DEF];
    floats.into_iter().any(|def| body.is(op, def))
        || Operation::of(body, op) == Some(Operation::Binary(Binary::Sub))
}

/// Returns the operands that may be the accumulator; for a difference only the first.
fn operands(body: &Body, op: Op, is_difference: bool) -> [Option<Value>; 2] {
    [Some(body.operand(op, 0)), Some(body.operand(op, 1)).filter(|_| !is_difference)]
}

/// The attributes with flags of floats and of words, in each dialect.
const FLAGS: [(&str, &EnumDef); 4] = [
    ("fastmath", &arith::FASTMATH),
    ("fastmathFlags", &llvm::attributes::FASTMATH),
    ("overflowFlags", &arith::OVERFLOW),
    ("overflowFlags", &llvm::attributes::OVERFLOW),
];

/// Returns the flags of an operation that are not the default: their attribute, its definition and
/// its value.
fn flags(body: &Body, op: Op) -> Option<(&'static str, &'static EnumDef, u64)> {
    FLAGS.into_iter().find_map(|(name, of)| {
        let value = body.attr(op, name).and_then(|attr| of.value(body.ctx(), attr))?;
        Some((name, of, value))
    })
}

/// Returns the flags of an operation on floats, numbered as those of [`arith::FASTMATH`].
fn fast_math(body: &Body, op: Op) -> u64 {
    let Some((_, of, value)) = flags(body, op) else { return 0 };
    let names = of.cases.iter().filter(|(_, flag)| value & flag == *flag).map(|(name, _)| *name);
    union(&arith::FASTMATH, &names.collect::<Vec<_>>())
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

/// Drops the flags that make a step poison on any numbers, such as the neutral element.
pub fn drop_promises(body: &mut Body, op: Op) {
    if let Some((name, left)) = without(body, op, &["nsw", "nuw", "nnan", "ninf"]) {
        body.set_attr(op, name, left);
    }
}

/// Returns the attribute with flags that need not hold, and its value without them.
fn without_poison_flags(body: &Body, op: Op) -> Option<(&'static str, Attr)> {
    let (reduction, _) = Reduction::of(body, op)?;
    match reduction {
        Reduction::Word(_) => without(body, op, &["nsw", "nuw"]),
        Reduction::Float(Combining::Add | Combining::Mul, _) => without(body, op, &["nnan", "ninf"]),
        Reduction::Float(..) => None,
    }
}

/// Returns the attribute with some flags, and its value without them. `None` if it has none.
fn without(body: &Body, op: Op, promises: &[&str]) -> Option<(&'static str, Attr)> {
    let (name, of, own) = flags(body, op)?;
    let promises = union(of, promises);
    (own & promises != 0).then(|| (name, of.attr(body.ctx(), own & !promises)))
}
