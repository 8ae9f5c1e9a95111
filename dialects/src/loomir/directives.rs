//! Numbers that may be parameters.

use loomir_ir::text::{Delimiter, DirectiveArg, DirectiveDef, OpParser, OpPrinter, ParseResult};
use loomir_ir::{OpRef, OperationState, Type};

use crate::syntax::{parse_index_list, print_index_list_in};

/// One number or parameter: `8` or `%size`.
pub(super) const NUMBER: DirectiveDef =
    DirectiveDef { name: "Number", parse: parse_number, print: print_number };

/// A list of numbers and parameters: `[8, %size]`.
pub(super) const NUMBERS: DirectiveDef =
    DirectiveDef { name: "Numbers", parse: parse_numbers, print: print_numbers };

fn parse_number(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let [param, number] = args else { return Ok(()) };
    match p.parse_optional_operand()? {
        Some(operand) => *param = DirectiveArg::Operands(vec![operand]),
        None => *number = DirectiveArg::Attr(Some(p.ctx().int_attr(Type::I64, p.parse_integer()?))),
    }
    Ok(())
}

fn print_number(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    match args {
        [_, DirectiveArg::Attr(Some(number))] => p.attr_without_type(*number),
        [DirectiveArg::Values(values), _] => p.operands(values.iter().copied()),
        _ => {}
    }
}

fn parse_numbers(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let (values, numbers) = parse_index_list(p, Delimiter::Square)?;
    if let [params, list] = args {
        *params = DirectiveArg::Operands(values);
        *list = DirectiveArg::Attr(Some(p.ctx().dense_ints_attr(Type::I64, &numbers)));
    }
    Ok(())
}

fn print_numbers(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    if let [DirectiveArg::Values(values), DirectiveArg::Attr(Some(list))] = args {
        let numbers = list.as_dense_ints(p.ctx()).unwrap_or_default();
        print_index_list_in(p, ["[", "]"], values, &numbers);
    }
}
