//! Intrinsics on floats.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, dialect};

use crate::llvm::attributes::FASTMATH;
use crate::llvm::constraints::{FloatOrVector, FloatVector, Integer, LlvmType};
use crate::llvm::types::literal_struct;

dialect! {
    /// Intrinsics on floats.
    pub FLOAT_INTRINSICS = "llvm" {}

    /// Square root; no number for one below zero.
    SqrtOp = "intr.sqrt" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Exponential.
    ExpOp = "intr.exp" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Power of 2.
    Exp2Op = "intr.exp2" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Power of 10.
    Exp10Op = "intr.exp10" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Natural logarithm.
    LogOp = "intr.log" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Logarithm to base 2.
    Log2Op = "intr.log2" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Logarithm to base 10.
    Log10Op = "intr.log10" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Sine.
    SinOp = "intr.sin" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Cosine.
    CosOp = "intr.cos" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Sine and cosine.
    SincosOp = "intr.sincos" {
        operands { val: One FloatOrVector }
        results { res: One LlvmType }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
        verify verify_sincos;
    }

    /// Tangent.
    TanOp = "intr.tan" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Arc sine.
    ASinOp = "intr.asin" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Arc cosine.
    ACosOp = "intr.acos" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Arc tangent.
    ATanOp = "intr.atan" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Hyperbolic sine.
    SinhOp = "intr.sinh" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Hyperbolic cosine.
    CoshOp = "intr.cosh" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Hyperbolic tangent.
    TanhOp = "intr.tanh" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Absolute value: clears the sign bit.
    FAbsOp = "intr.fabs" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded up.
    FCeilOp = "intr.ceil" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded down.
    FFloorOp = "intr.floor" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded to zero.
    FTruncOp = "intr.trunc" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded to nearest, halves away from zero.
    RoundOp = "intr.round" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded to nearest, halves to even.
    RoundEvenOp = "intr.roundeven" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded by the current mode.
    RintOp = "intr.rint" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Rounded by the current mode, raising no exception.
    NearbyintOp = "intr.nearbyint" {
        operands { r#in: One FloatOrVector }
        results { res: One SameAs("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// First operand to the power of the second.
    PowOp = "intr.pow" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// Angle of the point (second, first).
    ATan2Op = "intr.atan2" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// First operand with the sign of the second.
    CopySignOp = "intr.copysign" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The greater; the other operand if one is no number.
    MaxNumOp = "intr.maxnum" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The lesser; the other operand if one is no number.
    MinNumOp = "intr.minnum" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The greater, -0 below +0; no number if an operand is none.
    MaximumOp = "intr.maximum" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The lesser, -0 below +0; no number if an operand is none.
    MinimumOp = "intr.minimum" {
        operands { a: One FloatOrVector, b: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// `a * b + c`, rounded once.
    FMAOp = "intr.fma" {
        operands { a: One FloatOrVector, b: One SameAs("a"), c: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// `a * b + c`, rounded once or twice as the target likes.
    FMulAddOp = "intr.fmuladd" {
        operands { a: One FloatOrVector, b: One SameAs("a"), c: One SameAs("a") }
        results { res: One SameAs("a") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// A float to the power of an integer.
    PowIOp = "intr.powi" {
        operands { val: One FloatOrVector, power: One Integer }
        results { res: One SameAs("val") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// A float times a power of 2.
    LoadExpOp = "intr.ldexp" {
        operands { val: One FloatOrVector, power: One Integer }
        results { res: One SameAs("val") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// True if a float is in one of the classes whose bits are set.
    IsFPClassOp = "intr.is.fpclass" {
        operands { r#in: One FloatOrVector }
        results { res: One BoolShapedAs("in") }
        attrs { bit: Required Integer(32) }
        traits [Pure]
    }

    /// The sum of a start value and all elements, in order unless reassociation is allowed.
    VectorReduceFAddOp = "intr.vector.reduce.fadd" {
        operands { start_value: One ElementOf("input"), input: One FloatVector }
        results { res: One ElementOf("input") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
    }

    /// The product of a start value and all elements, in order unless reassociation is allowed.
    VectorReduceFMulOp = "intr.vector.reduce.fmul" {
        operands { start_value: One ElementOf("input"), input: One FloatVector }
        results { res: One ElementOf("input") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
    }

    /// The greatest element. NaNs are ignored.
    VectorReduceFMaxOp = "intr.vector.reduce.fmax" {
        operands { r#in: One FloatVector }
        results { res: One ElementOf("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The least element. NaNs are ignored.
    VectorReduceFMinOp = "intr.vector.reduce.fmin" {
        operands { r#in: One FloatVector }
        results { res: One ElementOf("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The greatest element; no number if one is none.
    VectorReduceFMaximumOp = "intr.vector.reduce.fmaximum" {
        operands { r#in: One FloatVector }
        results { res: One ElementOf("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }

    /// The least element; no number if one is none.
    VectorReduceFMinimumOp = "intr.vector.reduce.fminimum" {
        operands { r#in: One FloatVector }
        results { res: One ElementOf("in") }
        attrs { fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure]
        format "`(` operands `)` attr-dict `:` functional-type(operands, results)"
    }
}

/// Checks that the result has two values of the operand's type.
fn verify_sincos(op: OpRef<'_>, out: &mut Diagnostics) {
    let ty = op.operand_type(0);
    if op.result_type(0) != literal_struct(op.ctx(), &[ty, ty]) {
        let result = type_to_string(op.ctx(), op.result_type(0));
        let message = format!(
            "expected result type to be an homogeneous struct with two elements matching the operand type, but got '{result}'"
        );
        out.push(op_error(op, message));
    }
}
