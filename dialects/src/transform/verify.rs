//! Verifiers of schedules: the rules that the operation table does not express.

use loomir_ir::symbols::{Symbol, SymbolTable, SymbolUser};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostics, OpRef, Type};

use super::consumed::{CONSUMED, READONLY, consumed_operands, is_consumed, is_marked};
use super::types::{self, is_handle};
use super::{NamedSequenceOp, WITH_NAMED_SEQUENCE, YieldOp};
use crate::checks::{expect_implicit_terminators, terminator, types_of};

pub(crate) fn is_strings(ctx: &Context, attr: Attr) -> bool {
    attr.as_array(ctx).is_some_and(|all| all.iter().all(|one| one.as_str(ctx).is_some()))
}

pub(super) fn is_symbols(ctx: &Context, attr: Attr) -> bool {
    let is_symbol = |one: &Attr| matches!(one.kind(ctx), AttrKind::Symbol { .. });
    attr.as_array(ctx).is_some_and(|all| all.iter().all(is_symbol))
}

pub(super) fn is_dictionaries(ctx: &Context, attr: Attr) -> bool {
    let is_dictionary = |one: &Attr| matches!(one.kind(ctx), AttrKind::Dictionary(_));
    attr.as_array(ctx).is_some_and(|all| all.iter().all(is_dictionary))
}

/// Checks that a region ends with a yield of values with the types of the results.
pub(crate) fn yields_results(op: OpRef<'_>, region: usize, out: &mut Diagnostics) {
    let Some(last) = terminator(op, region).filter(|last| last.is(YieldOp::DEF)) else { return };
    if types_of(last, last.operands()) != types_of(op, op.results()) {
        let message = format!(
            "expects the types of the terminator operands to match the types of the results of region #{region}"
        );
        out.push(op_error(op, message).note(last.loc(), "terminator"));
    }
}

/// Checks the types of the arguments of a region.
fn takes(op: OpRef<'_>, region: usize, types: &[Type], out: &mut Diagnostics) {
    let Some(block) = op.body().entry_block(op.region(region)) else { return };
    if types_of(op, op.body().arguments(block)) != types {
        out.push(op_error(
            op,
            format!("expects the arguments of region #{region} to have the types of the operands"),
        ));
    }
}

pub(super) fn alternatives(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.regions().len() == 0 {
        out.push(op_error(op, "expects at least one region"));
    }
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let scope = types_of(op, op.operands());
    for region in 0..op.regions().len() {
        yields_results(op, region, out);
        let takes_any = |block| op.body().num_arguments(block) > 0;
        if !scope.is_empty() {
            takes(op, region, &scope, out);
        } else if !op.body().entry_block(op.region(region)).is_some_and(takes_any) {
            out.push(op_error(op, "expects the entry block to have at least one argument"));
        }
    }
}

pub(super) fn foreach(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.num_operands() == 0 {
        out.push(op_error(op, "expects at least one target"));
        return;
    }
    expect_implicit_terminators(op, YieldOp::DEF, out);
    takes(op, 0, &types_of(op, op.operands()), out);
    yields_results(op, 0, out);
}

pub(super) fn sequence(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let Some(block) = op.body().entry_block(op.region(0)) else { return };
    let arguments = types_of(op, op.body().arguments(block));
    if arguments.first().is_none_or(|first| !is_handle(op.ctx(), *first)) {
        out.push(op_error(
            op,
            "expected the entry block argument to be of type implementing TransformHandleTypeInterface",
        ));
    } else if op.num_operands() > 0 {
        takes(op, 0, &types_of(op, op.operands()), out);
    }
    yields_results(op, 0, out);
    let body = op.body();
    let takes_over = |user: &loomir_ir::Use| {
        let user_op = body.op_ref(user.op);
        user_op.is(YieldOp::DEF) || consumed_operands(user_op).contains(&user.index)
    };
    for (index, argument) in body.arguments(block).enumerate() {
        if body.uses(argument).filter(takes_over).count() > 1 {
            let message = format!("block argument #{index} has more than one potential consumer");
            out.push(op_error(op, message));
        }
    }
}

pub(super) fn apply_patterns(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(block) = op.body().entry_block(op.region(0)) else { return };
    for inside in op.body().ops(block).map(|inside| op.body().op_ref(inside)) {
        if !inside.name().starts_with("transform.apply_patterns.") {
            let error = op_error(op, "expected children ops to implement PatternDescriptorOpInterface");
            out.push(error.note(inside.loc(), "op without interface"));
        }
    }
}

/// Checks that options refer to each parameter once.
pub(super) fn apply_registered_pass(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(AttrKind::Dictionary(options)) = op.attr("options").map(|attr| attr.kind(ctx)) else { return };
    let mut open: Vec<Attr> = options.entries(ctx).iter().rev().map(|(_, value)| *value).collect();
    let params = op.num_operands().saturating_sub(1);
    let mut is_used = vec![false; params];
    while let Some(value) = open.pop() {
        if let Some(number) = super::param_number(ctx, value) {
            match is_used.get_mut(number) {
                None => {
                    let message = format!(
                        "dynamic option index {number} is out of bounds for the number of dynamic options: {params}"
                    );
                    return out.push(op_error(op, message));
                }
                Some(used) if *used => {
                    let message = format!("dynamic option index {number} is already used in options");
                    return out.push(op_error(op, message));
                }
                Some(used) => *used = true,
            }
        }
        open.extend(value.as_array(ctx).unwrap_or_default().iter().rev());
    }
    if let Some(unused) = is_used.iter().position(|used| !used) {
        out.push(op_error(op, format!("no option refers to its parameter {unused}")));
    }
}

