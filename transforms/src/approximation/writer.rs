//! Writes arithmetic on floating-point numbers and their bits, element by element.

use loomir_dialects::{arith, math};
use loomir_ir::{Attr, AttrKind, Builder, OpDef, Type, Value};

/// A format of floating-point numbers, with the numbers that formulas need.
pub(super) struct Format {
    float: Type,
    /// The type of its bits.
    bits: Type,
    /// The number of bits of the fraction.
    pub(super) fraction: i64,
    /// The exponent of one.
    bias: i64,
    /// The logarithm of e to the base 2.
    pub(super) log2_e: f64,
    /// The natural logarithm of 2 in two parts. The product of the first part and an exponent is
    /// exact.
    pub(super) ln_2: [f64; 2],
    /// The arguments of `exp` below which the result is zero, and above which it is infinite.
    pub(super) exp_range: [f64; 2],
    /// The same for `exp2`.
    pub(super) exp2_range: [f64; 2],
    /// The coefficients of a polynomial `q`: `exp(r)` is `1 + r + r * r * q(r)`.
    pub(super) exp: &'static [f64],
    /// The coefficients of a polynomial `q`: `exp2(r)` is `1 + r * q(r)`.
    pub(super) exp2: &'static [f64],
}

// The coefficients are those of the polynomials with the least greatest error relative to the
// function, by Remez's exchange with 160 bits, rounded to the format: `exp` for |r| up to
// ln(2) / 2, `exp2` for |r| up to 1/2.

/// `f32`.
pub(super) static SINGLE: Format = Format {
    float: Type::F32,
    bits: Type::I32,
    fraction: 23,
    bias: 127,
    log2_e: 1.4426950216293335,
    ln_2: [0.693145751953125, 1.428606765330187e-06],
    exp_range: [-104.0, 89.0],
    exp2_range: [-151.0, 129.0],
    exp: &[
        0.4999999403953552,
        0.1666652113199234,
        0.04166838899254799,
        0.008368716575205326,
        0.001381459878757596,
    ],
    exp2: &[
        0.6931471824645996,
        0.24022647738456726,
        0.055503323674201965,
        0.009618437848985195,
        0.0013398887822404504,
        0.00015353351773228496,
    ],
};

/// `f64`.
pub(super) static DOUBLE: Format = Format {
    float: Type::F64,
    bits: Type::I64,
    fraction: 52,
    bias: 1023,
    log2_e: std::f64::consts::LOG2_E,
    ln_2: [0.693147180559663, 2.8235290563031577e-13],
    exp_range: [-746.0, 710.0],
    exp2_range: [-1076.0, 1025.0],
    exp: &[
        0.5000000000000011,
        0.16666666666666413,
        0.041666666666530155,
        0.008333333333494461,
        0.0013888888943630134,
        0.00019841269506578723,
        2.480149309888739e-05,
        2.755758637378518e-06,
        2.763024838532302e-07,
        2.500006162553128e-08,
    ],
    exp2: &[
        std::f64::consts::LN_2,
        0.2402265069591013,
        0.055504108664820084,
        0.009618129107594093,
        0.0013333558146774926,
        0.0001540353045714944,
        1.5252733492909657e-05,
        1.3215435262150076e-06,
        1.0178199631782826e-07,
        7.0737869483382406e-09,
        4.4347667857799526e-10,
    ],
};

/// Writes arithmetic at a place.
pub(super) struct Writer<'b> {
    builder: Builder<'b>,
    pub(super) format: &'static Format,
    /// The types of the numbers and of their bits: scalars, or vectors of one shape.
    float: Type,
    bits: Type,
    /// Products may be added without being rounded.
    contract: Attr,
}

impl<'b> Writer<'b> {
    /// Writes numbers of a format, or vectors of them with the shape of a type.
    pub(super) fn new(builder: Builder<'b>, shape: Type, format: &'static Format) -> Self {
        let ctx = builder.ctx();
        let float = shape.with_scalar(&ctx, format.float);
        let contract = arith::FASTMATH.attr(&ctx, arith::FASTMATH.value_of("contract").unwrap_or(0));
        Writer { bits: float.with_scalar(&ctx, format.bits), builder, format, float, contract }
    }

