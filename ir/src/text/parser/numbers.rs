//! Numbers: integers of any width and floats of any format.

use num_bigint::{BigInt, Sign};

use super::Parser;
use crate::attributes::{Attr, AttrKind};
use crate::context::Context;
use crate::text::ParseResult;
use crate::text::float;
use crate::text::lexer::Kind;
use crate::types::{Signedness, Type, TypeKind};

impl Parser<'_> {
    /// Reads a number behind its sign, as an attribute of a type, which follows a colon if it isn't
    /// given.
    pub(super) fn number(&mut self, negative: bool, ty: Option<Type>) -> ParseResult<Attr> {
        let (text, at, is_float) = (self.text(), self.token.start, self.is(Kind::Float));
        self.advance();
        let default = if is_float { Type::F64 } else { Type::I64 };
        let ty = match ty {
            Some(ty) => ty,
            None if self.accept(Kind::Colon) => self.ty()?,
            None => default,
        };
        match ty.kind(self.ctx) {
            TypeKind::Float(kind) => {
                if is_float {
                    return Ok(self
                        .ctx
                        .attr(AttrKind::Float { bits: float::from_literal(*kind, negative, text), ty }));
                }
                self.hex_float(*kind, negative, text, at)
                    .map(|bits| self.ctx.attr(AttrKind::Float { bits, ty }))
            }
            TypeKind::Integer { .. } | TypeKind::Index if !is_float => {
                match integer_attr(self.ctx, ty, negative, text) {
                    Some(attr) => Ok(attr),
                    None => Err(self.error_at(at, "integer constant out of range for attribute")),
                }
            }
            _ if is_float => Err(self.error_at(at, "floating point value not valid for specified type")),
            _ => Err(self.error_at(at, "integer literal not valid for specified type")),
        }
    }

    /// The bits of a float given as a hexadecimal number.
    pub(super) fn hex_float(
        &mut self,
        kind: crate::types::FloatKind,
        negative: bool,
        text: &str,
        at: u32,
    ) -> ParseResult<u128> {
        let Some(digits) = text.strip_prefix("0x") else {
            let message = "unexpected decimal integer literal for a floating point value";
            let error = self.error_at(at, message);
            return Err(Box::new(error.help("add a trailing dot to make the literal a float")));
        };
        if negative {
            return Err(self.error_at(at, "hexadecimal float literal should not have a leading minus"));
        }
        let width = kind.width();
        match u128::from_str_radix(digits, 16) {
            Ok(bits) if width == 128 || bits >> width == 0 => Ok(bits),
            _ => Err(self.error_at(at, "hexadecimal float constant out of range for type")),
        }
    }

    /// Reads a number that fits 64 bits if one is next.
    pub(crate) fn optional_integer(&mut self) -> ParseResult<Option<i64>> {
        let negative = self.is(Kind::Minus);
        if negative {
            self.advance();
            if !self.is(Kind::Integer) {
                return Err(self.missing("expected integer value"));
            }
        } else if !self.is(Kind::Integer) {
            return Ok(None);
        }
        let magnitude = magnitude(self.text());
        let value = magnitude.map(i128::from).map(|m| if negative { -m } else { m });
        let Some(value) = value.and_then(|v| i64::try_from(v).ok()) else {
            return Err(self.error_here("integer value too large"));
        };
        self.advance();
        Ok(Some(value))
    }
}

/// The number of an integer token, decimal or hexadecimal.
fn magnitude(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The value of an integer of a type, wrapped to its width.
pub(super) enum Integer {
    /// Of at most 128 bits.
    Narrow(i128),
    /// Of more: little-endian.
    Wide(Vec<u8>),
}

/// The attribute of an integer token; `None` if it is out of range.
fn integer_attr(ctx: &Context, ty: Type, negative: bool, text: &str) -> Option<Attr> {
    Some(ctx.attr(match integer(ctx, ty, negative, text)? {
        Integer::Narrow(value) => AttrKind::Integer { value, ty },
        Integer::Wide(bytes) => AttrKind::WideInteger { bytes: bytes.into(), ty },
    }))
}

/// The value of an integer token; `None` if it is out of range. Signless types take both signed and
/// unsigned numbers.
pub(super) fn integer(ctx: &Context, ty: Type, negative: bool, text: &str) -> Option<Integer> {
    let (width, signedness) = match ty.kind(ctx) {
        TypeKind::Integer { width, signedness } => (*width, *signedness),
        _ => (64, Signedness::Signed),
    };
    if negative && text.trim_start_matches("0x").bytes().all(|b| b == b'0') {
        return None;
    }
    if width <= 64
        && let Some(m) = magnitude(text)
    {
        let m = i128::from(m);
        let value = if negative { -m } else { m };
        return in_range(value, width, signedness).then(|| Integer::Narrow(ctx.wrapped(ty, value)));
    }
    let radix = if text.starts_with("0x") { 16 } else { 10 };
    let digits = text.strip_prefix("0x").unwrap_or(text).trim_start_matches('0');
    // Three decimal digits say nine bits at least: what has more than the type is not worth
    // reading, which costs the square of the digits.
    if digits.len() / 3 * 9 > width as usize + 9 {
        return None;
    }
    let digits = if digits.is_empty() { "0" } else { digits };
    let value = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    let value = if negative { -value } else { value };
    let (low, high) = range(width, signedness);
    if value < low || value > high {
        return None;
    }
    if width <= 128 {
        let bits = u128::from_le_bytes(bytes_of(&value, 16).try_into().ok()?);
        return Some(Integer::Narrow(ctx.wrapped(ty, bits as i128)));
    }
    Some(Integer::Wide(bytes_of(&value, width.div_ceil(8) as usize)))
}

fn in_range(value: i128, width: u32, signedness: Signedness) -> bool {
    let (low, high) = match signedness {
        _ if width == 0 => (0, 0),
        Signedness::Signless => (-(1i128 << (width - 1)), (1i128 << width) - 1),
        Signedness::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        Signedness::Unsigned => (0, (1i128 << width) - 1),
    };
    (low..=high).contains(&value)
}

fn range(width: u32, signedness: Signedness) -> (BigInt, BigInt) {
    let power = |n: u32| BigInt::from(1) << n;
    match signedness {
        _ if width == 0 => (0.into(), 0.into()),
        Signedness::Signless => (-power(width - 1), power(width) - 1),
        Signedness::Signed => (-power(width - 1), power(width - 1) - 1),
        Signedness::Unsigned => (0.into(), power(width) - 1),
    }
}

/// Two's complement, little-endian.
fn bytes_of(value: &BigInt, count: usize) -> Vec<u8> {
    let mut bytes = value.to_signed_bytes_le();
    let fill = if value.sign() == Sign::Minus { 0xff } else { 0 };
    bytes.resize(count, fill);
    bytes
}

/// The bytes of hexadecimal digits, two a byte.
pub(super) fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    digits.as_bytes().chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}
