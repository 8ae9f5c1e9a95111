//! Operations of schedules that run passes, and those that look at or annotate the program.

use loomir_dialects::transform;
use loomir_ir::pass::{Options, PassInstrumentor, PassManager};
use loomir_ir::rewrite::Greedy;
use loomir_ir::text::{PrintOptions, attr_to_string, print_op};
use loomir_ir::{Attr, AttrKind, Body, Diagnostic, Dict, Op, OpRef, verifier};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};
use super::navigate::view;
use super::payload::{BodyPath, Entity};
use crate::marks::APART;
use crate::simplify::canonicalize::{canonicalize, canonicalize_within};
use crate::simplify::cse::cse_within;
use crate::simplify::dce::erase_dead_within;
use crate::simplify::licm::hoist_from_loop;

/// The attribute of an operation that lets handles be lost.
const SILENT: &str = "transform.silence_tracking_failures";

/// Returns the operations that change the program other than by its loops, or look at it, and what
/// runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::ApplyCseOp::DEF, |run, frame, op| {
            run.on_bodies(frame, op, &mut |body, own| _ = cse_within(body, own))
        }),
        (transform::ApplyDceOp::DEF, |run, frame, op| {
            run.on_bodies(frame, op, &mut |body, own| _ = erase_dead_within(body, own))
        }),
        (transform::ApplyPatternsOp::DEF, |run, frame, op| run.apply_patterns(frame, op)),
        (transform::ApplyLicmOp::DEF, |run, frame, op| run.apply_licm(frame, op)),
        (transform::ApplyRegisteredPassOp::DEF, |run, frame, op| run.apply_pass(frame, op)),
        (transform::AnnotateOp::DEF, |run, frame, op| run.annotate(frame, op)),
        (transform::PrintOp::DEF, |run, frame, op| run.print(frame, op)),
        (transform::VerifyOp::DEF, |run, frame, op| run.verify(frame, op)),
        (transform::RemarkAtOp::DEF, |run, frame, op| run.remark_at(frame, op)),
        (transform::ParamRemarkOp::DEF, |run, frame, op| run.remark_of(frame, op)),
    ]
}

