//! Execution of the operations of `memref`: objects, accesses and globals here, views in [`views`].

use loomir_ir::attributes::AttrKind;
use loomir_ir::types::DYNAMIC;
use loomir_ir::{Attr, OpRef, Registry, Type};

use crate::arith::reduction::Reduction;
use crate::interp::access::{Access, Subscripts, element_layout, load, memref, store};
use crate::interp::code::malformed;
use crate::interp::constant::{dense_elements, element_bytes};
use crate::interp::external::copy_elements;
use crate::interp::layout::{DataLayout, Layout};
use crate::interp::memory::ObjectKind;
use crate::interp::mixed::Mixed;
use crate::interp::{
    AccessKind, Contents, Datum, Decoded, Decoder, DefineGlobal, Entry, Evaluate, Execute, Fault, Flow,
    GlobalDefinition, Machine, MemRef, Slot, Step, action,
};
use crate::scf::evaluate::{decode_execute_region, decode_yield};

mod views;

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded| {
        registry.attach::<dyn Evaluate>(&format!("memref.{name}"), Box::new(model));
    };
    attach("alloc", |op, d| decode_allocation(op, d, None));
    attach("alloca", |op, d| {
        let scope = d.allocation_scope(op);
        decode_allocation(op, d, Some(scope))
    });
    attach("realloc", decode_realloc);
    attach("dealloc", decode_dealloc);
    attach("load", |op, d| load(op, d, access(op, d, 0)?));
    attach("store", |op, d| store(op, d, access(op, d, 1)?));
    attach("copy", decode_copy);
    attach("get_global", decode_get_global);
    attach("atomic_rmw", decode_atomic);
    attach("generic_atomic_rmw", decode_generic_atomic);
    attach("atomic_yield", decode_yield);
    attach("alloca_scope", decode_execute_region);
    attach("alloca_scope.return", decode_yield);
    attach("prefetch", |_, _| Ok(action(|_| Ok(Flow::Next))));
    views::register(&mut attach);
    registry.attach_to::<dyn DefineGlobal>(crate::memref::GlobalOp::DEF, Box::new(Global));
}

/// The elements an object of a memref type needs, and their layout.
struct Shape {
    sizes: Mixed,
    strides: Option<Vec<i64>>,
    offset: i64,
    element: Layout,
    align: u64,
}

impl Shape {
    fn of(
        op: OpRef<'_>,
        d: &Decoder<'_>,
        ty: Type,
        sizes: impl IntoIterator<Item = loomir_ir::Value>,
    ) -> Result<Shape, Box<Fault>> {
        let element = element_layout(d, ty)?;
        let shape = ty.shape(d.ctx()).ok_or_else(|| malformed("a rank"))?;
        let (strides, offset) = ty.strides_and_offset(d.ctx()).ok_or_else(|| malformed("strides"))?;
        let identity = matches!(ty.kind(d.ctx()), loomir_ir::TypeKind::MemRef { layout: None, .. });
        if !identity && (offset == DYNAMIC || strides.contains(&DYNAMIC)) {
            return Err(Fault::unsupported("an allocation with a layout that is not static"));
        }
        let align = op.attr("alignment").and_then(|a| a.as_int(d.ctx())).and_then(|a| u64::try_from(a).ok());
        Ok(Shape {
            sizes: Mixed::fill(d, shape, sizes)?,
            strides: (!identity).then_some(strides),
            offset,
            align: align.unwrap_or(1).max(element.align),
            element,
        })
    }

    /// Returns the size of an object in bytes for these sizes, and the memref of the object.
    fn place(&self, sizes: &[i64]) -> Result<(u64, MemRef), Box<Fault>> {
        let mut dims = MemRef::dense(sizes);
        if let Some(strides) = &self.strides {
            dims.iter_mut().zip(strides).for_each(|(dim, stride)| dim.stride = *stride);
        }
        let mut last = i128::from(self.offset);
        for dim in &dims {
            last = last.saturating_add(i128::from(dim.size - 1).saturating_mul(dim.stride.into()));
        }
        let count = if sizes.contains(&0) { 0 } else { last.saturating_add(1) };
        let bytes = u64::try_from(count.saturating_mul(self.element.size.into())).unwrap_or(u64::MAX);
        let null = crate::interp::Pointer::NULL;
        Ok((bytes, MemRef { allocated: null, aligned: null, offset: self.offset, dims }))
    }
}

/// Decodes an allocation on the heap, or on the stack until a scope ends.
fn decode_allocation(op: OpRef<'_>, d: &mut Decoder<'_>, scope: Option<u32>) -> Decoded {
    let groups = d.segments(op, 2)?;
    let result = d.result(op, 0)?;
    if !groups[1].is_empty() {
        return Err(Fault::unsupported("an allocation with symbols in its layout"));
    }
    let shape = Shape::of(op, d, op.result_type(0), groups[0].iter().copied())?;
    Ok(action(move |m| {
        let sizes = shape.sizes.sizes(m)?;
        let memref = allocate(m, &shape, &sizes, scope)?;
        m.done(result, memref.into())
    }))
}

fn allocate(m: &mut Machine, shape: &Shape, sizes: &[i64], scope: Option<u32>) -> Result<MemRef, Box<Fault>> {
    let (bytes, mut memref) = shape.place(sizes)?;
    let pointer = match scope {
        Some(scope) => m.allocate_on_stack(bytes, shape.align, scope)?,
        // As `malloc` would.
        None => m.allocate(bytes, shape.align.max(16), ObjectKind::Heap)?,
    };
    (memref.allocated, memref.aligned) = (pointer, pointer);
    Ok(memref)
}

