//! Sums of classes of values: integer arithmetic without the order in which it is written.
//!
//! A word is a number and multiples of other words, modulo two to the power of its width. Equal
//! sums are equal words.

use loomir_dialects::interp::integer::mask;

/// The maximal number of separate terms. A longer sum is one operation of two operands.
const MAX_TERMS: usize = 16;

/// A constant and multiples of some classes, in their order, with nonzero factors.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Sum {
    pub(super) constant: u128,
    pub(super) terms: Vec<(u32, u128)>,
}

impl Sum {
    /// Returns the sum that is a constant.
    pub(super) fn number(bits: u128) -> Sum {
        Sum { constant: bits, terms: Vec::new() }
    }

    /// Returns the sum that is a single class.
    pub(super) fn one(class: u32) -> Sum {
        Sum { constant: 0, terms: vec![(class, 1)] }
    }

    /// Returns the class, if the sum is a single class.
    pub(super) fn as_class(&self) -> Option<u32> {
        if let (0, [(class, 1)]) = (self.constant, &self.terms[..]) { Some(*class) } else { None }
    }

    /// Returns the constant, if the sum is one.
    pub(super) fn as_number(&self) -> Option<u128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns this sum plus `times` times another, in words of a width. `None` if it has too many
    /// terms.
    pub(super) fn plus(&self, other: &Sum, times: u128, width: u32) -> Option<Sum> {
        let mut sum =
            Sum::number(self.constant.wrapping_add(other.constant.wrapping_mul(times)) & mask(width));
        let (mut own, mut others) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (own.peek(), others.peek()) {
                (None, None) => break,
                (Some((a, _)), Some((b, _))) if a == b => {
                    let (own, other) = (own.next(), others.next());
                    own.zip(other).map(|((class, x), (_, y))| (*class, x.wrapping_add(y.wrapping_mul(times))))
                }
                (Some((a, _)), Some((b, _))) if a > b => {
                    others.next().map(|(class, y)| (*class, y.wrapping_mul(times)))
                }
                (Some(_), _) => own.next().copied(),
                (None, Some(_)) => others.next().map(|(class, y)| (*class, y.wrapping_mul(times))),
            };
            if let Some((class, times)) = next.filter(|(_, times)| times & mask(width) != 0) {
                sum.terms.push((class, times & mask(width)));
            }
        }
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }
}
