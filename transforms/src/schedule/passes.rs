//! Operations of schedules that run passes, and those that look at or annotate the program.

use loomir_dialects::transform;
use loomir_ir::pass::{Options, PassInstrumentor, PassManager};
use loomir_ir::rewrite::{Limits, apply_patterns_greedily};
use loomir_ir::text::{PrintOptions, attr_to_string, print_op};
use loomir_ir::{Attr, AttrKind, Body, Diagnostic, Dict, Op, OpDef, OpRef, verifier};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, failed, wrong};
use super::navigate::view;
use super::payload::{BodyPath, Entity};
use crate::simplify::canonicalize::canonicalize;
use crate::simplify::cse::cse;
use crate::simplify::dce::erase_dead;
use crate::simplify::licm::hoist_from_loop;

impl Interpreter<'_> {
    /// Runs an operation that changes the program other than by its loops, or looks at it. `None`
    /// if it is another one.
    pub(super) fn pass_step(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Option<Outcome> {
        let is = |def: &'static OpDef| op.is(def);
        Some(if is(transform::ApplyCseOp::DEF) {
            self.on_bodies(frame, op, &|body| _ = cse(body))
        } else if is(transform::ApplyDceOp::DEF) {
            self.on_bodies(frame, op, &|body| _ = erase_dead(body))
        } else if is(transform::ApplyPatternsOp::DEF) {
            self.apply_patterns(frame, op)
        } else if is(transform::ApplyLicmOp::DEF) {
            self.apply_licm(frame, op)
        } else if is(transform::ApplyRegisteredPassOp::DEF) {
            self.apply_pass(frame, op)
        } else if is(transform::AnnotateOp::DEF) {
            self.annotate(frame, op)
        } else if is(transform::PrintOp::DEF) {
            self.print(frame, op)
        } else if is(transform::VerifyOp::DEF) {
            self.verify(frame, op)
        } else if is(transform::RemarkAtOp::DEF) {
            self.remark_at(frame, op)
        } else if is(transform::ParamRemarkOp::DEF) {
            self.remark_of(frame, op)
        } else {
            return None;
        })
    }

    /// Returns the path of a body that an operation owns, with all trees in it written.
    fn owned(&mut self, op: OpRef<'_>, target: Entity) -> Result<BodyPath, Failure> {
        let (path, own) = self.payload.op(target, op.loc())?;
        let inner: BodyPath = path.iter().copied().chain([own]).collect();
        let body = match self.payload.body(&inner) {
            Some(_) => inner,
            None if self.payload.body(&path).is_some_and(|body| body.root() == own) => path,
            None => {
                let text = format!("'{}' runs on functions and modules", op.name());
                let name = self.payload.name(target).unwrap_or("an operation").to_owned();
                let error = Diagnostic::error(op.loc(), text);
                let error =
                    error.help("ask for the function: transform.get_parent_op … {op_name = \"func.func\"}");
                return Err(Failure::silenceable(
                    error.note(self.payload.loc(target), format!("this is '{name}'")),
                ));
            }
        };
        self.payload.settle(&body, op.loc())?;
        Ok(body)
    }

    /// Changes the bodies of the operations of the first operand, with those nested in them.
    fn on_bodies(&mut self, frame: &Frame<'_>, op: OpRef<'_>, change: &dyn Fn(&mut Body)) -> Outcome {
        for target in self.ops(frame, op, 0)? {
            let path = self.owned(op, target)?;
            let marked = self.payload.mark(&path);
            if let Some(body) = self.payload.body_mut(&path) {
                body.for_each_body(&mut |body| change(body));
            }
            self.payload.unmark(&path, marked, op.loc());
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
        self.on_bodies(frame, op, &|body| {
            match patterns.is_empty() {
                true => _ = apply_patterns_greedily(body, &[], Limits::default()),
                false => _ = canonicalize(body),
            }
            if eliminates {
                cse(body);
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
        let options = self.pass_options(frame, op)?;
        let names: Vec<&str> = match op.attr("options").map(|attr| attr.kind(ctx)) {
            Some(AttrKind::Dictionary(given)) => {
                given.entries(ctx).iter().map(|(name, _)| ctx.str(*name)).collect()
            }
            _ => Vec::new(),
        };
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
            let is_known = |name: &&str| info.options.iter().any(|(own, ..)| own == name);
            if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
                return Err(wrong(op, &format!("cannot run '{name}': it has no option '{unknown}'")));
            }
            let pass =
                (info.make)(&options).map_err(|why| wrong(op, &format!("cannot run '{name}': {why}")))?;
            let mut manager = PassManager::new(&anchor);
            manager.add(pass);
            let marked = self.payload.mark(&path);
            let report = self.payload.body_mut(&path).map(|body| manager.run(body, &PassInstrumentor::new()));
            self.payload.unmark(&path, marked, op.loc());
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
            self.payload.consume(target, op.loc(), &[]);
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

    /// Returns the options of a pass, with the values of parameters.
    fn pass_options(&self, frame: &Frame<'_>, op: OpRef<'_>) -> Result<Options, Failure> {
        let ctx = op.ctx();
        let given = match op.attr("options").map(|attr| attr.kind(ctx)) {
            Some(AttrKind::Dictionary(given)) => *given,
            _ => Dict::EMPTY,
        };
        let mut options = Options::default();
        for (name, value) in given.entries(ctx) {
            let values = match value.as_array(ctx) {
                Some(list) => list.to_vec(),
                None => vec![*value],
            };
            let mut texts = Vec::new();
            for value in values {
                match transform::param_number(ctx, value) {
                    Some(number) if number + 1 < op.num_operands() => {
                        texts.extend(self.params(frame, op, number + 1)?.iter().map(|own| text(op, *own)));
                    }
                    Some(_) => return Err(wrong(op, "refers to a parameter that it does not have")),
                    None => texts.push(text(op, value)),
                }
            }
            options.push(ctx.str(*name), &texts.join(","));
        }
        Ok(options)
    }

    fn annotate(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let name = op.attr("name").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        let value = match op.num_operands() {
            1 => Attr::UNIT,
            _ => match self.params(frame, op, 1)?[..] {
                [one] => one,
                ref all => return Err(failed(op, &format!("parameter produces {} params", all.len()))),
            },
        };
        for target in self.ops(frame, op, 0)? {
            let (path, own) = self.payload.op(target, op.loc())?;
            self.payload.settle(&path, op.loc())?;
            if let Some(body) = self.payload.body_mut(&path) {
                body.set_attr(own, name, value);
            }
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
        for target in self.ops(frame, op, 0)? {
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
