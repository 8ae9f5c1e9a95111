//! The output of `printf`.

use std::fmt::Write;
use std::iter::Peekable;

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
    let (mut out, mut arguments) = (Vec::new(), Remaining(arguments.iter()));
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let conversion = Conversion::read(&mut rest, &mut arguments)?;
        let Some(letter) = rest.next() else {
            return Err(Fault::undefined("a format ends within a conversion"));
        };
        out.extend(conversion.converted(letter, m, &mut arguments)?);
    }
    Ok(out)
}

/// The arguments behind a format that no conversion used yet.
struct Remaining<'a>(std::slice::Iter<'a, Datum>);

impl<'a> Remaining<'a> {
    fn next(&mut self) -> Result<&'a Datum, Box<Fault>> {
        self.0.next().ok_or_else(|| Fault::undefined("a format has more conversions than arguments"))
    }
}

/// Reads a decimal number, which may have no digit.
fn digits(rest: &mut Peekable<impl Iterator<Item = u8>>) -> usize {
    let mut number = 0usize;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        number = number.saturating_mul(10) + usize::from(digit - b'0');
    }
    number
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
    /// Reads the flags, the width, the precision and the length of a conversion.
    fn read(
        rest: &mut Peekable<impl Iterator<Item = u8>>,
        arguments: &mut Remaining<'_>,
    ) -> Result<Self, Box<Fault>> {
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
            let width = integer(arguments.next()?, 32)?;
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
        }
        conversion.width = conversion.width.max(digits(rest));
        if rest.next_if_eq(&b'.').is_some() {
            conversion.precision = match rest.next_if_eq(&b'*') {
                Some(_) => usize::try_from(integer(arguments.next()?, 32)?).ok(),
                None => Some(digits(rest)),
            };
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
        Ok(conversion)
    }

    /// Returns the text of the next argument, converted as `letter` says.
    fn converted(
        &self,
        letter: u8,
        m: &mut Machine,
        arguments: &mut Remaining<'_>,
    ) -> Result<Vec<u8>, Box<Fault>> {
        let mut number = || unsigned(arguments.next()?, self.bits);
        Ok(match letter {
            b'%' => b"%".to_vec(),
            b'c' => self.padded(&[integer(arguments.next()?, 8)? as u8], 0),
            b's' => {
                let mut text = c_string(m, pointer(arguments.next()?)?)?;
                text.truncate(self.precision.unwrap_or(usize::MAX));
                self.padded(&text, 0)
            }
            b'p' => self.padded(format!("{:#x}", pointer(arguments.next()?)?.address).as_bytes(), 0),
            b'd' | b'i' => {
                let value = integer(arguments.next()?, self.bits)?;
                self.integer(value < 0, value.unsigned_abs().to_string())
            }
            b'u' => self.integer(false, number()?.to_string()),
            b'x' => self.integer(false, format!("{:x}", number()?)),
            b'X' => self.integer(false, format!("{:X}", number()?)),
            b'o' => self.integer(false, format!("{:o}", number()?)),
            b'f' | b'F' | b'e' | b'g' if !self.long_double => {
                self.float(letter, f64::from_bits(unsigned(arguments.next()?, 64)?))
            }
            _ => return Err(Fault::unsupported(format!("the conversion `%{}`", char::from(letter)))),
        })
    }

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
