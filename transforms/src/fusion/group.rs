//! Groups of fused loops on a common time axis.
//!
//! Each member of a group runs its iteration `x - start` at time `x`; a start may be a value of the
//! program. The fused loop runs the times that all members share. `tree/edit/fuse.rs` makes loops
//! of the remainders. Each iteration therefore runs once, whatever the bounds are at run time. Two
//! iterations of two members run in the order of their times. At equal times, and outside of the
//! fused loop, they run in the order
//! of the members. [`legality::merged`](crate::legality::merged) judges this order.
//!
//! **Assumptions.**
//! - A step is a positive constant where iterations are shifted or cut. A symbolic step is the same
//!   value in both loops, or they stay apart. Tried with `fixtures/fusion/iteration_spaces.mlir`
//!   and `shift_multiple.mlir`.
//! - Bounds of remainders are written without leaving their type. Tried with
//!   `fixtures/fusion/widths.mlir`.

use std::rc::Rc;

use loomir_dialects::{affine, scf};
use loomir_ir::{Body, Op, OpDef, Type, Value};

use super::decision::Missed;
use super::footprint::Footprint;
use super::times::{self, extents, gap, here};
use crate::access::LoopContext;
use crate::affine::{AffineForm, Atom};
use crate::assumption::Assumption;
use crate::cost::Work;
use crate::marks;
use crate::tree::access_summary::AccessSummary;
use crate::tree::levels::relative;
use crate::tree::{
    Green, Header, LoopId, Mark, Node, Origin, Parts, Program, Span, Times, Together, TreeStore, trip_count,
};

/// A loop with more operations than this is not cut, because cutting copies its body.
const MAX_COPIED: usize = 256;

/// A member: one of the fused loops.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The loop of the program and its times.
    origin: Origin,
    /// Its body, shifted.
    body: Green,
    /// The value of its induction variable in the first iteration, a form over the surrounding
    /// levels. `None` if unknown.
    lower: Option<AffineForm>,
    /// The first time, over `scale`: a form over the surrounding levels.
    start: AffineForm,
    /// The exclusive ends of its times, over `scale`, in the same way. Empty if unknown.
    ends: Vec<AffineForm>,
    /// The number by which `ends` are divided.
    scale: i64,
    /// The number of iterations of its loop in one time.
    block: i64,
    /// The step of its induction variable from one time to the next, if that is a constant.
    step: Option<i64>,
    /// Its operation.
    op: Op,
    /// True if it is an `affine` loop.
    is_affine: bool,
    /// The number of operations in the loop.
    size: usize,
    /// True if the loop runs from its last iteration to its first.
    backwards: bool,
}

/// Fused loops, or one loop that may be fused.
#[derive(Clone)]
pub(super) struct Group {
    members: Vec<Member>,
    /// The member that determines the form of the group.
    lead: usize,
    /// The first member as a loop of its own.
    pub(super) item: Green,
    /// The work of the fused loop, if costs are computed.
    pub(super) work: Option<Rc<Work>>,
    /// The footprint of the group, in its times.
    pub(super) footprint: Footprint,
    /// The original loops.
    pub(super) originals: Vec<Green>,
    /// The assumptions of the group.
    pub(super) assumed: Vec<Assumption>,
    /// The first times of members, over `scale`. The greatest of them, the first shared time, is
    /// unknown.
    starts: Vec<AffineForm>,
    /// The exclusive ends of the shared times, over `scale`. The least of them is unknown.
    ends: Vec<AffineForm>,
    /// The greatest constant in the value of a member's induction variable at time 0.
    zero: i64,
    /// True if all members have the times of the first.
    whole: bool,
    /// True if a member has results: loop-carried values, so that it runs in order, or values that
    /// its iterations combine.
    carries: bool,
    /// True if a member is the outermost dimension of a parallel loop with results.
    pub(super) begins_reduction: bool,
    /// True if each member may be run in parts: it carries no values, or an anchor identifies its
    /// parts.
    may_be_cut: bool,
    /// True if a part of another loop is a member, or was in an earlier run.
    pub(super) has_part: bool,
    /// A conditional whose condition was moved into one of the members.
    pub(super) guarded: Option<Op>,
    /// True if the iterations of each member, and of all together, may run in any order. Such loops
    /// are run whole.
    pub(super) parallel: bool,
    /// The maximal number of additional iterations by which blocks shift members.
    pub(super) blocks: i64,
    /// The number of loops that are around.
    depth: u32,
}

