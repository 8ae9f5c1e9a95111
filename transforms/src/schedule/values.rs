//! Operations of schedules on handles and parameters alone.

use loomir_dialects::transform;
use loomir_ir::{Attr, Diagnostic, OpRef, Type};

use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};

/// Returns the operations on handles and parameters, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::ParamConstantOp::DEF, |_, _, op| {
            Ok(vec![Handle::Params(op.attr("value").into_iter().collect())])
        }),
        (transform::KnobOp::DEF, |_, _, op| match op.attr("selected") {
            Some(selected) => Ok(vec![Handle::Params(vec![selected])]),
            None => {
                const WHY: &str =
                    "non-deterministic choice is only resolved through providing a `selected` attr";
                Err(wrong(op, WHY))
            }
        }),
        (transform::CastOp::DEF, |run, frame, op| Ok(vec![run.handle(frame, op, 0)?])),
        (transform::MergeHandlesOp::DEF, |run, frame, op| run.merge(frame, op)),
        (transform::SplitHandleOp::DEF, |run, frame, op| run.split_handle(frame, op)),
        (transform::ReplicateOp::DEF, |run, frame, op| run.replicate(frame, op)),
        (transform::NumAssociationsOp::DEF, |run, frame, op| {
            let ty = transform::types::param_type(op.ctx(), op.result_type(0)).unwrap_or(Type::I64);
            let number = run.handle(frame, op, 0)?.len();
            Ok(vec![Handle::Params(vec![op.ctx().int_attr(ty, number as i64)])])
        }),
        (transform::MatchCmpIOp::DEF, |run, frame, op| run.compare(frame, op)),
    ]
}

impl Interpreter<'_> {
    fn merge(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let mut merged = Handle::empty(op.ctx(), op.result_type(0));
        for index in 0..op.num_operands() {
            merged.append(self.handle(frame, op, index)?);
        }
        if op.attr("deduplicate").is_some() {
            match &mut merged {
                Handle::Ops(all) => retain_first(all, |a, b| self.payload.is_same(*a, *b)),
                Handle::Values(all) => retain_first(all, |a, b| a == b),
                Handle::Params(all) => retain_first(all, |a, b| a == b),
            }
        }
        Ok(vec![merged])
    }

    fn split_handle(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let ctx = op.ctx();
        let flag = |name: &str| op.attr(name) != Some(Attr::FALSE);
        let overflow = op.attr("overflow_result").and_then(|attr| attr.as_int(ctx));
        let overflow = overflow.and_then(|at| usize::try_from(at).ok());
        let results = op.num_results();
        let handle = self.handle(frame, op, 0)?;
        let length = handle.len();
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
        let mut parts: Vec<Handle> = op.results().map(|own| Handle::empty(ctx, op.type_of(own))).collect();
        for (index, own) in handle.singles().into_iter().enumerate() {
            parts[result(index)].append(own);
        }
        Ok(parts)
    }

    fn replicate(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let times = self.ops(frame, op, 0)?.len();
        let repeated = |index: usize| -> Result<Handle, Failure> {
            let own = self.handle(frame, op, index)?;
            let mut all = Handle::empty(op.ctx(), op.operand_type(index));
            (0..times).for_each(|_| all.append(own.clone()));
            Ok(all)
        };
        (1..op.num_operands()).map(repeated).collect()
    }

    fn compare(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
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
}

/// Drops items that are the same as an earlier one.
fn retain_first<T: Clone>(all: &mut Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
    let mut known: Vec<T> = Vec::new();
    all.retain(|own| {
        let is_new = !known.iter().any(|other| is_same(other, own));
        if is_new {
            known.push(own.clone());
        }
        is_new
    });
}
