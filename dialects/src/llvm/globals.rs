//! Functions, globals and constants.

use loomir_ir::{Attr, Context, Type, dialect};

use super::attributes::{CCONV, COMDAT, LINKAGE, UNNAMED_ADDR, VISIBILITY};
use super::constraints::{LlvmType, Pointer, Token};

mod alias;
mod constant;
mod function;
mod variable;

pub(crate) use alias::Resolver;
pub(crate) use constant::materialize;
pub(crate) use function::signature;
pub(crate) use variable::AddressOf;

fn is_function_type(ctx: &Context, attr: Attr) -> bool {
    attr.as_type(ctx).is_some_and(|ty| ty.dialect_params(ctx, "llvm.func").is_some())
}

dialect! {
    /// Functions, globals, constants.
    pub GLOBALS = "llvm" {}

    /// A function; without a body it is a declaration.
    FuncOp = "func" {
        attrs {
            sym_name: Required String,
            sym_visibility: Optional String,
            function_type: Required Where("type attribute of LLVM function type", is_function_type),
            linkage: Default = "#llvm.linkage<external>" Enum(&LINKAGE),
            dso_local: Optional Unit,
            CConv: Default = "#llvm.cconv<ccc>" Enum(&CCONV),
            comdat: Optional Symbol,
            convergent: Optional Unit,
            personality: Optional FlatSymbol,
            garbageCollector: Optional String,
            passthrough: Optional Array,
            arg_attrs: Optional Array,
            res_attrs: Optional Array,
            function_entry_count: Optional Integer(64),
            memory_effects: Optional Any,
            visibility_: Default = "0 : i64" Enum(&VISIBILITY),
            arm_streaming: Optional Unit,
            arm_locally_streaming: Optional Unit,
            arm_streaming_compatible: Optional Unit,
            arm_new_za: Optional Unit,
            arm_in_za: Optional Unit,
            arm_out_za: Optional Unit,
            arm_inout_za: Optional Unit,
            arm_preserves_za: Optional Unit,
            section: Optional String,
            unnamed_addr: Optional Enum(&UNNAMED_ADDR),
            alignment: Optional Integer(64),
            vscale_range: Optional Dialect("llvm.vscale_range"),
            frame_pointer: Optional Any,
            target_cpu: Optional String,
            tune_cpu: Optional String,
            reciprocal_estimates: Optional String,
            prefer_vector_width: Optional String,
            target_features: Optional Any,
            no_infs_fp_math: Optional Bool,
            no_nans_fp_math: Optional Bool,
            no_signed_zeros_fp_math: Optional Bool,
            denormal_fp_math: Optional String,
            denormal_fp_math_f32: Optional String,
            fp_contract: Optional String,
            instrument_function_entry: Optional String,
            instrument_function_exit: Optional String,
            no_inline: Optional Unit,
            always_inline: Optional Unit,
            inline_hint: Optional Unit,
            no_unwind: Optional Unit,
            will_return: Optional Unit,
            optimize_none: Optional Unit,
            vec_type_hint: Optional Any,
            work_group_size_hint: Optional DenseArray(Type::I32),
            reqd_work_group_size: Optional DenseArray(Type::I32),
            intel_reqd_sub_group_size: Optional Integer(32),
            uwtable_kind: Optional Any,
        }
        regions { body: Any }
        traits [AffineScope, AutomaticAllocationScope, IsolatedFromAbove, Symbol]
        syntax (function::parse, function::print);
        verify function::verify;
    }

    /// A variable or constant of the module. Its initial value is the attribute `value`, or the
    /// value that its region returns. Without both it is defined elsewhere.
    GlobalOp = "mlir.global" {
        attrs {
            global_type: Required TypeAttr,
            constant: Optional Unit,
            sym_name: Required String,
            linkage: Required Enum(&LINKAGE),
            dso_local: Optional Unit,
            thread_local_: Optional Unit,
            externally_initialized: Optional Unit,
            value: Optional Any,
            alignment: Optional Integer(64),
            addr_space: Optional Integer(32),
            unnamed_addr: Optional Enum(&UNNAMED_ADDR),
            section: Optional String,
            comdat: Optional Symbol,
            dbg_exprs: Optional Array,
            visibility_: Default = "0 : i64" Enum(&VISIBILITY),
            target_specific_attrs: Optional Array,
        }
        regions { initializer: AtMostOneBlock }
        traits [IsolatedFromAbove, Symbol]
        syntax (variable::parse, variable::print);
        verify variable::verify;
    }

    /// Another name of a variable or function, or of a place in one: of the address that its region
    /// returns.
    AliasOp = "mlir.alias" {
        attrs {
            alias_type: Required TypeAttr,
            sym_name: Required String,
            linkage: Required Enum(&LINKAGE),
            dso_local: Optional Unit,
            thread_local_: Optional Unit,
            unnamed_addr: Optional Enum(&UNNAMED_ADDR),
            visibility_: Default = "0 : i64" Enum(&VISIBILITY),
        }
        regions { initializer: SingleBlock }
        traits [IsolatedFromAbove, Symbol]
        syntax (alias::parse, alias::print);
        verify alias::verify;
    }

    /// A function that `resolver` selects when the program is loaded.
    IFuncOp = "mlir.ifunc" {
        attrs {
            sym_name: Required String,
            i_func_type: Required TypeAttr,
            resolver: Required FlatSymbol,
            resolver_type: Required TypeAttr,
            linkage: Required Enum(&LINKAGE),
            dso_local: Optional Unit,
            address_space: Default = "0 : i32" Integer(32),
            unnamed_addr: Default = "0 : i64" Enum(&UNNAMED_ADDR),
            visibility_: Default = "0 : i64" Enum(&VISIBILITY),
        }
        traits [Symbol]
        syntax (alias::parse_ifunc, alias::print_ifunc);
        verify alias::verify_ifunc;
    }

    /// The address of a global, an alias or a function.
    AddressOfOp = "mlir.addressof" {
        results { res: One Pointer }
        attrs { global_name: Required FlatSymbol }
        traits [Pure, ConstantLike]
        format "$global_name attr-dict `:` qualified(type($res))"
    }

    /// A constant. An attribute of type `index` may stand for an integer of any width.
    ConstantOp = "mlir.constant" {
        results { res: One LlvmType }
        attrs { value: Required Any }
        traits [Pure, ConstantLike]
        format "`(` $value `)` attr-dict `:` type($res)"
        verify constant::verify;
    }

    /// Any value: each use may see another.
    UndefOp = "mlir.undef" {
        results { res: One LlvmType }
        traits [Pure, ConstantLike]
        format "attr-dict `:` type($res)"
    }

    /// Poison: dependent results are poison too, or undefined behaviour.
    PoisonOp = "mlir.poison" {
        results { res: One LlvmType }
        traits [Pure, ConstantLike]
        format "attr-dict `:` type($res)"
    }

    /// The null pointer, or zero in every element.
    ZeroOp = "mlir.zero" {
        results { res: One LlvmType }
        traits [Pure, ConstantLike]
        format "attr-dict `:` type($res)"
    }

    /// The empty token.
    NoneTokenOp = "mlir.none" {
        results { res: One Token }
        traits [Pure]
        format "attr-dict `:` type($res)"
    }

    /// Functions called before the program, in order of priority.
    GlobalCtorsOp = "mlir.global_ctors" {
        attrs { ctors: Required Array, priorities: Required Array, data: Required Array }
        format "`ctors` `=` $ctors `,` `priorities` `=` $priorities `,` `data` `=` $data attr-dict"
    }

    /// Functions called after the program, in order of priority.
    GlobalDtorsOp = "mlir.global_dtors" {
        attrs { dtors: Required Array, priorities: Required Array, data: Required Array }
        format "`dtors` `=` $dtors `,` `priorities` `=` $priorities `,` `data` `=` $data attr-dict"
    }

    /// A rule of how symbols of one name are chosen from.
    ComdatSelectorOp = "comdat_selector" {
        attrs { sym_name: Required String, comdat: Required Enum(&COMDAT) }
        traits [Symbol]
        format "$sym_name $comdat attr-dict"
    }

    /// A table of rules of how symbols of one name are chosen from.
    ComdatOp = "comdat" {
        attrs { sym_name: Required String }
        regions { body: SingleBlock }
        traits [NoTerminator, SymbolTable, Symbol]
        format "$sym_name $body attr-dict"
        verify constant::verify_comdat;
    }

    /// Flags of the module.
    ModuleFlagsOp = "module_flags" {
        attrs { flags: Required Array }
        format "$flags attr-dict"
    }
}
