//! The calls of a random C function: how its pointers lie to each other, and its numbers.

use std::fmt;

use crate::random::Random;

use super::signature::{Shape, Signature};
use super::types::VARIABLES;

/// The number of calls of a function.
pub(super) const CALLS: usize = 24;

/// The bytes between buffers that do not overlap, except with numbers at the limits of types.
const FAR: i64 = 2560;

/// The bytes between buffers that never overlap.
const FARTHEST: i64 = 12_288;

/// The arguments of a call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The buffer, or the global variable of this number, behind each pointer.
    places: [usize; 3],
    /// The offset of each pointer in bytes.
    offsets: [i64; 3],
    /// `n`, `m`, `lo`, `s` and `k`.
    numbers: [i64; 5],
    fill: usize,
    /// True if the global variables are accessed.
    has_variables: bool,
}

/// Writes a call as a row of the driver's table, without the number of its function.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[i64]| all.iter().map(|n| format!("{n}LL")).collect::<Vec<_>>().join(", ");
        // The least number has no literal in C.
        let numbers = list(&self.numbers).replace("-9223372036854775808LL", "(-9223372036854775807LL - 1)");
        let [a, b, c] = self.places;
        write!(
            f,
            "{{{a}, {b}, {c}}}, {{{}}}, {numbers}, {}, {}",
            list(&self.offsets),
            self.fill,
            u8::from(self.has_variables)
        )
    }
}

/// Returns the calls of a function.
pub(super) fn calls(random: &mut Random, of: &Signature) -> Vec<Call> {
    (0..CALLS).map(|_| call(random, of)).collect()
}

fn call(random: &mut Random, of: &Signature) -> Call {
    let counter = of.counter;
    let is_extreme = random.chance(20);
    let mut n = *random.pick(&[0, 1, 2, 3, 4, 5, 8, 10, 11, 16, 20, 31, 39]);
    if is_extreme && random.chance(30) {
        n = *random.pick(&[-1, -2, counter.least(), counter.greatest(), counter.least() + 1]);
    }
    let lo = match is_extreme {
        true => *random.pick(&[
            counter.least(),
            counter.least() + 1,
            counter.greatest().wrapping_sub(n),
            counter.greatest().wrapping_sub(n).wrapping_sub(1),
            counter.greatest(),
        ]),
        false => random.range(0, 9),
    };
    let m = match of.shape {
        Shape::Window => lo.wrapping_add(n),
        _ => random.range(0, 8),
    };
    let s = match is_extreme && n <= 1 {
        true => *random.pick(&[i64::from(i32::MIN), i64::from(i32::MAX), -1]),
        false => *random.pick(&[0, 1, 1, 2, 3, -1]),
    };
    let k = match random.chance(30) {
        true => *random.pick(&[of.scalar.least(), of.scalar.greatest(), -1]),
        false => random.range(0, 9),
    };
    if of.is_restrict {
        // Restricted pointers must not meet.
        n = n.clamp(0, 39);
    }
    let (places, offsets) = layout(random, of, n.clamp(0, 64), is_extreme);
    let has_variables = of.variable.is_some() || places != [0; 3];
    let fill = random.weighted(&[4, 4, 1, 2]);
    Call { places, offsets, numbers: [n, m, lo, s, k], fill, has_variables }
}

/// Returns the places of the pointers, if each accesses about `n` elements.
fn layout(random: &mut Random, of: &Signature, n: i64, is_extreme: bool) -> ([usize; 3], [i64; 3]) {
    if of.is_restrict {
        return ([0; 3], [0, FARTHEST, -FARTHEST]);
    }
    let (mut places, mut offsets) = ([0; 3], [0, FAR, -FAR]);
    if random.chance(40) {
        return (places, offsets);
    }
    for at in 1..3 {
        let other = random.below(at);
        let own = of.bytes.get(at).copied().unwrap_or(1);
        let lengths = [of.bytes[other] * n, own * n];
        let gap = match random.below(8) {
            0 => 0,
            1 => lengths[0] - 1,
            2 => 1 - lengths[1],
            3 => *random.pick(&[lengths[0], -lengths[1]]),
            4 => own * random.range(-8, 8),
            5 => random.range(-7, 7),
            6 => own * *random.pick(&[lengths[0] / 2, 16, -16, 1, -1]),
            _ => continue,
        };
        offsets[at] = offsets[other] + gap.clamp(-FAR, FAR);
        if !of.is_packed && random.chance(70) {
            offsets[at] -= offsets[at].rem_euclid(own.max(1));
        }
    }
    // Nothing guards the memory around a variable.
    if !is_extreme && random.chance(if of.variable.is_some() { 50 } else { 10 }) {
        let at = random.below(3);
        places[at] = match of.variable {
            Some(variable) if random.chance(70) => variable + 1,
            _ => 1 + random.below(VARIABLES.len()),
        };
        offsets[at] = of.bytes.get(at).map_or(0, |own| own * random.range(-3, 3));
    }
    (places, offsets)
}