impl Interpreter<'_> {
    /// Returns the path of a body that a target owns, or of the body around the target and its
    /// place there. All trees in it are written.
    pub(super) fn inside_of(
        &mut self,
        op: OpRef<'_>,
        target: Entity,
    ) -> Result<(BodyPath, Option<Op>), Failure> {
        let (path, own) = self.payload.op(target, op.loc())?;
        if self.is_around_schedule(&path, own) {
            let error =
                Diagnostic::error(op.loc(), "cannot apply transform to itself (or one of its ancestors)");
            let error = error.help("match the functions: transform.structured.match ops{[\"func.func\"]}");
            return Err(Failure::definite(error.note(self.payload.loc(target), "target payload op")));
        }
        let inner: BodyPath = path.iter().copied().chain([own]).collect();
        let found = match self.payload.body(&inner) {
            Some(_) => (inner, None),
            None if self.payload.body(&path).is_some_and(|body| body.root() == own) => (path, None),
            None => (path, Some(own)),
        };
        self.payload.settle(&found.0, op.loc())?;
        Ok(found)
    }

    /// Returns the path of a body that a target owns, with all trees in it written.
    fn owned(&mut self, op: OpRef<'_>, target: Entity) -> Result<BodyPath, Failure> {
        let (path, inside) = self.inside_of(op, target)?;
        if inside.is_none() {
            return Ok(path);
        }
        let text = format!("'{}' runs on functions and modules", op.name());
        let name = self.payload.name(target).unwrap_or("an operation").to_owned();
        let error = Diagnostic::error(op.loc(), text);
        let error = error.help("ask for the function: transform.get_parent_op … {op_name = \"func.func\"}");
        Err(Failure::silenceable(error.note(self.payload.loc(target), format!("this is '{name}'"))))
    }

    /// True if an operation of the payload contains the schedule.
    fn is_around_schedule(&self, path: &[Op], own: Op) -> bool {
        let is_root = path.is_empty() && self.payload.body(path).is_some_and(|body| body.root() == own);
        let inside: Vec<usize> = path.iter().chain([&own]).map(|op| op.index()).collect();
        !self.around.is_empty() && (is_root || self.around[1..].starts_with(&inside))
    }

    /// Changes what is inside the operations of the first operand, with the bodies nested in them.
    pub(super) fn on_bodies(
        &mut self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        change: &mut dyn FnMut(&mut Body, Op),
    ) -> Outcome {
        for target in self.ops(frame, op, 0)? {
            let (path, inside) = self.inside_of(op, target)?;
            let following = self.payload.follow(&path);
            if let Some(body) = self.payload.body_mut(&path) {
                match inside {
                    Some(own) => change(body, own),
                    None => body.for_each_body(&mut |body| change(body, body.root())),
                }
            }
            self.payload.find_followed(following, op.loc(), op.attr(SILENT).is_some());
            self.payload.forget_modules();
        }
        Ok(Vec::new())
    }

    fn apply_patterns(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let body = op.body();
        let block = body.entry_block(op.region(0));
        let patterns: Vec<&str> =
            block.map_or(Vec::new(), |block| body.ops(block).map(|own| body.op_ref(own).name()).collect());
        let canonical = &*transform::CanonicalizationOp::DEF.name;
        if let Some(other) = patterns.iter().find(|own| **own != canonical) {
            return Err(wrong(op, &format!("has no patterns '{other}'; there is '{canonical}'")));
        }
        let eliminates = op.attr("apply_cse").is_some();
        self.on_bodies(frame, op, &mut |body, own| {
            match (patterns.is_empty(), own == body.root()) {
                (true, _) => {
                    let inside = body.preorder(own).filter(|inside| *inside != own).collect();
                    Greedy::new(&[]).keeps_constants().run_on(body, inside);
                }
                (false, true) => _ = canonicalize(body),
                (false, false) => _ = canonicalize_within(body, own),
            }
            if eliminates {
                cse_within(body, own);
            }
        })
    }

    fn apply_licm(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            self.payload.settle(&path, op.loc())?;
            let moved = self.payload.body_mut(&path).and_then(|body| hoist_from_loop(body, own));
            if moved.is_none() {
                let error = Diagnostic::error(op.loc(), format!("'{}' needs a loop", op.name()));
                return Err(Failure::silenceable(error.note(self.payload.loc(target), "this is none")));
            }
        }
        Ok(Vec::new())
    }

    fn apply_pass(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let name = op.attr("pass_name").and_then(|attr| attr.as_str(ctx)).unwrap_or_default();
        let given = self.pass_options(frame, op)?;
        let mut options = Options::default();
        given.iter().for_each(|(name, text)| options.push(name, text));
        let mut results = Vec::new();
        for target in self.ops(frame, op, 0)? {
            let path = self.owned(op, target)?;
            let anchor = self.payload.body(&path).map_or("", |body| body.root_ref().name()).to_owned();
            let Some(info) = self.passes.get(name, &anchor) else {
                let error = Diagnostic::error(op.loc(), format!("unknown pass or pass pipeline: {name}"));
                let others =
                    self.passes.infos().iter().find(|info| info.name == name).and_then(|info| info.anchor);
                let error = match others {
                    Some(anchor) => error.help(format!("the pass runs on '{anchor}'")),
                    None => error.help("'loomir --list-passes' lists all passes"),
                };
                return Err(Failure::definite(error));
            };
            let is_known = |name: &str| info.options.iter().any(|(own, ..)| *own == name);
            if let Some((unknown, _)) = given.iter().find(|(name, _)| !is_known(name)) {
                return Err(wrong(op, &format!("cannot run '{name}': it has no option '{unknown}'")));
            }
            let pass =
                (info.make)(&options).map_err(|why| wrong(op, &format!("cannot run '{name}': {why}")))?;
            let mut manager = PassManager::new(&anchor);
            manager.add(pass);
            // A pass may change everything inside.
            self.payload.consume(target, op.loc(), &[]);
            let report = self.payload.body_mut(&path).map(|body| manager.run(body, &PassInstrumentor::new()));
            self.payload.forget_modules();
            if let Some(report) = report {
                if !report.succeeded() {
                    let mut error = Diagnostic::error(op.loc(), format!("pass '{name}' failed"));
                    for own in report.diagnostics.iter() {
                        error = error.note(own.loc, own.message.clone());
                    }
                    return Err(Failure::definite(error));
                }
                self.report.remarks.append(report.diagnostics);
                self.report.dumps.extend(report.dumps);
            }
            let (around, own) = self.owner(&path);
            results.push(self.payload.entity(&around, own));
        }
        Ok(vec![Handle::Ops(results)])
    }

    /// Returns the operation that owns the body at a path.
    fn owner(&self, path: &BodyPath) -> (BodyPath, Op) {
        match (path.split_last(), self.payload.body(path)) {
            (Some((last, around)), _) => (BodyPath::from(around), *last),
            (None, Some(body)) => (path.clone(), body.root()),
            (None, None) => (path.clone(), self.schedule.root()),
        }
    }

    /// Returns the options of a pass by name, with the values of parameters.
    fn pass_options<'o>(&self, frame: &Frame<'_>, op: OpRef<'o>) -> Result<Vec<(&'o str, String)>, Failure> {
        let ctx = op.ctx();
        let given = match op.attr("options").map(|attr| attr.kind(ctx)) {
            Some(AttrKind::Dictionary(given)) => *given,
            _ => Dict::EMPTY,
        };
        let mut options = Vec::new();
        for (name, value) in given.entries(ctx) {
            let values = match value.as_array(ctx) {
                Some(list) => list.to_vec(),
                None => vec![*value],
            };
            let mut texts = Vec::new();
            for value in values {
                let Some(number) = transform::param_number(ctx, value) else {
                    texts.push(text(op, value));
                    continue;
                };
                match self.params(frame, op, number + 1)?[..] {
                    [one] => texts.push(text(op, one)),
                    ref all => {
                        const WHAT: &str = "options passed as a param must have a single value associated";
                        return Err(wrong(op, &format!("{WHAT}, param {number} associates {}", all.len())));
                    }
                }
            }
            options.push((ctx.str(*name), texts.join(",")));
        }
        Ok(options)
    }

    fn annotate(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let name = op.attr("name").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        let values = match op.num_operands() {
            1 => vec![Attr::UNIT],
            _ => self.params(frame, op, 1)?,
        };
        let targets = self.ops(frame, op, 0)?;
        if values.len() != 1 && values.len() != targets.len() {
            let text = format!("has {} parameters for {} operations", values.len(), targets.len());
            return Err(failed(op, &text));
        }
        for (target, value) in targets.into_iter().zip(values.into_iter().cycle()) {
            let (path, own) = self.payload.op(target, op.loc())?;
            self.payload.settle(&path, op.loc())?;
            let Some(body) = self.payload.body_mut(&path) else { continue };
            if name == APART || body.info(own).def().is_some_and(|def| def.is_inherent(name)) {
                let text = format!("'{}' is refused: '{name}' decides what the operation does", op.name());
                let error = Diagnostic::error(op.loc(), text).help("annotate with another name");
                return Err(Failure::silenceable(error.note(body.loc(own), "this operation")));
            }
            body.set_attr(own, name, value);
        }
        Ok(Vec::new())
    }

    fn print(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let name = op.attr("name").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        let targets = match op.num_operands() {
            0 => vec![self.payload.root()],
            _ => self.ops(frame, op, 0)?,
        };
        let options = PrintOptions {
            local_scope: true,
            skip_regions: op.attr("skip_regions").is_some(),
            ..PrintOptions::default()
        };
        let mut all = String::new();
        for target in targets {
            let (path, own) = self.payload.op(target, op.loc())?;
            if let Some(body) = self.payload.body(&path) {
                all += &print_op(view(body, own), &options);
            }
        }
        let words = ["IR printer:", name, if op.num_operands() == 0 { "top-level" } else { "" }];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        self.report.dumps.push((words.join(" "), all));
        Ok(Vec::new())
    }

    fn verify(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            let inner: BodyPath = path.iter().copied().chain([own]).collect();
            let body = self.payload.body(&inner).or_else(|| self.payload.body(&path));
            if let Some(error) = body.and_then(|body| verifier::verify(body).iter().next().cloned()) {
                let failure = Diagnostic::error(op.loc(), "failed to verify payload op");
                return Err(Failure::definite(failure.note(error.loc, error.message)));
            }
        }
        Ok(Vec::new())
    }

    fn remark_at(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let text = op.attr("message").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        for target in self.handle(frame, op, 0)?.entities() {
            self.report.remarks.push(Diagnostic::remark(self.payload.loc(target), text));
        }
        Ok(Vec::new())
    }

    fn remark_of(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let values: Vec<String> =
            self.params(frame, op, 0)?.iter().map(|own| attr_to_string(ctx, *own)).collect();
        let message = op.attr("message").and_then(|attr| attr.as_str(ctx)).map(|text| format!("{text} "));
        let text = message.unwrap_or_default() + &values.join(", ");
        let places = match op.num_operands() {
            1 => vec![op.loc()],
            _ => self.ops(frame, op, 1)?.into_iter().map(|target| self.payload.loc(target)).collect(),
        };
        for loc in places {
            self.report.remarks.push(Diagnostic::remark(loc, text.clone()));
        }
        Ok(Vec::new())
    }
}

/// Returns an option's text: a string without quotes, a number without its type.
fn text(op: OpRef<'_>, attr: Attr) -> String {
    let ctx = op.ctx();
    match (attr.as_str(ctx), attr.as_int(ctx)) {
        (Some(text), _) => text.to_owned(),
        (_, Some(number)) if attr != Attr::TRUE && attr != Attr::FALSE => number.to_string(),
        _ => attr_to_string(ctx, attr),
    }
}
