//! `affine.parallel`: its bounds, custom form and rules.
//!
//! One map for each side holds the bounds of all dimensions as its results, in groups:
//! `(max(0, %a), 1)` are two groups, of two results and of one.

use loomir_ir::text::{Argument, Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{
    AffineExpr, AffineMap, AttrKind, Context, Diagnostics, Dict, OpRef, OperationState, Signedness, Type,
    TypeKind, Value,
};

use super::access::map_of;
use super::verify::verify_map_operands;
use super::{ParallelOp, YieldOp};
use crate::arith::ATOMIC_RMW_KIND;
use crate::checks::expect_implicit_terminators;
use crate::elements::{elements, elements_attr};

/// One side of the bounds: for each dimension the part of the map that bounds it.
struct Side {
    /// All bounds.
    map: AffineMap,
    /// The number of results of each dimension.
    groups: Vec<usize>,
}

impl Side {
    fn of(op: OpRef<'_>, side: &str) -> Side {
        let ctx = op.ctx();
        let groups = op.attr(&format!("{side}BoundsGroups")).map(|a| elements(ctx, a)).unwrap_or_default();
        Side {
            map: map_of(ctx, op.attr(&format!("{side}BoundsMap"))),
            groups: groups.into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect(),
        }
    }

    /// Returns a map with the bounds of a single dimension, for each dimension.
    fn maps(&self, ctx: &Context) -> Vec<AffineMap> {
        let data = self.map.data(ctx);
        let mut start = 0;
        let group = |size: &usize| {
            let end = (start + size).min(data.results.len());
            let results = data.results[start.min(end)..end].to_vec();
            start = end;
            AffineMap::new(ctx, data.dims, data.symbols, &results)
        };
        self.groups.iter().map(group).collect()
    }
}

/// Returns the bounds of each dimension: greatest results of the first map, least of the second.
pub fn bounds(op: OpRef<'_>) -> Vec<(AffineMap, AffineMap)> {
    let ctx = op.ctx();
    let (lower, upper) = (Side::of(op, "lower").maps(ctx), Side::of(op, "upper").maps(ctx));
    lower.into_iter().zip(upper).collect()
}

/// Returns the operands of the two maps of [`bounds`].
pub fn bound_operands(op: OpRef<'_>) -> (Vec<Value>, Vec<Value>) {
    let operands: Vec<Value> = op.operands().collect();
    let lower = map_of(op.ctx(), op.attr("lowerBoundsMap")).num_inputs(op.ctx());
    let (lower, upper) = operands.split_at(lower.min(operands.len()));
    (lower.to_vec(), upper.to_vec())
}

/// Returns the steps of each dimension.
pub fn steps(op: OpRef<'_>) -> Vec<i64> {
    let steps = op.attr("steps").and_then(|a| a.as_array(op.ctx())).unwrap_or_default();
    steps.iter().map(|step| step.as_int(op.ctx()).unwrap_or(0)).collect()
}

/// Gives `state`, an operation like `op`, the bounds and steps of some of its dimensions, in this
/// order. The operands are unchanged.
pub fn set_dimensions(op: OpRef<'_>, dimensions: &[usize], state: &mut OperationState) {
    let ctx = op.ctx();
    for side in ["lower", "upper"] {
        let own = Side::of(op, side);
        let maps = own.maps(ctx);
        let picked = dimensions.iter().filter_map(|dimension| maps.get(*dimension));
        let results: Vec<AffineExpr> =
            picked.clone().flat_map(|map| map.results(ctx).iter().copied()).collect();
        let groups = picked.map(|map| map.results(ctx).len() as u128).collect();
        let data = own.map.data(ctx);
        let map = AffineMap::new(ctx, data.dims, data.symbols, &results);
        set_side(ctx, state, side, map, groups);
    }
    let all = op.attr("steps").and_then(|steps| steps.as_array(ctx)).unwrap_or_default();
    let steps: Vec<_> = dimensions.iter().filter_map(|dimension| all.get(*dimension)).copied().collect();
    state.set_attr(ctx, "steps", ctx.array_attr(&steps));
}

/// Makes `state`, of an `affine.for` without carried values, that of an `affine.parallel`. Its
/// operands and its other attributes stay.
pub fn of_loop(ctx: &Context, state: &mut OperationState) {
    let own = std::mem::replace(&mut state.properties, Dict::EMPTY);
    state.name = ctx.op_name_of(ParallelOp::DEF);
    for side in ["lower", "upper"] {
        let map = map_of(ctx, own.get(ctx, &format!("{side}BoundMap")));
        let results = map.results(ctx).len() as u128;
        set_side(ctx, state, side, map, vec![results]);
    }
    let step = own.get(ctx, "step").and_then(|step| step.as_int(ctx)).unwrap_or(1);
    state.set_attr(ctx, "steps", ctx.array_attr(&[ctx.int_attr(Type::I64, step)]));
    state.set_attr(ctx, "reductions", ctx.array_attr(&[]));
}

/// `affine.parallel (%i) = (0) to (min(%n, 8)) step (2) reduce ("addf") -> f32 {…}`.
pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let variables = p.parse_argument_list(Delimiter::Paren, false)?;
    let variables: Vec<Argument> = variables.into_iter().map(|v| Argument { ty: Type::INDEX, ..v }).collect();
    p.expect("=")?;
    parse_bounds(p, state, "lower", "max")?;
    p.expect_keyword("to")?;
    parse_bounds(p, state, "upper", "min")?;
    let steps = if p.accept_keyword("step") {
        p.parse_list(Delimiter::Paren, |p| p.parse_integer())?
    } else {
        vec![1; variables.len()]
    };
    let steps: Vec<_> = steps.into_iter().map(|step| ctx.int_attr(Type::I64, step)).collect();
    state.set_attr(ctx, "steps", ctx.array_attr(&steps));
    let mut reductions = Vec::new();
    if p.accept_keyword("reduce") {
        reductions = p.parse_list(Delimiter::Paren, |p| {
            let loc = p.loc();
            let name = p.parse_string()?;
            match ATOMIC_RMW_KIND.value_of(&name) {
                Some(kind) => Ok(ATOMIC_RMW_KIND.attr(ctx, kind)),
                None => Err(p.error(loc, format!("invalid reduction value: \"{name}\""))),
            }
        })?;
    }
    state.set_attr(ctx, "reductions", ctx.array_attr(&reductions));
    state.result_types = p.parse_optional_arrow_types()?;
    p.parse_region(state, &variables)?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    p.parse_optional_attr_dict(state)
}

