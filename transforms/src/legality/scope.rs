//! Scopes: checks that every value is computed before its uses, where it is visible.
//!
//! A value of the program is visible at a place of the tree if the leaf that computes it is before
//! that place, in a surrounding sequence, and runs the right iteration. Induction variables are
//! expressions over the surrounding loops and always visible, unless nothing is known about them.
//! Loop-carried values are visible inside their loop. The loop must be whole, or in consecutive
//! parts of one sequence. Results of a conditional are visible behind its yields in the same
//! branch, and behind the two branches of one condition if both yield.
//!
//! **Assumptions.**
//! - A value is visible in the iteration that computes it, behind its computation. Tried with
//!   `fixtures/fusion/conditional_results.mlir`.
//! - Results of a loop are visible behind its last part. Tried with
//!   `fixtures/fusion/carried_parts.mlir`.
//!
//! **Cost.** Linear in the operands.

use hashbrown::HashMap;
use loomir_ir::{Block, Op, Value, ValueDef};

use super::changed_region::ChangedRegion;
use super::{Verdict, Witness, carried};
use crate::access::LoopContext;
use crate::affine::AffineForm;
use crate::assumption::Assumption;
use crate::tree::levels::absolute;
use crate::tree::{Arm, Green, Header, HeaderId, IfId, LoopId, Map, Node, Origin, Span};

/// Judges the items of a sequence in `inside`, the innermost loop of the loop context.
pub(super) fn check(part: &ChangedRegion<'_>, inside: Option<LoopId>, items: &[Green], arm: Arm) -> Verdict {
    let mut scope = Scope {
        part,
        arm,
        inside,
        visible: HashMap::new(),
        shown: Vec::new(),
        yielded: Vec::new(),
        open: Vec::new(),
        loop_context: part.loop_context.clone(),
        sequences: 0,
        begun: HashMap::new(),
    };
    match scope.sequence(items).and_then(|()| scope.end()) {
        Ok(()) => Verdict::legal(),
        Err(verdict) => verdict,
    }
}

struct Scope<'a> {
    part: &'a ChangedRegion<'a>,
    arm: Arm,
    inside: Option<LoopId>,
    /// The iterations whose results of an operation are visible, over levels.
    visible: HashMap<Op, Vec<Vec<AffineForm>>>,
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
    begun: HashMap<(LoopId, u32), Vec<AffineForm>>,
}

/// A conditional whose results a branch yields, and its iteration.
type Yielded = (Op, Vec<AffineForm>);

/// A loop of the program in execution.
struct Open {
    of: LoopId,
    /// The iteration, over levels.
    map: Vec<AffineForm>,
    /// True if the loop leads a loop of the tree that runs whole.
    leads: bool,
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
                Node::Sequence { .. } => self.sequence(&self.part.trees.items(*item).collect::<Vec<_>>())?,
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
                    let (shown, yielded) = (self.shown.len(), self.yielded.len());
                    self.sequence(&[body])?;
                    self.hide(shown);
                    let own = self.yielded.split_off(yielded);
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

