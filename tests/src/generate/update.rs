//! Random updates: an element loaded, combined with something else and stored back.

use super::{Generator, Place};
use crate::program::{Expr, Item, MemRefId};

impl Generator<'_> {
    /// Adds an update, most often of one element in all iterations, which other statements update,
    /// too. Sometimes it is under a condition.
    pub(super) fn update(&mut self, place: &mut Place, items: &mut Vec<Item>) {
        let (memref, at) = self.updated(place);
        let (old, new, mut own) = (self.value(), self.value(), Vec::new());
        let mut other = *self.random.pick(&place.values.clone());
        if self.random.chance(50) {
            let (memref, from) = self.place_in(place);
            other = self.value();
            own.push(Item::Load(other, memref, from));
        }
        own.push(Item::Load(old, memref, at.clone()));
        let (a, b) = if self.random.chance(75) { (old, other) } else { (other, old) };
        own.push(Item::Compute(new, self.operator(), a, b));
        own.push(Item::Store(new, memref, at));
        if self.random.chance(16) {
            let condition = self.condition(place);
            return items.push(Item::If(condition, own, Vec::new()));
        }
        items.append(&mut own);
    }

    /// Returns the memref and the subscripts that are updated.
    fn updated(&mut self, place: &Place) -> (MemRefId, Vec<Expr>) {
        let again = self.random.chance(60);
        let last = self.last_update.clone().filter(|(memref, _)| again && self.pool.contains(memref));
        if let Some(last) = last {
            return last;
        }
        if self.random.chance(25) {
            return self.place_in(place);
        }
        let memref = *self.random.pick(&self.pool.clone());
        let sizes = self.program.memrefs[memref].shape.clone();
        let at = sizes.into_iter().map(|size| Expr::Constant(self.random.range(0, 2).min(size - 1)));
        let at: Vec<Expr> = at.collect();
        self.last_update = Some((memref, at.clone()));
        (memref, at)
    }
}
