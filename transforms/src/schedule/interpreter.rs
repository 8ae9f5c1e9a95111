//! The state of a running schedule: handles of values, and what operations need of them.

use hashbrown::HashMap;
use loomir_dialects::transform::types;
use loomir_ir::pass::PassRegistry;
use loomir_ir::{Attr, Body, Context, Diagnostic, Loc, OpDef, OpRef, Type, Value};

use super::Report;
use super::failure::Failure;
use super::payload::{CONSUMED, Entity, Payload, ValueOf};

/// The maximal number of operations of a schedule that run.
const MOST_STEPS: u64 = 1_000_000;

/// The meaning of a value of a schedule.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// Operations of the program.
    Ops(Vec<Entity>),
    /// Values of the program.
    Values(Vec<ValueOf>),
    /// Attributes.
    Params(Vec<Attr>),
}

impl Handle {
    /// Returns a handle of a type that refers to nothing.
    pub(super) fn empty(ctx: &Context, ty: Type) -> Handle {
        match ty {
            ty if types::is_param(ctx, ty) => Handle::Params(Vec::new()),
            ty if types::is_value(ctx, ty) => Handle::Values(Vec::new()),
            _ => Handle::Ops(Vec::new()),
        }
    }

    /// Returns the number of operations, values or attributes.
    pub(super) fn len(&self) -> usize {
        match self {
            Handle::Ops(all) => all.len(),
            Handle::Values(all) => all.len(),
            Handle::Params(all) => all.len(),
        }
    }

    /// Returns a handle for each operation, value or attribute.
    pub(super) fn singles(&self) -> Vec<Handle> {
        match self {
            Handle::Ops(all) => all.iter().map(|own| Handle::Ops(vec![*own])).collect(),
            Handle::Values(all) => all.iter().map(|own| Handle::Values(vec![own.clone()])).collect(),
            Handle::Params(all) => all.iter().map(|own| Handle::Params(vec![*own])).collect(),
        }
    }

    /// Adds what another handle of the same kind refers to.
    pub(super) fn append(&mut self, other: Handle) {
        match (self, other) {
            (Handle::Ops(all), Handle::Ops(own)) => all.extend(own),
            (Handle::Values(all), Handle::Values(own)) => all.extend(own),
            (Handle::Params(all), Handle::Params(own)) => all.extend(own),
            // Types keep kinds apart.
            _ => {}
        }
    }

    /// Returns the operations that the handle depends on.
    pub(super) fn entities(&self) -> Vec<Entity> {
        match self {
            Handle::Ops(all) => all.clone(),
            Handle::Values(all) => all.iter().map(|own| own.of).collect(),
            Handle::Params(_) => Vec::new(),
        }
    }
}

/// The values of one named sequence.
pub(super) struct Frame<'a> {
    /// The sequence.
    pub(super) body: &'a Body,
    pub(super) values: HashMap<Value, Handle>,
    /// Empty handles that were consumed, with the operations that did.
    pub(super) consumed: HashMap<Value, Loc>,
    /// The number of sequences that include this one.
    pub(super) depth: u32,
}

impl<'a> Frame<'a> {
    /// Returns a frame without values.
    pub(super) fn new(body: &'a Body, depth: u32) -> Frame<'a> {
        Frame { body, values: HashMap::new(), consumed: HashMap::new(), depth }
    }
}

impl Frame<'_> {
    /// Gives a value its handle, which is not consumed.
    pub(super) fn set(&mut self, value: Value, handle: Handle) {
        self.values.insert(value, handle);
        self.consumed.remove(&value);
    }
}

/// An interpreter of schedules.
pub(super) struct Interpreter<'a> {
    /// The module with the named sequences.
    pub(super) schedule: &'a Body,
    /// The operations of the payload around the schedule, by number, from the outside. Empty if the
    /// schedule is no part of the payload.
    pub(super) around: Vec<usize>,
    /// The functions that run operations, by the names of the operations.
    pub(super) operations: HashMap<&'static str, Run<'a>>,
    pub(super) payload: Payload<'a>,
    pub(super) passes: &'a PassRegistry,
    pub(super) report: Report,
}

/// The outcome of one operation.
pub(super) type Outcome = Result<Vec<Handle>, Failure>;

/// A function that runs an operation.
pub(super) type Run<'a> = fn(&mut Interpreter<'a>, &mut Frame<'a>, OpRef<'a>) -> Outcome;

/// Operations, each with the function that runs it.
pub(super) type Table<'a> = Vec<(&'static OpDef, Run<'a>)>;

/// Returns a silenceable failure of an operation.
pub(super) fn failed(op: OpRef<'_>, text: &str) -> Failure {
    Failure::silenceable(Diagnostic::error(op.loc(), format!("'{}' {text}", op.name())))
}

/// Returns a failure of an operation that ends the schedule.
pub(super) fn wrong(op: OpRef<'_>, text: &str) -> Failure {
    Failure::definite(Diagnostic::error(op.loc(), format!("'{}' {text}", op.name())))
}

impl<'a> Interpreter<'a> {
    /// Counts an operation of the schedule.
    pub(super) fn count(&mut self, op: OpRef<'_>) -> Result<(), Failure> {
        self.report.steps += 1;
        match self.report.steps > MOST_STEPS {
            true => Err(wrong(op, &format!("is not run: the schedule has run {MOST_STEPS} operations"))),
            false => Ok(()),
        }
    }

