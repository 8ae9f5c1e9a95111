//! The text of the dialect's types.
//!
//! Types of this dialect nested in another are written without their prefix:
//! `!llvm.struct<(ptr, array<2 x i64>)>`. A named struct is written with its body, and by its name
//! alone inside itself.

use loomir_ir::opdef::TypeDef;
use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::{Attr, AttrKind, Context, Type, TypeKind};

use super::foreign::foreign_parts;
use super::types::{self, LlvmType, Struct};

const fn plain(name: &'static str) -> TypeDef {
    TypeDef { name, parse: |_| Ok(Vec::new()), print: |_, _| {} }
}

/// The types of the dialect.
pub(super) static TYPES: &[TypeDef] = &[
    TypeDef { name: "llvm.ptr", parse: |p| parse("ptr", p), print: |p, params| print("llvm.ptr", p, params) },
    TypeDef {
        name: "llvm.array",
        parse: |p| parse("array", p),
        print: |p, params| print("llvm.array", p, params),
    },
    TypeDef {
        name: "llvm.struct",
        parse: |p| parse("struct", p),
        print: |p, params| print("llvm.struct", p, params),
    },
    TypeDef {
        name: "llvm.func",
        parse: |p| parse("func", p),
        print: |p, params| print("llvm.func", p, params),
    },
    TypeDef {
        name: "llvm.target",
        parse: |p| parse("target", p),
        print: |p, params| print("llvm.target", p, params),
    },
    plain("llvm.void"),
    plain("llvm.token"),
    plain("llvm.label"),
    plain("llvm.metadata"),
    plain("llvm.x86_amx"),
    plain("llvm.ppc_fp128"),
];

/// Reads the parameters of a type, which follow its keyword.
fn parse(keyword: &str, p: &mut OpParser<'_, '_>) -> ParseResult<Vec<Attr>> {
    let ctx = p.ctx();
    let ty = parse_body(keyword, p)?;
    match ty.kind(ctx) {
        TypeKind::Dialect { params, .. } => Ok(params.to_vec()),
        _ => Ok(Vec::new()),
    }
}

/// Reads a type inside another of the dialect.
fn parse_nested(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    if let Some(ty) = p.parse_optional_type()? {
        return Ok(ty);
    }
    let keyword = p.parse_keyword()?;
    p.nested(|p| parse_body(keyword, p))
}

fn parse_body(keyword: &str, p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    let ctx = p.ctx();
    match keyword {
        "ptr" => parse_pointer(p),
        "array" => parse_array(p),
        "struct" => parse_struct(p),
        "func" => parse_function(p),
        "target" => parse_target(p),
        "void" | "token" | "label" | "metadata" | "x86_amx" | "ppc_fp128" => {
            Ok(ctx.dialect_type(&format!("llvm.{keyword}"), &[]))
        }
        _ => Err(p.error_here(format!("unknown LLVM type: {keyword}"))),
    }
}

fn parse_pointer(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    let mut space = 0;
    if p.accept("<") {
        let loc = p.loc();
        let number = p.parse_integer()?;
        space = match u32::try_from(number) {
            Ok(space) => space,
            Err(_) => return Err(p.error(loc, "expected an address space: a number from 0 to 4294967295")),
        };
        p.expect(">")?;
    }
    Ok(types::pointer_in(p.ctx(), space))
}

fn parse_array(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    p.expect("<")?;
    let loc = p.loc();
    let length = p.parse_attr(Some(p.ctx().int_type(65)))?;
    let length = match length.kind(p.ctx()) {
        AttrKind::Integer { value, .. } => u64::try_from(*value).ok(),
        _ => None,
    };
    let Some(length) = length else {
        return Err(p.error(loc, "expected the number of elements of an array"));
    };
    p.expect_keyword("x")?;
    let loc = p.loc();
    let element = parse_nested(p)?;
    check(p, loc, element, "array element", &is_element)?;
    p.expect(">")?;
    Ok(types::array(p.ctx(), length, element))
}

fn parse_struct(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    p.expect("<")?;
    let ctx = p.ctx();
    let name = p.parse_optional_string()?.map(|name| ctx.name(&name));
    let mut s = Struct { name, packed: false, body: None, opaque: false };
    if let Some(name) = name {
        let loc = p.loc();
        if p.accept(">") {
            if !p.is_inside(name) {
                return Err(p.error(loc, "struct without a body only allowed in a recursive struct"));
            }
            return Ok(types::struct_type(ctx, &s));
        }
        p.expect(",")?;
    }
    let loc = p.loc();
    if p.accept_keyword("opaque") {
        if name.is_none() {
            return Err(p.error(loc, "only identified structs can be opaque"));
        }
        p.expect(">")?;
        s.opaque = true;
        return Ok(types::struct_type(ctx, &s));
    }
    s.packed = p.accept_keyword("packed");
    let elements = |p: &mut OpParser<'_, '_>| {
        p.parse_list(Delimiter::Paren, |p| {
            let loc = p.loc();
            let element = parse_nested(p)?;
            check(p, loc, element, "LLVM structure element", &is_element)?;
            Ok(element)
        })
    };
    s.body = Some(match name {
        Some(name) => p.inside(name, elements)?,
        None => elements(p)?,
    });
    p.expect(">")?;
    Ok(types::struct_type(ctx, &s))
}

