//! `expand-strided-metadata`: the arithmetic of views, spelled out.
//!
//! A `subview`, `collapse_shape` or `expand_shape` becomes a `reinterpret_cast` of its object, with
//! offset, sizes and strides computed by `affine.apply`. `extract_strided_metadata` becomes the
//! numbers where they follow from the type or from the operation that makes the memref:
//! `reinterpret_cast`, `cast`, `alloc`, `alloca`, `get_global`. The aligned pointer of a view is
//! that of its source.
//!
//! The result is that of MLIR's pass. Two operations stay, because their aligned pointer may be
//! another one: `extract_aligned_pointer_as_index` of a `view` and of a `memory_space_cast`.
//!
//! **Assumption.** Elements of a memref have addresses, so its offsets and strides do not overflow.
//!
//! **Cost.** Linear in the operations and their ranks.

use loomir_dialects::affine::ApplyOp;
use loomir_dialects::affine::validity::{is_valid_dim, is_valid_symbol};
use loomir_dialects::{arith, memref};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::{Greedy, Pattern, Rewriter, constant_of};
use loomir_ir::{
    AffineExpr, AffineExprKind, AffineMap, Attr, AttrKind, Body, Builder, Context, DYNAMIC, Diagnostics, Op,
    OpRef, Type, TypeKind, Value, rewrite, row_major_strides,
};

/// The pass `expand-strided-metadata`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "expand-strided-metadata",
    anchor: None,
    summary: "Computes offsets, sizes and strides of views by operations of their own",
    options: &[],
    make: |_| Ok(Box::new(ExpandStridedMetadata)),
};

struct ExpandStridedMetadata;

impl Pass for ExpandStridedMetadata {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let patterns: Vec<&dyn Pattern> = PATTERNS.iter().map(|own| own as &dyn Pattern).collect();
        body.for_each_body(&mut |body| {
            let report = Greedy::new(&patterns).run(body);
            cx.count("Operations expanded", report.rewritten as u64);
        });
        Ok(())
    }
}

rewrite! {
    /// The expansions of views and of questions about them.
    pub PATTERNS;

    /// A part of a memref is its object with another layout.
    subview: memref::SubViewOp = |rewriter, op| replace_view(rewriter, op, subview);

    /// Merged dimensions are the object with another layout.
    collapse_shape: memref::CollapseShapeOp = |rewriter, op| replace_view(rewriter, op, collapse_shape);

    /// Split dimensions are the object with another layout.
    expand_shape: memref::ExpandShapeOp = |rewriter, op| replace_view(rewriter, op, expand_shape);

    /// The parts of a memref follow from the operation that makes it.
    extract_strided_metadata: memref::ExtractStridedMetadataOp = |rewriter, op| {
        let source = rewriter.body().operand(op, 0);
        let Some(parts) = known_parts(rewriter, op, source) else { return false };
        let values = rewriter.build(op, |builder| {
            let numbers = [&[parts.offset], &parts.sizes[..], &parts.strides].concat();
            let numbers = numbers.into_iter().map(|number| number.value(builder));
            [parts.base].into_iter().chain(numbers).collect::<Vec<_>>()
        });
        rewriter.replace(op, &values)
    };

    /// The aligned pointer of a view, and of the object of a memref, is that of its source.
    aligned_pointer: memref::ExtractAlignedPointerAsIndexOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(view) = body.defining_op(body.operand(op, 0)) else { return false };
        let keeps_pointer = [
            memref::SubViewOp::DEF,
            memref::CollapseShapeOp::DEF,
            memref::ExpandShapeOp::DEF,
            memref::ReinterpretCastOp::DEF,
            memref::CastOp::DEF,
            memref::ExtractStridedMetadataOp::DEF,
        ];
        if !keeps_pointer.iter().any(|def| body.is(view, def)) {
            return false;
        }
        let source = body.operand(view, 0);
        rewriter.set_operand(op, 0, source);
        true
    };
}

/// A number that is known or computed at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Known(i64),
    Value(Value),
}

impl Number {
    fn value(self, builder: &mut Builder<'_>) -> Value {
        match self {
            Number::Value(value) => value,
            Number::Known(number) => {
                let ctx = builder.ctx();
                let state = builder.state(arith::ConstantOp::DEF).results(&[Type::INDEX]);
                builder.value(state.attr(&ctx, "value", ctx.index_attr(number)))
            }
        }
    }
}

/// The parts of a strided memref.
struct Parts {
    /// The object, as a memref of rank zero.
    base: Value,
    offset: Number,
    sizes: Vec<Number>,
    strides: Vec<Number>,
}

