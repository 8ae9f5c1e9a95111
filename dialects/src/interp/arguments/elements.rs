//! Sources of the elements of arguments, and their destination in buffers.

use loomir_ir::{Context, Type};

use super::View;
use super::spec::Source;
use crate::interp::constant::part_type;
use crate::interp::datum::Pointer;
use crate::interp::elementwise::bit_width;
use crate::interp::fault::Fault;
use crate::interp::float::{Format, from_integer, with_format};
use crate::interp::integer::{fits_signed, mask};
use crate::interp::layout::{Layout, Repr, type_text};

/// The generator behind `random:SEED`. Its 64-bit output `z` becomes
///
/// - a float: `(z >> 43) * 2^-20 - 1`, a multiple of `2^-20` in `[-1, 1)`, rounded to narrower
///   formats;
/// - an integer: the signed byte `z >> 56`, wrapped to the type; of an `i1` its top bit;
/// - an `index`: `z >> 61`, from 0 to 7.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Returns the next number.
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Elements of a scalar type one after the other.
pub(super) struct Elements<'s> {
    ctx: &'s Context,
    ty: Type,
    width: u32,
    source: &'s Source,
    next: u64,
    random: SplitMix64,
}

impl<'s> Elements<'s> {
    pub(super) fn new(ctx: &'s Context, ty: Type, source: &'s Source) -> Result<Elements<'s>, Box<Fault>> {
        let seed = if let Source::Random(seed) = source { *seed } else { 0 };
        Ok(Elements { ctx, ty, width: bit_width(ctx, ty)?, source, next: 0, random: SplitMix64(seed) })
    }

    pub(super) fn next(&mut self) -> Result<u128, Box<Fault>> {
        let k = self.next;
        self.next += 1;
        let is_float = self.ty.is_float(self.ctx);
        Ok(match self.source {
            Source::Zeros | Source::List(_) | Source::Shared(..) => 0,
            Source::Iota(first) if is_float => {
                let k = k + u64::from(*first);
                with_format!(self.ctx, self.ty, F => from_integer::<F>(64, false, k.into()))
            }
            Source::Iota(first) => u128::from(k + u64::from(*first)) & mask(self.width),
            Source::Random(_) if is_float => {
                let value = (self.random.next_bits() >> 43) as f64 / 2f64.powi(20) - 1.0;
                with_format!(self.ctx, self.ty, F => F::write(value))
            }
            Source::Random(_) => {
                let z = self.random.next_bits();
                match self.ty {
                    Type::INDEX => (z >> 61).into(),
                    Type::I1 => (z >> 63).into(),
                    _ => i128::from((z >> 56) as i8) as u128 & mask(self.width),
                }
            }
            Source::Number(text) => self.number(text)?,
        })
    }

    fn number(&self, text: &str) -> Result<u128, Box<Fault>> {
        let wrong =
            || Fault::arguments(format!("`{text}` is no number of type {}", type_text(self.ctx, self.ty)));
        let limit = mask(self.width);
        if let Some(digits) = text.strip_prefix("0x") {
            return u128::from_str_radix(digits, 16).ok().filter(|b| *b <= limit).ok_or_else(wrong);
        }
        if self.ty == Type::F32 {
            return Ok(text.parse::<f32>().map_err(|_| wrong())?.to_bits().into());
        }
        if self.ty.is_float(self.ctx) {
            let value: f64 = text.parse().map_err(|_| wrong())?;
            return Ok(with_format!(self.ctx, self.ty, F => F::write(value)));
        }
        match text {
            "true" => return Ok(1),
            "false" => return Ok(0),
            _ => {}
        }
        if let Ok(value) = text.parse::<u128>() {
            return if value <= limit { Ok(value) } else { Err(wrong()) };
        }
        let value: i128 = text.parse().map_err(|_| wrong())?;
        if fits_signed(self.width, value) { Ok(value as u128 & limit) } else { Err(wrong()) }
    }
}

