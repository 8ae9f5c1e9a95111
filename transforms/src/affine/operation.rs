//! Integer operations by their function, independent of dialects: `arith`, `index` and `llvm` share
//! most of them.
//!
//! Numbers are words of 1 to 64 bits; `index` has 64. Operations on wider integers, on vectors and
//! on tensors are not covered here.

use loomir_dialects::interp::integer::{self, Rounding, Wrap};
use loomir_dialects::{arith, index, llvm};
use loomir_ir::opdef::OpDef;
use loomir_ir::{Body, Op, TypeKind, Value};

/// An operation on two numbers of one width, which has that width too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "they are called what they are called in `arith`")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    RemS,
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    MinS,
    MinU,
    MaxS,
    MaxU,
}

/// The predicate of a comparison of two numbers. The result has one bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "they are called what they are called in `arith`")]
pub enum Predicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

/// An integer operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Two numbers of one width.
    Binary(Binary),
    /// Two numbers compared.
    Compare(Predicate),
    /// A selection: the first of two numbers if a condition holds, else the second.
    Select,
    /// Another width: a narrower result loses high bits, a wider one gets copies of the sign.
    Signed,
    /// Another width: a wider result gets zeros.
    Unsigned,
}

/// Each operation on two numbers in the order of [`Binary`], with the operations that compute it.
const BINARY: [(Binary, &[&OpDef]); 20] = [
    (Binary::Add, &[arith::AddIOp::DEF, index::AddOp::DEF, llvm::AddOp::DEF]),
    (Binary::Sub, &[arith::SubIOp::DEF, index::SubOp::DEF, llvm::SubOp::DEF]),
    (Binary::Mul, &[arith::MulIOp::DEF, index::MulOp::DEF, llvm::MulOp::DEF]),
    (Binary::DivS, &[arith::DivSIOp::DEF, index::DivSOp::DEF, llvm::SDivOp::DEF]),
    (Binary::DivU, &[arith::DivUIOp::DEF, index::DivUOp::DEF, llvm::UDivOp::DEF]),
    (Binary::CeilDivS, &[arith::CeilDivSIOp::DEF, index::CeilDivSOp::DEF]),
    (Binary::CeilDivU, &[arith::CeilDivUIOp::DEF, index::CeilDivUOp::DEF]),
    (Binary::FloorDivS, &[arith::FloorDivSIOp::DEF, index::FloorDivSOp::DEF]),
    (Binary::RemS, &[arith::RemSIOp::DEF, index::RemSOp::DEF, llvm::SRemOp::DEF]),
    (Binary::RemU, &[arith::RemUIOp::DEF, index::RemUOp::DEF, llvm::URemOp::DEF]),
    (Binary::And, &[arith::AndIOp::DEF, index::AndOp::DEF, llvm::AndOp::DEF]),
    (Binary::Or, &[arith::OrIOp::DEF, index::OrOp::DEF, llvm::OrOp::DEF]),
    (Binary::Xor, &[arith::XOrIOp::DEF, index::XOrOp::DEF, llvm::XOrOp::DEF]),
    (Binary::Shl, &[arith::ShLIOp::DEF, index::ShlOp::DEF, llvm::ShlOp::DEF]),
    (Binary::ShrS, &[arith::ShRSIOp::DEF, index::ShrSOp::DEF, llvm::AShrOp::DEF]),
    (Binary::ShrU, &[arith::ShRUIOp::DEF, index::ShrUOp::DEF, llvm::LShrOp::DEF]),
    (Binary::MinS, &[arith::MinSIOp::DEF, index::MinSOp::DEF, llvm::SMinOp::DEF]),
    (Binary::MinU, &[arith::MinUIOp::DEF, index::MinUOp::DEF, llvm::UMinOp::DEF]),
    (Binary::MaxS, &[arith::MaxSIOp::DEF, index::MaxSOp::DEF, llvm::SMaxOp::DEF]),
    (Binary::MaxU, &[arith::MaxUIOp::DEF, index::MaxUOp::DEF, llvm::UMaxOp::DEF]),
];

