//! Execution of memory accesses, and of comparisons and conversions of addresses.

use loomir_ir::{OpRef, Type};

use super::{Model, address, promises};
use crate::arith::evaluate::compare_integers;
use crate::arith::reduction::Reduction;
use crate::interp::access::misaligned;
use crate::interp::code::malformed;
use crate::interp::elementwise::{binary, bit_width, map};
use crate::interp::external::copy_bytes;
use crate::interp::float::{Format, with_format};
use crate::interp::integer::{Trouble, compare};
use crate::interp::layout::Layout;
use crate::interp::memory::ObjectKind;
use crate::interp::unusable;
use crate::interp::{
    AccessKind, Action, Cause, Datum, Decoded, Decoder, Fault, Flow, Machine, Pointer, Slot, action,
};
use crate::llvm::LifetimeStartOp;
use crate::llvm::arithmetic::SAME_SIGN;
use crate::llvm::types::is_pointer;

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("alloca", decode_alloca);
    attach("getelementptr", address::decode);
    attach("load", decode_load);
    attach("store", decode_store);
    attach("atomicrmw", decode_atomic);
    attach("cmpxchg", decode_compare_exchange);
    attach("fence", |_, _| Ok(action(|_| Ok(Flow::Next))));
    attach("intr.memcpy", |op, d| decode_copy(op, d, false));
    attach("intr.memcpy.inline", |op, d| decode_copy(op, d, false));
    attach("intr.memmove", |op, d| decode_copy(op, d, true));
    attach("intr.memset", decode_set);
    attach("intr.prefetch", |_, _| Ok(action(|_| Ok(Flow::Next))));
    attach("intr.lifetime.start", |op, d| decode_lifetime(op, d, true));
    attach("intr.lifetime.end", |op, d| decode_lifetime(op, d, false));
    attach("intr.stacksave", |op, d| {
        let result = d.result(op, 0)?;
        Ok(action(move |m| {
            let depth = m.stack_depth() as u64;
            m.done(result, Pointer { address: depth, ..Pointer::NULL }.into())
        }))
    });
    attach("intr.stackrestore", |op, d| {
        let saved = d.operand(op, 0)?;
        Ok(action(move |m| {
            let depth = m.pointer(saved, "the state of the stack")?.address;
            m.unwind_stack(depth as usize)?;
            Ok(Flow::Next)
        }))
    });
}

/// Returns the alignment that an access needs: the stated alignment, or else the type's.
fn alignment(op: OpRef<'_>, d: &Decoder<'_>, layout: &Layout) -> u64 {
    let stated = op.attr("alignment").and_then(|a| a.as_int(d.ctx())).and_then(|a| u64::try_from(a).ok());
    stated.filter(|a| *a > 0).unwrap_or(layout.align)
}