/// Returns the parts of a ranked, strided memref, extracted before `op`. Numbers in the type are
/// known.
fn extract(rewriter: &mut Rewriter<'_>, op: Op, source: Value) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let ty = rewriter.body().value_type(source);
    let (shape, (strides, offset)) = (ty.shape(&ctx)?.to_vec(), ty.strides_and_offset(&ctx)?);
    let base = scalar_type(&ctx, ty)?;
    let rank = shape.len();
    let results = [&[base], &vec![Type::INDEX; 1 + 2 * rank][..]].concat();
    let extracted = rewriter.build(op, |builder| {
        builder.build(memref::ExtractStridedMetadataOp::DEF, &[&[source]], &[], &results)
    });
    let body = rewriter.body();
    let number = |known: i64, index: usize| match known {
        DYNAMIC => Number::Value(body.result(extracted, index)),
        known => Number::Known(known),
    };
    let list =
        |all: &[i64], first: usize| all.iter().enumerate().map(|(i, n)| number(*n, first + i)).collect();
    Some(Parts {
        base: body.result(extracted, 0),
        offset: number(offset, 1),
        sizes: list(&shape, 2),
        strides: list(&strides, 2 + rank),
    })
}

/// Returns the memref of rank zero over the object of a memref.
fn scalar_type(ctx: &Context, ty: Type) -> Option<Type> {
    let TypeKind::MemRef { element, memory_space, .. } = ty.kind(ctx) else { return None };
    Some(ctx.ty(TypeKind::MemRef {
        shape: Some(Box::new([])),
        element: *element,
        layout: None,
        memory_space: *memory_space,
    }))
}

