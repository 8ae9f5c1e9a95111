//! The names that a dialect of one's own uses: `use loomir::extend::*`.
//!
//! The crate `example/` has a dialect of two operations.

pub use loomir_dialects::interfaces::{
    Access as MemRefAccess, Effect, EffectKind, MemoryAccess, MemoryEffects, OperandEffects, Resource,
};
pub use loomir_dialects::interp::access::{Access, Subscripts};
pub use loomir_dialects::interp::elementwise::{binary, bit_width, ternary, unary};
pub use loomir_dialects::interp::{Datum, Decoded, Decoder, Evaluate, Flow, Step, action};
pub use loomir_dialects::llvm;
pub use loomir_ir::opdef::Folded;
pub use loomir_ir::rewrite::constant_of;
pub use loomir_ir::{Attr, Body, Diagnostics, OpRef, Registry, Type, Value, dialect};
pub use loomir_lowering::to_llvm::{ConvertToLlvm, Converted, FunctionConverter};
