//! [`Relation`]: relations between named integer tuples with parameters.
//!
//! Composition and image join two conjunctions on a common tuple and make it existential; the
//! normal form then removes what equalities give, so the usual affine maps compose without
//! existential variables left.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::affine::{Affine, Var};
use crate::algebra::{algebra, align, check_like};
use crate::coalesce::coalesce;
use crate::conjunction::{Conjunction, Emptiness, Point};
use crate::count::{Count, count};
use crate::error::Error;
use crate::error::limited;
use crate::gist::gist;
use crate::int::Int;
use crate::limits::{Budget, Limits};
use crate::optimum::{self, Optimum};
use crate::parametric::End;
use crate::set::Set;
use crate::solve::Least;
use crate::space::{Space, Tuple};
use crate::text::{ParseError, parse};
use crate::union;

/// A relation between integer tuples, `[n] -> { S[i] -> A[i + 1] : … }`.
///
/// ```
/// use loomir_polyhedra::{Limits, Relation};
/// let write: Relation = "[n] -> { S[i] -> A[2i] : 0 <= i < n }".parse().unwrap();
/// let read: Relation = "[n] -> { T[j] -> A[j + 3] : 0 <= j < n }".parse().unwrap();
/// let flow = write.then(&read.inverse()).unwrap();
/// assert_eq!(flow.to_string(), "[n] -> { S[i] -> T[-3 + 2i] : 2 <= i < n and 2 + n >= 2i }");
/// ```
#[derive(Clone, Debug)]
pub struct Relation {
    pub(crate) space: Arc<Space>,
    pub(crate) pieces: Vec<Conjunction>,
}

algebra!(Relation);

/// A lexicographic order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Input before output.
    Less,
    /// Input before or equal to output.
    LessOrEqual,
    /// Input after output.
    Greater,
    /// Input after or equal to output.
    GreaterOrEqual,
}

impl Relation {
    /// The input tuple.
    pub fn input(&self) -> &Tuple {
        &self.space.tuples[0]
    }

    /// The output tuple.
    pub fn output(&self) -> &Tuple {
        &self.space.tuples[1]
    }

    /// The pairs of points of `tuple` in lexicographic order.
    /// ```
    /// use loomir_polyhedra::{Order, Relation, Tuple};
    /// let before = Relation::lexicographic(&[], &Tuple::new("S", &["i", "j"]), Order::Less);
    /// assert_eq!(before.to_string(), "{ S[i, j] -> S[o0, o1] : o0 > i; S[i, j] -> S[i, o1] : o1 > j }");
    /// ```
    pub fn lexicographic(params: &[&str], tuple: &Tuple, order: Order) -> Relation {
        let arity = tuple.arity();
        let mut output = tuple.clone();
        output.dims = vec![None; arity];
        let space = Space::relation(params, tuple.clone(), output);
        let equal_too = matches!(order, Order::LessOrEqual | Order::GreaterOrEqual);
        let mut pieces = Vec::with_capacity(arity + 1);
        for level in 0..arity + usize::from(equal_too) {
            let mut piece = Conjunction::new(space.vars());
            for dim in 0..level.min(arity) {
                piece.add_eq(space.dim(dim), space.out(dim));
            }
            if level < arity {
                match order {
                    Order::Less | Order::LessOrEqual => piece.add_lt(space.dim(level), space.out(level)),
                    Order::Greater | Order::GreaterOrEqual => {
                        piece.add_gt(space.dim(level), space.out(level))
                    }
                }
            }
            pieces.push(piece);
        }
        Relation::from_conjunctions(space, pieces)
    }

    /// The relation with input and output exchanged.
    pub fn inverse(&self) -> Relation {
        let (params, inputs, outputs) = self.shape();
        let map: Vec<usize> = (0..params)
            .chain((0..inputs).map(|dim| params + outputs + dim))
            .chain((0..outputs).map(|dim| params + dim))
            .collect();
        let visible = self.space.vars();
        let tuples = vec![self.output().clone(), self.input().clone()];
        let pieces = self.pieces.iter().map(|piece| piece.renamed(visible, &map)).collect();
        Relation { space: Arc::new(self.space.with_tuples(tuples)), pieces }
    }

    /// Numbers of parameters, input and output dimensions.
    fn shape(&self) -> (usize, usize, usize) {
        (self.space.params.len(), self.input().arity(), self.output().arity())
    }

    /// The inputs of all pairs.
    pub fn domain(&self) -> Set {
        let (params, inputs, _) = self.shape();
        self.shadow(self.input().clone(), |var| var >= params + inputs)
    }

    /// The outputs of all pairs.
    pub fn range(&self) -> Set {
        let (params, inputs, _) = self.shape();
        self.shadow(self.output().clone(), |var| (params..params + inputs).contains(&var))
    }

    fn shadow(&self, tuple: Tuple, hide: impl Fn(usize) -> bool) -> Set {
        let pieces = self.pieces.iter().filter_map(|piece| piece.hidden(&hide).simplified()).collect();
        Set { space: Arc::new(self.space.with_tuples(vec![tuple])), pieces }
    }