fn decode_realloc(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let shape = Shape::of(op, d, op.result_type(0), op.operands().skip(1))?;
    Ok(action(move |m| {
        let sizes = shape.sizes.sizes(m)?;
        let old = memref(m, source)?.clone();
        let new = allocate(m, &shape, &sizes, None)?;
        let kept = old.dims.first().map_or(0, |d| d.size).min(sizes.first().copied().unwrap_or(0));
        let bytes = (kept as u64).saturating_mul(shape.element.size);
        m.memory.copy(new.aligned, old.aligned.offset(old.offset * shape.element.size as i64), bytes)?;
        m.memory.free(old.allocated)?;
        m.done(result, new.into())
    }))
}

fn decode_dealloc(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let operand = d.operand(op, 0)?;
    Ok(action(move |m| {
        let allocated = memref(m, operand)?.allocated;
        m.memory.free(allocated)?;
        Ok(Flow::Next)
    }))
}

/// Returns the access to operand `memref` at the subscripts that follow it.
fn access(op: OpRef<'_>, d: &Decoder<'_>, memref: usize) -> Result<Access, Box<Fault>> {
    Access::new(op, d, memref, Subscripts::Slots(d.slots(op.operands().skip(memref + 1))))
}

fn decode_copy(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, target) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let size = element_layout(d, op.operand_type(0))?.size;
    let loc = op.loc();
    Ok(action(move |m| {
        let (from, to) = (memref(m, source)?.clone(), memref(m, target)?.clone());
        copy_elements(m, &from, &to, size)?;
        if m.looks_for_races() {
            for (memref, kind) in [(&from, AccessKind::Load), (&to, AccessKind::Store)] {
                for offset in memref.offsets() {
                    let place = memref.aligned.offset(offset.wrapping_mul(size as i64));
                    m.touch(place, size, kind, loc)?;
                }
            }
        }
        Ok(Flow::Next)
    }))
}

/// Decodes an update of an element by a reduction. Its result is the old value.
fn decode_atomic(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (value, access, result) = (d.operand(op, 0)?, access(op, d, 1)?, d.result(op, 0)?);
    let reduction = Reduction::new(d.ctx(), d.enum_value(op, "kind", u64::MAX), op.operand_type(0))?;
    Ok(action(move |m| {
        access.touch(m, AccessKind::Atomic)?;
        let old = access.load(m)?;
        let new = reduction.combine(&old, m.get(value))?;
        access.put(m, &new)?;
        m.done(result, old)
    }))
}

/// An update of an element by a region; its result is the old value, as in the lowered form.
struct GenericAtomic {
    access: Access,
    body: Entry,
    result: Slot,
}

fn decode_generic_atomic(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (body, result) = (d.region_of(op, 0)?, d.result(op, 0)?);
    if body.arguments.len() != 1 {
        return Err(malformed("one argument of its region"));
    }
    Ok(Box::new(GenericAtomic { access: access(op, d, 0)?, body, result }))
}

impl Execute for GenericAtomic {
    fn execute(&self, m: &mut Machine) -> Step {
        self.access.touch(m, AccessKind::Atomic)?;
        let old = self.access.load(m)?;
        m.begin_atomic();
        m.set(self.result, old.clone());
        m.set(self.body.arguments[0], old);
        Ok(Flow::Goto(self.body.target))
    }

    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        let [value] = *yielded else { return Err(malformed("one yielded value")) };
        self.access.store(m, value)?;
        m.end_atomic();
        Ok(Flow::Next)
    }
}

/// `memref.global`.
struct Global;

impl DefineGlobal for Global {
    fn define(&self, op: OpRef<'_>, target: &DataLayout) -> Result<GlobalDefinition, Box<Fault>> {
        let ctx = op.ctx();
        let ty = op.attr("type").and_then(|a| a.as_type(ctx)).ok_or_else(|| malformed("a type"))?;
        let shape = ty.shape(ctx).ok_or_else(|| malformed("a static shape"))?;
        let element = ty.element(ctx).ok_or_else(|| malformed("an element type"))?;
        let element = Layout::of(ctx, element, target)?;
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::try_from(*d).ok()?));
        let size =
            count.and_then(|n| n.checked_mul(element.size)).ok_or_else(|| malformed("a static shape"))?;
        let align = op.attr("alignment").and_then(|a| a.as_int(ctx)).and_then(|a| u64::try_from(a).ok());
        let contents = match op.attr("initial_value") {
            None => return Err(Fault::unsupported("a global that is defined elsewhere")),
            Some(Attr::UNIT) => Contents::Uninitialised,
            Some(value) if matches!(value.kind(ctx), AttrKind::DenseElements { .. }) => {
                Contents::Bytes(element_bytes(&dense_elements(ctx, value)?, &element)?)
            }
            Some(_) => return Err(Fault::unsupported("a global whose initial value is not dense")),
        };
        Ok(GlobalDefinition {
            size,
            align: align.unwrap_or(1).max(element.align),
            constant: op.attr("constant").is_some(),
            contents,
        })
    }
}

fn decode_get_global(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let pointer = d.address_of(op.attr("name").ok_or_else(|| malformed("a name"))?)?;
    let shape = op.result_type(0).shape(d.ctx()).ok_or_else(|| malformed("a static shape"))?;
    if shape.contains(&DYNAMIC) {
        return Err(malformed("a static shape"));
    }
    let memref = MemRef { allocated: pointer, aligned: pointer, offset: 0, dims: MemRef::dense(shape) };
    let datum = Datum::from(memref);
    Ok(action(move |m| m.done(result, datum.clone())))
}
