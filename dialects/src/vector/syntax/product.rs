//! `contract` and `outerproduct`.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, AttrKind, Context, OpRef, OperationState, Type};

use crate::vector::ITERATOR_TYPE;
use crate::vector::shape::{VectorShape, vector};

/// The attributes that `contract` writes before its operands.
const TRAITS: [&str; 3] = ["indexing_maps", "iterator_types", "kind"];

/// `%a, %b, %c {…} : vector<2xf32>, vector<4xf32>`. The type of the result follows.
pub(crate) fn parse_outer(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::None)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let types_loc = p.loc();
    let lhs = p.parse_type()?;
    p.expect(",")?;
    let rhs = p.parse_type()?;
    if !(2..=3).contains(&operands.len()) {
        return Err(p.error(loc, "expected at least 2 operands"));
    }
    let ctx = p.ctx();
    let Some(left) = VectorShape::of(ctx, lhs) else {
        return Err(p.error(types_loc, "expected vector type for operand #1"));
    };
    let result = match VectorShape::of(ctx, rhs) {
        Some(right) => vector(ctx, left.dims().take(1).chain(right.dims().take(1)), left.element),
        None => vector(ctx, left.dims().take(1), left.element),
    };
    state.operands = p.resolve_all(&operands[..2], &[lhs, rhs], loc)?;
    if let Some(acc) = operands.get(2) {
        let acc = p.resolve(*acc, result)?;
        state.operands.push(acc);
    }
    state.result_types.push(result);
    Ok(())
}

pub(crate) fn print_outer(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(" ");
    p.operands(op.operands());
    // With a third operand the kind is written even if it is the default.
    if op.num_operands() > 2 {
        let mut entries = op.attributes().entries(ctx).to_vec();
        entries.extend(op.properties().entries(ctx).iter().copied());
        entries.sort_by_key(|(name, _)| ctx.str(*name));
        p.write(" ");
        p.dictionary(ctx.dict(entries));
    } else {
        p.attr_dict(op, &[]);
    }
    p.write(" : ");
    p.types([op.operand_type(0), op.operand_type(1)]);
}

/// Replaces an array of texts by one of kinds of dimensions.
fn iterator_types(ctx: &Context, texts: Attr) -> Option<Attr> {
    let kinds = texts.as_array(ctx)?.iter().map(|text| {
        let value = ITERATOR_TYPE.value_of(text.as_str(ctx)?)?;
        Some(ITERATOR_TYPE.attr(ctx, value))
    });
    Some(ctx.attr(AttrKind::Array(kinds.collect::<Option<_>>()?)))
}

/// `{indexing_maps = […], iterator_types = ["parallel"], kind = #vector.kind<add>} %a, %b, %c {…} :
/// type, type into type`.
pub(crate) fn parse_contract(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let loc = p.loc();
    let dict = p.parse_dictionary()?;
    for (name, attr) in dict.entries(ctx) {
        let attr = match ctx.str(*name) {
            "iterator_types" => match iterator_types(ctx, *attr) {
                Some(kinds) => kinds,
                None => return Err(p.error(loc, "expected 'iterator_types' to be an array of kinds")),
            },
            _ => *attr,
        };
        state.set_attr(ctx, ctx.str(*name), attr);
    }
    let operands_loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::None)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let mut types = vec![p.parse_type()?];
    p.expect(",")?;
    types.push(p.parse_type()?);
    p.expect_keyword("into")?;
    let result: Type = p.parse_type()?;
    types.push(result);
    if operands.len() != 3 {
        return Err(p.error(operands_loc, "expected three operands"));
    }
    state.operands = p.resolve_all(&operands, &types, operands_loc)?;
    state.result_types.push(result);
    Ok(())
}

pub(crate) fn print_contract(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    let as_texts = |attr: Attr| {
        let text = |kind: &Attr| {
            let value = ITERATOR_TYPE.value(ctx, *kind)?;
            Some(ctx.string_attr(&ITERATOR_TYPE.text_of(value)?))
        };
        let texts = attr.as_array(ctx)?.iter().map(text).collect::<Option<_>>()?;
        Some(ctx.attr(AttrKind::Array(texts)))
    };
    let entries = TRAITS.into_iter().filter_map(|name| {
        let attr = op.attr(name)?;
        let attr = if name == "iterator_types" { as_texts(attr).unwrap_or(attr) } else { attr };
        Some((ctx.name(name), attr))
    });
    p.write(" ");
    p.dictionary(ctx.dict(entries.collect::<Vec<_>>()));
    p.write(" ");
    p.operands(op.operands());
    p.attr_dict(op, &TRAITS);
    p.write(" : ");
    p.types([op.operand_type(0), op.operand_type(1)]);
    p.write(" into ");
    p.ty(op.result_type(0));
}
