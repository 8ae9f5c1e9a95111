//! Steps that rewrite one operation in the text.

use hashbrown::HashSet;
use loomir_dialects::interfaces::{EffectKind, MemoryEffects, Resource, ViewLike};
use loomir_dialects::scf::forall::{Number, dimensions};
use loomir_dialects::{arith, loomir, memref, scf, transform};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{
    Attr, Body, Builder, DYNAMIC, Diagnostic, InsertPoint, Op, OpRef, OperationState, Trait, Type, Value,
};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};
use super::loops::attribute;
use super::navigate::{is_loop, view};
use super::payload::{BodyPath, Entity};
use crate::idioms::recognise_within;
use crate::packing::{self, pack_within};
use crate::prefetch::prefetch_within;
use crate::transform::tile_by::{Size, tile_nest};

/// Returns the operations that rewrite one operation, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::TakeAssumedBranchOp::DEF, |run, frame, op| {
            let targets = run.ops(frame, op, 0)?;
            targets.into_iter().try_for_each(|target| run.take_branch(op, target))?;
            Ok(Vec::new())
        }),
        (transform::ForallToParallelOp::DEF, |run, frame, op| {
            let target = run.only(frame, op, 0)?;
            Ok(vec![Handle::Ops(vec![run.as_parallel(op, target)?])])
        }),
        (loomir::ArgumentOp::DEF, |run, frame, op| run.argument(frame, op)),
        (loomir::IdiomsOp::DEF, |run, frame, op| {
            let alias = run.payload.alias();
            run.on_bodies(frame, op, &mut |body, own| _ = recognise_within(body, own, alias))
        }),
        (loomir::PackOp::DEF, |run, frame, op| run.pack(frame, op)),
        (loomir::PrefetchOp::DEF, |run, frame, op| run.prefetch(frame, op)),
        (transform::EraseDeadAllocOp::DEF, |run, frame, op| {
            run.on_bodies(frame, op, &mut erase_dead_allocations)
        }),
        // Only tensors have parts that are no memory of their own.
        (transform::HoistSubsetsOp::DEF, |run, frame, op| {
            for target in run.ops(frame, op, 0)? {
                let (path, own) = run.payload.op(target, op.loc())?;
                if !run.payload.body(&path).is_some_and(|body| is_loop(view(body, own))) {
                    return Err(failed(op, "needs a loop"));
                }
            }
            Ok(Vec::new())
        }),
    ]
}

