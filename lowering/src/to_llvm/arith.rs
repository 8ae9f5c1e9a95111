//! The dialects `arith`, `index` and `ub`. Most operations have an equivalent; the others are
//! expanded.
//!
//! | operations | become |
//! | --- | --- |
//! | of [`TWINS`] | the operation beside them, flags translated |
//! | `index_cast`, `index_castui`, `casts`, `castu` | an extension, a truncation or nothing |
//! | `floordivsi`, `ceildivsi`, `ceildivui`, and those of `index` | a division and a correction |
//! | `addui_extended`, `mul…i_extended` | an intrinsic, or a product of twice the width |

use loomir_dialects::arith::{self, FASTMATH};
use loomir_dialects::llvm::types::literal_struct;
use loomir_dialects::{index, llvm};
use loomir_ir::{Attr, Context, Diagnostic, OpDef, OpRef, Registry, Type, TypeKind, Value};

use super::build::{ICmp, NONE};
use super::function::FunctionConverter;
use super::vector::by_rows;
use super::{ConvertToLlvm, Converted, attach};

/// Operations with an equivalent: same operands, same result.
pub(super) const TWINS: &[(&str, &OpDef)] = &[
    ("arith.addi", llvm::AddOp::DEF),
    ("arith.subi", llvm::SubOp::DEF),
    ("arith.muli", llvm::MulOp::DEF),
    ("arith.divui", llvm::UDivOp::DEF),
    ("arith.divsi", llvm::SDivOp::DEF),
    ("arith.remui", llvm::URemOp::DEF),
    ("arith.remsi", llvm::SRemOp::DEF),
    ("arith.andi", llvm::AndOp::DEF),
    ("arith.ori", llvm::OrOp::DEF),
    ("arith.xori", llvm::XOrOp::DEF),
    ("arith.shli", llvm::ShlOp::DEF),
    ("arith.shrui", llvm::LShrOp::DEF),
    ("arith.shrsi", llvm::AShrOp::DEF),
    ("arith.maxsi", llvm::SMaxOp::DEF),
    ("arith.maxui", llvm::UMaxOp::DEF),
    ("arith.minsi", llvm::SMinOp::DEF),
    ("arith.minui", llvm::UMinOp::DEF),
    ("arith.negf", llvm::FNegOp::DEF),
    ("arith.addf", llvm::FAddOp::DEF),
    ("arith.subf", llvm::FSubOp::DEF),
    ("arith.mulf", llvm::FMulOp::DEF),
    ("arith.divf", llvm::FDivOp::DEF),
    ("arith.remf", llvm::FRemOp::DEF),
    ("arith.maximumf", llvm::MaximumOp::DEF),
    ("arith.minimumf", llvm::MinimumOp::DEF),
    ("arith.maxnumf", llvm::MaxNumOp::DEF),
    ("arith.minnumf", llvm::MinNumOp::DEF),
    ("arith.extui", llvm::ZExtOp::DEF),
    ("arith.extsi", llvm::SExtOp::DEF),
    ("arith.extf", llvm::FPExtOp::DEF),
    ("arith.trunci", llvm::TruncOp::DEF),
    ("arith.sitofp", llvm::SIToFPOp::DEF),
    ("arith.uitofp", llvm::UIToFPOp::DEF),
    ("arith.fptosi", llvm::FPToSIOp::DEF),
    ("arith.fptoui", llvm::FPToUIOp::DEF),
    ("arith.cmpi", llvm::ICmpOp::DEF),
    ("arith.cmpf", llvm::FCmpOp::DEF),
    ("arith.select", llvm::SelectOp::DEF),
    ("index.add", llvm::AddOp::DEF),
    ("index.sub", llvm::SubOp::DEF),
    ("index.mul", llvm::MulOp::DEF),
    ("index.divu", llvm::UDivOp::DEF),
    ("index.divs", llvm::SDivOp::DEF),
    ("index.remu", llvm::URemOp::DEF),
    ("index.rems", llvm::SRemOp::DEF),
    ("index.and", llvm::AndOp::DEF),
    ("index.or", llvm::OrOp::DEF),
    ("index.xor", llvm::XOrOp::DEF),
    ("index.shl", llvm::ShlOp::DEF),
    ("index.shru", llvm::LShrOp::DEF),
    ("index.shrs", llvm::AShrOp::DEF),
    ("index.maxs", llvm::SMaxOp::DEF),
    ("index.maxu", llvm::UMaxOp::DEF),
    ("index.mins", llvm::SMinOp::DEF),
    ("index.minu", llvm::UMinOp::DEF),
    ("index.cmp", llvm::ICmpOp::DEF),
];