/// The relation of two loops' iteration domains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// True if they have the same iterations.
    pub(super) same: bool,
    /// Either loop may be split.
    pub(super) may_be_shifted: bool,
}

/// A member as it joins a group.
pub(super) struct Joined {
    member: Member,
    /// The loop, not shifted.
    pub(super) item: Green,
    /// Its accesses, at the times of the group.
    nest: Rc<AccessSummary>,
    starts: Vec<AffineForm>,
    ends: Vec<AffineForm>,
    zero: i64,
    shift: i64,
    pub(super) whole: bool,
    /// The additional shift beyond the least legal one, in iterations.
    pub(super) block: i64,
}

impl Joined {
    /// Returns the body of the member, in terms of the group's times.
    pub(super) fn body(&self) -> Green {
        self.member.body
    }

    /// True if the times that it shares with `first` begin or end at an unknown one of both bounds.
    pub(super) fn is_of_unknown_length(&self, first: &Group) -> bool {
        self.ends.len() > first.ends.len().min(self.member.ends.len()) || self.starts.len() > 1
    }

    /// True if it begins at a value of the program.
    pub(super) fn is_moved(&self) -> bool {
        self.member.start.as_constant().is_none()
    }

    /// Returns its shift in iterations, behind the value at which it begins.
    pub(super) fn shift(&self) -> i64 {
        self.shift
    }
}

impl Member {
    /// Returns the value of its induction variable at time 0, even if it does not run then.
    fn zero(&self) -> Option<AffineForm> {
        self.lower.as_ref()?.minus(&self.start)
    }

    /// True if its body may compute numbers from the value of a form without a division.
    fn can_use(&self, form: &AffineForm, ir: &Body, loop_context: &LoopContext) -> bool {
        form.terms().iter().all(|(atom, coefficient)| match atom {
            Atom::Param(value) => {
                !self.is_affine || affine::validity::is_valid_symbol(ir.op_ref(self.op), *value)
            }
            Atom::Level(level) => {
                let around = loop_context.variables.get(*level as usize).copied().flatten();
                around.is_some_and(|(variable, step)| {
                    coefficient % step == 0
                        && (!self.is_affine || affine::validity::is_induction_variable(ir, variable))
                })
            }
            Atom::Product(_) | Atom::FloorDiv(..) => false,
        })
    }

    /// Returns its number of times, if that is a constant.
    fn times(&self) -> Option<i64> {
        trip_count(&[], &self.ends, self.scale)
    }

    /// True if both have the same number of times, as a form: `n` steps of 1 and of 2 end at `n`
    /// and at `2 * n`.
    fn runs_as_often(&self, other: &Member) -> bool {
        let counts = |own: &Member| {
            own.ends.iter().map(|end| end.ceil_div(own.scale)).collect::<Option<Vec<AffineForm>>>()
        };
        let (own, others) = (counts(self), counts(other));
        !self.ends.is_empty() && self.block == other.block && own.is_some() && own == others
    }
}

