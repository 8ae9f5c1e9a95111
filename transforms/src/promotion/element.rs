//! Elements of memory, named by values that are defined outside a loop.

use loomir_dialects::interfaces::{MemoryAccess, Subscripts};
use loomir_dialects::{affine, memref, ub};
use loomir_ir::{Attr, AttrKind, Body, Builder, Context, Op, Type, Value};

use crate::legality::storage::value_at;

/// An element of memory.
pub(super) struct Element {
    pub(super) memref: Value,
    subscripts: Subscripts,
    is_affine: bool,
    pub(super) ty: Type,
}

impl Element {
    /// Returns the element that a load or store accesses.
    pub(super) fn of(body: &Body, op: Op) -> Option<Element> {
        let view = body.op_ref(op);
        let access = view.info().interface::<dyn MemoryAccess>()?.access(view);
        let ty = body.value_type(value_at(body, op)?);
        let is_affine = body.is(op, affine::LoadOp::DEF) || body.is(op, affine::StoreOp::DEF);
        let subscripts = access.subscripts.without_unused(view.ctx());
        Some(Element { memref: access.memref, subscripts, is_affine, ty })
    }

    /// Loads the element before `at`.
    pub(super) fn load(&self, body: &mut Body, at: Op) -> Value {
        let def = if self.is_affine { affine::LoadOp::DEF } else { memref::LoadOp::DEF };
        let mut builder = Builder::before(body, at);
        let (operands, attrs) = ([&[self.memref], &self.subscripts.operands[..]], self.attrs(&builder.ctx()));
        let load = builder.build(def, &operands, &attrs, &[self.ty]);
        body.result(load, 0)
    }

    /// Stores a value in the element before `at`.
    pub(super) fn store(&self, body: &mut Body, at: Op, value: Value) {
        let def = if self.is_affine { affine::StoreOp::DEF } else { memref::StoreOp::DEF };
        let mut builder = Builder::before(body, at);
        let attrs = self.attrs(&builder.ctx());
        builder.build(def, &[&[value], &[self.memref], &self.subscripts.operands], &attrs, &[]);
    }

    /// Returns the attributes of an access.
    fn attrs(&self, ctx: &Context) -> Vec<(&'static str, Attr)> {
        let map = || ctx.attr(AttrKind::AffineMap(self.subscripts.map));
        if self.is_affine { vec![("map", map())] } else { Vec::new() }
    }
}

/// Makes a poison value before `at`.
pub(super) fn poison(body: &mut Body, at: Op, ty: Type) -> Value {
    let mut builder = Builder::before(body, at);
    let ctx = builder.ctx();
    let state = builder.state(ub::PoisonOp::DEF).attr(&ctx, "value", ub::poison_attr(&ctx)).results(&[ty]);
    builder.value(state)
}
