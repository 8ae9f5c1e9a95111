//! Operations of schedules that transform loops, as edits of trees.

use loomir_dialects::{loomir, transform};
use loomir_ir::{DYNAMIC, Diagnostic, OpDef, OpRef};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, failed};
use super::payload::{Entity, OnTree, Step};
use super::site::{Place, Sketch};
use crate::affine::AffineForm;
use crate::tree::edit::counted;
use crate::tree::{Change, Node, Span};

/// The maximal number of copies of one body.
const MOST_COPIES: i64 = 4096;

/// The reason for an edit that is impossible for none of the usual reasons.
const OVERFLOW: &str = "would have a bound that exceeds 64 bits";

/// The reason why loops are not coalesced.
const NOT_COALESCED: &str =
    "is not around a perfect nest of loops that carry no values and whose inner trip counts are constants";

/// A loop transformation of one loop: its edits, and the places of the new loops. Results without
/// a place are empty handles.
type Make<'m> = dyn Fn(&mut Sketch<'_>, &[usize]) -> Result<Vec<Place>, String> + 'm;

impl Interpreter<'_> {
    /// Runs an operation that transforms loops. `None` if it is another one.
    pub(super) fn loop_step(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Option<Outcome> {
        let is = |def: &'static OpDef| op.is(def);
        Some(if is(transform::UnrollOp::DEF) {
            let factor = factor(op);
            self.each(frame, op, "unrolled", &|sketch, place| unroll(sketch, place, factor))
        } else if is(transform::UnrollAndJamOp::DEF) {
            let factor = factor(op);
            self.each(frame, op, "unrolled and jammed", &|sketch, place| jam(sketch, place, factor))
        } else if is(transform::PeelOp::DEF) {
            let front = op.attr("peel_front") == Some(loomir_ir::Attr::TRUE);
            self.each(frame, op, "peeled", &|sketch, place| peel(sketch, place, front))
        } else if is(transform::CoalesceOp::DEF) {
            self.each(frame, op, "coalesced", &coalesce)
        } else if is(transform::ForallToForOp::DEF) || is(transform::ParallelToForsOp::DEF) {
            self.each(frame, op, "run in order", &nested_fors)
        } else if is(transform::PromoteOp::DEF) {
            self.each(frame, op, "replaced by its body", &promote)
        } else if is(transform::FuseSiblingOp::DEF) {
            self.fuse_sibling(frame, op)
        } else if is(loomir::StripMineOp::DEF) {
            self.with_number(frame, op, ("size", 1), "strip-mined", |size| {
                Box::new(move |sketch, place| strip_mine(sketch, place, size))
            })
        } else if is(loomir::SplitOp::DEF) {
            self.with_number(frame, op, ("at", 1), "split", |at| {
                Box::new(move |sketch, place| split(sketch, place, AffineForm::constant(at)))
            })
        } else if is(loomir::SkewOp::DEF) {
            self.with_number(frame, op, ("by", 1), "skewed", |by| {
                Box::new(move |sketch, place| skew(sketch, place, by))
            })
        } else if is(loomir::TileOp::DEF) {
            self.tile(frame, op)
        } else if is(loomir::InterchangeOp::DEF) {
            let order =
                op.attr("permutation").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
            let order: Vec<usize> = order.into_iter().filter_map(|own| usize::try_from(own).ok()).collect();
            self.each(frame, op, "interchanged", &|sketch, place| interchange(sketch, place, &order))
        } else if is(loomir::ReverseOp::DEF) {
            self.each(frame, op, "reversed", &|sketch, place| {
                edit(
                    sketch,
                    place,
                    Change::Reverse,
                    "has no first or last iteration that is a single affine form",
                )?;
                Ok(vec![place.to_vec()])
            })
        } else if is(loomir::PeelOp::DEF) {
            let count = |name: &str| op.attr(name).and_then(|attr| attr.as_int(op.ctx())).unwrap_or(0);
            let counts = [count("first"), count("last")];
            self.each(frame, op, "peeled", &|sketch, place| peel_ends(sketch, place, counts))
        } else if is(loomir::DistributeOp::DEF) {
            self.distribute(frame, op)
        } else if is(loomir::ShiftOp::DEF) {
            self.shift(frame, op)
        } else if is(loomir::FuseOp::DEF) {
            self.fuse(frame, op)
        } else if is(loomir::MoveBeforeOp::DEF) || is(loomir::MoveAfterOp::DEF) {
            self.move_loop(frame, op)
        } else {
            return None;
        })
    }

    /// Transforms each loop of the first operand. Result `i` has the loops `i` of all.
    fn each(&mut self, frame: &Frame<'_>, op: OpRef<'_>, then: &'static str, make: &Make<'_>) -> Outcome {
        let mut results = vec![Vec::new(); op.num_results()];
        for target in self.ops(frame, op, 0)? {
            let on_tree = self.on_tree(op, target)?;
            let step = Step { loc: op.loc(), name: op.name(), then, consumed: &[target] };
            let place = on_tree.place.clone();
            let made = self.payload.step(&on_tree, &step, |sketch, _| {
                let loops = make(sketch, &place)?;
                match loops.len() == op.num_results() {
                    true => Ok(loops),
                    false => Err(format!("becomes {} loops, not {}", loops.len(), op.num_results())),
                }
            })?;
            results.iter_mut().zip(made).for_each(|(all, own)| all.push(own));
        }
        Ok(results.into_iter().map(Handle::Ops).collect())
    }

    /// The same with a number that is an attribute or a parameter.
    fn with_number<'m>(
        &mut self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        (name, index): (&str, usize),
        then: &'static str,
        make: impl FnOnce(i64) -> Box<Make<'m>>,
    ) -> Outcome {
        let number = self.number(frame, op, name, index)?;
        self.each(frame, op, then, &*make(number))
    }

    /// Returns a loop on the trees of its function.
    fn on_tree(&mut self, op: OpRef<'_>, target: Entity) -> Result<OnTree, Failure> {
        if let Some(found) = self.payload.on_tree(target) {
            return Ok(found);
        }
        let text = format!("'{}' needs a loop that Loomir can transform", op.name());
        let name = self.payload.name(target).unwrap_or("an operation");
        let note = format!("this is '{name}', no 'scf.for', 'affine.for' or parallel loop without results");
        Err(Failure::silenceable(Diagnostic::error(op.loc(), text).note(self.payload.loc(target), note)))
    }

    /// Returns the loops of two operands, on one tree and in one body.
    fn siblings(&mut self, op: OpRef<'_>, [a, b]: [Entity; 2]) -> Result<[OnTree; 2], Failure> {
        let first = self.on_tree(op, a)?;
        let second = self.on_tree(op, b)?;
        // Raising moves entities to the tree, so the first is looked up again.
        let first = self.payload.on_tree(a).unwrap_or(first);
        let parent = |own: &OnTree| own.place.split_last().map(|(_, parent)| parent.to_vec());
        if !first.is_with(&second) || parent(&first) != parent(&second) || first.place == second.place {
            let error = Diagnostic::error(op.loc(), format!("'{}' needs two loops in one body", op.name()));
            let error =
                error.note(self.payload.loc(a), "one loop").note(self.payload.loc(b), "the other loop");
            return Err(Failure::silenceable(error));
        }
        Ok([first, second])
    }

    fn tile(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let mut dynamic = 1;
        let mut sizes = op.attr("sizes").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
        for size in &mut sizes {
            if *size == DYNAMIC {
                *size = self.param_number(frame, op, dynamic)?;
                dynamic += 1;
                if *size < 1 {
                    return Err(failed(op, &format!("needs positive sizes as parameters, not {size}")));
                }
            }
        }
        self.each(frame, op, "tiled", &|sketch, place| tile(sketch, place, &sizes))
    }

    fn fuse_sibling(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let both = [self.only(frame, op, 0)?, self.only(frame, op, 1)?];
        let [target, source] = self.siblings(op, both)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "fused", consumed: &both };
        let (place, from, to) = (target.place.clone(), last(&target.place), last(&source.place));
        let to = if from < to { to - 1 } else { to };
        let made = self.payload.step(&target, &step, |sketch, _| {
            let fused = fuse(sketch, &place, to, to, 0)?;
            if !has_fused_whole(sketch) {
                let why = "runs other iterations than the second one; 'loomir.fuse' makes remainders";
                return Err(why.to_owned());
            }
            fuse_dimensions(sketch, &fused)?;
            Ok(vec![fused])
        })?;
        Ok(vec![Handle::Ops(made)])
    }

    fn fuse(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let both = [self.only(frame, op, 0)?, self.only(frame, op, 1)?];
        let has_shift = op.attr("shift").is_some() || op.num_operands() > 2;
        let shift = if has_shift { self.number(frame, op, "shift", 2)? } else { 0 };
        let [first, second] = self.siblings(op, both)?;
        let (from, to) = (last(&first.place), last(&second.place));
        if from > to {
            return Err(failed(op, "needs the loop that runs first as its first operand"));
        }
        let step = Step { loc: op.loc(), name: op.name(), then: "fused", consumed: &both };
        let (first_place, second_place) = (first.place.clone(), second.place.clone());
        // The items between the loops run behind the fused loop, or else before it.
        let early = self
            .payload
            .step(&first, &step, |sketch, _| Ok(vec![fuse(sketch, &second_place, from + 1, from, shift)?]));
        let made = match early {
            Err(failure) if failure.is_silenceable() && to > from + 1 => {
                self.payload.step(&first, &step, |sketch, _| {
                    Ok(vec![fuse(sketch, &first_place, to - 1, to - 1, shift)?])
                })
            }
            made => made,
        };
        Ok(vec![Handle::Ops(made?)])
    }

    /// Returns a loop and the number of an item of its body.
    fn cut(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Result<(Entity, OnTree, usize), Failure> {
        let (target, at) = (self.only(frame, op, 0)?, self.only(frame, op, 1)?);
        let on_tree = self.on_tree(op, target)?;
        match self.payload.item_in(&on_tree, at) {
            None => {
                let error =
                    Diagnostic::error(op.loc(), format!("'{}' needs an operation in the loop", op.name()));
                let error = error.note(self.payload.loc(at), "this operation is not in the body of the loop");
                Err(Failure::silenceable(error.note(self.payload.loc(target), "the loop")))
            }
            Some(0) => {
                Err(failed(op, "would leave nothing in the first part: the operation begins the body"))
            }
            Some(item) => Ok((target, on_tree, item)),
        }
    }

    fn distribute(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let (target, on_tree, item) = self.cut(frame, op)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "distributed", consumed: &[target] };
        let place = on_tree.place.clone();
        let made = self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Distribute { at: item }, OVERFLOW)?;
            Ok(vec![place.clone(), next(&place)])
        })?;
        Ok(made.into_iter().map(|own| Handle::Ops(vec![own])).collect())
    }

    fn shift(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let by = self.number(frame, op, "by", 2)?;
        let (target, on_tree, item) = self.cut(frame, op)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "shifted", consumed: &[target] };
        let place = on_tree.place.clone();
        let made = self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Distribute { at: item }, OVERFLOW)?;
            edit(sketch, &place, Change::Fuse { shift: by }, "has a first iteration that is not constant")?;
            Ok(vec![fused(sketch)?])
        })?;
        Ok(vec![Handle::Ops(made)])
    }

    fn move_loop(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let (target, other) = (self.only(frame, op, 0)?, self.only(frame, op, 1)?);
        let on_tree = self.on_tree(op, target)?;
        let Some((from, parent)) = on_tree.place.split_last() else {
            return Err(failed(op, "needs a loop"));
        };
        let Some(at) = self.payload.item_in(&on_tree.at(parent), other) else {
            let error =
                Diagnostic::error(op.loc(), format!("'{}' needs two operations in one body", op.name()));
            let error = error.note(self.payload.loc(target), "the loop");
            return Err(Failure::silenceable(error.note(self.payload.loc(other), "the other operation")));
        };
        let behind = usize::from(op.is(loomir::MoveAfterOp::DEF));
        let to = (at + behind).saturating_sub(usize::from(*from < at));
        let step = Step { loc: op.loc(), name: op.name(), then: "moved", consumed: &[] };
        let place = on_tree.place.clone();
        self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Move { to }, "has no such place beside it")?;
            Ok(Vec::new())
        })?;
        Ok(Vec::new())
    }
}

