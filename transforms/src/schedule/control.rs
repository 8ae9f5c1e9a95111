//! The control flow of schedules: sequences, choices, repetition, and matching by named sequences.
//!
//! Recursion follows the nesting of regions, which reading bounds, and the inclusion of named
//! sequences, which [`MOST_DEPTH`] bounds.

use hashbrown::HashSet;
use loomir_dialects::transform::consumed::{CONSUMED, consumed_operands, is_marked};
use loomir_dialects::{loomir, transform};
use loomir_ir::symbols::lookup;
use loomir_ir::{Attr, Block, Body, Diagnostic, Op, OpRef, Region};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};
use super::payload::{Entity, Step};

/// The maximal number of named sequences that include each other.
const MOST_DEPTH: u32 = 64;

/// Returns the operations with regions or other sequences, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::SequenceOp::DEF, |run, frame, op| run.sequence(frame, op)),
        (transform::IncludeOp::DEF, |run, frame, op| run.include(frame, op)),
        (transform::ForeachOp::DEF, |run, frame, op| run.foreach(frame, op)),
        (transform::AlternativesOp::DEF, |run, frame, op| run.alternatives(frame, op)),
        (transform::TuneAlternativesOp::DEF, |run, frame, op| run.chosen(frame, op)),
        (transform::ForeachMatchOp::DEF, |run, frame, op| run.foreach_match(frame, op)),
        (transform::CollectMatchingOp::DEF, |run, frame, op| run.collect_matching(frame, op)),
        (loomir::TogetherOp::DEF, |run, frame, op| run.together(frame, op)),
    ]
}

impl<'a> Interpreter<'a> {
    /// Runs a named sequence with these arguments. Returns what it yields.
    pub(super) fn sequence_of(&mut self, sequence: Op, arguments: Vec<Handle>, depth: u32) -> Outcome {
        self.sequence_by(sequence, arguments, depth, false)
    }