pub(super) fn register(registry: &mut Registry) {
    for (name, twin) in TWINS {
        registry.attach::<dyn ConvertToLlvm>(name, Box::new(Twin(twin)));
    }
    for name in ["arith.constant", "index.constant", "index.bool.constant"] {
        attach(registry, name, constant);
    }
    attach(registry, "arith.bitcast", bitcast);
    attach(registry, "arith.truncf", truncf);
    for name in ["arith.index_cast", "index.casts"] {
        attach(registry, name, |cx, op| index_cast(cx, op, llvm::SExtOp::DEF));
    }
    for name in ["arith.index_castui", "index.castu"] {
        attach(registry, name, |cx, op| index_cast(cx, op, llvm::ZExtOp::DEF));
    }
    for name in ["arith.floordivsi", "index.floordivs"] {
        attach(registry, name, floor_div);
    }
    for name in ["arith.ceildivsi", "index.ceildivs"] {
        attach(registry, name, ceil_div);
    }
    for name in ["arith.ceildivui", "index.ceildivu"] {
        attach(registry, name, ceil_div_unsigned);
    }
    attach(registry, "index.sizeof", size_of_index);
    attach(registry, "arith.addui_extended", add_extended);
    attach(registry, "arith.mulsi_extended", |cx, op| mul_extended(cx, op, llvm::SExtOp::DEF));
    attach(registry, "arith.mului_extended", |cx, op| mul_extended(cx, op, llvm::ZExtOp::DEF));
    attach(registry, "ub.poison", poison);
}

/// An operation that is replaced by one operation on the same operands.
#[derive(Debug)]
pub(super) struct Twin(pub(super) &'static OpDef);

impl ConvertToLlvm for Twin {
    fn convert(&self, cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
        let ctx = cx.ctx();
        let mut state = cx.state(self.0);
        for (name, attr) in op.properties().entries(&ctx) {
            match ctx.str(*name) {
                "overflowFlags" => {
                    let flags = arith::OVERFLOW.value(&ctx, *attr).unwrap_or(0);
                    state.set_attr(&ctx, "overflowFlags", ctx.int_attr(Type::I32, flags));
                }
                "fastmath" if self.0.is_inherent("fastmathFlags") => {
                    state.set_attr(&ctx, "fastmathFlags", fastmath(&ctx, *attr));
                }
                "pred" => {
                    let predicate = index::CMP_PREDICATE.value(&ctx, *attr).unwrap_or(0);
                    state.set_attr(&ctx, "predicate", ctx.int_attr(Type::I64, predicate));
                }
                name if self.0.is_inherent(name) => state.set_attr(&ctx, name, *attr),
                _ => {}
            }
        }
        // `nonNeg` is not in the table of `arith`, but it is respected if present.
        if let Some(attr) = op.attributes().get(&ctx, "nonNeg")
            && self.0.is_inherent("nonNeg")
        {
            state.set_attr(&ctx, "nonNeg", attr);
        }
        if op.num_results() == 1 && has_arrays(op) {
            return by_rows(cx, op, &mut |cx, operands, ty| {
                cx.emit(state.clone().operands(operands).results(&[ty]))
            });
        }
        refuse_arrays(cx, op)?;
        state = state.operands(&cx.operands(op)?);
        for result in op.results() {
            let ty = cx.convert_type(op.type_of(result))?;
            state.result_types.push(ty);
        }
        let new = cx.insert(state);
        let results: Vec<Value> = cx.body().results(new).collect();
        cx.set_results(op, &results);
        Ok(())
    }
}

/// `#arith.fastmath<…>` as `#llvm.fastmath<…>`: the same flags under other numbers.
pub(super) fn fastmath(ctx: &Context, attr: Attr) -> Attr {
    let from = FASTMATH.value(ctx, attr).unwrap_or(0);
    let to = &llvm::attributes::FASTMATH;
    let bits = FASTMATH
        .cases
        .iter()
        .filter(|(_, bit)| bit.is_power_of_two() && from & bit != 0)
        .filter_map(|(name, _)| to.value_of(name))
        .fold(0, |all, bit| all | bit);
    to.attr(ctx, bits)
}

/// True if an operation has vectors of several dimensions.
fn has_arrays(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let several = |ty: Type| matches!(ty.kind(ctx), TypeKind::Vector { shape, .. } if shape.len() > 1);
    op.operands().chain(op.results()).any(|v| several(op.type_of(v)))
}

/// Refuses vectors of several dimensions. They are arrays of vectors, on which LLVM has no
/// arithmetic.
pub(super) fn refuse_arrays(cx: &FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    if has_arrays(op) {
        return Err(cx.unsupported(op, "on vectors of several dimensions"));
    }
    Ok(())
}

fn constant(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let (Some(mut value), Some(result)) = (op.attr("value"), op.results().next()) else {
        return Err(cx.malformed(op));
    };
    let old_ty = op.type_of(result);
    let ty = cx.convert_type(old_ty)?;
    // Float formats that LLVM lacks are stored as integers.
    if let (loomir_ir::AttrKind::Float { bits, .. }, Some(_)) = (value.kind(&ctx), ty.integer_width(&ctx)) {
        value = ctx.int_attr(ty, *bits as i128);
    }
    let new = cx.constant(value, ty);
    cx.set(result, new);
    Ok(())
}

fn size_of_index(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let width = cx.index(64);
    cx.set(op.result(0), width);
    Ok(())
}

fn poison(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ty = cx.convert_type(op.result_type(0))?;
    let new = cx.poison(ty);
    cx.set(op.result(0), new);
    Ok(())
}

fn bitcast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    refuse_arrays(cx, op)?;
    let value = cx.operand(op, 0)?;
    let ty = cx.convert_type(op.result_type(0))?;
    let new = if cx.type_of(value) == ty { value } else { cx.cast(llvm::BitcastOp::DEF, value, ty) };
    cx.set(op.result(0), new);
    Ok(())
}