    /// The composition: pairs `(x, z)` with `(x, y)` here and `(y, z)` in `next`.
    pub fn then(&self, next: &Relation) -> Result<Relation, Error> {
        if !self.output().is_like(next.input()) {
            return Err(self.space.mismatch(&next.space));
        }
        let aligned = align((&self.space, &self.pieces), (&next.space, &next.pieces));
        let (params, inputs) = (aligned.params.len(), self.input().arity());
        let (middle, outputs) = (self.output().arity(), next.output().arity());
        let all = params + inputs + middle + outputs;
        // parameters, input, output, middle
        let left: Vec<usize> =
            (0..params + inputs).chain((0..middle).map(|dim| params + inputs + outputs + dim)).collect();
        let right: Vec<usize> = (0..params)
            .chain((0..middle).map(|dim| params + inputs + outputs + dim))
            .chain((0..outputs).map(|dim| params + inputs + dim))
            .collect();
        let mut pieces = Vec::new();
        for a in &aligned.left {
            let a = a.renamed(all, &left);
            for b in &aligned.right {
                let both = a.intersect(&b.renamed(all, &right));
                pieces.extend(both.hidden(|var| var >= params + inputs + outputs).simplified());
            }
        }
        let tuples = vec![self.input().clone(), next.output().clone()];
        Ok(Relation { space: Arc::new(Space { params: aligned.params, tuples }), pieces })
    }

    /// The outputs of the inputs in `set`.
    pub fn image(&self, set: &Set) -> Result<Set, Error> {
        Ok(self.intersect_domain(set)?.range())
    }

    /// The pairs whose input is in `set`.
    pub fn intersect_domain(&self, set: &Set) -> Result<Relation, Error> {
        self.intersect_side(set, 0)
    }

    /// The pairs whose output is in `set`.
    pub fn intersect_range(&self, set: &Set) -> Result<Relation, Error> {
        self.intersect_side(set, 1)
    }

    fn intersect_side(&self, set: &Set, side: usize) -> Result<Relation, Error> {
        if !self.space.tuples[side].is_like(set.tuple()) {
            return Err(self.space.mismatch(set.space()));
        }
        let aligned = align((&self.space, &self.pieces), (&set.space, &set.pieces));
        let params = aligned.params.len();
        let first = params + if side == 0 { 0 } else { self.input().arity() };
        let map: Vec<usize> = (0..params).chain((0..set.tuple().arity()).map(|dim| first + dim)).collect();
        let visible = params + self.space.dims();
        let sides: Vec<Conjunction> =
            aligned.right.iter().map(|piece| piece.renamed(visible, &map)).collect();
        let space = Space { params: aligned.params, tuples: self.space.tuples.clone() };
        Ok(Relation { space: Arc::new(space), pieces: union::intersect(&aligned.left, &sides) })
    }

    /// For each input, and value of the parameters, the lexicographically least output.
    /// ```
    /// use loomir_polyhedra::{Limits, Relation};
    /// // The first element of each row that is not before the diagonal and not odd.
    /// let rows: Relation = "[n] -> { R[i] -> A[i, j] : i <= j < n and j mod 2 = 0 }".parse()?;
    /// let first: Relation = "[n] -> { R[i] -> A[i, j] : j = 2*ceil(i/2) and j < n }".parse()?;
    /// assert!(rows.lexmin(&Limits::default())?.is_equal(&first, &Limits::default())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lexmin(&self, limits: &Limits) -> Result<Relation, Error> {
        let (params, inputs, _) = self.shape();
        self.optimum(params + inputs, End::Least, limits)
    }

    /// For each input, and value of the parameters, the lexicographically greatest output.
    pub fn lexmax(&self, limits: &Limits) -> Result<Relation, Error> {
        let (params, inputs, _) = self.shape();
        self.optimum(params + inputs, End::Greatest, limits)
    }

    /// The pairs as points of one unnamed tuple, input before output.
    pub fn pairs(&self) -> Set {
        let dims = self.input().dims.iter().chain(&self.output().dims).cloned().collect();
        let space = self.space.with_tuples(vec![Tuple { name: None, dims }]);
        Set { space: Arc::new(space), pieces: self.pieces.clone() }
    }
}

impl FromStr for Relation {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Relation, ParseError> {
        let (space, pieces) = parse(text, 2)?;
        Ok(Relation::from_conjunctions(space, pieces))
    }
}

impl Set {
    /// The relation of each point with itself.
    pub fn identity(&self) -> Relation {
        let (params, arity) = (self.space.params.len(), self.tuple().arity());
        let map: Vec<usize> = (0..params + arity).collect();
        let pieces = self.pieces.iter().filter_map(|piece| {
            let mut pair = piece.renamed(params + 2 * arity, &map);
            for dim in 0..arity {
                pair.add_eq(Var((params + dim) as u32), Var((params + arity + dim) as u32));
            }
            pair.simplified()
        });
        let mut output = self.tuple().clone();
        output.dims = vec![None; arity];
        let space = self.space.with_tuples(vec![self.tuple().clone(), output]);
        Relation { space: Arc::new(space), pieces: pieces.collect() }
    }
}