/// Makes one edit, or says why it is impossible.
fn edit(sketch: &mut Sketch<'_>, place: &[usize], change: Change, otherwise: &str) -> Result<(), String> {
    match sketch.edit(place, change) {
        Some(()) => Ok(()),
        None => Err(obstacle(sketch, place).unwrap_or(otherwise).to_owned()),
    }
}

/// Returns the usual reason why a loop cannot be edited.
fn obstacle(sketch: &Sketch<'_>, place: &[usize]) -> Option<&'static str> {
    let Some(Node::Loop { header, .. }) = sketch.at(place) else { return Some("is gone") };
    let header = sketch.trees.header(header);
    if counted(sketch.program, header).is_none() {
        return Some("has a trip count that is no affine form of values known before it");
    }
    let carries = header.origins.iter().any(|own| sketch.program.loop_info(own.of).carried > 0);
    carries.then_some("hands values on to its next iteration")
}

/// Returns the trip count, if it is constant.
fn trip_count(sketch: &Sketch<'_>, place: &[usize]) -> Option<i64> {
    let Some(Node::Loop { header, .. }) = sketch.at(place) else { return None };
    let Span::Range { scale, lower, upper } = counted(sketch.program, sketch.trees.header(header))?.span
    else {
        return None;
    };
    let numbers = |forms: &[AffineForm]| {
        forms.iter().map(|form| form.ceil_div(scale)?.as_constant()).collect::<Option<Vec<i64>>>()
    };
    let (first, end) = (numbers(&lower)?.into_iter().max()?, numbers(&upper)?.into_iter().min()?);
    Some(end.checked_sub(first)?.max(0))
}

fn factor(op: OpRef<'_>) -> i64 {
    op.attr("factor").and_then(|attr| attr.as_int(op.ctx())).unwrap_or(1)
}

/// Returns the number of copies for a factor: no more than there are iterations.
fn copies(sketch: &Sketch<'_>, place: &[usize], factor: i64) -> Result<Option<usize>, String> {
    let count = trip_count(sketch, place).map_or(factor, |count| count.min(factor));
    match count {
        ..=1 => Ok(None),
        2..=MOST_COPIES => Ok(usize::try_from(count).ok()),
        _ => Err(format!("would have {count} copies; {MOST_COPIES} are allowed")),
    }
}

const NOT_UNROLLED: &str = "does not begin at its first iteration, or has no single end";

fn unroll(sketch: &mut Sketch<'_>, place: &[usize], factor: i64) -> Result<Vec<Place>, String> {
    if let Some(count) = copies(sketch, place, factor)? {
        edit(sketch, place, Change::Unroll { count }, NOT_UNROLLED)?;
    }
    Ok(Vec::new())
}

fn jam(sketch: &mut Sketch<'_>, place: &[usize], factor: i64) -> Result<Vec<Place>, String> {
    if let Some(count) = copies(sketch, place, factor)? {
        edit(sketch, place, Change::UnrollAndJam { count }, "determines the bounds of an inner loop")?;
    }
    Ok(Vec::new())
}

fn peel(sketch: &mut Sketch<'_>, place: &[usize], front: bool) -> Result<Vec<Place>, String> {
    if front {
        let loops = split(sketch, place, AffineForm::constant(1))?;
        return Ok(loops.into_iter().rev().collect());
    }
    let whole = obstacle_or(sketch, place, |sketch| {
        let Some(Node::Loop { header, .. }) = sketch.at(place) else { return None };
        let header = counted(sketch.program, sketch.trees.header(header))?;
        let Span::Range { scale, lower, upper } = header.span else { return None };
        let [end] = &upper[..] else { return None };
        let begins = lower[..] == [AffineForm::constant(0)];
        let divides = end.modulo(scale).is_some_and(|rest| rest == AffineForm::constant(0));
        let whole = end.floor_div(scale).filter(|_| begins)?;
        Some((!divides).then_some(whole))
    })?;
    match whole {
        Some(whole) => split(sketch, place, whole),
        None => Err("has no partial iteration: the step divides its range".to_owned()),
    }
}

fn obstacle_or<T>(
    sketch: &Sketch<'_>,
    place: &[usize],
    find: impl FnOnce(&Sketch<'_>) -> Option<T>,
) -> Result<T, String> {
    find(sketch).ok_or_else(|| obstacle(sketch, place).unwrap_or(NOT_UNROLLED).to_owned())
}

fn peel_ends(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    [first, last]: [i64; 2],
) -> Result<Vec<Place>, String> {
    let count = |own: i64| match own {
        0..=MOST_COPIES => Ok(own as usize),
        _ => Err(format!("would lose {own} iterations; {MOST_COPIES} are allowed")),
    };
    let (first, last) = (count(first)?, count(last)?);
    edit(
        sketch,
        place,
        Change::Peel { first, last },
        "has no first or last iteration that is a single affine form",
    )?;
    match sketch.followed.last().map(|own| own.counts()) {
        Some((_, made)) if made == first + last + 1 => {
            let mut remaining = place.to_vec();
            remaining.last_mut().into_iter().for_each(|own| *own += first);
            Ok(vec![remaining])
        }
        _ => Err("has no iterations left; 'transform.loop.unroll' writes all of them".to_owned()),
    }
}

/// Flattens the perfect nest from the inside, as far as possible.
fn coalesce(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    let pairs = sketch.depth(place).saturating_sub(1);
    let flattened = (0..pairs).rev().map_while(|depth| sketch.edit(&inside(place, depth), Change::Flatten));
    match flattened.count() {
        0 => Err(NOT_COALESCED.to_owned()),
        _ => Ok(vec![place.to_vec()]),
    }
}

/// Runs all dimensions of a parallel loop in order.
fn nested_fors(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    let mut loops = Vec::new();
    while is_dimension(sketch, &inside(place, loops.len()), loops.len()) {
        let dimension = inside(place, loops.len());
        edit(sketch, &dimension, Change::InOrder, OVERFLOW)?;
        loops.push(dimension);
    }
    if loops.is_empty() { Err("is no parallel loop".to_owned()) } else { Ok(loops) }
}

/// True if a loop is this dimension of a parallel loop.
fn is_dimension(sketch: &Sketch<'_>, place: &[usize], dimension: usize) -> bool {
    match sketch.at(place) {
        Some(Node::Loop { header, .. }) => {
            let lead = sketch.trees.header(header).origins.first();
            lead.is_some_and(|lead| sketch.program.loop_info(lead.of).dimension == Some(dimension))
        }
        _ => false,
    }
}

/// Peels the only iteration, so that it is written without a loop.
fn promote(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    if trip_count(sketch, place) == Some(1) {
        edit(sketch, place, Change::Peel { first: 1, last: 0 }, OVERFLOW)?;
    }
    Ok(Vec::new())
}

fn strip_mine(sketch: &mut Sketch<'_>, place: &[usize], size: i64) -> Result<Vec<Place>, String> {
    if size < 1 {
        return Err(format!("would have blocks of {size} iterations"));
    }
    edit(sketch, place, Change::StripMine { size }, OVERFLOW)?;
    Ok(vec![place.to_vec(), inside(place, 1)])
}

fn split(sketch: &mut Sketch<'_>, place: &[usize], at: AffineForm) -> Result<Vec<Place>, String> {
    edit(sketch, place, Change::SplitRange { at }, OVERFLOW)?;
    Ok(vec![place.to_vec(), next(place)])
}

fn skew(sketch: &mut Sketch<'_>, place: &[usize], by: i64) -> Result<Vec<Place>, String> {
    if sketch.depth(place) < 2 {
        return Err("has a body that is more than one loop".to_owned());
    }
    let inner = inside(place, 1);
    match sketch.edit(place, Change::Skew { by }) {
        Some(()) => Ok(vec![place.to_vec(), inner]),
        None => Err(obstacle(sketch, &inner).unwrap_or(OVERFLOW).to_owned()),
    }
}

fn not_perfect(loops: usize) -> String {
    format!("is not the outermost of {loops} loops in each other with nothing between them")
}

fn interchange(sketch: &mut Sketch<'_>, place: &[usize], order: &[usize]) -> Result<Vec<Place>, String> {
    permute(sketch, place, order)?;
    Ok((0..order.len()).map(|depth| inside(place, depth)).collect())
}

fn permute(sketch: &mut Sketch<'_>, place: &[usize], order: &[usize]) -> Result<(), String> {
    if sketch.depth(place) < order.len() {
        return Err(not_perfect(order.len()));
    }
    if sketch.edit(place, Change::Permute { order: order.into() }).is_some() {
        return Ok(());
    }
    let found = (0..order.len()).find_map(|depth| obstacle(sketch, &inside(place, depth)));
    Err(found.unwrap_or("has bounds that depend on another loop in a way that is not affine").to_owned())
}

/// Strip-mines the loops of a perfect nest, and moves the loops over blocks outwards.
fn tile(sketch: &mut Sketch<'_>, place: &[usize], sizes: &[i64]) -> Result<Vec<Place>, String> {
    if sketch.depth(place) < sizes.len() {
        return Err(not_perfect(sizes.len()));
    }
    for (depth, size) in sizes.iter().enumerate().rev().filter(|(_, size)| **size != 0) {
        strip_mine(sketch, &inside(place, depth), *size)?;
    }
    // The number of each loop over blocks, and of each loop inside one.
    let (mut blocks, mut points, mut number) = (Vec::new(), Vec::new(), 0);
    for size in sizes {
        if *size != 0 {
            blocks.push(number);
            number += 1;
        }
        points.push(number);
        number += 1;
    }
    let order = [blocks, points].concat();
    permute(sketch, place, &order)?;
    Ok((0..order.len()).map(|depth| inside(place, depth)).collect())
}

/// Moves a loop to number `to` of its sequence, and fuses the loops with the numbers `first` and
/// `first + 1` there. Returns the place of the fused loop.
fn fuse(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    to: usize,
    first: usize,
    shift: i64,
) -> Result<Place, String> {
    if last(place) != to {
        edit(sketch, place, Change::Move { to }, "has no such place beside it")?;
    }
    let mut pair = place.to_vec();
    pair.last_mut().into_iter().for_each(|own| *own = first);
    edit(
        sketch,
        &pair,
        Change::Fuse { shift },
        "has another step than the other one, or its first iteration varies",
    )?;
    fused(sketch)
}

/// True if the loops that were fused last have no remainders.
fn has_fused_whole(sketch: &Sketch<'_>) -> bool {
    sketch.followed.last().is_some_and(|own| own.counts() == (2, 1))
}

/// Fuses the inner dimensions of two parallel loops whose outer dimensions are fused.
fn fuse_dimensions(sketch: &mut Sketch<'_>, fused: &[usize]) -> Result<(), String> {
    let mut pair = inside(fused, 1);
    for dimension in 1.. {
        let is_next = |place: &[usize]| is_dimension(sketch, place, dimension);
        if !is_next(&pair) || !is_next(&next(&pair)) {
            break;
        }
        edit(sketch, &pair, Change::Fuse { shift: 0 }, OVERFLOW)?;
        if !has_fused_whole(sketch) {
            return Err("has an inner dimension that runs other iterations".to_owned());
        }
        pair.push(0);
    }
    Ok(())
}

/// Returns the place of the loop that was fused last.
fn fused(sketch: &Sketch<'_>) -> Result<Place, String> {
    sketch.followed.last().map(|own| own.fused()).ok_or_else(|| OVERFLOW.to_owned())
}

fn last(place: &[usize]) -> usize {
    place.last().copied().unwrap_or(0)
}

/// Returns the place of the next item.
fn next(place: &[usize]) -> Place {
    let mut next = place.to_vec();
    next.last_mut().into_iter().for_each(|own| *own += 1);
    next
}

/// Returns the place of the loop at a depth of the perfect nest at a place.
fn inside(place: &[usize], depth: usize) -> Place {
    place.iter().copied().chain(std::iter::repeat_n(0, depth)).collect()
}
