//! The [`dialect!`](crate::dialect!) macro: a dialect as a table in Rust.
//!
//! ```
//! use loomir_ir::{dialect, Body, Context, Registry};
//!
//! dialect! {
//!     /// Toy arithmetic.
//!     pub TOY = "toy" {}
//!
//!     /// Sum of two equal-typed integers.
//!     AddOp = "add" {
//!         operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
//!         results { sum: One SameAs("lhs") }
//!         traits [Pure, Commutative]
//!         format "$lhs `,` $rhs attr-dict `:` type($sum)"
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.dialect(&TOY);
//! let ctx = Context::new(registry);
//! assert!(ctx.op_info(ctx.op_name("toy.add")).is(AddOp::DEF));
//! ```
//!
//! Sections of an operation, all optional, in this order:
//!
//! | section | says |
//! | --- | --- |
//! | `operands { name: Arity Constraint, … }` | `Arity` is `One`, `Optional` or `Variadic`; constraints are those of [`constraints`] |
//! | `results { … }` | the same |
//! | `attrs { name: Presence Constraint, … }` | inherent attributes; `Presence` is `Required`, `Optional`, `Default = "text"` or `Implied = "text"` |
//! | `regions { name: Kind, … }` | `Any`, `NonEmpty`, `SingleBlock`, `AtMostOneBlock`; `variadic` behind the kind of the last; `= YieldOp` behind that for the operation that a format leaves out at the end |
//! | `successors { name, … }` | `variadic` behind the name of the last |
//! | `traits [Trait, …]` | see [`Trait`](crate::Trait) |
//! | `format "…"` | MLIR's declarative assembly format |
//! | `syntax (parse, print);` | custom form by functions, in place of `format` |
//! | `verify_signature function;` | what the tables cannot say, and attributes and types decide |
//! | `verify function;` | what only the operation itself can say, by its values or its place |
//! | `fold function;` | simplification without new operations |
//! | `interfaces { dyn Trait = model, … }` | meaning for analyses and passes, attached when the dialect is registered |
//!
//! With `unknown_ops allowed;` behind its other sections, a dialect reads and prints operations
//! that it does not define, and knows nothing of them.
//!
//! A family of operations that differ in their names alone shares the sections:
//! `AndOp = "and", OrOp = "or" { … }`, each with a doc comment of its own.
//!
//! Each operation becomes a `Copy` wrapper around [`Op`](crate::Op) with its definition as `DEF`, a
//! checked `cast`, an accessor a name, and `build`. Its parameters are the operands and the
//! required attributes; result types are inferred. `build_as` takes result types.
//!
//! A name in a constraint (`SameAs("lsh")`) or in a format that the operation does not have is a
//! compile error.

/// The vocabulary of `operands`, `results` and `attrs` sections.
#[allow(non_upper_case_globals, non_snake_case, missing_docs)]
pub mod constraints {
    use std::borrow::Cow;

    pub use crate::opdef::AttrConstraint as A;
    use crate::opdef::EnumDef;
    pub use crate::opdef::TypeConstraint as T;
    pub use crate::types::Type;

    /// Constraints on types.
    pub mod types {
        use super::{Cow, T, Type};

        pub const Any: T = T::Any;
        pub const Index: T = T::Exactly(Type::INDEX);
        pub const I1: T = T::Exactly(Type::I1);
        pub const I8: T = T::Exactly(Type::I8);
        pub const I32: T = T::Exactly(Type::I32);
        pub const I64: T = T::Exactly(Type::I64);
        pub const SignlessInteger: T = T::SignlessInteger;
        pub const SignlessIntegerLike: T = T::SignlessIntegerLike;
        pub const SignlessFixedWidthIntegerLike: T = T::SignlessFixedWidthIntegerLike;
        pub const SignlessIntegerOrIndex: T = T::SignlessIntegerOrIndex;
        pub const FloatLike: T = T::FloatLike;
        pub const BoolLike: T = T::BoolLike;
        pub const IndexLike: T = T::IndexLike;
        pub const IntegerIndexOrFloat: T = T::IntegerIndexOrFloat;
        pub const MemRef: T = T::MemRef;
        pub const RankedMemRef: T = T::RankedMemRef;
        pub const Vector: T = T::Vector;
        pub const Tensor: T = T::Tensor;

