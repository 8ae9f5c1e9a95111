//! Operations of schedules that find operations of the program.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::{loomir, scf, transform};
use loomir_ir::{AttrKind, Body, Diagnostic, Dict, Op, OpDef, OpRef, Trait};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, failed, wrong};
use super::payload::{BodyPath, Entity};

impl Interpreter<'_> {
    /// Runs an operation that finds operations. `None` if it is another one.
    pub(super) fn navigation(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Option<Outcome> {
        let is = |def: &'static OpDef| op.is(def);
        Some(if is(transform::MatchOp::DEF) {
            self.structured_match(frame, op)
        } else if is(loomir::FindOp::DEF) {
            self.find(frame, op)
        } else if is(transform::GetParentOp::DEF) {
            self.parent(frame, op)
        } else if is(transform::GetConsumersOp::DEF) {
            self.consumers(frame, op)
        } else if is(transform::GetProducerOp::DEF) {
            self.producer(frame, op)
        } else if is(transform::SelectOp::DEF) {
            self.select(frame, op)
        } else if is(transform::MatchEmptyOp::DEF) {
            self.ops(frame, op, 0).and_then(|all| match all.is_empty() {
                true => Ok(Vec::new()),
                false => Err(failed(op, "does not match: the handle has an operation")),
            })
        } else if is(transform::MatchNameOp::DEF) {
            self.match_name(frame, op)
        } else {
            return None;
        })
    }

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
fn is_loop(op: OpRef<'_>) -> bool {
    op.info().interface::<dyn LoopLike>().is_some()
        || op.info().interface::<dyn ParallelLike>().is_some()
        || op.is(scf::WhileOp::DEF)
}

fn index(op: OpRef<'_>, name: &str) -> Option<usize> {
    usize::try_from(op.attr(name)?.as_int(op.ctx())?).ok()
}
