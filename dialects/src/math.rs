//! The `math` dialect: functions on floats beyond arithmetic, and a few on integers.
//!
//! Only functions whose result is exact by definition are folded. A sine or logarithm depends on
//! the library of the machine that runs the program. The compiled program must not depend on the
//! machine that compiles it.

use loomir_ir::text::AsmNames;
use loomir_ir::{Registry, dialect};

use crate::arith::FASTMATH;
use crate::interfaces::MemoryEffects;
use crate::names::AsDefined;

pub(crate) mod evaluate;
mod fold;
mod verify;

dialect! {
    /// Mathematical functions on floats and integers, and element by element on vectors and tensors
    /// of them.
    pub MATH = "math" { constant crate::arith::materialize_constant; }

    /// Absolute value: the sign bit cleared, of NaNs too.
    AbsFOp = "absf" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::absf;
    }

    /// Arc cosine.
    AcosOp = "acos" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Inverse hyperbolic cosine.
    AcoshOp = "acosh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Arc sine.
    AsinOp = "asin" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Inverse hyperbolic sine.
    AsinhOp = "asinh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Arc tangent.
    AtanOp = "atan" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Inverse hyperbolic tangent.
    AtanhOp = "atanh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Cube root.
    CbrtOp = "cbrt" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The least whole number not below.
    CeilOp = "ceil" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::ceil;
    }

    /// Cosine.
    CosOp = "cos" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Hyperbolic cosine.
    CoshOp = "cosh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Error function.
    ErfOp = "erf" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// One minus the error function.
    ErfcOp = "erfc" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// e to the power of the operand.
    ExpOp = "exp" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Two to the power of the operand.
    Exp2Op = "exp2" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// `exp(x) - 1`, precise near zero.
    ExpM1Op = "expm1" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The greatest whole number not above.
    FloorOp = "floor" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::floor;
    }

    /// Natural logarithm.
    LogOp = "log" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Logarithm to the base 10.
    Log10Op = "log10" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// `log(1 + x)`, precise near zero.
    Log1pOp = "log1p" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Logarithm to the base 2.
    Log2Op = "log2" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The nearest whole number; halves away from zero.
    RoundOp = "round" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::round;
    }

    /// The nearest whole number; halves to the even one.
    RoundEvenOp = "roundeven" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::roundeven;
    }

    /// One over the square root.
    RsqrtOp = "rsqrt" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Sine.
    SinOp = "sin" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Hyperbolic sine.
    SinhOp = "sinh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Square root.
    SqrtOp = "sqrt" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::sqrt;
    }

    /// Tangent.
    TanOp = "tan" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Hyperbolic tangent.
    TanhOp = "tanh" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The whole part: rounded towards zero.
    TruncOp = "trunc" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::trunc;
    }

    /// Absolute value of a signed integer; the least integer stays as it is.
    AbsIOp = "absi" {
        operands { operand: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand attr-dict `:` type($result)"
        fold fold::absi;
    }

    /// The number of zeros that stand before the first set bit.
    CountLeadingZerosOp = "ctlz" {
        operands { operand: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand attr-dict `:` type($result)"
        fold fold::ctlz;
    }

    /// The number of zeros that stand behind the last set bit.
    CountTrailingZerosOp = "cttz" {
        operands { operand: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand attr-dict `:` type($result)"
        fold fold::cttz;
    }

    /// The number of bits that are set.
    CtPopOp = "ctpop" {
        operands { operand: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand attr-dict `:` type($result)"
        fold fold::ctpop;
    }

    /// Angle of the point (second, first operand) from the first axis.
    Atan2Op = "atan2" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Magnitude of the first, sign of the second operand.
    CopySignOp = "copysign" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold fold::copysign;
    }

    /// The first operand to the power of the second.
    PowFOp = "powf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The first operand to the power of the second, integers both. A negative power of zero is
    /// undefined behaviour.
    IPowIOp = "ipowi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold fold::ipowi;
    }

    /// A float to the power of a signed integer.
    FPowIOp = "fpowi" {
        operands { lhs: One FloatLike, rhs: One SignlessIntegerLike }
        results { result: One SameAs("lhs") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)"
        verify_signature verify::fpowi;
    }

    /// `a * b + c`, rounded once.
    FmaOp = "fma" {
        operands { a: One FloatLike, b: One FloatLike, c: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// The first operand, no less than `min` and no greater than `max`.
    ClampFOp = "clampf" {
        operands { value: One FloatLike, min: One FloatLike, max: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    }

    /// Sine and cosine.
    SincosOp = "sincos" {
        operands { operand: One FloatLike }
        results { sin: One SameAs("operand"), cos: One SameAs("operand") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"
    }

    /// True if the operand is neither infinite nor NaN.
    IsFiniteOp = "isfinite" {
        operands { operand: One FloatLike }
        results { result: One BoolShapedAs("operand") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$operand attr-dict `:` type($operand)"
        fold fold::isfinite;
    }

    /// True if the operand is infinite.
    IsInfOp = "isinf" {
        operands { operand: One FloatLike }
        results { result: One BoolShapedAs("operand") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$operand attr-dict `:` type($operand)"
        fold fold::isinf;
    }

    /// True if the operand is NaN.
    IsNaNOp = "isnan" {
        operands { operand: One FloatLike }
        results { result: One BoolShapedAs("operand") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$operand attr-dict `:` type($operand)"
        fold fold::isnan;
    }

    /// True if the operand is neither zero, denormal, infinite nor NaN.
    IsNormalOp = "isnormal" {
        operands { operand: One FloatLike }
        results { result: One BoolShapedAs("operand") }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$operand attr-dict `:` type($operand)"
        fold fold::isnormal;
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&MATH);
    evaluate::register(registry);
    registry.attach_to::<dyn AsmNames>(crate::math::SincosOp::DEF, Box::new(AsDefined));
    registry.attach_to::<dyn MemoryEffects>(crate::math::IPowIOp::DEF, Box::new(fold::IntegerPower));
}
