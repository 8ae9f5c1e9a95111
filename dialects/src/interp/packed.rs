//! Vectors of numbers whose width is not a multiple of 8 bits. In memory their bits follow each
//! other without a gap, as one long integer.
//!
//! Cost: linear in the bits.

use loomir_ir::Loc;

use super::datum::Datum;
use super::fault::Fault;

/// Packs elements of `width` bits into bytes. A byte is `None` if one of its bits is poison.
pub(super) fn pack(width: u32, elements: &[Datum]) -> Result<Vec<Option<u8>>, Box<Fault>> {
    let width = width as usize;
    let mut bytes = vec![Some(0); (elements.len() * width).div_ceil(8)];
    for (at, element) in elements.iter().enumerate() {
        let bits = match element {
            Datum::Poison(_) => None,
            _ => Some(element.as_bits().ok_or_else(|| Fault::unsupported("elements that are no numbers"))?),
        };
        for bit in 0..width {
            let place = at * width + bit;
            let byte = &mut bytes[place / 8];
            *byte = byte.zip(bits).map(|(byte, bits)| byte | ((bits >> bit & 1) as u8) << (place % 8));
        }
    }
    Ok(bytes)
}

/// Unpacks `count` elements of `width` bits from bytes. An element that touches an unusable byte
/// becomes the poison that `poison` returns.
pub(super) fn unpack(
    count: u64,
    width: u32,
    bytes: &[u8],
    poison: impl Fn(std::ops::Range<usize>, Loc) -> Option<Datum>,
    loc: Loc,
) -> Datum {
    let width = width as usize;
    let element = |at: usize| {
        let (first, end) = (at * width, (at + 1) * width);
        poison(first / 8..end.div_ceil(8), loc).unwrap_or_else(|| {
            let bit = |place: usize| u128::from(bytes[place / 8] >> (place % 8) & 1);
            Datum::bits(width as u32, (first..end).fold(0, |bits, at| bits | bit(at) << (at - first)))
        })
    };
    Datum::aggregate((0..count as usize).map(element).collect())
}
