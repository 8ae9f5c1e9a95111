//! Scopes: checks that every value is computed before its uses, where it is visible.
//!
//! A value of the program is visible at a place of the tree if the leaf that computes it is before
//! that place, in a surrounding sequence, and runs the right iteration. Induction variables are
//! expressions over the surrounding loops and always visible, unless nothing is known about them.
//! Loop-carried values are visible inside their loop. The loop must be whole, or in consecutive
//! parts of one sequence. Results of a conditional are visible behind its yields in the same
//! branch, and behind the two branches of one condition if both yield.
//!
//! A loop of the tree may run several iterations of one loop of the program. In it, several
//! iterations of a value are visible at once. Elsewhere only the latest is. Copies in consecutive
//! iterations of a loop with carried values begin with those that the copy before yields.
//!
//! **Assumptions.**
//! - A value is visible in the iteration that computes it, behind its computation. Tried with
//!   `fixtures/fusion/conditional_results.mlir`.
//! - Results of a loop are visible behind its last part. Tried with
//!   `fixtures/fusion/carried_parts.mlir`.
//! - A condition that is decided before a loop around it may be poison and is frozen. Its sides are
//!   two copies of the loop, and one runs. Tried with `fixtures/edits/unswitch.mlir`.
//! - Bounds of loops have one value where several iterations are visible, unless a loop runs as in
//!   the program, in one of these iterations. Tried with `fixtures/unroll/jam_refused.mlir` and
//!   `fixtures/unroll/opaque_bounds.mlir`.
//! - A loop without results hides all that it computes. Items around a change use the same values
//!   as in the program, unless something in the change has results. Tried with
//!   `fixtures/edits/move.mlir`.
//!
//! **Cost.** Linear in the operands of the change, and of the sequence around it if values of the
//! change are used there.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::MemoryEffects;
use loomir_ir::{Block, Op, Value, ValueDef};
use smallvec::SmallVec;

use super::changed_region::ChangedRegion;
use super::difference::Difference;
use super::{Verdict, Witness, carried};
use crate::access::LoopContext;
use crate::affine::AffineForm;
use crate::assumption::Assumption;
use crate::tree::levels::absolute;
use crate::tree::program::LoopInfo;
use crate::tree::runs::{number_in_run, one_before};
use crate::tree::{Arm, Green, Header, HeaderId, IfId, LoopId, Map, Node, Origin, Span};

mod reduced;

/// Judges a sequence. Items before the change are as in the program. They matter only for the
/// values that later items use. Items behind the change are judged if these values may differ.
pub(super) fn check(part: &ChangedRegion<'_>, difference: &Difference<'_>, arm: Arm) -> Verdict {
    let mut scope = Scope {
        part,
        arm,
        inside: difference.inside,
        visible: HashMap::new(),
        shown: Vec::new(),
        yielded: Vec::new(),
        open: Vec::new(),
        loop_context: part.loop_context.clone(),
        sequences: 0,
        begun: HashMap::new(),
        several: 0,
        passed_on: HashSet::new(),
        passed: Vec::new(),
        reducing: Vec::new(),
        decided_earlier: Vec::new(),
    };
    let (before, rest) = difference.new.split_at(difference.same.0);
    let mut items: Vec<Green> = before.iter().copied().filter(|item| has_results(part, *item)).collect();
    let mut differing = difference.changed().iter().chain(difference.replaced());
    let judged = if differing.any(|item| has_results(part, *item)) {
        items.extend(rest);
        scope.sequence(&items).and_then(|()| scope.end())
    } else {
        items.extend(difference.changed());
        scope.sequence(&items)
    };
    match judged.and_then(|()| scope.sides_stay_together()) {
        Ok(()) => Verdict::legal(),
        Err(verdict) => verdict,
    }
}

/// True if a loop runs one loop of the program as it is. It is written with the bounds of the
/// iteration around that it runs in.
fn runs_as_before(header: &Header) -> bool {
    match &header.origins[..] {
        [own] => header.span == Span::Whole && own.iteration() == Some(&AffineForm::level(0)),
        _ => false,
    }
}

/// True if items behind this one may use values that it computes.
fn has_results(part: &ChangedRegion<'_>, item: Green) -> bool {
    match part.trees.get(item) {
        Node::Empty => false,
        Node::Loop { header, .. } => {
            let origins = &part.trees.header(header).origins;
            origins.iter().any(|origin| part.program.loop_info(origin.of).has_results())
        }
        Node::Leaf { .. } | Node::Guard { .. } | Node::Sequence { .. } | Node::Versioned { .. } => true,
    }
}

