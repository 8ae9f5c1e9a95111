//! The named operations: the maps of their operands and the computation at a point, as a table.

use loomir_ir::{AffineExpr, AffineMap, Builder, OpDef, OpRef, Value};

use super::attributes::{attached_maps, pair_of, rank};
use super::*;
use crate::{arith, math};

/// The meaning of a name.
pub(super) struct Named {
    pub(super) def: &'static OpDef,
    maps: Maps,
    pub(super) computation: Computation,
    /// True if operands whose type is converted are unsigned integers.
    is_unsigned: bool,
}

/// The maps of a named operation.
enum Maps {
    /// The elements of all operands at the point itself. Scalars have no subscript.
    Elementwise,
    /// Subscripts in a nest of so many loops, a list for each operand.
    Fixed(u32, &'static [&'static [Subscript]]),
    /// The maps of the attribute `indexing_maps`.
    Attribute,
    /// The subscripts of the output in the order of the attribute `permutation`.
    Permutation,
    /// The subscripts of the output except the attribute `dimensions`.
    Dropped,
}

/// A subscript of an operand.
#[derive(Clone, Copy)]
enum Subscript {
    /// The iteration of a loop.
    Loop(u32),
    /// A place in a window: `position * strides[axis] + offset * dilations[axis]`.
    Window { position: u32, offset: u32, axis: usize },
}

