//! Intrinsics on memory, and intrinsics that state facts about the program.

use loomir_ir::{Type, dialect};

use crate::llvm::constraints::{Integer, LlvmType, Pointer};

mod assume;

dialect! {
    /// Intrinsics on memory.
    pub MEMORY_INTRINSICS = "llvm" {}

    /// Copies bytes between places that do not overlap or are equal.
    MemcpyOp = "intr.memcpy" {
        operands { dst: One Pointer, src: One Pointer, len: One Integer }
        attrs {
            isVolatile: Required Bool,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
        }
    }

    /// Copies bytes between places that may overlap.
    MemmoveOp = "intr.memmove" {
        operands { dst: One Pointer, src: One Pointer, len: One Integer }
        attrs {
            isVolatile: Required Bool,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
        }
    }

    /// Copies a constant number of bytes without a call.
    MemcpyInlineOp = "intr.memcpy.inline" {
        operands { dst: One Pointer, src: One Pointer }
        attrs {
            len: Required Typed,
            isVolatile: Required Bool,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
        }
    }

    /// Fills bytes with a value.
    MemsetOp = "intr.memset" {
        operands { dst: One Pointer, val: One I8, len: One Integer }
        attrs {
            isVolatile: Required Bool,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
        }
    }

    /// Hints that an address will be used soon.
    PrefetchOp = "intr.prefetch" {
        operands { addr: One Pointer }
        attrs { rw: Required Integer(32), hint: Required Integer(32), cache: Required Integer(32) }
    }

    /// From here on the object lives.
    LifetimeStartOp = "intr.lifetime.start" {
        operands { ptr: One Pointer }
        format "$ptr attr-dict `:` qualified(type($ptr))"
    }

    /// From here on the object does not live.
    LifetimeEndOp = "intr.lifetime.end" {
        operands { ptr: One Pointer }
        format "$ptr attr-dict `:` qualified(type($ptr))"
    }

    /// Remembers how far the stack has grown.
    StackSaveOp = "intr.stacksave" {
        results { res: One Pointer }
        traits [DistinctResults]
        format "attr-dict `:` qualified(type($res))"
    }

    /// Releases the stack memory allocated since the stack pointer was saved.
    StackRestoreOp = "intr.stackrestore" {
        operands { ptr: One Pointer }
        format "$ptr attr-dict `:` qualified(type($ptr))"
    }

    /// Promises that its operand is true and that its operand bundles hold.
    AssumeOp = "intr.assume" {
        operands { cond: One I1, op_bundle_operands: Variadic LlvmType }
        attrs {
            op_bundle_sizes: Default = "array<i32>" DenseArray(Type::I32),
            op_bundle_tags: Optional Array,
        }
        syntax (assume::parse, assume::print);
        verify crate::llvm::control::calls::verify_bundles;
    }

    /// Ends the program abnormally.
    TrapOp = "intr.trap" {
        format "attr-dict"
    }

    /// Stops for a debugger.
    DebugTrapOp = "intr.debugtrap" {
        format "attr-dict"
    }
}
