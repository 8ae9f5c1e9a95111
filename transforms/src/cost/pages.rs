//! Loads that wait for a store, though it is to another page.
//!
//! ```text
//!     for x { t[y][x] = f(c[y][x]); out[y][x] = g(t[y - 1][x]) }    rows of 8 KiB
//! ```
//!
//! Some processors first compare the last 12 bits of addresses to find the store that a load needs.
//! A load at the same place of another page as a store just before it waits in vain. Rows whose
//! length is a multiple of a page make each iteration do that.
//!
//! Reference: Intel, *64 and IA-32 Architectures Optimization Reference Manual*, "4-KByte
//! aliasing".
//!
//! # Limits
//!
//! - Distances between objects are unknown, so only accesses to one object are compared.
//! - Loops with more than 64 loads and stores are not examined.

use loomir_ir::Value;

use super::leaves::Accessed;
use crate::access::Class;
use crate::access::base::Base;
use crate::affine::AffineForm;

/// Bytes of a page, as far as these processors compare addresses.
const PAGE: i64 = 4096;

/// The most loads and stores that are compared with each other.
const MOST: usize = 64;

/// A load or store of a loop's iteration.
#[derive(Clone, Debug)]
struct Spot {
    base: Base,
    origin: Option<Value>,
    /// The bytes from the beginning of the object, without a constant.
    from: AffineForm,
    /// The constant.
    at: i64,
    writes: bool,
}

/// The loads and stores of an innermost loop's iteration, in order.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    /// The level of the loop.
    level: u32,
    spots: Vec<Spot>,
}

impl Pages {
    /// Returns no accesses of a loop at a level.
    pub(super) fn at(level: u32) -> Pages {
        Pages { level, spots: Vec::new() }
    }

    /// Adds an access behind the others, unless its place is unknown.
    pub(super) fn touch(&mut self, class: &Class, subscripts: &[Option<AffineForm>], accessed: &Accessed) {
        if self.spots.len() > MOST {
            return;
        }
        let Some(place) = bytes_from_start(subscripts, accessed) else { return };
        let (from, at) = (place.without_constant(), place.constant_part());
        self.spots.push(Spot { base: class.base, origin: class.origin, from, at, writes: class.writes });
    }

    /// Adds the accesses of another loop that runs fused with this one, `shift` iterations later.
    pub(super) fn merge(&mut self, other: &Pages, shift: i64) {
        if self.spots.len() <= MOST {
            self.spots.extend(other.spots.iter().map(|own| own.shifted(self.level, shift)));
        }
    }

    /// Returns the number of loads of an iteration that wait for a store before them, if vectors
    /// have `bytes` bytes.
    pub(super) fn waits(&self, bytes: f64) -> usize {
        self.count(|at, load| self.spots[..at].iter().any(|store| store.holds_up(load, bytes)))
    }

    /// Returns the number of loads of a second loop that wait for a store of this one, if it runs
    /// fused with it and `shift` iterations later.
    pub(super) fn waits_of(&self, second: &Pages, shift: i64, bytes: f64) -> usize {
        second.count(|_, load| {
            let load = load.shifted(self.level, shift);
            self.spots.iter().any(|store| store.holds_up(&load, bytes))
        })
    }

    fn count(&self, waits: impl Fn(usize, &Spot) -> bool) -> usize {
        let loads = || self.spots.iter().enumerate().filter(|(_, own)| !own.writes);
        if self.spots.len() > MOST { 0 } else { loads().filter(|(at, load)| waits(*at, load)).count() }
    }
}

impl Spot {
    /// Returns what the access touches `shift` iterations of the loop at `level` before.
    fn shifted(&self, level: u32, shift: i64) -> Spot {
        let later = self.from.coefficient_of_level(level).saturating_mul(shift);
        Spot { at: self.at.saturating_sub(later), ..self.clone() }
    }

    /// True if a load waits for this store, though it loads something else.
    fn holds_up(&self, load: &Spot, bytes: f64) -> bool {
        let is_far = || {
            let distance = load.at.saturating_sub(self.at);
            let from_page = distance.rem_euclid(PAGE);
            let near = from_page.min(PAGE - from_page);
            (near as f64) < bytes && distance.unsigned_abs() as f64 >= bytes
        };
        self.writes
            && self.base == load.base
            && self.origin == load.origin
            && self.from == load.from
            && is_far()
    }
}

/// Returns the bytes from the beginning of an object to an element. `None` if a subscript or the
/// length of a row is unknown.
fn bytes_from_start(subscripts: &[Option<AffineForm>], accessed: &Accessed) -> Option<AffineForm> {
    let (mut sum, mut row) = (AffineForm::constant(0), Some(accessed.unit));
    for (at, form) in subscripts.iter().enumerate().rev() {
        sum = sum.plus(form.as_ref()?, row?)?;
        let size = accessed.shape.get(at).copied().flatten();
        row = row.zip(size).and_then(|(row, size)| row.checked_mul(size));
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use loomir_ir::{Context, Registry};

    use super::*;

    #[test]
    fn loads_wait_for_stores_at_the_same_place_of_another_page() {
        let object = Base::Global(Context::new(Registry::new()).name("object"));
        let spot = |at: i64, writes| {
            let from = AffineForm::constant(0).plus(&AffineForm::level(1), 8).unwrap();
            Spot { base: object, origin: None, from, at, writes }
        };
        let waits = |store: i64, load: i64| {
            Pages { level: 1, spots: vec![spot(store, true), spot(load, false)] }.waits(32.0)
        };
        let far = [8192, 8192 + 24, 8192 + 32, 8192 - 24, 100, 8, 0].map(|store| waits(store, 0));
        assert_eq!(far, [1, 1, 0, 1, 0, 0, 0]);
        let of = |spot: Spot| Pages { level: 1, spots: vec![spot] };
        let (store, load) = (of(spot(8192, true)), of(spot(0, false)));
        assert_eq!(load.waits_of(&store, 0, 32.0), 0, "the load is first");
        assert_eq!([0, 3, 4].map(|shift| store.waits_of(&load, shift, 32.0)), [1, 1, 0]);
    }
}