impl Interpreter<'_> {
    /// Returns an argument of each function.
    fn argument(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let number = attribute(op, "number").and_then(|number| usize::try_from(number).ok());
        let mut found = Vec::new();
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            let inside: BodyPath = path.iter().copied().chain([own]).collect();
            let argument = self.payload.body(&inside).and_then(|body| {
                let block = body.entry_block(body.own_regions(body.root()).next()?)?;
                body.arguments(block).nth(number?)
            });
            let Some(argument) = argument else {
                let error = Diagnostic::error(op.loc(), format!("'{}' finds no such argument", op.name()));
                return Err(Failure::silenceable(error.note(self.payload.loc(target), "the function")));
            };
            found.extend(self.payload.value_of(&inside, argument));
        }
        Ok(vec![Handle::Values(found)])
    }

    /// Tiles nests by sizes some of which are values of the program.
    pub(super) fn tile_by(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        if op.attr("separate").is_some() {
            return Err(failed(op, "cannot separate tiles whose size is known only at run time"));
        }
        let mut results = vec![Vec::new(); op.num_results()];
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            self.payload.settle(&path, op.loc())?;
            let sizes = self.sizes(frame, op, &path)?;
            let basis = (self.payload.analyses(&path).unwrap_or_default(), self.payload.alias());
            let body = self.payload.body_mut(&path);
            let made = body.map(|body| tile_nest(body, own, &sizes, (&basis.0, basis.1)));
            let loops = made.ok_or_else(|| failed(op, "has no function"))?.map_err(|why| {
                let error = Diagnostic::error(op.loc(), format!("'{}' is not possible", op.name()));
                let error = error.note(why.loc, &why.message);
                Failure::silenceable(why.notes.iter().fold(error, |error, note| error.note(note.0, &note.1)))
            })?;
            self.payload.consume(target, op.loc(), &[]);
            for (all, own) in results.iter_mut().zip(loops) {
                all.push(self.payload.entity(&path, own));
            }
        }
        Ok(results.into_iter().map(Handle::Ops).collect())
    }

    /// Returns the sizes of tiles for a nest in the body at a path.
    fn sizes(&mut self, frame: &Frame<'_>, op: OpRef<'_>, path: &BodyPath) -> Result<Vec<Size>, Failure> {
        let listed = op.attr("sizes").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
        let mut operands = 1..op.num_operands();
        let mut sizes = Vec::new();
        for size in listed {
            let operand = if size == DYNAMIC { operands.next() } else { None };
            let Some(operand) = operand else {
                sizes.push(Size::Number(size));
                continue;
            };
            if let Handle::Params(_) = self.handle(frame, op, operand)? {
                let number = self.param_number(frame, op, operand)?;
                let error = || failed(op, &format!("needs positive sizes as parameters, not {number}"));
                sizes.push(Size::Number(Some(number).filter(|number| *number > 0).ok_or_else(error)?));
                continue;
            }
            let [value] = &self.values(frame, op, operand)?[..] else {
                return Err(failed(op, &format!("needs one value as operand #{operand}")));
            };
            match self.payload.value(value, op.loc())? {
                (own, value) if own == *path => sizes.push(Size::Value(value)),
                _ => return Err(failed(op, "needs a size that is a value of the function of the nest")),
            }
        }
        Ok(sizes)
    }

    /// Packs what loops read again and again. Fails if there is nothing to pack.
    fn pack(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let mut options = packing::Options { alias: self.payload.alias(), ..packing::Options::default() };
        if let Some(most) = attribute(op, "max_bytes").and_then(|most| u64::try_from(most).ok()) {
            options.max_bytes = most;
        }
        let (mut packed, mut why) = (0, None);
        self.on_bodies(frame, op, &mut |body, own| {
            let report = pack_within(body, own, &options);
            packed += report.packed;
            why = why.take().or(report.remarks.into_iter().next());
        })?;
        if packed > 0 {
            return Ok(Vec::new());
        }
        let error = Diagnostic::error(op.loc(), format!("'{}' is not possible", op.name()));
        Err(Failure::silenceable(match why {
            Some(remark) => error.note(remark.loc, &remark.message),
            None => error.help("no loop reads the same elements in each of its iterations"),
        }))
    }

    /// Adds prefetches to innermost loops. Fails if none reads in large strides.
    fn prefetch(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let number = |name, default| attribute(op, name).unwrap_or(default);
        let numbers = (number("distance", 8), number("min_stride", 64));
        // The layout tells how far apart elements are, and decides nothing else.
        let mut layout = None;
        if let Some(target) = self.ops(frame, op, 0)?.first() {
            let (path, _) = self.inside_of(op, *target)?;
            layout = self.payload.analyses(&path).and_then(|own| own.layout);
        }
        let mut streams = 0;
        self.on_bodies(frame, op, &mut |body, own| {
            streams += prefetch_within(body, own, numbers, layout.as_deref());
        })?;
        if streams > 0 {
            return Ok(Vec::new());
        }
        let error = Diagnostic::error(op.loc(), format!("'{}' is not possible", op.name()));
        let help = "no innermost loop reads memory in strides of at least 'min_stride' bytes";
        Err(Failure::silenceable(error.help(help)))
    }

    /// Replaces a conditional by one of its branches, if its condition is a constant that says so.
    fn take_branch(&mut self, op: OpRef<'_>, target: Entity) -> Result<(), Failure> {
        let (path, own) = self.payload.op(target, op.loc())?;
        self.payload.settle(&path, op.loc())?;
        let takes_else = op.attr("take_else_branch").is_some();
        let body = self.payload.body(&path).ok_or_else(|| failed(op, "has no function"))?;
        if !body.is(own, scf::IfOp::DEF) {
            return Err(failed(op, "needs an 'scf.if'"));
        }
        let region = body.region(own, usize::from(takes_else));
        let Some(block) = body.single_block(region) else {
            let side = if takes_else { "else" } else { "then" };
            return Err(wrong(op, &format!("requires an scf.if op with a single-block `{side}` region")));
        };
        let condition = constant_of(body, body.operand(own, 0)).and_then(|attr| attr.as_int(op.ctx()));
        if condition.map(|value| value == 0) != Some(takes_else) {
            let text = format!("'{}' is refused: it may change what the program computes", op.name());
            let error = Diagnostic::error(op.loc(), text);
            let note = match (condition, takes_else) {
                (Some(_), _) => "the condition has the other value",
                (None, true) => "the condition is not known to be false",
                (None, false) => "the condition is not known to be true",
            };
            let error = error.help("an assumption is no proof; let the program compute the condition");
            return Err(Failure::silenceable(error.note(body.loc(own), note)));
        }
        let following = self.payload.follow(&path);
        if let Some(body) = self.payload.body_mut(&path) {
            let results: Vec<Value> = body.results(own).collect();
            if let Some(end) = body.terminator(block) {
                let yielded: Vec<Value> = body.operands(end).collect();
                results.into_iter().zip(yielded).for_each(|(from, to)| body.replace_all_uses(from, to));
                body.erase(end);
            }
            for inside in body.ops(block).collect::<Vec<Op>>() {
                body.move_before(inside, own);
            }
            body.erase(own);
        }
        self.payload.find_followed(following, op.loc(), false);
        Ok(())
    }

    /// Replaces an `scf.forall` without results by an `scf.parallel`. Both run their iterations in
    /// any order.
    fn as_parallel(&mut self, op: OpRef<'_>, target: Entity) -> Result<Entity, Failure> {
        let (path, own) = self.payload.op(target, op.loc())?;
        self.payload.settle(&path, op.loc())?;
        let body = self.payload.body(&path).ok_or_else(|| failed(op, "has no function"))?;
        if !body.is(own, scf::ForallOp::DEF) {
            return Err(failed(op, "expects the payload to be scf.forall"));
        }
        if body.num_results(own) > 0 {
            return Err(failed(op, "op does not support converting scf.forall ops with results"));
        }
        self.payload.consume(target, op.loc(), &[]);
        let new = self.payload.body_mut(&path).and_then(|body| parallel_of(body, own));
        let new = new.ok_or_else(|| wrong(op, "expects a loop with a body"))?;
        Ok(self.payload.entity(&path, new))
    }
}

