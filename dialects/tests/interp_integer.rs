//! Integers of the interpreter against wider ones.

use loomir_dialects::interp::Cause;
use loomir_dialects::interp::integer::*;

/// Compares each function at widths 1 to 5 with arithmetic in a wider type.
#[test]
fn small_widths_agree_with_wide_arithmetic() {
    for w in 1..=5u32 {
        for a in 0..1u128 << w {
            for b in 0..1u128 << w {
                check_pair(w, a, b);
            }
        }
    }
}

fn check_pair(w: u32, a: u128, b: u128) {
    let (sa, sb, m) = (signed(w, a), signed(w, b), mask(w));
    let both = Wrap { signed: true, unsigned: true };
    for (result, exact, unsigned, name) in [
        (add(w, both, a, b), sa + sb, a as i128 + b as i128, "add"),
        (sub(w, both, a, b), sa - sb, a as i128 - b as i128, "sub"),
        (mul(w, both, a, b), sa * sb, a as i128 * b as i128, "mul"),
    ] {
        let fits = fits_signed(w, exact) && (0..=m as i128).contains(&unsigned);
        assert_eq!(result.is_ok(), fits, "{name} {w} {a} {b}");
        if let Ok(bits) = result {
            assert_eq!(signed(w, bits), exact, "{name} {w} {a} {b}");
        }
    }
    let none = Wrap::default();
    assert_eq!(add(w, none, a, b), Ok((a + b) & m));
    assert_eq!(sub(w, none, a, b), Ok((sa - sb) as u128 & m));
    assert_eq!(mul(w, none, a, b), Ok((a * b) & m));
    if b < w.into() {
        assert_eq!(shl(w, none, a, b), Ok((a << b) & m));
        assert_eq!(shl(w, both, a, b).is_ok(), fits_signed(w, sa << b) && a << b <= m);
        assert_eq!(shift_right_unsigned(w, false, a, b), Ok(a >> b));
        assert_eq!(shift_right_signed(w, false, a, b).map(|r| signed(w, r)), Ok(sa >> b));
        assert_eq!(shift_right_signed(w, true, a, b).is_ok(), sa % (1 << b) == 0);
    } else {
        assert_eq!(shl(w, none, a, b), Err(Trouble::Poison(Cause::ShiftTooFar)));
        assert_eq!(shift_right_signed(w, false, a, b), Err(Trouble::Poison(Cause::ShiftTooFar)));
    }
    check_division(w, a, b);
    let (low, high) = mul_extended(w, false, a, b);
    assert_eq!((high << w) | low, a * b);
    let (low, high) = mul_extended(w, true, a, b);
    assert_eq!((signed(w, high) << w) | low as i128, sa * sb);
}

fn check_division(w: u32, a: u128, b: u128) {
    let (sa, sb) = (signed(w, a), signed(w, b));
    if b == 0 {
        assert!(div_unsigned(Rounding::Truncate, false, a, b).is_err() && rem_unsigned(a, b).is_err());
        assert!(div_signed(w, Rounding::Floor, false, a, b).is_err() && rem_signed(w, a, b).is_err());
        return;
    }
    assert_eq!(div_unsigned(Rounding::Truncate, false, a, b), Ok(a / b));
    assert_eq!(div_unsigned(Rounding::Ceil, false, a, b), Ok(a.div_ceil(b)));
    assert_eq!(rem_unsigned(a, b), Ok(a % b));
    if !fits_signed(w, sa / sb) {
        assert!(matches!(div_signed(w, Rounding::Truncate, false, a, b), Err(Trouble::Undefined(_))));
        assert!(matches!(rem_signed(w, a, b), Err(Trouble::Undefined(_))));
        return;
    }
    let quotient = |r| div_signed(w, r, false, a, b).map(|q| signed(w, q));
    let exact = sa as f64 / sb as f64;
    assert_eq!(quotient(Rounding::Truncate), Ok(sa / sb));
    assert_eq!(quotient(Rounding::Floor), Ok(exact.floor() as i128));
    assert_eq!(quotient(Rounding::Ceil), Ok(exact.ceil() as i128));
    assert_eq!(rem_signed(w, a, b).map(|r| signed(w, r)), Ok(sa % sb));
    assert_eq!(div_signed(w, Rounding::Truncate, true, a, b).is_ok(), sa % sb == 0);
}

#[test]
fn the_widest_integers_work_too() {
    let max = u128::MAX;
    let both = Wrap { signed: true, unsigned: true };
    assert_eq!(add(128, Wrap::default(), max, 1), Ok(0));
    assert_eq!(add(128, both, max, 1), Err(Trouble::Poison(Cause::UnsignedWrap)));
    assert_eq!(mul(128, both, 1 << 100, 1 << 100), Err(Trouble::Poison(Cause::SignedWrap)));
    assert_eq!(mul_extended(128, false, max, max), (1, max - 1));
    assert_eq!(mul_extended(128, true, max, max), (1, 0));
    assert_eq!(mul_extended(64, false, max >> 64, max >> 64), (1, (max >> 64) - 1));
    assert_eq!(mul_extended(64, true, 1 << 63, 1 << 63), (0, 1 << 62));
}