    /// The same, perhaps with failures suppressed.
    fn sequence_by(&mut self, sequence: Op, arguments: Vec<Handle>, depth: u32, suppresses: bool) -> Outcome {
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
        self.block(&mut frame, block, suppresses)
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
            frame.set(argument, handle);
        }
        Ok(())
    }

    /// Runs a block. Returns what its terminator yields. With `suppresses`, an operation with a
    /// failure that may be silenced has empty results, and the block goes on.
    fn block(&mut self, frame: &mut Frame<'a>, block: Block, suppresses: bool) -> Outcome {
        let body: &'a Body = frame.body;
        for own in body.ops(block) {
            let op = body.op_ref(own);
            self.count(op)?;
            if op.is(transform::YieldOp::DEF) {
                return (0..op.num_operands()).map(|index| self.yielded(frame, op, index)).collect();
            }
            match self.operation(frame, op) {
                Err(failure) if suppresses && failure.is_silenceable() => {
                    let empty = self.empty_results(op, 0);
                    self.set_results(frame, op, empty)?;
                }
                outcome => outcome?,
            }
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
        for index in consumed_operands(op) {
            self.consumes_once(op, index, &self.handle(frame, op, index)?)?;
        }
        let Some(run) = self.operations.get(op.name()) else {
            return Err(wrong(op, "is no operation that runs here"));
        };
        let outcome = run(self, frame, op)?;
        // What was not consumed by being transformed is consumed now.
        if !(op.is(transform::SequenceOp::DEF) || op.is(transform::ForeachOp::DEF)) {
            for index in consumed_operands(op) {
                let value = op.operand(index);
                if let Some(handle) = frame.values.get(&value).cloned() {
                    self.consume_but(&handle, &outcome, op);
                    if handle.len() == 0 {
                        frame.consumed.insert(value, op.loc());
                    }
                }
            }
        }
        self.set_results(frame, op, outcome)
    }

    /// Checks that a handle that is consumed has each operation once.
    fn consumes_once(&self, op: OpRef<'_>, index: usize, handle: &Handle) -> Result<(), Failure> {
        let Handle::Ops(all) = handle else { return Ok(()) };
        let mut known = HashSet::with_capacity(all.len());
        let Some(again) = all.iter().find(|own| !known.insert(**own)) else { return Ok(()) };
        let text = format!(
            "a handle passed as operand #{index} and consumed by this operation points to a payload \
             entity more than once"
        );
        let error = Diagnostic::error(op.loc(), text).note(self.payload.loc(*again), "repeated target op");
        Err(Failure::definite(error))
    }

    /// Consumes a handle, except operations that results have.
    fn consume_but(&mut self, handle: &Handle, results: &[Handle], op: OpRef<'_>) {
        let Handle::Ops(all) = handle else { return };
        let kept: Vec<Entity> = results.iter().flat_map(Handle::entities).collect();
        all.iter().for_each(|own| self.payload.consume(*own, op.loc(), &kept));
    }

    /// Runs a region with these arguments.
    fn region(
        &mut self,
        frame: &mut Frame<'a>,
        op: OpRef<'a>,
        region: Region,
        arguments: Vec<Handle>,
    ) -> Outcome {
        self.region_by(frame, op, region, arguments, false)
    }

    /// The same, perhaps with failures suppressed.
    fn region_by(
        &mut self,
        frame: &mut Frame<'a>,
        op: OpRef<'a>,
        region: Region,
        arguments: Vec<Handle>,
        suppresses: bool,
    ) -> Outcome {
        let Some(block) = op.body().entry_block(region) else { return Ok(Vec::new()) };
        self.bind(frame, block, op, arguments)?;
        self.block(frame, block, suppresses)
    }

    /// Returns the handles of all operands.
    fn operands(&self, frame: &Frame<'a>, op: OpRef<'a>) -> Result<Vec<Handle>, Failure> {
        (0..op.num_operands()).map(|index| self.handle(frame, op, index)).collect()
    }

    /// Runs the contents of an operation, with failures suppressed if the operation says so. Loops
    /// that cannot be written at its end are such a failure.
    fn suppressing(&mut self, op: OpRef<'a>, run: impl FnOnce(&mut Self, bool) -> Outcome) -> Outcome {
        let mode = op.attr("failure_propagation_mode");
        if mode.and_then(|attr| transform::FAILURE_MODE.value(op.ctx(), attr)) != Some(2) {
            return run(self, false);
        }
        let (before, changes) = (self.payload.snapshot(false), self.payload.changes());
        let mut outcome = run(self, true);
        let may_go_on = outcome.as_ref().err().is_none_or(Failure::is_silenceable);
        if may_go_on
            && !self.payload.is_deferred()
            && let Err(failure) = self.payload.try_writing()
        {
            match changes == self.payload.changes() {
                true => self.payload.restore(before),
                // The steps since the last change of the text are lost.
                false => drop(self.payload.flush_below(&[], op.loc())),
            }
            outcome = Err(failure);
        }
        match outcome {
            Err(failure) if failure.is_silenceable() => Ok(self.empty_results(op, 0)),
            outcome => outcome,
        }
    }

    fn sequence(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let arguments = match op.num_operands() {
            0 => vec![Handle::Ops(vec![self.payload.root()])],
            _ => self.operands(frame, op)?,
        };
        self.suppressing(op, |run, suppresses| run.region_by(frame, op, op.region(0), arguments, suppresses))
    }

    fn include(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let sequence = self.named(op, op.attr("target"))?;
        let arguments = self.operands(frame, op)?;
        let (depth, own) = (frame.depth + 1, arguments.clone());
        let outcome =
            self.suppressing(op, |run, suppresses| run.sequence_by(sequence, own, depth, suppresses))?;
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
        let lengths: Vec<usize> = operands.iter().map(Handle::len).collect();
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
        let mut results = self.empty_results(op, 0);
        let singles: Vec<Vec<Handle>> = operands.iter().map(Handle::singles).collect();
        for index in 0..least.unwrap_or(0) {
            let arguments = singles.iter().map(|own| own[index].clone()).collect();
            let yielded = self.region(frame, op, op.region(0), arguments)?;
            results.iter_mut().zip(yielded).for_each(|(all, own)| all.append(own));
        }
        Ok(results)
    }

    /// Returns empty handles for the results of an operation from number `first` on.
    fn empty_results(&self, op: OpRef<'_>, first: usize) -> Vec<Handle> {
        op.results().skip(first).map(|own| Handle::empty(op.ctx(), op.type_of(own))).collect()
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
        let mut results = self.empty_results(op, 0);
        for root in self.ops(frame, op, 0)? {
            for own in self.walked(op, root, true)? {
                let arguments = vec![Handle::Ops(vec![own])];
                if let Some(yielded) = self.matches(matcher, arguments, frame.depth + 1)? {
                    if let Some(result) = yielded.iter().position(|own| own.len() != 1) {
                        let many = yielded[result].len();
                        let text = format!("needs one entity as result #{result} of the matcher, not {many}");
                        return Err(wrong(op, &text));
                    }
                    results.iter_mut().zip(yielded).for_each(|(all, own)| all.append(own));
                }
            }
        }
        Ok(results)
    }

    /// Returns the operations inside an operation, and perhaps itself, each behind its contents.
    fn walked(&mut self, op: OpRef<'_>, root: Entity, with_root: bool) -> Result<Vec<Entity>, Failure> {
        let inside = self.inside(op, root)?;
        let inside = inside.into_iter().map(|(path, own)| self.payload.entity(&path, own));
        let mut all: Vec<Entity> = inside.collect();
        all.extend(with_root.then_some(root));
        Ok(all)
    }

    fn foreach_match(&mut self, frame: &mut Frame<'a>, op: OpRef<'a>) -> Outcome {
        let list = |name: &str| op.attr(name).and_then(|all| all.as_array(op.ctx())).unwrap_or_default();
        let mut pairs = Vec::new();
        for (matcher, action) in list("matchers").iter().zip(list("actions")) {
            pairs.push((self.named(op, Some(*matcher))?, self.named(op, Some(*action))?));
        }
        let extra: Vec<Handle> = self.operands(frame, op)?.into_iter().skip(1).collect();
        let roots = self.ops(frame, op, 0)?;
        let mut results = self.empty_results(op, 1);
        let mut all = Vec::new();
        for root in &roots {
            all.extend(self.walked(op, *root, op.attr("restrict_root").is_some())?);
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
                let is_flat = op.attr("flatten_results").is_some();
                if let Some(many) = yielded.iter().find(|own| !is_flat && own.len() > 1) {
                    let text = format!("needs 'flatten_results': an action yields {} at once", many.len());
                    return Err(wrong(op, &text));
                }
                results.iter_mut().zip(yielded).for_each(|(all, own)| all.append(own));
                break;
            }
        }
        Ok(std::iter::once(Handle::Ops(roots)).chain(results).collect())
    }
}
