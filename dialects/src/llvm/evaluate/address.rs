//! Execution of address computations, one address or a vector of addresses.
//!
//! The promises of the flags apply to every step: to each index times its bytes, to their sums, and
//! to the address after each step. Consecutive constant indices of one sign are one step, because
//! the last address then implies the others.

use loomir_ir::{Loc, OpRef};

use crate::interp::elementwise::bit_width;
use crate::interp::integer::signed;
use crate::interp::{Cause, Datum, Decoded, Decoder, Fault, Machine, Pointer, Slot, action, unusable};
use crate::llvm::memory::address::{Index, steps};
use crate::llvm::types::{LlvmType, is_pointer};

/// One summand of an address.
#[derive(Clone, Copy)]
enum Step {
    /// A constant number of bytes.
    Fixed(i64),
    /// A register of `width` bits, read as signed, times `bytes` bytes.
    Scaled { slot: Slot, width: u32, bytes: i64 },
}

/// An address computation.
struct Address {
    steps: Vec<Step>,
    in_bounds: bool,
    no_signed_wrap: bool,
    no_unsigned_wrap: bool,
    loc: Loc,
}

/// `llvm.getelementptr`.
pub(super) fn decode(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (base, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    if let Some(LlvmType::Pointer { space }) = LlvmType::of(d.ctx(), op.result_type(0).scalar(d.ctx())) {
        d.check_address_space(space)?;
    }
    let flags = d.enum_value(op, "noWrapFlags", 0);
    let address = Address {
        steps: decode_steps(op, d)?,
        in_bounds: flags & 1 != 0,
        no_signed_wrap: flags & 3 != 0,
        no_unsigned_wrap: flags & 4 != 0,
        loc: op.loc(),
    };
    if is_pointer(d.ctx(), op.result_type(0)) {
        return Ok(action(move |m| {
            let datum = address.of(m, m.get(base), None)?;
            m.done(result, datum)
        }));
    }
    let count = op.result_type(0).shape(d.ctx()).and_then(|shape| usize::try_from(*shape.first()?).ok());
    let count = count.ok_or_else(|| Fault::unsupported("addresses of scalable vectors"))?;
    Ok(action(move |m| {
        let addresses = (0..count).map(|lane| address.of(m, m.get(base), Some(lane)));
        let addresses = addresses.collect::<Result<_, _>>()?;
        m.done(result, Datum::aggregate(addresses))
    }))
}

fn decode_steps(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Vec<Step>, Box<Fault>> {
    let mut all: Vec<Step> = Vec::new();
    for (index, bytes) in steps(op, d.data_layout())? {
        match index {
            Index::Constant(number) => {
                let bytes = number.wrapping_mul(bytes);
                match all.last_mut() {
                    Some(Step::Fixed(before)) if (*before < 0) == (bytes < 0) => {
                        *before = before.wrapping_add(bytes);
                    }
                    _ => all.push(Step::Fixed(bytes)),
                }
            }
            Index::Value(value) => {
                let width = bit_width(d.ctx(), op.type_of(value).scalar(d.ctx()))?;
                all.push(Step::Scaled { slot: d.slot(value), width, bytes });
            }
        }
    }
    Ok(all)
}

/// Returns the datum of a lane. A scalar is the same in each lane.
fn lane(datum: &Datum, lane: Option<usize>) -> &Datum {
    match (datum, lane) {
        (Datum::Aggregate(parts), Some(lane)) => parts.get(lane).unwrap_or(datum),
        _ => datum,
    }
}

impl Address {
    /// Returns the address for a lane of `base`, or poison.
    #[inline]
    fn of(&self, m: &Machine, base: &Datum, at: Option<usize>) -> Result<Datum, Box<Fault>> {
        let mut place = match lane(base, at) {
            Datum::Pointer { object, address } => Pointer { object: *object, address: *address },
            Datum::Poison(poison) => return Ok(Datum::Poison(*poison)),
            other => return Err(unusable(other, "the base of an address")),
        };
        let mut offset = 0i64;
        for step in &self.steps {
            let (index, bytes, fits) = match *step {
                Step::Fixed(bytes) => (1, bytes, true),
                Step::Scaled { slot, width, bytes } => match lane(m.get(slot), at) {
                    Datum::Poison(poison) => return Ok(Datum::Poison(*poison)),
                    datum => {
                        let bits =
                            datum.as_bits().ok_or_else(|| unusable(datum, "an index of an address"))?;
                        let index = signed(width, bits);
                        (index as i64, bytes, i128::from(index as i64) == index)
                    }
                },
            };
            let (product, product_wraps) = index.overflowing_mul(bytes);
            let (sum, sum_wraps) = offset.overflowing_add(product);
            let next = place.offset(product);
            if self.no_signed_wrap {
                let leaves = place.address.checked_add_signed(product).is_none();
                if product_wraps || sum_wraps || leaves || !fits {
                    return Ok(Datum::poison(Cause::AddressWrap, self.loc));
                }
            }
            if self.no_unsigned_wrap {
                let product = (index as u64).checked_mul(bytes as u64).filter(|_| fits);
                let holds = product.is_some_and(|product| {
                    (offset as u64).checked_add(product).is_some()
                        && place.address.checked_add(product).is_some()
                });
                if !holds {
                    return Ok(Datum::poison(Cause::AddressWrap, self.loc));
                }
            }
            if self.in_bounds && product != 0 && !(m.memory.in_bounds(place) && m.memory.in_bounds(next)) {
                return Ok(Datum::poison(Cause::PointerOutOfBounds, self.loc));
            }
            (offset, place) = (sum, next);
        }
        Ok(place.into())
    }
}