fn truncf(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    if let Some(mode) = op.attr("roundingmode")
        && arith::ROUNDING_MODE.value(&ctx, mode) != arith::ROUNDING_MODE.value_of("to_nearest_even")
    {
        return Err(cx.unsupported(op, "with a rounding mode other than to nearest"));
    }
    Twin(llvm::FPTruncOp::DEF).convert(cx, op)
}

fn width(ctx: &Context, ty: Type) -> u32 {
    ty.scalar(ctx).integer_width(ctx).unwrap_or(64)
}

fn index_cast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, extend: &'static OpDef) -> Converted {
    let ctx = cx.ctx();
    let value = cx.operand(op, 0)?;
    let ty = cx.convert_type(op.result_type(0))?;
    let from = cx.type_of(value);
    let new = if from == ty {
        value
    } else if from.scalar(&ctx).integer_width(&ctx).is_none() {
        return Err(cx.unsupported(op, "on memrefs"));
    } else {
        let def = if width(&ctx, op.operand_type(0)) < width(&ctx, op.result_type(0)) {
            extend
        } else {
            llvm::TruncOp::DEF
        };
        return by_rows(cx, op, &mut |cx, operands, ty| cx.cast(def, operands[0], ty));
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Returns both operands of a binary operation.
fn two(cx: &FunctionConverter<'_>, op: OpRef<'_>) -> Result<(Value, Value), Diagnostic> {
    refuse_arrays(cx, op)?;
    Ok((cx.operand(op, 0)?, cx.operand(op, 1)?))
}

/// Emits the truncated quotient. If it is inexact and the operands' signs compare by `signs`, adds
/// `step`.
fn corrected_division(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, signs: ICmp, step: i64) -> Converted {
    let (x, y) = two(cx, op)?;
    let ty = cx.type_of(x);
    let zero = cx.splat(ty, 0);
    let quotient = cx.binary(llvm::SDivOp::DEF, x, y);
    let back = cx.mul(quotient, y, NONE);
    let inexact = cx.icmp(ICmp::Ne, x, back);
    let x_negative = cx.icmp(ICmp::Slt, x, zero);
    let y_negative = cx.icmp(ICmp::Slt, y, zero);
    let rounds = cx.icmp(signs, x_negative, y_negative);
    let needed = cx.binary(llvm::AndOp::DEF, inexact, rounds);
    let step = cx.splat(ty, step);
    let moved = cx.add(quotient, step, NONE);
    let new = cx.select(needed, moved, quotient);
    cx.set(op.result(0), new);
    Ok(())
}

fn floor_div(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    corrected_division(cx, op, ICmp::Ne, -1)
}

fn ceil_div(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    corrected_division(cx, op, ICmp::Eq, 1)
}

fn ceil_div_unsigned(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let (x, y) = two(cx, op)?;
    let ty = cx.type_of(x);
    let (zero, one) = (cx.splat(ty, 0), cx.splat(ty, 1));
    let is_zero = cx.icmp(ICmp::Eq, x, zero);
    let less = cx.sub(x, one);
    let quotient = cx.binary(llvm::UDivOp::DEF, less, y);
    let more = cx.add(quotient, one, NONE);
    let new = cx.select(is_zero, zero, more);
    cx.set(op.result(0), new);
    Ok(())
}

fn add_extended(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let (x, y) = two(cx, op)?;
    let ctx = cx.ctx();
    let ty = cx.type_of(x);
    let carry = ty.with_scalar(&ctx, Type::I1);
    let state = cx
        .state(llvm::UAddWithOverflowOp::DEF)
        .operands(&[x, y])
        .results(&[literal_struct(&ctx, &[ty, carry])]);
    let both = cx.emit(state);
    let parts = [cx.extract(both, &[0], ty), cx.extract(both, &[1], carry)];
    cx.set_results(op, &parts);
    Ok(())
}

/// Emits the product in twice the width, as two halves.
fn mul_extended(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, extend: &'static OpDef) -> Converted {
    let (x, y) = two(cx, op)?;
    let ctx = cx.ctx();
    let ty = cx.type_of(x);
    let bits = width(&ctx, ty);
    let wide =
        ty.with_scalar(&ctx, ctx.int_type(bits.saturating_mul(2).min(loomir_ir::types::MAX_INTEGER_WIDTH)));
    let (x, y) = (cx.cast(extend, x, wide), cx.cast(extend, y, wide));
    let product = cx.mul(x, y, NONE);
    let low = cx.cast(llvm::TruncOp::DEF, product, ty);
    let shift = cx.splat(wide, i64::from(bits));
    let high = cx.binary(llvm::LShrOp::DEF, product, shift);
    let high = cx.cast(llvm::TruncOp::DEF, high, ty);
    cx.set_results(op, &[low, high]);
    Ok(())
}
