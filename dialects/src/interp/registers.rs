//! Access of actions to registers.

use super::code::{Entry, Flow, Slot, Step, malformed};
use super::datum::{Datum, Pointer};
use super::fault::{Fault, FaultKind};
use super::machine::Machine;

impl Machine {
    /// Returns the value of a register.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Datum {
        &self.registers[self.base + slot.0 as usize]
    }

    /// Returns the value of a register for modification.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Datum {
        &mut self.registers[self.base + slot.0 as usize]
    }

    /// Writes a register.
    #[inline]
    pub fn set(&mut self, slot: Slot, datum: Datum) {
        self.registers[self.base + slot.0 as usize] = datum;
    }

    /// Writes a register and continues.
    #[inline]
    pub fn done(&mut self, slot: Slot, datum: Datum) -> Step {
        self.set(slot, datum);
        Ok(Flow::Next)
    }

    /// Copies registers simultaneously.
    #[inline]
    pub fn copy(&mut self, from: &[Slot], to: &[Slot]) -> Result<(), Box<Fault>> {
        if from.len() != to.len() {
            return Err(malformed("as many values as are expected"));
        }
        match (from, to) {
            ([], []) => {}
            ([from], [to]) => {
                let datum = self.get(*from).clone();
                self.set(*to, datum);
            }
            _ => {
                let mut moved = std::mem::take(&mut self.buffer);
                moved.extend(from.iter().map(|slot| self.get(*slot).clone()));
                for (slot, datum) in to.iter().zip(moved.drain(..)) {
                    self.set(*slot, datum);
                }
                self.buffer = moved;
            }
        }
        Ok(())
    }

    /// Writes the arguments of a block and goes there.
    #[inline]
    pub fn enter(&mut self, entry: &Entry, arguments: &[Slot]) -> Step {
        self.copy(arguments, &entry.arguments)?;
        Ok(Flow::Goto(entry.target))
    }

    /// Reads an integer register as a signed number of 64 bits, for bounds, sizes and subscripts.
    #[inline]
    pub fn index(&self, slot: Slot, what: &str) -> Result<i64, Box<Fault>> {
        match self.get(slot) {
            Datum::Bits(bits) => Ok(*bits as i64),
            other => Err(unusable(other, what)),
        }
    }

    /// Reads an `i1` register on which control depends.
    #[inline]
    pub fn condition(&self, slot: Slot, what: &str) -> Result<bool, Box<Fault>> {
        match self.get(slot) {
            Datum::Bits(bits) => Ok(*bits & 1 != 0),
            other => Err(unusable(other, what)),
        }
    }

    /// Reads a pointer register whose object is accessed.
    #[inline]
    pub fn pointer(&self, slot: Slot, what: &str) -> Result<Pointer, Box<Fault>> {
        match self.get(slot) {
            Datum::Pointer { object, address } => Ok(Pointer { object: *object, address: *address }),
            other => Err(unusable(other, what)),
        }
    }

    /// Faults if any scalar of a register is poison.
    pub fn well_defined(&self, slot: Slot, what: &str) -> Result<(), Box<Fault>> {
        match self.get(slot).find_poison() {
            Some(poison) => Err(Fault::poison(what, poison)),
            None => Ok(()),
        }
    }

    /// Ends the program with a trap.
    #[cold]
    pub fn trap(message: impl Into<String>) -> Step {
        Err(Fault::new(FaultKind::Trap, message))
    }
}

/// Returns the fault of a datum that is used as another kind.
#[cold]
pub fn unusable(datum: &Datum, what: &str) -> Box<Fault> {
    match datum.find_poison() {
        Some(poison) => Fault::poison(what, poison),
        None => Fault::unsupported(format!("{what} is {}", datum.kind())),
    }
}