        pub const fn Exactly(ty: Type) -> T {
            T::Exactly(ty)
        }
        pub const fn Dialect(name: &'static str) -> T {
            T::Dialect(Cow::Borrowed(name))
        }
        pub const fn Plain(name: &'static str) -> T {
            T::Plain(Cow::Borrowed(name))
        }
        pub const fn SameAs(name: &'static str) -> T {
            T::SameAs(Cow::Borrowed(name))
        }
        pub const fn ElementOf(name: &'static str) -> T {
            T::ElementOf(Cow::Borrowed(name))
        }
        pub const fn BoolShapedAs(name: &'static str) -> T {
            T::BoolShapedAs(Cow::Borrowed(name))
        }
        pub const fn AnyOf(choices: &'static [T]) -> T {
            T::AnyOf(Cow::Borrowed(choices))
        }
        pub const fn Where(text: &'static str, accepts: fn(&crate::Context, Type) -> bool) -> T {
            T::Where(Cow::Borrowed(text), accepts)
        }
    }

    /// Constraints on attributes.
    pub mod attrs {
        use super::{A, Cow, EnumDef, Type};

        pub const Any: A = A::Any;
        pub const Unit: A = A::Unit;
        pub const Bool: A = A::Bool;
        pub const Index: A = A::Integer(0);
        pub const String: A = A::String;
        pub const Symbol: A = A::Symbol;
        pub const FlatSymbol: A = A::FlatSymbol;
        pub const TypeAttr: A = A::Type;
        pub const FunctionType: A = A::FunctionType;
        pub const AffineMap: A = A::AffineMap;
        pub const IntegerSet: A = A::IntegerSet;
        pub const Array: A = A::Array;
        pub const Dictionary: A = A::Dictionary;
        pub const Typed: A = A::Typed;
        pub const Elements: A = A::Elements;

        pub const fn Integer(width: u32) -> A {
            A::Integer(width)
        }
        pub const fn Float(ty: Type) -> A {
            A::Float(ty)
        }
        pub const fn Confined(
            base: &'static A,
            text: &'static str,
            accepts: fn(&crate::Context, crate::Attr) -> bool,
        ) -> A {
            A::Confined(base, Cow::Borrowed(text), accepts)
        }
        pub const fn DenseArray(element: Type) -> A {
            A::DenseArray(element)
        }
        pub const fn Enum(def: &'static EnumDef) -> A {
            A::Enum(def)
        }
        pub const fn Dialect(name: &'static str) -> A {
            A::Dialect(Cow::Borrowed(name))
        }
        pub const fn Where(text: &'static str, accepts: fn(&crate::Context, crate::Attr) -> bool) -> A {
            A::Where(Cow::Borrowed(text), accepts)
        }
    }
}

