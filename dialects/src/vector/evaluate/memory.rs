//! Execution of loads and stores of vectors.
//!
//! Each element that is switched on is checked and accessed by itself, in the order of the vector.

use loomir_ir::{Attr, OpRef, TypeKind, Value};

use super::{Model, count, element, elements, places, sizes, strides};
use crate::interp::access::{element_layout, memref, misaligned};
use crate::interp::code::malformed;
use crate::interp::layout::Layout;
use crate::interp::{
    AccessKind, Cause, Datum, Decoded, Decoder, Fault, Flow, Machine, Pointer, Slot, Step, action,
};
use crate::vector::shape::VectorShape;
use crate::vector::verify::transfer::{Along, along, mask_dims};

/// The number of elements of a vector for each step of its cost.
const LANES_PER_STEP: u64 = 16;

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("load", |op, d| decode(op, d, Kind::Load, Elements::Neighbours));
    attach("store", |op, d| decode(op, d, Kind::Store, Elements::Neighbours));
    attach("maskedload", |op, d| decode(op, d, Kind::Load, Elements::Neighbours));
    attach("maskedstore", |op, d| decode(op, d, Kind::Store, Elements::Neighbours));
    attach("expandload", |op, d| decode(op, d, Kind::Load, Elements::Packed));
    attach("compressstore", |op, d| decode(op, d, Kind::Store, Elements::Packed));
    attach("gather", |op, d| decode(op, d, Kind::Load, Elements::Indexed));
    attach("scatter", |op, d| decode(op, d, Kind::Store, Elements::Indexed));
    attach("transfer_read", |op, d| decode(op, d, Kind::Load, Elements::Transferred));
    attach("transfer_write", |op, d| decode(op, d, Kind::Store, Elements::Transferred));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
}

/// The places of the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// A part of the last dimensions.
    Neighbours,
    /// Neighbours, without gaps for elements that are switched off.
    Packed,
    /// At indices in a vector.
    Indexed,
    /// Along dimensions that a map names.
    Transferred,
}

/// One element of the vector.
struct Lane {
    /// The distance from the first element in each dimension of the memref.
    steps: Box<[i64]>,
    /// The number of its element in the mask.
    mask: usize,
    /// The dimensions behind whose end the element does not exist.
    open: Box<[bool]>,
}

/// A decoded access.
struct Access {
    kind: Kind,
    elements: Elements,
    base: Slot,
    indices: Box<[Slot]>,
    mask: Option<Slot>,
    /// The indices of `gather` and `scatter`, and their width.
    places: Option<(Slot, u32)>,
    /// The stored vector, or the one with the elements that are switched off. For transfers, the
    /// padding.
    other: Option<Slot>,
    result: Option<Slot>,
    layout: Layout,
    align: u64,
    lanes: Vec<Lane>,
    name: Box<str>,
    loc: loomir_ir::Loc,
}

fn one(d: &Decoder<'_>, op: OpRef<'_>, name: &str) -> Option<Slot> {
    op.operand_group(name).first().map(|value| d.slot(*value))
}

fn decode(op: OpRef<'_>, d: &mut Decoder<'_>, kind: Kind, elements: Elements) -> Decoded {
    let ctx = d.ctx();
    let base = op.operand_group("base").first().copied().ok_or_else(|| malformed("a memref"))?;
    let base_type = op.type_of(base);
    if !matches!(base_type.kind(ctx), TypeKind::MemRef { shape: Some(_), .. }) {
        return Err(Fault::unsupported("an access to a tensor"));
    }
    let stored: Option<Value> = op.operand_group("valueToStore").first().copied();
    let ty = match kind {
        Kind::Load => op.results().next().map(|result| op.type_of(result)),
        Kind::Store => stored.map(|value| op.type_of(value)),
    };
    let ty = ty.ok_or_else(|| malformed("a vector"))?;
    let shape = VectorShape::of(ctx, ty).ok_or_else(|| malformed("a vector"))?;
    if base_type.element(ctx) != Some(shape.element) {
        return Err(Fault::unsupported("an access to a memref of other elements than those of the vector"));
    }
    let rank = base_type.shape(ctx).map_or(0, <[i64]>::len);
    let indices: Vec<Value> =
        op.operand_group(if elements == Elements::Indexed { "offsets" } else { "indices" });
    if indices.len() != rank {
        return Err(malformed("an index for each dimension"));
    }
    let align =
        op.attr("alignment").and_then(|align| u64::try_from(align.as_int(ctx)?).ok()).unwrap_or(1).max(1);
    let mut places = None;
    if elements == Elements::Indexed {
        let value = op.operand_group("indices").first().copied().ok_or_else(|| malformed("indices"))?;
        let width = crate::interp::elementwise::bit_width(ctx, op.type_of(value).scalar(ctx))?;
        places = Some((d.slot(value), width));
    }
    let other = match (kind, elements) {
        (Kind::Store, _) => "valueToStore",
        (Kind::Load, Elements::Transferred) => "padding",
        (Kind::Load, _) => "pass_thru",
    };
    let access = Access {
        kind,
        elements,
        base: d.slot(base),
        indices: d.slots(indices),
        mask: one(d, op, "mask"),
        places,
        other: one(d, op, other),
        result: if kind == Kind::Load { Some(d.result(op, 0)?) } else { None },
        layout: element_layout(d, base_type)?,
        align,
        lanes: lanes(op, d, ty, rank, elements)?,
        name: op.name().into(),
        loc: op.loc(),
    };
    Ok(action(move |m| access.execute(m)))
}

