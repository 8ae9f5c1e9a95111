//! Hilbert's curve: the place of each position along it.
//!
//! A square of two to the power of `levels` rows has four quarters, which are visited in the shape
//! of a U. Each quarter is a smaller curve: the first one with rows and columns interchanged, the
//! last one so and turned around, the others as they are. Thus each position is beside the one
//! before. The curve begins in the first column of the first row and ends in the last column of
//! that row, beside the next square.
//!
//! From the outside, two digits of a position, `a` and `b`, say which quarter it is in. With the
//! rows and columns interchanged if `swap`, and both turned around if `turn`, the digits of column
//! and row are `a ^ (b & swap) ^ turn`, and that `^ b`. Then `swap` changes in the first and the
//! last quarter, and `turn` in the last one.
//!
//! Reference: Hilbert, *Über die stetige Abbildung einer Linie auf ein Flächenstück*, Mathematische
//! Annalen 38, 1891.
//!
//! **Cost.** About 15 operations on bits a level.

/// Operations on bits, which are the lowest bits of some kind of numbers.
pub(super) trait Bits {
    /// A number whose lowest bit counts.
    type Bit: Copy;

    /// Returns the digit of the position at a place, counted from the lowest.
    fn digit(&mut self, place: u32) -> Self::Bit;

    /// Returns the bit that is set if both are.
    fn both(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit;

    /// Returns the bit that is set if the number of set bits is odd, or if it is even and
    /// `opposite`.
    fn odd(&mut self, bits: &[Self::Bit], opposite: bool) -> Self::Bit;
}

/// Returns the digits of the row and those of the column, from the highest.
pub(super) fn place<B: Bits>(levels: u32, bits: &mut B) -> [Vec<B::Bit>; 2] {
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    // In the whole square, rows and columns are neither interchanged nor turned around.
    let mut around: Option<(B::Bit, B::Bit)> = None;
    for level in (0..levels).rev() {
        let (a, b) = (bits.digit(2 * level + 1), bits.digit(2 * level));
        let column = match around {
            Some((swap, turn)) => {
                let swapped = bits.both(b, swap);
                bits.odd(&[a, swapped, turn], false)
            }
            None => a,
        };
        columns.push(column);
        let row = bits.odd(&[column, b], false);
        rows.push(row);
        if level > 0 {
            let last = bits.both(a, b);
            around = Some(match around {
                Some((swap, turn)) => (bits.odd(&[a, b, swap], true), bits.odd(&[last, turn], false)),
                None => (bits.odd(&[row], true), last),
            });
        }
    }
    [rows, columns]
}

#[cfg(test)]
mod tests {
    use super::{Bits, place};
    use crate::tree::MAX_LEVELS;

    /// The digits of a number.
    struct Number(u32);

    impl Bits for Number {
        type Bit = u32;

        fn digit(&mut self, place: u32) -> u32 {
            self.0 >> place
        }

        fn both(&mut self, a: u32, b: u32) -> u32 {
            a & b
        }

        fn odd(&mut self, bits: &[u32], opposite: bool) -> u32 {
            bits.iter().fold(u32::from(opposite), |sum, bit| sum ^ bit)
        }
    }

    /// Each place of a square is visited once, beside the one before. The first one is `(0, 0)`,
    /// and the last one is the end of the first row.
    #[test]
    fn the_curve_visits_each_place_once() {
        for levels in 1..=MAX_LEVELS {
            let size = 1_usize << levels;
            let mut visited = vec![false; size * size];
            let mut before: Option<[usize; 2]> = None;
            for position in 0..1 << (2 * levels) {
                let digits = place(levels, &mut Number(position));
                let [row, column] = digits.map(|own| {
                    assert_eq!(own.len(), levels as usize);
                    own.iter().fold(0, |sum, digit| sum * 2 + (digit & 1) as usize)
                });
                assert!(!std::mem::replace(&mut visited[row * size + column], true), "{row}, {column}");
                let apart = |[x, y]: [usize; 2]| row.abs_diff(x) + column.abs_diff(y);
                assert_eq!(before.map_or(1, apart), 1, "{levels} levels: {before:?} to {row}, {column}");
                assert!(position > 0 || (row, column) == (0, 0));
                before = Some([row, column]);
            }
            assert!(visited.into_iter().all(|own| own));
            assert_eq!(before, Some([0, size - 1]));
        }
    }
}
