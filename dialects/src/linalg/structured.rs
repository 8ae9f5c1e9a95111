//! The general form of every operation: maps, iterator types, computation.

use loomir_ir::affine::AffineExprKind;
use loomir_ir::{AffineMap, Block, OpRef, Type, TypeKind, Value};

use super::attributes::{attached_maps, element_type};
use super::named::Named;
use super::{GenericOp, ITERATOR_TYPE};

/// An operation of `linalg` in the general form of `linalg.generic`.
///
/// **Invariant.** There is one map for each operand, and all maps have one dimension for each loop
/// and no symbol.
pub struct Structured<'b> {
    op: OpRef<'b>,
    maps: Vec<AffineMap>,
    reductions: Vec<bool>,
    num_inputs: usize,
}

impl<'b> Structured<'b> {
    /// Views an operation in the general form. Returns `None` for other operations, and for those
    /// whose attributes do not fit. Linear in the operands.
    pub fn of(op: OpRef<'b>) -> Option<Self> {
        let ctx = op.ctx();
        let named = Named::of(op.def()?);
        let maps = match named {
            Some(named) if op.num_operands() == named.num_operands() => named.maps(op)?,
            None if op.is(GenericOp::DEF) => attached_maps(op)?,
            _ => return None,
        };
        let loops = match named {
            Some(_) => maps.last()?.data(ctx).dims as usize,
            None => op.attr("iterator_types")?.as_array(ctx)?.len(),
        };
        let is_regular = |map: &AffineMap| {
            let data = map.data(ctx);
            data.dims as usize == loops && data.symbols == 0
        };
        let num_inputs = match named {
            Some(named) => named.num_operands() - 1,
            None => usize::try_from(op.body().segments(op.op(), false)?.next()?).ok()?,
        };
        let is_tensor = |ty: Type| matches!(ty.kind(ctx), TypeKind::Tensor { .. });
        if num_inputs > op.num_operands()
            || maps.len() != op.num_operands()
            || !maps.iter().all(is_regular)
            || op.operands().any(|operand| is_tensor(op.type_of(operand)))
        {
            return None;
        }
        let reductions = match named {
            Some(_) => {
                let output = *maps.last()?;
                (0..loops).map(|d| !depends_on(op, output, d)).collect()
            }
            None => {
                let types = op.attr("iterator_types")?.as_array(ctx)?.iter();
                types.map(|ty| Some(ITERATOR_TYPE.value(ctx, *ty)? == 1)).collect::<Option<_>>()?
            }
        };
        Some(Structured { op, maps, reductions, num_inputs })
    }

    /// Returns the operation.
    pub fn op(&self) -> OpRef<'b> {
        self.op
    }

    /// Returns the map of each operand, inputs first: from a point to the subscripts of an element.
    pub fn maps(&self) -> &[AffineMap] {
        &self.maps
    }

    /// Returns the number of loops.
    pub fn num_loops(&self) -> usize {
        self.reductions.len()
    }

    /// True if the iterations of loop `d` run one after the other.
    pub fn is_reduction(&self, d: usize) -> bool {
        self.reductions[d]
    }

    /// Returns the number of inputs, which come before the outputs among the operands.
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Returns the block of the computation.
    pub fn block(&self) -> Option<Block> {
        self.op.body().single_block(self.op.regions().next()?)
    }

    /// Returns the argument of the computation that stands for an element of operand `index`.
    pub fn argument(&self, index: usize) -> Option<Value> {
        let (body, block) = (self.op.body(), self.block()?);
        (index < body.num_arguments(block)).then(|| body.argument(block, index))
    }

    /// True if the computation uses the element of operand `index`.
    pub fn reads(&self, index: usize) -> bool {
        self.argument(index).is_some_and(|argument| self.op.body().is_used(argument))
    }

    /// True if operand `index` is one number, and no memref.
    pub fn is_scalar(&self, index: usize) -> bool {
        self.element_type(index) == self.op.operand_type(index)
    }

    /// Returns the type of an element of operand `index`.
    pub fn element_type(&self, index: usize) -> Type {
        element_type(self.op.ctx(), self.op.operand_type(index))
    }

    /// Returns the operand and its dimension whose size is the trip count of each loop: the first
    /// that the loop's iterations are subscripts of. `None` if a loop has no such dimension.
    pub fn extents(&self) -> Option<Vec<(usize, usize)>> {
        let ctx = self.op.ctx();
        let mut extents = vec![None; self.num_loops()];
        for (operand, map) in self.maps.iter().enumerate() {
            for (dimension, expr) in map.results(ctx).iter().enumerate() {
                if let AffineExprKind::Dim(d) = expr.kind(ctx)
                    && let Some(extent) = extents.get_mut(d as usize)
                {
                    extent.get_or_insert((operand, dimension));
                }
            }
        }
        extents.into_iter().collect()
    }
}

fn depends_on(op: OpRef<'_>, map: AffineMap, d: usize) -> bool {
    let (ctx, mut depends) = (op.ctx(), false);
    for expr in map.results(ctx) {
        expr.visit(ctx, &mut |kind| depends |= matches!(kind, AffineExprKind::Dim(own) if own as usize == d));
    }
    depends
}
