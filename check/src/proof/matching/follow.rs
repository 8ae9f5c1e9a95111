//! Steps from a term to the terms that it copies.

use loomir_polyhedra::Conjunction;

use super::super::flow::{Flow, Part};
use super::super::form::Form;
use super::super::model::{Kind, TermId};
use super::super::sets::{Asked, Pieces, hide, intersect, moved, var};
use super::{Goal, Matcher, Side, Stuck};

/// The places of variables in the relation of a goal.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    params: usize,
    depths: [usize; 2],
    /// Variables behind those of both sides, which steps leave alone.
    extra: usize,
}

impl Layout {
    /// The first variable of a side.
    pub(super) fn base(self, side: Side) -> usize {
        self.params + if side == 0 { 0 } else { self.depths[0] }
    }

    fn vars(self) -> usize {
        self.params + self.depths[0] + self.depths[1] + self.extra
    }

    fn with_depth(self, side: Side, depth: usize) -> Layout {
        let mut depths = self.depths;
        depths[side] = depth;
        Layout { params: self.params, depths, extra: self.extra }
    }

    /// Returns where a variable of this layout is in another one, whose variables on one side
    /// begin at `own`.
    fn place_in(self, other: Layout, side: Side, own: usize) -> impl Fn(usize) -> usize {
        move |v| {
            let (mine, theirs) = (self.base(side), self.base(1 - side));
            if v < self.params {
                v
            } else if (mine..mine + self.depths[side]).contains(&v) {
                own + (v - mine)
            } else if v < self.params + self.depths[0] + self.depths[1] {
                other.base(1 - side) + (v - theirs)
            } else {
                v + other.depths[0] + other.depths[1] - self.depths[0] - self.depths[1]
            }
        }
    }
}

