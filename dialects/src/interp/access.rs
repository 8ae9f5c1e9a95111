//! Elements of memrefs: converts a memref and subscripts to an address, with all checks.

use loomir_ir::{Loc, OpRef, Type};

use super::affine_map::Map;
use super::code::{Decoded, Decoder, Flow, Slot, action, malformed};
use super::datum::{Cause, Datum, Dim, MemRef, Pointer};
use super::fault::Fault;
use super::layout::{Layout, type_text};
use super::machine::Machine;
use super::races::AccessKind;
use super::registers::unusable;

/// An element of a memref, at subscripts that are registers or results of a map.
#[derive(Clone, Debug)]
pub struct Access {
    memref: Slot,
    subscripts: Subscripts,
    element: Layout,
    align: u64,
    op: Box<str>,
    loc: Loc,
}

/// The subscripts of an access.
#[derive(Clone, Debug)]
pub enum Subscripts {
    /// Registers.
    Slots(Box<[Slot]>),
    /// Results of a map.
    Map(Map),
}

impl Access {
    /// Returns the access of `op` to its operand with index `memref`.
    pub fn new(
        op: OpRef<'_>,
        d: &Decoder<'_>,
        memref: usize,
        subscripts: Subscripts,
    ) -> Result<Access, Box<Fault>> {
        let slot = d.operand(op, memref)?;
        let ty = op.operand_type(memref);
        let element = element_layout(d, ty)?;
        let align = op.attr("alignment").and_then(|a| a.as_int(d.ctx())).unwrap_or(1);
        let align = u64::try_from(align).unwrap_or(1).max(1);
        Ok(Access { memref: slot, subscripts, element, align, op: op.name().into(), loc: op.loc() })
    }

    /// Returns the pointer to the element. Faults unless the subscripts are within the memref's
    /// sizes.
    #[inline]
    pub fn place(&self, m: &Machine) -> Result<Pointer, Box<Fault>> {
        let memref = memref(m, self.memref)?;
        let mut linear = memref.offset;
        match &self.subscripts {
            Subscripts::Slots(slots) => {
                if slots.len() != memref.dims.len() {
                    return Err(malformed("a subscript for each dimension"));
                }
                for (d, slot) in slots.iter().enumerate() {
                    let index = m.index(*slot, "a subscript")?;
                    linear = linear.wrapping_add(self.step(memref, d, index)?);
                }
            }
            Subscripts::Map(map) => {
                if map.num_results() != memref.dims.len() {
                    return Err(malformed("a subscript for each dimension"));
                }
                for d in 0..map.num_results() {
                    let index = map.number(m, d, "a subscript")?;
                    linear = linear.wrapping_add(self.step(memref, d, index)?);
                }
            }
        }
        let place = memref.aligned.offset(linear.wrapping_mul(self.element.size as i64));
        if self.align > 1 && !place.address.is_multiple_of(self.align) {
            return Err(misaligned(place, self.align));
        }
        Ok(place)
    }

    #[inline]
    fn step(&self, memref: &MemRef, d: usize, index: i64) -> Result<i64, Box<Fault>> {
        let Dim { size, stride } = memref.dims[d];
        if (index as u64) < size as u64 {
            return Ok(index.wrapping_mul(stride));
        }
        Err(self.out_of_bounds(d, index, size))
    }

    #[cold]
    fn out_of_bounds(&self, d: usize, index: i64, size: i64) -> Box<Fault> {
        let op = &self.op;
        Fault::undefined(format!(
            "`{op}` is out of bounds: index {index} of dimension {d}, whose size is {size}"
        ))
    }

    /// Records an access by a parallel iteration, if the run looks for races.
    #[inline]
    pub fn touch(&self, m: &mut Machine, kind: AccessKind) -> Result<(), Box<Fault>> {
        if m.looks_for_races() {
            let place = self.place(m)?;
            m.touch(place, self.element.store_size, kind, self.loc)?;
        }
        Ok(())
    }

    /// Records a store, if the run does.
    #[inline]
    fn record(&self, m: &mut Machine) -> Result<(), Box<Fault>> {
        if !m.records_stores() {
            return Ok(());
        }
        let memref = memref(m, self.memref)?;
        let (object, sizes) = (memref.aligned.object, memref.dims.iter().map(|dim| dim.size).collect());
        let element = match &self.subscripts {
            Subscripts::Slots(slots) => slots.iter().map(|slot| m.index(*slot, "a subscript")).collect(),
            Subscripts::Map(map) => (0..map.num_results()).map(|d| map.number(m, d, "a subscript")).collect(),
        };
        let element: Result<Box<[i64]>, Box<Fault>> = element;
        m.record_store(object, sizes, element?, self.loc);
        Ok(())
    }