impl Group {
    /// Returns the group of one loop. `None` if `item` is no loop, a part of one, a remainder of
    /// fusion, or made by a directive. Linear in its contents.
    pub(super) fn of(
        ir: &Body,
        program: &Program,
        trees: &TreeStore,
        item: Green,
        loop_context: &LoopContext,
    ) -> Option<Group> {
        let Node::Loop { header, body } = trees.get(item) else { return None };
        let header = trees.header(header);
        let ([origin], true) = (&header.origins[..], trees.runs_whole(program, header)) else { return None };
        let info = program.loop_info(origin.of);
        let (op, space) = (info.op, &info.space);
        if [marks::REMAINDER, marks::OBEYED].iter().any(|own| ir.attr(op, own).is_some()) {
            return None;
        }
        let extents = if space.is_counted() { space.extents() } else { None };
        let extents: Vec<Option<AffineForm>> =
            extents.iter().flatten().map(|form| here(origin, form, loop_context.depth)).collect();
        let extents: Option<Vec<AffineForm>> = extents.into_iter().collect();
        let ends = extents.and_then(|all| times::earliest(&[], &all, loop_context)).unwrap_or_default();
        let lower = space.lower.as_ref().and_then(|form| here(origin, form, loop_context.depth));
        let size = ir.preorder(op).count();
        let lower_number = lower.as_ref().map_or(i64::MIN, AffineForm::constant_part);
        let member = Member {
            origin: origin.clone(),
            body,
            lower,
            start: AffineForm::constant(0),
            ends: ends.clone(),
            scale: space.step.unwrap_or(1),
            block: 1,
            step: space.step,
            op,
            is_affine: affine::is_loop(ir, op),
            size,
            backwards: false,
        };
        Some(Group {
            members: vec![member],
            lead: 0,
            item,
            work: None,
            footprint: Footprint::of(ir, [op], AccessSummary::of(program, trees, item, loop_context)),
            originals: vec![item],
            assumed: Vec::new(),
            starts: vec![AffineForm::constant(0)],
            ends,
            zero: lower_number,
            whole: true,
            carries: info.has_results(),
            begins_reduction: info.begins_reduction(),
            may_be_cut: !info.has_results() || info.anchor.is_some(),
            has_part: ir.attr(op, marks::DISTRIBUTED).is_some(),
            guarded: None,
            parallel: header.parallel,
            blocks: 0,
            depth: loop_context.depth,
        })
    }

    /// Returns the only loop of the group and its number in the program, if it is unchanged.
    pub(super) fn untouched(&self, program: &Program, trees: &TreeStore) -> Option<(Green, LoopId)> {
        let Node::Loop { header, .. } = trees.get(self.item) else { return None };
        let of = self.lead().of;
        let is_raised = trees.header(header).span == Span::Whole
            && trees.leaves(self.item) == trees.leaves(program.loop_info(of).green);
        (self.members.len() == 1 && is_raised && !self.carries && self.guarded.is_none())
            .then_some((self.item, of))
    }

    /// Returns the group of one loop that replaces this one, which is a group of one too.
    pub(super) fn replaced(
        &self,
        item: Green,
        ir: &Body,
        program: &Program,
        trees: &TreeStore,
        loop_context: &LoopContext,
    ) -> Option<Group> {
        let group = Group::of(ir, program, trees, item, loop_context)?;
        Some(Group { originals: self.originals.clone(), ..group })
    }

    /// Returns the group of a loop after the condition of `by`, which was around it, was moved
    /// inside. The loop is run whole for that. It was made of `originals`.
    pub(super) fn guarded(self, by: Op, originals: Vec<Green>) -> Option<Group> {
        (!self.carries).then_some(Group { originals, may_be_cut: false, guarded: Some(by), ..self })
    }

    /// True if the group is small enough to be copied.
    pub(super) fn is_small(&self) -> bool {
        self.members.iter().map(|member| member.size).sum::<usize>() <= MAX_COPIED
    }

    /// Returns the body of the last loop.
    pub(super) fn last_body(&self) -> Green {
        self.members.last().map_or(TreeStore::EMPTY, |member| member.body)
    }

    /// Returns true if both groups access a common object. Linear in the smaller number of
    /// accesses.
    pub(super) fn shares_with(&self, other: &Group) -> bool {
        let (mut few, mut many) = (&self.footprint.nest, &other.footprint.nest);
        if few.classes.len() > many.classes.len() {
            std::mem::swap(&mut few, &mut many);
        }
        few.bases().any(|base| many.of_base(base).next().is_some())
    }

    /// Returns the number of accesses with a subscript other than the last that varies with level
    /// `innermost`: these stride through memory.
    pub(super) fn strides(&self, innermost: u32) -> usize {
        let moves = |form: &Option<AffineForm>| {
            form.as_ref().is_none_or(|form| form.coefficient_of_level(innermost) != 0)
        };
        let classes = self.footprint.nest.classes.iter();
        let subscripts = classes.filter_map(|own| own.class.subscripts.as_deref()?.split_last());
        subscripts.filter(|(_, others)| others.iter().any(moves)).count()
    }

    /// Returns the number of iterations of this group's loop that run while `other` runs one, if
    /// that is a whole number greater than one. `None` if one of them is not a single loop, or runs
    /// once.
    pub(super) fn iterations_for_each_of(&self, other: &Group) -> Option<i64> {
        let [own, others] = [self, other].map(|group| match &group.members[..] {
            [only] if only.block == 1 => only.times(),
            _ => None,
        });
        let (own, others) = own.zip(others).filter(|(_, others)| *others > 1)?;
        (own % others == 0 && own > others).then_some(own / others)
    }