struct Scope<'a> {
    part: &'a ChangedRegion<'a>,
    arm: Arm,
    inside: Option<LoopId>,
    /// The iterations whose results of an operation are visible.
    visible: HashMap<Op, SmallVec<[Visible; 1]>>,
    /// These operations, in the order of their appearance.
    shown: Vec<Op>,
    /// The values yielded in the surrounding branches.
    yielded: Vec<Yielded>,
    /// The current iterations of the program's loops in the loops of the tree around.
    open: Vec<Open>,
    /// The loops of the tree around.
    loop_context: LoopContext,
    /// The number of sequences visited.
    sequences: u32,
    /// Loops with carried values and their sequence, with the iteration of the surrounding loops
    /// that runs there.
    begun: HashMap<(LoopId, u32), Iteration>,
    /// The number of loops around that run several iterations of one loop of the program.
    several: usize,
    /// Carried values that are visible in later iterations of a run, and these iterations.
    passed_on: HashSet<(Value, Iteration)>,
    /// The same, in the order of their appearance.
    passed: Vec<(Value, Iteration)>,
    /// The inner dimensions of the parallel loops with results around.
    reducing: Vec<HeaderId>,
    /// Single sides of `if`s that are decided before a loop of the program around them.
    decided_earlier: Vec<(IfId, bool)>,
}

/// The iteration of the loops of the program around a place, over levels.
type Iteration = Rc<[AffineForm]>;

/// An iteration whose results are visible.
struct Visible {
    iteration: Iteration,
    /// True if it is told apart from other iterations.
    several: bool,
    /// True if earlier iterations that are not told apart from this one are hidden by it.
    hides: bool,
}

/// A conditional whose results a branch yields, and its iteration.
type Yielded = (Op, Iteration);

/// A loop of the program in execution.
struct Open {
    of: LoopId,
    map: Iteration,
    /// True if the loop leads a loop of the tree that runs whole.
    leads: bool,
    /// True if the iteration is the first of its run.
    begins: bool,
}