/// Checks a list of positions: all of them, or some that differ.
pub(super) fn positions(op: OpRef<'_>, out: &mut Diagnostics) {
    let list = op.attr("raw_position_list").and_then(|attr| attr.as_dense_ints(op.ctx()));
    let mut list = list.unwrap_or_default();
    let is_all = op.attr("is_all").is_some();
    if is_all && op.attr("is_inverted").is_some() {
        out.push(op_error(op, "cannot request both 'all' and 'inverted' values in the list"));
    } else if is_all && !list.is_empty() {
        out.push(op_error(op, "cannot both request 'all' and specific values in the list"));
    } else if !is_all && list.is_empty() {
        out.push(op_error(op, "must request specific values in the list if 'all' is not specified"));
    } else {
        list.sort_unstable();
        if list.windows(2).any(|pair| pair[0] == pair[1]) {
            out.push(op_error(op, "expected the listed values to be unique"));
        }
    }
}

pub(super) fn split_handle(op: OpRef<'_>, out: &mut Diagnostics) {
    let overflow = op.attr("overflow_result").and_then(|attr| attr.as_int(op.ctx()));
    if overflow.is_some_and(|at| !(0..op.num_results() as i64).contains(&at)) {
        out.push(op_error(op, "overflow_result is not a valid result index"));
    }
    let own = op.operand_type(0);
    if op.results().any(|result| is_handle(op.ctx(), own) != is_handle(op.ctx(), op.type_of(result))) {
        out.push(op_error(
            op,
            "expects result types to implement the same transform interface as the operand type",
        ));
    }
}

pub(super) fn replicate(op: OpRef<'_>, out: &mut Diagnostics) {
    if types_of(op, op.operands().skip(1)) != types_of(op, op.results()) {
        out.push(op_error(op, "failed to verify that all of {handles, replicated} have same type"));
    }
}

pub(super) fn knob(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let options = op.attr("options").and_then(|options| options.as_array(ctx));
    if let (Some(selected), Some(options)) = (op.attr("selected"), options)
        && !options.contains(&selected)
    {
        out.push(op_error(
            op,
            "provided `selected` attribute is not an element of `options` array of attributes",
        ));
    }
}

pub(super) fn tune_alternatives(op: OpRef<'_>, out: &mut Diagnostics) {
    let regions = op.regions().len();
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let selected = op.attr("selected_region_attr").and_then(|attr| attr.as_int(op.ctx()));
    if selected.is_some_and(|at| !(0..regions as i64).contains(&at)) {
        let message = format!(
            "'selected_region' attribute specifies region at index {} while op has only {regions} regions",
            selected.unwrap_or(0)
        );
        out.push(op_error(op, message));
    }
    for region in 0..regions {
        yields_results(op, region, out);
    }
}

pub(super) fn foreach_match(op: OpRef<'_>, out: &mut Diagnostics) {
    let length = |name: &str| op.attr(name).and_then(|all| all.as_array(op.ctx())).map_or(0, <[Attr]>::len);
    if length("matchers") != length("actions") {
        out.push(op_error(op, "expected the same number of matchers and actions"));
    } else if length("matchers") == 0 {
        out.push(op_error(op, "expected at least one match/action pair"));
    }
}

/// Checks that the body takes the arguments, and that arguments that it consumes say so.
pub(super) fn named_sequence(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let function = op.attr("function_type").and_then(|ty| ty.as_type(ctx)).and_then(|ty| ty.function(ctx));
    let (Some((inputs, results)), Some(block)) = (function, op.body().entry_block(op.region(0))) else {
        return;
    };
    if types_of(op, op.body().arguments(block)) != inputs {
        out.push(op_error(op, "entry block arguments must match the function signature"));
        return;
    }
    match terminator(op, 0) {
        Some(last) if last.is(YieldOp::DEF) => {
            if types_of(last, last.operands()) != results {
                let error =
                    op_error(op, "the types of the terminator operands must match the types of the results");
                out.push(error.note(last.loc(), "terminator"));
            }
        }
        _ => out.push(op_error(op, "expected 'transform.yield' as terminator")),
    }
    let arguments = op.attr("arg_attrs");
    for (index, argument) in op.body().arguments(block).enumerate() {
        let [consumed, readonly] = [CONSUMED, READONLY].map(|name| is_marked(ctx, arguments, index, name));
        if consumed && readonly {
            out.push(op_error(op, format!("argument #{index} cannot be both readonly and consumed")));
        } else if readonly && is_consumed(op, argument) {
            let message = format!("argument #{index} is consumed in the body but is not marked as such");
            out.push(op_error(op, message));
        }
    }
}