/// Returns the elements of the vector of type `ty`.
fn lanes(
    op: OpRef<'_>,
    d: &Decoder<'_>,
    ty: loomir_ir::Type,
    rank: usize,
    elements: Elements,
) -> Result<Vec<Lane>, Box<Fault>> {
    let ctx = d.ctx();
    let sizes = sizes(ctx, ty)?;
    let mut lanes = Vec::with_capacity(count(ctx, ty)?);
    if elements == Elements::Transferred {
        return transferred(op, &sizes, rank);
    }
    let mut number = 0;
    places(&sizes, |place| {
        let mut steps = vec![0; rank].into_boxed_slice();
        if elements == Elements::Neighbours {
            for (step, place) in steps.iter_mut().rev().zip(place.iter().rev()) {
                *step = *place as i64;
            }
        }
        lanes.push(Lane { steps, mask: number, open: vec![false; rank].into() });
        number += 1;
    });
    match sizes.len() > rank && elements == Elements::Neighbours {
        true => Err(malformed("a vector of at most as many dimensions")),
        false => Ok(lanes),
    }
}

/// Returns the elements of the vector of a transfer.
fn transferred(op: OpRef<'_>, sizes: &[usize], rank: usize) -> Result<Vec<Lane>, Box<Fault>> {
    let ctx = op.ctx();
    let map = op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx));
    let along = map.and_then(|map| along(ctx, map)).ok_or_else(|| malformed("a map"))?;
    let bounds = op.attr("in_bounds").and_then(|bounds| bounds.as_array(ctx)).unwrap_or_default();
    let fits = |own: &Along| !matches!(own, Along::Dim(d) if *d >= rank);
    if along.len() != sizes.len() || bounds.len() != sizes.len() || !along.iter().all(fits) {
        return Err(malformed("a map that fits"));
    }
    let mask_dims = mask_dims(&along);
    let mask_strides = strides(&mask_dims.iter().map(|place| sizes[*place]).collect::<Vec<_>>());
    let mut lanes = Vec::new();
    places(sizes, |place| {
        let (mut steps, mut open) = (vec![0; rank], vec![false; rank]);
        for (i, own) in along.iter().enumerate() {
            if let Along::Dim(d) = own {
                steps[*d] = place[i] as i64;
                open[*d] = bounds[i] != Attr::TRUE;
            }
        }
        let mask = mask_dims.iter().zip(&mask_strides).map(|(own, step)| place[*own] * step).sum();
        lanes.push(Lane { steps: steps.into(), mask, open: open.into() });
    });
    Ok(lanes)
}

