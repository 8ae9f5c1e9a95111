//! The operations sets and relations share, written once.
//!
//! [`algebra!`] gives [`Set`](crate::Set) and [`Relation`](crate::Relation) the same methods over
//! their common form, a [`Space`] and a union of conjunctions.

use std::sync::Arc;

use crate::conjunction::Conjunction;
use crate::error::Error;
use crate::space::Space;

/// Both unions over common parameters.
pub(crate) struct Aligned {
    pub(crate) params: Vec<Arc<str>>,
    pub(crate) left: Vec<Conjunction>,
    pub(crate) right: Vec<Conjunction>,
}

/// Brings two unions to common parameters; the tuples are the caller's business.
pub(crate) fn align(left: (&Space, &[Conjunction]), right: (&Space, &[Conjunction])) -> Aligned {
    if left.0.params == right.0.params {
        return Aligned { params: left.0.params.clone(), left: left.1.to_vec(), right: right.1.to_vec() };
    }
    let alignment = left.0.align(right.0);
    let rename = |space: &Space, pieces: &[Conjunction], map: &[usize]| {
        let visible = alignment.params.len() + space.dims();
        pieces.iter().map(|piece| piece.renamed(visible, map)).collect()
    };
    let (l, r) = (rename(left.0, left.1, &alignment.left), rename(right.0, right.1, &alignment.right));
    Aligned { params: alignment.params, left: l, right: r }
}

/// Returns an error unless two spaces have like tuples.
pub(crate) fn check_like(left: &Space, right: &Space) -> Result<(), Error> {
    let like = left.tuples.len() == right.tuples.len()
        && left.tuples.iter().zip(&right.tuples).all(|(a, b)| a.is_like(b));
    if like { Ok(()) } else { Err(left.mismatch(right)) }
}