/// The computation at a point.
#[derive(Clone, Copy)]
pub(super) enum Computation {
    /// The input, converted.
    Copy,
    /// The output plus the product of the inputs.
    MultiplyAdd,
    /// The output combined with the first input.
    Accumulate(Combine),
    /// The inputs combined.
    Combine(Combine),
    /// A function of a float.
    Apply(&'static OpDef),
}

/// A function of two numbers: for floats, integers and booleans, where it has one.
#[derive(Clone, Copy)]
pub(super) struct Combine {
    float: &'static OpDef,
    integer: &'static OpDef,
    boolean: Option<&'static OpDef>,
}

const fn combine(float: &'static OpDef, integer: &'static OpDef) -> Combine {
    Combine { float, integer, boolean: None }
}

const ADD: Combine =
    Combine { float: arith::AddFOp::DEF, integer: arith::AddIOp::DEF, boolean: Some(arith::OrIOp::DEF) };
const MULTIPLY: Combine =
    Combine { float: arith::MulFOp::DEF, integer: arith::MulIOp::DEF, boolean: Some(arith::AndIOp::DEF) };
const SUBTRACT: Combine = combine(arith::SubFOp::DEF, arith::SubIOp::DEF);
const DIVIDE: Combine = combine(arith::DivFOp::DEF, arith::DivSIOp::DEF);
const DIVIDE_UNSIGNED: Combine = combine(arith::DivFOp::DEF, arith::DivUIOp::DEF);
const MAX: Combine = combine(arith::MaximumFOp::DEF, arith::MaxSIOp::DEF);
const MAX_UNSIGNED: Combine = combine(arith::MaximumFOp::DEF, arith::MaxUIOp::DEF);
const MIN: Combine = combine(arith::MinimumFOp::DEF, arith::MinSIOp::DEF);
const MIN_UNSIGNED: Combine = combine(arith::MinimumFOp::DEF, arith::MinUIOp::DEF);

const D0: Subscript = Subscript::Loop(0);
const D1: Subscript = Subscript::Loop(1);
const D2: Subscript = Subscript::Loop(2);
const D3: Subscript = Subscript::Loop(3);
const D4: Subscript = Subscript::Loop(4);
const D5: Subscript = Subscript::Loop(5);
const D6: Subscript = Subscript::Loop(6);

const fn window(position: u32, offset: u32, axis: usize) -> Subscript {
    Subscript::Window { position, offset, axis }
}

const fn elementwise(def: &'static OpDef, computation: Computation) -> Named {
    Named { def, maps: Maps::Elementwise, computation, is_unsigned: false }
}

const fn contraction(def: &'static OpDef, maps: Maps) -> Named {
    Named { def, maps, computation: Computation::MultiplyAdd, is_unsigned: false }
}

const fn pooling(def: &'static OpDef, nhwc: bool, combine: Combine, is_unsigned: bool) -> Named {
    let maps = if nhwc { Maps::Fixed(6, POOLING_NHWC) } else { Maps::Fixed(6, POOLING_NCHW) };
    Named { def, maps, computation: Computation::Accumulate(combine), is_unsigned }
}

const POOLING_NHWC: &[&[Subscript]] =
    &[&[D0, window(1, 4, 0), window(2, 5, 1), D3], &[D4, D5], &[D0, D1, D2, D3]];
const POOLING_NCHW: &[&[Subscript]] =
    &[&[D0, D1, window(2, 4, 0), window(3, 5, 1)], &[D4, D5], &[D0, D1, D2, D3]];

/// All named operations.
static NAMED: &[Named] = &[
    elementwise(FillOp::DEF, Computation::Copy),
    elementwise(CopyOp::DEF, Computation::Copy),
    elementwise(AddOp::DEF, Computation::Combine(ADD)),
    elementwise(SubOp::DEF, Computation::Combine(SUBTRACT)),
    elementwise(MulOp::DEF, Computation::Combine(MULTIPLY)),
    elementwise(DivOp::DEF, Computation::Combine(DIVIDE)),
    Named { is_unsigned: true, ..elementwise(DivUnsignedOp::DEF, Computation::Combine(DIVIDE_UNSIGNED)) },
    elementwise(MaxOp::DEF, Computation::Combine(MAX)),
    elementwise(MinOp::DEF, Computation::Combine(MIN)),
    elementwise(AbsOp::DEF, Computation::Apply(math::AbsFOp::DEF)),
    elementwise(CeilOp::DEF, Computation::Apply(math::CeilOp::DEF)),
    elementwise(ExpOp::DEF, Computation::Apply(math::ExpOp::DEF)),
    elementwise(FloorOp::DEF, Computation::Apply(math::FloorOp::DEF)),
    elementwise(LogOp::DEF, Computation::Apply(math::LogOp::DEF)),
    elementwise(NegFOp::DEF, Computation::Apply(arith::NegFOp::DEF)),
    elementwise(RsqrtOp::DEF, Computation::Apply(math::RsqrtOp::DEF)),
    elementwise(SqrtOp::DEF, Computation::Apply(math::SqrtOp::DEF)),
    elementwise(TanhOp::DEF, Computation::Apply(math::TanhOp::DEF)),
    contraction(DotOp::DEF, Maps::Fixed(1, &[&[D0], &[D0], &[]])),
    contraction(MatvecOp::DEF, Maps::Fixed(2, &[&[D0, D1], &[D1], &[D0]])),
    contraction(VecmatOp::DEF, Maps::Fixed(2, &[&[D1], &[D1, D0], &[D0]])),
    contraction(MatmulOp::DEF, Maps::Attribute),
    contraction(BatchMatmulOp::DEF, Maps::Attribute),
    contraction(
        Conv2dNhwcHwcfOp::DEF,
        Maps::Fixed(7, &[&[D0, window(1, 4, 0), window(2, 5, 1), D6], &[D4, D5, D6, D3], &[D0, D1, D2, D3]]),
    ),
    contraction(
        Conv2dNchwFchwOp::DEF,
        Maps::Fixed(7, &[&[D0, D4, window(2, 5, 0), window(3, 6, 1)], &[D1, D4, D5, D6], &[D0, D1, D2, D3]]),
    ),
    contraction(
        DepthwiseConv2dNhwcHwcOp::DEF,
        Maps::Fixed(6, &[&[D0, window(1, 4, 0), window(2, 5, 1), D3], &[D4, D5, D3], &[D0, D1, D2, D3]]),
    ),
    pooling(PoolingNhwcSumOp::DEF, true, ADD, false),
    pooling(PoolingNhwcMaxOp::DEF, true, MAX, false),
    pooling(PoolingNhwcMaxUnsignedOp::DEF, true, MAX_UNSIGNED, true),
    pooling(PoolingNhwcMinOp::DEF, true, MIN, false),
    pooling(PoolingNhwcMinUnsignedOp::DEF, true, MIN_UNSIGNED, true),
    pooling(PoolingNchwSumOp::DEF, false, ADD, false),
    pooling(PoolingNchwMaxOp::DEF, false, MAX, false),
    Named {
        def: TransposeOp::DEF,
        maps: Maps::Permutation,
        computation: Computation::Copy,
        is_unsigned: false,
    },
    Named { def: BroadcastOp::DEF, maps: Maps::Dropped, computation: Computation::Copy, is_unsigned: false },
];

impl Named {
    /// Returns the meaning of a definition's name.
    pub(super) fn of(def: &OpDef) -> Option<&'static Named> {
        NAMED.iter().find(|named| std::ptr::eq(named.def, def))
    }

