//! Distances and directions of dependences: how far outputs lie from inputs, dimension by
//! dimension.
//!
//! The differences `output − input` of a relation between tuples of equal arity are a set; in
//! normal form it is often a point or a box, and every question about a sign is then a look at a
//! few bounds. A direction vector is found by fixing signs from the first dimension on, so the work
//! grows with the number of vectors that exist.

use std::fmt;
use std::sync::Arc;

use crate::affine::Var;
use crate::conjunction::Conjunction;
use crate::error::Error;
use crate::error::limited;
use crate::int::Int;
use crate::limits::{Budget, Exact, Limits};
use crate::relation::Relation;
use crate::set::Set;
use crate::space::Tuple;

/// The order of an output coordinate and the input's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// The output is greater: the dependence is carried forwards, written `<`.
    Forward,
    /// Both are equal, written `=`.
    Equal,
    /// The output is less, written `>`.
    Backward,
}

impl Direction {
    const ALL: [Direction; 3] = [Direction::Forward, Direction::Equal, Direction::Backward];

    /// Restricts a conjunction to differences of this direction.
    fn restrict(self, piece: &mut Conjunction, difference: Var) {
        match self {
            Direction::Forward => piece.add_terms_ge(&[(difference, 1)], -1),
            Direction::Equal => piece.add_terms_eq(&[(difference, 1)], 0),
            Direction::Backward => piece.add_terms_ge(&[(difference, -1)], -1),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "<",
            Direction::Equal => "=",
            Direction::Backward => ">",
        })
    }
}

/// The directions a dimension takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Directions {
    /// Some pair has a greater output.
    pub forward: bool,
    /// Some pair has equal coordinates.
    pub equal: bool,
    /// Some pair has a lesser output.
    pub backward: bool,
}

/// The range of a difference; an end that is missing is infinite.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distance {
    /// The least difference.
    pub least: Option<Int>,
    /// The greatest difference.
    pub greatest: Option<Int>,
}

impl Distance {
    /// The difference, if all pairs have the same.
    pub fn constant(&self) -> Option<&Int> {
        self.least.as_ref().filter(|least| Some(*least) == self.greatest.as_ref())
    }
}

