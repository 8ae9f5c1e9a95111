//! Ranges of words: the least and the greatest number a word may be, read as unsigned and signed.
//!
//! A range of an operation holds wherever its result is not poison. Analyses of ranges share this
//! arithmetic.

/// The ends of an exact result, read as unsigned and as signed, if they are in reach.
pub type Exact = (Option<(u128, u128)>, Option<(i128, i128)>);

/// A range, both ends included, of words of some width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Read as unsigned.
    pub unsigned: (u128, u128),
    /// Read as signed.
    pub signed: (i128, i128),
}

impl Range {
    /// Returns the range of all words.
    pub fn full(width: u32) -> Range {
        let (least, greatest) = signed_ends(width);
        Range { unsigned: (0, mask(width)), signed: (least, greatest) }
    }

    /// Returns the range of one word.
    pub fn exactly(width: u32, bits: u128) -> Range {
        Range { unsigned: (bits, bits), signed: (signed(width, bits), signed(width, bits)) }
    }

    /// Returns the range between two words, read as unsigned.
    pub fn between(width: u32, least: u128, greatest: u128) -> Range {
        Range { unsigned: (least, greatest), ..Range::full(width) }.consistent(width)
    }

    /// Returns the range between two words, read as signed.
    pub fn between_signed(width: u32, least: i128, greatest: i128) -> Range {
        Range { signed: (least, greatest), ..Range::full(width) }.consistent(width)
    }

    /// True if a word is in it.
    pub fn contains(&self, width: u32, bits: u128) -> bool {
        let number = signed(width, bits);
        (self.unsigned.0..=self.unsigned.1).contains(&bits)
            && (self.signed.0..=self.signed.1).contains(&number)
    }

    /// Returns the intersection; the first range if it is empty, because then nothing runs.
    pub fn and(self, other: Range, width: u32) -> Range {
        let unsigned = (self.unsigned.0.max(other.unsigned.0), self.unsigned.1.min(other.unsigned.1));
        let signed = (self.signed.0.max(other.signed.0), self.signed.1.min(other.signed.1));
        if unsigned.0 > unsigned.1 || signed.0 > signed.1 {
            return self;
        }
        Range { unsigned, signed }.consistent(width)
    }

    /// Returns the hull of the union.
    pub fn or(self, other: Range) -> Range {
        Range {
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
    }

    /// Returns the range shifted by `by`, with wrapping.
    pub fn moved(self, by: u128, width: u32) -> Range {
        let bits = |bits: u128| bits.wrapping_add(by) & mask(width);
        let number = |number: i128| signed(width, bits(number as u128));
        let mut range = Range::full(width);
        let (unsigned, signed) =
            ((bits(self.unsigned.0), bits(self.unsigned.1)), (number(self.signed.0), number(self.signed.1)));
        if unsigned.0 <= unsigned.1 {
            range.unsigned = unsigned;
        }
        if signed.0 <= signed.1 {
            range.signed = signed;
        }
        range.consistent(width)
    }

    /// Narrows each reading by the other, where all words have one sign.
    fn consistent(self, width: u32) -> Range {
        let Range { mut unsigned, mut signed } = self;
        let bits = |number: i128| number as u128 & mask(width);
        let number = |bits: u128| self::signed(width, bits);
        for _ in 0..2 {
            if (number(unsigned.0) < 0) == (number(unsigned.1) < 0) {
                signed = (signed.0.max(number(unsigned.0)), signed.1.min(number(unsigned.1)));
            }
            if (signed.0 < 0) == (signed.1 < 0) {
                unsigned = (unsigned.0.max(bits(signed.0)), unsigned.1.min(bits(signed.1)));
            }
            if unsigned.0 > unsigned.1 || signed.0 > signed.1 {
                return self;
            }
        }
        Range { unsigned, signed }
    }
}

/// Returns the least and the greatest signed number of a width.
pub fn signed_ends(width: u32) -> (i128, i128) {
    let greatest = (mask(width) >> 1) as i128;
    (-greatest - 1, greatest)
}

/// Returns the range of the words to which an exact result wraps. The result may be known in one
/// reading or in both.
pub fn wrapped(width: u32, unsigned: Option<(u128, u128)>, signed: Option<(i128, i128)>) -> Range {
    let mut range = Range::full(width);
    let ends = signed_ends(width);
    if let Some(exact) = unsigned.filter(|exact| exact.1 <= mask(width)) {
        range.unsigned = exact;
    }
    if let Some(exact) = signed.filter(|exact| exact.0 >= ends.0 && exact.1 <= ends.1) {
        range.signed = exact;
    }
    range.consistent(width)
}

/// Returns the exact sum of ranges.
pub fn sum(ranges: &[Range]) -> Exact {
    let unsigned = ranges.iter().try_fold((0u128, 0u128), |sum, range| {
        Some((sum.0.checked_add(range.unsigned.0)?, sum.1.checked_add(range.unsigned.1)?))
    });
    let signed = ranges.iter().try_fold((0i128, 0i128), |sum, range| {
        Some((sum.0.checked_add(range.signed.0)?, sum.1.checked_add(range.signed.1)?))
    });
    (unsigned, signed)
}

/// Returns the exact product of ranges.
pub fn product(ranges: &[Range]) -> Exact {
    let unsigned = ranges.iter().try_fold((1u128, 1u128), |product, range| {
        Some((product.0.checked_mul(range.unsigned.0)?, product.1.checked_mul(range.unsigned.1)?))
    });
    let signed =
        ranges.iter().try_fold((1i128, 1i128), |product, range| signed_product(product, range.signed));
    (unsigned, signed)
}

fn signed_product(a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    let corners =
        [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

/// Returns a number with the low `width` bits set.
fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width.clamp(1, 128))
}

/// Returns a word read as signed.
fn signed(width: u32, bits: u128) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((bits << shift) as i128) >> shift
}
