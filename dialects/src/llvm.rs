//! The `llvm` dialect: LLVM IR as operations, with block arguments in place of phi nodes.
//!
//! Everything is lowered to it before it leaves for LLVM. Operations, names and attributes are
//! LLVM's. The LLVM language reference defines the instructions. The dialect is large, so its
//! operations are defined in one table a topic, joined to one dialect here:
//!
//! | module | holds |
//! | --- | --- |
//! | [`types`] | pointers, structs, arrays, function types |
//! | [`attributes`] | linkage, calling conventions, fast-math flags and other enumerations |
//! | [`arithmetic`] | integer and floating-point instructions, comparisons |
//! | [`conversions`] | casts |
//! | [`memory`] | allocation, access, addresses |
//! | [`aggregates`] | elements of structs, arrays and vectors |
//! | [`control`] | branches, calls, returns |
//! | [`globals`] | functions, globals, constants |
//! | [`intrinsics`] | the `llvm.intr.` operations |

use std::borrow::Cow;

use loomir_ir::opdef::DialectDef;
use loomir_ir::{OpDef, Registry};

pub mod aggregates;
pub mod arithmetic;
pub mod attributes;
mod constraints;
pub mod control;
pub mod conversions;
mod evaluate;
mod foreign;
pub mod globals;
mod inlining;
mod interfaces;
pub mod intrinsics;
mod kept;
pub mod memory;
mod patterns;
mod type_syntax;
pub mod types;

/// The attribute that keeps metadata as it was written: on a module its nodes and lists of nodes,
/// elsewhere the attached metadata.
pub const METADATA: &str = "llvm.metadata";

pub use aggregates::*;
pub use arithmetic::*;
pub use control::*;
pub use conversions::*;
pub use evaluate::promised_range;
pub use globals::*;
pub use inlining::{is_must_tail, move_metadata};
pub use intrinsics::*;
pub use memory::*;

/// LLVM IR as operations.
pub static LLVM: DialectDef = DialectDef {
    name: Cow::Borrowed("llvm"),
    doc: Cow::Borrowed(" LLVM IR as operations, with block arguments in place of phi nodes.\n"),
    ops: Cow::Borrowed(&OPS),
    enums: Cow::Borrowed(attributes::ENUMS),
    types: Cow::Borrowed(type_syntax::TYPES),
    attrs: Cow::Borrowed(attributes::STRUCTS),
    // MLIR's has many more intrinsics.
    allows_unknown_ops: true,
    directives: Cow::Borrowed(&[]),
    materialize_constant: Some(globals::materialize),
    interfaces: |registry| PARTS.iter().for_each(|part| (part.interfaces)(registry)),
};

/// The tables of the topics.
const PARTS: &[&DialectDef] = &[
    &ARITHMETIC,
    &CONVERSIONS,
    &MEMORY,
    &AGGREGATES,
    &CONTROL,
    &GLOBALS,
    &FLOAT_INTRINSICS,
    &INTEGER_INTRINSICS,
    &MEMORY_INTRINSICS,
    &VECTOR_INTRINSICS,
];

static OPS: [&OpDef; count(PARTS)] = join(PARTS);

const fn ops(part: &'static DialectDef) -> &'static [&'static OpDef] {
    match &part.ops {
        Cow::Borrowed(ops) => ops,
        Cow::Owned(_) => &[],
    }
}

/// Returns the number of operations of all parts.
const fn count(parts: &[&'static DialectDef]) -> usize {
    let (mut total, mut p) = (0, 0);
    while p < parts.len() {
        total += ops(parts[p]).len();
        p += 1;
    }
    total
}

/// Returns the operations of all parts.
const fn join<const N: usize>(parts: &[&'static DialectDef]) -> [&'static OpDef; N] {
    let mut all = [AddOp::DEF; N];
    let (mut next, mut p) = (0, 0);
    while p < parts.len() {
        let part = ops(parts[p]);
        let mut i = 0;
        while i < part.len() {
            all[next] = part[i];
            next += 1;
            i += 1;
        }
        p += 1;
    }
    all
}

/// Registers the dialect and its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&LLVM);
    kept::register(registry);
    interfaces::register(registry);
    evaluate::register(registry);
    registry.patterns(patterns::PATTERNS);
}
