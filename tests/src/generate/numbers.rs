//! Loops whose fusion is legal only under a condition on run-time numbers.

use super::{Generator, Place};
use crate::program::{Carried, Expr, Item, Kind, Loop, MemRefId};

impl Generator<'_> {
    /// Makes two loops over one line whose legality of fusion depends on two parameters. Either the
    /// parameters are the trip counts and the loops carry values, or the second loop reads ahead by
    /// a parameter.
    pub(super) fn symbolic(&mut self, place: &Place, items: &mut Vec<Item>, guarded: bool) {
        let is_line = |m: &MemRefId| self.program.memrefs[*m].shape.len() == 1;
        let lines: Vec<MemRefId> = self.pool.iter().copied().filter(is_line).collect();
        if lines.is_empty() {
            return;
        }
        if self.program.parameters.len() == 1 {
            let second = self.random.range(1, 5);
            self.program.parameters.push(second);
        }
        let line = *self.random.pick(&lines);
        let size = self.program.memrefs[line].shape[0];
        let kind = if self.random.chance(50) { Kind::Affine } else { Kind::Scf };
        let by_length = self.random.chance(50);
        for second in [false, true] {
            let id = self.loop_id();
            let length = usize::from(by_length && second);
            let mut inner = Place {
                values: place.values.clone(),
                loops: vec![id],
                kinds: vec![kind],
                ..Place::default()
            };
            inner.instances = (0..self.program.parameters[length]).map(|value| vec![value]).collect();
            let mut body = Vec::new();
            let variable = Expr::Variable(id);
            let at = match second && !by_length {
                true => Expr::Add(Box::new(variable), Box::new(Expr::Parameter(1))),
                false => variable,
            };
            let at = vec![self.within(at, size, &inner)];
            let value = self.value();
            if by_length || second {
                body.push(Item::Load(value, line, at));
                inner.values.push(value);
            } else {
                let stored = *self.random.pick(&inner.values);
                body.push(Item::Store(stored, line, at));
            }
            if second || self.random.chance(50) {
                self.statement(&mut inner, &mut body);
            }
            let carried = by_length.then(|| {
                let init = *self.random.pick(&place.values.clone());
                let [argument, next, result] = [0; 3].map(|_| self.value());
                body.push(Item::Compute(next, self.operator(), argument, value));
                if !guarded {
                    self.program.returns.push(result);
                }
                Carried { init, argument, next, result }
            });
            let (lower, upper) = (vec![Expr::Constant(0)], vec![Expr::Parameter(length)]);
            items.push(Item::Loop(Loop { id, kind, lower, upper, step: 1, carried, body }));
        }
    }
}
