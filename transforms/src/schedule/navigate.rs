//! Operations of schedules that find operations of the program.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::{loomir, scf, transform};
use loomir_ir::{AttrKind, Body, Diagnostic, Dict, Op, OpRef, Trait, Value};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};
use super::payload::{BodyPath, Entity};

/// Returns the operations that find operations and values, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::MatchOp::DEF, |run, frame, op| run.structured_match(frame, op)),
        (loomir::FindOp::DEF, |run, frame, op| run.find(frame, op)),
        (transform::GetParentOp::DEF, |run, frame, op| run.parent(frame, op)),
        (transform::GetConsumersOp::DEF, |run, frame, op| run.consumers(frame, op)),
        (transform::GetProducerOp::DEF, |run, frame, op| run.producer(frame, op)),
        (transform::GetOperandOp::DEF, |run, frame, op| run.values_at(frame, op, "operands")),
        (transform::GetResultOp::DEF, |run, frame, op| run.values_at(frame, op, "results")),
        (transform::GetDefiningOp::DEF, |run, frame, op| run.defining(frame, op)),
        (transform::GetTypeOp::DEF, |run, frame, op| run.types(frame, op)),
        (transform::SelectOp::DEF, |run, frame, op| run.select(frame, op)),
        (transform::MatchEmptyOp::DEF, |run, frame, op| match run.ops(frame, op, 0)?.is_empty() {
            true => Ok(Vec::new()),
            false => Err(failed(op, "does not match: the handle has an operation")),
        }),
        (transform::MatchNameOp::DEF, |run, frame, op| run.match_name(frame, op)),
    ]
}

