//! The parts of formats that need functions.

use loomir_ir::opdef::Arity;
use loomir_ir::text::{Delimiter, DirectiveArg, DirectiveDef, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, Context, OpRef, OperationState};

use crate::syntax::{attribute_names, parse_attributes, print_attributes, values};

use super::types::{arity_of, keyword, variadicities, variadicity_attr};

/// A region of one block, or nothing for a block without operations.
pub(super) const SINGLE_BLOCK: DirectiveDef =
    DirectiveDef { name: "SingleBlockRegion", parse: parse_region, print: print_region };

/// `(name: %value, …)`.
pub(super) const NAMED_VALUES: DirectiveDef =
    DirectiveDef { name: "NamedValueList", parse: parse_named, print: print_named };

/// `(name: %value, name: variadic %value, …)`.
pub(super) const VARIADIC_VALUES: DirectiveDef =
    DirectiveDef { name: "NamedValueListWithVariadicity", parse: parse_variadic, print: print_variadic };

/// `{"name" = %value, …}`, or nothing.
pub(super) const ATTRIBUTES: DirectiveDef =
    DirectiveDef { name: "AttributesOp", parse: parse_attributes, print: print_attributes };

fn parse_region(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    _: &mut [DirectiveArg],
) -> ParseResult<()> {
    if p.parse_optional_region(state, &[])? {
        p.ensure_block(0);
        return Ok(());
    }
    p.build_region(state, &[], |_, _| Ok(()))
}

fn print_region(p: &mut OpPrinter<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let body = op.body();
    let is_empty = body.blocks(op.region(0)).all(|block| body.first_op(block).is_none());
    if !is_empty {
        p.region(op, 0, true, true);
    }
}

/// Returns an array of strings.
fn strings(ctx: &Context, names: &[String]) -> Attr {
    let names: Vec<Attr> = names.iter().map(|name| ctx.string_attr(name)).collect();
    ctx.array_attr(&names)
}

fn parse_named(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let (mut names, mut operands) = (Vec::new(), Vec::new());
    p.parse_list(Delimiter::Paren, |p| {
        names.push(p.parse_keyword()?.to_owned());
        p.expect(":")?;
        operands.push(p.parse_operand()?);
        Ok(())
    })?;
    if let [own, own_names] = args {
        *own = DirectiveArg::Operands(operands);
        *own_names = DirectiveArg::Attr(Some(strings(p.ctx(), &names)));
    }
    Ok(())
}

fn print_named(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    print_list(p, args, &[]);
}

/// Writes names and values, with the arities that are not `single`.
fn print_list(p: &mut OpPrinter<'_>, args: &[DirectiveArg], arities: &[Arity]) {
    let names = attribute_names(p.ctx(), args.get(1));
    p.write("(");
    for (at, (value, name)) in values(args.first()).iter().zip(names).enumerate() {
        p.write(if at > 0 { ", " } else { "" });
        p.write(name);
        p.write(": ");
        if let Some(arity) = arities.get(at).filter(|arity| **arity != Arity::One) {
            p.write(keyword(*arity));
            p.write(" ");
        }
        p.operand(*value);
    }
    p.write(")");
}

fn parse_variadic(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let (mut names, mut operands, mut arities) = (Vec::new(), Vec::new(), Vec::new());
    p.parse_list(Delimiter::Paren, |p| {
        names.push(p.parse_keyword()?.to_owned());
        p.expect(":")?;
        let arity = p.next_keyword().and_then(arity_of);
        if arity.is_some() {
            p.parse_keyword()?;
        }
        arities.push(arity.unwrap_or(Arity::One));
        operands.push(p.parse_operand()?);
        Ok(())
    })?;
    if let [own, own_names, own_arities] = args {
        *own = DirectiveArg::Operands(operands);
        *own_names = DirectiveArg::Attr(Some(strings(p.ctx(), &names)));
        *own_arities = DirectiveArg::Attr(Some(variadicity_attr(p.ctx(), &arities)));
    }
    Ok(())
}

fn print_variadic(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    let arities = match args.get(2) {
        Some(DirectiveArg::Attr(Some(attr))) => variadicities(p.ctx(), *attr).unwrap_or_default(),
        _ => Vec::new(),
    };
    print_list(p, args, &arities);
}
