//! Proof by cases: a condition of the original that is known by its value only holds or fails.
//!
//! A choice of the original is replaced by each of its arms, under the assumption that its
//! condition has the value that takes the arm. A choice of the other program takes the arm of its
//! condition's value, if the condition is shown to equal an assumed one. If two assumptions
//! contradict each other the case never happens.
//!
//! **Why claims may be used in a case.** Each step of a case leads to instances that the goal
//! depends on, as elsewhere. Goals under assumptions are no claims, so nothing rests on them but
//! the goal.
//!
//! **Poison.** Cases are made for conditions of the original only. Where such a condition is
//! poison, so is what the original computes. A choice of the other program whose condition may be
//! poison (`Program::strict`) is taken apart only where its condition equals an assumed one.

use loomir_polyhedra::Conjunction;

use super::super::model::{Kind, TermId};
use super::super::sets::{Pieces, hide, intersect, moved, var};
use super::operations::refines;
use super::{Goal, MAX_CASE_STEPS, Matcher, Side, Stuck};

/// The most steps of one proof by cases.
const MAX_STEPS: usize = 64;
/// The most assumptions of a case.
const MAX_ASSUMED: usize = 4;

/// The value of a condition of the original. The variables of its instance stand in the relation of
/// the case, from a place behind those of both sides on.
#[derive(Clone, Copy, Debug)]
struct Assumed {
    condition: TermId,
    /// The first variable, counted from the end of those of both sides.
    at: usize,
    value: bool,
}

/// A goal under assumptions.
struct Case {
    goal: Goal,
    assumed: Vec<Assumed>,
}

