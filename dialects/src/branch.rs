//! Branches between blocks: the code that the branches of `cf` and `llvm` share.
//!
//! A branch passes ranges of its operands to its successors. A conditional branch keeps them in the
//! segments behind its condition, and a call that may unwind behind what it calls. A switch keeps
//! them in the segments behind its flag: first the operands of the default block, then those of all
//! cases, one case after the other. The attribute `case_operand_segments` holds the number of
//! operands of each case.

use std::ops::Range;

use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::text::{OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Block, Body, Context, Diagnostic, Diagnostics, Op, OpRef, OperationState, Type, Value};
use smallvec::SmallVec;

use crate::arith::constant::{self, Numbers};
use crate::elements::{elements, elements_attr};
use crate::interfaces::{BranchLike, Constants};

/// The attribute of a switch with the number of operands that each case passes on.
pub const CASE_SEGMENTS: &str = "case_operand_segments";

/// The attribute of a branch to an address with the number of operands for each successor.
pub const INDIRECT_SEGMENTS: &str = "indbr_operand_segments";

/// Returns, for each successor of an operation, the operands that become its arguments. Returns
/// `None` if the operation has successors and does not implement `BranchLike`. Linear.
pub fn successor_operands(body: &Body, op: Op) -> Option<Vec<Vec<Value>>> {
    let op = body.op_ref(op);
    if op.successors().len() == 0 {
        return Some(Vec::new());
    }
    let model = op.info().interface::<dyn BranchLike>()?;
    let operands: Vec<Value> = op.operands().collect();
    Some(ranges(op, model).into_iter().map(|range| operands[range].to_vec()).collect())
}

/// Returns the operands that a branch passes to its successors, which stand side by side. `None` if
/// the operation has successors and does not implement `BranchLike`. Linear.
pub fn passed_operands(body: &Body, op: Op) -> Option<Range<usize>> {
    let view = body.op_ref(op);
    let end = view.num_operands();
    if view.successors().len() == 0 {
        return Some(end..end);
    }
    let ranges = ranges(view, view.info().interface::<dyn BranchLike>()?);
    let (first, last) = (ranges.first()?, ranges.last()?);
    Some(first.start..last.end.max(first.start))
}

/// Gives each successor of a branch other operands. Linear.
pub fn set_successor_operands(body: &mut Body, op: Op, operands: &[Vec<Value>]) {
    let Some(passed) = passed_operands(body, op) else { return };
    let before: Vec<Value> = body.operands(op).collect();
    let (own, behind) = (&before[..passed.start], &before[passed.end..]);
    let all: Vec<Value> = own.iter().chain(operands.iter().flatten()).chain(behind).copied().collect();
    body.set_operands(op, &all);
    let ctx = body.ctx().clone();
    let sizes: Vec<i64> = operands.iter().map(|own| own.len() as i64).collect();
    if body.attr(op, INDIRECT_SEGMENTS).is_some() {
        body.set_attr(op, INDIRECT_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        return;
    }
    let Some(segments) = body.segments(op, false).map(Vec::from_iter) else { return };
    let mut segments = segments;
    if body.attr(op, CASE_SEGMENTS).is_some() {
        let (default, cases) = sizes.split_first().map_or((0, &[][..]), |(default, cases)| (*default, cases));
        segments = vec![own.len() as i64, default, cases.iter().sum()];
        body.set_attr(op, CASE_SEGMENTS, ctx.dense_ints_attr(Type::I32, cases));
    } else {
        // The first segment is the branch's own, and others may follow those of the successors.
        for (segment, size) in segments.iter_mut().skip(1).zip(sizes) {
            *segment = size;
        }
    }
    body.set_attr(op, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
}

/// The model of a branch that passes all operands to its only successor.
pub(crate) struct Branch;

/// A condition, then a segment for each successor.
pub(crate) struct CondBranch;

/// The callee and its arguments, then a segment for each successor, then operands of bundles.
pub(crate) struct Invoke;

/// Operands of its own, then those of the successors.
pub(crate) struct Indirect;

/// A flag, then the operands of the default block and of the cases.
pub(crate) struct Switch;

/// Returns the unconditional branch of the dialect of `op`.
fn jump(op: OpRef<'_>, target: Block, operands: &[Value]) -> OperationState {
    let ctx = op.ctx();
    let name = format!("{}.br", ctx.str(op.info().dialect()));
    OperationState::new(ctx, &name, op.loc()).operands(operands).successors(&[target])
}

impl BranchLike for Branch {
    fn successor_operands(&self, op: OpRef<'_>, _index: usize) -> Range<usize> {
        0..op.num_operands()
    }

    fn taken(&self, _op: OpRef<'_>, _constants: &Constants<'_>) -> Option<usize> {
        Some(0)
    }
}

impl BranchLike for CondBranch {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        let sizes = op.body().segments(op.op(), false);
        sizes.map_or(0..0, |sizes| nth_segment(sizes, index + 1, op.num_operands()))
    }

    fn taken(&self, op: OpRef<'_>, constants: &Constants<'_>) -> Option<usize> {
        let holds = constants(op.operand(0))?.as_int(op.ctx())? != 0;
        Some(usize::from(!holds))
    }

    fn jump(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> Option<OperationState> {
        Some(jump(op, target, operands))
    }
}

impl BranchLike for Invoke {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        CondBranch.successor_operands(op, index)
    }
}

impl BranchLike for Indirect {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        let sizes = indirect_segments(op);
        let own = op.num_operands() as i64 - sizes.iter().sum::<i64>();
        nth_segment(std::iter::once(own.max(0)).chain(sizes), index + 1, op.num_operands())
    }
}