/// Returns a named sequence with its type.
fn sequence_of<'t>(
    op: OpRef<'_>,
    name: Attr,
    table: &'t SymbolTable,
) -> Option<(&'t Symbol, Vec<Type>, Vec<Type>)> {
    let ctx = op.ctx();
    let symbol = table.resolve(ctx, name)?;
    let ty = symbol.attr(ctx, "function_type")?.as_type(ctx)?;
    let (inputs, results) = ty.function(ctx).filter(|_| ctx.op_info(symbol.name).is(NamedSequenceOp::DEF))?;
    Some((symbol, inputs.to_vec(), results.to_vec()))
}

/// A named sequence in a module that says it has some.
pub(super) struct Named;

impl SymbolUser for Named {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        if table.own_attr(op.ctx(), WITH_NAMED_SEQUENCE).is_none() {
            let message =
                format!("expects the parent symbol table to have the '{WITH_NAMED_SEQUENCE}' attribute");
            let help = format!("write it in a module: module attributes {{{WITH_NAMED_SEQUENCE}}} {{ … }}");
            out.push(op_error(op, message).help(help));
        }
    }
}

/// An inclusion of an existing named sequence, with its type.
pub(super) struct Include;

impl SymbolUser for Include {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let Some(target) = op.attr("target") else { return };
        let Some((symbol, inputs, results)) = sequence_of(op, target, table) else {
            out.push(op_error(op, "does not reference a named transform sequence"));
            return;
        };
        if types_of(op, op.operands()) != inputs {
            out.push(
                op_error(op, "the operands must have the types of the arguments of the named sequence")
                    .note(symbol.loc, "named sequence"),
            );
        }
        if types_of(op, op.results()) != results {
            out.push(
                op_error(op, "the results must have the types of the results of the named sequence")
                    .note(symbol.loc, "named sequence"),
            );
        }
        for index in 0..inputs.len() {
            let is = |name| is_marked(op.ctx(), symbol.attr(op.ctx(), "arg_attrs"), index, name);
            if !is(CONSUMED) && !is(READONLY) {
                let message = format!(
                    "argument #{index} of the named sequence is neither '{CONSUMED}' nor '{READONLY}'"
                );
                out.push(op_error(op, message).note(symbol.loc, "named sequence"));
            }
        }
    }
}

/// Checks a matcher: it exists, has a body, and reads one operation.
fn matcher(op: OpRef<'_>, name: Attr, table: &SymbolTable, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some((symbol, inputs, _)) = sequence_of(op, name, table) else {
        out.push(op_error(op, "unresolved matcher symbol"));
        return;
    };
    if inputs.first().is_none_or(|first| !is_handle(ctx, *first)) {
        out.push(
            op_error(op, "expected the matcher to take one operation handle argument")
                .note(symbol.loc, "matcher"),
        );
    } else if !is_marked(ctx, symbol.attr(ctx, "arg_attrs"), 0, READONLY) {
        out.push(
            op_error(op, format!("expected the matcher argument to be marked '{READONLY}'"))
                .note(symbol.loc, "matcher"),
        );
    }
}

/// The matcher of `collect_matching`.
pub(super) struct Matcher;

impl SymbolUser for Matcher {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let Some(name) = op.attr("matcher") else { return };
        let before = out.len();
        matcher(op, name, table, out);
        let Some((symbol, _, yielded)) = sequence_of(op, name, table).filter(|_| out.len() == before) else {
            return;
        };
        if yielded.len() != op.num_results() {
            let message = format!(
                "expected the matcher to yield as many values as op has results ({}), got {}",
                op.num_results(),
                yielded.len()
            );
            out.push(op_error(op, message).note(symbol.loc, "matcher"));
        }
    }
}

/// The matchers and actions of `foreach_match`.
pub(super) struct Matchers;

impl SymbolUser for Matchers {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let list = |name| op.attr(name).and_then(|all| all.as_array(op.ctx())).unwrap_or_default();
        for (name, action) in list("matchers").iter().zip(list("actions")) {
            let before = out.len();
            matcher(op, *name, table, out);
            let found = (sequence_of(op, *name, table), sequence_of(op, *action, table));
            match found {
                (_, None) => out.push(op_error(op, "unresolved action symbol")),
                (Some((_, _, yielded)), Some((symbol, taken, _)))
                    if out.len() == before && !are_alike(op.ctx(), &yielded, &taken) =>
                {
                    let error = op_error(op, "the action must take what the matcher yields");
                    out.push(error.note(symbol.loc, "action"));
                }
                _ => {}
            }
        }
    }
}

/// True if types are of the same kinds: operations, values or parameters. A handle of any operation
/// may be taken as one of a certain operation; the interpreter looks at the name.
fn are_alike(ctx: &Context, yielded: &[Type], taken: &[Type]) -> bool {
    let kind = |ty: &Type| [types::is_handle, types::is_value, types::is_param].map(|is| is(ctx, *ty));
    yielded.iter().map(kind).eq(taken.iter().map(kind))
}
