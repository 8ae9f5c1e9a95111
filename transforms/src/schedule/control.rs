//! The control flow of schedules: sequences, choices, repetition, and matching by named sequences.
//!
//! Recursion follows the nesting of regions, which reading bounds, and the inclusion of named
//! sequences, which [`MOST_DEPTH`] bounds.

use loomir_dialects::transform::consumed::{CONSUMED, consumed_operands, is_marked};
use loomir_dialects::{loomir, transform};
use loomir_ir::symbols::lookup;
use loomir_ir::{Attr, Block, Body, Diagnostic, Op, OpDef, OpRef, Region, Type};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, failed, wrong};
use super::payload::{Entity, Step};

/// The maximal number of named sequences that include each other.
const MOST_DEPTH: u32 = 64;

impl<'a> Interpreter<'a> {
    /// Runs a named sequence with these arguments. Returns what it yields.
    pub(super) fn sequence_of(&mut self, sequence: Op, arguments: Vec<Handle>, depth: u32) -> Outcome {
        let schedule = self.schedule;
        let around = schedule.op_ref(sequence);
        let Some(body) = schedule.nested(sequence).filter(|_| depth < MOST_DEPTH) else {
            return Err(wrong(around, &format!("includes itself, or more than {MOST_DEPTH} others")));
        };
        let Some(block) = body.entry_block(body.region(body.root(), 0)) else {
            return Err(wrong(around, "is declared here, and defined nowhere"));
        };
        let mut frame = Frame::new(body, depth);
        self.bind(&mut frame, block, body.root_ref(), arguments)?;
        self.block(&mut frame, block)
    }

    /// Gives the arguments of a block their handles.
    fn bind(
        &mut self,
        frame: &mut Frame<'a>,
        block: Block,
        op: OpRef<'_>,
        handles: Vec<Handle>,
    ) -> Result<(), Failure> {
        let arguments: Vec<_> = frame.body.arguments(block).collect();
        if arguments.len() != handles.len() {
            return Err(wrong(op, &format!("takes {} handles, not {}", arguments.len(), handles.len())));
        }
        for (argument, handle) in arguments.into_iter().zip(handles) {
            self.check_type(op, frame.body.value_type(argument), &handle)?;
            frame.values.insert(argument, handle);
        }
        Ok(())
    }

    /// Runs a block. Returns what its terminator yields.
    fn block(&mut self, frame: &mut Frame<'a>, block: Block) -> Outcome {
        let body: &'a Body = frame.body;
        for own in body.ops(block) {
            let op = body.op_ref(own);
            self.count(op)?;
            if op.is(transform::YieldOp::DEF) {
                return (0..op.num_operands()).map(|index| self.yielded(frame, op, index)).collect();
            }
            self.operation(frame, op)?;
        }
        Ok(Vec::new())
    }

    /// Returns a handle that is yielded. It may be invalid as long as nobody uses it.
    fn yielded(&self, frame: &Frame<'a>, op: OpRef<'_>, index: usize) -> Result<Handle, Failure> {
        let found = frame.values.get(&op.operand(index)).cloned();
        found.ok_or_else(|| wrong(op, "yields a value without a handle"))
    }

