//! [`Set`]: sets of named integer tuples with parameters.

use std::fmt;
use std::ops::Range;
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
use crate::solve::Least;
use crate::space::{Space, Tuple};
use crate::text::{ParseError, parse};
use crate::union;

/// A set of integer tuples, `[n] -> { S[i, j] : … }`: a union of conjunctions over parameters and
/// dimensions.
///
/// ```
/// use loomir_polyhedra::{Limits, Set};
/// let limits = Limits::default();
/// let set: Set = "[n] -> { S[i] : 0 <= i < n and i mod 2 = 0 }".parse().unwrap();
/// let odd: Set = "[n] -> { S[i] : i mod 2 = 1 }".parse().unwrap();
/// assert!(set.intersect(&odd).unwrap().is_empty(&limits).is_empty());
/// let greatest = set.lexmax(&limits).unwrap().fix(set.space().dim(0), 6);
/// assert_eq!(greatest.coalesce(&limits).unwrap().to_string(), "[n] -> { S[6] : 7 <= n <= 8 }");
/// ```
#[derive(Clone, Debug)]
pub struct Set {
    pub(crate) space: Arc<Space>,
    pub(crate) pieces: Vec<Conjunction>,
}

algebra!(Set);

impl Set {
    /// The set's tuple.
    pub fn tuple(&self) -> &Tuple {
        &self.space.tuples[0]
    }

    /// For each value of the parameters the lexicographically least point.
    pub fn lexmin(&self, limits: &Limits) -> Result<Set, Error> {
        self.optimum(self.space.params.len(), End::Least, limits)
    }

    /// For each value of the parameters the lexicographically greatest point.
    pub fn lexmax(&self, limits: &Limits) -> Result<Set, Error> {
        self.optimum(self.space.params.len(), End::Greatest, limits)
    }

    /// The set without the dimensions `dims`: its shadow along them.
    pub fn project_out(&self, dims: Range<usize>) -> Result<Set, Error> {
        if dims.end > self.tuple().arity() || dims.start > dims.end {
            return Err(Error::NoSuchDimension(dims.end));
        }
        let mut tuple = self.tuple().clone();
        tuple.dims.drain(dims.clone());
        let first = self.space.params.len();
        let hide = |var: usize| dims.contains(&var.wrapping_sub(first));
        let pieces = self.pieces.iter().filter_map(|piece| piece.hidden(hide).simplified()).collect();
        Ok(Set { space: Arc::new(self.space.with_tuples(vec![tuple])), pieces })
    }

    /// The same set with another tuple of the same arity.
    pub fn renamed(&self, tuple: Tuple) -> Result<Set, Error> {
        if tuple.arity() != self.tuple().arity() {
            return Err(Error::NoSuchDimension(tuple.arity()));
        }
        Ok(Set { space: Arc::new(self.space.with_tuples(vec![tuple])), pieces: self.pieces.clone() })
    }
}

impl FromStr for Set {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Set, ParseError> {
        let (space, pieces) = parse(text, 1)?;
        Ok(Set::from_conjunctions(space, pieces))
    }
}
