//! Formats of floats.

use loomir_dialects::float::{from_f64, is_nan, to_f64};
use loomir_ir::FloatKind;

#[test]
fn every_f16_and_bf16_survives_the_way_through_f64() {
    for kind in [FloatKind::F16, FloatKind::BF16] {
        for bits in 0..=0xffffu128 {
            let value = to_f64(kind, bits).unwrap();
            let back = from_f64(kind, value).unwrap();
            if value.is_nan() {
                assert!(is_nan(kind, back).unwrap(), "{kind:?} {bits:#x}");
            } else {
                assert_eq!(back, bits, "{kind:?}");
            }
        }
    }
}

#[test]
fn rounding_to_f32_is_that_of_the_machine() {
    let mut state = 1u64;
    for _ in 0..200_000 {
        // A linear congruential generator; every third value is near the range of denormal f32.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mut value = f64::from_bits(state);
        if state.is_multiple_of(3) {
            value = f64::from_bits(state & !(0x7ff << 52) | (1023 - 140 + state % 24) << 52);
        }
        if !value.is_nan() {
            let expected = u128::from((value as f32).to_bits());
            assert_eq!(from_f64(FloatKind::F32, value), Some(expected), "{value:e}");
        }
    }
}

#[test]
fn ties_go_to_the_even_neighbour() {
    // 1 + 2^-11 lies between two f16.
    assert_eq!(from_f64(FloatKind::F16, 1.0 + 2f64.powi(-11)), Some(0x3c00));
    assert_eq!(from_f64(FloatKind::F16, 1.0 + 3.0 * 2f64.powi(-11)), Some(0x3c02));
    assert_eq!(from_f64(FloatKind::F16, 65520.0), Some(0x7c00));
    assert_eq!(from_f64(FloatKind::F16, 65519.9), Some(0x7bff));
}