const SIGNED: [&OpDef; 6] = [
    arith::IndexCastOp::DEF,
    arith::ExtSIOp::DEF,
    arith::TruncIOp::DEF,
    index::CastSOp::DEF,
    llvm::SExtOp::DEF,
    llvm::TruncOp::DEF,
];

const UNSIGNED: [&OpDef; 4] =
    [arith::IndexCastUIOp::DEF, arith::ExtUIOp::DEF, index::CastUOp::DEF, llvm::ZExtOp::DEF];

impl Binary {
    /// True if the operation is commutative.
    pub fn is_commutative(self) -> bool {
        use Binary::{Add, And, MaxS, MaxU, MinS, MinU, Mul, Or, Xor};
        matches!(self, Add | Mul | And | Or | Xor | MinS | MinU | MaxS | MaxU)
    }

    /// Returns all binary operations.
    pub fn all() -> impl Iterator<Item = Binary> {
        BINARY.into_iter().map(|(binary, _)| binary)
    }

    /// Returns the corresponding operation of `arith`.
    pub fn def(self) -> &'static OpDef {
        BINARY[self as usize].1[0]
    }

    /// Returns its name in `index`, without the dialect.
    pub fn name(self) -> &'static str {
        BINARY[self as usize].1[1].name.trim_start_matches("index.")
    }

    /// Computes the result on words of `width` bits, read as signed. `None` if it is poison or
    /// undefined.
    pub fn compute(self, width: u32, a: i64, b: i64) -> Option<i64> {
        let bits = |number: i64| u128::from(number as u64) & integer::mask(width);
        let (a, b, wrap) = (bits(a), bits(b), Wrap::default());
        let less = |predicate: u64| integer::compare(predicate).is_some_and(|is| is(width, a, b));
        let (below, below_unsigned) = (less(Predicate::Slt as u64), less(Predicate::Ult as u64));
        let computed = match self {
            Binary::Add => integer::add(width, wrap, a, b),
            Binary::Sub => integer::sub(width, wrap, a, b),
            Binary::Mul => integer::mul(width, wrap, a, b),
            Binary::DivS => integer::div_signed(width, Rounding::Truncate, false, a, b),
            Binary::DivU => integer::div_unsigned(Rounding::Truncate, false, a, b),
            Binary::CeilDivS => integer::div_signed(width, Rounding::Ceil, false, a, b),
            Binary::CeilDivU => integer::div_unsigned(Rounding::Ceil, false, a, b),
            Binary::FloorDivS => integer::div_signed(width, Rounding::Floor, false, a, b),
            Binary::RemS => integer::rem_signed(width, a, b),
            Binary::RemU => integer::rem_unsigned(a, b),
            Binary::And => Ok(a & b),
            Binary::Or => Ok(a | b),
            Binary::Xor => Ok(a ^ b),
            Binary::Shl => integer::shl(width, wrap, a, b),
            Binary::ShrS => integer::shift_right_signed(width, false, a, b),
            Binary::ShrU => integer::shift_right_unsigned(width, false, a, b),
            Binary::MinS => Ok(if below { a } else { b }),
            Binary::MaxS => Ok(if below { b } else { a }),
            Binary::MinU => Ok(if below_unsigned { a } else { b }),
            Binary::MaxU => Ok(if below_unsigned { b } else { a }),
        };
        computed.ok().map(|bits| integer::signed(width, bits) as i64)
    }
}

impl Predicate {
    /// All predicates, in the numbering of `arith`.
    pub const ALL: [Predicate; 10] = [
        Predicate::Eq,
        Predicate::Ne,
        Predicate::Slt,
        Predicate::Sle,
        Predicate::Sgt,
        Predicate::Sge,
        Predicate::Ult,
        Predicate::Ule,
        Predicate::Ugt,
        Predicate::Uge,
    ];

