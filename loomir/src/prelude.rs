//! The names that most programs with Loomir use: `use loomir::prelude::*`.

pub use loomir_ir::dialect;
pub use loomir_ir::pass::{Pass, PassContext, PassInfo};
pub use loomir_ir::{
    Attr, Block, Body, Builder, Context, Diagnostics, InsertPoint, Op, OpRef, Registry, Type, Value,
};
pub use loomir_transforms::access::base::AliasMode;
pub use loomir_transforms::fusion::{Options as FuseOptions, Profitability};

pub use crate::{Failed, Pipeline, Program};
