//! Types of handles and parameters, and the attribute that refers to a parameter.

use std::borrow::Cow;

use loomir_ir::opdef::{StructAttrDef, TypeConstraint, TypeDef};
use loomir_ir::{Context, Type, TypeKind};

/// `!transform.any_op`: any operations.
pub(super) const ANY_OP: TypeDef = plain("transform.any_op");
/// `!transform.any_value`: any values.
pub(super) const ANY_VALUE: TypeDef = plain("transform.any_value");
/// `!transform.any_param`: any parameters.
pub(super) const ANY_PARAM: TypeDef = plain("transform.any_param");

/// `!transform.type`: types.
pub(super) const TYPE: TypeDef = plain("transform.type");

/// `!transform.op<"scf.for">`: operations of one name.
pub(super) const OP: TypeDef = TypeDef {
    name: "transform.op",
    parse: |p| {
        p.expect("<")?;
        let name = p.parse_string()?;
        p.expect(">")?;
        Ok(vec![p.ctx().string_attr(&name)])
    },
    print: |p, params| {
        let ctx = p.ctx();
        p.write("<");
        p.string(params.first().and_then(|name| name.as_str(ctx)).unwrap_or_default().as_bytes());
        p.write(">");
    },
};

/// `!transform.param<i64>`: parameters of one type.
pub(super) const PARAM_TYPE: TypeDef = TypeDef {
    name: "transform.param",
    parse: |p| {
        p.expect("<")?;
        let loc = p.loc();
        let ty = p.parse_type()?;
        if !(ty.is_index() || ty.integer_width(p.ctx()).is_some()) {
            return Err(p.error(loc, "only supports integer types for now"));
        }
        p.expect(">")?;
        Ok(vec![p.ctx().type_attr(ty)])
    },
    print: |p, params| {
        p.write("<");
        if let Some(ty) = params.first().and_then(|ty| ty.as_type(p.ctx())) {
            p.ty(ty);
        }
        p.write(">");
    },
};

/// `#transform.param_operand<index = 0>`: a parameter of the operation, by its number.
pub(super) const PARAM_OPERAND: StructAttrDef = StructAttrDef {
    name: "transform.param_operand",
    alias: None,
    parse: |p| {
        p.expect("<")?;
        p.expect_keyword("index")?;
        p.expect("=")?;
        let index = p.parse_attr(None)?;
        p.expect(">")?;
        Ok(vec![(p.ctx().name("index"), index)])
    },
    print: |p, params| {
        p.write("<index = ");
        if let Some((_, index)) = params.first() {
            p.attr(*index);
        }
        p.write(">");
    },
};

/// Handles to operations.
pub(crate) const HANDLE: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("TransformHandleTypeInterface instance"), is_handle);

/// Parameters.
pub(crate) const PARAM: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("TransformParamTypeInterface instance"), is_param);

/// Handles to operations or values, and parameters.
pub(crate) const HANDLE_OR_PARAM: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("transform any param type or any handle type"), |ctx, ty| {
        is_handle(ctx, ty) || is_param(ctx, ty) || is_value(ctx, ty)
    });

/// Handles to values.
pub(crate) const VALUE: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("TransformValueHandleTypeInterface instance"), is_value);

/// Parameters, and handles to values.
pub(crate) const PARAM_OR_VALUE: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("transform any param type or any value handle type"), |ctx, ty| {
        is_param(ctx, ty) || is_value(ctx, ty)
    });

/// Handles to operations or values.
pub(crate) const HANDLE_OR_VALUE: TypeConstraint =
    TypeConstraint::Where(Cow::Borrowed("any transform handle"), |ctx, ty| {
        is_handle(ctx, ty) || is_value(ctx, ty)
    });

const fn plain(name: &'static str) -> TypeDef {
    TypeDef { name, parse: |_| Ok(Vec::new()), print: |_, _| {} }
}

fn named(ctx: &Context, ty: Type) -> Option<&str> {
    match ty.kind(ctx) {
        TypeKind::Dialect { name, .. } => Some(ctx.str(*name)),
        _ => None,
    }
}

/// True if a type is one of handles to operations.
pub fn is_handle(ctx: &Context, ty: Type) -> bool {
    matches!(named(ctx, ty), Some("transform.any_op" | "transform.op"))
}

/// True if a type is one of handles to values.
pub fn is_value(ctx: &Context, ty: Type) -> bool {
    named(ctx, ty) == Some("transform.any_value")
}

/// True if a type is one of parameters.
pub fn is_param(ctx: &Context, ty: Type) -> bool {
    matches!(named(ctx, ty), Some("transform.any_param" | "transform.param" | "transform.type"))
}

/// Returns the name of the operations that a handle of this type may have, if there is only one.
pub fn payload_name(ctx: &Context, ty: Type) -> Option<&str> {
    ty.dialect_params(ctx, "transform.op")?.first()?.as_str(ctx)
}

/// Returns the type of the integers that a parameter of this type may have, if there is only one.
pub fn param_type(ctx: &Context, ty: Type) -> Option<Type> {
    ty.dialect_params(ctx, "transform.param")?.first()?.as_type(ctx)
}

/// True for `!transform.op<"scf.for">`.
pub(super) fn is_scf_for(ctx: &Context, ty: Type) -> bool {
    payload_name(ctx, ty) == Some("scf.for")
}