    /// Enters a loop of sequence `number`, before some other items.
    fn enter(&mut self, id: HeaderId, inside: Green, number: u32, others: &[Green]) -> Result<(), Verdict> {
        let part = self.part;
        let header = part.trees.header(id);
        for (place, origin) in header.origins.iter().enumerate() {
            let op = part.program.loop_info(origin.of).op;
            let map = self.levels(&origin.map, self.loop_context.depth + 1)?;
            // The first origin determines the form of the loop, at least its step.
            if place == 0 || part.program.loop_info(origin.of).carried > 0 {
                for value in part.body.operands(op) {
                    self.need(value, op, &map[..map.len().saturating_sub(1)])?;
                }
            }
        }
        // The bounds refer to the visible instances of values.
        let mut parameters = Vec::new();
        header.span.forms().for_each(|form| form.each_parameter(&mut |value| parameters.push(value)));
        let lead = header.origins.first().map(|lead| part.program.loop_info(lead.of).op);
        for value in parameters {
            let of = part.program.loop_around(part.body, value);
            let iteration = of.and_then(|of| self.open.iter().rev().find(|open| open.of == of));
            let outside: Vec<AffineForm> = (0..part.loop_context.depth).map(AffineForm::level).collect();
            let iteration = iteration.map_or(outside, |open| open.map.clone());
            self.need(value, lead.unwrap_or(part.body.root()), &iteration)?;
        }
        let (shown, open) = (self.shown.len(), self.open.len());
        for (place, origin) in header.origins.iter().enumerate() {
            let leads = place == 0 && header.span == Span::Whole;
            let map = self.levels(&origin.map, self.loop_context.depth + 1)?;
            self.open.push(Open { of: origin.of, map, leads });
        }
        let within = self.loop_context.inside(part.program, part.trees, id);
        let around = std::mem::replace(&mut self.loop_context, within);
        self.sequence(&[inside])?;
        for origin in &header.origins {
            self.carry(header, origin, inside)?;
        }
        self.loop_context = around;
        self.hide(shown);
        for (done, origin) in self.open.split_off(open).into_iter().zip(&header.origins) {
            let info = part.program.loop_info(done.of);
            if info.carried > 0 {
                let around = done.map[..done.map.len().saturating_sub(1)].to_vec();
                let begun = self.begun.entry((done.of, number)).or_insert_with(|| around.clone());
                if *begun != around {
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

    /// Makes the results of an iteration of `op` visible to the end of the loop around.
    fn show(&mut self, op: Op, iteration: Vec<AffineForm>) {
        self.visible.entry(op).or_default().push(iteration);
        self.shown.push(op);
    }

    /// Hides the values that were computed since `shown` operations were visible.
    fn hide(&mut self, shown: usize) {
        for op in self.shown.split_off(shown) {
            self.visible.get_mut(&op).map(Vec::pop);
        }
    }

    /// Checks that loop-carried values are visible at the end of the loop's body. The loop must run
    /// whole and in order, unless the order of its parts is judged elsewhere.
    fn carry(&self, header: &Header, origin: &Origin, inside: Green) -> Result<(), Verdict> {
        let program = self.part.program;
        let info = program.loop_info(origin.of);
        if info.carried == 0 {
            return Ok(());
        }
        if !self.runs_whole(header, origin)
            && (header.parallel || !carried::is_judged((self.part.program, self.part.trees), origin, inside))
        {
            return Err(Verdict::MayBeIllegal(Witness::Carried(info.op)));
        }
        let map = self.levels(&origin.map, self.loop_context.depth)?;
        self.handed_on(info.block, &map)
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
        let extents = info.space.extents().zip(first.space.extents());
        let same_times = info.alike == first.alike
            || (info.space.step == first.space.step
                && extents.is_some_and(|(own, others)| are_equal(&own, &others)));
        header.span == Span::Whole && origin.iteration() == Some(&AffineForm::level(0)) && same_times
    }

    fn handed_on(&self, block: Block, map: &[AffineForm]) -> Result<(), Verdict> {
        let body = self.part.body;
        let Some(terminator) = body.terminator(block) else { return Ok(()) };
        body.operands(terminator).try_for_each(|value| self.need(value, terminator, map))
    }

    /// Checks that values used behind the sequence are visible.
    fn end(&self) -> Result<(), Verdict> {
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
    fn need(&self, value: Value, user: Op, map: &[AffineForm]) -> Result<(), Verdict> {
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
                _ => open.of == of,
            };
            let there = self.open.iter().any(|open| is_it(open) && Some(&open.map[..]) == own);
            return if there { Ok(()) } else { Err(Verdict::MayBeIllegal(missing)) };
        }
        let ValueDef::OpResult { op, .. } = body.def(value) else { return Ok(()) };
        if self.part.alone.is_some_and(|it| it.handed_on.contains(&op) || !body.is_within(op, it.op)) {
            return Ok(());
        }
        let Some(depth) = program.depth_of(body, op).filter(|depth| *depth >= outside) else { return Ok(()) };
        let seen = self.visible.get(&op).filter(|all| !all.is_empty());
        let there = seen.into_iter().flatten().any(|own| Some(&own[..]) == map.get(..depth as usize));
        match there {
            true => Ok(()),
            false if seen.is_none() => Err(Verdict::Illegal(missing)),
            false => Err(Verdict::MayBeIllegal(missing)),
        }
    }

    fn levels(&self, forms: &[AffineForm], depth: u32) -> Result<Vec<AffineForm>, Verdict> {
        let op = self.inside.map(|of| self.part.program.loop_info(of).op).unwrap_or(self.part.body.root());
        let all: Option<Vec<AffineForm>> = forms.iter().map(|form| absolute(form, depth)).collect();
        all.ok_or(Verdict::Unknown { accesses: (op, op) })
    }
}
