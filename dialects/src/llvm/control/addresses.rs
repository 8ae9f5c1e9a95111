//! Addresses of blocks, and branches to them.
//!
//! Assembly that branches, and pads of exceptions on Windows and WebAssembly, pass operands on as
//! branches to addresses do.
//!
//! A block whose address is taken has a tag, which is the number of the block in its function. Such
//! a function stays as it is: its blocks can't be merged, removed or copied.

use hashbrown::{HashMap, HashSet};
use loomir_ir::symbols::{SymbolTable, SymbolUser};
use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{
    Attr, AttrKind, Block, Body, Context, Diagnostic, Diagnostics, Name, Op, OpDef, OpRef, OperationState,
    Type, Value,
};

use super::{BlockTagOp, CallBrOp, CatchPadOp, CatchSwitchOp, CleanupPadOp, IndirectBrOp};
use crate::branch::{self, INDIRECT_SEGMENTS, Indirect, passed};
use crate::llvm::attributes::{block_tag, tag_number};
use crate::llvm::globals::FuncOp;

/// The attribute with the address of a block.
const ADDRESS: &str = "block_addr";
/// The attribute with the tag of a block.
const TAG: &str = "tag";

/// Returns `#llvm.blockaddress<function = @f, tag = <id = 1>>`.
pub fn block_address(ctx: &Context, function: &str, id: i64) -> Attr {
    let params = vec![(ctx.name("function"), ctx.symbol_attr(function)), (ctx.name(TAG), block_tag(ctx, id))];
    ctx.attr(AttrKind::Dialect { name: ctx.name("llvm.blockaddress"), params: ctx.dict(params) })
}

/// Returns the function and the tag that a block address names.
pub fn named_block(op: OpRef<'_>) -> Option<(Name, i64)> {
    let (function, tag) = named_by_symbol(op)?;
    Some((function.as_flat_symbol(op.ctx())?, tag))
}

/// Returns the symbol of the function and the tag that a block address names.
pub(crate) fn named_by_symbol(op: OpRef<'_>) -> Option<(Attr, i64)> {
    let ctx = op.ctx();
    let AttrKind::Dialect { params, .. } = op.attr(ADDRESS)?.kind(ctx) else { return None };
    Some((params.get(ctx, "function")?, tag_number(ctx, params.get(ctx, TAG)?)?))
}

/// Returns the tag that `op` gives its block.
pub fn tag_of(op: OpRef<'_>) -> Option<i64> {
    if op.is(BlockTagOp::DEF) { tag_number(op.ctx(), op.attr(TAG)?) } else { None }
}

/// True if the blocks of a function must stay as they are: the address of one is taken, a branch
/// leads to an address, assembly branches, or there are pads of exceptions.
pub fn has_fixed_blocks(function: &Body) -> bool {
    let fixes = |op: Op| {
        let info = function.info(op);
        FIXING.iter().any(|def| info.is(def))
    };
    function.all_ops().any(fixes)
}

/// The operations that fix the blocks of their function.
const FIXING: [&OpDef; 6] = [
    BlockTagOp::DEF,
    IndirectBrOp::DEF,
    CallBrOp::DEF,
    CatchSwitchOp::DEF,
    CleanupPadOp::DEF,
    CatchPadOp::DEF,
];

/// Requires that a tag is directly in a function.
pub(super) fn verify_tag(op: OpRef<'_>, out: &mut Diagnostics) {
    let body = op.body();
    if !body.is(body.root(), FuncOp::DEF) || op.parent().is_none_or(|parent| parent.op() != body.root()) {
        out.push(op_error(op, "must be in a block of a function"));
    }
}

/// Requires that the tags of a function differ.
pub(crate) fn verify_tags(function: OpRef<'_>, out: &mut Diagnostics) {
    let body = function.body();
    let mut seen = HashSet::new();
    for op in body.all_ops().map(|op| body.op_ref(op)) {
        if let Some(own) = tag_of(op).filter(|own| !seen.insert(*own)) {
            let message = format!("duplicate block tag '{own}' in the same function: ");
            out.push(Diagnostic::error(op.loc(), message));
        }
    }
}

/// `llvm.indirectbr %p : !llvm.ptr, [^bb1(%a : i32), ^bb2] {…}`.
pub(super) fn parse_indirectbr(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let address = p.parse_operand()?;
    let ty = p.parse_colon_type()?;
    state.operands.push(p.resolve(address, ty)?);
    p.expect(",")?;
    p.expect("[")?;
    let mut sizes = Vec::new();
    if !p.accept("]") {
        loop {
            let (block, operands) = p.parse_successor_and_operands()?;
            state.successors.push(block);
            sizes.push(operands.len() as i64);
            state.operands.extend(operands);
            if !p.accept(",") {
                break;
            }
        }
        p.expect("]")?;
    }
    state.set_attr(ctx, INDIRECT_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_indirectbr(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(", [");
    for (index, block) in op.successors().enumerate() {
        p.write(if index == 0 { "" } else { "," });
        p.newline();
        let operands: Vec<Value> = passed(op, &Indirect, index);
        p.successor(block, &operands);
    }
    if op.successors().len() > 0 {
        p.newline();
    }
    p.write("]");
    p.attr_dict(op, &[INDIRECT_SEGMENTS]);
}

/// Requires that each edge passes what its block takes.
pub(super) fn verify_indirect(op: OpRef<'_>, out: &mut Diagnostics) {
    let sizes =
        op.attr(INDIRECT_SEGMENTS).and_then(|sizes| sizes.as_dense_ints(op.ctx())).unwrap_or_default();
    let total: i64 = sizes.iter().sum();
    let is_negative = sizes.iter().any(|size| *size < 0);
    if sizes.len() != op.successors().len() || total > op.num_operands() as i64 || is_negative {
        let message = format!("'{INDIRECT_SEGMENTS}' does not fit the successors and operands");
        out.push(op_error(op, message));
        return;
    }
    branch::verify_successors(op, &Indirect, out);
}

/// The address of an existing block.
pub(crate) struct BlockAddress;

impl SymbolUser for BlockAddress {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let named = named_block(op).and_then(|(function, _)| table.get(function));
        // What was read in part has no body.
        if named.is_none_or(|symbol| !ctx.op_info(symbol.name).is(FuncOp::DEF)) {
            let message = "expects an existing block label target in the referenced function";
            out.push(op_error(op, message));
        }
    }
}

/// Returns the blocks of a function with a tag, by their tags.
pub fn tagged_blocks(function: &Body) -> HashMap<i64, Block> {
    let tagged = |op: Op| Some((tag_of(function.op_ref(op))?, function.block_of(op)?));
    function.all_ops().filter_map(tagged).collect()
}
