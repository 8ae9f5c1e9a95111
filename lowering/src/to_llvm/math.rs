//! `math`: intrinsics where LLVM has them, calls into the C library elsewhere.
//!
//! `expm1` and `log1p` are calls too: written with `exp` and `log` they would lose their purpose,
//! precision near zero. The C library knows `float` and `double`; narrower floats are widened for
//! it.

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::function;
use loomir_ir::{Attr, FloatKind, OpDef, OpRef, Registry, Type, TypeKind};

use super::arith::{Twin, fastmath, refuse_arrays};
use super::function::FunctionConverter;
use super::{ConvertToLlvm, Converted, attach};

const INTRINSICS: &[(&str, &OpDef)] = &[
    ("math.absf", llvm::FAbsOp::DEF),
    ("math.acos", llvm::ACosOp::DEF),
    ("math.asin", llvm::ASinOp::DEF),
    ("math.atan", llvm::ATanOp::DEF),
    ("math.atan2", llvm::ATan2Op::DEF),
    ("math.ceil", llvm::FCeilOp::DEF),
    ("math.copysign", llvm::CopySignOp::DEF),
    ("math.cos", llvm::CosOp::DEF),
    ("math.cosh", llvm::CoshOp::DEF),
    ("math.ctpop", llvm::CtPopOp::DEF),
    ("math.exp", llvm::ExpOp::DEF),
    ("math.exp2", llvm::Exp2Op::DEF),
    ("math.floor", llvm::FFloorOp::DEF),
    ("math.fma", llvm::FMAOp::DEF),
    ("math.fpowi", llvm::PowIOp::DEF),
    ("math.log", llvm::LogOp::DEF),
    ("math.log10", llvm::Log10Op::DEF),
    ("math.log2", llvm::Log2Op::DEF),
    ("math.powf", llvm::PowOp::DEF),
    ("math.round", llvm::RoundOp::DEF),
    ("math.roundeven", llvm::RoundEvenOp::DEF),
    ("math.sin", llvm::SinOp::DEF),
    ("math.sinh", llvm::SinhOp::DEF),
    ("math.sqrt", llvm::SqrtOp::DEF),
    ("math.tan", llvm::TanOp::DEF),
    ("math.tanh", llvm::TanhOp::DEF),
    ("math.trunc", llvm::FTruncOp::DEF),
];

/// Operations and their C functions for `double`. The function for `float` has the suffix `f`.
const LIBRARY: &[(&str, &str)] = &[
    ("math.acosh", "acosh"),
    ("math.asinh", "asinh"),
    ("math.atanh", "atanh"),
    ("math.cbrt", "cbrt"),
    ("math.erf", "erf"),
    ("math.erfc", "erfc"),
    ("math.expm1", "expm1"),
    ("math.log1p", "log1p"),
];

/// Classes of floats, as `llvm.is.fpclass` numbers them.
const CLASSES: &[(&str, i64)] =
    &[("math.isnan", 0x003), ("math.isinf", 0x204), ("math.isnormal", 0x108), ("math.isfinite", 0x1f8)];

pub(super) fn register(registry: &mut Registry) {
    for (name, twin) in INTRINSICS {
        registry.attach::<dyn ConvertToLlvm>(name, Box::new(Twin(twin)));
    }
    for (name, symbol) in LIBRARY {
        registry.attach::<dyn ConvertToLlvm>(name, Box::new(LibraryCall(symbol)));
    }
    for (name, class) in CLASSES {
        registry.attach::<dyn ConvertToLlvm>(name, Box::new(IsClass(*class)));
    }
    attach(registry, "math.absi", |cx, op| with_bool(cx, op, llvm::AbsOp::DEF, "is_int_min_poison"));
    attach(registry, "math.ctlz", |cx, op| {
        with_bool(cx, op, llvm::CountLeadingZerosOp::DEF, "is_zero_poison")
    });
    attach(registry, "math.cttz", |cx, op| {
        with_bool(cx, op, llvm::CountTrailingZerosOp::DEF, "is_zero_poison")
    });
    attach(registry, "math.rsqrt", rsqrt);
    attach(registry, "math.sincos", sincos);
}