impl Interpreter<'_> {
    /// Returns the operations inside a target, each behind those inside it, as MLIR visits them.
    pub(super) fn inside(&mut self, op: OpRef<'_>, target: Entity) -> Result<Vec<(BodyPath, Op)>, Failure> {
        let (path, root) = self.payload.op(target, op.loc())?;
        let own: BodyPath = path.iter().copied().chain([root]).collect();
        self.payload.flush_below(&path, op.loc())?;
        let mut found = Vec::new();
        let start = match self.payload.body(&own) {
            Some(body) => (own, body.root()),
            None => (path, root),
        };
        self.add_inside(&start.0, start.1, &mut found);
        Ok(found)
    }

    /// Recurses once for each body in a body. Reading bounds their nesting depth.
    fn add_inside(&self, path: &BodyPath, root: Op, found: &mut Vec<(BodyPath, Op)>) {
        let Some(body) = self.payload.body(path) else { return };
        for own in body.postorder(root).into_iter().filter(|own| *own != root) {
            if let Some(nested) = body.nested(own) {
                let inner: BodyPath = path.iter().copied().chain([own]).collect();
                self.add_inside(&inner, nested.root(), found);
            }
            found.push((path.clone(), own));
        }
    }

    /// Returns the entities of the operations that a test accepts: those inside a target, and the
    /// target itself.
    fn matching(
        &mut self,
        op: OpRef<'_>,
        target: Entity,
        accepts: &dyn Fn(OpRef<'_>) -> bool,
    ) -> Result<Vec<Entity>, Failure> {
        let mut inside = self.inside(op, target)?;
        inside.push(self.payload.op(target, op.loc())?);
        let is_match = |(path, own): &(BodyPath, Op)| {
            self.payload.body(path).is_some_and(|body| accepts(view(body, *own)))
        };
        let found: Vec<_> = inside.into_iter().filter(is_match).collect();
        Ok(found.into_iter().map(|(path, own)| self.payload.entity(&path, own)).collect())
    }

    fn structured_match(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let target = self.only(frame, op, 0)?;
        let strings = |name: &str| -> Option<Vec<&str>> {
            Some(op.attr(name)?.as_array(ctx)?.iter().filter_map(|own| own.as_str(ctx)).collect())
        };
        let names = strings("ops");
        let attrs = match op.attr("op_attrs").map(|attr| attr.kind(ctx)) {
            Some(AttrKind::Dictionary(attrs)) => *attrs,
            _ => Dict::EMPTY,
        };
        let interface = match op.attr("interface") {
            None => None,
            Some(attr) => match transform::MATCH_INTERFACE.value(ctx, attr) {
                Some(2) => Some(()),
                _ => return Err(wrong(op, "matches by 'LoopLikeInterface' or by 'ops'")),
            },
        };
        let result = op.attr("filter_result_type").and_then(|attr| attr.as_type(ctx));
        let operands = op.attr("filter_operand_types").and_then(|attr| attr.as_array(ctx));
        let operands: Option<Vec<_>> =
            operands.map(|all| all.iter().filter_map(|own| own.as_type(ctx)).collect());
        let accepts = |own: OpRef<'_>| {
            let types: Vec<_> = own.operands().map(|value| own.type_of(value)).collect();
            names.as_ref().is_none_or(|names| names.contains(&own.name()))
                && attrs.entries(ctx).iter().all(|(name, attr)| own.attr(ctx.str(*name)) == Some(*attr))
                && interface.is_none_or(|()| is_loop(own))
                && result.is_none_or(|ty| own.num_results() == 1 && own.result_type(0) == ty)
                && operands.as_ref().is_none_or(|expected| match &expected[..] {
                    [all] => types.iter().all(|ty| ty == all),
                    _ => types == *expected,
                })
        };
        Ok(vec![Handle::Ops(self.matching(op, target, &accepts)?)])
    }

    fn find(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let target = self.only(frame, op, 0)?;
        let name = op.attr("name").and_then(|attr| attr.as_str(ctx));
        let line = op.attr("line").and_then(|attr| attr.as_int(ctx));
        let is_named = |own: OpRef<'_>, name: &str| {
            own.attr(loomir::NAME).and_then(|attr| attr.as_str(ctx)) == Some(name)
        };
        let accepts = |own: OpRef<'_>| {
            let place = own.loc().file_line_col(ctx).map(|(_, line, _)| i64::from(line));
            is_loop(own)
                && name.is_none_or(|name| is_named(own, name))
                && line.is_none_or(|line| place == Some(line))
        };
        let mut found = self.matching(op, target, &accepts)?;
        found.sort_by_key(|own| {
            self.payload.loc(*own).file_line_col(ctx).map(|(_, line, column)| (line, column))
        });
        if found.is_empty() {
            let parts =
                [name.map(|name| format!("named \"{name}\"")), line.map(|line| format!("in line {line}"))];
            let which: Vec<String> = parts.into_iter().flatten().collect();
            let error = Diagnostic::error(op.loc(), format!("there is no loop {}", which.join(" ")));
            let help =
                format!("name a loop by the attribute '{}': {{{} = \"…\"}}", loomir::NAME, loomir::NAME);
            return Err(Failure::silenceable(error.help(help)));
        }
        Ok(vec![Handle::Ops(found)])
    }

    fn parent(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let flag = |name: &str| op.attr(name).is_some();
        let name = op.attr("op_name").and_then(|attr| attr.as_str(ctx));
        let number = op.attr("nth_parent").and_then(|attr| attr.as_int(ctx)).unwrap_or(1);
        let mut parents: Vec<Entity> = Vec::new();
        for target in self.ops(frame, op, 0)? {
            let (mut path, mut own) = self.payload.op(target, op.loc())?;
            let mut left = number;
            while left > 0 {
                let Some((outer_path, outer)) = self.around(&path, own) else { break };
                (path, own) = (outer_path, outer);
                let Some(body) = self.payload.body(&path) else { break };
                let found = view(body, own);
                let is_isolated = found.info().has_trait(Trait::IsolatedFromAbove);
                if name.is_none_or(|name| found.name() == name)
                    && (!flag("isolated_from_above") || is_isolated)
                {
                    left -= 1;
                }
            }
            if left > 0 {
                if flag("allow_empty_results") {
                    return Ok(vec![Handle::Ops(Vec::new())]);
                }
                let error =
                    Diagnostic::error(op.loc(), "could not find a parent op that matches all requirements");
                return Err(Failure::silenceable(error.note(self.payload.loc(target), "target op")));
            }
            let entity = self.payload.entity(&path, own);
            if !flag("deduplicate") || !parents.iter().any(|known| self.payload.is_same(*known, entity)) {
                parents.push(entity);
            }
        }
        Ok(vec![Handle::Ops(parents)])
    }

    /// Returns the operation around an operation.
    fn around(&self, path: &BodyPath, own: Op) -> Option<(BodyPath, Op)> {
        let body = self.payload.body(path)?;
        match body.parent_op(own) {
            Some(parent) if parent == body.root() => match path.split_last() {
                Some((last, around)) => Some((BodyPath::from(around), *last)),
                None => Some((path.clone(), parent)),
            },
            Some(parent) => Some((path.clone(), parent)),
            None => None,
        }
    }

    fn consumers(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let target = self.only(frame, op, 0)?;
        let number = index(op, "result_number");
        let (path, own) = self.payload.op(target, op.loc())?;
        let users = self.payload.body(&path).and_then(|body| {
            let result = body.results(own).nth(number?)?;
            Some(body.uses(result).map(|user| user.op).collect::<Vec<_>>())
        });
        let mut users =
            users.ok_or_else(|| failed(op, "asks for a result that the operation does not have"))?;
        users.dedup();
        Ok(vec![Handle::Ops(users.into_iter().map(|user| self.payload.entity(&path, user)).collect())])
    }

    fn producer(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let number = index(op, "operand_number");
        let mut producers = Vec::new();
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            let producer = self.payload.body(&path).and_then(|body| {
                body.operands(own).nth(number?).and_then(|operand| body.defining_op(operand))
            });
            let Some(producer) = producer else {
                let error = Diagnostic::error(op.loc(), "could not find a producer for the operand");
                return Err(Failure::silenceable(error.note(self.payload.loc(target), "target op")));
            };
            producers.push(self.payload.entity(&path, producer));
        }
        Ok(vec![Handle::Ops(producers)])
    }

    /// Returns handles to some operands, or to some results.
    fn values_at(&mut self, frame: &Frame<'_>, op: OpRef<'_>, of: &str) -> Outcome {
        let listed = op.attr("raw_position_list").and_then(|attr| attr.as_dense_ints(op.ctx()));
        let listed = listed.unwrap_or_default();
        let mut found = Vec::new();
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            let values: Vec<Value> = self.payload.body(&path).map_or(Vec::new(), |body| match of {
                "operands" => body.operands(own).collect(),
                _ => body.results(own).collect(),
            });
            let numbers = picked(op, &listed, values.len()).map_err(|position| {
                let text = format!("there is no other position {position} among {} {of}", values.len());
                Failure::silenceable(
                    Diagnostic::error(op.loc(), text).note(self.payload.loc(target), "this operation"),
                )
            })?;
            let picked = numbers.into_iter().map(|number| values[number]);
            found.extend(picked.filter_map(|value| self.payload.value_of(&path, value)));
        }
        Ok(vec![Handle::Values(found)])
    }

    fn types(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let (ctx, elemental) = (op.ctx(), op.attr("elemental").is_some());
        let mut found = Vec::new();
        for value in self.values(frame, op, 0)? {
            let (path, value) = self.payload.value(&value, op.loc())?;
            let Some(ty) = self.payload.body(&path).map(|body| body.value_type(value)) else { continue };
            let element = if elemental { ty.element(ctx).unwrap_or(ty) } else { ty };
            found.push(ctx.type_attr(element));
        }
        Ok(vec![Handle::Params(found)])
    }

    fn defining(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let mut found = Vec::new();
        for value in self.values(frame, op, 0)? {
            if value.block.is_some() {
                let error = Diagnostic::error(op.loc(), "cannot get defining ops of block argument");
                return Err(Failure::silenceable(error.note(self.payload.loc(value.of), "its operation")));
            }
            self.payload.value(&value, op.loc())?;
            found.push(value.of);
        }
        Ok(vec![Handle::Ops(found)])
    }

    fn select(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let name = op.attr("op_name").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        let mut all = self.ops(frame, op, 0)?;
        all.retain(|own| self.payload.name(*own) == Some(name));
        Ok(vec![Handle::Ops(all)])
    }

    fn match_name(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let target = self.only(frame, op, 0)?;
        let names = op.attr("op_names").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
        let name = self.payload.name(target);
        match names.iter().any(|own| own.as_str(ctx) == name) {
            true => Ok(Vec::new()),
            false => Err(failed(op, "does not match: wrong operation name")),
        }
    }
}

