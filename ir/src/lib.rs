//! Loomir's intermediate representation.
//!
//! A program is a tree: an *operation* holds *regions*, a region holds *blocks*, a block holds
//! operations. Values are results of operations or arguments of blocks. Everything that can be
//! shared between programs (types, attributes, affine maps, names, locations) is uniqued once in a
//! [`Context`] and named by a 4-byte handle; everything that changes lives in a [`Body`], an arena
//! of its own for each operation that is isolated from above.
//!
//! This crate knows no dialect. What an operation *is* comes from an [`OpDef`], a table that the
//! parser, the printer, the verifier and the builder interpret; what it *means* comes from
//! interfaces that other crates attach to its [`OpInfo`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`context`] | uniquing, registration |
//! | [`types`], [`attributes`], [`affine`], [`location`] | what is uniqued |
//! | [`opdef`], [`mod@dialect`] | operations as data, the `dialect!` macro |
//! | [`body`], [`builder`], [`walk`], [`mod@rewrite`] | storage and its mutation |
//! | [`graph`] | dominators over the blocks of a region |
//! | [`symbols`], [`verifier`] | symbol tables; the rules of well-formed IR |
//! | [`text`] | MLIR's text, both ways |
//! | [`resources`] | what tools keep beside a program |
//! | [`pass`] | passes and pipelines |
//! | [`diagnostics`] | what is said to the user, as data |
#![forbid(unsafe_code)]

pub mod affine;
pub mod attributes;
pub mod body;
pub mod builder;
pub mod context;
pub mod diagnostics;
pub mod dialect;
pub mod entity;
pub mod graph;
pub mod location;
pub mod opdef;
pub mod pass;
pub mod resources;
pub mod rewrite;
pub mod symbols;
pub mod text;
pub mod types;
pub mod verifier;
pub mod walk;

pub use affine::{AffineExpr, AffineExprKind, AffineMap, IntegerSet};
pub use attributes::{Attr, AttrKind, Dict};
pub use body::{Body, Fate, Import, Mapping, OpRef, Signatures, Use, ValueDef};
pub use builder::{Builder, InsertPoint, OperationState};
pub use context::{Context, Name, OpInfo, OpName, Registry};
pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use entity::{Block, Op, Region, Value};
pub use location::{Loc, LocKind};
pub use opdef::{EnumDef, OpDef, Trait};
pub use types::{DYNAMIC, FloatKind, Signedness, Type, TypeKind, row_major_strides};

/// The example of the guide for contributors, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../CONTRIBUTING.md")]
struct Contributing;