    /// Returns the group of one loop in blocks of `size` iterations, which divides its trip count.
    /// It is fused only with loops that have as many iterations as it has blocks.
    pub(super) fn in_blocks(
        &self,
        size: i64,
        ir: &Body,
        program: &Program,
        trees: &mut TreeStore,
        loop_context: &LoopContext,
    ) -> Option<Group> {
        let [own] = &self.members[..] else { return None };
        let times = own.times()?.checked_div(size)?;
        let item = trees.strip_mined(program, self.item, size)?;
        let Node::Loop { header, body } = trees.get(item) else { return None };
        let origin = trees.header(header).origins.first()?.clone();
        let nest = AccessSummary::of(program, trees, item, loop_context);
        let ends = vec![AffineForm::constant(times)];
        let step = own.step.and_then(|step| step.checked_mul(size));
        let member = Member { origin, body, ends: ends.clone(), scale: 1, block: size, step, ..own.clone() };
        Some(Group {
            members: vec![member],
            item,
            work: None,
            footprint: Footprint::of(ir, [own.op], nest),
            originals: self.originals.clone(),
            assumed: Vec::new(),
            starts: self.starts.clone(),
            ends,
            may_be_cut: false,
            ..*self
        })
    }

    /// Returns the loop context of the iterations of the first loop.
    pub(super) fn inside(
        &self,
        program: &Program,
        trees: &TreeStore,
        loop_context: &LoopContext,
    ) -> LoopContext {
        match trees.get(self.item) {
            Node::Loop { header, .. } => loop_context.inside(program, trees, header),
            _ => loop_context.clone(),
        }
    }

    /// True if one of the loops defines the results of an operation.
    pub(super) fn defines(&self, op: Option<Op>) -> bool {
        op.is_some_and(|op| self.footprint.ops.contains(&op))
    }

    /// Returns the loop that gives the group its form, for remarks.
    pub(super) fn op(&self, program: &Program) -> Op {
        program.loop_info(self.lead().of).op
    }

    /// Returns the operations of the members.
    pub(super) fn ops(&self) -> impl ExactSizeIterator<Item = Op> {
        self.members.iter().map(|member| member.op)
    }

    pub(super) fn is_unsigned(&self, program: &Program) -> bool {
        program.loop_info(self.lead().of).space.unsigned
    }

    /// Returns the loop that determines the form of the group: of those that count upwards, the
    /// first `affine` one with the smallest step. Induction variables of the others are computed
    /// from its variable.
    fn lead(&self) -> &Origin {
        &self.members[self.lead].origin
    }

    /// True if no loop of the group counts upwards.
    fn is_backwards(&self) -> bool {
        self.members.iter().all(|member| member.backwards)
    }

    /// Returns the number by which the ends of the shared times are divided: the first member's.
    fn scale(&self) -> i64 {
        self.members[0].scale
    }

    /// Returns the assumption that it has so many times, if that can be tested.
    pub(super) fn has_times(&self, least: i64, program: &Program) -> Option<Assumption> {
        let times = gap(&self.ends, &self.starts)?;
        crate::legality::assumed_at_least(&times, least.checked_mul(self.scale())?, program)
    }

    /// Refuses two loops of different kinds, and loops with unsigned induction variables. An
    /// `scf.for` may become part of an `affine.for`, and a loop that was made parallel may become
    /// part of a parallel loop of one dimension.
    fn check_kinds(&self, second: &Group, ir: &Body, program: &Program) -> Result<(), Missed> {
        let (x, y) = (self.op(program), second.op(program));
        let mapping = |op| ir.attr(op, "mapping");
        let is_sequential = |op| ir.is(op, affine::ForOp::DEF) || ir.is(op, scf::ForOp::DEF);
        let are_alike = ir.op_name(x) == ir.op_name(y)
            || [x, y].into_iter().all(is_sequential) && self.parallel == second.parallel
            || self.parallel && second.parallel && are_of_one_dialect(ir, x, y);
        if !are_alike || mapping(x) != mapping(y) {
            return Err(Missed::DifferentKinds);
        }
        match [self, second].into_iter().find(|group| group.is_unsigned(program)) {
            Some(unsigned) => Err(Missed::Unsigned(unsigned.op(program))),
            None => Ok(()),
        }
    }