/// Returns a view of an operation. One that owns a body is seen from inside.
pub(super) fn view(body: &Body, op: Op) -> OpRef<'_> {
    body.nested(op).map_or_else(|| body.op_ref(op), Body::root_ref)
}

/// True if an operation repeats its regions.
pub(super) fn is_loop(op: OpRef<'_>) -> bool {
    op.info().interface::<dyn LoopLike>().is_some()
        || op.info().interface::<dyn ParallelLike>().is_some()
        || op.is(scf::WhileOp::DEF)
}

/// Returns the numbers that a list of positions picks of `count`, or a position that is not there
/// or was picked before. Positions below zero count from the end.
fn picked(op: OpRef<'_>, listed: &[i64], count: usize) -> Result<Vec<usize>, i64> {
    if op.attr("is_all").is_some() {
        return Ok((0..count).collect());
    }
    let number = |position: &i64| {
        let own = if *position < 0 { position.checked_add_unsigned(count as u64) } else { Some(*position) };
        own.and_then(|own| usize::try_from(own).ok()).filter(|own| *own < count).ok_or(*position)
    };
    let mut numbers = Vec::new();
    for position in listed {
        let number = number(position)?;
        if numbers.contains(&number) {
            return Err(*position);
        }
        numbers.push(number);
    }
    Ok(match op.attr("is_inverted") {
        Some(_) => (0..count).filter(|own| !numbers.contains(own)).collect(),
        None => numbers,
    })
}

fn index(op: OpRef<'_>, name: &str) -> Option<usize> {
    usize::try_from(op.attr(name)?.as_int(op.ctx())?).ok()
}