    /// Returns the number of operands.
    pub(super) fn num_operands(&self) -> usize {
        match self.computation {
            Computation::Copy | Computation::Apply(_) => 2,
            Computation::MultiplyAdd | Computation::Accumulate(_) | Computation::Combine(_) => 3,
        }
    }

    /// Returns the map of each operand. `None` if attributes or types do not say.
    pub(super) fn maps(&self, op: OpRef<'_>) -> Option<Vec<AffineMap>> {
        let ctx = op.ctx();
        let rank = |operand: usize| rank(ctx, op.operand_type(operand)) as u32;
        let loops = || op.num_operands().checked_sub(1).map(rank);
        let dims = |dims: &[u32]| dims.iter().map(|d| AffineExpr::dim(ctx, *d)).collect::<Vec<_>>();
        match self.maps {
            Maps::Attribute => attached_maps(op),
            Maps::Fixed(loops, operands) => {
                let map = |subscripts: &&[Subscript]| {
                    let results: Vec<_> = subscripts.iter().map(|subscript| subscript.expr(op)).collect();
                    AffineMap::new(ctx, loops, 0, &results)
                };
                Some(operands.iter().map(map).collect())
            }
            Maps::Elementwise => {
                let loops = loops()?;
                let map = |operand| match rank(operand) {
                    0 => AffineMap::new(ctx, loops, 0, &[]),
                    _ => AffineMap::identity(ctx, loops),
                };
                Some((0..op.num_operands()).map(map).collect())
            }
            Maps::Permutation => {
                let loops = loops()?;
                let order = op.attr("permutation")?.as_dense_ints(ctx)?;
                let position = |d: i64| order.iter().position(|own| *own == d).map(|at| at as u32);
                let input = (0..i64::from(loops)).map(position).collect::<Option<Vec<u32>>>()?;
                let input = AffineMap::new(ctx, loops, 0, &dims(&input));
                Some(vec![input, AffineMap::identity(ctx, loops)])
            }
            Maps::Dropped => {
                let loops = loops()?;
                let dropped = op.attr("dimensions")?.as_dense_ints(ctx)?;
                let kept: Vec<u32> = (0..loops).filter(|d| !dropped.contains(&i64::from(*d))).collect();
                let input = AffineMap::new(ctx, loops, 0, &dims(&kept));
                Some(vec![input, AffineMap::identity(ctx, loops)])
            }
        }
    }