impl Scope<'_> {
    /// Checks items in sequence. Their results are visible afterwards. Recurses once a loop or
    /// guard. Their nesting depth is bounded when they are raised.
    fn sequence(&mut self, items: &[Green]) -> Result<(), Verdict> {
        // The yields of the guard before the item, if its condition is to hold.
        let mut first: Option<((IfId, Map), Vec<Yielded>)> = None;
        self.sequences += 1;
        let number = self.sequences;
        for (place, item) in items.iter().enumerate() {
            let before = first.take();
            match self.part.trees.get(*item) {
                Node::Empty => {}
                Node::Sequence { .. } => {
                    self.sequence(&self.part.trees.items(*item).collect::<SmallVec<[Green; 8]>>())?;
                }
                Node::Versioned { .. } if self.several > 0 => {
                    let op = self
                        .open
                        .last()
                        .map_or(self.part.body.root(), |open| self.part.program.loop_info(open.of).op);
                    return Err(Verdict::Unknown { accesses: (op, op) });
                }
                Node::Versioned { assumption, fast, fallback } => {
                    let tested = match self.arm {
                        Arm::Fast => self.part.trees.assumptions(assumption),
                        Arm::Fallback => &[],
                    };
                    let within = self.loop_context.with_facts(tested.iter().flat_map(Assumption::facts));
                    let around = std::mem::replace(&mut self.loop_context, within);
                    self.sequence(&[if self.arm == Arm::Fast { fast } else { fallback }])?;
                    self.loop_context = around;
                }
                Node::Guard { of, map, holds, body } => {
                    let op = self.part.program.if_info(of).op;
                    let iteration = self.levels(self.part.trees.map(map), self.loop_context.depth)?;
                    for value in self.part.body.operands(op) {
                        self.need(value, op, &iteration)?;
                    }
                    let (shown, yielded) = (self.mark(), self.yielded.len());
                    self.sequence(&[body])?;
                    self.hide(shown);
                    let own = self.yielded.split_off(yielded);
                    if self.part.program.is_decided_earlier(self.part.body, of, self.part.trees.map(map)) {
                        let is_second =
                            !holds && before.as_ref().is_some_and(|(condition, _)| *condition == (of, map));
                        self.decide_earlier((of, holds), is_second)?;
                    }
                    match before {
                        Some((condition, others)) if !holds && condition == (of, map) => {
                            let both = own.into_iter().filter(|yielded| others.contains(yielded));
                            both.for_each(|(conditional, iteration)| self.show(conditional, iteration));
                        }
                        _ => first = holds.then_some(((of, map), own)),
                    }
                }
                Node::Loop { header, body } => self.enter(header, body, number, &items[place + 1..])?,
                Node::Leaf { statement, map } => {
                    let map = self.levels(self.part.trees.map(map), self.loop_context.depth)?;
                    for op in &self.part.program.statement(statement).ops {
                        for user in self.part.body.preorder(*op) {
                            for value in self.part.body.operands(user) {
                                self.need(value, user, &map)?;
                            }
                        }
                        if self.part.body.num_results(*op) > 0 {
                            self.show(*op, map.clone());
                        }
                    }
                    if let Some(of) = self.part.program.statement(statement).yields_for(self.part.body) {
                        self.yielded.push((of, map.clone()));
                        self.show(of, map);
                    }
                }
            }
        }
        Ok(())
    }

    /// Enters a side of an `if` before a loop that is around it. The loop need not run, so the
    /// decision must not be undefined, as a division by zero is.
    fn decide_earlier(&mut self, (of, holds): (IfId, bool), is_second: bool) -> Result<(), Verdict> {
        let view = self.part.body.op_ref(self.part.program.if_info(of).op);
        let effects = view.info().interface::<dyn MemoryEffects>();
        if effects.is_some_and(|model| model.may_be_undefined(view)) {
            return Err(Verdict::MayBeIllegal(Witness::Extent(view.op())));
        }
        let first = self.decided_earlier.iter().rposition(|own| *own == (of, true));
        match first.filter(|_| is_second) {
            Some(first) => _ = self.decided_earlier.remove(first),
            None => self.decided_earlier.push((of, holds)),
        }
        Ok(())
    }

    /// Checks that the sides of an `if` that is decided early are written as one `if`. Its
    /// condition may be poison, and frozen: another `if` could decide otherwise.
    fn sides_stay_together(&self) -> Result<(), Verdict> {
        let holding: HashSet<IfId> =
            self.decided_earlier.iter().filter(|(_, holds)| *holds).map(|(of, _)| *of).collect();
        let apart = self.decided_earlier.iter().find(|(of, holds)| !holds && holding.contains(of));
        match apart {
            Some((of, _)) => Err(Verdict::MayBeIllegal(Witness::Extent(self.part.program.if_info(*of).op))),
            None => Ok(()),
        }
    }

    /// Enters a loop of sequence `number`, before some other items.
    fn enter(&mut self, id: HeaderId, inside: Green, number: u32, others: &[Green]) -> Result<(), Verdict> {
        let part = self.part;
        let header = part.trees.header(id);
        for (place, origin) in header.origins.iter().enumerate() {
            let map = self.levels(&origin.map, self.loop_context.depth + 1)?;
            // The first origin determines the form of the loop, at least its step.
            let info = part.program.loop_info(origin.of);
            if place == 0 || info.carried > 0 || info.begins_reduction() {
                for value in part.body.operands(info.op) {
                    self.need(value, info.op, &map[..map.len().saturating_sub(1)])?;
                }
            }
        }
        self.bounds(header)?;
        let reducing = self.reducing.len();
        self.begin_reductions(id, inside)?;
        let (shown, open) = (self.mark(), self.open.len());
        let runs = header.runs();
        let mut starts = runs.iter().peekable();
        for (place, origin) in header.origins.iter().enumerate() {
            let leads = place == 0 && header.span == Span::Whole;
            let map = self.levels(&origin.map, self.loop_context.depth + 1)?;
            // The runs begin in the order of the origins.
            let begins = starts.next_if(|(first, _)| std::ptr::eq(*first, origin)).is_some();
            self.open.push(Open { of: origin.of, map, leads, begins });
        }
        let runs_several = header.runs_several();
        let around_several = self.several > 0;
        self.several += usize::from(runs_several);
        let within = self.loop_context.inside(part.program, part.trees, id);
        let around = std::mem::replace(&mut self.loop_context, within);
        self.sequence(&[inside])?;
        self.carry(header, &runs, inside)?;
        self.reducing.truncate(reducing);
        self.several -= usize::from(runs_several);
        self.loop_context = around;
        self.hide(shown);
        for (done, origin) in self.open.split_off(open).into_iter().zip(&header.origins) {
            let info = part.program.loop_info(done.of);
            if info.begins_reduction() {
                self.show(info.op, done.map[..done.map.len().saturating_sub(1)].into());
            } else if info.carried > 0 && done.begins && !header.are_lanes() {
                let around: Iteration = done.map[..done.map.len().saturating_sub(1)].into();
                let begun = self.begun.entry((done.of, number)).or_insert_with(|| around.clone());
                if *begun != around && !around_several {
                    return Err(Verdict::MayBeIllegal(Witness::Carried(info.op)));
                }
                // Values passed on by a part of it are for the next part.
                let is_part = !self.runs_whole(header, origin);
                if !(is_part && others.iter().any(|item| carried::runs(part.trees, *item, done.of))) {
                    self.show(info.op, around);
                }
            }
        }
        Ok(())
    }

    /// Checks that the values that bound a loop are visible, and the same in all iterations that
    /// run there.
    fn bounds(&mut self, header: &Header) -> Result<(), Verdict> {
        let (program, body) = (self.part.program, self.part.body);
        let mut parameters = Vec::new();
        header.span.forms().for_each(|form| form.each_parameter(&mut |value| parameters.push(value)));
        let (own, lead) = (parameters.len(), header.origins.first());
        if self.several > 0 && !runs_as_before(header) {
            for origin in &header.origins {
                let space = &program.loop_info(origin.of).space;
                let forms = space.bounds().chain(&space.variable);
                forms.for_each(|form| form.each_parameter(&mut |value| parameters.push(value)));
            }
        }
        let op = lead.map_or(body.root(), |lead| program.loop_info(lead.of).op);
        for (place, value) in parameters.into_iter().enumerate() {
            let of = program.loop_around(body, value);
            let mut running = self.open.iter().rev().filter(|open| Some(open.of) == of);
            let iteration = running.next();
            if running.next().is_some() {
                return Err(Verdict::MayBeIllegal(Witness::Unavailable { value, user: op }));
            }
            if place < own {
                let outside = (0..self.part.loop_context.depth).map(AffineForm::level);
                let iteration: Iteration =
                    iteration.map_or_else(|| outside.collect(), |open| open.map.clone());
                self.need(value, op, &iteration)?;
            }
        }
        Ok(())
    }

    /// Makes the results of an iteration of `op` visible to the end of the loop around.
    fn show(&mut self, op: Op, iteration: Iteration) {
        let several = self.several > 0;
        let seen = self.visible.entry(op).or_default();
        let hides = seen
            .last()
            .is_some_and(|last| last.hides || last.iteration != iteration && !(several && last.several));
        seen.push(Visible { iteration, several, hides });
        self.shown.push(op);
    }

    /// Returns the number of values that are visible, by operation and as carried ones.
    fn mark(&self) -> (usize, usize) {
        (self.shown.len(), self.passed.len())
    }

    /// Hides the values that became visible since a mark.
    fn hide(&mut self, (shown, passed): (usize, usize)) {
        for op in self.shown.split_off(shown) {
            self.visible.get_mut(&op).map(SmallVec::pop);
        }
        for own in self.passed.split_off(passed) {
            self.passed_on.remove(&own);
        }
    }

    /// Checks that loop-carried values are visible at the end of the loop's body, and those that
    /// iterations combine. The loop must run whole, and in order if it carries values, unless the
    /// order of its parts is judged elsewhere.
    fn carry(&mut self, header: &Header, runs: &[(&Origin, &Origin)], inside: Green) -> Result<(), Verdict> {
        let program = self.part.program;
        for origin in header.origins.iter().filter(|own| program.loop_info(own.of).reduced > 0) {
            self.end_reduction(header, origin)?;
        }
        if header.origins.iter().all(|origin| program.loop_info(origin.of).carried == 0) {
            return Ok(());
        }
        let judged = carried::judged((program, self.part.trees), inside);
        for (first, last) in runs {
            let info = program.loop_info(first.of);
            if info.carried == 0 {
                continue;
            }
            let carried = Err(Verdict::MayBeIllegal(Witness::Carried(info.op)));
            let is_judged = |origin: &Origin| judged.contains(&(info.op, &origin.map[..]));
            if header.are_lanes() && info.combines {
                let is_there = |open: &&Open| open.of == first.of && open.begins;
                if first != last || !is_judged(first) || self.open.iter().filter(is_there).count() < 2 {
                    return carried;
                }
            } else if first == last {
                if header.parallel || (!self.runs_whole(header, first) && !is_judged(first)) {
                    return carried;
                }
            } else {
                let around = |origin: &Origin| origin.map.split_last().map(|(_, around)| around.to_vec());
                let is_own = |own: &&Origin| own.of == first.of && around(own) == around(first);
                let run: Vec<&Origin> = header.origins.iter().filter(is_own).collect();
                if !header.parallel && are_consecutive(&run) && self.are_lanes_of(&run, inside) {
                    continue;
                }
                if header.parallel || !are_consecutive(&run) || !run.into_iter().all(is_judged) {
                    return carried;
                }
            }
            let map = self.levels(&last.map, self.loop_context.depth)?;
            self.handed_on(info.block, &map)?;
        }
        Ok(())
    }

    /// True if a body is a loop whose iterations are these copies, at once, or the first of them.
    /// Their order is judged there. [Coverage](super::coverage) judges if an iteration is missed.
    fn are_lanes_of(&self, run: &[&Origin], inside: Green) -> bool {
        let trees = self.part.trees;
        let Some(Node::Loop { header, .. }) = trees.only_item(inside).map(|only| trees.get(only)) else {
            return false;
        };
        let header = trees.header(header);
        let [only] = &header.origins[..] else { return false };
        let is_copy = |(lane, copy): (i64, &&Origin)| only.of_lane(lane).is_some_and(|own| own == **copy);
        header.are_lanes()
            && self.part.program.loop_info(only.of).combines
            && header.span.is_within(run.len() as i64)
            && (0..).zip(run).all(is_copy)
    }

    /// True if a loop of the tree runs this loop of the program whole and in order.
    fn runs_whole(&self, header: &Header, origin: &Origin) -> bool {
        let program = self.part.program;
        let Some(lead) = header.origins.first() else { return false };
        let (info, first) = (program.loop_info(origin.of), program.loop_info(lead.of));
        let are_equal = |own: &[AffineForm], others: &[AffineForm]| match (own, others) {
            ([own], [other]) => {
                own == other || own.minus(other).is_some_and(|gap| self.loop_context.is_zero(&gap))
            }
            _ => own == others,
        };
        let extents = |info: &LoopInfo, origin: &Origin| -> Option<Vec<AffineForm>> {
            let map = self.levels(&origin.map, self.loop_context.depth).ok()?;
            let here = |form: &AffineForm| form.substitute(&mut |level| map.get(level as usize).cloned());
            info.space.extents()?.iter().map(here).collect()
        };
        let around = |origin: &Origin| origin.map[..origin.map.len().saturating_sub(1)].to_vec();
        let same_times = (info.alike == first.alike && around(origin) == around(lead))
            || (info.space.step == first.space.step
                && extents(info, origin)
                    .zip(extents(first, lead))
                    .is_some_and(|(own, others)| are_equal(&own, &others)));
        header.span == Span::Whole && origin.iteration() == Some(&AffineForm::level(0)) && same_times
    }

    fn handed_on(&mut self, block: Block, map: &[AffineForm]) -> Result<(), Verdict> {
        let body = self.part.body;
        let Some(terminator) = body.terminator(block) else { return Ok(()) };
        body.operands(terminator).try_for_each(|value| self.need(value, terminator, map))
    }

    /// Checks that values used behind the sequence are visible.
    fn end(&mut self) -> Result<(), Verdict> {
        let (body, program) = (self.part.body, self.part.program);
        if self.part.alone.is_some() {
            return Ok(());
        }
        let map: Vec<AffineForm> = (0..self.loop_context.depth).map(AffineForm::level).collect();
        match self.inside {
            Some(of) => self.handed_on(program.loop_info(of).block, &map),
            None => {
                self.handed_on(program.block, &map)?;
                let others = body.block_region(program.block);
                let blocks = body.blocks(others).filter(|block| *block != program.block);
                let users = blocks.flat_map(|block| body.ops(block)).flat_map(|op| body.preorder(op));
                users
                    .flat_map(|user| body.operands(user).map(move |value| (value, user)))
                    .try_for_each(|(value, user)| self.need(value, user, &map))
            }
        }
    }

    /// Checks that a value of the program is available for `user`, in the iteration `map` of the
    /// loops around the value.
    fn need(&mut self, value: Value, user: Op, map: &[AffineForm]) -> Result<(), Verdict> {
        let (body, program) = (self.part.body, self.part.program);
        let missing = Witness::Unavailable { value, user };
        let outside = self.part.loop_context.depth;
        if let Some((of, index)) = program.loop_of_argument(body, value) {
            let info = program.loop_info(of);
            if info.depth < outside || (index == 0 && info.space.variable.is_some()) {
                return Ok(());
            }
            let own = map.get(..=info.depth as usize);
            // Equivalent loops have equivalent induction variables.
            let is_it = |open: &Open| match index {
                0 => open.leads && program.loop_info(open.of).alike == info.alike,
                _ => open.of == of && open.begins,
            };
            if self.open.iter().rev().any(|open| is_it(open) && Some(&open.map[..]) == own) {
                return Ok(());
            }
            return match own.filter(|_| index > 0) {
                Some(own) => self.need_passed_on(value, user, own.into()),
                None => Err(Verdict::MayBeIllegal(missing)),
            };
        }
        let ValueDef::OpResult { op, .. } = body.def(value) else { return Ok(()) };
        if self.part.alone.is_some_and(|it| it.handed_on.contains(&op) || !body.is_within(op, it.op)) {
            return Ok(());
        }
        let Some(depth) = program.depth_of(body, op).filter(|depth| *depth >= outside) else { return Ok(()) };
        if body.terminator(program.block) == Some(op) {
            // The terminator stays, and its results are used in other blocks alone.
            return Ok(());
        }
        let Some(seen) = self.visible.get(&op).filter(|all| !all.is_empty()) else {
            return Err(Verdict::Illegal(missing));
        };
        // An earlier iteration that is not told apart from the latest is hidden.
        let wanted = map.get(..depth as usize);
        let of_all = if seen.last().is_some_and(|last| last.hides) { 1 } else { seen.len() };
        let there = seen.iter().rev().take(of_all).any(|own| Some(&own.iteration[..]) == wanted);
        if there { Ok(()) } else { Err(Verdict::MayBeIllegal(missing)) }
    }

    /// Checks that a carried value is available in a later iteration of a run: the iteration before
    /// it yields it. Walks back to an iteration whose values are known to be visible.
    fn need_passed_on(&mut self, value: Value, user: Op, map: Iteration) -> Result<(), Verdict> {
        let (body, program) = (self.part.body, self.part.program);
        let missing = Verdict::MayBeIllegal(Witness::Unavailable { value, user });
        let (mut own, mut iteration) = (value, map);
        let mut walked = Vec::new();
        loop {
            if self.passed_on.contains(&(own, iteration.clone())) {
                break;
            }
            let Some((of, index)) = program.loop_of_argument(body, own) else { return Err(missing) };
            let is_first = |open: &Open| open.of == of && open.begins && open.map == iteration;
            if !walked.is_empty() && self.open.iter().rev().any(is_first) {
                break;
            }
            let is_run =
                |open: &Open| open.of == of && open.begins && number_in_run(&open.map, &iteration).is_some();
            let end = body.terminator(program.loop_info(of).block);
            let before = one_before(&iteration);
            let (true, Some(end), Some(before)) = (self.open.iter().any(is_run), end, before) else {
                return Err(missing);
            };
            walked.push((own, iteration));
            (own, iteration) = (body.operand(end, index - 1), before.into());
            if !matches!(program.loop_of_argument(body, own), Some((other, 1..)) if other == of) {
                self.need(own, user, &iteration)?;
                break;
            }
        }
        for passed in walked {
            self.passed_on.insert(passed.clone());
            self.passed.push(passed);
        }
        Ok(())
    }

    fn levels(&self, forms: &[AffineForm], depth: u32) -> Result<Iteration, Verdict> {
        let op = self.inside.map(|of| self.part.program.loop_info(of).op).unwrap_or(self.part.body.root());
        let all: Option<Iteration> = forms.iter().map(|form| absolute(form, depth)).collect();
        all.ok_or(Verdict::Unknown { accesses: (op, op) })
    }
}

/// True if these iterations of a loop of the program follow each other, and those of the next
/// iteration of the loop of the tree follow them.
fn are_consecutive(run: &[&Origin]) -> bool {
    let Some((first, later)) = run.split_first() else { return false };
    let follows = |(number, origin): (i64, &&Origin)| number_in_run(&first.map, &origin.map) == Some(number);
    (1..).zip(later).all(follows)
        && first.iteration().is_some_and(|own| own.coefficient_of_level(0) == run.len() as i64)
}
