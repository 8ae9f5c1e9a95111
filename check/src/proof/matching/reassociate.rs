//! Equality of two chains: what they combine is the same, in some order.
//!
//! Each value that the first chain combines is paired with one of the second. The pairs are guessed
//! from the elements and numbers that both compute from ([`Matcher::anchors`]); then it is shown
//! that they are one-to-one and leave nothing over. What is paired is to be shown equal.
//!
//! Integer flags are promises about intermediate results. In another order these are others, so the
//! second chain must have none.

use loomir_polyhedra::Conjunction;

use super::super::form::Form;
use super::super::model::{Kind, TermId};
use super::super::sets::{Pieces, hide, intersect, moved};
use super::chain::{Combining, Family, Leaf};
use super::operations::refines;
use super::{Goal, Matcher, Side, Stuck};

/// The most values of a chain, counted as terms.
const MAX_LEAVES: usize = 24;
/// The depth to which values are compared to see which belong together.
const ANCHOR_DEPTH: usize = 8;

/// Equations between forms of a term of each program.
type Anchors = Vec<(Form, Form)>;

impl<'b> Matcher<'_, 'b> {
    /// Replaces a goal between chains by goals between what they combine; `None` if it is not seen
    /// how these belong together.
    pub(super) fn reassociated(
        &mut self,
        goal: &Goal,
        own: Combining,
    ) -> Result<Option<Vec<Goal>>, Stuck<'b>> {
        let Some(first) = self.chain(0, goal, own)? else { return Ok(None) };
        let Some(second) = self.chain(1, goal, own)? else { return Ok(None) };
        if !first.promises_all_of(&second) || first.leaves.len() + second.leaves.len() > MAX_LEAVES {
            return Ok(None);
        }
        let mut chains = [first.leaves, second.leaves];
        for (side, leaves) in chains.iter_mut().enumerate() {
            leaves.retain(|leaf| !self.is_neutral(side, leaf.term, own.family));
        }
        let roots = [0, 1].map(|side| self.depth(side, goal.terms[side]));
        let mut rests: [Vec<Pieces>; 2] =
            [0, 1].map(|side| chains[side].iter().map(|leaf| self.keyed(side, leaf, roots)).collect());
        let mut goals = Vec::new();
        let key = self.params + roots[0] + roots[1];
        for (i, a) in chains[0].iter().enumerate() {
            for (j, b) in chains[1].iter().enumerate() {
                let mut anchors = Anchors::new();
                if a.is_negative != b.is_negative
                    || !self.anchors([a.term, b.term], ANCHOR_DEPTH, &mut anchors)?
                {
                    continue;
                }
                let depths = [self.depth(0, a.term), self.depth(1, b.term)];
                let vars = key + depths[0] + depths[1];
                let wide = |v: usize| if v < key { v } else { v + depths[0] };
                let firsts: Pieces = rests[0][i].iter().map(|set| moved(set, vars, |v| v)).collect();
                let seconds: Pieces = rests[1][j].iter().map(|set| moved(set, vars, wide)).collect();
                let anchored = intersect(&firsts, &seconds).into_iter().map(|mut set| {
                    for (x, y) in &anchors {
                        let x = x.expression(&mut set, key);
                        let y = y.expression(&mut set, key + depths[0]);
                        set.add_eq(x, y);
                    }
                    set
                });
                let pairs = self.solver.pruned(anchored)?;
                if pairs.is_empty() || !self.is_one_to_one(&pairs, key, depths)? {
                    continue;
                }
                rests[0][i] = self.solver.subtract(&rests[0][i], &hide(&pairs, key + depths[0]..vars))?;
                rests[1][j] = self.solver.subtract(&rests[1][j], &hide(&pairs, key..key + depths[0]))?;
                goals.push(Goal { terms: [a.term, b.term], pairs: hide(&pairs, self.params..key) });
            }
        }
        for rest in rests.into_iter().flatten() {
            if !self.solver.pruned(rest)?.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(goals))
    }

    /// True if the variables of each side are a function of the key and of those of the other side.
    fn is_one_to_one(
        &mut self,
        pairs: &[Conjunction],
        key: usize,
        depths: [usize; 2],
    ) -> Result<bool, Stuck<'b>> {
        let vars = key + depths[0] + depths[1];
        let swapped = |v: usize| match v {
            _ if v < key => v,
            _ if v < key + depths[0] => v + depths[1],
            _ => v - depths[0],
        };
        let turned: Pieces = pairs.iter().map(|set| moved(set, vars, swapped)).collect();
        Ok(self.is_function(pairs, key + depths[0])? && self.is_function(&turned, key + depths[1])?)
    }

    /// Returns the relation of a leaf over the parameters, the last operations of both chains and
    /// the leaf's variables.
    fn keyed(&self, side: Side, leaf: &Leaf, roots: [usize; 2]) -> Pieces {
        let depth = self.depth(side, leaf.term);
        let params = self.params;
        let key = params + roots[0] + roots[1];
        let vars = key + depth;
        // In the relation: (leaf, second, first) or (first, leaf, second).
        let place = |v: usize| {
            if v < params {
                return v;
            }
            let v = v - params;
            if side == 0 {
                match v {
                    _ if v < depth => key + v,
                    _ if v < depth + roots[1] => params + roots[0] + (v - depth),
                    _ => params + (v - depth - roots[1]),
                }
            } else {
                match v {
                    _ if v < roots[0] => params + v,
                    _ if v < roots[0] + depth => key + (v - roots[0]),
                    _ => params + roots[0] + (v - roots[0] - depth),
                }
            }
        };
        leaf.pairs.iter().map(|set| moved(set, vars, place)).collect()
    }

    /// True for a constant that a chain may leave out.
    fn is_neutral(&self, side: Side, term: TermId, family: Family) -> bool {
        let Kind::Number(form) = &self.term(side, term).kind else { return false };
        match family {
            Family::Sum | Family::Other(2 | 3) => form.as_constant() == Some(0),
            Family::Other(0) => form.as_constant() == Some(1),
            Family::Other(_) => false,
        }
    }

    /// Collects equations that hold if two terms compute the same from the same elements and
    /// numbers; false if they plainly do not.
    fn anchors(&mut self, terms: [TermId; 2], depth: usize, out: &mut Anchors) -> Result<bool, Stuck<'b>> {
        let [a, b] = [0, 1].map(|side| self.term(side, terms[side]));
        match (&a.kind, &b.kind) {
            (Kind::Number(x), Kind::Number(y)) => {
                out.push((x.clone(), y.clone()));
                Ok(a.ty == b.ty)
            }
            (Kind::Constant(x), Kind::Constant(y)) => Ok(x == y),
            (Kind::Argument(x), Kind::Argument(y)) => Ok(x == y),
            (Kind::Load(x) | Kind::Initial(x), Kind::Load(y) | Kind::Initial(y)) => {
                let accesses = [&self.programs[0].accesses[*x], &self.programs[1].accesses[*y]];
                let objects = [0, 1].map(|side| &self.programs[side].objects[accesses[side].object]);
                if objects.iter().any(|object| !object.is_visible()) {
                    return Ok(true);
                }
                if let (Some(x), Some(y)) = (&accesses[0].element, &accesses[1].element) {
                    out.extend(x.iter().cloned().zip(y.iter().cloned()));
                }
                Ok(objects[0].key == objects[1].key)
            }
            (Kind::Operation { operands: xs, .. }, Kind::Operation { operands: ys, .. }) if depth > 0 => {
                if xs.len() != ys.len() || !refines([a.op, b.op]) {
                    return Ok(false);
                }
                let swap = xs.len() == 2
                    && Self::is_commutative(a.op)
                    && !self.fits([xs[0], ys[0]])
                    && self.fits([xs[0], ys[1]]);
                for (index, x) in xs.iter().enumerate() {
                    let y = ys[if swap { 1 - index } else { index }];
                    if !self.anchors([*x, y], depth - 1, out)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Kind::Operation { .. }, Kind::Constant(_)) | (Kind::Constant(_), Kind::Operation { .. }) => {
                Ok(false)
            }
            _ => Ok(true),
        }
    }
}
