//! LLVM's text (`.ll`) and the `llvm` dialect, both ways, in pure Rust.
//!
//! The dialect is LLVM IR with three differences. Constants are operations (in the text they are
//! literals at their uses). Values pass into blocks as arguments (in the text they are phi nodes).
//! Intrinsics are operations (in the text they are calls of declared functions). Unnamed values and
//! blocks are numbered as in LLVM, so LLVM reads and prints the same numbers.
//!
//! A phi node has one entry for each edge into its block, so two edges from one block must bring
//! the same values. If they don't (a conditional branch with equal targets but different operands),
//! the later edge goes through a block of its own.
//!
//! No target is written unless the module names one (`llvm.data_layout`, `llvm.target_triple`): the
//! reading tool decides. Annotations of loops and weights of branches are attributes in the
//! dialect, as MLIR's importer makes them. Other annotations, and all other metadata, are kept and
//! written as they were read. The dialect's own attributes of aliases and types are hints and left
//! out.
//!
//! | module | holds |
//! | --- | --- |
//! | `read` | from text |
//! | `write` | to text |
//! | `attributes`, `intrinsics`, `loops` | tables of LLVM's attributes, intrinsics and loop annotations, for both |
//!
//! # Limits
//!
//! - Assembly that unwinds, phi nodes of the result of a `callbr`, functions in other address
//!   spaces and summaries are refused by a diagnostic. [`from_ll_in_part`] declares such functions
//!   and variables instead, and [`splice`] leaves their text as it is.
//! - A function is never changed if it has blocks whose address is taken, `indirectbr`, `callbr`,
//!   or pads of exceptions on Windows and WebAssembly (`catchswitch` and its companions).
//! - A call of a function as another type goes through its address.
//! - Names of values and blocks, debug records, flags and locations of phi nodes are kept while a
//!   function is unchanged (`ll/as_read.rs`). A function that a pass changes loses them.
//! - Lost are orders of uses, of the entries of phi nodes and of named metadata, types of constant
//!   indices, and `inrange` outside of initializers. Constant expressions become operations at the
//!   start of the function, and are written as such while the function is unchanged. Loops with
//!   equal annotations share one metadata node.
//! - Operations of `llvm` that nothing here makes or reads (most intrinsics, debug information) are
//!   kept as they are written, unchecked.

use loomir_dialects::interfaces::FunctionLike;
use loomir_dialects::llvm::attributes::TAIL_CALL_KIND;
use loomir_ir::{Attr, AttrKind, Context, OpRef};

mod as_read;
mod attributes;
mod intrinsics;
mod loops;
mod read;
mod write;

pub(crate) use loomir_dialects::llvm::METADATA;
pub use loops::directed_branches;
pub(crate) use loops::{ANNOTATION as LOOP_ANNOTATION, Properties};
pub use read::{from_ll, from_ll_in_part, is_ll, ll_outline};
pub(crate) use write::{Label, block_labels, results};
pub use write::{splice, to_ll};

/// The table of comdat selectors, by the name MLIR's importer gives it.
const COMDATS: &str = "__llvm_global_comdat";

/// The thread-local storage model of a variable, in LLVM's syntax; of `llvm.mlir.global` and
/// `llvm.mlir.alias`.
const THREAD_LOCAL_MODEL: &str = "llvm.thread_local_model";

/// An attribute of a `llvm.getelementptr` in an initializer: the part of the object that the
/// address is used for.
const IN_RANGE: &str = "llvm.inrange";

/// An attribute of `llvm.call_intrinsic`: for each argument of the call its metadata, as it was
/// written, or unit for an operand.
pub(crate) const METADATA_ARGUMENTS: &str = "llvm.metadata_arguments";

/// An attribute of `llvm.call`: the type of a variadic callee.
const VARIADIC_TYPE: &str = "var_callee_type";

/// The same attribute of `llvm.call_intrinsic`.
const VARIADIC_INTRINSIC: &str = "llvm.var_callee_type";

/// Attributes of a function: constants as they were written, each with the word before it. A
/// personality that is the address of a function is an attribute of the dialect.
const CONSTANTS: [(&str, &str); 3] =
    [("llvm.prefix", "prefix"), ("llvm.prologue", "prologue"), ("llvm.personality", "personality")];

/// An attribute of a symbol: its partition of the program.
const PARTITION: &str = "llvm.partition";

/// An attribute of a symbol: its name is a number, which is assigned anew when it is written.
const UNNAMED: &str = "llvm.unnamed";

/// An attribute of a variable: words behind its section and alignment, as they were written.
const VARIABLE_WORDS: &str = "llvm.variable_words";

/// An attribute of a symbol: LLVM's word for import from, or export to, a DLL.
const DLL_STORAGE: &str = "llvm.dll_storage";

/// The number of a calling convention that the dialect has no name for.
const CALLING_CONVENTION: &str = "llvm.calling_convention";

/// An attribute of a branch: its block is an edge of the text. A value that is known on an edge
/// alone passes into a block through such a block.
const EDGE: &str = "llvm.edge";

/// An attribute of `llvm.alloca`: the memory is for errors of Swift, which a register holds.
const SWIFT_ERROR: &str = "llvm.swifterror";

/// The assembly of a module, one line each, as MLIR stores it.
const MODULE_ASM: &str = "llvm.module_asm";

/// The tail call kind of `llvm.call`, and of operations made from calls of intrinsics.
const TAIL_CALL: &str = "TailCallKind";

/// True if a call passes the variable arguments of its function on: it must be a tail call, and the
/// function is variadic.
fn forwards_arguments(function: OpRef<'_>, tail: Option<Attr>) -> bool {
    let model = function.info().interface::<dyn FunctionLike>();
    let kind = tail.and_then(|tail| TAIL_CALL_KIND.value(function.ctx(), tail));
    kind.is_some()
        && kind == TAIL_CALL_KIND.value_of("musttail")
        && model.is_some_and(|model| model.is_variadic(function))
}

/// Returns the metadata of a kind that is kept at an operation as it is written.
pub(crate) fn kept_metadata(op: OpRef<'_>, kind: &str) -> Option<Attr> {
    match op.attr(METADATA)?.kind(op.ctx()) {
        AttrKind::Dictionary(all) => all.get(op.ctx(), kind),
        _ => None,
    }
}

/// True if the annotation of a latch's branch promises that its loop makes progress.
pub(crate) fn must_progress(ctx: &Context, annotation: Attr) -> bool {
    Properties::of(ctx, annotation).is_some_and(|all| all.has("llvm.loop.mustprogress"))
}

/// True if a function promises that all its loops make progress.
pub(crate) fn function_must_progress(function: OpRef<'_>) -> bool {
    has_word(function, &["mustprogress"])
}

/// True if a function is to be small: `optsize` or `minsize`.
pub fn is_for_size(function: OpRef<'_>) -> bool {
    has_word(function, &["optsize", "minsize"])
}

/// True if a function has one of these attributes.
fn has_word(function: OpRef<'_>, words: &[&str]) -> bool {
    let ctx = function.ctx();
    let own = function.attr("passthrough").and_then(|own| own.as_array(ctx)).unwrap_or_default();
    own.iter().any(|own| own.as_str(ctx).is_some_and(|own| words.contains(&own)))
}