impl Access {
    fn execute(&self, m: &mut Machine) -> Step {
        let starts = self.indices.iter().map(|slot| m.index(*slot, "a subscript"));
        let starts: Vec<i64> = starts.collect::<Result<_, _>>()?;
        m.spend(self.lanes.len() as u64 / LANES_PER_STEP)?;
        let other = self.other.map(|slot| m.get(slot).clone());
        let mut out = match (self.kind, &other) {
            (Kind::Store, _) => Vec::new(),
            (Kind::Load, Some(other)) if self.elements != Elements::Transferred => {
                elements(other, self.lanes.len())?
            }
            (Kind::Load, Some(other)) => vec![other.clone(); self.lanes.len()],
            (Kind::Load, None) => vec![Datum::Unset; self.lanes.len()],
        };
        let mut packed = 0;
        for (i, lane) in self.lanes.iter().enumerate() {
            if !self.is_on(m, lane)? {
                continue;
            }
            let Some(index) = self.index(m, &starts, lane, i, packed)? else { continue };
            let place = self.place(m, &index)?;
            // Of neighbours the alignment is that of the first, even if it is switched off.
            let aligned = if self.places.is_some() { place } else { self.place(m, &starts)? };
            if !aligned.address.is_multiple_of(self.align) {
                return Err(misaligned(aligned, self.align));
            }
            packed += 1;
            let access = if self.kind == Kind::Store { AccessKind::Store } else { AccessKind::Load };
            m.touch(place, self.layout.store_size, access, self.loc)?;
            if self.kind == Kind::Load {
                out[i] = self.load(m, place)?;
            } else if let Some(other) = &other {
                m.memory.store(place, &self.layout.repr, element(other, i)?)?;
                self.record(m, index)?;
            }
        }
        match self.result {
            Some(result) => m.done(result, Datum::aggregate(out)),
            None => Ok(Flow::Next),
        }
    }

    /// True if the mask switches an element on.
    fn is_on(&self, m: &Machine, lane: &Lane) -> Result<bool, Box<Fault>> {
        let Some(mask) = self.mask else { return Ok(true) };
        match element(m.get(mask), lane.mask)? {
            Datum::Bits(bits) => Ok(bits & 1 != 0),
            other => Err(crate::interp::unusable(other, "the mask")),
        }
    }

    /// Returns the subscripts of an element; for indexed elements those of the first place. `None`
    /// if the element does not exist.
    fn index(
        &self,
        m: &Machine,
        starts: &[i64],
        lane: &Lane,
        number: usize,
        packed: i64,
    ) -> Result<Option<Vec<i64>>, Box<Fault>> {
        let mut index: Vec<i64> =
            starts.iter().zip(&lane.steps).map(|(start, step)| start.saturating_add(*step)).collect();
        if let Some(last) = index.last_mut() {
            if self.elements == Elements::Packed {
                *last = last.saturating_add(packed);
            }
            if let Some((slot, width)) = self.places {
                let step = match element(m.get(slot), number)? {
                    Datum::Bits(bits) => crate::interp::integer::signed(width, (*bits).into()) as i64,
                    other => return Err(crate::interp::unusable(other, "an index of a vector")),
                };
                *last = last.saturating_add(step);
            }
        }
        let memref = memref(m, self.base)?;
        if memref.dims.len() != index.len() {
            return Err(malformed("a subscript for each dimension"));
        }
        for (d, (own, dim)) in index.iter().zip(&memref.dims).enumerate() {
            let is_last = d + 1 == index.len();
            if (0..dim.size).contains(own) || (is_last && self.places.is_some()) {
                continue;
            }
            if lane.open[d] && *own >= dim.size {
                return Ok(None);
            }
            return Err(self.out_of_bounds(d, *own, dim.size));
        }
        Ok(Some(index))
    }

    /// Returns the address of an element. The object checks that it is inside.
    fn place(&self, m: &Machine, index: &[i64]) -> Result<Pointer, Box<Fault>> {
        let memref = memref(m, self.base)?;
        let steps = index.iter().zip(&memref.dims).map(|(own, dim)| own.wrapping_mul(dim.stride));
        let linear = steps.fold(memref.offset, i64::wrapping_add);
        Ok(memref.aligned.offset(linear.wrapping_mul(self.layout.size as i64)))
    }

    fn load(&self, m: &Machine, place: Pointer) -> Result<Datum, Box<Fault>> {
        let datum = m.memory.load(place, &self.layout.repr, self.loc)?;
        match datum.find_poison() {
            Some(poison) if poison.cause == Cause::Uninitialised => {
                let message = format!("`{}` reads an element that was never written", self.name);
                Err(Fault::undefined(message))
            }
            _ => Ok(datum),
        }
    }

    fn record(&self, m: &mut Machine, index: Vec<i64>) -> Result<(), Box<Fault>> {
        if m.records_stores() {
            let memref = memref(m, self.base)?;
            let (object, sizes) = (memref.aligned.object, memref.dims.iter().map(|dim| dim.size).collect());
            m.record_store(object, sizes, index.into(), self.loc);
        }
        Ok(())
    }

    #[cold]
    fn out_of_bounds(&self, d: usize, index: i64, size: i64) -> Box<Fault> {
        let op = &self.name;
        Fault::undefined(format!(
            "`{op}` is out of bounds: index {index} of dimension {d}, whose size is {size}"
        ))
    }
}
