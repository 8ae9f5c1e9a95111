//! Loops that run several iterations of one loop of the program in each of their own.
//!
//! Such a loop has an origin for each copy of the body. Copies in consecutive iterations of a loop
//! that carries values are a run: the first begins with the values that the new loop carries, and
//! each later one with those that the one before yields.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::green::{Header, Origin};
use super::ids::LoopId;
use super::levels::in_iteration;
use crate::affine::AffineForm;

impl Header {
    /// True if one iteration runs several iterations of one loop of the program.
    pub(crate) fn runs_several(&self) -> bool {
        // Most loops run iterations of few loops.
        if let [first, second] = &self.origins[..] {
            return first.of == second.of;
        }
        let mut seen = HashSet::new();
        self.origins.len() > 1 && !self.origins.iter().all(|origin| seen.insert(origin.of))
    }

    /// Returns the first and the last origin of each loop of the program in each iteration of the
    /// loops around it.
    pub(crate) fn runs(&self) -> SmallVec<[(&Origin, &Origin); 2]> {
        if !self.runs_several() {
            return self.origins.iter().map(|only| (only, only)).collect();
        }
        let mut places: HashMap<(LoopId, &[AffineForm]), usize> = HashMap::new();
        let mut runs: SmallVec<[(&Origin, &Origin); 2]> = SmallVec::new();
        for origin in &self.origins {
            let around = &origin.map[..origin.map.len().saturating_sub(1)];
            let place = *places.entry((origin.of, around)).or_insert(runs.len());
            match runs.get_mut(place) {
                Some(run) => run.1 = origin,
                None => runs.push((origin, origin)),
            }
        }
        runs
    }
}

impl Origin {
    /// Returns the origin in one lane of a loop over lanes, outside of this loop.
    pub(crate) fn of_lane(&self, lane: i64) -> Option<Origin> {
        self.mapped(&|form| form.substitute(&mut |level| Some(in_iteration(lane, level))))
    }
}

/// Returns the number of iterations between the first of a run and a later one.
pub(crate) fn number_in_run(first: &[AffineForm], later: &[AffineForm]) -> Option<i64> {
    let ((first, around), (later, others)) = (first.split_last()?, later.split_last()?);
    let gap = later.minus(first)?.as_constant()?;
    (around == others && gap > 0).then_some(gap)
}

/// Returns the iteration before one.
pub(crate) fn one_before(iteration: &[AffineForm]) -> Option<Box<[AffineForm]>> {
    let (own, around) = iteration.split_last()?;
    let own = own.plus(&AffineForm::constant(-1), 1)?;
    Some(around.iter().cloned().chain([own]).collect())
}