    /// Returns the handle of an operand. Its operations must be valid.
    pub(super) fn handle(&self, frame: &Frame<'_>, op: OpRef<'_>, index: usize) -> Result<Handle, Failure> {
        let found = frame.values.get(&op.operand(index)).cloned();
        let handle = found.ok_or_else(|| wrong(op, "has an operand without a value"))?;
        if let Some(by) = frame.consumed.get(&op.operand(index)) {
            return Err(Failure::used_after(op.loc(), *by, CONSUMED));
        }
        if let Some((by, why)) = handle.entities().into_iter().find_map(|own| self.payload.invalid(own)) {
            return Err(Failure::used_after(op.loc(), by, why));
        }
        Ok(match handle {
            Handle::Ops(all) => {
                Handle::Ops(all.into_iter().filter(|own| !self.payload.is_erased(*own)).collect())
            }
            Handle::Values(all) => {
                Handle::Values(all.into_iter().filter(|own| !self.payload.is_erased(own.of)).collect())
            }
            params => params,
        })
    }

    /// Returns the operations of an operand.
    pub(super) fn ops(&self, frame: &Frame<'_>, op: OpRef<'_>, index: usize) -> Result<Vec<Entity>, Failure> {
        match self.handle(frame, op, index)? {
            Handle::Ops(all) => Ok(all),
            Handle::Values(_) => Err(wrong(op, "needs a handle to operations, not to values")),
            Handle::Params(_) => Err(wrong(op, "needs a handle, not a parameter")),
        }
    }

    /// Returns the values of an operand.
    pub(super) fn values(
        &self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        index: usize,
    ) -> Result<Vec<ValueOf>, Failure> {
        match self.handle(frame, op, index)? {
            Handle::Values(all) => Ok(all),
            _ => Err(wrong(op, "needs a handle to values")),
        }
    }

    /// Returns the only operation of an operand.
    pub(super) fn only(&self, frame: &Frame<'_>, op: OpRef<'_>, index: usize) -> Result<Entity, Failure> {
        match self.ops(frame, op, index)?[..] {
            [one] => Ok(one),
            ref all => {
                Err(failed(op, &format!("needs one operation as operand #{index}, not {}", all.len())))
            }
        }
    }

    /// Returns the attributes of an operand.
    pub(super) fn params(
        &self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        index: usize,
    ) -> Result<Vec<Attr>, Failure> {
        match self.handle(frame, op, index)? {
            Handle::Params(all) => Ok(all),
            _ => Err(wrong(op, "needs a parameter, not a handle")),
        }
    }

    /// Returns the number of an operand, a parameter.
    pub(super) fn param_number(
        &self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        index: usize,
    ) -> Result<i64, Failure> {
        let number = match self.params(frame, op, index)?[..] {
            [one] => one.as_int(op.ctx()),
            _ => None,
        };
        number.ok_or_else(|| failed(op, &format!("needs one number as operand #{index}")))
    }

    /// Returns a number that is an attribute, or else an operand.
    pub(super) fn number(
        &self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        name: &str,
        index: usize,
    ) -> Result<i64, Failure> {
        match op.attr(name).and_then(|attr| attr.as_int(op.ctx())) {
            Some(number) => Ok(number),
            None => self.param_number(frame, op, index),
        }
    }

    /// Gives the results of an operation their handles. The names of operations must be those that
    /// the types ask for.
    pub(super) fn set_results(
        &mut self,
        frame: &mut Frame<'_>,
        op: OpRef<'_>,
        handles: Vec<Handle>,
    ) -> Result<(), Failure> {
        if handles.len() != op.num_results() {
            return Err(failed(op, &format!("makes {} handles, not {}", handles.len(), op.num_results())));
        }
        for (result, handle) in op.results().zip(handles) {
            self.check_type(op, op.type_of(result), &handle)?;
            frame.set(result, handle);
        }
        Ok(())
    }

    /// Checks a handle against its type.
    pub(super) fn check_type(&self, op: OpRef<'_>, ty: Type, handle: &Handle) -> Result<(), Failure> {
        let ctx = op.ctx();
        match handle {
            Handle::Ops(all) => {
                let Some(expected) = types::payload_name(ctx, ty) else { return Ok(()) };
                for own in all {
                    if let Some(name) = self.payload.name(*own).filter(|name| *name != expected) {
                        let text =
                            format!("incompatible payload operation name: expected {expected} vs {name}");
                        let error = Diagnostic::error(op.loc(), text);
                        return Err(Failure::silenceable(
                            error.note(self.payload.loc(*own), "payload operation"),
                        ));
                    }
                }
                Ok(())
            }
            Handle::Values(_) => Ok(()),
            Handle::Params(all) => {
                let Some(expected) = types::param_type(ctx, ty) else { return Ok(()) };
                match all.iter().all(|attr| attr.ty(ctx) == Some(expected)) {
                    true => Ok(()),
                    false => Err(failed(
                        op,
                        "expected the type of the parameter attribute to match the parameter type",
                    )),
                }
            }
        }
    }
}