    /// Runs one operation and gives its results their handles.
    fn operation(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Result<(), Failure> {
        // All handles must be valid, used or not.
        for index in 0..op.num_operands() {
            self.handle(frame, op, index)?;
        }
        let outcome = match self.loop_step(frame, op) {
            Some(outcome) => outcome?,
            None => {
                let other = self.navigation(frame, op).or_else(|| self.outlining(frame, op));
                match other.or_else(|| self.pass_step(frame, op)) {
                    Some(outcome) => outcome?,
                    None => self.control(frame, op)?,
                }
            }
        };
        // What was not consumed by being transformed is consumed now.
        if !(op.is(transform::SequenceOp::DEF) || op.is(transform::ForeachOp::DEF)) {
            for index in consumed_operands(op) {
                if let Some(handle) = frame.values.get(&op.operand(index)).cloned() {
                    self.consume_but(&handle, &outcome, op);
                }
            }
        }
        self.set_results(frame, op, outcome)
    }

    /// Consumes a handle, except operations that results have.
    fn consume_but(&mut self, handle: &Handle, results: &[Handle], op: OpRef<'_>) {
        let Handle::Ops(all) = handle else { return };
        let kept: Vec<Entity> = results
            .iter()
            .flat_map(|result| match result {
                Handle::Ops(all) => &all[..],
                Handle::Params(_) => &[],
            })
            .copied()
            .collect();
        all.iter().for_each(|own| self.payload.consume(*own, op.loc(), &kept));
    }

    fn control(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let is = |def: &'static OpDef| op.is(def);
        if is(transform::SequenceOp::DEF) {
            self.sequence(frame, op)
        } else if is(transform::IncludeOp::DEF) {
            self.include(frame, op)
        } else if is(transform::ForeachOp::DEF) {
            self.foreach(frame, op)
        } else if is(transform::AlternativesOp::DEF) {
            self.alternatives(frame, op)
        } else if is(transform::TuneAlternativesOp::DEF) {
            self.chosen(frame, op)
        } else if is(transform::ForeachMatchOp::DEF) {
            self.foreach_match(frame, op)
        } else if is(transform::CollectMatchingOp::DEF) {
            self.collect_matching(frame, op)
        } else if is(loomir::TogetherOp::DEF) {
            self.together(frame, op)
        } else {
            self.value(frame, op)
        }
    }

    /// Runs an operation on handles and parameters.
    fn value(&mut self, frame: &Frame<'a>, op: OpRef<'a>) -> Outcome {
        let ctx = op.ctx();
        let is = |def: &'static OpDef| op.is(def);
        if is(transform::ParamConstantOp::DEF) {
            Ok(vec![Handle::Params(op.attr("value").into_iter().collect())])
        } else if is(transform::KnobOp::DEF) {
            match op.attr("selected") {
                Some(selected) => Ok(vec![Handle::Params(vec![selected])]),
                None => Err(wrong(
                    op,
                    "non-deterministic choice is only resolved through providing a `selected` attr",
                )),
            }
        } else if is(transform::CastOp::DEF) {
            Ok(vec![self.handle(frame, op, 0)?])
        } else if is(transform::MergeHandlesOp::DEF) {
            self.merge(frame, op)
        } else if is(transform::SplitHandleOp::DEF) {
            self.split_handle(frame, op)
        } else if is(transform::ReplicateOp::DEF) {
            self.replicate(frame, op)
        } else if is(transform::NumAssociationsOp::DEF) {
            let number = match self.handle(frame, op, 0)? {
                Handle::Ops(all) => all.len(),
                Handle::Params(all) => all.len(),
            };
            let ty = transform::types::param_type(ctx, op.result_type(0)).unwrap_or(Type::I64);
            Ok(vec![Handle::Params(vec![ctx.int_attr(ty, number as i64)])])
        } else if is(transform::MatchCmpIOp::DEF) {
            self.compare(frame, op)
        } else {
            Err(wrong(op, "is no operation that runs here"))
        }
    }

    fn merge(&mut self, frame: &Frame<'a>, op: OpRef<'a>) -> Outcome {
        let unique = op.attr("deduplicate").is_some();
        let (mut all, mut params, mut are_params) = (Vec::new(), Vec::new(), false);
        for index in 0..op.num_operands() {
            match self.handle(frame, op, index)? {
                Handle::Ops(own) => {
                    for entity in own {
                        let is_known = |known: &_| self.payload.is_same(*known, entity);
                        if !unique || !all.iter().any(is_known) {
                            all.push(entity);
                        }
                    }
                }
                Handle::Params(own) => {
                    are_params = true;
                    params.extend(own);
                }
            }
        }
        if unique {
            let mut known: Vec<Attr> = Vec::new();
            params.retain(|own| !known.contains(own) && (known.push(*own), true).1);
        }
        Ok(vec![if are_params { Handle::Params(params) } else { Handle::Ops(all) }])
    }

    fn split_handle(&mut self, frame: &Frame<'a>, op: OpRef<'a>) -> Outcome {
        let ctx = op.ctx();
        let flag = |name: &str| op.attr(name) != Some(Attr::FALSE);
        let overflow = op.attr("overflow_result").and_then(|attr| attr.as_int(ctx));
        let overflow = overflow.and_then(|at| usize::try_from(at).ok());
        let results = op.num_results();
        let handle = self.handle(frame, op, 0)?;
        let length = match &handle {
            Handle::Ops(all) => all.len(),
            Handle::Params(all) => all.len(),
        };
        let too_many = length > results && overflow.is_none();
        let is_passed = length == 0 && flag("pass_through_empty_handle");
        let too_few = length < results && !is_passed && flag("fail_on_payload_too_small");
        if too_many || too_few {
            let error = Diagnostic::error(
                op.loc(),
                format!(
                    "'{}' op expected to contain {results} payloads but it contains {length} payloads",
                    op.name()
                ),
            );
            return Err(Failure::silenceable(error));
        }
        // One for each result, in order; what is left over goes to the overflow result.
        let result = |index: usize| if index < results { index } else { overflow.unwrap_or(0) };
        Ok(match handle {
            Handle::Ops(all) => {
                let mut parts = vec![Vec::new(); results];
                all.into_iter().enumerate().for_each(|(index, own)| parts[result(index)].push(own));
                parts.into_iter().map(Handle::Ops).collect()
            }
            Handle::Params(all) => {
                let mut parts = vec![Vec::new(); results];
                all.into_iter().enumerate().for_each(|(index, own)| parts[result(index)].push(own));
                parts.into_iter().map(Handle::Params).collect()
            }
        })
    }

    fn replicate(&mut self, frame: &Frame<'a>, op: OpRef<'a>) -> Outcome {
        let times = self.ops(frame, op, 0)?.len();
        let repeated = |index: usize| -> Result<Handle, Failure> {
            Ok(match self.handle(frame, op, index)? {
                Handle::Ops(all) => Handle::Ops((0..times).flat_map(|_| all.clone()).collect()),
                Handle::Params(all) => Handle::Params((0..times).flat_map(|_| all.clone()).collect()),
            })
        };
        (1..op.num_operands()).map(repeated).collect()
    }

    fn compare(&mut self, frame: &Frame<'a>, op: OpRef<'a>) -> Outcome {
        let ctx = op.ctx();
        let (own, other) = (self.params(frame, op, 0)?, self.params(frame, op, 1)?);
        let predicate = op.attr("predicate").and_then(|attr| transform::COMPARISON.value(ctx, attr));
        let holds = |a: &Attr, b: &Attr| {
            let (a, b) = (a.as_int(ctx)?, b.as_int(ctx)?);
            Some(match predicate? {
                0 => a == b,
                1 => a != b,
                2 => a < b,
                3 => a <= b,
                4 => a > b,
                _ => a >= b,
            })
        };
        let all = own.iter().zip(&other).all(|(a, b)| holds(a, b) == Some(true));
        match own.len() == other.len() && all {
            true => Ok(Vec::new()),
            false => Err(failed(op, "does not match: the parameters do not compare so")),
        }
    }

    /// Runs a region with these arguments.
    fn region(
        &mut self,
        frame: &mut Frame<'a>,
        op: OpRef<'a>,
        region: Region,
        arguments: Vec<Handle>,
    ) -> Outcome {
        let Some(block) = op.body().entry_block(region) else { return Ok(Vec::new()) };
        self.bind(frame, block, op, arguments)?;
        self.block(frame, block)
    }

    /// Returns the handles of all operands.
    fn operands(&self, frame: &Frame<'a>, op: OpRef<'a>) -> Result<Vec<Handle>, Failure> {
        (0..op.num_operands()).map(|index| self.handle(frame, op, index)).collect()
    }

    /// Answers a failure: one that may be silenced is, if the operation says so.
    fn silenced(&mut self, op: OpRef<'a>, outcome: Outcome) -> Outcome {
        let mode = op.attr("failure_propagation_mode");
        let suppresses = mode.and_then(|attr| transform::FAILURE_MODE.value(op.ctx(), attr)) == Some(2);
        match outcome {
            Err(failure) if suppresses && failure.is_silenceable() => {
                let is_param = |ty: Type| transform::types::is_param(op.ctx(), ty);
                let empty = |ty: Type| match is_param(ty) {
                    true => Handle::Params(Vec::new()),
                    false => Handle::Ops(Vec::new()),
                };
                Ok(op.results().map(|result| empty(op.type_of(result))).collect())
            }
            outcome => outcome,
        }
    }

    fn sequence(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let arguments = match op.num_operands() {
            0 => vec![Handle::Ops(vec![self.payload.root()])],
            _ => self.operands(frame, op)?,
        };
        let outcome = self.region(frame, op, op.region(0), arguments);
        self.silenced(op, outcome)
    }

    fn include(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let sequence = self.named(op, op.attr("target"))?;
        let arguments = self.operands(frame, op)?;
        let outcome = self.sequence_of(sequence, arguments.clone(), frame.depth + 1);
        let outcome = self.silenced(op, outcome)?;
        let marks = self.schedule.op_ref(sequence).attr("arg_attrs");
        for (index, handle) in arguments.iter().enumerate() {
            if is_marked(op.ctx(), marks, index, CONSUMED) {
                self.consume_but(handle, &outcome, op);
            }
        }
        Ok(outcome)
    }

    /// Returns the named sequence that an attribute names.
    fn named(&self, op: OpRef<'_>, name: Option<Attr>) -> Result<Op, Failure> {
        let name = name.and_then(|attr| attr.as_flat_symbol(op.ctx())).map(|name| op.ctx().str(name));
        let found = name.and_then(|name| lookup(self.schedule, name));
        let found = found.filter(|found| self.schedule.is(*found, transform::NamedSequenceOp::DEF));
        found.ok_or_else(|| {
            wrong(op, &format!("names no sequence: there is no @{}", name.unwrap_or_default()))
        })
    }

    fn foreach(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let operands = self.operands(frame, op)?;
        let length = |handle: &Handle| match handle {
            Handle::Ops(all) => all.len(),
            Handle::Params(all) => all.len(),
        };
        let lengths: Vec<usize> = operands.iter().map(length).collect();
        let (least, most) = (lengths.iter().min().copied(), lengths.iter().max().copied());
        if least != most && op.attr("with_zip_shortest").is_none() {
            return Err(failed(
                op,
                &format!(
                    "prior targets' payload size ({}) differs from payload size ({}) of target",
                    lengths[0],
                    lengths.iter().find(|own| **own != lengths[0]).copied().unwrap_or(0)
                ),
            ));
        }
        let mut results: Vec<Option<Handle>> = vec![None; op.num_results()];
        for index in 0..least.unwrap_or(0) {
            let one = |handle: &Handle| match handle {
                Handle::Ops(all) => Handle::Ops(vec![all[index]]),
                Handle::Params(all) => Handle::Params(vec![all[index]]),
            };
            let yielded = self.region(frame, op, op.region(0), operands.iter().map(one).collect())?;
            for (all, own) in results.iter_mut().zip(yielded) {
                append(all, own);
            }
        }
        let empty = |index: usize| match transform::types::is_param(op.ctx(), op.result_type(index)) {
            true => Handle::Params(Vec::new()),
            false => Handle::Ops(Vec::new()),
        };
        Ok(results.into_iter().enumerate().map(|(index, own)| own.unwrap_or_else(|| empty(index))).collect())
    }

    fn alternatives(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let scope = match op.num_operands() {
            0 => vec![Handle::Ops(vec![self.payload.root()])],
            _ => self.operands(frame, op)?,
        };
        let mut reasons: Vec<Diagnostic> = Vec::new();
        for region in op.regions() {
            let before = self.payload.snapshot(true);
            let mut outcome = self.region(frame, op, region, scope.clone());
            if outcome.is_ok()
                && !self.payload.is_deferred()
                && let Err(failure) = self.payload.flush_below(&[], op.loc())
            {
                outcome = Err(failure);
            }
            match outcome {
                Err(failure) if failure.is_silenceable() => {
                    self.payload.restore(before);
                    reasons.push(failure.into_diagnostic());
                }
                outcome => return outcome,
            }
        }
        let mut error = Diagnostic::error(op.loc(), "all alternatives failed");
        for reason in reasons {
            error.notes.push((reason.loc, reason.message));
            error.notes.extend(reason.notes);
        }
        Err(Failure::silenceable(error))
    }

    fn chosen(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let constant = op.attr("selected_region_attr").and_then(|attr| attr.as_int(op.ctx()));
        let selected = match constant {
            Some(constant) => constant,
            None if op.num_operands() > 0 => self.param_number(frame, op, 0)?,
            None => {
                return Err(wrong(
                    op,
                    "non-deterministic choice is only resolved through providing a `selected_region`",
                ));
            }
        };
        let region = usize::try_from(selected).ok().and_then(|at| op.regions().nth(at));
        let region = region.ok_or_else(|| wrong(op, &format!("has no region {selected}")))?;
        self.region(frame, op, region, Vec::new())
    }

    fn together(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let before = self.payload.snapshot(false);
        let is_outermost = self.payload.defer();
        let mut outcome = self.region(frame, op, op.region(0), Vec::new());
        if is_outermost && outcome.is_ok() {
            let step = Step { loc: op.loc(), name: op.name(), then: "transformed", consumed: &[] };
            outcome = self.payload.judge_together(&step).and(outcome);
        }
        if outcome.is_err() {
            self.payload.restore(before);
        }
        outcome
    }

    /// Runs a matcher on one operation. Returns what it yields, or `None` if it does not match.
    fn matches(
        &mut self,
        matcher: Op,
        arguments: Vec<Handle>,
        depth: u32,
    ) -> Result<Option<Vec<Handle>>, Failure> {
        match self.sequence_of(matcher, arguments, depth) {
            Ok(yielded) => Ok(Some(yielded)),
            Err(failure) if failure.is_silenceable() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn collect_matching(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let matcher = self.named(op, op.attr("matcher"))?;
        let mut results: Vec<Option<Handle>> = vec![None; op.num_results()];
        for root in self.ops(frame, op, 0)? {
            let mut all = Vec::new();
            for (path, own) in self.inside(op, root)? {
                all.push(self.payload.entity(&path, own));
            }
            all.push(root);
            for own in all {
                if let Some(yielded) = self.matches(matcher, vec![Handle::Ops(vec![own])], frame.depth + 1)? {
                    results.iter_mut().zip(yielded).for_each(|(all, own)| append(all, own));
                }
            }
        }
        Ok(results.into_iter().map(|own| own.unwrap_or(Handle::Ops(Vec::new()))).collect())
    }

    fn foreach_match(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let list = |name: &str| op.attr(name).and_then(|all| all.as_array(op.ctx())).unwrap_or_default();
        let mut pairs = Vec::new();
        for (matcher, action) in list("matchers").iter().zip(list("actions")) {
            pairs.push((self.named(op, Some(*matcher))?, self.named(op, Some(*action))?));
        }
        let extra: Vec<Handle> = self.operands(frame, op)?.into_iter().skip(1).collect();
        let roots = self.ops(frame, op, 0)?;
        let mut results: Vec<Option<Handle>> = vec![None; op.num_results().saturating_sub(1)];
        let mut all = Vec::new();
        for root in &roots {
            for (path, own) in self.inside(op, *root)? {
                all.push(self.payload.entity(&path, own));
            }
            if op.attr("restrict_root").is_some() {
                all.push(*root);
            }
        }
        for own in all {
            if self.payload.is_erased(own) || self.payload.invalid(own).is_some() {
                continue;
            }
            let arguments: Vec<Handle> = [vec![Handle::Ops(vec![own])], extra.clone()].concat();
            for (matcher, action) in &pairs {
                let Some(yielded) = self.matches(*matcher, arguments.clone(), frame.depth + 1)? else {
                    continue;
                };
                let yielded = self.sequence_of(*action, yielded, frame.depth + 1)?;
                results.iter_mut().zip(yielded).for_each(|(all, own)| append(all, own));
                break;
            }
        }
        let others = results.into_iter().map(|own| own.unwrap_or(Handle::Ops(Vec::new())));
        Ok(std::iter::once(Handle::Ops(roots)).chain(others).collect())
    }
}

/// Adds the operations or parameters of a handle to another.
fn append(all: &mut Option<Handle>, own: Handle) {
    match (all, own) {
        (Some(Handle::Ops(all)), Handle::Ops(own)) => all.extend(own),
        (Some(Handle::Params(all)), Handle::Params(own)) => all.extend(own),
        (all @ None, own) => *all = Some(own),
        _ => {}
    }
}