impl Relation {
    /// The set of differences `output − input`; both tuples must have the same arity. It is named
    /// as the output.
    /// ```
    /// use loomir_polyhedra::Relation;
    /// let dependence: Relation = "[n] -> { S[i, j] -> S[i + 1, j'] : 0 <= i, j < n and j <= j' <= j + 2 }".parse()?;
    /// assert_eq!(dependence.deltas()?.to_string(), "[n] -> { S[1, i1] : n >= 1 and 0 <= i1 <= 2 }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deltas(&self) -> Result<Set, Error> {
        let arity = self.input().arity();
        if arity != self.output().arity() {
            return Err(self.space().mismatch(self.space()));
        }
        let params = self.space().params().len();
        let pieces =
            self.conjunctions().iter().filter_map(|piece| deltas_of(piece, params, arity).simplified());
        let tuple = Tuple { name: self.output().name.clone(), dims: vec![None; arity] };
        Ok(Set { space: Arc::new(self.space().with_tuples(vec![tuple])), pieces: pieces.collect() })
    }

    /// The directions each dimension takes, dimension by dimension.
    pub fn directions(&self, limits: &Limits) -> Result<Vec<Directions>, Error> {
        let deltas = self.deltas()?;
        let params = self.space().params().len();
        limited(limits, |budget| {
            let dims = 0..self.input().arity();
            dims.map(|dim| {
                let var = Var((params + dim) as u32);
                let mut takes = [false; 3];
                for (taken, direction) in takes.iter_mut().zip(Direction::ALL) {
                    for piece in &deltas.pieces {
                        *taken = *taken || possible(piece, var, direction, budget)?.is_some();
                    }
                }
                Ok(Directions { forward: takes[0], equal: takes[1], backward: takes[2] })
            })
            .collect()
        })
    }

    /// All direction vectors that occur, `<` before `=` before `>`.
    /// ```
    /// use loomir_polyhedra::{Limits, Relation};
    /// let dependence: Relation = "{ S[i, j] -> S[i', j'] : i' + j' = i + j and 0 <= i' - i <= 1 }".parse()?;
    /// let vectors = dependence.direction_vectors(&Limits::default())?;
    /// let vectors: Vec<String> = vectors.iter().map(|v| v.iter().map(ToString::to_string).collect()).collect();
    /// assert_eq!(vectors, ["<>", "=="]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn direction_vectors(&self, limits: &Limits) -> Result<Vec<Vec<Direction>>, Error> {
        let deltas = self.deltas()?;
        let (params, arity) = (self.space().params().len(), self.input().arity());
        limited(limits, |budget| {
            let mut partial = vec![(Vec::new(), deltas.pieces.clone())];
            for dim in 0..arity {
                let mut next = Vec::new();
                for (vector, pieces) in partial {
                    for direction in Direction::ALL {
                        let mut kept = Vec::new();
                        for piece in &pieces {
                            kept.extend(possible(piece, Var((params + dim) as u32), direction, budget)?);
                        }
                        if !kept.is_empty() {
                            let mut longer: Vec<Direction> = vector.clone();
                            longer.push(direction);
                            next.push((longer, kept));
                        }
                    }
                }
                partial = next;
            }
            let mut vectors = Vec::with_capacity(partial.len());
            for (vector, pieces) in partial {
                if arity > 0 || crate::union::any_point(&pieces, budget)?.is_some() {
                    vectors.push(vector);
                }
            }
            Ok(vectors)
        })
    }

    /// The range of the difference in each dimension; `None` if there is no pair.
    /// ```
    /// use loomir_polyhedra::{Limits, Relation};
    /// let dependence: Relation = "[n] -> { S[i, j] -> S[i + 2, j'] : j < j' < n }".parse()?;
    /// let distances = dependence.distances(&Limits::default())?.unwrap();
    /// assert_eq!(distances[0].constant().map(ToString::to_string).as_deref(), Some("2"));
    /// assert_eq!((distances[1].least.clone().map(|least| least.to_string()), &distances[1].greatest), (Some("1".into()), &None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distances(&self, limits: &Limits) -> Result<Option<Vec<Distance>>, Error> {
        let deltas = self.deltas()?;
        let params = self.space().params().len();
        let Some(bounds) = deltas.bounding_box(limits)? else { return Ok(None) };
        let ranges = bounds.into_iter().skip(params).map(|(least, greatest)| Distance { least, greatest });
        Ok(Some(ranges.collect()))
    }
}

/// The differences of a conjunction over parameters, input and output.
fn deltas_of(piece: &Conjunction, params: usize, arity: usize) -> Conjunction {
    // Visible: parameters, differences; then input and output, hidden below. The output is the
    // input plus the difference, so it takes no variable of its own.
    let map: Vec<usize> = (0..params).chain(params + arity..params + 3 * arity).collect();
    let mut wide = piece.renamed(params + 3 * arity, &map);
    for dim in 0..arity {
        let difference = Var((params + dim) as u32);
        let input = Var((params + arity + dim) as u32);
        let output = Var((params + 2 * arity + dim) as u32);
        wide.add_terms_eq(&[(output, 1), (input, -1), (difference, -1)], 0);
    }
    wide.hidden(|var| var >= params + arity)
}

/// The part of a conjunction with the given direction, unless it is empty.
fn possible(
    piece: &Conjunction,
    difference: Var,
    direction: Direction,
    budget: &mut Budget,
) -> Exact<Option<Conjunction>> {
    let mut part = piece.clone();
    direction.restrict(&mut part, difference);
    Ok(if part.decide_empty(budget)? { None } else { Some(part) })
}