impl<'b> Matcher<'_, 'b> {
    /// Shows a goal with a choice by cases; false if that fails.
    pub(super) fn by_cases(&mut self, goal: &Goal) -> Result<bool, Stuck<'b>> {
        self.in_cases = true;
        let shown = self.all_cases(goal);
        self.in_cases = false;
        shown
    }

    fn all_cases(&mut self, goal: &Goal) -> Result<bool, Stuck<'b>> {
        let whole = Goal { terms: goal.terms, pairs: goal.pairs.clone() };
        let mut todo = vec![Case { goal: whole, assumed: Vec::new() }];
        let mut steps = 0;
        while let Some(mut case) = todo.pop() {
            steps += 1;
            self.case_steps += 1;
            if steps > MAX_STEPS || self.case_steps > MAX_CASE_STEPS {
                return Ok(false);
            }
            case.goal.pairs = self.solver.pruned(case.goal.pairs)?;
            if case.goal.pairs.is_empty() || self.is_undefined_first(case.goal.terms[0]) {
                continue;
            }
            // The goal itself is claimed already, so it must take a step first.
            if steps > 1 && self.holds_anyway(&case)? {
                continue;
            }
            if !self.case_step(case, &mut todo)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a case holds without its assumptions.
    fn holds_anyway(&mut self, case: &Case) -> Result<bool, Stuck<'b>> {
        let terms = case.goal.terms;
        let plain = self.params + self.depth(0, terms[0]) + self.depth(1, terms[1]);
        let vars = case.goal.pairs.first().map_or(plain, Conjunction::visible);
        Ok(self.tried(Goal { terms, pairs: hide(&case.goal.pairs, plain..vars) })?)
    }

    /// Replaces a case by those that it follows from; false if there are none.
    fn case_step(&mut self, case: Case, todo: &mut Vec<Case>) -> Result<bool, Stuck<'b>> {
        let Case { goal, assumed } = case;
        let mut goals = Vec::new();
        for side in [0, 1] {
            if self.is_copy(side, goal.terms[side])? {
                self.follow(side, goal, &mut goals)?;
                todo.extend(goals.into_iter().map(|goal| Case { goal, assumed: assumed.clone() }));
                return Ok(true);
            }
        }
        let [a, b] = [0, 1].map(|side| self.term(side, goal.terms[side]));
        if let Kind::Choice { condition, yes, no } = a.kind {
            return self.split(&goal, &assumed, [condition, yes, no], todo);
        }
        if let Kind::Choice { condition, yes, no } = b.kind {
            let values = self.values(&goal, &assumed, condition)?;
            let arms = match values {
                [true, true] => return Ok(true),
                [true, false] => vec![yes],
                [false, true] => vec![no],
                [false, false] if self.is_strict(1, goal.terms[1]) => return Ok(false),
                [false, false] => vec![yes, no],
            };
            for arm in arms {
                self.push(1, &goal, arm, self.layout_of(&goal), &goal.pairs, &mut goals);
            }
        } else {
            let parts = [0, 1].map(|side| self.parts(side, goal.terms[side]));
            let [Some((xs, r)), Some((ys, q))] = parts else { return Ok(false) };
            if r != q || xs.len() != ys.len() || a.ty != b.ty || !refines([a.op, b.op]) {
                return Ok(false);
            }
            for (x, y) in xs.iter().zip(ys) {
                let mut half = Vec::new();
                self.push(1, &goal, *y, self.layout_of(&goal), &goal.pairs, &mut half);
                for half in half {
                    self.push(0, &half, *x, self.layout_of(&half), &half.pairs, &mut goals);
                }
            }
        }
        todo.extend(goals.into_iter().map(|goal| Case { goal, assumed: assumed.clone() }));
        Ok(true)
    }

    /// Replaces a choice of the original by its arms, each under an assumption.
    fn split(
        &mut self,
        goal: &Goal,
        assumed: &[Assumed],
        [condition, yes, no]: [TermId; 3],
        todo: &mut Vec<Case>,
    ) -> Result<bool, Stuck<'b>> {
        let layout = self.layout_of(goal);
        let depth = self.depth(0, condition);
        let plain = self.params + self.depth(0, goal.terms[0]) + self.depth(1, goal.terms[1]);
        let vars = goal.pairs.first().map_or(plain, Conjunction::visible);
        let mut known = None;
        for own in assumed.iter().filter(|own| own.condition == condition) {
            let places = (0..depth).map(|k| (layout.base(0) + k, plain + own.at + k));
            if self.are_equal(&goal.pairs, places)? {
                known = Some(own.value);
            }
        }
        if known.is_none() && assumed.len() >= MAX_ASSUMED {
            return Ok(false);
        }
        for (value, arm) in [(true, yes), (false, no)] {
            let (mut pairs, mut assumed) = (goal.pairs.clone(), assumed.to_vec());
            match known {
                Some(known) if known != value => continue,
                Some(_) => {}
                None => {
                    assumed.push(Assumed { condition, at: vars - plain, value });
                    let tag = |piece: &Conjunction| {
                        let mut set = moved(piece, vars + depth, |v| v);
                        (0..depth).for_each(|k| set.add_eq(var(layout.base(0) + k), var(vars + k)));
                        set
                    };
                    pairs = pairs.iter().map(tag).collect();
                }
            }
            let whole = Goal { terms: goal.terms, pairs };
            let mut goals = Vec::new();
            self.push(0, &whole, arm, self.layout_of(&whole), &whole.pairs, &mut goals);
            todo.extend(goals.into_iter().map(|goal| Case { goal, assumed: assumed.clone() }));
        }
        Ok(true)
    }

    /// Tells for true and false if a condition of the other program equals one that is assumed so.
    fn values(
        &mut self,
        goal: &Goal,
        assumed: &[Assumed],
        condition: TermId,
    ) -> Result<[bool; 2], Stuck<'b>> {
        let [own, other] = [0, 1].map(|side: Side| self.depth(side, goal.terms[side]));
        let plain = self.params + own + other;
        let mut found = [false; 2];
        for known in assumed {
            let (first, second) = (self.depth(0, known.condition), self.depth(1, condition));
            // The instances of both conditions go to the front, all else behind.
            let vars = goal.pairs.first().map_or(plain, Conjunction::visible);
            let all = self.params + first + second;
            let place = |v: usize| match v {
                _ if v < self.params => v,
                _ if (plain + known.at..plain + known.at + first).contains(&v) => {
                    self.params + (v - plain - known.at)
                }
                _ if (self.params + own..self.params + own + second).contains(&v) => {
                    self.params + first + (v - self.params - own)
                }
                _ => all + v,
            };
            let pairs: Pieces = goal.pairs.iter().map(|set| moved(set, all + vars, place)).collect();
            let pairs = hide(&pairs, all..all + vars);
            if self.tried(Goal { terms: [known.condition, condition], pairs })? {
                found[usize::from(!known.value)] = true;
            }
        }
        Ok(found)
    }

    /// True if variables are equal in pairs on all conjunctions.
    fn are_equal(
        &mut self,
        pairs: &[Conjunction],
        places: impl Iterator<Item = (usize, usize)>,
    ) -> Result<bool, Stuck<'b>> {
        for (x, y) in places {
            for (less, more) in [(x, y), (y, x)] {
                let mut differ = Conjunction::new(pairs.first().map_or(0, Conjunction::visible));
                differ.add_lt(var(less), var(more));
                if !self.solver.pruned(intersect(pairs, &[differ]))?.is_empty() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
