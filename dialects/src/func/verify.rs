//! Verifiers of `func`: the rules that the operation table does not express.

use loomir_ir::symbols::{SYMBOL_VISIBILITY, SymbolTable, SymbolUser};
use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostic, Diagnostics, OpRef, Type};

use super::FuncOp;
use crate::checks::{expect_parent, types_of};

/// True if an attribute is an array of dictionaries.
pub(super) fn is_dictionaries(ctx: &Context, attr: Attr) -> bool {
    attr.as_array(ctx)
        .is_some_and(|all| all.iter().all(|one| matches!(one.kind(ctx), AttrKind::Dictionary(_))))
}

/// Returns the inputs and results of the function type in attribute `function_type`.
fn signature(ctx: &Context, function_type: Option<Attr>) -> Option<(&[Type], &[Type])> {
    function_type?.as_type(ctx)?.function(ctx)
}

/// Checks that the entry block takes the arguments, that attributes of arguments and results fit
/// the type, and that declarations are private.
pub(super) fn func(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let function_type = FuncOp(op.op()).function_type(op.body());
    let Some((inputs, results)) = signature(ctx, function_type) else { return };
    dictionaries(op, "argument", "arg_attrs", inputs.len(), out);
    dictionaries(op, "result", "res_attrs", results.len(), out);
    let Some(entry) = op.body().entry_block(op.region(0)) else {
        let visibility = op.attr(SYMBOL_VISIBILITY).and_then(|attr| attr.as_str(ctx));
        if visibility.is_none_or(|v| v == "public") {
            let error = op_error(op, "symbol declaration cannot have public visibility");
            out.push(error.help("a function without a body is declared as 'func.func private'"));
        }
        return;
    };
    let arguments: Vec<Type> = types_of(op, op.body().arguments(entry));
    if arguments.len() != inputs.len() {
        let message = format!("entry block must have {} arguments to match function signature", inputs.len());
        out.push(op_error(op, message));
        return;
    }
    for (i, (argument, input)) in arguments.iter().zip(inputs).enumerate().filter(|(_, (a, b))| a != b) {
        let message = format!(
            "type of entry block argument #{i}('{}') must match the type of the corresponding argument in function signature('{}')",
            type_to_string(ctx, *argument),
            type_to_string(ctx, *input)
        );
        out.push(op_error(op, message));
    }
}

/// Checks the array of dictionaries called `name`: one for each argument or result (`what`),
/// holding dialect attributes.
fn dictionaries(op: OpRef<'_>, what: &str, name: &str, expected: usize, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(dicts) = op.attr(name).and_then(|attr| attr.as_array(ctx)) else { return };
    if dicts.len() != expected {
        let message = format!(
            "expects {what} attribute array to have the same number of elements as the number of function {what}s, got {}, but expected {expected}",
            dicts.len()
        );
        out.push(op_error(op, message));
        return;
    }
    let of_no_dialect = |attr: &Attr| match attr.kind(ctx) {
        AttrKind::Dictionary(dict) => dict.entries(ctx).iter().any(|(name, _)| !ctx.str(*name).contains('.')),
        _ => false,
    };
    if dicts.iter().any(of_no_dialect) {
        out.push(op_error(op, format!("{what}s may only have dialect attributes")));
    }
}

/// Checks that the operands have the result types of the function around.
pub(super) fn r#return(op: OpRef<'_>, out: &mut Diagnostics) {
    let before = out.len();
    expect_parent(op, &[FuncOp::DEF], out);
    let Some(parent) = op.parent().filter(|_| out.len() == before) else { return };
    let ctx = op.ctx();
    let function = FuncOp(parent.op());
    let Some((_, results)) = signature(ctx, function.function_type(parent.body())) else { return };
    let name = || parent.attr("sym_name").and_then(|attr| attr.as_str(ctx)).unwrap_or_default();
    if results.len() != op.num_operands() {
        let message = format!(
            "has {} operands, but enclosing function (@{}) returns {}",
            op.num_operands(),
            name(),
            results.len()
        );
        out.push(op_error(op, message));
        return;
    }
    for (i, result) in results.iter().enumerate() {
        let operand = op.operand_type(i);
        if operand != *result {
            let message = format!(
                "type of return operand {i} ('{}') doesn't match function result type ('{}') in function @{}",
                type_to_string(ctx, operand),
                type_to_string(ctx, *result),
                name()
            );
            out.push(Diagnostic::error(op.loc(), message));
            return;
        }
    }
}

/// Checks that operands and results have the types of the callee.
pub(super) fn call_indirect(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some((inputs, results)) = op.operand_type(0).function(op.ctx()) else { return };
    if types_of(op, op.operands().skip(1)) != inputs {
        out.push(op_error(op, "failed to verify that callee input types match argument types"));
    } else if types_of(op, op.results()) != results {
        out.push(op_error(op, "failed to verify that callee result types match result types"));
    }
}

/// Returns the type of the function that attribute `reference` names, if the table has such a
/// function.
fn function_type(op: OpRef<'_>, reference: &str, table: &SymbolTable) -> Option<Type> {
    let ctx = op.ctx();
    let symbol = table.resolve(ctx, op.attr(reference)?)?;
    let is_func = ctx.op_info(symbol.name).is(FuncOp::DEF);
    symbol.attr(ctx, "function_type").filter(|_| is_func)?.as_type(ctx)
}

fn referred<'b>(op: OpRef<'b>, reference: &str) -> &'b str {
    let name = op.attr(reference).and_then(|attr| attr.as_flat_symbol(op.ctx()));
    name.map_or("", |name| op.ctx().str(name))
}

/// A call of an existing function, with its type.
pub(super) struct Call;

impl SymbolUser for Call {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let Some((inputs, results)) = function_type(op, "callee", table).and_then(|ty| ty.function(ctx))
        else {
            let message = format!("'{}' does not reference a valid function", referred(op, "callee"));
            out.push(op_error(op, message));
            return;
        };
        let operands = types_of(op, op.operands());
        let own_results = types_of(op, op.results());
        if operands.len() != inputs.len() {
            out.push(op_error(op, "incorrect number of operands for callee"));
        } else if own_results.len() != results.len() {
            out.push(op_error(op, "incorrect number of results for callee"));
        } else if let Some(i) = (0..inputs.len()).find(|i| operands[*i] != inputs[*i]) {
            let message = format!(
                "operand type mismatch: expected operand type '{}', but provided '{}' for operand number {i}",
                type_to_string(ctx, inputs[i]),
                type_to_string(ctx, operands[i])
            );
            out.push(op_error(op, message));
        } else if let Some(i) = (0..results.len()).find(|i| own_results[*i] != results[*i]) {
            let list = |types: &[Type]| {
                types
                    .iter()
                    .map(|ty| format!("'{}'", type_to_string(ctx, *ty)))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            out.push(
                op_error(op, format!("result type mismatch at index {i}"))
                    .note(op.loc(), format!("      op result types: {}", list(&own_results)))
                    .note(op.loc(), format!("function result types: {}", list(results))),
            );
        }
    }
}

/// A reference to an existing function, with its type.
pub(super) struct Reference;

impl SymbolUser for Reference {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        match function_type(op, "value", table) {
            None => {
                let message = format!("reference to undefined function '{}'", referred(op, "value"));
                out.push(op_error(op, message));
            }
            Some(ty) if ty != op.result_type(0) => {
                out.push(op_error(op, "reference to function with mismatched type"));
            }
            Some(_) => {}
        }
    }
}
