//! Intrinsics on integers.

use loomir_ir::dialect;

use crate::llvm::constraints::{Integer, IntegerOrVector, IntegerVector, LlvmType};

dialect! {
    /// Intrinsics on integers.
    pub INTEGER_INTRINSICS = "llvm" {}

    /// The greater of two signed numbers.
    SMaxOp = "intr.smax" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The lesser of two signed numbers.
    SMinOp = "intr.smin" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The greater of two unsigned numbers.
    UMaxOp = "intr.umax" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The lesser of two unsigned numbers.
    UMinOp = "intr.umin" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Signed sum, clamped to the range.
    SAddSatOp = "intr.sadd.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Unsigned sum, clamped to the range.
    UAddSatOp = "intr.uadd.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType, Commutative]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Signed difference, clamped to the range.
    SSubSatOp = "intr.ssub.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Unsigned difference, clamped to the range.
    USubSatOp = "intr.usub.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Signed left shift, clamped to the range.
    SShlSatOp = "intr.sshl.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Unsigned left shift, clamped to the range.
    UShlSatOp = "intr.ushl.sat" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The bits in reverse order.
    BitReverseOp = "intr.bitreverse" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The bytes in reverse order.
    ByteSwapOp = "intr.bswap" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The number of set bits.
    CtPopOp = "intr.ctpop" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The number of zeros above the highest set bit. Zero gives poison if the attribute is set.
    CountLeadingZerosOp = "intr.ctlz" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        attrs { is_zero_poison: Required Bool }
        traits [Pure, SameOperandsAndResultType]
    }

    /// The number of zeros below the lowest set bit. Zero gives poison if the attribute is set.
    CountTrailingZerosOp = "intr.cttz" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        attrs { is_zero_poison: Required Bool }
        traits [Pure, SameOperandsAndResultType]
    }

    /// Absolute value of a signed number. The least number gives poison if the attribute is set,
    /// else itself.
    AbsOp = "intr.abs" {
        operands { r#in: One IntegerOrVector }
        results { res: One SameAs("in") }
        attrs { is_int_min_poison: Required Bool }
        traits [Pure]
    }

    /// The high half of two numbers, one above the other, shifted left.
    FshlOp = "intr.fshl" {
        operands { a: One IntegerOrVector, b: One SameAs("a"), c: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The low half of two numbers, one above the other, shifted right.
    FshrOp = "intr.fshr" {
        operands { a: One IntegerOrVector, b: One SameAs("a"), c: One SameAs("a") }
        results { res: One SameAs("a") }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// -1, 0 or 1 as the first signed number is below, equal to or above the second.
    SCmpOp = "intr.scmp" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One IntegerOrVector }
        traits [Pure, SameTypeOperands]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// -1, 0 or 1 as the first unsigned number is below, equal to or above the second.
    UCmpOp = "intr.ucmp" {
        operands { a: One IntegerOrVector, b: One SameAs("a") }
        results { res: One IntegerOrVector }
        traits [Pure, SameTypeOperands]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Signed sum and overflow bit.
    SAddWithOverflowOp = "intr.sadd.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// Unsigned sum and overflow bit.
    UAddWithOverflowOp = "intr.uadd.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// Signed difference and overflow bit.
    SSubWithOverflowOp = "intr.ssub.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// Unsigned difference and overflow bit.
    USubWithOverflowOp = "intr.usub.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// Signed product and overflow bit.
    SMulWithOverflowOp = "intr.smul.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// Unsigned product and overflow bit.
    UMulWithOverflowOp = "intr.umul.with.overflow" {
        operands { lhs: One IntegerOrVector, rhs: One SameAs("lhs") }
        results { res: One LlvmType }
        traits [Pure]
    }

    /// The sum of all elements.
    VectorReduceAddOp = "intr.vector.reduce.add" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The product of all elements.
    VectorReduceMulOp = "intr.vector.reduce.mul" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The conjunction of all elements.
    VectorReduceAndOp = "intr.vector.reduce.and" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The disjunction of all elements.
    VectorReduceOrOp = "intr.vector.reduce.or" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The exclusive disjunction of all elements.
    VectorReduceXorOp = "intr.vector.reduce.xor" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The greatest element, signed.
    VectorReduceSMaxOp = "intr.vector.reduce.smax" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The least element, signed.
    VectorReduceSMinOp = "intr.vector.reduce.smin" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The greatest element, unsigned.
    VectorReduceUMaxOp = "intr.vector.reduce.umax" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// The least element, unsigned.
    VectorReduceUMinOp = "intr.vector.reduce.umin" {
        operands { r#in: One IntegerVector }
        results { res: One ElementOf("in") }
        traits [Pure]
    }

    /// Its operand, which is likely to equal the other.
    ExpectOp = "intr.expect" {
        operands { val: One Integer, expected: One SameAs("val") }
        results { res: One SameAs("val") }
        traits [Pure, SameOperandsAndResultType]
        format "$val `,` $expected attr-dict `:` type($val)"
    }
}
