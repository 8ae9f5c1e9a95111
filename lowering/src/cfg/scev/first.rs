//! The first time that a sequence of words with a constant step enters an interval.
//!
//! **Assumptions.**
//! - Widths are at most 64 bits. Wider words get no answer.
//!
//! Tried with the exhaustive test below.

/// Returns the least `n` for which `start + n·step`, modulo two to the power of `width`, is between
/// `least` and `greatest`, both included and in this order. For widths up to 64.
///
/// This is Euclid's algorithm on the step and the modulus. If no multiple of the step is in the
/// interval before the first wrap, the question is which wrap leaves the right remainder modulo the
/// step. That is the same question about smaller numbers. Logarithmic.
pub(super) fn first_in(width: u32, start: u128, step: u128, least: u128, greatest: u128) -> Option<u128> {
    let modulus = 1u128 << width;
    if (least..=greatest).contains(&start) {
        return Some(0);
    }
    // The start is outside, so the interval does not wrap after the shift to zero.
    let offset = |end: u128| (end + modulus - start) % modulus;
    first_multiple(step % modulus, modulus, offset(least), offset(greatest))
}

/// Returns the least `n` for which `n·step` modulo `modulus` is between `least` and `greatest`,
/// where `0 <= least <= greatest < modulus`.
fn first_multiple(step: u128, modulus: u128, least: u128, greatest: u128) -> Option<u128> {
    if least == 0 {
        return Some(0);
    }
    if step == 0 {
        return None;
    }
    if step > modulus - step {
        return first_multiple(modulus - step, modulus, modulus - greatest, modulus - least);
    }
    let multiple = least.div_ceil(step);
    if multiple * step <= greatest {
        return Some(multiple);
    }
    let turns = first_multiple(modulus % step, step, step - greatest % step, step - least % step)?;
    Some((least + modulus * turns).div_ceil(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_counting_says() {
        for width in 1..=5u32 {
            let words = 1u128 << width;
            for (start, step) in (0..words).flat_map(|start| (0..words).map(move |step| (start, step))) {
                for (least, greatest) in
                    (0..words).flat_map(|least| (least..words).map(move |most| (least, most)))
                {
                    let is_in = |n: &u128| (least..=greatest).contains(&((start + n * step) % words));
                    let expected = (0..words).find(is_in);
                    let found = first_in(width, start, step, least, greatest);
                    assert_eq!(
                        found, expected,
                        "{start} + n * {step} in {least}..={greatest} of {width} bits"
                    );
                }
            }
        }
    }

    #[test]
    fn wide_words_do_not_overflow() {
        let all = u128::from(u64::MAX);
        assert_eq!(first_in(64, 0, 3, all, all), Some(all / 3));
        assert_eq!(first_in(64, 1, 2, 0, 0), None);
        assert_eq!(first_in(64, 1, all, 0, 0), Some(1));
        assert_eq!(first_in(64, 0, all - 1, 1 << 63, 1 << 63), Some(1 << 62));
    }
}