/// Writes the elements of a view.
pub(super) fn fill(
    ctx: &Context,
    bytes: &mut [u8],
    view: &View,
    layout: &Layout,
    source: &Source,
) -> Result<(), Box<Fault>> {
    if *source == Source::Zeros {
        return Ok(());
    }
    let leaves = leaves(ctx, view.element, &layout.repr)?;
    let Some(first) = leaves.first() else { return Ok(()) };
    let mut listed = Vec::new();
    if let Source::List(_) = source {
        let mut sizes = view.sizes.clone();
        if leaves.len() > 1 {
            sizes.push(leaves.len() as i64);
        }
        flatten(source, &sizes, &mut listed)?;
    }
    let mut listed = listed.into_iter();
    let mut elements = Elements::new(ctx, first.ty, source)?;
    for linear in view.memref(Pointer::NULL).offsets() {
        for leaf in &leaves {
            let bits = match listed.next() {
                Some(text) => elements.number(text)?,
                None => elements.next()?,
            };
            let start = linear as usize * view.element_size as usize + leaf.offset as usize;
            let size = leaf.bits.div_ceil(8) as usize;
            if let Some(place) = bytes.get_mut(start..start + size) {
                place.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
    }
    Ok(())
}

/// Collects the numbers of nested lists, which must have these sizes. Recursion is bounded by the
/// nesting of the literal.
fn flatten<'s>(source: &'s Source, sizes: &[i64], numbers: &mut Vec<&'s str>) -> Result<(), Box<Fault>> {
    match (source, sizes) {
        (Source::Number(text), []) => {
            numbers.push(text);
            Ok(())
        }
        (Source::List(parts), [size, inner @ ..]) if parts.len() as i64 == *size => {
            parts.iter().try_for_each(|part| flatten(part, inner, numbers))
        }
        (Source::List(parts), [size, ..]) => {
            Err(Fault::arguments(format!("a list of {} where {size} are expected", parts.len())))
        }
        (Source::List(_), []) => Err(Fault::arguments("a list where a number is expected")),
        _ => Err(Fault::arguments("a list of the buffer's shape is expected")),
    }
}

/// A number inside an element.
#[derive(Clone, Copy, Debug)]
pub(in crate::interp) struct Leaf {
    pub(in crate::interp) ty: Type,
    pub(in crate::interp) bits: u32,
    pub(in crate::interp) offset: u64,
}

/// Returns the numbers inside an element: the element itself, or the parts of a vector or complex
/// number.
pub(in crate::interp) fn leaves(ctx: &Context, ty: Type, repr: &Repr) -> Result<Vec<Leaf>, Box<Fault>> {
    match repr {
        Repr::Scalar { bits, .. } => Ok(vec![Leaf { ty, bits: *bits, offset: 0 }]),
        Repr::Sequence { count, stride, element } if *count <= 1 << 16 => {
            let Repr::Scalar { bits, .. } = **element else { return Err(no_numbers(ctx, ty)) };
            let part = part_type(ctx, ty, 0).ok_or_else(|| no_numbers(ctx, ty))?;
            Ok((0..*count).map(|i| Leaf { ty: part, bits, offset: i * stride }).collect())
        }
        Repr::Struct(fields) => {
            let mut all = Vec::new();
            for (i, (offset, repr)) in fields.iter().enumerate() {
                let Repr::Scalar { bits, .. } = *repr else { return Err(no_numbers(ctx, ty)) };
                let part = part_type(ctx, ty, i).ok_or_else(|| no_numbers(ctx, ty))?;
                all.push(Leaf { ty: part, bits, offset: *offset });
            }
            Ok(all)
        }
        _ => Err(no_numbers(ctx, ty)),
    }
}

fn no_numbers(ctx: &Context, ty: Type) -> Box<Fault> {
    Fault::unsupported(format!("elements of type {} cannot be given or shown", type_text(ctx, ty)))
}
