//! The output of `printf`.

use std::fmt::Write;

use super::c_string;
use crate::interp::datum::{Datum, Pointer};
use crate::interp::fault::{Fault, FaultKind};
use crate::interp::machine::Machine;
use crate::interp::registers::unusable;

/// The maximal width of a field, and the maximal number of digits.
const MAX_WIDTH: usize = 1 << 12;

/// A conversion: the flags, width and precision between `%` and its letter.
#[derive(Clone, Default)]
struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of the number.
    bits: u32,
    long_double: bool,
}

/// Returns the bytes that `printf` writes for a format and the arguments behind it.
pub(super) fn formatted(
    m: &mut Machine,
    format: Pointer,
    arguments: &[Datum],
) -> Result<Vec<u8>, Box<Fault>> {
    let format = c_string(m, format)?;
    let (mut out, mut arguments) = (Vec::new(), arguments.iter());
    let mut rest = format.iter().copied().peekable();
    let mut next =
        || arguments.next().ok_or_else(|| Fault::undefined("a format has more conversions than arguments"));
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut conversion = Conversion { bits: 32, ..Conversion::default() };
        while let Some(flag) = rest.next_if(|byte| b"-0+ #".contains(byte)) {
            match flag {
                b'-' => conversion.left = true,
                b'0' => conversion.zeros = true,
                b'+' => conversion.plus = true,
                b' ' => conversion.space = true,
                _ => conversion.alternate = true,
            }
        }
        if rest.next_if_eq(&b'*').is_some() {
            let width = integer(next()?, 32)?;
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
        }
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            conversion.width = conversion.width.saturating_mul(10) + usize::from(digit - b'0');
        }
        if rest.next_if_eq(&b'.').is_some() {
            let mut precision = 0usize;
            if rest.next_if_eq(&b'*').is_some() {
                conversion.precision = usize::try_from(integer(next()?, 32)?).ok();
            } else {
                while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
                    precision = precision.saturating_mul(10) + usize::from(digit - b'0');
                }
                conversion.precision = Some(precision);
            }
        }
        while let Some(length) = rest.next_if(|byte| b"hljztL".contains(byte)) {
            match length {
                b'h' => conversion.bits /= 2,
                b'L' => conversion.long_double = true,
                _ => conversion.bits = 64,
            }
        }
        if conversion.width.max(conversion.precision.unwrap_or(0)) > MAX_WIDTH {
            return Err(Fault::new(FaultKind::Limit, format!("a field of more than {MAX_WIDTH} characters")));
        }
        let Some(letter) = rest.next() else {
            return Err(Fault::undefined("a format ends within a conversion"));
        };
        let text = match letter {
            b'%' => {
                out.push(b'%');
                continue;
            }
            b'c' => conversion.padded(&[integer(next()?, 8)? as u8], 0),
            b's' => {
                let mut text = c_string(m, pointer(next()?)?)?;
                text.truncate(conversion.precision.unwrap_or(usize::MAX));
                conversion.padded(&text, 0)
            }
            b'p' => conversion.padded(format!("{:#x}", pointer(next()?)?.address).as_bytes(), 0),
            b'd' | b'i' => {
                let value = integer(next()?, conversion.bits)?;
                conversion.integer(value < 0, value.unsigned_abs().to_string())
            }
            b'u' => conversion.integer(false, unsigned(next()?, conversion.bits)?.to_string()),
            b'x' => conversion.integer(false, format!("{:x}", unsigned(next()?, conversion.bits)?)),
            b'X' => conversion.integer(false, format!("{:X}", unsigned(next()?, conversion.bits)?)),
            b'o' => conversion.integer(false, format!("{:o}", unsigned(next()?, conversion.bits)?)),
            b'f' | b'F' | b'e' | b'g' if !conversion.long_double => {
                let value = f64::from_bits(unsigned(next()?, 64)?);
                conversion.float(letter, value)
            }
            _ => return Err(Fault::unsupported(format!("the conversion `%{}`", char::from(letter)))),
        };
        out.extend(text);
    }
    Ok(out)
}

fn unsigned(datum: &Datum, bits: u32) -> Result<u64, Box<Fault>> {
    match datum {
        Datum::Bits(value) => Ok(value & (u64::MAX >> (64 - bits.clamp(1, 64)))),
        other => Err(unusable(other, "an argument of `printf`")),
    }
}

fn integer(datum: &Datum, bits: u32) -> Result<i64, Box<Fault>> {
    let shift = 64 - bits.clamp(1, 64);
    Ok((unsigned(datum, bits)? << shift).cast_signed() >> shift)
}

fn pointer(datum: &Datum) -> Result<Pointer, Box<Fault>> {
    datum.as_pointer().ok_or_else(|| unusable(datum, "an argument of `printf`"))
}

impl Conversion {
    /// Pads the text to the requested width. Requested zeros go behind the first `head` bytes.
    fn padded(&self, text: &[u8], head: usize) -> Vec<u8> {
        let missing = self.width.saturating_sub(text.len());
        match (self.left, self.zeros) {
            (true, _) => [text, &vec![b' '; missing]].concat(),
            (false, true) => [&text[..head], &vec![b'0'; missing], &text[head..]].concat(),
            (false, false) => [&vec![b' '; missing], text].concat(),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, negative: bool, digits: String) -> Vec<u8> {
        let sign = self.sign(negative);
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        let text = format!("{sign}{}{digits}", "0".repeat(missing));
        let plain = Conversion { zeros: self.zeros && self.precision.is_none(), ..self.clone() };
        plain.padded(text.as_bytes(), sign.len())
    }

    fn float(&self, letter: u8, value: f64) -> Vec<u8> {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            let name = if magnitude.is_nan() { "nan" } else { "inf" };
            let plain = Conversion { zeros: false, ..self.clone() };
            return plain.padded(format!("{sign}{name}").as_bytes(), 0);
        }
        let precision = self.precision.unwrap_or(6);
        let digits = match letter {
            b'e' => exponential(magnitude, precision),
            b'g' => {
                let precision = precision.max(1);
                let scientific = exponential(magnitude, precision - 1);
                let power: i64 =
                    scientific.rsplit_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
                if power < -4 || power >= precision as i64 {
                    let (mantissa, power) = scientific.split_once('e').unwrap_or_default();
                    format!("{}e{power}", self.shortened(mantissa))
                } else {
                    let after = (precision as i64 - 1 - power).max(0) as usize;
                    self.shortened(&format!("{magnitude:.after$}")).to_owned()
                }
            }
            _ => format!("{magnitude:.precision$}"),
        };
        self.padded(format!("{sign}{digits}").as_bytes(), sign.len())
    }

    /// Returns the digits without trailing zeros of the fraction, unless all are requested.
    fn shortened<'t>(&self, digits: &'t str) -> &'t str {
        match digits.contains('.') && !self.alternate {
            true => digits.trim_end_matches('0').trim_end_matches('.'),
            false => digits,
        }
    }
}

/// Formats a number with its power of ten, which has at least two digits.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let mut text = mantissa.to_owned();
    let _ = write!(text, "e{}{:02}", if power < 0 { '-' } else { '+' }, power.unsigned_abs());
    text
}