impl BranchLike for Switch {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        let mut segments = operand_segments(op);
        segments.truncate(2);
        segments.extend(case_segments(op));
        nth_segment(segments.into_iter(), index + 1, op.num_operands())
    }

    fn taken(&self, op: OpRef<'_>, constants: &Constants<'_>) -> Option<usize> {
        let Some(Numbers::One(flag)) = Numbers::of(op.ctx(), constants(op.operand(0))?) else { return None };
        Some(case_values(op).iter().position(|case| *case == flag).map_or(0, |case| case + 1))
    }

    fn jump(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> Option<OperationState> {
        Some(jump(op, target, operands))
    }
}

fn operand_segments(op: OpRef<'_>) -> Vec<i64> {
    op.body().segments(op.op(), false).map(Vec::from_iter).unwrap_or_default()
}

fn case_segments(op: OpRef<'_>) -> Vec<i64> {
    op.attr(CASE_SEGMENTS).and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default()
}

fn indirect_segments(op: OpRef<'_>) -> Vec<i64> {
    op.attr(INDIRECT_SEGMENTS).and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// Returns the range of segment `index`. The range is empty if the sizes don't fit `total`.
fn nth_segment(sizes: impl Iterator<Item = i64>, index: usize, total: usize) -> Range<usize> {
    let mut start = 0usize;
    for (i, size) in sizes.enumerate() {
        let end = start.saturating_add(usize::try_from(size).unwrap_or(0));
        if i == index {
            return if end <= total { start..end } else { 0..0 };
        }
        start = end;
    }
    0..0
}

/// Returns the operand range of each successor. Linear even for a switch, where one query a
/// successor would be quadratic.
fn ranges(op: OpRef<'_>, model: &dyn BranchLike) -> SmallVec<[Range<usize>; 2]> {
    let count = op.successors().len();
    let mut sizes = indirect_segments(op);
    if op.attr(CASE_SEGMENTS).is_some() {
        sizes.push(operand_segments(op).get(1).copied().unwrap_or(0));
        sizes.extend(case_segments(op));
    } else if op.attr(INDIRECT_SEGMENTS).is_none() {
        return (0..count).map(|i| model.successor_operands(op, i)).collect();
    }
    let total = op.num_operands();
    let mut start = match op.attr(CASE_SEGMENTS) {
        Some(_) => 1,
        None => total.saturating_sub(usize::try_from(sizes.iter().sum::<i64>()).unwrap_or(0)),
    };
    let sizes = sizes.into_iter().chain(std::iter::repeat(0));
    sizes
        .take(count)
        .map(|size| {
            let end = start.saturating_add(usize::try_from(size).unwrap_or(0));
            let range = if end <= total { start..end } else { 0..0 };
            start = end;
            range
        })
        .collect()
}

/// Returns the operands that successor `index` of a branch receives.
pub(crate) fn passed(op: OpRef<'_>, model: &dyn BranchLike, index: usize) -> Vec<Value> {
    model.successor_operands(op, index).map(|i| op.operand(i)).collect()
}

/// Reports successors whose operands do not match their arguments, and weights that are not one for
/// each successor.
pub(crate) fn verify_successors(op: OpRef<'_>, model: &dyn BranchLike, out: &mut Diagnostics) {
    let body = op.body();
    for ((i, block), range) in op.successors().enumerate().zip(ranges(op, model)) {
        let (count, arguments) = (range.len(), body.num_arguments(block));
        if count != arguments {
            let message =
                format!("branch has {count} operands for successor #{i}, but target block has {arguments}");
            out.push(Diagnostic::error(op.loc(), message));
        } else if let Some(n) =
            body.arguments(block).zip(range).position(|(a, i)| op.type_of(a) != op.operand_type(i))
        {
            let message = format!("type mismatch for bb argument #{n} of successor #{i}");
            out.push(Diagnostic::error(op.loc(), message));
        }
    }
    if let Some(weights) = op.attr("branch_weights").and_then(|a| a.as_dense_ints(op.ctx()))
        && weights.len() != op.successors().len()
    {
        let (weights, successors) = (weights.len(), op.successors().len());
        let message = format!(
            "expects number of branch weights to match number of successors: {weights} vs {successors}"
        );
        out.push(Diagnostic::error(op.loc(), message));
    }
}

/// Reports a switch whose numbers of case values, destinations and operand segments differ, or
/// whose case values do not have the type of the flag. Returns true if nothing is reported.
pub(crate) fn verify_cases(op: OpRef<'_>, out: &mut Diagnostics) -> bool {
    let ctx = op.ctx();
    let before = out.len();
    let destinations = op.successors().len() - 1;
    let segments = case_segments(op);
    let total: i64 = segments.iter().sum();
    let operands = operand_segments(op).get(2).copied().unwrap_or(0);
    if total != operands || segments.iter().any(|size| *size < 0) {
        let message = format!(
            "caseOperands count ({operands}) does not match with the total size ({total}) specified in attribute 'case_operand_segments'"
        );
        out.push(op_error(op, message));
    } else if segments.len() != destinations {
        let segments = segments.len();
        let message = format!(
            "number of case operand segments ({segments}) should match number of case destinations ({destinations})"
        );
        out.push(op_error(op, message));
    }
    let values = case_values(op).len();
    if values != destinations {
        let message = format!(
            "number of case values ({values}) should match number of case destinations ({destinations})"
        );
        out.push(op_error(op, message));
    }
    let element = op.attr("case_values").and_then(|a| a.ty(ctx)).and_then(|ty| ty.element(ctx));
    if let Some(element) = element
        && element != op.operand_type(0)
    {
        let (flag, element) = (type_to_string(ctx, op.operand_type(0)), type_to_string(ctx, element));
        out.push(op_error(op, format!("'flag' type ('{flag}') should match case value type ('{element}')")));
    }
    out.len() == before
}

/// Returns the values of a switch's cases, as bits.
pub(crate) fn case_values(op: OpRef<'_>) -> Vec<u128> {
    op.attr("case_values").map_or_else(Vec::new, |values| elements(op.ctx(), values))
}

/// The cases of a switch during parsing.
#[derive(Default)]
pub(crate) struct Cases {
    values: Vec<u128>,
    segments: Vec<i64>,
    operands: Vec<Value>,
}

impl Cases {
    /// Reads `42: ^bb1(%a : i32)`, a case of a flag of type `ty`.
    pub(crate) fn parse(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        ty: Type,
    ) -> ParseResult<()> {
        let loc = p.loc();
        let value = p.parse_attr(Some(ty))?;
        match Numbers::of(p.ctx(), value) {
            Some(Numbers::One(bits)) if value.ty(p.ctx()) == Some(ty) => self.values.push(bits),
            _ => return Err(p.error(loc, "expected an integer of the type of the flag")),
        }
        p.expect(":")?;
        let (block, operands) = p.parse_successor_and_operands()?;
        state.successors.push(block);
        self.segments.push(operands.len() as i64);
        self.operands.extend(operands);
        Ok(())
    }

    /// Puts the operands and attributes of the cases into the state, behind the flag and `defaults`
    /// operands of the default block.
    pub(crate) fn finish(self, ctx: &Context, state: &mut OperationState, ty: Type, defaults: usize) {
        state.set_segments(ctx, &[1, defaults as i64, self.operands.len() as i64]);
        state.operands.extend(self.operands);
        state.set_attr(ctx, CASE_SEGMENTS, ctx.dense_ints_attr(Type::I32, &self.segments));
        let vector = ctx.vector_type(&[self.values.len() as i64], ty);
        if !self.values.is_empty()
            && let Some(values) = elements_attr(ctx, vector, self.values)
        {
            state.set_attr(ctx, "case_values", values);
        }
    }
}

/// Writes one case a line, separated by commas; nothing behind the last. Values are written as
/// `signed` numbers or not.
pub(crate) fn print_cases(p: &mut OpPrinter<'_>, op: OpRef<'_>, signed: bool) {
    let width = op.operand_type(0).integer_width(op.ctx()).unwrap_or(64);
    let cases = op.successors().zip(ranges(op, &Switch)).skip(1);
    for (i, (bits, (block, range))) in case_values(op).into_iter().zip(cases).enumerate() {
        if i > 0 {
            p.write(",");
        }
        p.newline();
        let value = if signed { constant::signed(bits, width).to_string() } else { bits.to_string() };
        p.write(&format!("  {value}: "));
        let operands: Vec<Value> = range.map(|i| op.operand(i)).collect();
        p.successor(block, &operands);
    }
}