    /// Writes numbers of another format at the same place.
    pub(super) fn in_format(self, format: &'static Format) -> Self {
        Writer::new(self.builder, self.float, format)
    }

    /// Returns a floating-point number.
    pub(super) fn number(&mut self, value: f64) -> Value {
        let bits = match self.format.float {
            Type::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let attr = self.builder.ctx().float_attr(self.format.float, value);
        self.constant(attr, bits, self.float)
    }

    /// Returns an integer as wide as a number.
    pub(super) fn integer(&mut self, value: i64) -> Value {
        let attr = self.builder.ctx().int_attr(self.format.bits, value);
        self.constant(attr, value as u64, self.bits)
    }

    /// Returns a constant of a type: `attr`, or the bits of `attr` in each element.
    fn constant(&mut self, attr: Attr, bits: u64, ty: Type) -> Value {
        let ctx = self.builder.ctx();
        let attr = if ty.scalar(&ctx) == ty {
            attr
        } else {
            let width = (self.format.fraction as usize).next_multiple_of(32) / 8;
            let bytes = bits.to_le_bytes()[..width].into();
            ctx.attr(AttrKind::DenseElements { ty, splat: true, bytes })
        };
        let state = self.builder.state(arith::ConstantOp::DEF).results(&[ty]).attr(&ctx, "value", attr);
        self.builder.value(state)
    }

    /// Returns `a * b`.
    pub(super) fn product(&mut self, a: Value, b: Value) -> Value {
        self.contractible(arith::MulFOp::DEF, a, b)
    }

    /// Returns `a + b`.
    pub(super) fn sum(&mut self, a: Value, b: Value) -> Value {
        self.contractible(arith::AddFOp::DEF, a, b)
    }

    /// Returns `a - b`.
    pub(super) fn difference(&mut self, a: Value, b: Value) -> Value {
        self.contractible(arith::SubFOp::DEF, a, b)
    }

    /// Returns `a / b`.
    pub(super) fn quotient(&mut self, a: Value, b: Value) -> Value {
        self.contractible(arith::DivFOp::DEF, a, b)
    }

    fn contractible(&mut self, def: &'static OpDef, a: Value, b: Value) -> Value {
        let ctx = self.builder.ctx();
        let state = self.builder.state(def).operands(&[a, b]).attr(&ctx, "fastmath", self.contract);
        self.builder.value(state)
    }

    /// Returns an operation on integers.
    pub(super) fn on_bits(&mut self, def: &'static OpDef, a: Value, b: Value) -> Value {
        let state = self.builder.state(def).operands(&[a, b]);
        self.builder.value(state)
    }

    /// Returns the polynomial with these coefficients, the one without a factor `x` first.
    pub(super) fn polynomial(&mut self, coefficients: &[f64], x: Value) -> Value {
        let mut all = None;
        for coefficient in coefficients.iter().rev() {
            let coefficient = self.number(*coefficient);
            all = Some(match all {
                None => coefficient,
                Some(all) => {
                    let product = self.product(all, x);
                    self.sum(product, coefficient)
                }
            });
        }
        all.unwrap_or_else(|| self.number(0.0))
    }

    /// Returns true where two numbers compare like this. Names are those of `arith.cmpf`.
    pub(super) fn compare(&mut self, predicate: &str, a: Value, b: Value) -> Value {
        let ctx = self.builder.ctx();
        let attr = &arith::CMPF_PREDICATE;
        let attr = attr.attr(&ctx, attr.value_of(predicate).unwrap_or(0));
        let state = self.builder.state(arith::CmpFOp::DEF).operands(&[a, b]).attr(&ctx, "predicate", attr);
        self.builder.value(state)
    }

    /// Returns `yes` where a condition is true, and `no` elsewhere.
    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let state = self.builder.state(arith::SelectOp::DEF).operands(&[condition, yes, no]);
        self.builder.value(state)
    }

