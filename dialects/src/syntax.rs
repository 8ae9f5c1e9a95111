//! Pieces of assembly that several dialects share: mixed lists of numbers and values, lists of
//! arguments with their initial values, and lists of names and values.

use loomir_ir::text::{
    Argument, Delimiter, DirectiveArg, OpParser, OpPrinter, ParseResult, UnresolvedOperand,
};
use loomir_ir::{Context, DYNAMIC, OpRef, OperationState, Value};

/// Reads `(%a = %x, %b = %y)`: arguments without types, and their initial values.
pub(crate) fn parse_assignments(
    p: &mut OpParser<'_, '_>,
    delimiter: Delimiter,
) -> ParseResult<(Vec<Argument>, Vec<UnresolvedOperand>)> {
    let pairs = p.parse_list(delimiter, |p| {
        let argument = p.parse_argument(false)?;
        p.expect("=")?;
        Ok((argument, p.parse_operand()?))
    })?;
    Ok(pairs.into_iter().unzip())
}

/// Reads `iter_args(%a = %x, %b = %y) -> (f32, i32)`, or nothing: arguments and their initial
/// values. The arguments get the types of the results. `mismatch` is the message for unequal
/// numbers.
pub(crate) fn parse_carried(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    mismatch: &str,
) -> ParseResult<(Vec<Argument>, Vec<UnresolvedOperand>)> {
    let loc = p.loc();
    if !p.accept_keyword("iter_args") {
        return Ok(Default::default());
    }
    let (mut arguments, inits) = parse_assignments(p, Delimiter::Paren)?;
    if !inits.is_empty() {
        state.result_types = p.parse_arrow_types()?;
    }
    if state.result_types.len() != inits.len() {
        return Err(p.error(loc, mismatch));
    }
    for (argument, ty) in arguments.iter_mut().zip(&state.result_types) {
        argument.ty = *ty;
    }
    Ok((arguments, inits))
}

/// Writes the syntax that [`parse_carried`] reads. The first argument is the induction variable.
pub(crate) fn print_carried(p: &mut OpPrinter<'_>, op: OpRef<'_>, arguments: &[Value], inits: &[Value]) {
    print_assignments(p, " iter_args", arguments.iter().skip(1).copied(), inits);
    print_result_types(p, op);
}

/// Writes ` -> (f32, i32)`, the types of the results, or nothing if there are none.
pub(crate) fn print_result_types(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    if op.num_results() > 0 {
        p.write(" -> (");
        p.types(op.results().map(|r| op.type_of(r)));
        p.write(")");
    }
}

/// Returns the arguments of the entry block of a region; empty if the region has no block.
pub(crate) fn entry_arguments(op: OpRef<'_>, region: usize) -> Vec<Value> {
    match op.body().entry_block(op.region(region)) {
        Some(block) => op.body().arguments(block).collect(),
        None => Vec::new(),
    }
}

/// Writes `(%a = %x, %b = %y)` behind `prefix`, or nothing if there are none. As in MLIR, locations
/// of the arguments are not written.
pub(crate) fn print_assignments(
    p: &mut OpPrinter<'_>,
    prefix: &str,
    arguments: impl IntoIterator<Item = Value>,
    inits: &[Value],
) {
    if inits.is_empty() {
        return;
    }
    p.write(prefix);
    p.write("(");
    for (i, (argument, init)) in arguments.into_iter().zip(inits).enumerate() {
        if i > 0 {
            p.write(", ");
        }
        p.operand(argument);
        p.write(" = ");
        p.operand(*init);
    }
    p.write(")");
}

/// Reads a list of values and numbers, `(%a, 4)`: the values, and the numbers with [`DYNAMIC`] in
/// the place of each value.
pub(crate) fn parse_index_list(
    p: &mut OpParser<'_, '_>,
    delimiter: Delimiter,
) -> ParseResult<(Vec<UnresolvedOperand>, Vec<i64>)> {
    let mut values = Vec::new();
    let numbers = p.parse_list(delimiter, |p| match p.parse_optional_operand()? {
        Some(value) => {
            values.push(value);
            Ok(DYNAMIC)
        }
        None => {
            let loc = p.loc();
            match p.parse_integer()? {
                DYNAMIC => Err(p.error(loc, "the number stands for a value; write the value")),
                number => Ok(number),
            }
        }
    })?;
    Ok((values, numbers))
}

/// Writes a list of values and numbers in parentheses.
pub(crate) fn print_index_list(p: &mut OpPrinter<'_>, values: &[Value], numbers: &[i64]) {
    print_index_list_in(p, ["(", ")"], values, numbers);
}

/// Writes a list of values and numbers in these brackets.
pub(crate) fn print_index_list_in(
    p: &mut OpPrinter<'_>,
    brackets: [&str; 2],
    values: &[Value],
    numbers: &[i64],
) {
    let mut values = values.iter();
    p.write(brackets[0]);
    for (i, number) in numbers.iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        match (*number == DYNAMIC).then(|| values.next()).flatten() {
            Some(value) => p.operand(*value),
            None => p.write(&number.to_string()),
        }
    }
    p.write(brackets[1]);
}

/// Returns the texts of an attribute that is an array of strings.
pub(crate) fn texts<'b>(op: OpRef<'b>, attr: &str) -> Vec<&'b str> {
    let ctx = op.ctx();
    let list = op.attr(attr).and_then(|names| names.as_array(ctx)).unwrap_or_default();
    list.iter().filter_map(|name| name.as_str(ctx)).collect()
}

/// Returns the strings of an argument that is an array of them.
pub(crate) fn attribute_names<'c>(ctx: &'c Context, arg: Option<&DirectiveArg>) -> Vec<&'c str> {
    match arg {
        Some(DirectiveArg::Attr(Some(attr))) => {
            attr.as_array(ctx).unwrap_or_default().iter().filter_map(|name| name.as_str(ctx)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the values of an argument.
pub(crate) fn values(arg: Option<&DirectiveArg>) -> &[Value] {
    match arg {
        Some(DirectiveArg::Values(values)) => values,
        _ => &[],
    }
}

/// Reads `{"name" = %value, …}`, or nothing: the values and their names.
pub(crate) fn parse_attributes(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let (mut names, mut operands) = (Vec::new(), Vec::new());
    p.parse_list(Delimiter::OptionalBraces, |p| {
        names.push(p.parse_attr(None)?);
        p.expect("=")?;
        operands.push(p.parse_operand()?);
        Ok(())
    })?;
    if let [own, own_names] = args {
        *own = DirectiveArg::Operands(operands);
        *own_names = DirectiveArg::Attr(Some(p.ctx().array_attr(&names)));
    }
    Ok(())
}

/// Writes names and values as [`parse_attributes`] reads them.
pub(crate) fn print_attributes(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    let names = attribute_names(p.ctx(), args.get(1));
    if names.is_empty() {
        return;
    }
    p.write("{");
    for (at, (value, name)) in values(args.first()).iter().zip(names).enumerate() {
        p.write(if at > 0 { ", " } else { "" });
        p.string(name.as_bytes());
        p.write(" = ");
        p.operand(*value);
    }
    p.write("}");
}
