//! Execution of the intrinsics that access some elements of a vector.

use loomir_ir::{OpRef, Type};

use super::Model;
use crate::interp::access::misaligned;
use crate::interp::code::malformed;
use crate::interp::layout::Layout;
use crate::interp::{
    AccessKind, Datum, Decoded, Decoder, Fault, Flow, Machine, Pointer, Slot, action, unusable,
};

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("intr.masked.load", |op, d| decode_load(op, d, Places::Neighbours));
    attach("intr.masked.gather", |op, d| decode_load(op, d, Places::Each));
    attach("intr.masked.expandload", |op, d| decode_load(op, d, Places::Packed));
    attach("intr.masked.store", |op, d| decode_store(op, d, Places::Neighbours));
    attach("intr.masked.scatter", |op, d| decode_store(op, d, Places::Each));
    attach("intr.masked.compressstore", |op, d| decode_store(op, d, Places::Packed));
    attach("intr.stepvector", |op, d| {
        let (result, (count, width)) = (d.result(op, 0)?, vector(op, d, op.result_type(0))?);
        let width = width.integer_width(d.ctx()).unwrap_or(64);
        let datum = Datum::aggregate((0..count as u128).map(|i| Datum::bits(width, i)).collect());
        Ok(action(move |m| m.done(result, datum.clone())))
    });
    attach("intr.vector.interleave2", |op, d| {
        let (a, b, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
        let (count, _) = vector(op, d, op.operand_type(0))?;
        Ok(action(move |m| {
            let all = (0..2 * count).map(|i| part(m.get(if i % 2 == 0 { a } else { b }), i / 2).cloned());
            let datum = Datum::aggregate(all.collect::<Result<_, _>>()?);
            m.done(result, datum)
        }))
    });
}

/// The places of the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    /// Neighbours, with gaps for elements that are switched off.
    Neighbours,
    /// Neighbours.
    Packed,
    /// A pointer for each.
    Each,
}

/// Returns the length of a vector of fixed length, and the type of its elements.
fn vector(_: OpRef<'_>, d: &Decoder<'_>, ty: Type) -> Result<(usize, Type), Box<Fault>> {
    match ty.kind(d.ctx()) {
        loomir_ir::TypeKind::Vector { shape, scalable, element } => match (&shape[..], &scalable[..]) {
            ([size @ 0..=0x10_0000], [false]) => Ok((*size as usize, *element)),
            _ => Err(Fault::unsupported("a vector of this size")),
        },
        _ => Err(malformed("a vector")),
    }
}

/// Returns an element of a vector. The elements of poison are poison.
fn part(vector: &Datum, index: usize) -> Result<&Datum, Box<Fault>> {
    match vector {
        Datum::Aggregate(parts) => parts.get(index).ok_or_else(|| malformed("a vector of its type")),
        Datum::Poison(_) => Ok(vector),
        other => Err(unusable(other, "a vector")),
    }
}

/// A decoded access.
struct Access {
    places: Places,
    address: Slot,
    mask: Slot,
    count: usize,
    element: Layout,
    align: u64,
    loc: loomir_ir::Loc,
}

impl Access {
    fn new(
        op: OpRef<'_>,
        d: &Decoder<'_>,
        places: Places,
        ty: Type,
        [address, mask]: [usize; 2],
    ) -> Result<Access, Box<Fault>> {
        let (count, element) = vector(op, d, ty)?;
        let element = d.layout(element)?;
        if places == Places::Neighbours && !element.fills_its_bytes() || element.size != element.store_size {
            return Err(Fault::unsupported("a masked access to elements that do not fill their bytes"));
        }
        let align = op.attr("alignment").and_then(|align| u64::try_from(align.as_int(d.ctx())?).ok());
        Ok(Access {
            places,
            address: d.operand(op, address)?,
            mask: d.operand(op, mask)?,
            count,
            element,
            align: align.unwrap_or(1).max(1),
            loc: op.loc(),
        })
    }

    /// Returns the address of each element that is switched on.
    fn on(&self, m: &Machine, what: &str) -> Result<Vec<(usize, Pointer)>, Box<Fault>> {
        let mut all = Vec::new();
        for i in 0..self.count {
            match part(m.get(self.mask), i)? {
                Datum::Bits(bits) if bits & 1 == 0 => continue,
                Datum::Bits(_) => {}
                other => return Err(unusable(other, "the mask")),
            }
            let place = match self.places {
                Places::Each => match part(m.get(self.address), i)? {
                    Datum::Pointer { object, address } => Pointer { object: *object, address: *address },
                    other => return Err(unusable(other, what)),
                },
                _ => m.pointer(self.address, what)?,
            };
            if !place.address.is_multiple_of(self.align) {
                return Err(misaligned(place, self.align));
            }
            let step = match self.places {
                Places::Each => 0,
                Places::Neighbours => i,
                Places::Packed => all.len(),
            };
            all.push((i, place.offset((step as i64).wrapping_mul(self.element.size as i64))));
        }
        Ok(all)
    }
}

fn decode_load(op: OpRef<'_>, d: &mut Decoder<'_>, places: Places) -> Decoded {
    let result = d.result(op, 0)?;
    let access = Access::new(op, d, places, op.result_type(0), [0, 1])?;
    let passed = op.operands().nth(2).map(|value| d.slot(value));
    let (count, loc) = (access.count, op.loc());
    Ok(action(move |m| {
        let mut all = match passed {
            Some(passed) => {
                (0..count).map(|i| part(m.get(passed), i).cloned()).collect::<Result<Vec<_>, _>>()?
            }
            None => vec![Datum::poison(crate::interp::Cause::Explicit, loc); count],
        };
        for (i, place) in access.on(m, "the address read")? {
            all[i] = m.memory.load(place, &access.element.repr, access.loc)?;
            m.touch(place, access.element.store_size, AccessKind::Load, access.loc)?;
        }
        m.done(result, Datum::aggregate(all))
    }))
}

fn decode_store(op: OpRef<'_>, d: &mut Decoder<'_>, places: Places) -> Decoded {
    let value = d.operand(op, 0)?;
    let access = Access::new(op, d, places, op.operand_type(0), [1, 2])?;
    Ok(action(move |m| {
        for (i, place) in access.on(m, "the address written")? {
            let datum = part(m.get(value), i)?.clone();
            m.memory.store(place, &access.element.repr, &datum)?;
            m.touch(place, access.element.store_size, AccessKind::Store, access.loc)?;
        }
        Ok(Flow::Next)
    }))
}