/// Bounds during parsing. Values are numbered in the order of their first occurrence, dimensions
/// and symbols separately.
#[derive(Default)]
struct Reader {
    dims: Vec<Value>,
    symbols: Vec<Value>,
    results: Vec<AffineExpr>,
}

impl Reader {
    /// Reads `%i + symbol(%n)`.
    fn read(&mut self, p: &mut OpParser<'_, '_>) -> ParseResult<()> {
        let ctx = p.ctx();
        let (map, operands, num_dims) = p.parse_affine_map_of_ssa_ids(Delimiter::None)?;
        let (mut dims, mut symbols) = (Vec::new(), Vec::new());
        for (i, operand) in operands.into_iter().enumerate() {
            let value = p.resolve(operand, Type::INDEX)?;
            if i < num_dims as usize {
                dims.push(AffineExpr::dim(ctx, number(&mut self.dims, value)));
            } else {
                symbols.push(AffineExpr::symbol(ctx, number(&mut self.symbols, value)));
            }
        }
        self.results.extend(map.results(ctx).iter().map(|result| result.replace(ctx, &dims, &symbols)));
        Ok(())
    }
}

/// Returns the position of a value. Adds the value if it is missing.
fn number(values: &mut Vec<Value>, value: Value) -> u32 {
    let position = values.iter().position(|own| *own == value).unwrap_or(values.len());
    if position == values.len() {
        values.push(value);
    }
    position as u32
}

/// Reads `(0, max(1, %a))`.
fn parse_bounds(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    side: &str,
    word: &str,
) -> ParseResult<()> {
    let ctx = p.ctx();
    let mut reader = Reader::default();
    let groups = p.parse_list(Delimiter::Paren, |p| {
        let before = reader.results.len();
        if p.accept_keyword(word) {
            p.parse_list(Delimiter::Paren, |p| reader.read(p))?;
        } else {
            reader.read(p)?;
        }
        Ok((reader.results.len() - before) as u128)
    })?;
    let Reader { dims, symbols, results } = reader;
    let map = AffineMap::new(ctx, dims.len() as u32, symbols.len() as u32, &results);
    set_side(ctx, state, side, map, groups);
    state.operands.extend(dims);
    state.operands.extend(symbols);
    Ok(())
}

/// Sets the bounds on one side, `"lower"` or `"upper"`, of all dimensions: a map, and the number
/// of its results for each dimension.
pub fn set_side(ctx: &Context, state: &mut OperationState, side: &str, map: AffineMap, groups: Vec<u128>) {
    state.set_attr(ctx, &format!("{side}BoundsMap"), ctx.attr(AttrKind::AffineMap(map)));
    let shape = Some([groups.len() as i64].into());
    let ty = ctx.ty(TypeKind::Tensor { shape, element: Type::I32, encoding: None });
    if let Some(groups) = elements_attr(ctx, ty, groups) {
        state.set_attr(ctx, &format!("{side}BoundsGroups"), groups);
    }
}