/// The name without the `r#` that lets it be a keyword.
pub const fn plain_name(name: &'static str) -> &'static str {
    let bytes = name.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'r' && bytes[1] == b'#' { name.split_at(2).1 } else { name }
}

/// Defines a dialect. See the [module](mod@crate::dialect).
#[macro_export]
macro_rules! dialect {
    (
        $(#[doc = $ddoc:literal])*
        $vis:vis $table:ident = $dialect:literal {
            $(enums [$($enum:path),* $(,)?])?
            $(types [$($typedef:expr),* $(,)?])?
            $(attrs [$($attrdef:expr),* $(,)?])?
            $(directives [$($directive:expr),* $(,)?])?
            $(constant $constant:path;)?
            $(unknown_ops $unknown:ident;)?
        }
        $(
            $(
                $(#[doc = $doc:literal])*
                $op:ident = $mnemonic:literal
            ),+
            { $($sections:tt)* }
        )*
    ) => {
        $(#[doc = $ddoc])*
        $vis static $table: $crate::opdef::DialectDef = $crate::opdef::DialectDef {
            name: ::std::borrow::Cow::Borrowed($dialect),
            doc: ::std::borrow::Cow::Borrowed(concat!($($ddoc, "\n",)* "")),
            ops: ::std::borrow::Cow::Borrowed(&[$($($op::DEF),+),*]),
            enums: ::std::borrow::Cow::Borrowed(&[$($(&$enum),*)?]),
            types: ::std::borrow::Cow::Borrowed(&[$($($typedef),*)?]),
            attrs: ::std::borrow::Cow::Borrowed(&[$($($attrdef),*)?]),
            allows_unknown_ops: $crate::dialect_flag!($($unknown)?),
            directives: ::std::borrow::Cow::Borrowed(&[$($($directive),*)?]),
            materialize_constant: $crate::dialect_option!($($constant)?),
            interfaces: |_registry| { $($($op::attach_interfaces(_registry);)+)* },
        };
        $($crate::dialect_family! {
            $vis, $dialect [$($(#[doc = $doc])* $op = $mnemonic),+] { $($sections)* }
        })*
    };
}

/// The operations of a [`dialect!`] that share their sections.
#[doc(hidden)]
#[macro_export]
macro_rules! dialect_family {
    (
        $vis:vis, $dialect:literal
        [$($(#[doc = $doc:literal])* $op:ident = $mnemonic:literal),+]
        $sections:tt
    ) => {
        $($crate::dialect_op! { $vis, $dialect $(#[doc = $doc])* $op = $mnemonic $sections })+
    };
}

/// One operation of a [`dialect!`].
#[doc(hidden)]
#[macro_export]
macro_rules! dialect_op {
    (
        $vis:vis, $dialect:literal
        $(#[doc = $doc:literal])*
        $op:ident = $mnemonic:literal {
            $(operands { $($on:ident : $oa:ident $oc:expr),* $(,)? })?
            $(results { $($rn:ident : $ra:ident $rc:expr),* $(,)? })?
            $(attrs { $($an:ident : $ap:ident $(= $ad:literal)? $ac:expr),* $(,)? })?
            $(regions { $($gn:ident : $gk:ident $($gv:ident)? $(= $gt:ident)?),* $(,)? })?
            $(successors { $($sn:ident $($sv:ident)?),* $(,)? })?
            $(traits [$($trait:ident),* $(,)?])?
            $(format $format:literal)?
            $(syntax ($parse:path, $print:path);)?
            $(verify_signature $verify_signature:path;)?
            $(verify $verify:path;)?
            $(fold $fold:path;)?
            $(interfaces { $($interface:ty = $model:expr),* $(,)? })?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis struct $op(
            /// The operation.
            pub $crate::Op,
        );

        #[allow(non_snake_case, dead_code, unreachable_pub)]
        impl $op {
            /// The definition.
            pub const DEF: &'static $crate::OpDef = {
                static OPERANDS: &[$crate::opdef::OperandDef] = {
                    #[allow(unused_imports)]
                    use $crate::dialect::constraints::types::*;
                    &[$($($crate::opdef::OperandDef {
                        name: ::std::borrow::Cow::Borrowed($crate::dialect::plain_name(stringify!($on))),
                        arity: $crate::opdef::Arity::$oa,
                        ty: $oc,
                    }),*)?]
                };
                static RESULTS: &[$crate::opdef::OperandDef] = {
                    #[allow(unused_imports)]
                    use $crate::dialect::constraints::types::*;
                    &[$($($crate::opdef::OperandDef {
                        name: ::std::borrow::Cow::Borrowed($crate::dialect::plain_name(stringify!($rn))),
                        arity: $crate::opdef::Arity::$ra,
                        ty: $rc,
                    }),*)?]
                };
                static ATTRS: &[$crate::opdef::AttrDef] = {
                    #[allow(unused_imports)]
                    use $crate::dialect::constraints::attrs::*;
                    &[$($($crate::opdef::AttrDef {
                        name: ::std::borrow::Cow::Borrowed($crate::dialect::plain_name(stringify!($an))),
                        constraint: $ac,
                        presence: $crate::dialect_presence!($ap $($ad)?),
                    }),*)?]
                };
                static REGIONS: &[$crate::opdef::RegionDef] = &[$($($crate::opdef::RegionDef {
                    name: ::std::borrow::Cow::Borrowed(stringify!($gn)),
                    kind: $crate::opdef::RegionKind::$gk,
                    variadic: $crate::dialect_flag!($($gv)?),
                    terminator: $crate::dialect_option!($($gt::DEF)?),
                }),*)?];
                static SUCCESSORS: &[$crate::opdef::SuccessorDef] = &[$($($crate::opdef::SuccessorDef {
                    name: ::std::borrow::Cow::Borrowed(stringify!($sn)),
                    variadic: $crate::dialect_flag!($($sv)?),
                }),*)?];
                static DEF: $crate::OpDef = $crate::OpDef {
                    name: ::std::borrow::Cow::Borrowed(concat!($dialect, ".", $mnemonic)),
                    doc: ::std::borrow::Cow::Borrowed(concat!($($doc, "\n",)* "")),
                    operands: ::std::borrow::Cow::Borrowed(OPERANDS),
                    results: ::std::borrow::Cow::Borrowed(RESULTS),
                    attrs: ::std::borrow::Cow::Borrowed(ATTRS),
                    regions: ::std::borrow::Cow::Borrowed(REGIONS),
                    successors: ::std::borrow::Cow::Borrowed(SUCCESSORS),
                    traits: $crate::opdef::TraitSet::NONE$($(.with($crate::Trait::$trait))*)?,
                    format: $crate::dialect_option!($(::std::borrow::Cow::Borrowed($format))?),
                    parse: $crate::dialect_option!($($parse)?),
                    print: $crate::dialect_option!($($print)?),
                    verify_signature: $crate::dialect_option!($($verify_signature)?),
                    verify: $crate::dialect_option!($($verify)?),
                    fold: $crate::dialect_option!($($fold)?),
                };
                &DEF
            };

            #[allow(unused)]
            const OPERAND_NAMES: &'static [&'static str] = &[$($(stringify!($on)),*)?];
            #[allow(unused)]
            const RESULT_NAMES: &'static [&'static str] = &[$($(stringify!($rn)),*)?];
            #[allow(unused)]
            const ATTR_NAMES: &'static [&'static str] = &[$($(stringify!($an)),*)?];
            #[allow(unused)]
            const REGION_NAMES: &'static [&'static str] = &[$($(stringify!($gn)),*)?];

            /// Constraints and the format use only names that the operation has.
            const NAMES: () = assert!(
                Self::DEF.has_known_names(),
                concat!("'", $dialect, ".", $mnemonic, "': a constraint or the format uses an unknown name"),
            );

            /// Attaches the interfaces of the table.
            #[inline]
            fn attach_interfaces(_registry: &mut $crate::Registry) {
                let () = Self::NAMES;
                $($(_registry.attach_to::<$interface>(Self::DEF, ::std::boxed::Box::new($model));)*)?
            }

            $crate::dialect_build! { [$($(($on $oa))*)?] [$($(($an $ap))*)?] [] }

            /// Returns `op` as this operation, if it is one.
            pub fn cast(body: &$crate::Body, op: $crate::Op) -> Option<Self> {
                body.is(op, Self::DEF).then_some(Self(op))
            }

            $($($crate::dialect_values!(operand $oa $on);)*)?
            $($($crate::dialect_values!(result $ra $rn);)*)?
            $($($crate::dialect_attr!($an);)*)?
            $($($crate::dialect_region!($gn $($gv)?);)*)?
        }
    };
}

/// `Some(x)` or `None`.
#[doc(hidden)]
#[macro_export]
macro_rules! dialect_option {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

/// True if there is a token.
#[doc(hidden)]
#[macro_export]
macro_rules! dialect_flag {
    () => {
        false
    };
    (variadic) => {
        true
    };
    (allowed) => {
        true
    };
}

/// The builders of an operation: operands in order, then required attributes in order.
#[doc(hidden)]
#[macro_export]
macro_rules! dialect_build {
    ($operands:tt [($name:ident Required) $($rest:tt)*] [$($required:ident)*]) => {
        $crate::dialect_build! { $operands [$($rest)*] [$($required)* $name] }
    };
    ($operands:tt [($name:ident $presence:ident) $($rest:tt)*] $required:tt) => {
        $crate::dialect_build! { $operands [$($rest)*] $required }
    };
    ([$(($on:ident $oa:ident))*] [] [$($an:ident)*]) => {
        /// Makes this operation. The result types follow from the operands. Regions are empty.
        ///
        /// # Panics
        /// If the result types do not follow: [`build_as`](Self::build_as) takes them.
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn build(
            builder: &mut $crate::Builder<'_>
            $(, $on: $crate::dialect_argument!($oa))* $(, $an: $crate::Attr)*
        ) -> Self {
            Self::build_as(builder $(, $on)* $(, $an)*, &[])
        }

        /// Makes this operation with these result types, or with those that follow if there are
        /// none.
        ///
        /// # Panics
        /// If there are none, and they do not follow from the operands.
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn build_as(
            builder: &mut $crate::Builder<'_>
            $(, $on: $crate::dialect_argument!($oa))* $(, $an: $crate::Attr)*,
            results: &[$crate::Type],
        ) -> Self {
            let operands: &[&[$crate::Value]] = &[$($crate::dialect_slice!($oa $on)),*];
            let attrs: &[(&str, $crate::Attr)] =
                &[$(($crate::dialect::plain_name(stringify!($an)), $an)),*];
            Self(builder.build(Self::DEF, operands, attrs, results))
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_argument {
    (One) => { $crate::Value };
    (Optional) => { Option<$crate::Value> };
    (Variadic) => { &[$crate::Value] };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_slice {
    (One $value:ident) => {
        ::std::slice::from_ref(&$value)
    };
    (Optional $value:ident) => {
        $value.as_slice()
    };
    (Variadic $value:ident) => {
        $value
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_presence {
    (Required) => {
        $crate::opdef::Presence::Required
    };
    (Optional) => {
        $crate::opdef::Presence::Optional
    };
    (Default $text:literal) => {
        $crate::opdef::Presence::Default(::std::borrow::Cow::Borrowed($text))
    };
    (Implied $text:literal) => {
        $crate::opdef::Presence::Implied(::std::borrow::Cow::Borrowed($text))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_values {
    (operand $arity:ident $name:ident) => {
        $crate::dialect_values!(@ $arity $name operand_group operand operands OPERAND_NAMES "Operand");
    };
    (result $arity:ident $name:ident) => {
        $crate::dialect_values!(@ $arity $name result_group result results RESULT_NAMES "Result");
    };
    (@ One $name:ident $group:ident $one:ident $all:ident $names:ident $what:literal) => {
        #[doc = concat!($what, " `", stringify!($name), "`.")]
        pub fn $name(self, body: &$crate::Body) -> $crate::Value {
            const { assert!($crate::opdef::position(Self::$names, stringify!($name)) < usize::MAX) };
            let index = $crate::opdef::position(Self::$names, stringify!($name));
            body.$one(self.0, body.$group(self.0, Self::DEF, index).start)
        }
    };
    (@ Optional $name:ident $group:ident $one:ident $all:ident $names:ident $what:literal) => {
        #[doc = concat!($what, " `", stringify!($name), "`, if it is there.")]
        pub fn $name(self, body: &$crate::Body) -> Option<$crate::Value> {
            let index = $crate::opdef::position(Self::$names, stringify!($name));
            body.$group(self.0, Self::DEF, index).next().map(|i| body.$one(self.0, i))
        }
    };
    (@ Variadic $name:ident $group:ident $one:ident $all:ident $names:ident $what:literal) => {
        #[doc = concat!($what, "s `", stringify!($name), "`.")]
        pub fn $name(self, body: &$crate::Body) -> Vec<$crate::Value> {
            let index = $crate::opdef::position(Self::$names, stringify!($name));
            let range = body.$group(self.0, Self::DEF, index);
            body.$all(self.0).skip(range.start).take(range.len()).collect()
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_attr {
    // `cast` is the checked conversion of the operation.
    (cast) => {};
    ($name:ident) => {
        #[doc = concat!("Attribute `", stringify!($name), "`.")]
        pub fn $name(self, body: &$crate::Body) -> Option<$crate::Attr> {
            let index = $crate::opdef::position(Self::ATTR_NAMES, stringify!($name));
            body.attr_of(self.0, Self::DEF, index)
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! dialect_region {
    ($name:ident) => {
        #[doc = concat!("Region `", stringify!($name), "`.")]
        pub fn $name(self, body: &$crate::Body) -> $crate::Region {
            let index = $crate::opdef::position(Self::REGION_NAMES, stringify!($name));
            body.region(self.0, index)
        }
    };
    ($name:ident variadic) => {
        #[doc = concat!("Regions `", stringify!($name), "`.")]
        pub fn $name(self, body: &$crate::Body) -> Vec<$crate::Region> {
            let index = $crate::opdef::position(Self::REGION_NAMES, stringify!($name));
            body.own_regions(self.0).skip(index).collect()
        }
    };
}
