//! Accesses as linear addresses: one form for the distance from the start of a memref's memory, in
//! elements.
//!
//! Views that keep the start (subviews, casts, other shapes of the same elements) are followed to
//! their source. An element therefore has one name whatever view names it. Strides must be
//! constants; the offset of a view may be any form. For other accesses only the object is known.

use loomir_dialects::interfaces::{self, ViewLike};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::memref::{
    CastOp, CollapseShapeOp, ExpandShapeOp, MemorySpaceCastOp, ReinterpretCastOp, SubViewOp, TransposeOp,
};
use loomir_ir::opdef::OpDef;
use loomir_ir::{Body, DYNAMIC, Op, TypeKind, Value};

use super::digits::{Digits, summed};
use super::{Accesses, Elements, Site};
use crate::access::pointers::{self, Bytes};
use crate::affine::{AffineForm, Forms};

/// At an address.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

/// Views with the elements of their source, counted from the same place in memory.
static VIEWS: [&OpDef; 7] = [
    CastOp::DEF,
    MemorySpaceCastOp::DEF,
    SubViewOp::DEF,
    ReinterpretCastOp::DEF,
    ExpandShapeOp::DEF,
    CollapseShapeOp::DEF,
    TransposeOp::DEF,
];

impl Accesses for Linear {
    fn locate(&self, site: &mut Site<'_, '_>) -> Option<Elements> {
        let access = site.access?;
        let origin = whole(site.body, access.memref);
        let address = summed(&address(site, access, origin)?)?;
        Some(Elements::plain(origin, vec![Some(address)]))
    }

    fn locate_bytes(&self, site: &mut Site<'_, '_>, bytes: Bytes, layout: &DataLayout) -> Option<Elements> {
        let distance = pointers::distance(site.body, site.forms, bytes.pointer, layout)?;
        if !site.is_one(site.origin) {
            return None;
        }
        let form = summed(&distance.iter().map(|term| term.as_multiple(bytes.unit)).collect::<Vec<_>>())?;
        Some(Elements::plain(site.origin, vec![Some(form)]))
    }
}

/// Returns the subscripts that an access through a view has in the view's source, if its address
/// there determines them.
pub(super) fn of_view(site: &mut Site<'_, '_>, access: &interfaces::Access) -> Option<Elements> {
    let (body, origin) = (site.body, whole(site.body, access.memref));
    if origin == site.origin {
        return None;
    }
    let TypeKind::MemRef { shape: Some(shape), layout: None, .. } = body.value_type(origin).kind(body.ctx())
    else {
        return None;
    };
    let sizes = shape.get(1..).filter(|sizes| !sizes.contains(&DYNAMIC))?;
    let address = address(site, access, origin)?;
    // An access outside of the view is undefined.
    let subscripts = site.forms.of_accessed(&access.subscripts).into_iter().flatten();
    let shape = body.value_type(access.memref).shape(body.ctx()).unwrap_or_default();
    let mut inside = Vec::new();
    for (subscript, size) in subscripts.zip(shape).filter(|(_, size)| **size != DYNAMIC) {
        inside.extend(AffineForm::constant(size - 1).minus(&subscript));
        inside.push(subscript);
    }
    let found = Digits::of_sum(site, address, sizes, &inside)?;
    Some(Elements::plain(origin, found.digits.into_iter().map(Some).collect()))
}

/// Returns the source memref of a view, or of a view of a view.
fn whole(body: &Body, memref: Value) -> Value {
    std::iter::successors(Some(memref), |view| source(body, *view)).last().unwrap_or(memref)
}

/// Returns the distance of an access from the start of the memory of `origin`, as a sum of
/// multiples.
fn address(
    site: &mut Site<'_, '_>,
    access: &interfaces::Access,
    origin: Value,
) -> Option<Vec<(i64, AffineForm)>> {
    if !site.is_one(origin) {
        return None;
    }
    let memref = access.memref;
    let subscripts = site.forms.of_accessed(&access.subscripts);
    let mut sum = beginning(site.body, site.forms, memref)?;
    add_strides(site.body, &mut sum, memref, subscripts)?;
    Some(sum)
}

/// Returns the source of a view, if both count from the same start.
fn source(body: &Body, view: Value) -> Option<Value> {
    let op = body.defining_op(view).filter(|op| VIEWS.iter().any(|def| body.is(*op, def)))?;
    let op = body.op_ref(op);
    Some(op.info().interface::<dyn ViewLike>()?.source(op))
}

/// Returns the address of the element of a memref whose subscripts are all 0.
fn beginning(body: &Body, forms: &mut Forms<'_>, memref: Value) -> Option<Vec<(i64, AffineForm)>> {
    let (mut sum, mut view) = (Vec::new(), memref);
    loop {
        let (_, offset) = body.value_type(view).strides_and_offset(body.ctx())?;
        if offset != DYNAMIC {
            sum.push((offset, AffineForm::constant(1)));
            return Some(sum);
        }
        let (op, from) = (body.defining_op(view)?, source(body, view)?);
        if body.is(op, SubViewOp::DEF) {
            add_strides(body, &mut sum, from, offsets(body, forms, op)?)?;
        } else if body.is(op, ReinterpretCastOp::DEF) {
            // The offset counts from the beginning of the memory, not from the beginning of the
            // source.
            sum.push((1, offsets(body, forms, op)?.into_iter().next()??));
            return Some(sum);
        }
        view = from;
    }
}

/// Returns the offsets of a view, both constants and values.
fn offsets(body: &Body, forms: &mut Forms<'_>, op: Op) -> Option<Vec<Option<AffineForm>>> {
    let view = body.op_ref(op);
    let numbers = view.attr("static_offsets")?.as_dense_ints(body.ctx())?;
    let mut values = view.operand_group("offsets").into_iter();
    let offset = |number: i64| match number {
        DYNAMIC => forms.of(values.next()?),
        number => Some(AffineForm::constant(number)),
    };
    Some(numbers.into_iter().map(offset).collect())
}

/// Adds each subscript times the stride of its dimension. `None` if a stride or subscript is
/// unknown.
fn add_strides(
    body: &Body,
    sum: &mut Vec<(i64, AffineForm)>,
    memref: Value,
    subscripts: Vec<Option<AffineForm>>,
) -> Option<()> {
    let (strides, _) = body.value_type(memref).strides_and_offset(body.ctx())?;
    for (stride, subscript) in strides.into_iter().zip(subscripts) {
        sum.push((Some(stride).filter(|stride| *stride != DYNAMIC)?, subscript?));
    }
    Some(())
}