/// Replaces a view by a `reinterpret_cast` of its object.
fn replace_view(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    parts: fn(&mut Rewriter<'_>, Op) -> Option<Parts>,
) -> bool {
    let Some(parts) = parts(rewriter, op) else { return false };
    let ty = rewriter.body().value_type(rewriter.body().result(op, 0));
    let new = reinterpret(rewriter, op, &parts, ty);
    rewriter.replace(op, &[new])
}

fn reinterpret(rewriter: &mut Rewriter<'_>, before: Op, parts: &Parts, ty: Type) -> Value {
    let ctx = rewriter.ctx();
    let split = |numbers: &[Number]| -> (Attr, Vec<Value>) {
        let statics = numbers.iter().map(|number| match number {
            Number::Known(known) => *known,
            Number::Value(_) => DYNAMIC,
        });
        let dynamics = numbers.iter().filter_map(|number| match number {
            Number::Known(_) => None,
            Number::Value(value) => Some(*value),
        });
        (ctx.dense_ints_attr(Type::I64, &statics.collect::<Vec<_>>()), dynamics.collect())
    };
    let (offsets, offset) = split(&[parts.offset]);
    let (sizes, size) = split(&parts.sizes);
    let (strides, stride) = split(&parts.strides);
    rewriter.build(before, |builder| {
        let attrs = [("static_offsets", offsets), ("static_sizes", sizes), ("static_strides", strides)];
        let operands = [&[parts.base][..], &offset, &size, &stride];
        let new = builder.build(memref::ReinterpretCastOp::DEF, &operands, &attrs, &[ty]);
        builder.body().result(new, 0)
    })
}

/// Computes an expression of the symbols 0, 1, … that stand for `numbers`, before `before`.
fn apply(rewriter: &mut Rewriter<'_>, before: Op, expr: AffineExpr, numbers: &[Number]) -> Number {
    let (ctx, body) = (rewriter.ctx(), rewriter.body());
    let (mut dims, mut symbols): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let position = |all: &mut Vec<Value>, value: Value| match all.iter().position(|own| *own == value) {
        Some(known) => known as u32,
        None => {
            all.push(value);
            all.len() as u32 - 1
        }
    };
    let mut replacements = Vec::with_capacity(numbers.len());
    for number in numbers {
        let known = |value: Value| constant_of(body, value).and_then(|attr| attr.as_int(&ctx));
        replacements.push(match *number {
            Number::Known(known) => AffineExpr::constant(&ctx, known),
            Number::Value(value) => {
                let user = body.op_ref(before);
                let is_dim = is_valid_dim(user, value) && !is_valid_symbol(user, value);
                match known(value) {
                    Some(known) => AffineExpr::constant(&ctx, known),
                    None if is_dim => AffineExpr::dim(&ctx, position(&mut dims, value)),
                    None => AffineExpr::symbol(&ctx, position(&mut symbols, value)),
                }
            }
        });
    }
    let expr = expr.replace(&ctx, &[], &replacements);
    match expr.kind(&ctx) {
        AffineExprKind::Constant(known) => return Number::Known(known),
        AffineExprKind::Dim(own) => return Number::Value(dims[own as usize]),
        AffineExprKind::Symbol(own) => return Number::Value(symbols[own as usize]),
        _ => {}
    }
    let map = AffineMap::new(&ctx, dims.len() as u32, symbols.len() as u32, &[expr]);
    let attr = ctx.attr(AttrKind::AffineMap(map));
    let operands = [dims, symbols].concat();
    Number::Value(rewriter.build(before, |builder| {
        let new = builder.build(ApplyOp::DEF, &[&operands], &[("map", attr)], &[Type::INDEX]);
        builder.body().result(new, 0)
    }))
}

/// Returns the product of numbers.
fn product(rewriter: &mut Rewriter<'_>, before: Op, numbers: &[Number]) -> Number {
    let ctx = rewriter.ctx();
    let factors = (0..numbers.len() as u32).map(|i| AffineExpr::symbol(&ctx, i));
    let expr = factors.fold(AffineExpr::constant(&ctx, 1), |all, own| all.mul(&ctx, own));
    apply(rewriter, before, expr, numbers)
}

/// Returns the offsets, sizes and strides that an operation lists, each a number or an operand.
fn listed(op: OpRef<'_>) -> Option<[Vec<Number>; 3]> {
    let list = |name: &str| -> Option<Vec<Number>> {
        let mut values = op.operand_group(name).into_iter();
        let numbers = op.attr(&format!("static_{name}"))?.as_dense_ints(op.ctx())?;
        let number = |known: i64| match known {
            DYNAMIC => values.next().map(Number::Value),
            known => Some(Number::Known(known)),
        };
        numbers.into_iter().map(number).collect()
    };
    Some([list("offsets")?, list("sizes")?, list("strides")?])
}

fn subview(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let view = rewriter.body().op_ref(op);
    let [offsets, sizes, steps] = listed(view)?;
    let dropped = memref::subview_drops(view)?;
    let (source, (_, known_offset)) = (view.operand(0), view.result_type(0).strides_and_offset(&ctx)?);
    let whole = extract(rewriter, op, source)?;
    let rank = whole.strides.len();
    if [offsets.len(), sizes.len(), steps.len(), dropped.len()] != [rank; 4] {
        return None;
    }
    let strides: Vec<Number> =
        (0..rank).map(|own| product(rewriter, op, &[steps[own], whole.strides[own]])).collect();
    let offset = match known_offset {
        DYNAMIC => {
            let mut expr = AffineExpr::symbol(&ctx, 0);
            let mut numbers = vec![whole.offset];
            for (offset, stride) in offsets.iter().zip(&whole.strides) {
                let first = numbers.len() as u32;
                let term = AffineExpr::symbol(&ctx, first).mul(&ctx, AffineExpr::symbol(&ctx, first + 1));
                expr = expr.add(&ctx, term);
                numbers.extend([*offset, *stride]);
            }
            apply(rewriter, op, expr, &numbers)
        }
        known => Number::Known(known),
    };
    let kept = |all: &[Number]| -> Vec<Number> {
        all.iter().zip(&dropped).filter(|(_, dropped)| !**dropped).map(|(own, _)| *own).collect()
    };
    Some(Parts { base: whole.base, offset, sizes: kept(&sizes), strides: kept(&strides) })
}

/// The size of a group is the product of its sizes. Its stride is that of its last dimension of a
/// size other than 1.
fn collapse_shape(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let view = rewriter.body().op_ref(op);
    let groups = memref::reassociation_groups(view)?;
    let shape = view.operand_type(0).shape(&ctx)?.to_vec();
    let (strides, _) = view.result_type(0).strides_and_offset(&ctx)?;
    let (source, sizes) = (view.operand(0), view.result_type(0).shape(&ctx)?.to_vec());
    // A group of unit dimensions has a stride without meaning, which the type has to say.
    let has_meaning = |group: &Vec<usize>| group.iter().any(|dimension| shape[*dimension] != 1);
    if groups.iter().zip(&strides).any(|(group, stride)| *stride == DYNAMIC && !has_meaning(group)) {
        return None;
    }
    let whole = extract(rewriter, op, source)?;
    let mut parts = Parts { base: whole.base, offset: whole.offset, sizes: Vec::new(), strides: Vec::new() };
    for (index, group) in groups.iter().enumerate() {
        let factors: Vec<Number> = group.iter().map(|dimension| whole.sizes[*dimension]).collect();
        parts.sizes.push(match sizes[index] {
            DYNAMIC => product(rewriter, op, &factors),
            known => Number::Known(known),
        });
        let last = group.iter().rev().find(|dimension| shape[**dimension] != 1);
        parts.strides.push(last.map_or(Number::Known(strides[index]), |last| whole.strides[*last]));
    }
    Some(parts)
}

/// The stride of a dimension is the stride of its group times the sizes behind it in the group.
fn expand_shape(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let view = rewriter.body().op_ref(op);
    let groups = memref::reassociation_groups(view)?;
    let (source, shape) = (view.operand(0), view.result_type(0).shape(&ctx)?.to_vec());
    // A group with two sizes that are not known cannot be computed from the source.
    let dynamic = |group: &Vec<usize>| group.iter().filter(|own| shape[**own] == DYNAMIC).count();
    if groups.iter().any(|group| dynamic(group) > 1) {
        return None;
    }
    let whole = extract(rewriter, op, source)?;
    let mut parts = Parts { base: whole.base, offset: whole.offset, sizes: Vec::new(), strides: Vec::new() };
    for (index, group) in groups.iter().enumerate() {
        let mut known = group.iter().map(|own| shape[*own]).filter(|size| *size != DYNAMIC);
        let known = known.try_fold(1i64, i64::checked_mul)?;
        let mut sizes = Vec::with_capacity(group.len());
        for dimension in group {
            sizes.push(match shape[*dimension] {
                DYNAMIC => {
                    let divisor = AffineExpr::constant(&ctx, known);
                    let expr = AffineExpr::symbol(&ctx, 0).floordiv(&ctx, divisor);
                    apply(rewriter, op, expr, &[whole.sizes[index]])
                }
                known => Number::Known(known),
            });
        }
        for first in 0..group.len() {
            let factors = [&sizes[first + 1..], &[whole.strides[index]]].concat();
            parts.strides.push(product(rewriter, op, &factors));
        }
        parts.sizes.extend(sizes);
    }
    Some(parts)
}

/// Returns the parts of a memref that follow from the operation that makes it.
fn known_parts(rewriter: &mut Rewriter<'_>, op: Op, source: Value) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let body = rewriter.body();
    let maker = body.defining_op(source)?;
    let ty = body.value_type(source);
    if body.is(maker, memref::ReinterpretCastOp::DEF) {
        let [offsets, sizes, strides] = listed(body.op_ref(maker))?;
        let [offset] = offsets[..] else { return None };
        let inner = body.operand(maker, 0);
        let whole = extract(rewriter, op, inner)?;
        return Some(Parts { base: whole.base, offset, sizes, strides });
    }
    if body.is(maker, memref::CastOp::DEF) {
        let inner = body.operand(maker, 0);
        let (shape, (strides, offset)) = (ty.shape(&ctx)?.to_vec(), ty.strides_and_offset(&ctx)?);
        let whole = extract(rewriter, op, inner)?;
        // Both types may know a number that the other does not.
        let known = |type_knows: i64, number: Number| match type_knows {
            DYNAMIC => number,
            known => Number::Known(known),
        };
        let all = |knows: &[i64], numbers: Vec<Number>| {
            knows.iter().zip(numbers).map(|(knows, number)| known(*knows, number)).collect()
        };
        return Some(Parts {
            base: whole.base,
            offset: known(offset, whole.offset),
            sizes: all(&shape, whole.sizes),
            strides: all(&strides, whole.strides),
        });
    }
    if body.is(maker, memref::ExtractStridedMetadataOp::DEF) {
        let (sizes, strides) = (Vec::new(), Vec::new());
        return Some(Parts { base: source, offset: Number::Known(0), sizes, strides });
    }
    let makes_object = [memref::AllocOp::DEF, memref::AllocaOp::DEF, memref::GetGlobalOp::DEF]
        .iter()
        .any(|def| body.is(maker, def));
    if makes_object { object_parts(rewriter, op, maker, source) } else { None }
}

/// Returns the parts of a new object with the identity layout.
fn object_parts(rewriter: &mut Rewriter<'_>, op: Op, maker: Op, source: Value) -> Option<Parts> {
    let ctx = rewriter.ctx();
    let body = rewriter.body();
    let ty = body.value_type(source);
    let TypeKind::MemRef { shape: Some(shape), layout: None, .. } = ty.kind(&ctx) else { return None };
    let mut values = match body.is(maker, memref::GetGlobalOp::DEF) {
        true => Vec::new(),
        false => body.op_ref(maker).operand_group("dynamicSizes"),
    }
    .into_iter();
    let number = |size: &i64| match *size {
        DYNAMIC => values.next().map(Number::Value),
        known => Some(Number::Known(known)),
    };
    let sizes: Vec<Number> = shape.iter().map(number).collect::<Option<_>>()?;
    let mut strides = Vec::with_capacity(sizes.len());
    for (dimension, stride) in row_major_strides(shape)?.into_iter().enumerate() {
        strides.push(match stride {
            DYNAMIC => product(rewriter, op, &sizes[dimension + 1..]),
            known => Number::Known(known),
        });
    }
    let whole = Parts { base: source, offset: Number::Known(0), sizes: Vec::new(), strides: Vec::new() };
    let base = match sizes.len() {
        0 => source,
        _ => reinterpret(rewriter, op, &whole, scalar_type(&ctx, ty)?),
    };
    Some(Parts { base, sizes, strides, ..whole })
}
