//! Loop nests whose second nest runs in a different order than the first: interchanged or reversed.

use super::{Generator, Place};
use crate::program::{Expr, Item, Kind, MemRefId};

impl Generator<'_> {
    /// Adds two nests over one plane, the second with interchanged loops.
    pub(super) fn transposed(&mut self, place: &Place, items: &mut Vec<Item>) {
        let Some(plane) = self.of_rank(2) else { return };
        let sizes = self.program.memrefs[plane].shape.clone();
        let bounds: Vec<(i64, i64)> =
            sizes.iter().map(|size| (0, (self.extent - self.random.range(0, 1)).min(*size))).collect();
        let kind = if self.random.chance(50) { Kind::Affine } else { Kind::Scf };
        let first = self.box_nest(place, kind, &bounds, &mut |this, inner, body| {
            if this.random.chance(40) {
                this.statement(inner, body);
            }
            let at: Vec<Expr> = inner.loops.iter().map(|id| Expr::Variable(*id)).collect();
            let value = *this.random.pick(&inner.values.clone());
            body.push(Item::Store(value, plane, at));
        });
        let swapped: Vec<(i64, i64)> = bounds.iter().rev().copied().collect();
        let second = self.box_nest(place, kind, &swapped, &mut |this, inner, body| {
            let at: Vec<Expr> = inner.loops.iter().rev().map(|id| Expr::Variable(*id)).collect();
            let value = this.value();
            body.push(Item::Load(value, plane, at));
            inner.values.push(value);
            this.statement(inner, body);
        });
        items.extend([first, second]);
    }

    /// Adds two loops over one line. The second runs backwards.
    pub(super) fn mirrored(&mut self, place: &Place, items: &mut Vec<Item>) {
        let Some(line) = self.of_rank(1) else { return };
        let end = self.extent.min(self.program.memrefs[line].shape[0]);
        let kind = if self.random.chance(50) { Kind::Affine } else { Kind::Scf };
        let first = self.box_nest(place, kind, &[(0, end)], &mut |this, inner, body| {
            let value = *this.random.pick(&inner.values.clone());
            body.push(Item::Store(value, line, vec![Expr::Variable(inner.loops[0])]));
        });
        let second = self.box_nest(place, kind, &[(0, end)], &mut |this, inner, body| {
            let mirrored = Expr::Scale(Box::new(Expr::Variable(inner.loops[0])), -1);
            let at = vec![Expr::Add(Box::new(mirrored), Box::new(Expr::Constant(end - 1)))];
            let value = this.value();
            body.push(Item::Load(value, line, at));
            inner.values.push(value);
            this.statement(inner, body);
        });
        items.extend([first, second]);
    }

    /// Returns a memref of this rank, if there is one.
    fn of_rank(&mut self, rank: usize) -> Option<MemRefId> {
        let has_rank = |m: &MemRefId| self.program.memrefs[*m].shape.len() == rank;
        let all: Vec<MemRefId> = self.pool.iter().copied().filter(has_rank).collect();
        (!all.is_empty()).then(|| *self.random.pick(&all))
    }
}
