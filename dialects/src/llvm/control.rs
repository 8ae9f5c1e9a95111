//! Branches, calls and returns.

use loomir_ir::{Type, dialect};

use super::attributes::{ASM_DIALECT, CCONV, FASTMATH, TAIL_CALL_KIND};
use super::constraints::{Integer, LlvmType, Pointer, Token};

pub mod addresses;
mod branches;
pub(crate) mod calls;
mod exceptions;

dialect! {
    /// Branches, calls, returns.
    pub CONTROL = "llvm" {}

    /// Goes to a block.
    BrOp = "br" {
        operands { destOperands: Variadic LlvmType }
        attrs { loop_annotation: Optional Any }
        successors { dest }
        traits [Pure, Terminator]
        format "$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict"
        verify branches::verify_br;
    }

    /// Goes to the first block if its condition is true, else to the second.
    CondBrOp = "cond_br" {
        operands {
            condition: One I1,
            trueDestOperands: Variadic LlvmType,
            falseDestOperands: Variadic LlvmType,
        }
        attrs { branch_weights: Optional DenseArray(Type::I32), loop_annotation: Optional Any }
        successors { trueDest, falseDest }
        traits [AttrSizedOperandSegments, Pure, Terminator]
        format "$condition ( `weights` `(` $branch_weights^ `)` )? `,` $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict"
        verify branches::verify_cond_br;
    }

    /// Goes to the block of the case that equals its operand, or to the default block. The operands
    /// of the cases follow each other. `case_operand_segments` holds the number of operands of each
    /// case.
    SwitchOp = "switch" {
        operands { value: One Integer, defaultOperands: Variadic Any, caseOperands: Variadic Any }
        attrs {
            case_values: Optional Elements,
            case_operand_segments: Required DenseArray(Type::I32),
            branch_weights: Optional DenseArray(Type::I32),
        }
        successors { defaultDestination, caseDestinations variadic }
        traits [AttrSizedOperandSegments, Pure, Terminator]
        syntax (branches::parse_switch, branches::print_switch);
        verify branches::verify_switch;
    }

    /// Goes to the block whose address is its operand, which is one of the successors. The operands
    /// of the successors follow each other.
    IndirectBrOp = "indirectbr" {
        operands { addr: One Pointer, succOperands: Variadic LlvmType }
        attrs { indbr_operand_segments: Required DenseArray(Type::I32) }
        successors { successors variadic }
        traits [Pure, Terminator]
        syntax (addresses::parse_indirectbr, addresses::print_indirectbr);
        verify addresses::verify_indirect;
    }

    /// The address of a block of a function.
    BlockAddressOp = "blockaddress" {
        results { res: One Pointer }
        attrs { block_addr: Required Dialect("llvm.blockaddress") }
        traits [Pure]
        format "$block_addr attr-dict `:` qualified(type($res))"
    }

    /// Gives its block a number, by which addresses name the block.
    BlockTagOp = "blocktag" {
        attrs { tag: Required Dialect("llvm.blocktag") }
        format "$tag attr-dict"
        verify addresses::verify_tag;
    }

    /// Returns from the function.
    ReturnOp = "return" {
        operands { arg: Optional LlvmType }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($arg^ `:` type($arg))?"
        verify branches::verify_return;
    }

    /// Is never reached; reaching it is undefined behaviour.
    UnreachableOp = "unreachable" {
        traits [Terminator]
        format "attr-dict"
    }

    /// Calls a function: `callee`, or else the first operand, a pointer. A variadic callee has its
    /// type in `var_callee_type`. The operands of the bundles follow the arguments;
    /// `op_bundle_sizes` holds the number of operands of each bundle.
    CallOp = "call" {
        operands { callee_operands: Variadic LlvmType, op_bundle_operands: Variadic LlvmType }
        results { result: Optional LlvmType }
        attrs {
            var_callee_type: Optional TypeAttr,
            callee: Optional FlatSymbol,
            fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH),
            CConv: Default = "#llvm.cconv<ccc>" Enum(&CCONV),
            TailCallKind: Default = "#llvm.tailcallkind<none>" Enum(&TAIL_CALL_KIND),
            memory_effects: Optional Any,
            convergent: Optional Unit,
            no_unwind: Optional Unit,
            will_return: Optional Unit,
            op_bundle_sizes: Default = "array<i32>" DenseArray(Type::I32),
            op_bundle_tags: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
            no_inline: Optional Unit,
            always_inline: Optional Unit,
            inline_hint: Optional Unit,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
        }
        traits [AttrSizedOperandSegments]
        syntax (calls::parse_call, calls::print_call);
        verify calls::verify_call;
    }

    /// Calls a function as `llvm.call` does, and goes to the first block when it returns, or to the
    /// second if it throws. The result is known in the first only. Behind the arguments are the
    /// operands of both blocks, and those of the bundles.
    InvokeOp = "invoke" {
        operands {
            callee_operands: Variadic LlvmType,
            normalDestOperands: Variadic LlvmType,
            unwindDestOperands: Variadic LlvmType,
            op_bundle_operands: Variadic LlvmType,
        }
        results { result: Optional LlvmType }
        attrs {
            var_callee_type: Optional TypeAttr,
            callee: Optional FlatSymbol,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
            branch_weights: Optional DenseArray(Type::I32),
            CConv: Default = "#llvm.cconv<ccc>" Enum(&CCONV),
            op_bundle_sizes: Default = "array<i32>" DenseArray(Type::I32),
            op_bundle_tags: Optional Array,
        }
        successors { normalDest, unwindDest }
        traits [AttrSizedOperandSegments, ResultsOnFirstEdge, Terminator]
        syntax (exceptions::parse_invoke, exceptions::print_invoke);
        verify exceptions::verify_invoke;
    }

    /// Inline assembly that goes to the first block, or to one of the others. The operands of the
    /// successors follow its own.
    CallBrOp = "callbr" {
        operands { operands: Variadic LlvmType }
        results { res: Optional LlvmType }
        attrs {
            asm_string: Required String,
            constraints: Required String,
            has_side_effects: Optional Unit,
            is_align_stack: Optional Unit,
            asm_dialect: Optional Enum(&ASM_DIALECT),
            operand_attrs: Optional Array,
            indbr_operand_segments: Required DenseArray(Type::I32),
        }
        successors { successors variadic }
        traits [Terminator]
        verify addresses::verify_indirect;
    }

    /// Goes to one of the handlers of an exception, which begin with `llvm.catchpad`, or with
    /// `unwinds` to the last block. For exceptions of Windows and WebAssembly, as all operations
    /// on pads.
    CatchSwitchOp = "catchswitch" {
        operands { parent: One Token, succOperands: Variadic LlvmType }
        results { res: One Token }
        attrs {
            unwinds: Optional Unit,
            indbr_operand_segments: Required DenseArray(Type::I32),
        }
        successors { successors variadic }
        traits [Terminator]
        verify addresses::verify_indirect;
    }

    /// Begins a handler of an exception.
    CatchPadOp = "catchpad" {
        operands { parent: One Token, args: Variadic LlvmType }
        results { res: One Token }
    }

    /// Begins what runs when an exception passes.
    CleanupPadOp = "cleanuppad" {
        operands { parent: One Token, args: Variadic LlvmType }
        results { res: One Token }
    }

    /// Leaves a handler.
    CatchRetOp = "catchret" {
        operands { pad: One Token, succOperands: Variadic LlvmType }
        attrs { indbr_operand_segments: Required DenseArray(Type::I32) }
        successors { successors variadic }
        traits [Terminator]
        verify addresses::verify_indirect;
    }

    /// Lets an exception go on, to a block or to the callers of the function.
    CleanupRetOp = "cleanupret" {
        operands { pad: One Token, succOperands: Variadic LlvmType }
        attrs { indbr_operand_segments: Required DenseArray(Type::I32) }
        successors { successors variadic }
        traits [Terminator]
        verify addresses::verify_indirect;
    }

    /// Is where control goes when a function throws: the value that describes the exception. The
    /// operands are the types that are caught, as pointers, and those that filters let pass, as
    /// arrays.
    LandingpadOp = "landingpad" {
        operands { clauses: Variadic LlvmType }
        results { res: One LlvmType }
        attrs { cleanup: Optional Unit }
        syntax (exceptions::parse_landingpad, exceptions::print_landingpad);
        verify exceptions::verify_landingpad;
    }

    /// Lets an exception go on to the callers of the function.
    ResumeOp = "resume" {
        operands { value: One LlvmType }
        traits [Terminator]
        format "$value attr-dict `:` type($value)"
        verify exceptions::verify_resume;
    }

    /// Calls the intrinsic function of a given name.
    CallIntrinsicOp = "call_intrinsic" {
        operands { args: Variadic LlvmType, op_bundle_operands: Variadic LlvmType }
        results { results: Optional LlvmType }
        attrs {
            intrin: Required String,
            fastmathFlags: Default = "#llvm.fastmath<none>" Enum(&FASTMATH),
            op_bundle_sizes: Default = "array<i32>" DenseArray(Type::I32),
            op_bundle_tags: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
        }
        traits [AttrSizedOperandSegments]
        syntax (calls::parse_intrinsic, calls::print_intrinsic);
        verify calls::verify_bundles;
    }

    /// Inline assembly.
    InlineAsmOp = "inline_asm" {
        operands { operands: Variadic LlvmType }
        results { res: Optional LlvmType }
        attrs {
            asm_string: Required String,
            constraints: Required String,
            has_side_effects: Optional Unit,
            is_align_stack: Optional Unit,
            tail_call_kind: Default = "#llvm.tailcallkind<none>" Enum(&TAIL_CALL_KIND),
            asm_dialect: Optional Enum(&ASM_DIALECT),
            operand_attrs: Optional Array,
        }
        format "(`has_side_effects` $has_side_effects^)? (`is_align_stack` $is_align_stack^)? (`tail_call_kind` `=` $tail_call_kind^)? (`asm_dialect` `=` $asm_dialect^)? (`operand_attrs` `=` $operand_attrs^)? attr-dict $asm_string `,` $constraints operands `:` functional-type(operands, results)"
    }
}