    /// Returns how `second`, a group of one, fits this group.
    pub(super) fn fit(
        &self,
        second: &Group,
        (ir, program): (&Body, &Program),
        loop_context: &LoopContext,
    ) -> Result<Fit, Missed> {
        self.check_kinds(second, ir, program)?;
        let (a, b) = (self.lead(), second.lead());
        let (x, y) = (program.loop_info(a.of), program.loop_info(b.of));
        let may_be_shifted = !self.ends.is_empty()
            && !second.ends.is_empty()
            && x.space.step == y.space.step
            && self.may_be_cut
            && second.may_be_cut
            && !self.parallel
            && !second.parallel;
        let is_whole = self.whole && self.starts == second.starts;
        if is_whole && x.space.bounds == y.space.bounds && x.parent == y.parent && a.map == b.map {
            return Ok(Fit { same: true, may_be_shifted });
        }
        let [own, others] = [&self.members[self.lead], &second.members[0]];
        let (Some(step), Some(other)) = (own.step, others.step) else { return Err(Missed::UnknownStep) };
        if step != other || own.block != others.block {
            let times = own.times().zip(others.times());
            // Values handed on to the next iteration are followed through equal steps only.
            let carries = self.carries || second.carries;
            return match times {
                Some((times, same)) if times == same && self.whole && !carries => {
                    Ok(Fit { same: true, may_be_shifted: false })
                }
                None if own.runs_as_often(others) && self.whole && !carries => {
                    Ok(Fit { same: true, may_be_shifted: false })
                }
                Some((times, same)) if step == other => Err(Missed::TripCounts(Some(times), Some(same))),
                _ => Err(Missed::Steps(step, other)),
            };
        }
        let extents = [a, b].map(|origin| extents(origin, program, loop_context));
        let [Some(first), Some(behind)] = &extents else { return Err(Missed::TripCounts(None, None)) };
        let are_equal = first == behind || gap(first, behind).is_some_and(|gap| loop_context.is_zero(&gap));
        let same = is_whole && are_equal;
        if !same && !may_be_shifted {
            return Err(Missed::TripCounts(trip_count(&[], first, step), trip_count(&[], behind, step)));
        }
        if !same && !self.shares_with(second) {
            return Err(Missed::NothingShared);
        }
        // The fused loop has the iterations of the second loop, which then determines its form.
        if same && self.is_backwards() {
            return Ok(Fit { same, may_be_shifted: false });
        }
        let zeros = others.zero().zip(own.zero());
        let offset = zeros.and_then(|(b, a)| b.minus(&a)).ok_or(Missed::UnknownOffset)?;
        if offset.as_constant().is_some() {
            return Ok(Fit { same, may_be_shifted });
        }
        let is_known = same && [own, others].into_iter().all(|own| own.can_use(&offset, ir, loop_context));
        is_known.then_some(Fit { same, may_be_shifted: false }).ok_or(Missed::UnknownOffset)
    }

    /// Returns the trip count times the step of this group, and the excess over `second`, if the
    /// excess depends on two values.
    pub(super) fn gap(
        &self,
        second: &Group,
        program: &Program,
        loop_context: &LoopContext,
    ) -> Option<(AffineForm, AffineForm)> {
        let own = extents(self.lead(), program, loop_context).filter(|_| self.whole)?;
        let others = extents(second.lead(), program, loop_context)?;
        let gap = gap(&own, &others).filter(|gap| gap.terms().len() > 1)?;
        Some((own.into_iter().next()?, gap))
    }

    /// Returns the difference of the induction variables at equal times, if it is a form.
    pub(super) fn distance(&self, second: &Group) -> Option<AffineForm> {
        second.members[0].zero()?.minus(&self.members[self.lead].zero()?)
    }

