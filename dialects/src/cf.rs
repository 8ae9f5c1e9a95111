//! The `cf` dialect: branches between the blocks of a region.
//!
//! Structured control flow (`scf`, `affine`) is lowered to it before it is lowered to the `llvm`
//! dialect. Every operation but `cf.assert` is a terminator that hands operands to the arguments of
//! its successors.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{Context, Diagnostics, OpRef, OperationState, Registry, Type, dialect};

use crate::branch::{self, Branch, Cases, CondBranch, Switch};
use crate::interfaces::{BranchLike, Effect, EffectKind, MemoryEffects, Resource};

pub(crate) mod evaluate;

dialect! {
    /// Branches between blocks: the target of structured control flow on its way to machine code.
    pub CF = "cf" {}

    /// Ends the program with a message unless its operand is true.
    AssertOp = "assert" {
        operands { arg: One I1 }
        attrs { msg: Required String }
        format "$arg `,` $msg attr-dict"
    }

    /// Goes to a block.
    BranchOp = "br" {
        operands { destOperands: Variadic Any }
        successors { dest }
        traits [Pure, Terminator]
        format "$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict"
        verify verify_branch;
    }

    /// Goes to the first block if its condition is true, else to the second. Both may be the same
    /// block, with different operands. `branch_weights` holds the relative frequency of each
    /// successor.
    CondBranchOp = "cond_br" {
        operands { condition: One I1, trueDestOperands: Variadic Any, falseDestOperands: Variadic Any }
        attrs { branch_weights: Optional DenseArray(Type::I32) }
        successors { trueDest, falseDest }
        traits [AttrSizedOperandSegments, Pure, Terminator]
        format "$condition (`weights` `(` $branch_weights^ `)` )? `,` $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict"
        verify verify_cond_branch;
    }

    /// Goes to the block of the case that equals its flag, or to the default block if none does.
    /// The operands have three segments: the flag, the operands of the default block, and the
    /// operands of all cases one after the other. `case_operand_segments` holds the number of
    /// operands of each case.
    SwitchOp = "switch" {
        operands { flag: One Where("integer", is_integer), defaultOperands: Variadic Any, caseOperands: Variadic Any }
        attrs { case_values: Optional Elements, case_operand_segments: Required DenseArray(Type::I32) }
        successors { defaultDestination, caseDestinations variadic }
        traits [AttrSizedOperandSegments, Pure, Terminator]
        syntax (parse_switch, print_switch);
        verify verify_switch;
    }
}

fn is_integer(ctx: &Context, ty: Type) -> bool {
    ty.integer_width(ctx).is_some()
}

/// Registers the dialect and its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&CF);
    evaluate::register(registry);
    registry.attach_to::<dyn BranchLike>(crate::cf::BranchOp::DEF, Box::new(Branch));
    registry.attach_to::<dyn BranchLike>(crate::cf::CondBranchOp::DEF, Box::new(CondBranch));
    registry.attach_to::<dyn BranchLike>(crate::cf::SwitchOp::DEF, Box::new(Switch));
    registry.attach_to::<dyn MemoryEffects>(crate::cf::AssertOp::DEF, Box::new(Assert));
}

/// `cf.assert` writes to the world and may end the program.
struct Assert;

impl MemoryEffects for Assert {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        vec![Effect { kind: EffectKind::Write, on: Resource::World }]
    }

    fn may_not_return(&self, _op: OpRef<'_>) -> bool {
        true
    }
}

fn verify_branch(op: OpRef<'_>, out: &mut Diagnostics) {
    branch::verify_successors(op, &Branch, out);
}

fn verify_cond_branch(op: OpRef<'_>, out: &mut Diagnostics) {
    branch::verify_successors(op, &CondBranch, out);
}

fn verify_switch(op: OpRef<'_>, out: &mut Diagnostics) {
    if branch::verify_cases(op, out) {
        branch::verify_successors(op, &Switch, out);
    }
}

/// `cf.switch %flag : i32, [default: ^bb1(%a : i32), 42: ^bb2]`.
fn parse_switch(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let flag = p.parse_operand()?;
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    if !is_integer(p.ctx(), ty) {
        return Err(p.error(loc, "expected an integer type"));
    }
    state.operands.push(p.resolve(flag, ty)?);
    p.expect(",")?;
    p.expect("[")?;
    p.expect_keyword("default")?;
    p.expect(":")?;
    let (block, defaults) = p.parse_successor_and_operands()?;
    state.successors.push(block);
    state.operands.extend(&defaults);
    let mut cases = Cases::default();
    while p.accept(",") {
        cases.parse(p, state, ty)?;
    }
    p.expect("]")?;
    cases.finish(p.ctx(), state, ty, defaults.len());
    p.parse_optional_attr_dict(state)
}

fn print_switch(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(", [");
    p.newline();
    p.write("  default: ");
    if let Some(block) = op.successors().next() {
        p.successor(block, &branch::passed(op, &Switch, 0));
    }
    if op.successors().len() > 1 {
        p.write(",");
        branch::print_cases(p, op, false);
        p.newline();
    }
    p.write("]");
    p.attr_dict(op, &["case_values", "case_operand_segments", "operandSegmentSizes"]);
}
