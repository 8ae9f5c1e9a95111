//! The `cf` dialect: branches between the blocks of a region.
//!
//! Structured control flow (`scf`, `affine`) is lowered to it before it is lowered to the `llvm` dialect. Every operation but
//! `cf.assert` is a terminator that hands operands to the arguments of its successors.
//!
//! Operands of `cf.switch` stand in three segments: the flag, those of the default block, those of all cases one case
//! after the other; `case_operand_segments` says how many belong to each case.

use loomir_ir::{Registry, Type, dialect};

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
    }

    /// Goes to the first block if its condition is true, else to the second. Both may be the same block, with different
    /// operands. `branch_weights` says how often each is taken.
    CondBranchOp = "cond_br" {
        operands { condition: One I1, trueDestOperands: Variadic Any, falseDestOperands: Variadic Any }
        attrs { branch_weights: Optional DenseArray(Type::I32) }
        successors { trueDest, falseDest }
        traits [AttrSizedOperandSegments, Pure, Terminator]
        format "$condition (`weights` `(` $branch_weights^ `)` )? `,` $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict"
    }

    /// Goes to the block of the case that equals its flag, or to the default block if none does.
    SwitchOp = "switch" {
        operands { flag: One Where("integer", is_integer), defaultOperands: Variadic Any, caseOperands: Variadic Any }
        attrs { case_values: Optional Elements, case_operand_segments: Required DenseArray(Type::I32) }
        successors { defaultDestination, caseDestinations variadic }
        traits [AttrSizedOperandSegments, Pure, Terminator]
    }
}

fn is_integer(ctx: &loomir_ir::Context, ty: loomir_ir::Type) -> bool {
    ty.integer_width(ctx).is_some()
}

/// Makes the dialect and its interfaces known.
pub fn register(registry: &mut Registry) {
    registry.dialect(&CF);
}