    /// Returns the group of one loop with a step of one, at times that are later by the form `by`.
    /// `None` if the loop may not be run in parts.
    pub(super) fn moved(
        &self,
        by: &AffineForm,
        program: &Program,
        trees: &mut TreeStore,
        ir: &Body,
        loop_context: &LoopContext,
    ) -> Option<Group> {
        let ([own], true) = (&self.members[..], self.may_be_cut && !self.parallel) else { return None };
        if (own.step, own.scale, own.block) != (Some(1), 1, 1) || own.size > MAX_COPIED {
            return None;
        }
        let item = trees.moved(program, self.item, &relative(by, self.depth)?)?;
        let Node::Loop { header, body } = trees.get(item) else { return None };
        let origin = trees.header(header).origins.first()?.clone();
        let nest = AccessSummary::of(program, trees, item, loop_context);
        let ends = own.ends.iter().map(|end| end.plus(by, 1)).collect::<Option<Vec<AffineForm>>>()?;
        let start = own.start.plus(by, 1)?;
        let member = Member { origin, body, start: start.clone(), ends: ends.clone(), ..own.clone() };
        let zero = member.zero()?.constant_part();
        Some(Group {
            members: vec![member],
            item,
            work: None,
            footprint: Footprint::of(ir, [own.op], nest),
            originals: self.originals.clone(),
            assumed: Vec::new(),
            starts: vec![start],
            ends,
            zero,
            ..*self
        })
    }

    /// Reverses the group of one loop. `None` if the loop has to run in order, or its trip count is
    /// not a single form. The reversed loop may be fused only with loops that have the same
    /// iterations.
    pub(super) fn reverse(
        &self,
        program: &Program,
        trees: &mut TreeStore,
        ir: &Body,
        loop_context: &LoopContext,
    ) -> Option<Group> {
        let ([own], false) = (&self.members[..], self.carries || self.guarded.is_some()) else { return None };
        // The trip count is a quotient. Only a constant is certain not to leave its type on the
        // way.
        if self.scale() > 1 && !matches!(&own.ends[..], [end] if end.as_constant().is_some()) {
            return None;
        }
        let item = trees.reversed(program, self.item)?;
        let Node::Loop { header, body } = trees.get(item) else { return None };
        let origin = trees.header(header).origins.first()?.clone();
        let nest = AccessSummary::of(program, trees, item, loop_context);
        let member = Member { origin, body, lower: None, backwards: true, ..own.clone() };
        Some(Group {
            members: vec![member],
            item,
            work: None,
            footprint: Footprint::of(ir, [own.op], nest),
            originals: self.originals.clone(),
            assumed: Vec::new(),
            starts: self.starts.clone(),
            ends: self.ends.clone(),
            ..*self
        })
    }

    /// Returns the largest shift of `second` that leaves most of its iterations in the fused loop.
    pub(super) fn max_shift(&self, second: &Group) -> i64 {
        let ends = self.ends.iter().chain(&second.ends);
        let least =
            ends.filter_map(|end| loomir_ir::affine::ceil_div(end.as_constant()?, self.scale())).min();
        least.map_or(i64::MAX, |least| least / 2)
    }

    /// True if it is known that no time of `second` is one of this group.
    pub(super) fn is_beside(&self, second: &Group, loop_context: &LoopContext) -> bool {
        let [starts, ends] =
            [(&self.starts, &second.starts), (&self.ends, &second.ends)].map(|(a, b)| [&a[..], b].concat());
        times::are_none(&starts, &ends, loop_context)
    }

