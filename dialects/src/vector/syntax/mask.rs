//! `mask`: its one operation stands on the same line, and the terminator is left out.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{OpRef, OperationState, Trait, Value};

use crate::vector::YieldOp;

/// `%mask, %passthru { operation } : vector<4xi1> -> vector<4xf32>`.
pub(crate) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let mask = p.parse_operand()?;
    let loc = p.loc();
    let passthru = if p.accept(",") { Some(p.parse_operand()?) } else { None };
    p.parse_region(state, &[])?;
    let ctx = p.ctx();
    p.edit_region(0, |body, region| {
        let block = match body.blocks(region).last() {
            Some(block) => block,
            None => body.append_block(region, &[]),
        };
        let last = body.last_op(block);
        if last.is_some_and(|last| body.has_trait(last, Trait::Terminator)) {
            return;
        }
        let results: Vec<Value> = last.map(|last| body.results(last).collect()).unwrap_or_default();
        let loc = last.map_or(loc, |last| body.loc(last));
        let end = body.create(OperationState::of(ctx, YieldOp::DEF, loc).operands(&results));
        body.append_op(block, end);
    });
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    state.operands.push(p.resolve(mask, ty)?);
    state.result_types = p.parse_optional_arrow_types()?;
    if let Some(passthru) = passthru {
        let Some(ty) = state.result_types.first().copied() else {
            return Err(p.error(loc, "expects a result if passthru operand is provided"));
        };
        let passthru = p.resolve(passthru, ty)?;
        state.operands.push(passthru);
    }
    Ok(())
}

pub(crate) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands(op.operands());
    p.write(" { ");
    let body = op.body();
    if let Some(first) = body.entry_block(op.region(0)).and_then(|block| body.first_op(block)) {
        p.bare_operation(body.op_ref(first));
    }
    p.write(" }");
    p.attr_dict(op, &[]);
    p.write(" : ");
    p.ty(op.operand_type(0));
    if op.num_results() > 0 {
        let types: Vec<_> = op.results().map(|result| op.type_of(result)).collect();
        p.arrow_types(&types);
    }
}
