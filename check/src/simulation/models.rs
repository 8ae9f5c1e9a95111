//! Numbers for the unknown values of terms.

use hashbrown::HashMap;

use super::numbers::{self, Binary, mask, signed};
use super::terms::{Node, Store, TermId};

/// The end of a search for numbers.
pub(super) enum Found {
    /// There are none.
    Excluded,
    /// These may be some.
    Numbers(Model),
    Nothing,
}

/// Numbers for some unknown values. Others are zero.
pub(super) struct Model {
    numbers: HashMap<TermId, u64>,
}

impl Model {
    pub(super) fn new(numbers: impl Iterator<Item = (TermId, u64)>) -> Model {
        Model { numbers: numbers.collect() }
    }

    /// Returns the values of terms, in ascending order with all operands among them. One is missing
    /// if it is poison, undefined or no integer.
    pub(super) fn values(&self, store: &Store, terms: &[(TermId, u32)]) -> HashMap<TermId, u64> {
        let mut values = HashMap::with_capacity(terms.len());
        for (term, width) in terms {
            if let Some(value) = self.value(store, *term, *width, &values) {
                values.insert(*term, value & mask(*width));
            }
        }
        values
    }

    fn value(&self, store: &Store, term: TermId, width: u32, known: &HashMap<TermId, u64>) -> Option<u64> {
        let of = |term: TermId| known.get(&term).copied();
        Some(match store.node(term) {
            Node::Int { bits, .. } => *bits,
            Node::Sum { constant, products, .. } => {
                let mut sum = *constant;
                for (atom, factor) in products {
                    sum = sum.wrapping_add(of(*atom)?.wrapping_mul(*factor));
                }
                sum
            }
            Node::Binary { code: Binary::Address, operands: [a, b], .. } => of(*a)?.wrapping_add(of(*b)?),
            Node::Binary { code, flags, operands: [a, b], .. } => {
                numbers::binary(*code, *flags, width, of(*a)?, of(*b)?)?
            }
            Node::Cast { code, flags, widths, operand } => {
                numbers::cast(*code, *flags, *widths, of(*operand)?)?
            }
            Node::Not(operand) => 1 ^ of(*operand)?,
            Node::Zero { operand, .. } => u64::from(of(*operand)? == 0),
            Node::Less { unsigned, width, operands: [a, b] } => {
                let [a, b] = [of(*a)?, of(*b)?];
                u64::from(if *unsigned { a < b } else { signed(*width, a) < signed(*width, b) })
            }
            Node::Select([condition, yes, no]) => of(if of(*condition)? == 0 { *no } else { *yes })?,
            Node::Argument { .. } | Node::Symbol(_) | Node::Operation(_) => {
                self.numbers.get(&term).copied().unwrap_or(0)
            }
            Node::Start | Node::Constant { .. } => return None,
        })
    }
}