    /// Returns `second`, a group of one, as a member of this group with a shift of `shift`. `None`
    /// if their common times cannot be written.
    pub(super) fn align(
        &self,
        second: &Group,
        fit: Fit,
        shift: i64,
        (ir, program, trees): (&Body, &Program, &mut TreeStore),
        loop_context: &LoopContext,
    ) -> Option<Joined> {
        let [own] = &second.members[..] else { return None };
        let body = trees.shifted(own.body, shift)?;
        let later = shift.checked_mul(self.scale())?;
        let ends = own.ends.iter().map(|end| end.plus(&AffineForm::constant(1), later));
        let ends = ends.collect::<Option<Vec<AffineForm>>>()?;
        let origin = own.origin.shifted(shift)?;
        let nest = match shift {
            0 => second.footprint.nest.clone(),
            _ => Rc::new(second.footprint.nest.shifted(loop_context.depth, shift)?),
        };
        let start = own.start.plus(&AffineForm::constant(later), 1)?;
        let member = Member { origin, body, start, ends, ..own.clone() };
        let whole = fit.same && shift == 0 && self.whole;
        let zero = self.zero.max(member.zero().map_or(i64::MIN, |form| form.constant_part()));
        let (starts, ends) = if whole {
            (self.starts.clone(), self.ends.clone())
        } else {
            let start = std::slice::from_ref(&member.start);
            let starts = times::latest(&self.starts, start, loop_context)?;
            (starts, times::earliest(&self.ends, &member.ends, loop_context)?)
        };
        if !whole {
            // Nothing to fuse, or more remainders than loops.
            if starts.len() + ends.len() > times::MAX_ALL || times::are_none(&starts, &ends, loop_context) {
                return None;
            }
            let is_known = !self.whole && ends == self.ends && starts == self.starts;
            let others = if is_known { &[] } else { &self.members[..] };
            let bounds: Vec<&AffineForm> = starts.iter().chain(&ends).collect();
            if !others.iter().chain([&member]).all(|m| self.can_be_cut(m, &bounds, ir, program, loop_context))
            {
                return None;
            }
        }
        // All induction variables at the first time must fit their type.
        zero.checked_add(starts.iter().map(AffineForm::constant_part).max()?)?;
        Some(Joined { member, item: second.item, nest, starts, ends, zero, shift, whole, block: 0 })
    }

    /// True if a member's remainders beside the times within `bounds` can be written. Each bound
    /// must be a number, or a value or existing bound plus a number, in 64 bits.
    fn can_be_cut(
        &self,
        member: &Member,
        bounds: &[&AffineForm],
        ir: &Body,
        program: &Program,
        loop_context: &LoopContext,
    ) -> bool {
        let ty = ir.value_type(program.loop_info(member.origin.of).variable);
        if member.size > MAX_COPIED || ty != ir.value_type(program.loop_info(self.lead().of).variable) {
            return false;
        }
        if ty != Type::INDEX && ty.integer_width(ir.ctx()) != Some(64) {
            return false;
        }
        let is_affine = affine::is_loop(ir, member.op);
        // A number of another type is cast where it is used; affine operations have no casts.
        let has_type = |value: Value| {
            let own = ir.value_type(value);
            own == ty
                || (!is_affine
                    && (own == Type::INDEX || own.integer_width(ir.ctx()).is_some_and(|w| w <= 64)))
        };
        let is_symbol = |value| affine::validity::is_valid_symbol(ir.op_ref(member.op), value);
        let variable = |level: &u32| loop_context.variables.get(*level as usize).copied().flatten();
        // The check that a sum does not wrap is computed from symbols. Induction variables do not
        // need it.
        let is_usable =
            |value| !is_affine || is_symbol(value) || affine::validity::is_induction_variable(ir, value);
        let value_of = |atom: &Atom, coefficient: i64| match atom {
            Atom::Param(value) if coefficient == 1 => Some(*value),
            Atom::Level(level) => {
                variable(level).filter(|(_, step)| *step == coefficient).map(|(value, _)| value)
            }
            Atom::Param(_) | Atom::Product(_) | Atom::FloorDiv(..) => None,
        };
        let is_simple = |form: &AffineForm| match form.terms() {
            [] => true,
            [(atom, coefficient)] if self.scale() == 1 => {
                value_of(atom, *coefficient).is_some_and(|value| has_type(value) && is_usable(value))
            }
            _ => false,
        };
        // A bound of the original loop can be written again.
        let space = &program.loop_info(member.origin.of).space;
        let can_be_written = |form: &AffineForm| {
            let has_value = |atom: &Atom| match atom {
                Atom::Param(value) => has_type(*value) && (!is_affine || is_symbol(*value)),
                Atom::Level(level) => !is_affine && variable(level).is_some_and(|(value, _)| has_type(value)),
                Atom::Product(_) | Atom::FloorDiv(..) => false,
            };
            form.all_atoms(&has_value) && !(is_affine && form.has_product())
        };
        let is_near_bound = |form: &AffineForm| {
            let mut bounds =
                space.bounds().filter_map(|bound| here(&member.origin, bound, loop_context.depth));
            let is_near =
                |bound: &AffineForm| form.minus(bound).is_some_and(|gap| gap.as_constant().is_some());
            self.scale() == 1 && bounds.find(is_near).is_some_and(|bound| can_be_written(&bound))
        };
        let is_writable = |form: &AffineForm| is_simple(form) || is_near_bound(form);
        // At the time of a form, the induction variable is that form more than at time 0.
        let Some(zero) = member.zero() else { return false };
        let own = member.ends.iter().chain([&member.start]);
        let bounds = own.chain(bounds.iter().copied()).map(|form| zero.plus(form, 1));
        !member.ends.is_empty()
            && is_writable(&zero)
            && bounds.into_iter().all(|bound| bound.is_some_and(|form| is_writable(&form)))
    }

