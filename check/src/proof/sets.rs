//! Unions of conjunctions over one list of variables, with a bound on all questions of a proof.
//!
//! The variables of a union are the parameters of both programs and then loop variables, as the
//! caller lays them out. A question that meets the bound ends the proof as undecided.

use loomir_polyhedra::{Affine, Conjunction, Emptiness, Limits, Relation, Set, Space, Tuple, Var};

/// A union of conjunctions with equally many visible variables.
pub(super) type Pieces = Vec<Conjunction>;

/// The most bounds that widening looks at.
const MAX_BOUNDS: usize = 64;

/// The bound on the questions of a proof was reached, or a set is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfReach;

pub(super) type Asked<T> = Result<T, OutOfReach>;

/// Answers questions about sets until the bound is reached.
#[derive(Debug)]
pub(super) struct Solver {
    /// Steps of one question.
    limits: Limits,
    /// Conjunctions that may still be looked at.
    left: u64,
}

impl Solver {
    pub(super) fn new(questions: u64, steps: u64) -> Solver {
        Solver { limits: Limits::steps(steps), left: questions }
    }

    /// True if no more questions may be asked.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Counts a question of some size.
    pub(super) fn tick(&mut self, size: usize) -> Asked<()> {
        self.left = self.left.saturating_sub(1 + size as u64);
        if self.left == 0 {
            return Err(OutOfReach);
        }
        Ok(())
    }

    pub(super) fn is_empty(&mut self, set: &Conjunction) -> Asked<bool> {
        self.tick(1)?;
        match set.is_empty(&self.limits) {
            Emptiness::Empty => Ok(true),
            Emptiness::NonEmpty(_) => Ok(false),
            Emptiness::Unknown(_) => Err(OutOfReach),
        }
    }

    /// Returns the conjunctions that have a point, in normal form.
    pub(super) fn pruned(&mut self, pieces: impl IntoIterator<Item = Conjunction>) -> Asked<Pieces> {
        let mut kept = Pieces::new();
        for piece in pieces {
            if let Some(piece) = piece.simplified()
                && !self.is_empty(&piece)?
                && !kept.contains(&piece)
            {
                kept.push(piece);
            }
        }
        Ok(kept)
    }

    /// Returns a small point of the union.
    pub(super) fn sample(&mut self, pieces: &[Conjunction]) -> Option<Vec<i64>> {
        let set = set_of(pieces)?;
        set.sample(&self.limits).ok()??.to_i64s()
    }

    pub(super) fn subtract(&mut self, a: &[Conjunction], b: &[Conjunction]) -> Asked<Pieces> {
        self.tick(a.len() * b.len())?;
        let (Some(a_set), Some(b_set)) = (set_of(a), set_of(b)) else { return Ok(a.to_vec()) };
        let rest = a_set.subtract(&b_set, &self.limits).map_err(|_| OutOfReach)?;
        Ok(rest.conjunctions().to_vec())
    }

    pub(super) fn is_subset(&mut self, a: &[Conjunction], b: &[Conjunction]) -> Asked<bool> {
        self.tick(a.len() * (1 + b.len()))?;
        let Some(a_set) = set_of(a) else { return Ok(true) };
        let Some(b_set) = set_of(b) else { return Ok(self.pruned(a.to_vec())?.is_empty()) };
        a_set.is_subset(&b_set, &self.limits).map_err(|_| OutOfReach)
    }

    /// Returns the union in fewer conjunctions, if that is easily seen.
    pub(super) fn coalesced(&mut self, pieces: Pieces) -> Asked<Pieces> {
        if pieces.len() < 2 {
            return Ok(pieces);
        }
        self.tick(pieces.len() * pieces.len())?;
        let Some(set) = set_of(&pieces) else { return Ok(pieces) };
        Ok(set.coalesce(&self.limits).map_or(pieces, |set| set.conjunctions().to_vec()))
    }

