//! The `transform` dialect: schedules, which are programs that transform other programs.
//!
//! A schedule is a `transform.named_sequence`. Its values are handles to operations of the program
//! (the *payload*), and parameters. Syntax and rules are MLIR's. The dialect only describes
//! schedules; what an operation does to the payload is the business of their interpreter.
//!
//! # Limits
//!
//! - Of MLIR's operations these exist: the control flow of schedules, navigation, the
//!   transformations of loops (`loop.*`), and what runs passes.

use std::borrow::Cow;

use loomir_ir::opdef::{AttrConstraint, EnumDef, EnumStorage, TypeConstraint};
use loomir_ir::symbols::SymbolUser;
use loomir_ir::text::AsmNames;
use loomir_ir::{Registry, Type, dialect};

use crate::names::{AsDefined, Inside};
use verify::{is_dictionaries, is_strings, is_symbols};

pub mod consumed;
mod directives;
pub mod types;
pub(crate) mod verify;

use types::{HANDLE, HANDLE_OR_PARAM, HANDLE_OR_VALUE, PARAM, VALUE};

/// The way a sequence answers a failure that another way may replace.
pub static FAILURE_MODE: EnumDef = EnumDef {
    name: "transform.failure_propagation_mode",
    cases: &[("propagate", 1), ("suppress", 2)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Integer(32),
};

/// The comparisons of parameters.
pub static COMPARISON: EnumDef = EnumDef {
    name: "transform.match_cmpi_predicate",
    cases: &[("eq", 0), ("ne", 1), ("lt", 2), ("le", 3), ("gt", 4), ("ge", 5)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Integer(32),
};

/// The interfaces of operations that a match can ask for.
pub static MATCH_INTERFACE: EnumDef = EnumDef {
    name: "transform.match_interface",
    cases: &[("LinalgOp", 0), ("TilingInterface", 1), ("LoopLikeInterface", 2)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Integer(32),
};

const STRINGS: AttrConstraint = AttrConstraint::Where(Cow::Borrowed("string array attribute"), is_strings);
const SYMBOLS: AttrConstraint =
    AttrConstraint::Where(Cow::Borrowed("symbol ref array attribute"), is_symbols);
const DICTIONARIES: AttrConstraint =
    AttrConstraint::Where(Cow::Borrowed("Array of dictionary attributes"), is_dictionaries);
const POSITIVE: AttrConstraint = AttrConstraint::Confined(
    &AttrConstraint::Integer(64),
    Cow::Borrowed("64-bit signless integer attribute whose value is positive"),
    |ctx, attr| attr.as_int(ctx).is_some_and(|value| value > 0),
);
const SCF_FOR: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("Transform IR handle to scf.for operations"), types::is_scf_for);

dialect! {
    /// Programs that transform other programs.
    pub TRANSFORM = "transform" {
        types [types::ANY_OP, types::ANY_VALUE, types::ANY_PARAM, types::OP, types::PARAM_TYPE, types::TYPE]
        attrs [types::PARAM_OPERAND]
        directives [
            directives::SEQUENCE_OPERANDS,
            directives::FOREACH_MATCH_SYMBOLS,
            directives::PASS_OPTIONS,
            directives::SELECTED_REGION,
            directives::SAME_TYPES,
            directives::POSITIONS,
        ]
        unknown_ops allowed;
    }

    /// Tries its regions in order, each on the program as it was before, until one does not fail.
    AlternativesOp = "alternatives" {
        operands { scope: Optional HANDLE }
        results { results: Variadic HANDLE }
        regions { alternatives: SingleBlock variadic = YieldOp }
        traits [IsolatedFromAbove]
        format "($scope^ `:` type($scope))? (`->` type($results)^)? attr-dict-with-keyword regions"
        verify verify::alternatives;
    }

    /// Sets an attribute of operations: a unit, or the value of a parameter.
    AnnotateOp = "annotate" {
        operands { target: One HANDLE, param: Optional PARAM }
        attrs { name: Required String }
        format "$target $name attr-dict (`=` $param^)? `:` type($target) (`,` type($param)^)?"
    }

    /// Eliminates common subexpressions.
    ApplyCseOp = "apply_cse",
    /// Eliminates dead code.
    ApplyDceOp = "apply_dce",
    /// Moves invariant operations out of loops.
    ApplyLicmOp = "apply_licm" {
        operands { target: One HANDLE }
        format "`to` $target attr-dict `:` type($target)"
    }

    /// Applies patterns until none matches. The region names the patterns.
    ApplyPatternsOp = "apply_patterns" {
        operands { target: One HANDLE }
        attrs {
            apply_cse: Optional Unit,
            max_iterations: Default = "-1 : i64" Integer(64),
            max_num_rewrites: Default = "-1 : i64" Integer(64),
        }
        regions { patterns: SingleBlock }
        traits [GraphRegion, NoTerminator]
        format "`to` $target $patterns attr-dict `:` type($target)"
        verify verify::apply_patterns;
    }

    /// The patterns that canonicalize.
    CanonicalizationOp = "apply_patterns.canonicalization" {
        format "attr-dict"
    }

    /// Runs a pass.
    ApplyRegisteredPassOp = "apply_registered_pass" {
        operands { target: One HANDLE, dynamic_options: Variadic PARAM }
        results { result: One HANDLE }
        attrs { pass_name: Required String, options: Default = "{}" Dictionary }
        format "$pass_name (`with` `options` `=` custom<ApplyRegisteredPassOptions>($options, $dynamic_options)^)? `to` $target attr-dict `:` functional-type(operands, results)"
        verify verify::apply_registered_pass;
    }

    /// Yields the same operations under another type of handle.
    CastOp = "cast" {
        operands { input: One HANDLE }
        results { output: One HANDLE }
        format "$input attr-dict `:` type($input) `to` type($output)"
    }

    /// Yields the number of operations or parameters.
    NumAssociationsOp = "num_associations" {
        operands { handle: One HANDLE_OR_PARAM }
        results { num: One PARAM }
        format "$handle attr-dict `:` functional-type(operands, results)"
    }

    /// Yields the operations for which a named matcher succeeds.
    CollectMatchingOp = "collect_matching" {
        operands { root: One HANDLE }
        results { results: Variadic HANDLE_OR_PARAM }
        attrs { matcher: Required Symbol }
        format "$matcher `in` $root attr-dict `:` functional-type($root, $results)"
        interfaces { dyn SymbolUser = verify::Matcher }
    }

    /// Runs, for each operation, the action of the first matcher that succeeds.
    ForeachMatchOp = "foreach_match" {
        operands { root: One HANDLE, forwarded_inputs: Variadic HANDLE_OR_PARAM }
        results { updated: One HANDLE, forwarded_outputs: Variadic HANDLE_OR_PARAM }
        attrs {
            restrict_root: Optional Unit,
            flatten_results: Optional Unit,
            matchers: Required SYMBOLS,
            actions: Required SYMBOLS,
        }
        format "oilist(`restrict_root` $restrict_root | `flatten_results` $flatten_results) `in` $root (`,` $forwarded_inputs^)? custom<ForeachMatchSymbols>($matchers, $actions) attr-dict `:` functional-type(operands, results)"
        verify verify::foreach_match;
        interfaces { dyn SymbolUser = verify::Matchers, dyn AsmNames = directives::ForeachMatchNames }
    }

    /// Runs its body once for each operation.
    ForeachOp = "foreach" {
        operands { targets: Variadic HANDLE_OR_PARAM }
        results { results: Variadic HANDLE_OR_PARAM }
        attrs { with_zip_shortest: Optional Unit }
        regions { body: SingleBlock = YieldOp }
        format "$targets oilist(`with_zip_shortest` $with_zip_shortest) `:` type($targets) (`->` type($results)^)? $body attr-dict"
        verify verify::foreach;
    }

    /// Yields the operations that use a result.
    GetConsumersOp = "get_consumers_of_result" {
        operands { target: One HANDLE }
        results { consumers: One HANDLE }
        attrs { result_number: Required Integer(64) }
        format "$target `[` $result_number `]` attr-dict `:` functional-type(operands, results)"
    }

    /// Yields the operations that compute values.
    GetDefiningOp = "get_defining_op" {
        operands { target: One VALUE }
        results { result: One HANDLE }
        format "$target attr-dict `:` functional-type(operands, results)"
    }

    /// Yields operands of operations.
    GetOperandOp = "get_operand",
    /// Yields results of operations.
    GetResultOp = "get_result" {
        operands { target: One HANDLE }
        results { result: One VALUE }
        attrs {
            raw_position_list: Required DenseArray(Type::I64),
            is_inverted: Optional Unit,
            is_all: Optional Unit,
        }
        format "$target `[` custom<TransformMatchDims>($raw_position_list, $is_inverted, $is_all) `]` attr-dict `:` functional-type(operands, results)"
        verify verify::positions;
    }

    /// Yields an operation around each operation.
    GetParentOp = "get_parent_op" {
        operands { target: One HANDLE }
        results { parent: One HANDLE }
        attrs {
            isolated_from_above: Optional Unit,
            allow_empty_results: Optional Unit,
            op_name: Optional String,
            deduplicate: Optional Unit,
            nth_parent: Default = "1 : i64" POSITIVE,
        }
        format "$target attr-dict `:` functional-type(operands, results)"
    }

    /// Yields the operations that compute an operand.
    GetProducerOp = "get_producer_of_operand" {
        operands { target: One HANDLE }
        results { producer: One HANDLE }
        attrs { operand_number: Required Integer(64) }
        format "$target `[` $operand_number `]` attr-dict `:` functional-type(operands, results)"
    }

    /// Runs a named sequence.
    IncludeOp = "include" {
        operands { operands: Variadic HANDLE_OR_PARAM }
        results { results: Variadic HANDLE_OR_PARAM }
        attrs {
            target: Required Symbol,
            failure_propagation_mode: Required Enum(&FAILURE_MODE),
            arg_attrs: Optional DICTIONARIES,
            res_attrs: Optional DICTIONARIES,
        }
        format "$target `failures` `(` $failure_propagation_mode `)` `(` $operands `)` attr-dict `:` functional-type($operands, $results)"
        interfaces { dyn SymbolUser = verify::Include }
    }

    /// Fails unless the handle has no operation.
    MatchEmptyOp = "match.operation_empty" {
        operands { operand_handle: One HANDLE }
        format "$operand_handle attr-dict `:` type($operand_handle)"
    }

    /// Fails unless the operation has one of these names.
    MatchNameOp = "match.operation_name" {
        operands { operand_handle: One HANDLE }
        attrs { op_names: Required STRINGS }
        format "$operand_handle $op_names attr-dict `:` type($operand_handle)"
    }

    /// Fails unless the parameters compare so.
    MatchCmpIOp = "match.param.cmpi" {
        operands { param: One PARAM, reference: One SameAs("param") }
        attrs { predicate: Required Enum(&COMPARISON) }
        traits [SameTypeOperands]
        format "$predicate $param `,` $reference attr-dict `:` type($param)"
    }

    /// Yields the operations of all handles.
    MergeHandlesOp = "merge_handles" {
        operands { handles: Variadic SameAs("result") }
        results { result: One HANDLE_OR_PARAM }
        attrs { deduplicate: Optional Unit }
        traits [SameOperandsAndResultType]
        format "(`deduplicate` $deduplicate^)? $handles attr-dict `:` type($result)"
    }

    /// A schedule, or part of one, that others include by name.
    NamedSequenceOp = "named_sequence" {
        attrs {
            sym_name: Required String,
            function_type: Required FunctionType,
            sym_visibility: Optional String,
            arg_attrs: Optional DICTIONARIES,
            res_attrs: Optional DICTIONARIES,
        }
        regions { body: AtMostOneBlock }
        traits [IsolatedFromAbove, Symbol]
        syntax (crate::func::syntax::parse_func, crate::func::syntax::print_func);
        verify verify::named_sequence;
        interfaces { dyn SymbolUser = verify::Named }
    }

    /// Yields handles to parts of a handle's operations.
    SplitHandleOp = "split_handle" {
        operands { handle: One HANDLE_OR_PARAM }
        results { results: Variadic HANDLE_OR_PARAM }
        attrs {
            pass_through_empty_handle: Default = "true" Bool,
            fail_on_payload_too_small: Default = "true" Bool,
            overflow_result: Optional Integer(64),
        }
        format "$handle attr-dict `:` functional-type(operands, results)"
        verify verify::split_handle;
    }

    /// A parameter.
    ParamConstantOp = "param.constant" {
        results { param: One PARAM }
        attrs { value: Required Any }
        format "$value attr-dict `->` type($param)"
    }

    /// Prints operations.
    PrintOp = "print" {
        operands { target: Optional HANDLE }
        attrs {
            name: Optional String,
            assume_verified: Optional Unit,
            use_local_scope: Optional Unit,
            skip_regions: Optional Unit,
        }
        format "$target attr-dict (`:` type($target)^)?"
    }

    /// Yields the operations of each handle as often as the pattern has operations.
    ReplicateOp = "replicate" {
        operands { pattern: One HANDLE, handles: Variadic HANDLE_OR_PARAM }
        results { replicated: Variadic HANDLE_OR_PARAM }
        format "`num` `(` $pattern `)` $handles attr-dict `:` type($pattern) `,` custom<SameTypes>(type($handles), type($replicated))"
        verify verify::replicate;
    }

    /// Yields the types of values, or of the elements of values.
    GetTypeOp = "get_type" {
        operands { value: One VALUE }
        results { type_param: One PARAM }
        attrs { elemental: Optional Unit }
        format "(`elemental` $elemental^)? $value attr-dict `:` functional-type(operands, results)"
    }

    /// Yields the operations of a name.
    SelectOp = "select" {
        operands { target: One HANDLE }
        results { result: One HANDLE }
        attrs { op_name: Required String }
        format "$op_name `in` $target attr-dict `:` functional-type(operands, results)"
    }

    /// Runs its body.
    SequenceOp = "sequence" {
        operands { root: Optional HANDLE, extra_bindings: Variadic HANDLE_OR_PARAM }
        results { results: Variadic HANDLE }
        attrs { failure_propagation_mode: Required Enum(&FAILURE_MODE) }
        regions { body: SingleBlock = YieldOp }
        traits [AttrSizedOperandSegments]
        format "custom<SequenceOpOperands>($root, type($root), $extra_bindings, type($extra_bindings)) (`->` type($results)^)? `failures` `(` $failure_propagation_mode `)` attr-dict-with-keyword regions"
        verify verify::sequence;
        interfaces { dyn AsmNames = Inside("transform") }
    }

    /// Verifies operations.
    VerifyOp = "verify" {
        operands { target: One HANDLE }
        format "$target attr-dict `:` type($target)"
    }

    /// Ends a region and gives its results to the operation around it.
    YieldOp = "yield" {
        operands { operands: Variadic HANDLE_OR_PARAM }
        traits [Terminator]
        format "operands attr-dict (`:` type($operands)^)?"
    }

    /// Yields the operations inside a target that satisfy all constraints.
    MatchOp = "structured.match" {
        operands { target: One HANDLE }
        results { results: One HANDLE }
        attrs {
            ops: Optional STRINGS,
            interface: Optional Enum(&MATCH_INTERFACE),
            op_attrs: Optional Dictionary,
            filter_result_type: Optional TypeAttr,
            filter_operand_types: Optional Array,
        }
        format "(`ops` `{` $ops^ `}`)? (`interface` `{` $interface^ `}`)? (`attributes` $op_attrs^)? (`filter_result_type` `=` $filter_result_type^)? (`filter_operand_types` `=` $filter_operand_types^)? `in` $target attr-dict `:` functional-type($target, results)"
    }

    /// Runs a perfect nest of loops as one loop.
    CoalesceOp = "loop.coalesce" {
        operands { target: One HANDLE }
        results { transformed: One HANDLE }
        format "$target attr-dict `:` functional-type($target, $transformed)"
    }

    /// Fuses a loop into another one beside it.
    FuseSiblingOp = "loop.fuse_sibling" {
        operands { target: One HANDLE, source: One HANDLE }
        results { fused_loop: One HANDLE }
        format "$target `into` $source attr-dict `:` functional-type(operands, results)"
    }

    /// Makes a nest of `scf.for` of a parallel loop without results.
    ForallToForOp = "loop.forall_to_for",
    /// Makes a nest of `scf.for` of a parallel loop without results.
    ParallelToForsOp = "loop.parallel_for_to_nested_fors" {
        operands { target: One HANDLE }
        results { transformed: Variadic HANDLE }
        format "$target attr-dict `:` functional-type(operands, results)"
    }

    /// Makes an `scf.parallel` of an `scf.forall` without results.
    ForallToParallelOp = "loop.forall_to_parallel" {
        operands { target: One HANDLE }
        results { transformed: Variadic HANDLE }
        format "$target attr-dict `:` functional-type(operands, results)"
    }

    /// Replaces a conditional by one of its branches.
    TakeAssumedBranchOp = "scf.take_assumed_branch" {
        operands { target: One HANDLE }
        attrs { take_else_branch: Optional Unit }
        format "$target (`take_else_branch` $take_else_branch^)? attr-dict `:` functional-type(operands, results)"
    }

    /// Moves invariant accesses of parts of tensors out of a loop.
    HoistSubsetsOp = "loop.hoist_loop_invariant_subsets" {
        operands { target: One HANDLE }
        format "$target attr-dict `:` type($target)"
    }

    /// Erases buffers that are only written, with their stores.
    EraseDeadAllocOp = "memref.erase_dead_alloc_and_stores" {
        operands { target: One HANDLE }
        format "$target attr-dict `:` functional-type($target, results)"
    }

    /// Makes a function of each loop, and calls it.
    OutlineOp = "loop.outline" {
        operands { target: One HANDLE }
        results { function: One HANDLE, call: One HANDLE }
        attrs { func_name: Required String }
        format "$target attr-dict `:` functional-type(operands, results)"
        interfaces { dyn AsmNames = AsDefined }
    }

    /// Moves the first or the last iteration of a loop out of it.
    PeelOp = "loop.peel" {
        operands { target: One SCF_FOR }
        results { peeled_loop: One HANDLE, remainder_loop: One HANDLE }
        attrs { peel_front: Default = "false" Bool, fail_if_already_divisible: Default = "false" Bool }
        format "$target attr-dict `:` functional-type(operands, results)"
        interfaces { dyn AsmNames = AsDefined }
    }

    /// Replaces a loop of one iteration by its body.
    PromoteOp = "loop.promote_if_one_iteration" {
        operands { target: One HANDLE }
        format "$target attr-dict `:` type($target)"
    }

    /// Unrolls loops.
    UnrollOp = "loop.unroll",
    /// Unrolls loops, and runs the copies of their inner loops as one.
    UnrollAndJamOp = "loop.unroll_and_jam" {
        operands { target: One HANDLE }
        attrs { factor: Required POSITIVE }
        format "$target attr-dict `:` type($target)"
    }

    /// A parameter with a choice of values.
    KnobOp = "tune.knob" {
        results { result: One PARAM }
        attrs { name: Required String, options: Required Any, selected: Optional Any }
        format "`<` $name `>` (`=` $selected^ `from`)? `options` `=` $options attr-dict `->` type(results)"
        verify verify::knob;
    }

    /// A choice of one of its regions.
    TuneAlternativesOp = "tune.alternatives" {
        operands { selected_region_param: Optional PARAM }
        results { results: Variadic HANDLE_OR_PARAM }
        attrs { name: Required String, selected_region_attr: Optional Typed }
        regions { alternatives: SingleBlock variadic = YieldOp }
        format "`<` $name `>` (`selected_region` `=` custom<AlternativesOpSelectedRegion>($selected_region_attr, $selected_region_param)^)? attr-dict-with-keyword (`:` type($selected_region_param)^)? (`->` type($results)^)? regions"
        verify verify::tune_alternatives;
    }

    /// Emits a remark at operations.
    RemarkAtOp = "debug.emit_remark_at" {
        operands { at: One HANDLE_OR_VALUE }
        attrs { message: Required String }
        format "$at `,` $message attr-dict `:` type($at)"
    }

    /// Emits a remark with the values of a parameter.
    ParamRemarkOp = "debug.emit_param_as_remark" {
        operands { param: One PARAM, anchor: Optional HANDLE }
        attrs { message: Optional String }
        format "$param (`,` $message^)? (`at` $anchor^)? attr-dict `:` type($param) (`,` type($anchor)^)?"
    }
}

/// The attribute of a module that may have named sequences.
pub const WITH_NAMED_SEQUENCE: &str = "transform.with_named_sequence";

/// The named sequence that is run if no other is asked for.
pub const ENTRY_POINT: &str = "__transform_main";

/// Returns the number of the parameter that an option of a pass refers to.
pub fn param_number(ctx: &loomir_ir::Context, option: loomir_ir::Attr) -> Option<usize> {
    directives::referred(ctx, option)
}

/// Returns `!transform.any_op`.
pub fn any_op(ctx: &loomir_ir::Context) -> Type {
    ctx.dialect_type("transform.any_op", &[])
}

/// Registers the dialect.
pub fn register(registry: &mut Registry) {
    registry.dialect(&TRANSFORM);
}
