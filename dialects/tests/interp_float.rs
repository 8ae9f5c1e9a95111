//! Floats of the interpreter against native ones.

use loomir_dialects::interp::Cause;
use loomir_dialects::interp::float::*;
use loomir_dialects::interp::integer::Trouble;

#[test]
fn every_half_survives_the_way_through_f64() {
    for bits in 0..1u128 << 16 {
        let nan = Half::read(bits).is_nan();
        assert_eq!(Half::write(Half::read(bits)), if nan { bits | 1 << 9 } else { bits });
        let nan = Brain::read(bits).is_nan();
        assert_eq!(Brain::write(Brain::read(bits)), if nan { bits | 1 << 6 } else { bits });
    }
}

#[test]
fn rounding_to_half_is_to_nearest_even() {
    for bits in 0..0x7bffu128 {
        let (low, high) = (Half::read(bits), Half::read(bits + 1));
        let middle = (low + high) / 2.0;
        assert_eq!(Half::write(middle), bits + (bits & 1), "{bits:#x}");
        assert_eq!(Half::write(middle.next_up()), bits + 1);
        assert_eq!(Half::write(middle.next_down()), bits);
    }
    assert_eq!(Half::write(65520.0), 0x7c00);
    assert_eq!(Half::write(65519.9), 0x7bff);
    assert_eq!(Half::write(-1e-30), 0x8000);
}

#[test]
fn single_precision_equals_native_arithmetic() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f32::from_bits((state >> 32) as u32)
    };
    for _ in 0..20_000 {
        let (a, b) = (next(), next());
        let check = |wide: f64, native: f32| {
            let bits = Single::write(wide) as u32;
            assert!(bits == native.to_bits() || (native.is_nan() && f32::from_bits(bits).is_nan()));
        };
        let (x, y) = (f64::from(a), f64::from(b));
        check(x + y, a + b);
        check(x * y, a * b);
        check(x / y, a / b);
        check(x % y, a % b);
        check(x.sqrt(), a.sqrt());
    }
}

#[test]
fn fused_multiply_add_rounds_once() {
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; the last term decides a tie only if it is kept.
    let (a, tiny) = (Half::write(1.0 + 2f64.powi(-10)), Half::write(2f64.powi(-24)));
    let exact = (1.0 + 2f64.powi(-10)) * (1.0 + 2f64.powi(-10)) + 2f64.powi(-24);
    assert_eq!(Half::fma(a, a, tiny), Half::write(exact));
    let big = Half::write(65504.0);
    assert_eq!(Half::fma(big, big, Half::write(-65504.0)), Half::write(f64::INFINITY));
}

#[test]
fn conversions_from_integers_round_once() {
    for (value, expected) in [(16_777_217i64, 16_777_216f32), (16_777_219, 16_777_220.0), (-3, -3.0)] {
        assert_eq!(
            from_integer::<Single>(64, true, value as u128 & u128::from(u64::MAX)),
            Single::write(expected.into())
        );
    }
    let tricky = (1i64 << 60) + (1 << 36) + 1;
    assert_eq!(from_integer::<Single>(64, true, tricky as u128) as u32, (tricky as f32).to_bits());
    assert_eq!(from_integer::<Double>(128, false, u128::MAX), Double::write(2f64.powi(128)));
}

#[test]
fn integers_out_of_range_are_poison() {
    assert_eq!(to_integer(8, true, 127.9), Ok(127));
    assert_eq!(to_integer(8, true, -128.9), Ok(-128i128 as u128));
    assert_eq!(to_integer(8, false, -0.9), Ok(0));
    for (signed, value) in [(true, 128.0), (true, -129.0), (false, 256.0), (false, -1.0), (true, f64::NAN)] {
        assert_eq!(to_integer(8, signed, value), Err(Trouble::Poison(Cause::FloatToInteger)));
    }
}

#[test]
fn predicates_are_the_named_ones() {
    let names = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true";
    for (p, name) in names.split(' ').enumerate() {
        for (a, b) in [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (f64::NAN, 1.0)] {
            let unordered = f64::is_nan(a);
            let expected = match name {
                "false" | "true" => name == "true",
                "ord" | "uno" => unordered == (name == "uno"),
                _ if unordered => name.starts_with('u'),
                _ => match &name[1..] {
                    "eq" => a == b,
                    "ne" => a != b,
                    "gt" => a > b,
                    "ge" => a >= b,
                    "lt" => a < b,
                    _ => a <= b,
                },
            };
            assert_eq!(compare(p as u64, a, b), expected, "{name} {a} {b}");
        }
    }
}

#[test]
fn extremes_order_zeros_and_nans() {
    assert!(maximum(1.0, f64::NAN).is_nan() && minimum(f64::NAN, 1.0).is_nan());
    assert_eq!((maxnum(1.0, f64::NAN), minnum(f64::NAN, 1.0)), (1.0, 1.0));
    assert!(maximum(-0.0, 0.0).is_sign_positive() && minimum(0.0, -0.0).is_sign_negative());
    assert_eq!((maximum(1.0, 2.0), minimum(1.0, 2.0)), (2.0, 1.0));
}