    /// Returns the greatest values of the variables behind the first `fixed` ones, as functions of
    /// those.
    pub(super) fn lexmax(&mut self, pieces: &[Conjunction], fixed: usize) -> Asked<Pieces> {
        self.tick(pieces.len() * pieces.len())?;
        let Some(first) = pieces.first() else { return Ok(Pieces::new()) };
        let (input, output) = (Tuple::unnamed("", fixed), Tuple::unnamed("", first.visible() - fixed));
        let relation = Relation::from_conjunctions(Space::relation(&[], input, output), pieces.to_vec());
        let greatest = relation.lexmax(&self.limits).map_err(|_| OutOfReach)?;
        Ok(greatest.conjunctions().to_vec())
    }

    /// Returns the equalities that hold on all conjunctions, without existential variables.
    pub(super) fn affine_hull(&mut self, pieces: &[Conjunction]) -> Asked<Vec<Affine>> {
        self.tick(pieces.len())?;
        let mut common: Option<Vec<Affine>> = None;
        for piece in pieces {
            let Some(stated) = piece.with_equalities(&self.limits).map_err(|_| OutOfReach)? else {
                continue;
            };
            let visible = stated.visible();
            let own: Vec<Affine> = stated
                .equalities()
                .filter(|row| row.terms().iter().all(|(var, _)| var.index() < visible))
                .collect();
            common = Some(match common {
                None => own,
                // Without equalities the hull is larger.
                Some(others) => super::hull::common(&others, &own, visible).unwrap_or_default(),
            });
        }
        Ok(common.unwrap_or_default())
    }

    /// Returns the bounds of some conjunctions, without existential variables, that hold on all of
    /// these and of others.
    pub(super) fn common_bounds(
        &mut self,
        own: &[Conjunction],
        others: &[Conjunction],
    ) -> Asked<Vec<Affine>> {
        let mut found: Vec<Affine> = Vec::new();
        let is_stated = |row: &Affine, vars: usize| row.terms().iter().all(|(var, _)| var.index() < vars);
        for piece in own {
            let both = piece.equalities().flat_map(|row| [row.clone(), row * -1]);
            for bound in piece.inequalities().chain(both) {
                if found.len() < MAX_BOUNDS && is_stated(&bound, piece.visible()) && !found.contains(&bound) {
                    found.push(bound);
                }
            }
        }
        for piece in own.iter().chain(others) {
            let mut kept = Vec::new();
            for bound in found {
                let mut beyond = piece.clone();
                beyond.add_lt(bound.clone(), 0);
                if self.is_empty(&beyond)? {
                    kept.push(bound);
                }
            }
            found = kept;
        }
        Ok(found)
    }
}

fn set_of(pieces: &[Conjunction]) -> Option<Set> {
    let vars = pieces.first()?.visible();
    Some(Set::from_conjunctions(Space::set(&[], Tuple::unnamed("", vars)), pieces.to_vec()))
}

/// Returns the pairwise intersections that are not plainly empty.
pub(super) fn intersect(a: &[Conjunction], b: &[Conjunction]) -> Pieces {
    a.iter().flat_map(|x| b.iter().filter_map(|y| x.intersect(y).simplified())).collect()
}

/// Hides the variables of a range.
pub(super) fn hide(pieces: &[Conjunction], range: std::ops::Range<usize>) -> Pieces {
    if range.is_empty() {
        return pieces.to_vec();
    }
    pieces.iter().filter_map(|piece| piece.hidden(|var| range.contains(&var)).simplified()).collect()
}

/// Returns a conjunction with its variables moved: variable `v` becomes `map[v]` of `visible`.
pub(super) fn moved(piece: &Conjunction, visible: usize, map: impl Fn(usize) -> usize) -> Conjunction {
    let map: Vec<usize> = (0..piece.visible()).map(map).collect();
    piece.renamed(visible, &map)
}

/// Returns the variable at a position.
pub(super) fn var(index: usize) -> Var {
    Var(index as u32)
}
