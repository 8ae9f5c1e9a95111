//! The parts of formats that need functions.

use loomir_ir::text::{AsmNames, DirectiveArg, DirectiveDef, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, AttrKind, Context, Dict, OpRef, OperationState, Type, Value};

/// `%root, %more : (type, type)`, or nothing.
pub(super) const SEQUENCE_OPERANDS: DirectiveDef =
    DirectiveDef { name: "SequenceOpOperands", parse: parse_sequence, print: print_sequence };

/// `@matcher -> @action, …`, each on a line of its own.
pub(super) const FOREACH_MATCH_SYMBOLS: DirectiveDef =
    DirectiveDef { name: "ForeachMatchSymbols", parse: parse_symbols, print: print_symbols };

/// `{"name" = 4, "other" = %param}`.
pub(super) const PASS_OPTIONS: DirectiveDef =
    DirectiveDef { name: "ApplyRegisteredPassOptions", parse: parse_options, print: print_options };

/// A number or a parameter.
pub(super) const SELECTED_REGION: DirectiveDef =
    DirectiveDef { name: "AlternativesOpSelectedRegion", parse: parse_selected, print: print_selected };

/// The types of operands, which are those of the results.
pub(super) const SAME_TYPES: DirectiveDef =
    DirectiveDef { name: "SameTypes", parse: parse_same, print: print_same };

/// Positions of operands or results: `0, -1`, `all`, or `except(0)`.
pub(super) const POSITIONS: DirectiveDef =
    DirectiveDef { name: "TransformMatchDims", parse: parse_positions, print: print_positions };

/// The names of the results of `foreach_match`.
pub(super) struct ForeachMatchNames;

impl AsmNames for ForeachMatchNames {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        let names = ["updated_root", "yielded"];
        op.results().zip(names).map(|(value, name)| (value, name.to_owned())).collect()
    }
}

fn parse_sequence(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let Some(root) = p.parse_optional_operand()? else { return Ok(()) };
    let mut extra = Vec::new();
    while p.accept(",") {
        extra.push(p.parse_operand()?);
    }
    p.expect(":")?;
    let loc = p.loc();
    let types = match p.accept("(") {
        true => {
            let types = p.parse_type_list()?;
            p.expect(")")?;
            types
        }
        false => p.parse_type_list()?,
    };
    if types.len() != extra.len() + 1 {
        return Err(p.error(loc, "expected as many types as operands"));
    }
    if let [own, own_type, others, other_types] = args {
        *own = DirectiveArg::Operands(vec![root]);
        *own_type = DirectiveArg::Types(types[..1].to_vec());
        *others = DirectiveArg::Operands(extra);
        *other_types = DirectiveArg::Types(types[1..].to_vec());
    }
    Ok(())
}

fn print_sequence(p: &mut OpPrinter<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if op.num_operands() == 0 {
        return;
    }
    let types: Vec<Type> = op.operands().map(|value| op.type_of(value)).collect();
    p.operands(op.operands());
    p.write(" : ");
    if types.len() > 1 {
        p.write("(");
    }
    p.types(types.iter().copied());
    if types.len() > 1 {
        p.write(")");
    }
}

fn parse_symbols(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let (mut matchers, mut actions) = (Vec::new(), Vec::new());
    loop {
        matchers.push(p.parse_attr(None)?);
        p.expect("->")?;
        actions.push(p.parse_attr(None)?);
        if !p.accept(",") {
            break;
        }
    }
    let ctx = p.ctx();
    if let [own, others] = args {
        *own = DirectiveArg::Attr(Some(ctx.array_attr(&matchers)));
        *others = DirectiveArg::Attr(Some(ctx.array_attr(&actions)));
    }
    Ok(())
}

fn print_symbols(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    let ctx = p.ctx();
    let list = |arg: Option<&DirectiveArg>| match arg {
        Some(DirectiveArg::Attr(Some(attr))) => attr.as_array(ctx).unwrap_or_default().to_vec(),
        _ => Vec::new(),
    };
    let (matchers, actions) = (list(args.first()), list(args.get(1)));
    for (at, (matcher, action)) in matchers.into_iter().zip(actions).enumerate() {
        if at > 0 {
            p.write(", ");
        }
        p.newline();
        p.write("    ");
        p.attr(matcher);
        p.write(" -> ");
        p.attr(action);
    }
}

/// Returns the attribute that refers to a parameter by its number.
fn reference(ctx: &Context, number: usize) -> Attr {
    let index = ctx.int_attr(Type::I64, number as i64);
    let params = ctx.dict(vec![(ctx.name("index"), index)]);
    ctx.attr(AttrKind::Dialect { name: ctx.name("transform.param_operand"), params })
}

/// Returns the number of the parameter that an attribute refers to.
pub(crate) fn referred(ctx: &Context, attr: Attr) -> Option<usize> {
    let AttrKind::Dialect { name, params } = attr.kind(ctx) else { return None };
    let index = params.get(ctx, "index").filter(|_| ctx.str(*name) == "transform.param_operand")?;
    usize::try_from(index.as_int(ctx)?).ok()
}

