//! Identifiers, strings and numbers as LLVM writes them.

use std::fmt::Write;

/// True if an identifier needs no quotes.
fn is_plain(name: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_');
    !name.is_empty() && name.chars().all(ok) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns `"bytes"` with unprintable bytes escaped.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                let _ = write!(text, "\\{byte:02X}");
            }
            0x20..0x7f => text.push(*byte as char),
            _ => {
                let _ = write!(text, "\\{byte:02X}");
            }
        }
    }
    text.push('"');
    text
}

/// Returns a name, in quotes if it needs them.
pub(super) fn identifier(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quoted(name.as_bytes()) }
}

/// `@name` or `%name`.
pub(super) fn symbol(sigil: char, name: &str) -> String {
    format!("{sigil}{}", identifier(name))
}

/// Returns a `double` or, widened, a `float`: decimal if that is exact, else its bits.
pub(super) fn double(bits: u64) -> String {
    let value = f64::from_bits(bits);
    if value.is_finite() {
        let text = exponential(value);
        if text.parse::<f64>().is_ok_and(|back| back.to_bits() == bits) {
            return text;
        }
    }
    format!("0x{bits:016X}")
}

/// Six digits behind the point and an exponent of at least two digits with its sign.
fn exponential(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// Returns the bits of a `float` as the `double` of the same value. The payload of a NaN is kept.
pub(super) fn widen(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let (sign, fraction) = (u64::from(bits >> 31), u64::from(bits & 0x7f_ffff));
        return sign << 63 | 0x7ff << 52 | fraction << 29;
    }
    f64::from(value).to_bits()
}

/// Returns a text of LLVM IR in which symbols are replaced by what `current` returns for their
/// names, if it returns something. Names with escaped bytes stay. Linear.
pub(super) fn with_symbols(kept: &str, current: &dyn Fn(&str) -> Option<String>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "$._-".contains(c);
    let mut text = String::with_capacity(kept.len());
    let mut rest = kept;
    while let Some(at) = rest.find(['@', '"']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let start = usize::from(from.starts_with('@'));
        let end = match from[start..].strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(from.len(), |end| start + end + 2),
            None => from[start..].find(|c| !is_part(c)).map_or(from.len(), |end| start + end),
        };
        let (word, behind) = from.split_at(end);
        let name = word.strip_prefix('@').map(|name| name.trim_matches('"'));
        let new = name.filter(|name| !name.contains('\\')).and_then(current);
        text.push_str(new.as_deref().unwrap_or(word));
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_llvm_writes_them() {
        let float = |x: f32| double(widen(x.to_bits()));
        assert_eq!(float(1.0), "1.000000e+00");
        assert_eq!(float(-0.0), "-0.000000e+00");
        assert_eq!(float(0.1), "0x3FB99999A0000000");
        assert_eq!(float(f32::INFINITY), "0x7FF0000000000000");
        assert_eq!(double(widen(0x7f80_0001)), "0x7FF0000020000000");
        assert_eq!(double(0.1f64.to_bits()), "1.000000e-01");
        assert_eq!(double(1e300f64.to_bits()), "1.000000e+300");
    }

    #[test]
    fn names_are_quoted_when_they_must() {
        assert_eq!(symbol('@', "main.1"), "@main.1");
        assert_eq!(symbol('@', "1x"), "@\"1x\"");
        assert_eq!(symbol('@', "a b\"é"), "@\"a b\\22\\C3\\A9\"");
    }
}