/// A call of a C function of one float.
#[derive(Debug)]
struct LibraryCall(&'static str);

impl ConvertToLlvm for LibraryCall {
    fn convert(&self, cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
        let ctx = cx.ctx();
        let value = cx.operand(op, 0)?;
        let ty = cx.type_of(value);
        let (name, carrier) = match ty.kind(&ctx) {
            TypeKind::Float(FloatKind::F64) => (self.0.to_owned(), Type::F64),
            TypeKind::Float(FloatKind::F16 | FloatKind::BF16 | FloatKind::F32) => {
                (format!("{}f", self.0), Type::F32)
            }
            _ => return Err(cx.unsupported(op, "on this type")),
        };
        let callee = cx.declare_library(&name, function(&ctx, carrier, &[carrier], false))?;
        let argument = if ty == carrier { value } else { cx.cast(llvm::FPExtOp::DEF, value, carrier) };
        let Some(result) = cx.call(Some(callee), &[argument], Some(carrier)) else {
            return Err(cx.malformed(op));
        };
        let result = if ty == carrier { result } else { cx.cast(llvm::FPTruncOp::DEF, result, ty) };
        cx.set(op.result(0), result);
        Ok(())
    }
}

/// A test for classes of floats.
#[derive(Debug)]
struct IsClass(i64);

impl ConvertToLlvm for IsClass {
    fn convert(&self, cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
        refuse_arrays(cx, op)?;
        let ctx = cx.ctx();
        let value = cx.operand(op, 0)?;
        let ty = cx.convert_type(op.result_type(0))?;
        let state = cx.state(llvm::IsFPClassOp::DEF).operands(&[value]).results(&[ty]).attr(
            &ctx,
            "bit",
            ctx.int_attr(Type::I32, self.0),
        );
        let new = cx.emit(state);
        cx.set(op.result(0), new);
        Ok(())
    }
}

/// Emits an intrinsic with a flag that is off: its result is defined for every operand.
fn with_bool(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, def: &'static OpDef, flag: &str) -> Converted {
    refuse_arrays(cx, op)?;
    let ctx = cx.ctx();
    let value = cx.operand(op, 0)?;
    let ty = cx.type_of(value);
    let state = cx.state(def).operands(&[value]).results(&[ty]).attr(&ctx, flag, Attr::FALSE);
    let new = cx.emit(state);
    cx.set(op.result(0), new);
    Ok(())
}

fn rsqrt(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    refuse_arrays(cx, op)?;
    let ctx = cx.ctx();
    let value = cx.operand(op, 0)?;
    let ty = cx.type_of(value);
    let one = one(&ctx, ty).ok_or_else(|| cx.unsupported(op, "on this type"))?;
    let flags = op.attr("fastmath").map(|attr| fastmath(&ctx, attr));
    let one = cx.constant(one, ty);
    let mut state = cx.state(llvm::SqrtOp::DEF).operands(&[value]).results(&[ty]);
    if let Some(flags) = flags {
        state.set_attr(&ctx, "fastmathFlags", flags);
    }
    let root = cx.emit(state);
    let mut state = cx.state(llvm::FDivOp::DEF).operands(&[one, root]).results(&[ty]);
    if let Some(flags) = flags {
        state.set_attr(&ctx, "fastmathFlags", flags);
    }
    let new = cx.emit(state);
    cx.set(op.result(0), new);
    Ok(())
}

/// 1.0 in every element.
fn one(ctx: &loomir_ir::Context, ty: Type) -> Option<Attr> {
    let scalar = ty.scalar(ctx);
    let TypeKind::Float(kind) = scalar.kind(ctx) else { return None };
    let bits: u128 = match kind {
        FloatKind::F16 => 0x3c00,
        FloatKind::BF16 => 0x3f80,
        FloatKind::F32 => 0x3f80_0000,
        FloatKind::F64 => 0x3ff0_0000_0000_0000,
        FloatKind::F80 => 0x3fff_8000_0000_0000_0000,
        FloatKind::F128 => 0x3fff << 112,
        _ => return None,
    };
    if scalar == ty {
        return Some(ctx.attr(loomir_ir::AttrKind::Float { bits, ty }));
    }
    let bytes = bits.to_le_bytes()[..kind.width().div_ceil(8) as usize].into();
    Some(ctx.attr(loomir_ir::AttrKind::DenseElements { ty, splat: true, bytes }))
}

fn sincos(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    refuse_arrays(cx, op)?;
    let ctx = cx.ctx();
    let value = cx.operand(op, 0)?;
    let ty = cx.type_of(value);
    let mut both = Vec::with_capacity(2);
    for def in [llvm::SinOp::DEF, llvm::CosOp::DEF] {
        let mut state = cx.state(def).operands(&[value]).results(&[ty]);
        if let Some(attr) = op.attr("fastmath") {
            state.set_attr(&ctx, "fastmathFlags", fastmath(&ctx, attr));
        }
        both.push(cx.emit(state));
    }
    cx.set_results(op, &both);
    Ok(())
}