fn parse_options(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let ctx = p.ctx();
    let (mut entries, mut params) = (Vec::new(), Vec::new());
    p.expect("{")?;
    if !p.accept("}") {
        loop {
            let loc = p.loc();
            let name = ctx.name(&p.parse_keyword_or_string()?);
            p.expect("=")?;
            let value = parse_option(p, &mut params)?;
            if entries.iter().any(|(own, _)| *own == name) {
                return Err(p.error(loc, format!("duplicate key '{}' in options", ctx.str(name))));
            }
            entries.push((name, value));
            if !p.accept(",") {
                break;
            }
        }
        p.expect("}")?;
    }
    if let [options, operands] = args {
        *options = DirectiveArg::Attr(Some(ctx.attr(AttrKind::Dictionary(ctx.dict(entries)))));
        *operands = DirectiveArg::Operands(params);
    }
    Ok(())
}

/// Reads an attribute, a parameter, or a list of both.
fn parse_option(
    p: &mut OpParser<'_, '_>,
    params: &mut Vec<loomir_ir::text::UnresolvedOperand>,
) -> ParseResult<Attr> {
    let ctx = p.ctx();
    if let Some(operand) = p.parse_optional_operand()? {
        params.push(operand);
        return Ok(reference(ctx, params.len() - 1));
    }
    if !p.accept("[") {
        return p.parse_attr(None);
    }
    let mut list = Vec::new();
    if !p.accept("]") {
        loop {
            let inside = p.nested(|p| parse_option(p, params))?;
            list.push(inside);
            if !p.accept(",") {
                break;
            }
        }
        p.expect("]")?;
    }
    Ok(ctx.array_attr(&list))
}

fn print_options(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    let [DirectiveArg::Attr(Some(options)), DirectiveArg::Values(params)] = args else { return };
    let AttrKind::Dictionary(options) = options.kind(p.ctx()) else { return };
    print_dictionary(p, *options, params);
}

fn print_dictionary(p: &mut OpPrinter<'_>, options: Dict, params: &[Value]) {
    let ctx = p.ctx();
    p.write("{");
    for (at, (name, value)) in options.entries(ctx).iter().enumerate() {
        if at > 0 {
            p.write(", ");
        }
        p.string(ctx.str(*name).as_bytes());
        p.write(" = ");
        print_option(p, *value, params, 0);
    }
    p.write("}");
}

/// Writes an option. Reading bounds the depth of lists.
fn print_option(p: &mut OpPrinter<'_>, value: Attr, params: &[Value], depth: u32) {
    let ctx = p.ctx();
    if let Some(param) = referred(ctx, value).and_then(|number| params.get(number)) {
        return p.operand(*param);
    }
    let Some(list) = value.as_array(ctx).filter(|_| depth < 64) else { return p.attr(value) };
    p.write("[");
    for (at, value) in list.iter().enumerate() {
        if at > 0 {
            p.write(", ");
        }
        print_option(p, *value, params, depth + 1);
    }
    p.write("]");
}

fn parse_selected(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let [attr, param] = args else { return Ok(()) };
    match p.parse_optional_operand()? {
        Some(operand) => *param = DirectiveArg::Operands(vec![operand]),
        None => *attr = DirectiveArg::Attr(Some(p.parse_attr(Some(Type::INDEX))?)),
    }
    Ok(())
}

fn print_selected(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    match args {
        [DirectiveArg::Attr(Some(attr)), _] => p.attr_without_type(*attr),
        [_, DirectiveArg::Values(values)] => p.operands(values.iter().copied()),
        _ => {}
    }
}

fn parse_same(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let types = p.parse_type_list()?;
    args.iter_mut().for_each(|arg| *arg = DirectiveArg::Types(types.clone()));
    Ok(())
}

fn print_same(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    if let Some(DirectiveArg::Types(types)) = args.first() {
        p.types(types.iter().copied());
    }
}

fn parse_positions(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    let [list, inverted, all] = args else { return Ok(()) };
    let mut numbers = Vec::new();
    if p.accept_keyword("all") {
        *all = DirectiveArg::Attr(Some(Attr::UNIT));
    } else {
        let is_inverted = p.accept_keyword("except");
        if is_inverted {
            p.expect("(")?;
            *inverted = DirectiveArg::Attr(Some(Attr::UNIT));
        }
        loop {
            numbers.push(p.parse_integer()?);
            if !p.accept(",") {
                break;
            }
        }
        if is_inverted {
            p.expect(")")?;
        }
    }
    *list = DirectiveArg::Attr(Some(p.ctx().dense_ints_attr(Type::I64, &numbers)));
    Ok(())
}

fn print_positions(p: &mut OpPrinter<'_>, _: OpRef<'_>, args: &[DirectiveArg]) {
    let is_set = |arg: Option<&DirectiveArg>| matches!(arg, Some(DirectiveArg::Attr(Some(_))));
    if is_set(args.get(2)) {
        return p.write("all");
    }
    let Some(DirectiveArg::Attr(Some(list))) = args.first() else { return };
    let numbers = list.as_dense_ints(p.ctx()).unwrap_or_default();
    let text = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    match is_set(args.get(1)) {
        true => p.write(&format!("except({text})")),
        false => p.write(&text),
    }
}