    /// Returns its name in `arith` and `index`.
    pub fn name(self) -> &'static str {
        ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"][self as usize]
    }

    /// Returns the negated predicate.
    pub fn inverse(self) -> Predicate {
        use Predicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }

    /// Returns the predicate for swapped operands.
    pub fn swapped(self) -> Predicate {
        use Predicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq | Ne => self,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// True if it reads numbers as signed.
    pub fn is_signed(self) -> bool {
        matches!(self, Predicate::Slt | Predicate::Sle | Predicate::Sgt | Predicate::Sge)
    }

    /// True if it reads numbers as unsigned.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Predicate::Ult | Predicate::Ule | Predicate::Ugt | Predicate::Uge)
    }

    /// Returns the same predicate for numbers read as unsigned.
    pub fn unsigned(self) -> Predicate {
        match self {
            Predicate::Slt => Predicate::Ult,
            Predicate::Sle => Predicate::Ule,
            Predicate::Sgt => Predicate::Ugt,
            Predicate::Sge => Predicate::Uge,
            other => other,
        }
    }

    /// Returns the same predicate with the other reading: signed for unsigned, and the other way
    /// round.
    pub fn with_other_sign(self) -> Predicate {
        let own = self.unsigned();
        if own != self {
            return own;
        }
        Predicate::ALL.into_iter().find(|other| *other != self && other.unsigned() == self).unwrap_or(self)
    }

    /// True if the predicate follows from `stated` for any two numbers.
    pub fn implied_by(self, stated: Predicate) -> bool {
        use Predicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        self == stated
            || match stated {
                Eq => matches!(self, Sle | Sge | Ule | Uge),
                Slt => matches!(self, Sle | Ne),
                Sgt => matches!(self, Sge | Ne),
                Ult => matches!(self, Ule | Ne),
                Ugt => matches!(self, Uge | Ne),
                Ne | Sle | Sge | Ule | Uge => false,
            }
    }

    /// True if it holds for two words of `width` bits.
    pub fn holds(self, width: u32, a: u128, b: u128) -> bool {
        integer::compare(self as u64).is_some_and(|compare| compare(width, a, b))
    }

    fn of(body: &Body, op: Op) -> Option<Predicate> {
        let (attr, values) = if body.is(op, index::CmpOp::DEF) {
            ("pred", &index::CMP_PREDICATE)
        } else if body.is(op, llvm::ICmpOp::DEF) {
            ("predicate", &llvm::attributes::ICMP_PREDICATE)
        } else {
            ("predicate", &arith::CMPI_PREDICATE)
        };
        let number = values.value(body.ctx(), body.attr(op, attr)?)?;
        let name = values.text_of(number)?;
        Predicate::ALL.into_iter().find(|predicate| predicate.name() == name)
    }
}

