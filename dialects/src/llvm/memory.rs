//! Memory: room on the stack, addresses, loads and stores.

use loomir_ir::{Type, dialect};

use super::attributes::{ATOMIC_BIN_OP, ATOMIC_ORDERING};
use super::constraints::{
    AtomicExchanged, Integer, IntegerOrVector, LlvmType, Loadable, Pointer, PointerOrVector,
};

pub mod address;
pub(super) mod promote;
pub(super) mod split;
mod syntax;
mod verify;

pub(crate) use verify::{Order, order};

/// Stands in the constant indices of an address computation for an index that is an operand.
pub const DYNAMIC_INDEX: i64 = i32::MIN as i64;

dialect! {
    /// Memory.
    pub MEMORY = "llvm" {}

    /// Room for `arraySize` elements on the stack, released when the function returns.
    AllocaOp = "alloca" {
        operands { arraySize: One Integer }
        results { res: One Pointer }
        attrs { alignment: Optional Integer(64), elem_type: Required TypeAttr, inalloca: Optional Unit }
        traits [DistinctResults]
        syntax (syntax::parse_alloca, syntax::print_alloca);
    }

    /// The address of a part of an object. An entry [`DYNAMIC_INDEX`] of `rawConstantIndices`
    /// stands for the next operand, another entry for itself. The first index steps over whole
    /// elements of `elem_type`, each further index into an element.
    GEPOp = "getelementptr" {
        operands { base: One PointerOrVector, dynamicIndices: Variadic IntegerOrVector }
        results { res: One PointerOrVector }
        attrs {
            rawConstantIndices: Required DenseArray(Type::I32),
            elem_type: Required TypeAttr,
            noWrapFlags: Default = "0 : i32" Integer(32),
        }
        traits [Pure]
        syntax (address::parse, address::print);
        verify_signature address::verify;
        fold address::fold;
    }

    /// Reads a value from memory.
    LoadOp = "load" {
        operands { addr: One Pointer }
        results { res: One Loadable }
        attrs {
            alignment: Optional Integer(64),
            volatile_: Optional Unit,
            nontemporal: Optional Unit,
            invariant: Optional Unit,
            invariantGroup: Optional Unit,
            ordering: Default = "0 : i64" Enum(&ATOMIC_ORDERING),
            syncscope: Optional String,
            dereferenceable: Optional Dialect("llvm.dereferenceable"),
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
        }
        format "(`volatile` $volatile_^)? $addr (`atomic` (`syncscope` `(` $syncscope^ `)`)? $ordering^)? (`invariant` $invariant^)? (`invariant_group` $invariantGroup^)? (`dereferenceable` `` $dereferenceable^)? attr-dict `:` qualified(type($addr)) `->` type($res)"
        verify_signature verify::verify_load;
    }

    /// Writes a value to memory.
    StoreOp = "store" {
        operands { value: One Loadable, addr: One Pointer }
        attrs {
            alignment: Optional Integer(64),
            volatile_: Optional Unit,
            nontemporal: Optional Unit,
            invariantGroup: Optional Unit,
            ordering: Default = "0 : i64" Enum(&ATOMIC_ORDERING),
            syncscope: Optional String,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
        }
        format "(`volatile` $volatile_^)? $value `,` $addr (`atomic` (`syncscope` `(` $syncscope^ `)`)? $ordering^)? (`invariant_group` $invariantGroup^)? attr-dict `:` type($value) `,` qualified(type($addr))"
        verify_signature verify::verify_store;
    }

    /// Reads a value, combines it with another, writes the result, all at once; yields the value
    /// read.
    AtomicRMWOp = "atomicrmw" {
        operands { ptr: One Pointer, val: One LlvmType }
        results { res: One SameAs("val") }
        attrs {
            bin_op: Required Enum(&ATOMIC_BIN_OP),
            ordering: Required Enum(&ATOMIC_ORDERING),
            syncscope: Optional String,
            alignment: Optional Integer(64),
            volatile_: Optional Unit,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
        }
        format "(`volatile` $volatile_^)? $bin_op $ptr `,` $val (`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict `:` qualified(type($ptr)) `,` type($val)"
        verify_signature verify::verify_atomic_rmw;
    }

    /// Atomically reads a value and writes `val` if the value equals `cmp`. Yields the value read,
    /// and true if it was equal.
    AtomicCmpXchgOp = "cmpxchg" {
        operands { ptr: One Pointer, cmp: One SameAs("val"), val: One AtomicExchanged }
        results { res: One LlvmType }
        attrs {
            success_ordering: Required Enum(&ATOMIC_ORDERING),
            failure_ordering: Required Enum(&ATOMIC_ORDERING),
            syncscope: Optional String,
            alignment: Optional Integer(64),
            weak: Optional Unit,
            volatile_: Optional Unit,
            access_groups: Optional Array,
            alias_scopes: Optional Array,
            noalias_scopes: Optional Array,
            tbaa: Optional Array,
        }
        syntax (syntax::parse_cmpxchg, syntax::print_cmpxchg);
        verify_signature verify::verify_cmpxchg;
    }

    /// Orders the memory accesses around it.
    FenceOp = "fence" {
        attrs { ordering: Required Enum(&ATOMIC_ORDERING), syncscope: Optional String }
        format "(`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict"
        verify_signature verify::verify_fence;
    }

    /// Reads the next argument of a list of variable arguments and advances the list.
    VaArgOp = "va_arg" {
        operands { arg: One Pointer }
        results { res: One LlvmType }
        format "$arg attr-dict `:` functional-type($arg, $res)"
    }
}