    /// Returns a number kept within a range. A NaN stays a NaN.
    pub(super) fn clamped(&mut self, x: Value, [low, high]: [f64; 2]) -> Value {
        let (low, high) = (self.number(low), self.number(high));
        let is_above = self.compare("ogt", x, high);
        let x = self.select(is_above, high, x);
        let is_below = self.compare("olt", x, low);
        self.select(is_below, low, x)
    }

    /// Returns the absolute value.
    pub(super) fn absolute(&mut self, x: Value) -> Value {
        let state = self.builder.state(math::AbsFOp::DEF).operands(&[x]);
        self.builder.value(state)
    }

    /// Returns the magnitude of `x` with the sign of `sign`.
    pub(super) fn with_sign(&mut self, x: Value, sign: Value) -> Value {
        let state = self.builder.state(math::CopySignOp::DEF).operands(&[x, sign]);
        self.builder.value(state)
    }

    /// Returns the bits of a number.
    pub(super) fn bits(&mut self, x: Value) -> Value {
        let ty = self.bits;
        self.cast(arith::BitcastOp::DEF, x, ty)
    }

    /// Returns the number with these bits.
    pub(super) fn number_of(&mut self, bits: Value) -> Value {
        let ty = self.float;
        self.cast(arith::BitcastOp::DEF, bits, ty)
    }

    /// Returns the number nearest to an integer.
    pub(super) fn nearest(&mut self, integer: Value) -> Value {
        let ty = self.float;
        self.cast(arith::SIToFPOp::DEF, integer, ty)
    }

    /// Returns a number of another format in this one: `def` is `arith.extf` or `arith.truncf`.
    pub(super) fn converted(&mut self, def: &'static OpDef, x: Value) -> Value {
        let ty = self.float;
        self.cast(def, x, ty)
    }

    fn cast(&mut self, def: &'static OpDef, value: Value, ty: Type) -> Value {
        let state = self.builder.state(def).operands(&[value]).results(&[ty]);
        self.builder.value(state)
    }

    /// Returns the multiple of `unit` that is nearest to `x`, and bits that end with the number of
    /// units. Adding a number whose last bit is worth a unit rounds it.
    pub(super) fn multiple(&mut self, x: Value, unit: f64) -> (Value, Value) {
        let unit = self.number(1.5 * (self.format.fraction as f64).exp2() * unit);
        let sum = self.sum(x, unit);
        (self.difference(sum, unit), self.bits(sum))
    }

    /// Returns a number rounded to an integer `n`, and the power of two to multiply by for it, in
    /// two factors. Each factor is a normal number, where the power itself may be too great or too
    /// small.
    ///
    /// The number is `x * factor`. Adding a number whose last bit is worth one rounds it, and
    /// leaves `n` in the last bits. So no NaN is converted to an integer, which would be poison.
    pub(super) fn rounded(&mut self, x: Value, factor: Option<f64>) -> (Value, [Value; 2]) {
        let Format { fraction, bias, .. } = *self.format;
        // Twice the bias, so that each half of the bits is an exponent of its own.
        let unit = self.number(1.5 * (fraction as f64).exp2() + 2.0 * bias as f64);
        let scaled = match factor {
            Some(factor) => {
                let factor = self.number(factor);
                self.product(x, factor)
            }
            None => x,
        };
        let sum = self.sum(scaled, unit);
        let rounded = self.difference(sum, unit);
        let bits = self.bits(sum);
        let one = self.integer(1);
        let half = self.on_bits(arith::ShRUIOp::DEF, bits, one);
        let other = self.on_bits(arith::SubIOp::DEF, bits, half);
        let fraction = self.integer(fraction);
        let factors = [half, other].map(|exponent| {
            let bits = self.on_bits(arith::ShLIOp::DEF, exponent, fraction);
            self.number_of(bits)
        });
        (rounded, factors)
    }
}