fn parse_function(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    p.expect("<")?;
    let loc = p.loc();
    let result = parse_nested(p)?;
    check(p, loc, result, "function result", &is_result)?;
    p.expect("(")?;
    let mut params = Vec::new();
    let mut variadic = false;
    if !p.accept(")") {
        loop {
            variadic = p.accept("...");
            if variadic {
                break;
            }
            let loc = p.loc();
            let param = parse_nested(p)?;
            check(p, loc, param, "function argument", &is_param)?;
            params.push(param);
            if !p.accept(",") {
                break;
            }
        }
        p.expect(")")?;
    }
    p.expect(">")?;
    Ok(types::function(p.ctx(), result, &params, variadic))
}

fn parse_target(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    p.expect("<")?;
    let ctx = p.ctx();
    let mut params = vec![ctx.string_attr(&p.parse_string()?)];
    while p.accept(",") {
        params.push(match p.parse_optional_integer()? {
            Some(number) => ctx.int_attr(Type::I64, number),
            None => ctx.type_attr(parse_nested(p)?),
        });
    }
    p.expect(">")?;
    Ok(ctx.dialect_type("llvm.target", &params))
}

fn check(
    p: &OpParser<'_, '_>,
    loc: loomir_ir::Loc,
    ty: Type,
    what: &str,
    is_valid: &dyn Fn(Option<LlvmType>) -> bool,
) -> ParseResult<()> {
    if is_valid(LlvmType::of(p.ctx(), ty)) {
        return Ok(());
    }
    Err(p.error(loc, format!("invalid {what} type: '{}'", type_to_string(p.ctx(), ty))))
}

fn is_element(ty: Option<LlvmType>) -> bool {
    use LlvmType::{Function, Label, Metadata, Token, Void};
    !matches!(ty, Some(Void | Label | Metadata | Function { .. } | Token))
}

fn is_param(ty: Option<LlvmType>) -> bool {
    !matches!(ty, Some(LlvmType::Void | LlvmType::Function { .. }))
}

fn is_result(ty: Option<LlvmType>) -> bool {
    !matches!(ty, Some(LlvmType::Function { .. } | LlvmType::Metadata | LlvmType::Label))
}

/// A piece of a type's text.
enum Piece {
    Text(String),
    Type(Type),
}

/// Writes the text that follows the name of a type. A work stack replaces recursion, because types
/// may be deep. As in MLIR, types that LLVM has are written without prefix.
fn print(name: &str, p: &mut OpPrinter<'_>, params: &[Attr]) {
    let ctx = p.ctx();
    let ty = ctx.dialect_type(name, params);
    let foreign = foreign_parts(ctx, ty);
    let mut work = pieces(ctx, ty);
    work.reverse();
    while let Some(piece) = work.pop() {
        match piece {
            Piece::Text(text) => p.write(&text),
            Piece::Type(ty) => match ty.kind(ctx) {
                TypeKind::Dialect { name, .. } if LlvmType::of(ctx, ty).is_some() => {
                    p.write(if foreign.contains(&ty) { "!llvm." } else { "" });
                    p.write(ctx.str(*name).trim_start_matches("llvm."));
                    work.extend(pieces(ctx, ty).into_iter().rev());
                }
                _ => p.ty(ty),
            },
        }
    }
}

/// Returns the pieces of text that follow the name of `ty`, a type of this dialect.
fn pieces(ctx: &Context, ty: Type) -> Vec<Piece> {
    let text = |text: &str| Piece::Text(text.into());
    let mut all = Vec::new();
    let list = |types: &[Type], all: &mut Vec<Piece>| {
        for (i, ty) in types.iter().enumerate() {
            if i > 0 {
                all.push(text(", "));
            }
            all.push(Piece::Type(*ty));
        }
    };
    match LlvmType::of(ctx, ty) {
        Some(LlvmType::Pointer { space }) if space != 0 => all.push(Piece::Text(format!("<{space}>"))),
        Some(LlvmType::Array { length, element }) => {
            all.extend([Piece::Text(format!("<{length} x ")), Piece::Type(element), text(">")]);
        }
        Some(LlvmType::Struct(s)) => {
            all.push(text("<"));
            if let Some(name) = s.name {
                all.push(Piece::Text(quoted(ctx.str(name))));
                all.push(text(if s.opaque || s.body.is_some() { ", " } else { "" }));
            }
            all.push(text(if s.opaque { "opaque" } else { "" }));
            if let Some(body) = s.body {
                all.push(text(if s.packed { "packed (" } else { "(" }));
                list(&body, &mut all);
                all.push(text(")"));
            }
            all.push(text(">"));
        }
        Some(LlvmType::Function { result, params, variadic }) => {
            all.extend([text("<"), Piece::Type(result), text(" (")]);
            list(&params, &mut all);
            if variadic {
                all.push(text(if params.is_empty() { "..." } else { ", ..." }));
            }
            all.push(text(")>"));
        }
        Some(LlvmType::Target) => {
            let params = ty.dialect_params(ctx, "llvm.target").unwrap_or_default();
            all.push(text("<"));
            for (i, param) in params.iter().enumerate() {
                if i > 0 {
                    all.push(text(", "));
                }
                all.push(match (param.as_str(ctx), param.as_type(ctx)) {
                    (Some(name), _) => Piece::Text(quoted(name)),
                    (_, Some(ty)) => Piece::Type(ty),
                    _ => Piece::Text(param.as_int(ctx).unwrap_or(0).to_string()),
                });
            }
            all.push(text(">"));
        }
        _ => {}
    }
    all
}

/// Returns a string in quotes, with special characters escaped.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b'"' => text.push_str("\\22"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(byte as char),
            _ => text.push_str(&format!("\\{byte:02X}")),
        }
    }
    text.push('"');
    text
}
