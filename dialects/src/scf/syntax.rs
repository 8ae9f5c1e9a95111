//! Custom forms of the `scf` operations.

use loomir_ir::text::{Argument, Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{OpRef, OperationState, Type, Value};

use super::{InParallelOp, ReduceOp, YieldOp};
use crate::syntax::{
    entry_arguments, parse_assignments, parse_carried, parse_index_list, print_assignments, print_carried,
    print_index_list, print_result_types,
};

/// Gives arguments their types; the caller has checked that there are as many.
fn set_types(arguments: &mut [Argument], types: &[Type]) {
    for (argument, ty) in arguments.iter_mut().zip(types) {
        argument.ty = *ty;
    }
}

/// Reads `(%i, %j)` as arguments of type `index`.
fn parse_induction_variables(p: &mut OpParser<'_, '_>) -> ParseResult<Vec<Argument>> {
    let mut variables = p.parse_argument_list(Delimiter::Paren, false)?;
    variables.iter_mut().for_each(|v| v.ty = Type::INDEX);
    Ok(variables)
}

fn print_values(p: &mut OpPrinter<'_>, prefix: &str, values: Vec<Value>) {
    p.write(prefix);
    p.write("(");
    p.operands(values);
    p.write(")");
}

/// `scf.for unsigned %i = %a to %b step %c iter_args(%x = %y) -> (f32) : i32 {…}`.
pub(super) fn parse_for(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    if p.accept_keyword("unsigned") {
        state.set_attr(p.ctx(), "unsignedCmp", loomir_ir::Attr::UNIT);
    }
    let mut variable = p.parse_argument(false)?;
    p.expect("=")?;
    let lower = p.parse_operand()?;
    p.expect_keyword("to")?;
    let upper = p.parse_operand()?;
    p.expect_keyword("step")?;
    let step = p.parse_operand()?;
    let loc = p.loc();
    let mismatch = "mismatch in number of loop-carried values and defined values";
    let (mut arguments, inits) = parse_carried(p, state, mismatch)?;
    variable.ty = if p.accept(":") { p.parse_type()? } else { Type::INDEX };
    for operand in [lower, upper, step] {
        let value = p.resolve(operand, variable.ty)?;
        state.operands.push(value);
    }
    let inits = p.resolve_all(&inits, &state.result_types, loc)?;
    state.operands.extend(inits);
    arguments.insert(0, variable);
    p.parse_region(state, &arguments)?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_for(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let arguments = entry_arguments(op, 0);
    let operands: Vec<Value> = op.operands().collect();
    let (bounds, inits) = operands.split_at(3);
    if op.attr("unsignedCmp").is_some() {
        p.write(" unsigned");
    }
    p.write(" ");
    if let Some(variable) = arguments.first() {
        p.operand(*variable);
    }
    for (word, operand) in [" = ", " to ", " step "].iter().zip(bounds) {
        p.write(word);
        p.operand(*operand);
    }
    print_carried(p, op, &arguments, inits);
    p.write(" ");
    if op.operand_type(0) != Type::INDEX {
        p.write(" : ");
        p.ty(op.operand_type(0));
        p.write(" ");
    }
    p.region(op, 0, false, !inits.is_empty());
    p.attr_dict(op, &["unsignedCmp"]);
}

/// `scf.if %c -> (f32) {…} else {…}`.
pub(super) fn parse_if(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let condition = p.parse_operand()?;
    state.operands.push(p.resolve(condition, Type::I1)?);
    state.result_types = p.parse_optional_arrow_types()?;
    p.parse_region(state, &[])?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    if p.accept_keyword("else") {
        p.parse_region(state, &[])?;
        p.ensure_terminator(state, 1, YieldOp::DEF);
    } else {
        p.add_empty_region(state);
    }
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_if(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let terminators = op.num_results() > 0;
    p.write(" ");
    p.operand(op.operand(0));
    print_result_types(p, op);
    p.write(" ");
    p.region(op, 0, false, terminators);
    if op.body().entry_block(op.region(1)).is_some() {
        p.write(" else ");
        p.region(op, 1, false, terminators);
    }
    p.attr_dict(op, &[]);
}

/// `scf.while (%a = %x) : (f32) -> i32 {…} do {…} attributes {…}`.
pub(super) fn parse_while(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let (mut arguments, inits) = parse_assignments(p, Delimiter::OptionalParen)?;
    p.expect(":")?;
    let loc = p.loc();
    let ty = p.parse_type()?;
    let Some((inputs, results)) = ty.function(p.ctx()) else {
        return Err(p.error(loc, "expected a function type"));
    };
    if inputs.len() != inits.len() {
        let (expected, got) = (inits.len(), inputs.len());
        return Err(p.error(
            loc,
            format!("expected as many input types as operands (expected {expected} got {got})"),
        ));
    }
    state.result_types = results.to_vec();
    state.operands = p.resolve_all(&inits, inputs, loc)?;
    set_types(&mut arguments, inputs);
    p.parse_region(state, &arguments)?;
    p.expect_keyword("do")?;
    p.parse_region(state, &[])?;
    p.parse_optional_attr_dict_with_keyword(state)
}

pub(super) fn print_while(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let inits: Vec<Value> = op.operands().collect();
    print_assignments(p, " ", entry_arguments(op, 0), &inits);
    p.write(" : ");
    p.functional_type(inits.iter().map(|v| op.type_of(*v)), op.results().map(|r| op.type_of(r)));
    p.write(" ");
    p.region(op, 0, false, true);
    p.write(" do ");
    p.region(op, 1, true, true);
    p.attr_dict_with_keyword(op, &[]);
}

/// `scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> f32 {…}`.
pub(super) fn parse_parallel(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let variables = parse_induction_variables(p)?;
    let mut segments = Vec::new();
    for word in ["=", "to", "step", "init"] {
        let optional = word == "init";
        match word {
            "=" => p.expect("=")?,
            _ if optional => {
                if !p.accept_keyword(word) {
                    segments.push(0);
                    break;
                }
            }
            _ => p.expect_keyword(word)?,
        }
        let loc = p.loc();
        let operands = p.parse_operand_list(Delimiter::Paren)?;
        segments.push(operands.len() as i64);
        if optional {
            state.result_types = p.parse_optional_arrow_types()?;
            let types = state.result_types.clone();
            let inits = p.resolve_all(&operands, &types, loc)?;
            state.operands.extend(inits);
        } else {
            if operands.len() != variables.len() {
                let message = format!("expected {} operands, got {}", variables.len(), operands.len());
                return Err(p.error(loc, message));
            }
            let values = p.resolve_all(&operands, &vec![Type::INDEX; operands.len()], loc)?;
            state.operands.extend(values);
        }
    }
    state.set_segments(p.ctx(), &segments);
    p.parse_region(state, &variables)?;
    p.ensure_terminator(state, 0, ReduceOp::DEF);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_parallel(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_values(p, " ", entry_arguments(op, 0));
    for (word, group) in [(" = ", "lowerBound"), (" to ", "upperBound"), (" step ", "step")] {
        print_values(p, word, op.operand_group(group));
    }
    let inits = op.operand_group("initVals");
    if !inits.is_empty() {
        print_values(p, " init ", inits);
    }
    let types: Vec<Type> = op.results().map(|r| op.type_of(r)).collect();
    p.arrow_types(&types);
    p.write(" ");
    p.region(op, 0, false, true);
    p.attr_dict(op, &["operandSegmentSizes"]);
}

/// `scf.reduce(%x : f32) {…}, {…}`.
pub(super) fn parse_reduce(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    if p.accept("(") {
        let loc = p.loc();
        let operands = p.parse_operand_list(Delimiter::None)?;
        p.expect(":")?;
        let types = p.parse_type_list()?;
        p.expect(")")?;
        state.operands = p.resolve_all(&operands, &types, loc)?;
    }
    if p.parse_optional_region(state, &[])? {
        while p.accept(",") {
            p.parse_region(state, &[])?;
        }
    }
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_reduce(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    if op.num_operands() > 0 {
        p.write("(");
        p.operands(op.operands());
        p.write(" : ");
        p.types(op.operands().map(|v| op.type_of(v)));
        p.write(")");
    }
    p.write(" ");
    for i in 0..op.regions().len() {
        if i > 0 {
            p.write(", ");
        }
        p.region(op, i, true, true);
    }
    p.attr_dict(op, &[]);
}

/// `scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {…}`, or with
/// `= (…) to (…) step (…)`.
pub(super) fn parse_forall(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let mut arguments = parse_induction_variables(p)?;
    let rank = arguments.len();
    let full = p.accept("=");
    if !full {
        p.expect_keyword("in")?;
    }
    let mut segments = Vec::new();
    let names = ["staticLowerBound", "staticUpperBound", "staticStep"];
    for (i, name) in names.into_iter().enumerate() {
        let ctx = p.ctx();
        if !full && i != 1 {
            segments.push(0);
            state.set_attr(ctx, name, ctx.dense_ints_attr(Type::I64, &vec![i64::from(i == 2); rank]));
            continue;
        }
        match i {
            1 if full => p.expect_keyword("to")?,
            2 => p.expect_keyword("step")?,
            _ => {}
        }
        let loc = p.loc();
        let (values, numbers) = parse_index_list(p, Delimiter::Paren)?;
        let values = p.resolve_all(&values, &vec![Type::INDEX; values.len()], loc)?;
        segments.push(values.len() as i64);
        state.operands.extend(values);
        state.set_attr(ctx, name, ctx.dense_ints_attr(Type::I64, &numbers));
    }
    let loc = p.loc();
    let mut outputs = 0;
    if p.accept_keyword("shared_outs") {
        let (mut shared, inits) = parse_assignments(p, Delimiter::Paren)?;
        state.result_types = p.parse_arrow_types()?;
        let types = state.result_types.clone();
        let inits = p.resolve_all(&inits, &types, loc)?;
        set_types(&mut shared, &types);
        outputs = inits.len() as i64;
        state.operands.extend(inits);
        arguments.extend(shared);
    }
    segments.push(outputs);
    state.set_segments(p.ctx(), &segments);
    p.parse_region(state, &arguments)?;
    p.ensure_terminator(state, 0, InParallelOp::DEF);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_forall(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ints = |name: &str| op.attr(name).and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default();
    let (lower, upper, step) = (ints("staticLowerBound"), ints("staticUpperBound"), ints("staticStep"));
    let arguments = entry_arguments(op, 0);
    let (variables, shared) = arguments.split_at(upper.len().min(arguments.len()));
    print_values(p, " ", variables.to_vec());
    if lower.iter().all(|n| *n == 0) && step.iter().all(|n| *n == 1) {
        p.write(" in ");
        print_index_list(p, &op.operand_group("dynamicUpperBound"), &upper);
    } else {
        p.write(" = ");
        print_index_list(p, &op.operand_group("dynamicLowerBound"), &lower);
        p.write(" to ");
        print_index_list(p, &op.operand_group("dynamicUpperBound"), &upper);
        p.write(" step ");
        print_index_list(p, &op.operand_group("dynamicStep"), &step);
    }
    print_assignments(p, " shared_outs", shared.iter().copied(), &op.operand_group("outputs"));
    if op.num_results() > 0 {
        p.write(" -> (");
        p.types(op.results().map(|r| op.type_of(r)));
        p.write(")");
    }
    p.write(" ");
    p.region(op, 0, false, op.num_results() > 0);
    p.attr_dict(op, &["operandSegmentSizes", "staticLowerBound", "staticUpperBound", "staticStep"]);
}

/// `scf.forall.in_parallel {…}`.
pub(super) fn parse_in_parallel(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    p.parse_region(state, &[])?;
    p.ensure_block(0);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_in_parallel(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.region(op, 0, false, false);
    p.attr_dict(op, &[]);
}

/// `scf.execute_region -> f32 no_inline {…}`.
pub(super) fn parse_execute_region(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    state.result_types = p.parse_optional_arrow_types()?;
    if p.accept_keyword("no_inline") {
        state.set_attr(p.ctx(), "no_inline", loomir_ir::Attr::UNIT);
    }
    p.parse_region(state, &[])?;
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_execute_region(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let types: Vec<Type> = op.results().map(|r| op.type_of(r)).collect();
    p.arrow_types(&types);
    p.write(" ");
    if op.attr("no_inline").is_some() {
        p.write("no_inline ");
    }
    p.region(op, 0, false, true);
    p.attr_dict(op, &["no_inline"]);
}

/// `scf.index_switch %x -> f32 case 2 {…} default {…}`. The default region is the first, though
/// written last.
pub(super) fn parse_index_switch(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let argument = p.parse_operand()?;
    state.operands.push(p.resolve(argument, Type::INDEX)?);
    p.parse_optional_attr_dict(state)?;
    if p.accept("->") {
        state.result_types = p.parse_type_list()?;
    }
    let mut cases = Vec::new();
    while p.accept_keyword("case") {
        cases.push(p.parse_integer()?);
        p.parse_region(state, &[])?;
        p.ensure_terminator(state, cases.len() - 1, YieldOp::DEF);
    }
    let ctx = p.ctx();
    state.set_attr(ctx, "cases", ctx.dense_ints_attr(Type::I64, &cases));
    p.expect_keyword("default")?;
    p.parse_region(state, &[])?;
    p.ensure_terminator(state, cases.len(), YieldOp::DEF);
    p.move_last_region_to_front();
    Ok(())
}

pub(super) fn print_index_switch(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let cases = op.attr("cases").and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default();
    p.write(" ");
    p.operand(op.operand(0));
    p.attr_dict(op, &["cases"]);
    if op.num_results() > 0 {
        p.write(" -> ");
        p.types(op.results().map(|r| op.type_of(r)));
    }
    p.write(" ");
    for (i, case) in cases.iter().enumerate() {
        p.newline();
        p.write(&format!("case {case} "));
        p.region(op, i + 1, false, true);
    }
    p.newline();
    p.write("default ");
    p.region(op, 0, false, op.num_results() > 0);
}