fn decode_alloca(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (count, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let ty = op.attr("elem_type").and_then(|a| a.as_type(d.ctx())).ok_or_else(|| malformed("a type"))?;
    let layout = d.layout(ty)?;
    let (align, scope) = (alignment(op, d, &layout), d.allocation_scope(op));
    // An object with a later `lifetime.start` is not alive yet.
    let begins = |user: loomir_ir::Op| op.body().is(user, LifetimeStartOp::DEF);
    let waits = op.body().uses(op.result(0)).any(|user| begins(user.op));
    Ok(action(move |m| {
        let count = m.index(count, "the size of an allocation")? as u64;
        let pointer = m.allocate_on_stack(count.saturating_mul(layout.size), align, scope)?;
        if waits {
            m.memory.set_alive(pointer, false);
        }
        m.done(result, pointer.into())
    }))
}

/// Decodes the start or end of an object's life, if the operand is the address of a stack object.
fn decode_lifetime(op: OpRef<'_>, d: &mut Decoder<'_>, begins: bool) -> Decoded {
    let object = d.operand(op, op.num_operands().saturating_sub(1))?;
    Ok(action(move |m| {
        if let Datum::Pointer { object, address } = *m.get(object) {
            let size = m.memory.set_alive(Pointer { object, address }, begins);
            m.spend(size / 64)?;
        }
        Ok(Flow::Next)
    }))
}

/// Returns an access of `size` bytes at an address. A run that looks for races records it.
fn recorded(
    op: OpRef<'_>,
    d: &Decoder<'_>,
    (address, size): (Slot, u64),
    plain: AccessKind,
    access: Action,
) -> Decoded {
    if !d.looks_for_races() {
        return Ok(access);
    }
    let is_plain = d.enum_value(op, "ordering", 0) == 0;
    let (kind, loc) = (if is_plain { plain } else { AccessKind::Atomic }, op.loc());
    Ok(action(move |m| {
        let flow = access.execute(m)?;
        let place = m.pointer(address, "the address")?;
        m.touch(place, size, kind, loc)?;
        Ok(flow)
    }))
}

fn decode_load(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (address, result, loc) = (d.operand(op, 0)?, d.result(op, 0)?, op.loc());
    let layout = d.layout(op.result_type(0))?;
    let (align, size, repr) = (alignment(op, d, &layout), layout.store_size, layout.repr);
    let load = move |m: &mut Machine| {
        let place = m.pointer(address, "the address read")?;
        if !place.address.is_multiple_of(align) {
            return Err(misaligned(place, align));
        }
        m.memory.load(place, &repr, loc)
    };
    if let Some(promises) = promises::Promises::of_load(op, d) {
        let load = action(move |m| {
            let datum = load(m)?;
            let datum = promises.keep(m, &datum, "the loaded value", loc)?;
            m.done(result, datum)
        });
        return recorded(op, d, (address, size), AccessKind::Load, load);
    }
    let load = action(move |m| {
        let datum = load(m)?;
        m.done(result, datum)
    });
    recorded(op, d, (address, size), AccessKind::Load, load)
}

fn decode_store(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (value, address) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let layout = d.layout(op.operand_type(0))?;
    let (align, size, repr) = (alignment(op, d, &layout), layout.store_size, layout.repr);
    let store = action(move |m| {
        let place = m.pointer(address, "the address written")?;
        if !place.address.is_multiple_of(align) {
            return Err(misaligned(place, align));
        }
        let datum = m.get(value).clone();
        m.memory.store(place, &repr, &datum)?;
        Ok(Flow::Next)
    });
    recorded(op, d, (address, size), AccessKind::Store, store)
}

/// The function of an atomic update on the value in memory and its operand.
enum Update {
    /// As a reduction combines them.
    Reduce(Reduction),
    /// Arithmetic on bits of a width.
    Bits(u32, fn(u128, u128) -> u128),
}

impl Update {
    fn apply(&self, old: &Datum, value: &Datum) -> Result<Datum, Box<Fault>> {
        match self {
            Update::Reduce(reduction) => reduction.combine(old, value),
            Update::Bits(width, f) => map([old, value], |operands| match operands {
                [Datum::Poison(poison), _] | [_, Datum::Poison(poison)] => Ok(Datum::Poison(*poison)),
                [a, b] => match (a.as_bits(), b.as_bits()) {
                    (Some(a), Some(b)) => Ok(Datum::bits(*width, f(a, b))),
                    _ => Err(unusable(a, "a number")),
                },
            }),
        }
    }
}

/// Decodes an atomic update. Its result is the old value.
fn decode_atomic(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (address, value, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let (ty, loc) = (op.operand_type(1), op.loc());
    let layout = d.layout(ty)?;
    let (align, size) = (alignment(op, d, &layout), layout.store_size);
    let update = decode_update(op, d, ty)?;
    let update = action(move |m| {
        let place = m.pointer(address, "the address updated")?;
        if !place.address.is_multiple_of(align) {
            return Err(misaligned(place, align));
        }
        let old = m.memory.load(place, &layout.repr, loc)?;
        let new = match &update {
            Some(update) => update.apply(&old, m.get(value))?,
            None => m.get(value).clone(),
        };
        m.memory.store(place, &layout.repr, &new)?;
        m.done(result, old)
    });
    recorded(op, d, (address, size), AccessKind::Atomic, update)
}

/// Returns the update that `bin_op` names. `None` if the operand replaces the old value.
fn decode_update(op: OpRef<'_>, d: &Decoder<'_>, ty: Type) -> Result<Option<Update>, Box<Fault>> {
    let bits = |f| Ok(Some(Update::Bits(bit_width(d.ctx(), ty.scalar(d.ctx()))?, f)));
    // The reduction has the number of the corresponding kind in `arith`.
    let kind = match d.enum_value(op, "bin_op", u64::MAX) {
        0 => return Ok(None),
        1 => 1,
        2 => return bits(|a, b| a.wrapping_sub(b)),
        3 => 2,
        4 => return bits(|a, b| !(a & b)),
        5 => 14,
        6 => 15,
        7 => 6,
        8 => 10,
        9 => 7,
        10 => 11,
        11 => 0,
        12 => {
            return with_format!(d.ctx(), ty.scalar(d.ctx()), F => bits(|a, b| F::write(F::read(a) - F::read(b))));
        }
        13 => 5,
        14 => 9,
        15 => return bits(|a, b| if a >= b { 0 } else { a + 1 }),
        16 => return bits(|a, b| if a == 0 || a > b { b } else { a - 1 }),
        17 => return bits(|a, b| if a >= b { a - b } else { a }),
        18 => return bits(|a, b| a.saturating_sub(b)),
        19 => 4,
        20 => 8,
        _ => return Err(Fault::unsupported("an atomic update of this kind")),
    };
    Ok(Some(Update::Reduce(Reduction::new(d.ctx(), kind, ty)?)))
}

/// Decodes a compare-and-exchange. Its results are the old value, and true if it was the expected
/// one.
fn decode_compare_exchange(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (address, result, loc) = (d.operand(op, 0)?, d.result(op, 0)?, op.loc());
    let (expected, value) = (d.operand(op, 1)?, d.operand(op, 2)?);
    let layout = d.layout(op.operand_type(2))?;
    let (align, size) = (alignment(op, d, &layout), layout.store_size);
    let exchange = action(move |m| {
        let place = m.pointer(address, "the address updated")?;
        if !place.address.is_multiple_of(align) {
            return Err(misaligned(place, align));
        }
        let old = m.memory.load(place, &layout.repr, loc)?;
        let is_equal = match (&old, m.get(expected)) {
            (Datum::Pointer { address: a, .. }, Datum::Pointer { address: b, .. }) => a == b,
            (a, b) => match (a.as_bits(), b.as_bits()) {
                (Some(a), Some(b)) => a == b,
                (None, _) => return Err(unusable(a, "the value exchanged")),
                (_, None) => return Err(unusable(b, "the value expected")),
            },
        };
        if is_equal {
            let value = m.get(value).clone();
            m.memory.store(place, &layout.repr, &value)?;
        }
        m.done(result, Datum::aggregate(vec![old, Datum::bool(is_equal)]))
    });
    recorded(op, d, (address, size), AccessKind::Atomic, exchange)
}

fn decode_copy(op: OpRef<'_>, d: &mut Decoder<'_>, may_overlap: bool) -> Decoded {
    let (to, from) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let fixed = op.attr("len").and_then(|a| a.as_int(d.ctx()));
    let length = if fixed.is_some() { None } else { Some(d.operand(op, 2)?) };
    let loc = op.loc();
    let copy = action(move |m| {
        let length = match length {
            Some(slot) => m.index(slot, "the number of bytes copied")?,
            None => fixed.unwrap_or(0),
        };
        if length == 0 {
            return Ok(Flow::Next);
        }
        let (to, from) = (m.pointer(to, "the address written")?, m.pointer(from, "the address read")?);
        copy_bytes(m, to, from, length as u64, may_overlap)?;
        m.touch(from, length as u64, AccessKind::Load, loc)?;
        m.touch(to, length as u64, AccessKind::Store, loc)?;
        Ok(Flow::Next)
    });
    promises::kept(op, d, &[to, from], copy)
}

fn decode_set(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (to, value, length) = (d.operand(op, 0)?, d.operand(op, 1)?, d.operand(op, 2)?);
    let loc = op.loc();
    let set = action(move |m| {
        let length = m.index(length, "the number of bytes written")? as u64;
        if length == 0 {
            return Ok(Flow::Next);
        }
        let to = m.pointer(to, "the address written")?;
        let byte = match m.get(value) {
            Datum::Bits(bits) => Some(*bits as u8),
            Datum::Poison(_) => None,
            other => return Err(unusable(other, "the byte written")),
        };
        m.spend(length / 64)?;
        m.memory.fill(to, byte, length)?;
        m.touch(to, length, AccessKind::Store, loc)?;
        Ok(Flow::Next)
    });
    promises::kept(op, d, &[to], set)
}

/// Decodes a comparison of integers or of addresses.
pub(super) fn decode_compare(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (a, b, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let holds = compare(d.enum_value(op, "predicate", u64::MAX)).ok_or_else(|| malformed("a predicate"))?;
    let scalar = op.operand_type(0).scalar(d.ctx());
    if !is_pointer(d.ctx(), scalar) {
        if op.attr(SAME_SIGN).is_none() {
            return compare_integers(op, d, "predicate");
        }
        let width = bit_width(d.ctx(), scalar)?;
        return binary(op, d, move |a, b| match (a ^ b) >> (width - 1) & 1 {
            0 => Ok(holds(width, a, b).into()),
            _ => Err(Trouble::Poison(Cause::DifferentSigns)),
        });
    }
    Ok(action(move |m| {
        let datum = map([m.get(a), m.get(b)], |operands| match operands {
            [Datum::Pointer { address: x, object: a }, Datum::Pointer { address: y, object: b }] => {
                let is_block = |of| matches!(m.memory.kind(of), Some(ObjectKind::Block { .. }));
                if *x != 0 && *y != 0 && (is_block(*a) || is_block(*b)) {
                    return Err(Fault::unsupported("a comparison of the address of a block"));
                }
                Ok(Datum::bool(holds(64, (*x).into(), (*y).into())))
            }
            [Datum::Poison(poison), _] | [_, Datum::Poison(poison)] => Ok(Datum::Poison(*poison)),
            [other, _] => Err(unusable(other, "an address compared")),
        })?;
        m.done(result, datum)
    }))
}

/// Decodes a conversion of an address to a pointer, which may access the object at the address.
pub(super) fn decode_int_to_pointer(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    Ok(action(move |m| {
        let datum = map([m.get(operand)], |[x]| match x {
            Datum::Poison(_) => Ok(x.clone()),
            _ => match x.as_bits() {
                Some(bits) => Ok(m.memory.pointer_at(bits as u64).into()),
                None => Err(unusable(x, "an address")),
            },
        })?;
        m.done(result, datum)
    }))
}

/// Decodes the conversion of a pointer to its address.
pub(super) fn decode_pointer_to_int(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let width = bit_width(d.ctx(), op.result_type(0).scalar(d.ctx()))?;
    Ok(action(move |m| {
        let datum = map([m.get(operand)], |[x]| match x {
            Datum::Pointer { address, .. } => Ok(Datum::bits(width, (*address).into())),
            Datum::Poison(_) => Ok(x.clone()),
            other => Err(unusable(other, "a pointer")),
        })?;
        m.done(result, datum)
    }))
}
