//! Mixed lists: some numbers are constants, the others are operands. Examples are sizes of
//! `subview` and bounds of `forall`.

use loomir_ir::types::DYNAMIC;
use loomir_ir::{Attr, OpRef, Value};

use super::code::{Decoder, Slot, malformed};
use super::fault::Fault;
use super::machine::Machine;

/// A list of numbers, each a constant or a register.
#[derive(Clone, Debug)]
pub struct Mixed(Box<[Number]>);

#[derive(Clone, Copy, Debug)]
enum Number {
    Constant(i64),
    Slot(Slot),
}

impl Mixed {
    /// Returns the constants of attribute `name`, with `values` for the dynamic entries.
    pub fn new(
        op: OpRef<'_>,
        d: &Decoder<'_>,
        name: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Mixed, Box<Fault>> {
        let constants = op.attr(name).and_then(|a: Attr| a.as_dense_ints(d.ctx()));
        let constants = constants.ok_or_else(|| malformed(name))?;
        Mixed::fill(d, &constants, values)
    }

    /// Returns these constants, with `values` for the dynamic entries.
    pub fn fill(
        d: &Decoder<'_>,
        constants: &[i64],
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Mixed, Box<Fault>> {
        let mut values = values.into_iter();
        let mut number = |constant: &i64| match *constant {
            DYNAMIC => values.next().map(|v| Number::Slot(d.slot(v))),
            constant => Some(Number::Constant(constant)),
        };
        let numbers: Option<Box<[Number]>> = constants.iter().map(&mut number).collect();
        numbers
            .filter(|_| values.next().is_none())
            .map(Mixed)
            .ok_or_else(|| malformed("an operand for each dynamic number"))
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number `index`.
    pub fn get(&self, m: &Machine, index: usize, what: &str) -> Result<i64, Box<Fault>> {
        match self.0[index] {
            Number::Constant(value) => Ok(value),
            Number::Slot(slot) => m.index(slot, what),
        }
    }

    /// Returns all numbers.
    pub fn all(&self, m: &Machine, what: &str) -> Result<Vec<i64>, Box<Fault>> {
        (0..self.len()).map(|i| self.get(m, i, what)).collect()
    }

    /// Returns all numbers as sizes. Faults if one is negative.
    pub fn sizes(&self, m: &Machine) -> Result<Vec<i64>, Box<Fault>> {
        let sizes = self.all(m, "a size")?;
        match sizes.iter().find(|n| **n < 0) {
            Some(size) => Err(Fault::undefined(format!("the size {size} is negative"))),
            None => Ok(sizes),
        }
    }
}