    /// Adds `second`, a group of one, in its alignment.
    pub(super) fn join(&mut self, second: &Group, joined: Joined) {
        // The shift may be due to other members' blocks only.
        let least = joined.shift() - joined.block;
        self.blocks = self.blocks.max(joined.block + least.min(self.blocks));
        let rank = |member: &Member| (member.backwards, !member.is_affine, member.step);
        if !joined.member.backwards && rank(&joined.member) < rank(&self.members[self.lead]) {
            self.lead = self.members.len();
        }
        self.members.push(joined.member);
        self.originals.extend_from_slice(&second.originals);
        self.footprint.merge_later(&second.footprint, &joined.nest);
        (self.starts, self.ends, self.zero) = (joined.starts, joined.ends, joined.zero);
        self.whole = joined.whole;
        self.carries |= second.carries;
        self.begins_reduction |= second.begins_reduction;
        self.may_be_cut &= second.may_be_cut && self.scale() == second.scale();
        self.guarded = self.guarded.or(second.guarded);
        self.has_part |= second.has_part;
    }

    /// Returns the fused loops.
    pub(super) fn into_parts(self, trees: &mut TreeStore) -> Parts {
        let mut parts = Parts { before: Vec::new(), fused: self.item, after: Vec::new() };
        if self.members.len() == 1 {
            return parts;
        }
        let inside = |form: &AffineForm| {
            relative(form, self.depth).unwrap_or_else(|| unreachable!("bounds are over the levels around"))
        };
        let [starts, ends] = [&self.starts, &self.ends].map(|forms| forms.iter().map(inside).collect());
        let (scale, parallel) = (self.scale(), self.parallel);
        let common = Together { scale, starts, ends, parallel };
        if !self.whole {
            for member in &self.members {
                let origins = Box::new([member.origin.clone()]);
                let ends = member.ends.iter().map(inside).collect();
                let starts = vec![inside(&member.start)];
                let times = Times { origins, body: member.body, starts, ends };
                common.add_rest(&times, &mut parts, trees);
            }
        }
        let bodies = self.members.iter().flat_map(|member| trees.items(member.body));
        let body = bodies.collect::<Vec<_>>();
        let body = trees.sequence(&body);
        let mark = self.has_part.then_some(Mark::Distributed);
        let lead = self.lead;
        // A loop in blocks does not have the iterations of its origin.
        let is_as_origin = self.whole && self.members[lead].block == 1;
        let span = if is_as_origin { Span::Whole } else { common.span() };
        let mut origins: Vec<Origin> = self.members.into_iter().map(|member| member.origin).collect();
        origins[..=lead].rotate_right(1);
        let origins = origins.into();
        parts.fused = trees.make_loop(Header { span, origins, parallel, mark }, body);
        parts
    }
}

/// True if two loops are of one dialect and have one dimension and no results, so that each may be
/// written as the other if both are parallel.
fn are_of_one_dialect(ir: &Body, x: Op, y: Op) -> bool {
    let is_single = |op: Op| {
        let block = ir.single_block(ir.region(op, 0)).filter(|block| ir.num_arguments(*block) == 1);
        let variable = block.map(|block| ir.value_type(ir.argument(block, 0)));
        let carries = ir.num_results(op) > 0 && !ir.is(op, scf::ParallelOp::DEF);
        !carries && variable == Some(Type::INDEX)
    };
    let is_one_of = |op: Op, [a, b]: [&'static OpDef; 2]| ir.is(op, a) || ir.is(op, b);
    let dialects = [[scf::ForOp::DEF, scf::ParallelOp::DEF], [affine::ForOp::DEF, affine::ParallelOp::DEF]];
    let are_of = |own: [&'static OpDef; 2]| is_one_of(x, own) && is_one_of(y, own);
    is_single(x) && is_single(y) && dialects.into_iter().any(are_of)
}
