//! The types of constraints and regions, and the attribute that holds arities.

use loomir_ir::opdef::{Arity, TypeDef};
use loomir_ir::{Attr, AttrKind, Context};

/// `!irdl.attribute`: a constraint on an attribute or a type.
pub(super) const ATTRIBUTE: TypeDef = plain("irdl.attribute");
/// `!irdl.region`: a constraint on a region.
pub(super) const REGION: TypeDef = plain("irdl.region");

const fn plain(name: &'static str) -> TypeDef {
    TypeDef { name, parse: |_| Ok(Vec::new()), print: |_, _| {} }
}

/// The name of the attribute that holds arities, `#irdl<variadicity_array[ single,  optional]>`.
const ARRAY: &str = "variadicity_array";

/// Returns the keyword of an arity.
pub(super) fn keyword(arity: Arity) -> &'static str {
    match arity {
        Arity::One => "single",
        Arity::Optional => "optional",
        Arity::Variadic => "variadic",
    }
}

/// Returns the arity that a keyword names.
pub(super) fn arity_of(keyword: &str) -> Option<Arity> {
    [Arity::One, Arity::Optional, Arity::Variadic].into_iter().find(|arity| self::keyword(*arity) == keyword)
}

/// Reads the list in brackets behind the name of the attribute.
fn arities(text: &str) -> Option<Vec<Arity>> {
    let list = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    if list.is_empty() {
        return Some(Vec::new());
    }
    list.split(',').map(|word| arity_of(word.trim())).collect()
}

/// True if the text behind the name of the attribute is well-formed.
pub(super) fn is_variadicity_array(text: &str) -> bool {
    arities(text).is_some()
}

/// Returns the arities in an attribute of operands or results.
pub fn variadicities(ctx: &Context, attr: Attr) -> Option<Vec<Arity>> {
    match attr.kind(ctx) {
        AttrKind::Opaque { dialect, body, .. } if ctx.str(*dialect) == "irdl" => {
            arities(body.strip_prefix(ARRAY)?)
        }
        _ => None,
    }
}

/// Returns the attribute that holds arities.
pub(super) fn variadicity_attr(ctx: &Context, arities: &[Arity]) -> Attr {
    let words: Vec<String> = arities.iter().map(|arity| format!(" {}", keyword(*arity))).collect();
    let body = format!("{ARRAY}[{}]", words.join(", ")).into();
    ctx.attr(AttrKind::Opaque { dialect: ctx.name("irdl"), body, pretty: false, ty: None })
}