    /// Builds the computation and its terminator. Returns `None` if it has none for these types.
    pub(super) fn build(&self, b: &mut Builder<'_>, arguments: &[Value], casts_unsigned: bool) -> Option<()> {
        let is_unsigned = self.is_unsigned || casts_unsigned;
        let (output, inputs) = arguments.split_last()?;
        let ty = b.type_of(*output);
        let value = match (self.computation, inputs) {
            (Computation::Copy, [input]) => cast(b, *input, ty, is_unsigned)?,
            (Computation::MultiplyAdd, [lhs, rhs]) => {
                let lhs = cast(b, *lhs, ty, is_unsigned)?;
                let rhs = cast(b, *rhs, ty, is_unsigned)?;
                let product = MULTIPLY.build(b, lhs, rhs)?;
                ADD.build(b, *output, product)?
            }
            (Computation::Accumulate(combine), [input, _window]) => {
                let input = cast(b, *input, ty, is_unsigned)?;
                combine.build(b, *output, input)?
            }
            (Computation::Combine(combine), [lhs, rhs]) => combine.build(b, *lhs, *rhs)?,
            (Computation::Apply(def), [input]) => {
                if !b.type_of(*input).is_float(&b.ctx()) {
                    return None;
                }
                let state = b.state(def).operands(&[*input]).results(&[b.type_of(*input)]);
                b.value(state)
            }
            _ => return None,
        };
        let end = b.state(YieldOp::DEF).operands(&[value]);
        b.insert(end);
        Some(())
    }
}

impl Subscript {
    fn expr(self, op: OpRef<'_>) -> AffineExpr {
        let ctx = op.ctx();
        match self {
            Subscript::Loop(d) => AffineExpr::dim(ctx, d),
            Subscript::Window { position, offset, axis } => {
                let times = |d, attr| {
                    let factor = AffineExpr::constant(
                        ctx,
                        op.attr(attr).and_then(|attr| pair_of(ctx, attr)).map_or(1, |pair| pair[axis]),
                    );
                    AffineExpr::dim(ctx, d).mul(ctx, factor)
                };
                times(position, "strides").add(ctx, times(offset, "dilations"))
            }
        }
    }
}

impl Combine {
    fn build(self, b: &mut Builder<'_>, lhs: Value, rhs: Value) -> Option<Value> {
        let (ctx, ty) = (b.ctx(), b.type_of(lhs));
        if b.type_of(rhs) != ty {
            return None;
        }
        let def = if ty.is_float(&ctx) {
            self.float
        } else if ty == Type::I1 && self.boolean.is_some() {
            self.boolean?
        } else if ty.is_signless_integer(&ctx) || ty.is_index() {
            self.integer
        } else {
            return None;
        };
        let state = b.state(def).operands(&[lhs, rhs]).results(&[ty]);
        Some(b.value(state))
    }
}

/// Converts a number. Returns `None` if there is no conversion.
fn cast(b: &mut Builder<'_>, value: Value, to: Type, is_unsigned: bool) -> Option<Value> {
    let ctx = &b.ctx();
    let from = b.type_of(value);
    if from == to {
        return Some(value);
    }
    let width = |ty: Type| match ty.kind(ctx) {
        TypeKind::Float(kind) => Some(kind.width()),
        _ if ty.is_signless_integer(ctx) => ty.integer_width(ctx),
        _ => None,
    };
    let def = match (from.is_float(ctx), to.is_float(ctx)) {
        _ if from.is_index() && to.is_signless_integer(ctx) => arith::IndexCastOp::DEF,
        (true, true) if width(from)? < width(to)? => arith::ExtFOp::DEF,
        (true, true) if width(from)? > width(to)? => arith::TruncFOp::DEF,
        (true, true) => return None,
        _ if width(from).is_none() || width(to).is_none() => return None,
        (true, false) if is_unsigned => arith::FPToUIOp::DEF,
        (true, false) => arith::FPToSIOp::DEF,
        (false, true) if is_unsigned => arith::UIToFPOp::DEF,
        (false, true) => arith::SIToFPOp::DEF,
        (false, false) if width(from)? > width(to)? => arith::TruncIOp::DEF,
        (false, false) if is_unsigned => arith::ExtUIOp::DEF,
        (false, false) => arith::ExtSIOp::DEF,
    };
    let state = b.state(def).operands(&[value]).results(&[to]);
    Some(b.value(state))
}
