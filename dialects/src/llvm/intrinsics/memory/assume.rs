//! Custom form of `llvm.intr.assume %c ["align"(%p, %n : !llvm.ptr, i64)] : i1`.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{OpRef, OperationState};

use crate::llvm::control::calls::{Bundles, print_bundles};

pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let condition = p.parse_operand()?;
    let bundles = Bundles::parse(p)?;
    let ty = p.parse_colon_type()?;
    state.operands.push(p.resolve(condition, ty)?);
    bundles.finish(p.ctx(), state);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    print_bundles(p, op);
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.attr_dict(op, &["op_bundle_sizes", "op_bundle_tags"]);
}