/// Replaces an `scf.forall` without results by an `scf.parallel`. `None` if it has no block.
fn parallel_of(body: &mut Body, own: Op) -> Option<Op> {
    let (ctx, loc) = (body.ctx().clone(), body.loc(own));
    let block = body.single_block(body.region(own, 0))?;
    let all = dimensions(body.op_ref(own));
    let mut bounds: Vec<Value> = Vec::new();
    for part in 0..3 {
        for dimension in &all {
            bounds.push(match dimension[part] {
                Number::Value(value) => value,
                Number::Constant(number) => {
                    let value = ctx.index_attr(number);
                    let state = OperationState::of(&ctx, arith::ConstantOp::DEF, loc).results(&[Type::INDEX]);
                    Builder::before(body, own).value(state.attr(&ctx, "value", value))
                }
            });
        }
    }
    let count = all.len() as i64;
    let segments: Attr = ctx.dense_ints_attr(Type::I32, &[count, count, count, 0]);
    let state = OperationState::of(&ctx, scf::ParallelOp::DEF, loc).operands(&bounds).regions(1);
    let new = Builder::before(body, own).insert(state.attr(&ctx, OPERAND_SEGMENTS, segments));
    if let Some(end) = body.terminator(block) {
        body.erase(end);
    }
    let end = OperationState::of(&ctx, scf::ReduceOp::DEF, loc);
    Builder::new(body, InsertPoint::End(block)).insert(end);
    let (from, to) = (body.region(own, 0), body.region(new, 0));
    body.move_blocks(from, to);
    body.erase(own);
    Some(new)
}

/// Erases the buffers inside an operation that are only written and freed, with these uses.
fn erase_dead_allocations(body: &mut Body, around: Op) {
    let is_allocation = |op: &Op| body.is(*op, memref::AllocOp::DEF) || body.is(*op, memref::AllocaOp::DEF);
    let all: Vec<Op> = body.preorder(around).filter(is_allocation).collect();
    for allocation in all.into_iter().rev() {
        if let Some(uses) = uses_if_only_written(body, allocation) {
            uses.into_iter().rev().for_each(|op| body.erase(op));
            body.erase(allocation);
        }
    }
}

/// Returns the operations that use a buffer or a view of it, a view before its uses. `None` if one
/// may do anything but write or free the buffer. Linear in the uses.
fn uses_if_only_written(body: &Body, allocation: Op) -> Option<Vec<Op>> {
    let mut views: Vec<Value> = body.results(allocation).collect();
    let (mut users, mut known, mut next) = (Vec::new(), HashSet::new(), 0);
    let mut all = Vec::new();
    while let Some(view) = views.get(next).copied() {
        next += 1;
        for user in body.uses(view).map(|own| own.op) {
            if !known.insert(user) {
                continue;
            }
            let own = body.op_ref(user);
            if let Some(model) = own.info().interface::<dyn ViewLike>() {
                if model.source(own) != view {
                    return None;
                }
                all.push(user);
                views.extend(own.results());
                continue;
            }
            let effects = own.info().interface::<dyn MemoryEffects>()?;
            let only_writes = effects.effects(own).iter().all(|effect| {
                matches!(effect.kind, EffectKind::Write | EffectKind::Free)
                    && matches!(effect.on, Resource::Value(value) if views.contains(&value))
            });
            let is_plain = own.num_results() == 0 && own.regions().len() == 0 && own.successors().len() == 0;
            let is_end = body.has_trait(user, Trait::Terminator) || effects.may_not_return(own);
            if !only_writes || !is_plain || is_end {
                return None;
            }
            users.push(user);
        }
    }
    all.append(&mut users);
    Some(all)
}
