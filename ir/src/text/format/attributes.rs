//! The look of an attribute of a definition in a format: what its constraint allows to leave out.

use crate::attributes::{Attr, AttrKind};
use crate::context::Context;
use crate::opdef::{AttrConstraint, AttrDef, EnumStorage};
use crate::text::op_parser::Delimiter;
use crate::text::{OpParser, OpPrinter, ParseResult};
use crate::types::Type;

/// True if the attribute names a symbol.
fn is_symbol_name(def: &AttrDef) -> bool {
    def.name == "sym_name" && matches!(def.constraint, AttrConstraint::String)
}

/// The constraint that says how an attribute is written.
fn base(mut constraint: &AttrConstraint) -> &AttrConstraint {
    while let AttrConstraint::Confined(inner, ..) = constraint {
        constraint = inner;
    }
    constraint
}

/// The type that a literal of the constraint has without saying so.
fn implied_type(ctx: &Context, constraint: &AttrConstraint) -> Option<Type> {
    match constraint {
        AttrConstraint::Bool => Some(Type::I1),
        AttrConstraint::Integer(0) => Some(Type::INDEX),
        AttrConstraint::Integer(width) => Some(ctx.int_type(*width)),
        AttrConstraint::Float(ty) => Some(*ty),
        AttrConstraint::String => Some(Type::NONE),
        _ => None,
    }
}

/// Reads an attribute; `None` if `optional` and something else is next.
pub(super) fn read(p: &mut OpParser<'_, '_>, def: &AttrDef, optional: bool) -> ParseResult<Option<Attr>> {
    let ctx = p.ctx();
    match base(&def.constraint) {
        _ if is_symbol_name(def) => {
            if optional {
                p.parse_optional_symbol_name()
            } else {
                p.parse_symbol_name().map(Some)
            }
        }
        AttrConstraint::Enum(cases) if cases.storage == EnumStorage::Attribute => {
            if p.is_next("<") {
                p.expect("<")?;
                let attr = p.parse_enum(cases)?;
                p.expect(">")?;
                return Ok(Some(attr));
            }
            if optional { p.parse_optional_attr(None) } else { p.parse_attr(None).map(Some) }
        }
        AttrConstraint::Enum(cases) => {
            let next = p.next_keyword();
            if optional && next.is_none_or(|word| cases.value_of(word).is_none()) {
                return Ok(None);
            }
            p.parse_enum(cases).map(Some)
        }
        AttrConstraint::DenseArray(element) if element.integer_width(ctx).is_some() && p.is_next("[") => {
            let is_bool = *element == Type::I1;
            let numbers = p.parse_list(Delimiter::Square, |p| {
                if is_bool && p.accept_keyword("true") {
                    return Ok(1);
                }
                if is_bool && p.accept_keyword("false") {
                    return Ok(0);
                }
                p.parse_integer()
            })?;
            Ok(Some(ctx.dense_ints_attr(*element, &numbers)))
        }
        AttrConstraint::Dialect(name) if !p.is_next("#") && !p.is_hash_next() => {
            let full = ctx.name(name);
            let Some(structured) = ctx.struct_attr_def(full) else {
                return if optional { p.parse_optional_attr(None) } else { p.parse_attr(None).map(Some) };
            };
            if optional && !p.is_next("<") {
                return Ok(None);
            }
            let params = (structured.parse)(p)?;
            let params = ctx.dict(params);
            Ok(Some(ctx.attr(AttrKind::Dialect { name: full, params })))
        }
        AttrConstraint::Symbol | AttrConstraint::FlatSymbol if optional => {
            if p.is_symbol_next() {
                p.parse_attr(None).map(Some)
            } else {
                Ok(None)
            }
        }
        constraint => {
            let ty = implied_type(ctx, constraint);
            if optional { p.parse_optional_attr(ty) } else { p.parse_attr(ty).map(Some) }
        }
    }
}

/// Writes an attribute as [`read`] reads it.
pub(super) fn write(p: &mut OpPrinter<'_>, def: &AttrDef, attr: Attr, qualified: bool) {
    let ctx = p.ctx();
    match base(&def.constraint) {
        _ if is_symbol_name(def) && attr.as_str(ctx).is_some() => {
            p.symbol_name(attr.as_str(ctx).unwrap_or_default());
        }
        AttrConstraint::Enum(cases) if cases.value(ctx, attr).is_some() => {
            let in_brackets = cases.storage == EnumStorage::Attribute;
            p.write(if in_brackets { "<" } else { "" });
            p.enum_cases(cases, attr);
            p.write(if in_brackets { ">" } else { "" });
        }
        AttrConstraint::DenseArray(Type::I1) if attr.as_dense_ints(ctx).is_some() => {
            p.write("[");
            let values = attr.as_dense_ints(ctx).unwrap_or_default();
            p.comma_separated(values, |p, v| p.write(if v != 0 { "true" } else { "false" }));
            p.write("]");
        }
        AttrConstraint::DenseArray(_) if attr.as_dense_ints(ctx).is_some() => {
            p.write("[");
            let values = attr.as_dense_ints(ctx).unwrap_or_default();
            p.comma_separated(values, |p, v| p.write(&v.to_string()));
            p.write("]");
        }
        AttrConstraint::Dialect(_) if !qualified => match attr.kind(ctx) {
            AttrKind::Dialect { name, params } if !p.has_alias(attr) => match ctx.struct_attr_def(*name) {
                Some(structured) => (structured.print)(p, params.entries(ctx)),
                None => p.attr(attr),
            },
            _ => p.attr(attr),
        },
        constraint => match implied_type(ctx, constraint) {
            Some(_) => p.attr_without_type(attr),
            None => p.attr(attr),
        },
    }
}