    /// Reads the element. An uninitialized element is a fault.
    #[inline]
    pub fn load(&self, m: &Machine) -> Result<Datum, Box<Fault>> {
        let datum = m.memory.load(self.place(m)?, &self.element.repr, self.loc)?;
        match datum {
            Datum::Bits(_) => Ok(datum),
            other => self.written(other),
        }
    }

    fn written(&self, datum: Datum) -> Result<Datum, Box<Fault>> {
        match datum.find_poison() {
            Some(poison) if poison.cause == Cause::Uninitialised => {
                Err(Fault::undefined(format!("`{}` reads an element that was never written", self.op)))
            }
            _ => Ok(datum),
        }
    }

    /// Writes the element.
    #[inline]
    pub fn store(&self, m: &mut Machine, value: Slot) -> Result<(), Box<Fault>> {
        let place = self.place(m)?;
        match *m.get(value) {
            Datum::Bits(bits) => m.memory.store(place, &self.element.repr, &Datum::Bits(bits)),
            ref other => {
                let datum = other.clone();
                m.memory.store(place, &self.element.repr, &datum)
            }
        }
    }

    /// Writes a datum to the element.
    pub fn put(&self, m: &mut Machine, datum: &Datum) -> Result<(), Box<Fault>> {
        let place = self.place(m)?;
        m.memory.store(place, &self.element.repr, datum)
    }

    /// Returns pointers to `count` consecutive elements along the last dimension, from the accessed
    /// one on. Records their access, if the run looks for races.
    pub fn run(&self, m: &mut Machine, count: usize, kind: AccessKind) -> Result<Vec<Pointer>, Box<Fault>> {
        let first = self.place(m)?;
        let memref = memref(m, self.memref)?;
        let Some(last) = memref.dims.last() else { return Err(malformed("a dimension")) };
        let index = match &self.subscripts {
            Subscripts::Slots(slots) => m.index(slots[slots.len() - 1], "a subscript")?,
            Subscripts::Map(map) => map.number(m, map.num_results() - 1, "a subscript")?,
        };
        let end = index.saturating_add(count as i64 - 1);
        if end >= last.size {
            return Err(self.out_of_bounds(memref.dims.len() - 1, end, last.size));
        }
        let step = last.stride.wrapping_mul(self.element.size as i64);
        let places: Vec<Pointer> = (0..count as i64).map(|i| first.offset(i.wrapping_mul(step))).collect();
        for place in &places {
            m.touch(*place, self.element.store_size, kind, self.loc)?;
        }
        Ok(places)
    }

    /// Returns the layout of an element.
    pub fn element(&self) -> &Layout {
        &self.element
    }
}

/// Decodes an operation that reads an element into its result.
pub fn load(op: OpRef<'_>, d: &Decoder<'_>, access: Access) -> Decoded {
    let result = d.result(op, 0)?;
    Ok(action(move |m| {
        access.touch(m, AccessKind::Load)?;
        let datum = access.load(m)?;
        m.done(result, datum)
    }))
}

/// Decodes an operation that writes its first operand to an element.
pub fn store(op: OpRef<'_>, d: &Decoder<'_>, access: Access) -> Decoded {
    let value = d.operand(op, 0)?;
    Ok(action(move |m| {
        access.touch(m, AccessKind::Store)?;
        access.store(m, value)?;
        access.record(m)?;
        Ok(Flow::Next)
    }))
}

/// Returns the memref in a register.
#[inline]
pub fn memref(m: &Machine, slot: Slot) -> Result<&MemRef, Box<Fault>> {
    match m.get(slot) {
        Datum::MemRef(memref) => Ok(memref),
        other => Err(unusable(other, "the memref")),
    }
}

/// Returns the layout of an element of a memref type whose own layout is strided.
pub fn element_layout(d: &Decoder<'_>, ty: Type) -> Result<Layout, Box<Fault>> {
    let text = |what: &str| Fault::unsupported(format!("{} {what}", type_text(d.ctx(), ty)));
    let element = ty.element(d.ctx()).ok_or_else(|| text("is no memref"))?;
    if ty.shape(d.ctx()).is_some() && ty.strides_and_offset(d.ctx()).is_none() {
        return Err(text("has a layout that is not strided"));
    }
    d.layout(element)
}

/// Returns the fault of an address that breaks a promise of alignment.
#[cold]
pub fn misaligned(place: Pointer, align: u64) -> Box<Fault> {
    Fault::undefined(format!("address {:#x} is not aligned to {align} bytes", place.address))
}