impl Operation {
    /// Returns the integer operation that an operation is. `None` if it is not on words.
    pub fn of(body: &Body, op: Op) -> Option<Operation> {
        if body.num_results(op) != 1 || !(1..=3).contains(&body.num_operands(op)) {
            return None;
        }
        let is_word = |value: Value| width(body, value).is_some();
        if !is_word(body.result(op, 0)) || !body.operands(op).all(is_word) {
            return None;
        }
        let info = body.info(op);
        if is_disjoint(body, op) {
            return Some(Operation::Binary(Binary::Add));
        }
        if let Some((binary, _)) = BINARY.iter().find(|(_, defs)| defs.iter().any(|def| info.is(def))) {
            return Some(Operation::Binary(*binary));
        }
        let is_one_of = |defs: &[&'static OpDef]| defs.iter().any(|def| info.is(def));
        if is_one_of(&[arith::CmpIOp::DEF, index::CmpOp::DEF, llvm::ICmpOp::DEF]) {
            return Predicate::of(body, op).map(Operation::Compare);
        }
        if is_one_of(&[arith::SelectOp::DEF, llvm::SelectOp::DEF]) {
            return Some(Operation::Select);
        }
        let (signed, unsigned) = (is_one_of(&SIGNED), is_one_of(&UNSIGNED));
        match (signed, unsigned) {
            (true, _) => Some(Operation::Signed),
            (_, true) => Some(Operation::Unsigned),
            _ => None,
        }
    }
}

/// Returns the width of a value, if it is a word.
pub fn width(body: &Body, value: Value) -> Option<u32> {
    match body.value_type(value).kind(body.ctx()) {
        TypeKind::Index => Some(64),
        TypeKind::Integer { width, .. } => Some(*width).filter(|width| (1..=64).contains(width)),
        _ => None,
    }
}

/// True if an operation is a bitwise disjunction of words without common bits, which is their sum.
fn is_disjoint(body: &Body, op: Op) -> bool {
    body.is(op, llvm::OrOp::DEF) && body.attr(op, "isDisjoint").is_some()
}

/// True if an operation has flags that may make it poison.
pub fn has_flags(body: &Body, op: Op) -> bool {
    overflow_flags(body, op) != Some(0)
        || ["isExact", "nonNeg", "isDisjoint", llvm::SAME_SIGN]
            .into_iter()
            .any(|flag| body.attr(op, flag).is_some())
}

/// True if a sum, difference, product, shift or truncation that does not fit, read as signed, is
/// poison.
pub fn has_no_signed_wrap(body: &Body, op: Op) -> bool {
    has_flag(body, op, "nsw") || is_disjoint(body, op)
}

/// True if one that does not fit, read as unsigned, is poison.
pub fn has_no_unsigned_wrap(body: &Body, op: Op) -> bool {
    has_flag(body, op, "nuw") || is_disjoint(body, op)
}

/// True if an extension by zeros of a negative number is poison.
pub fn is_nonnegative(body: &Body, op: Op) -> bool {
    body.attr(op, "nonNeg").is_some()
}

/// Returns the value that an extension by zeros restores: its operand is that value, truncated
/// without loss as an unsigned number.
pub(super) fn unsigned_original(body: &Body, narrow: Value, wide: Value) -> Option<Value> {
    untruncated(body, narrow).filter(|original| body.value_type(*original) == body.value_type(wide))
}

/// Returns the number of which another one is a truncation without loss, both read as unsigned.
pub(super) fn untruncated(body: &Body, narrow: Value) -> Option<Value> {
    let op = body.defining_op(narrow)?;
    let is_cut = Operation::of(body, op) == Some(Operation::Signed) && has_no_unsigned_wrap(body, op);
    is_cut.then(|| body.operand(op, 0))
}

fn has_flag(body: &Body, op: Op, name: &str) -> bool {
    let flag = arith::OVERFLOW.value_of(name);
    overflow_flags(body, op).zip(flag).is_some_and(|(flags, flag)| flags & flag != 0)
}

/// Returns the overflow flags of an operation of any dialect. `None` if they cannot be read.
fn overflow_flags(body: &Body, op: Op) -> Option<u64> {
    let Some(attr) = body.attr(op, "overflowFlags") else { return Some(0) };
    let known = arith::OVERFLOW.value(body.ctx(), attr);
    known.or_else(|| llvm::attributes::OVERFLOW.value(body.ctx(), attr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_of_predicates_hold_for_all_words() {
        let words = || (0..16u128).flat_map(|a| (0..16u128).map(move |b| (a, b)));
        for own in Predicate::ALL {
            for (a, b) in words() {
                let holds = own.holds(4, a, b);
                assert_eq!(own.inverse().holds(4, a, b), !holds, "{own:?} of {a} and {b}");
                assert_eq!(own.swapped().holds(4, b, a), holds, "{own:?} of {a} and {b}");
                let other = own.with_other_sign().holds(4, a, b);
                assert!(a >= 8 || b >= 8 || other == holds, "{own:?} of {a} and {b}");
            }
            for stated in Predicate::ALL {
                let follows = words().all(|(a, b)| !stated.holds(4, a, b) || own.holds(4, a, b));
                assert_eq!(own.implied_by(stated), follows, "{own:?} from {stated:?}");
            }
        }
    }
}
