//! Integer and floating-point arithmetic, comparison and selection.
//!
//! Division is not `Pure`: with a divisor of zero it is undefined behaviour, so it must not run
//! where it would not have run.

use loomir_ir::dialect;

use super::attributes::{FASTMATH, FCMP_PREDICATE, ICMP_PREDICATE, OVERFLOW};
use super::constraints::{BoolOrVector, FloatOrVector, IntegerOrPointer, IntegerOrVector, LlvmType};

mod compare;
mod fold;

pub(super) use fold::typed;

/// The attribute of a comparison of integers that promises that both are of one sign; the result is
/// poison if they aren't. MLIR has none, so it is discardable.
pub const SAME_SIGN: &str = "llvm.samesign";

dialect! {
    /// Arithmetic, comparison, selection.
    pub ARITHMETIC = "llvm" {}

    /// Sum, wrapping unless the flags make overflow poison.
    AddOp = "add" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { overflowFlags: Default = "0 : i32" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs (`overflow` `<` $overflowFlags^ `>`)? attr-dict `:` type($res)"
        fold fold::fold_add;
    }

    /// Difference, wrapping unless the flags make overflow poison.
    SubOp = "sub" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { overflowFlags: Default = "0 : i32" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType]
        format "$lhs `,` $rhs (`overflow` `<` $overflowFlags^ `>`)? attr-dict `:` type($res)"
        fold fold::fold_sub;
    }

    /// Product, wrapping unless the flags make overflow poison.
    MulOp = "mul" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { overflowFlags: Default = "0 : i32" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs (`overflow` `<` $overflowFlags^ `>`)? attr-dict `:` type($res)"
        fold fold::fold_mul;
    }

    /// Unsigned quotient, rounded to zero. Division by zero is undefined behaviour; with `exact` a
    /// remainder makes the result poison.
    UDivOp = "udiv" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { isExact: Optional Unit }
        traits [SameOperandsAndResultType]
        format "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Signed quotient, rounded to zero. Division by zero and overflow are undefined behaviour;
    /// with `exact` a remainder makes the result poison.
    SDivOp = "sdiv" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { isExact: Optional Unit }
        traits [SameOperandsAndResultType]
        format "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Unsigned remainder. Division by zero is undefined behaviour.
    URemOp = "urem" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        traits [SameOperandsAndResultType]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Signed remainder, of the sign of the dividend. Division by zero and overflow of the quotient
    /// are undefined behaviour.
    SRemOp = "srem" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        traits [SameOperandsAndResultType]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Bitwise conjunction.
    AndOp = "and" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
        fold fold::fold_and;
    }

    /// Bitwise disjunction; with `disjoint` a bit set in both operands makes the result poison.
    OrOp = "or" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { isDisjoint: Optional Unit }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "(`disjoint` $isDisjoint^)? $lhs `,` $rhs attr-dict `:` type($res)"
        fold fold::fold_or;
    }

    /// Bitwise exclusive disjunction.
    XOrOp = "xor" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
        fold fold::fold_xor;
    }

    /// Left shift; poison if shifted by the width or more, or if the flags forbid the bits that are
    /// lost.
    ShlOp = "shl" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { overflowFlags: Default = "0 : i32" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType]
        format "$lhs `,` $rhs (`overflow` `<` $overflowFlags^ `>`)? attr-dict `:` type($res)"
        fold fold::fold_shl;
    }

    /// Logical right shift; poison if shifted by the width or more, or with `exact` if a set bit is
    /// lost.
    LShrOp = "lshr" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { isExact: Optional Unit }
        traits [Pure, SameOperandsAndResultType]
        format "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
        fold fold::fold_lshr;
    }

    /// Arithmetic right shift; poison if shifted by the width or more, or with `exact` if a set bit
    /// is lost.
    AShrOp = "ashr" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { isExact: Optional Unit }
        traits [Pure, SameOperandsAndResultType]
        format "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
        fold fold::fold_ashr;
    }

    /// Compares integers or pointers.
    ICmpOp = "icmp" {
        operands { lhs: One IntegerOrPointer, rhs: One SameAs("lhs") }
        results { res: One BoolShapedAs("lhs") }
        attrs { predicate: Required Enum(&ICMP_PREDICATE) }
        traits [Pure, SameTypeOperands]
        syntax (compare::parse_icmp, compare::print_icmp);
        fold fold::fold_icmp;
    }

    /// Compares floats.
    FCmpOp = "fcmp" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One BoolShapedAs("lhs") }
        attrs {
            predicate: Required Enum(&FCMP_PREDICATE),
            fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH),
        }
        traits [Pure, SameTypeOperands]
        syntax (compare::parse_fcmp, compare::print_fcmp);
    }

    /// Floating-point sum.
    FAddOp = "fadd" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Floating-point difference.
    FSubOp = "fsub" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Floating-point product.
    FMulOp = "fmul" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Floating-point quotient.
    FDivOp = "fdiv" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Floating-point remainder, of the sign of the dividend.
    FRemOp = "frem" {
        operands { lhs: One FloatOrVector, rhs: One SameAs("lhs") }
        results { res: One SameAs("lhs") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "$lhs `,` $rhs attr-dict `:` type($res)"
    }

    /// Floating-point negation: flips the sign bit.
    FNegOp = "fneg" {
        operands { operand: One FloatOrVector }
        results { res: One SameAs("operand") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "$operand attr-dict `:` type($res)"
    }

    /// The first value if the condition is true, else the second; elementwise for a vector of
    /// conditions.
    SelectOp = "select" {
        operands { condition: One BoolOrVector, trueValue: One LlvmType, falseValue: One SameAs("trueValue") }
        results { res: One SameAs("trueValue") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "operands attr-dict `:` type($condition) `,` type($res)"
    }

    /// Its operand, or some fixed value if that is poison or undefined.
    FreezeOp = "freeze" {
        operands { val: One LlvmType }
        results { res: One SameAs("val") }
        traits [Pure, SameOperandsAndResultType]
        format "$val attr-dict `:` type($val)"
    }
}