macro_rules! algebra {
    ($ty:ident) => {
        impl $ty {
            /// The union of conjunctions over the variables of `space`; each must have that many
            /// visible ones.
            pub fn from_conjunctions(space: Space, pieces: Vec<Conjunction>) -> $ty {
                debug_assert!(pieces.iter().all(|piece| piece.visible() == space.vars()));
                let pieces = pieces.iter().filter_map(Conjunction::simplified).collect();
                $ty { space: Arc::new(space), pieces }
            }

            /// Every point of the space.
            pub fn universe(space: Space) -> $ty {
                let all = Conjunction::new(space.vars());
                $ty { space: Arc::new(space), pieces: vec![all] }
            }

            /// No point.
            pub fn empty(space: Space) -> $ty {
                $ty { space: Arc::new(space), pieces: Vec::new() }
            }

            /// The space.
            pub fn space(&self) -> &Space {
                &self.space
            }

            /// The conjunctions whose union this is.
            pub fn conjunctions(&self) -> &[Conjunction] {
                &self.pieces
            }

            /// Bytes taken, without the shared space.
            pub fn bytes(&self) -> usize {
                let heap: usize = self.pieces.iter().map(Conjunction::bytes).sum();
                size_of::<$ty>()
                    + heap
                    + (self.pieces.capacity() - self.pieces.len()) * size_of::<Conjunction>()
            }

            fn with(&self, pieces: Vec<Conjunction>) -> $ty {
                $ty { space: self.space.clone(), pieces }
            }

            fn binary(
                &self,
                other: &$ty,
                run: impl FnOnce(&[Conjunction], &[Conjunction]) -> Result<Vec<Conjunction>, Error>,
            ) -> Result<$ty, Error> {
                check_like(&self.space, &other.space)?;
                if self.space.params == other.space.params {
                    return Ok(self.with(run(&self.pieces, &other.pieces)?));
                }
                let aligned = align((&self.space, &self.pieces), (&other.space, &other.pieces));
                let pieces = run(&aligned.left, &aligned.right)?;
                let space = Space { params: aligned.params, tuples: self.space.tuples.clone() };
                Ok($ty { space: Arc::new(space), pieces })
            }

            /// The points in both.
            pub fn intersect(&self, other: &$ty) -> Result<$ty, Error> {
                self.binary(other, |a, b| Ok(union::intersect(a, b)))
            }

            /// The points in either.
            pub fn union(&self, other: &$ty) -> Result<$ty, Error> {
                self.binary(other, |a, b| Ok(a.iter().chain(b).cloned().collect()))
            }

            /// The points of this that are not in `other`.
            /// ```
            /// use loomir_polyhedra::{Limits, Set};
            /// let all: Set = "{ [i] : 0 <= i < 10 }".parse()?;
            /// let middle: Set = "{ [i] : 3 <= i <= 5 }".parse()?;
            /// let rest = all.subtract(&middle, &Limits::default())?;
            /// assert_eq!(rest.to_string(), "{ [i] : 6 <= i <= 9; [i] : 0 <= i <= 2 }");
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn subtract(&self, other: &$ty, limits: &Limits) -> Result<$ty, Error> {
                self.binary(other, |a, b| limited(limits, |budget| union::subtract(a, b, budget)))
            }

            /// The points of the space that are not in this.
            pub fn complement(&self, limits: &Limits) -> Result<$ty, Error> {
                $ty::universe((*self.space).clone()).subtract(self, limits)
            }

            /// Returns a point, or says that there is none.
            pub fn is_empty(&self, limits: &Limits) -> Emptiness {
                let mut budget = Budget::new(limits);
                match union::any_point(&self.pieces, &mut budget) {
                    Ok(None) => Emptiness::Empty,
                    Ok(Some(point)) => Emptiness::NonEmpty(point),
                    Err(_) => Emptiness::Unknown(budget.reached()),
                }
            }

            /// Returns true if the two have a point in common, without building the intersection.
            pub fn meets(&self, other: &$ty, limits: &Limits) -> Result<bool, Error> {
                check_like(&self.space, &other.space)?;
                if self.space.params == other.space.params {
                    return limited(limits, |budget| union::meets(&self.pieces, &other.pieces, budget));
                }
                let aligned = align((&self.space, &self.pieces), (&other.space, &other.pieces));
                limited(limits, |budget| union::meets(&aligned.left, &aligned.right, budget))
            }

            /// Returns true if every point is in `other`.
            pub fn is_subset(&self, other: &$ty, limits: &Limits) -> Result<bool, Error> {
                check_like(&self.space, &other.space)?;
                let aligned = align((&self.space, &self.pieces), (&other.space, &other.pieces));
                limited(limits, |budget| union::is_subset(&aligned.left, &aligned.right, budget))
            }

            /// Returns true if both have the same points.
            pub fn is_equal(&self, other: &$ty, limits: &Limits) -> Result<bool, Error> {
                Ok(self.is_subset(other, limits)? && other.is_subset(self, limits)?)
            }

            /// Returns true if a point (values of the parameters, then of the dimensions) is in the
            /// set.
            pub fn contains(&self, point: &Point, limits: &Limits) -> Result<bool, Error> {
                for piece in &self.pieces {
                    if piece.contains(point, limits)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }

            /// A small point, parameters first: its largest coordinate is as small as any point's,
            /// and each coordinate in turn as near to zero as that allows. `None` if there is no
            /// point.
            pub fn sample(&self, limits: &Limits) -> Result<Option<Point>, Error> {
                limited(limits, |budget| optimum::smallest_point(&self.pieces, budget))
            }

            /// The least value of an expression over the variables of the space, parameters
            /// included; `None` if there is no point.
            /// ```
            /// use loomir_polyhedra::{Int, Limits, Set};
            /// let set: Set = "{ [i, j] : 0 <= i <= 7 and 3j >= 20 - 2i }".parse()?;
            /// let (i, j) = (set.space().dim(0), set.space().dim(1));
            /// assert_eq!(set.minimum(&(i + j), &Limits::default())?, Some(Int::from(7)));
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn minimum(&self, objective: &Affine, limits: &Limits) -> Result<Option<Int>, Error> {
                match limited(limits, |budget| optimum::least(&self.pieces, objective, budget))? {
                    Least::Empty => Ok(None),
                    Least::Unbounded => Err(Error::Unbounded),
                    Least::Value(value) => Ok(Some(value)),
                }
            }

            /// The greatest value of an expression; see [`minimum`](Self::minimum).
            pub fn maximum(&self, objective: &Affine, limits: &Limits) -> Result<Option<Int>, Error> {
                Ok(self.minimum(&-objective, limits)?.map(|value| -value))
            }

            /// The least and greatest value of each variable, parameters first, `None` where there
            /// is none; nothing for the empty set.
            pub fn bounding_box(
                &self,
                limits: &Limits,
            ) -> Result<Option<Vec<(Option<Int>, Option<Int>)>>, Error> {
                let bound = |objective: Affine| match self.minimum(&objective, limits) {
                    Err(Error::Unbounded) => Ok(None),
                    other => other,
                };
                if limited(limits, |budget| union::any_point(&self.pieces, budget))?.is_none() {
                    return Ok(None);
                }
                let vars = (0..self.space.vars() as u32).map(Var);
                vars.map(|var| Ok((bound(var.into())?, bound(-var)?.map(|value| -value))))
                    .collect::<Result<_, _>>()
                    .map(Some)
            }

            /// For each value of the fixed variables the lexicographic optimum of the others.
            fn optimum(&self, fixed: usize, end: End, limits: &Limits) -> Result<$ty, Error> {
                match limited(limits, |budget| optimum::optimum(&self.pieces, fixed, end, budget))? {
                    Optimum::Pieces(pieces) => Ok(self.with(pieces)),
                    Optimum::Unbounded => Err(Error::Unbounded),
                }
            }

            /// A simpler description that agrees with this one on the points of `context`.
            /// ```
            /// use loomir_polyhedra::{Limits, Set};
            /// let set: Set = "[n] -> { [i] : 0 <= i < n and n > 0 }".parse()?;
            /// let context: Set = "[n] -> { [i] : i >= 0 and n >= 8 }".parse()?;
            /// assert_eq!(set.gist(&context, &Limits::default())?.to_string(), "[n] -> { [i] : i < n }");
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn gist(&self, context: &$ty, limits: &Limits) -> Result<$ty, Error> {
                self.binary(context, |a, b| limited(limits, |budget| gist(a, b, budget)))
            }

            /// The same points in fewer conjunctions where they fit together, without redundant
            /// constraints.
            /// ```
            /// use loomir_polyhedra::{Limits, Set};
            /// let parts: Set = "{ [i] : 0 <= i < 5; [i] : 5 <= i < 10; [i] : i = 7 }".parse()?;
            /// assert_eq!(parts.coalesce(&Limits::default())?.to_string(), "{ [i] : 0 <= i <= 9 }");
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn coalesce(&self, limits: &Limits) -> Result<$ty, Error> {
                Ok(self.with(limited(limits, |budget| coalesce(&self.pieces, budget))?))
            }

            /// The same points in conjunctions that do not meet and whose existential variables are
            /// functions of the others.
            /// ```
            /// use loomir_polyhedra::{Limits, Set};
            /// let parts: Set = "{ [i] : 0 <= i < 6; [i] : 4 <= i < 10 }".parse()?;
            /// assert_eq!(parts.disjoint(&Limits::default())?.to_string(), "{ [i] : 0 <= i <= 5; [i] : 6 <= i <= 9 }");
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn disjoint(&self, limits: &Limits) -> Result<$ty, Error> {
                let pieces = limited(limits, |budget| {
                    let apart = union::disjoint(&self.pieces, budget)?;
                    let mut explicit = Vec::with_capacity(apart.len());
                    for piece in &apart {
                        explicit.extend(piece.explicit(budget)?);
                    }
                    union::pruned(explicit, budget)
                })?;
                Ok(self.with(pieces))
            }

            /// The points at which a variable has a value.
            /// ```
            /// use loomir_polyhedra::Set;
            /// let set: Set = "[n] -> { [i, j] : 0 <= i, j < n and j = 2i + 1 }".parse()?;
            /// let n = set.space().param("n").unwrap();
            /// assert_eq!(set.fix(n, 6).project_out_param("n").to_string(), "{ [i, 1 + 2i] : 0 <= i <= 2 }");
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn fix(&self, var: Var, value: impl Into<Int>) -> $ty {
                self.constrained(Affine::from(var), Affine::constant(value))
            }

            /// The points at which two variables are equal.
            pub fn equate(&self, a: Var, b: Var) -> $ty {
                self.constrained(Affine::from(a), Affine::from(b))
            }

            fn constrained(&self, left: Affine, right: Affine) -> $ty {
                let equal = |piece: &Conjunction| {
                    let mut piece = piece.clone();
                    piece.add_eq(left.clone(), right.clone());
                    piece.simplified()
                };
                self.with(self.pieces.iter().filter_map(equal).collect())
            }

            /// The number of points; the set must be bounded and not depend on parameters (which
            /// count as dimensions).
            pub fn count(&self, limits: &Limits) -> Result<Int, Error> {
                match limited(limits, |budget| count(&self.pieces, budget))? {
                    Count::Finite(number) => Ok(number),
                    Count::Infinite => Err(Error::Unbounded),
                }
            }

            /// The set without the parameter `name`: its points for any value of it.
            pub fn project_out_param(&self, name: &str) -> $ty {
                let Some(var) = self.space.param(name) else { return self.clone() };
                let mut space = (*self.space).clone();
                space.params.remove(var.index());
                let hidden = |piece: &Conjunction| piece.hidden(|other| other == var.index()).simplified();
                $ty { space: Arc::new(space), pieces: self.pieces.iter().filter_map(hidden).collect() }
            }
        }

        impl fmt::Display for $ty {
            /// isl's notation.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                crate::text::print(&self.space, &self.pieces, f)
            }
        }
    };
}
pub(crate) use algebra;