fn print_bounds(p: &mut OpPrinter<'_>, side: &Side, operands: &[Value], word: &str) {
    p.write("(");
    for (i, map) in side.maps(p.ctx()).into_iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        let several = side.groups[i] != 1;
        if several {
            p.write(word);
            p.write("(");
        }
        p.affine_map_of_ssa_ids(map, operands);
        if several {
            p.write(")");
        }
    }
    p.write(")");
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let (ctx, body) = (op.ctx(), op.body());
    let (lower, upper) = bound_operands(op);
    let variables: Vec<Value> = match body.entry_block(op.region(0)) {
        Some(block) => body.arguments(block).collect(),
        None => Vec::new(),
    };
    p.write(" (");
    p.operands(variables);
    p.write(") = ");
    print_bounds(p, &Side::of(op, "lower"), &lower, "max");
    p.write(" to ");
    print_bounds(p, &Side::of(op, "upper"), &upper, "min");
    let steps = steps(op);
    if steps.iter().any(|step| *step != 1) {
        let steps: Vec<String> = steps.iter().map(i64::to_string).collect();
        p.write(&format!(" step ({})", steps.join(", ")));
    }
    if op.num_results() > 0 {
        let reductions = op.attr("reductions").and_then(|a| a.as_array(ctx)).unwrap_or_default();
        let name = |kind| ATOMIC_RMW_KIND.value(ctx, kind).and_then(|kind| ATOMIC_RMW_KIND.text_of(kind));
        let names: Vec<String> =
            reductions.iter().map(|kind| format!("\"{}\"", name(*kind).unwrap_or_default())).collect();
        p.write(&format!(" reduce ({}) -> (", names.join(", ")));
        p.types(op.results().map(|r| op.type_of(r)));
        p.write(")");
    }
    p.write(" ");
    p.region(op, 0, false, op.num_results() > 0);
    let own =
        ["reductions", "lowerBoundsMap", "lowerBoundsGroups", "upperBoundsMap", "upperBoundsGroups", "steps"];
    p.attr_dict(op, &own);
}

/// Checks the numbers of groups, steps and induction variables, that the number of results fits the
/// groups, and that each result has a fitting reduction.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, YieldOp::DEF, out);
    let (ctx, body) = (op.ctx(), op.body());
    let (lower, upper) = (Side::of(op, "lower"), Side::of(op, "upper"));
    let steps = steps(op);
    let variables: Vec<Value> = match body.entry_block(op.region(0)) {
        Some(block) => body.arguments(block).collect(),
        None => Vec::new(),
    };
    let counts = [variables.len(), lower.groups.len(), upper.groups.len(), steps.len()];
    if counts.iter().any(|count| *count != counts[0]) {
        let [variables, lower, upper, steps] = counts;
        out.push(op_error(
            op,
            format!(
                "the number of region arguments ({variables}) and the number of map groups for lower ({lower}) and upper bound ({upper}), and the number of steps ({steps}) must all match"
            ),
        ));
        return;
    }
    for (name, side) in [("lower", &lower), ("upper", &upper)] {
        let expected: usize = side.groups.iter().sum();
        if side.map.results(ctx).len() != expected {
            out.push(op_error(op, format!("expected {name} bounds map to have {expected} results")));
        }
        if side.groups.contains(&0) {
            out.push(op_error(
                op,
                format!("expected {name} bounds map to have at least one result for each dimension"),
            ));
        }
    }
    if variables.iter().any(|v| op.type_of(*v) != Type::INDEX) {
        out.push(op_error(op, "expected induction variables to be of index type"));
    }
    if steps.iter().any(|step| *step <= 0) {
        out.push(op_error(op, "expected steps to be positive"));
    }
    verify_reductions(op, out);
    let inputs = lower.map.num_inputs(ctx) + upper.map.num_inputs(ctx);
    if op.num_operands() != inputs {
        out.push(op_error(
            op,
            format!("expected {inputs} operands for its bounds, got {}", op.num_operands()),
        ));
        return;
    }
    let (lower_operands, upper_operands) = bound_operands(op);
    verify_map_operands(op, &lower_operands, lower.map.data(ctx).dims, out);
    verify_map_operands(op, &upper_operands, upper.map.data(ctx).dims, out);
}

fn verify_reductions(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let reductions = op.attr("reductions").and_then(|a| a.as_array(ctx)).unwrap_or_default();
    let kinds: Vec<Option<u64>> = reductions.iter().map(|a| ATOMIC_RMW_KIND.value(ctx, *a)).collect();
    if kinds.contains(&None) {
        out.push(op_error(op, "attribute 'reductions' failed to satisfy constraint: Reduction ops"));
        return;
    }
    if kinds.len() != op.num_results() {
        out.push(op_error(op, "a reduction must be specified for each output"));
        return;
    }
    for (result, kind) in op.results().zip(kinds.into_iter().flatten()) {
        if !can_reduce(ctx, op.type_of(result), &ATOMIC_RMW_KIND.text_of(kind).unwrap_or_default()) {
            out.push(op_error(op, "result type cannot match reduction attribute"));
        }
    }
}

/// True if a value of this type can be combined by the reduction of this name.
fn can_reduce(ctx: &Context, ty: Type, kind: &str) -> bool {
    let signedness = match ty.kind(ctx) {
        TypeKind::Integer { signedness, .. } => Some(*signedness),
        _ => None,
    };
    match kind {
        "addf" | "mulf" | "maximumf" | "minimumf" => ty.is_float(ctx),
        "addi" | "muli" | "ori" | "andi" => signedness.is_some(),
        "maxs" | "mins" => signedness == Some(Signedness::Signed),
        "maxu" | "minu" => signedness == Some(Signedness::Unsigned),
        "assign" => true,
        _ => false,
    }
}
