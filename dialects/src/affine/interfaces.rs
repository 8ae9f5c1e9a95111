//! Interfaces of the `affine` operations.

use loomir_ir::{AffineExpr, AffineExprKind, AttrKind, Context, OpRef, Region, Registry, TypeKind, Value};

use super::access::{map_of, memref, subscripts};
use super::parallel;
use crate::interfaces::{
    Access, Bound, Conditional, Decision, Effect, EffectKind, LoopBounds, LoopLike, MemoryAccess,
    MemoryEffects, ParallelLike, Resource, Step, Subscripts, VectorAccess,
};

/// `affine.for` as a counted loop.
struct For;

impl LoopLike for For {
    fn bounds(&self, op: OpRef<'_>) -> LoopBounds {
        let bound = |map: &str, operands: &str| {
            let map = map_of(op.ctx(), op.attr(map));
            Bound::Map(Subscripts { map, operands: op.operand_group(operands).into() })
        };
        LoopBounds {
            lower: bound("lowerBoundMap", "lowerBoundOperands"),
            upper: bound("upperBoundMap", "upperBoundOperands"),
            step: Step::Constant(op.attr("step").and_then(|a| a.as_int(op.ctx())).unwrap_or(1)),
        }
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }

    fn inits(&self, op: OpRef<'_>) -> Vec<Value> {
        op.operand_group("inits")
    }
}

/// `affine.parallel` as a loop whose iterations may run in any order.
struct AnyOrder;

impl ParallelLike for AnyOrder {
    fn dimensions(&self, op: OpRef<'_>) -> Vec<LoopBounds> {
        let (for_lower, for_upper) = parallel::bound_operands(op);
        let bound = |map, operands: &[Value]| Bound::Map(Subscripts { map, operands: operands.into() });
        let bounds = parallel::bounds(op).into_iter().zip(parallel::steps(op));
        let dimension = |((lower, upper), step)| LoopBounds {
            lower: bound(lower, &for_lower),
            upper: bound(upper, &for_upper),
            step: Step::Constant(step),
        };
        bounds.map(dimension).collect()
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }
}

/// `affine.if`.
struct If;

impl Conditional for If {
    fn decision(&self, op: OpRef<'_>) -> Option<Decision> {
        match op.attr("condition")?.kind(op.ctx()) {
            AttrKind::IntegerSet(set) => Some(Decision::Set(*set, op.operands().collect())),
            _ => None,
        }
    }
}

/// An operation that evaluates affine expressions. It has no effect, but a division by a number
/// below one is undefined.
struct Expressions;

impl MemoryEffects for Expressions {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let ctx = op.ctx();
        let entries = [op.properties(), op.attributes()].map(|attrs| attrs.entries(ctx));
        entries.concat().iter().any(|(_, attr)| match attr.kind(ctx) {
            AttrKind::AffineMap(map) => {
                map.data(ctx).results.iter().any(|expr| divides_by_unknown(ctx, *expr))
            }
            AttrKind::IntegerSet(set) => {
                set.data(ctx).constraints.iter().any(|(expr, _)| divides_by_unknown(ctx, *expr))
            }
            _ => false,
        })
    }
}

/// True if an expression divides by anything but a positive constant.
fn divides_by_unknown(ctx: &Context, expr: AffineExpr) -> bool {
    let mut found = false;
    let mut last = AffineExprKind::Constant(0);
    // In postfix order a constant divisor directly precedes its division.
    expr.visit(ctx, &mut |kind| {
        let divides = matches!(
            kind,
            AffineExprKind::Mod(..) | AffineExprKind::FloorDiv(..) | AffineExprKind::CeilDiv(..)
        );
        found |= divides && !matches!(last, AffineExprKind::Constant(1..));
        last = kind;
    });
    found
}

/// `affine.delinearize_index`. It has no effect, but a divisor below one is undefined.
struct Digits;

impl MemoryEffects for Digits {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        // If there are as many sizes as results, the first size divides nothing.
        let sizes =
            op.attr("static_basis").and_then(|basis| basis.as_dense_ints(op.ctx())).unwrap_or_default();
        let divisors = sizes.iter().rev().take(op.num_results().saturating_sub(1));
        divisors.into_iter().any(|size| *size <= 0)
    }
}

/// Loads, stores and prefetches, of one element or a vector.
struct Touch {
    kind: EffectKind,
}

impl MemoryEffects for Touch {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        vec![Effect { kind: self.kind, on: Resource::Value(memref(op)) }]
    }

    fn may_be_undefined(&self, _op: OpRef<'_>) -> bool {
        true
    }
}

impl MemoryAccess for Touch {
    fn access(&self, op: OpRef<'_>) -> Access {
        let (memref, subscripts) = subscripts(op);
        let stored = (self.kind == EffectKind::Write).then(|| op.operand(0));
        Access { memref, subscripts, stored }
    }
}

impl VectorAccess for Touch {
    fn first(&self, op: OpRef<'_>) -> Access {
        self.access(op)
    }

    fn count(&self, op: OpRef<'_>) -> Option<i64> {
        let vector = match self.kind {
            EffectKind::Write => op.operand_type(0),
            _ => op.result_type(0),
        };
        match vector.kind(op.ctx()) {
            TypeKind::Vector { shape, scalable, .. } => match (&shape[..], &scalable[..]) {
                ([count], [] | [false]) => Some(*count).filter(|count| *count > 0),
                _ => None,
            },
            _ => None,
        }
    }
}

pub(super) fn register(registry: &mut Registry) {
    use EffectKind::{Read, Write};
    for name in ["apply", "min", "max", "for", "if", "parallel"] {
        registry.attach::<dyn MemoryEffects>(&format!("affine.{name}"), Box::new(Expressions));
    }
    registry.attach_to::<dyn MemoryEffects>(crate::affine::DelinearizeIndexOp::DEF, Box::new(Digits));
    registry.attach_to::<dyn LoopLike>(crate::affine::ForOp::DEF, Box::new(For));
    registry.attach_to::<dyn ParallelLike>(crate::affine::ParallelOp::DEF, Box::new(AnyOrder));
    registry.attach_to::<dyn Conditional>(crate::affine::IfOp::DEF, Box::new(If));
    for (name, kind) in [("affine.load", Read), ("affine.store", Write)] {
        registry.attach::<dyn MemoryAccess>(name, Box::new(Touch { kind }));
        registry.attach::<dyn MemoryEffects>(name, Box::new(Touch { kind }));
    }
    for (name, kind) in
        [("affine.vector_load", Read), ("affine.vector_store", Write), ("affine.prefetch", Read)]
    {
        registry.attach::<dyn MemoryEffects>(name, Box::new(Touch { kind }));
    }
    for (name, kind) in [("affine.vector_load", Read), ("affine.vector_store", Write)] {
        registry.attach::<dyn VectorAccess>(name, Box::new(Touch { kind }));
    }
}