impl<'b> Matcher<'_, 'b> {
    pub(super) fn layout(&self, terms: [TermId; 2]) -> Layout {
        let depths = [0, 1].map(|side| self.depth(side, terms[side]));
        Layout { params: self.params, depths, extra: 0 }
    }

    /// Returns the layout of a goal's relation, which may have more variables than its terms.
    pub(super) fn layout_of(&self, goal: &Goal) -> Layout {
        let plain = self.layout(goal.terms);
        let vars = goal.pairs.first().map_or(plain.vars(), Conjunction::visible);
        Layout { extra: vars - plain.vars(), ..plain }
    }

    /// True if a term has the value of other terms and computes nothing.
    pub(super) fn is_copy(&mut self, side: Side, term: TermId) -> Asked<bool> {
        Ok(match &self.term(side, term).kind {
            Kind::Carried { .. } | Kind::Exit { .. } | Kind::State(_) => true,
            Kind::Choice { condition, .. } => {
                matches!(self.term(side, *condition).kind, Kind::Truth(_)) && !self.is_strict(side, term)
            }
            Kind::Load(access) => {
                let access = *access;
                self.flow_of(side, access)?.is_some()
                    && (!self.is_ordered(side, access) || self.clobbered_of(side, access)?.is_empty())
            }
            Kind::Stored { access, .. } => !self.is_ordered(side, *access),
            _ => false,
        })
    }

    /// True if a choice is poison where its condition is, which may be.
    pub(super) fn is_strict(&self, side: Side, term: TermId) -> bool {
        self.programs[side].strict.contains(&term)
    }

    /// Replaces one side of a goal by the terms that it copies.
    pub(super) fn follow(&mut self, side: Side, goal: Goal, agenda: &mut Vec<Goal>) -> Result<(), Stuck<'b>> {
        let term = goal.terms[side];
        match self.term(side, term).kind.clone() {
            Kind::Carried { around, index } => self.follow_carried(side, &goal, (around, index), agenda),
            Kind::Exit { of, index } => self.follow_exit(side, &goal, (of, index), agenda)?,
            Kind::Choice { condition, yes, no } => {
                self.follow_choice(side, &goal, [condition, yes, no], agenda)
            }
            Kind::Load(access) => self.follow_load(side, &goal, access, false, agenda)?,
            Kind::State(access) => self.follow_state(side, &goal, access, agenda)?,
            Kind::Stored { value, .. } => {
                self.push(side, &goal, value, self.layout_of(&goal), &goal.pairs, agenda);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a goal with another term on one side; its instances are those of the goal, whose first
    /// variables the term has.
    pub(super) fn push(
        &self,
        side: Side,
        goal: &Goal,
        target: TermId,
        layout: Layout,
        pairs: &[Conjunction],
        agenda: &mut Vec<Goal>,
    ) {
        let depth = self.depth(side, target);
        let base = layout.base(side);
        let pairs = hide(pairs, base + depth..base + layout.depths[side]);
        let mut terms = goal.terms;
        terms[side] = target;
        agenda.push(Goal { terms, pairs });
    }

    /// A carried variable has its initial value in the first iteration, and in others the value
    /// that the iteration before yields.
    fn follow_carried(
        &self,
        side: Side,
        goal: &Goal,
        (around, index): (usize, usize),
        agenda: &mut Vec<Goal>,
    ) {
        let own = &self.programs[side].loops[around];
        let layout = self.layout_of(goal);
        let base = layout.base(side);
        let variable = base + layout.depths[side] - 1;
        // Not before a lower bound: variable - step - lower >= 0.
        let before = |set: &mut Conjunction, lower: &Form, is_reached: bool| {
            let lower = lower.expression(set, base);
            match is_reached {
                true => set.add_ge(var(variable) - own.step, lower),
                false => set.add_lt(var(variable) - own.step, lower),
            }
        };
        let mut first = Pieces::new();
        for piece in &goal.pairs {
            for (k, lower) in own.lowers.iter().enumerate() {
                let mut set = piece.clone();
                own.lowers[..k].iter().for_each(|other| before(&mut set, other, true));
                before(&mut set, lower, false);
                first.extend(set.simplified());
            }
        }
        self.push(side, goal, own.inits[index], layout, &first, agenda);
        let mut earlier = Pieces::new();
        for piece in &goal.pairs {
            let mut set = piece.clone();
            own.lowers.iter().for_each(|lower| before(&mut set, lower, true));
            // The variable moves behind all others, and a new one takes its place.
            let all = layout.vars() + 1;
            let mut set = moved(&set, all, |v| if v == variable { all - 1 } else { v });
            set.add_eq(var(variable), var(all - 1) - own.step);
            earlier.extend(hide(&[set], all - 1..all));
        }
        self.push(side, goal, own.yields[index], layout, &earlier, agenda);
    }

    /// Behind a loop a carried variable has the value that the last iteration yields, or its
    /// initial value if there is none.
    fn follow_exit(
        &mut self,
        side: Side,
        goal: &Goal,
        (of, index): (usize, usize),
        agenda: &mut Vec<Goal>,
    ) -> Result<(), Stuck<'b>> {
        let ends = self.ends_of(side, of)?;
        let own = &self.programs[side].loops[of];
        let layout = self.layout_of(goal);
        let depth = layout.depths[side];
        let base = layout.base(side);
        let place = |v: usize| if v < layout.params { v } else { base + (v - layout.params) };
        let empty: Pieces = ends.empty.iter().map(|set| moved(set, layout.vars(), place)).collect();
        let never = intersect(&goal.pairs, &empty);
        self.push(side, goal, own.inits[index], layout, &never, agenda);
        let deeper = layout.with_depth(side, depth + 1);
        let last: Pieces = ends.last.iter().map(|set| moved(set, deeper.vars(), place)).collect();
        let wide = layout.place_in(deeper, side, base);
        let pairs: Pieces = goal.pairs.iter().map(|set| moved(set, deeper.vars(), &wide)).collect();
        let pairs = intersect(&pairs, &last);
        self.push(side, goal, own.yields[index], deeper, &pairs, agenda);
        Ok(())
    }

    fn follow_choice(
        &self,
        side: Side,
        goal: &Goal,
        [condition, yes, no]: [TermId; 3],
        agenda: &mut Vec<Goal>,
    ) {
        let Kind::Truth(truth) = &self.term(side, condition).kind else { return };
        let layout = self.layout_of(goal);
        for (cases, target) in [(&truth.holds, yes), (&truth.fails, no)] {
            let mut pairs = Pieces::new();
            for piece in &goal.pairs {
                for case in cases {
                    let mut set = piece.clone();
                    case.iter().for_each(|constraint| constraint.add_to(&mut set, layout.base(side)));
                    pairs.extend(set.simplified());
                }
            }
            self.push(side, goal, target, layout, &pairs, agenda);
        }
    }

    /// Follows a load where no other buffer's store may have changed the element; returns the
    /// rest.
    pub(super) fn undisturbed(
        &mut self,
        side: Side,
        goal: Goal,
        agenda: &mut Vec<Goal>,
    ) -> Result<Option<Goal>, Stuck<'b>> {
        let Kind::Load(access) = self.term(side, goal.terms[side]).kind else { return Ok(Some(goal)) };
        if !self.is_ordered(side, access) {
            return Ok(Some(goal));
        }
        let clobbered = self.clobbered_of(side, access)?;
        if clobbered.is_empty() {
            return Ok(Some(goal));
        }
        let layout = self.layout_of(&goal);
        let base = layout.base(side);
        let place = |v: usize| if v < layout.params { v } else { base + (v - layout.params) };
        let clobbered: Pieces = clobbered.iter().map(|set| moved(set, layout.vars(), place)).collect();
        let direct = self.solver.subtract(&goal.pairs, &clobbered)?;
        let direct = Goal { terms: goal.terms, pairs: direct };
        self.follow_load(side, &direct, access, false, agenda)?;
        let pairs = self.solver.pruned(intersect(&goal.pairs, &clobbered))?;
        Ok((!pairs.is_empty()).then_some(Goal { terms: goal.terms, pairs }))
    }

    /// A load has the value of the store that wrote the element, or that of the element before. As
    /// a joint it leads to the store itself.
    pub(super) fn follow_load(
        &mut self,
        side: Side,
        goal: &Goal,
        access: usize,
        is_joint: bool,
        agenda: &mut Vec<Goal>,
    ) -> Result<(), Stuck<'b>> {
        let Some(flow) = self.flow_of(side, access)?.cloned() else { return Ok(()) };
        let program = self.programs[side];
        let written = |store: usize| {
            let stored = program.accesses[store].stored?;
            Some(match program.terms[stored].kind {
                Kind::Stored { value, .. } if !is_joint => value,
                _ => stored,
            })
        };
        self.follow_sources(side, goal, &flow, written, agenda);
        Ok(())
    }

    /// The contents of a buffer are what the latest store left.
    fn follow_state(
        &mut self,
        side: Side,
        goal: &Goal,
        access: usize,
        agenda: &mut Vec<Goal>,
    ) -> Result<(), Stuck<'b>> {
        let Some(flow) = self.flow_to(side, access, Part::Whole)?.cloned() else { return Ok(()) };
        let program = self.programs[side];
        self.follow_sources(side, goal, &flow, |store| program.accesses[store].update, agenda);
        Ok(())
    }

    /// Adds goals for what stores wrote, as `written` says, and for what was there before.
    fn follow_sources(
        &self,
        side: Side,
        goal: &Goal,
        flow: &Flow,
        written: impl Fn(usize) -> Option<TermId>,
        agenda: &mut Vec<Goal>,
    ) {
        let program = self.programs[side];
        let layout = self.layout_of(goal);
        let base = layout.base(side);
        let place = |v: usize| if v < layout.params { v } else { base + (v - layout.params) };
        let initial: Pieces = flow.initial.iter().map(|set| moved(set, layout.vars(), place)).collect();
        // The term of the element before stands behind that of the load.
        let before = intersect(&goal.pairs, &initial);
        self.push(side, goal, goal.terms[side] + 1, layout, &before, agenda);
        for (store, pieces) in &flow.writers {
            let Some(stored) = written(*store) else { continue };
            let old = layout.depths[side];
            let target = layout.with_depth(side, program.scopes[program.accesses[*store].scope].depth());
            // The variables of the load go behind all others.
            let (vars, all) = (target.vars(), target.vars() + old);
            let wide = layout.place_in(target, side, vars);
            let pairs: Pieces = goal.pairs.iter().map(|set| moved(set, all, &wide)).collect();
            let base = target.base(side);
            let links = pieces.iter().map(|set| {
                moved(set, all, |v| {
                    if v < layout.params {
                        v
                    } else if v < layout.params + old {
                        vars + (v - layout.params)
                    } else {
                        base + (v - layout.params - old)
                    }
                })
            });
            let links: Pieces = links.collect();
            let pairs = hide(&intersect(&pairs, &links), vars..all);
            self.push(side, goal, stored, target, &pairs, agenda);
        }
    }
}
