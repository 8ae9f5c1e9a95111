//! The pattern for operations of which only the types change.

use super::pattern::ConversionPattern;
use super::rewriter::{ConversionRewriter, NoMatch, Operands};
use crate::attributes::{AttrKind, Dict};
use crate::body::Body;
use crate::builder::OperationState;
use crate::entity::{Op, Region, Value};
use crate::opdef::{Arity, OPERAND_SEGMENTS, OpDef, OperandDef, RESULT_SEGMENTS, Trait};
use crate::types::Type;

/// The pattern for operations of which only the types change: functions, calls, returns, branches,
/// loops, conditionals and their terminators.
///
/// The new operation has the name, attributes and regions of the old one. It has converted
/// operands, results and block arguments, and converted types in its attributes.
///
/// A value that becomes several, or none, must belong to a variadic operand or result. The pattern
/// then does not match an operation with lists in its inherent attributes, such as attributes of
/// arguments: their length may depend on the number of values.
///
/// ```
/// use loomir_ir::rewrite::{ConversionPattern, Retype};
/// use loomir_ir::dialect;
///
/// dialect! {
///     /// Toy functions.
///     pub TOY = "toy" {}
///
///     /// Ends a function.
///     ReturnOp = "return" { operands { values: Variadic Any } traits [Terminator] }
/// }
///
/// let pattern = Retype(ReturnOp::DEF);
/// assert_eq!(pattern.name(), "toy.return");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Retype(pub &'static OpDef);

impl ConversionPattern for Retype {
    fn convert(
        &self,
        rewriter: &mut ConversionRewriter<'_>,
        op: Op,
        operands: &Operands,
    ) -> Result<(), NoMatch> {
        if rewriter.types().is_legal_op(rewriter.body().op_ref(op)) {
            return Err("its types are those of the target".into());
        }
        let (state, counts) = converted_state(rewriter, op, operands)?;
        let regions: Vec<Region> = rewriter.body().own_regions(op).collect();
        check_counts(rewriter, op, operands, &regions)?;
        if op == rewriter.body().root() {
            rewriter.replace_root(&state);
            return regions.into_iter().try_for_each(|region| rewriter.convert_region_types(region));
        }
        let new = rewriter.insert_before(op, state);
        let news: Vec<Region> = rewriter.body().own_regions(new).collect();
        for (from, to) in regions.into_iter().zip(news) {
            rewriter.move_region(from, to);
            rewriter.convert_region_types(to)?;
        }
        let mut results = rewriter.body().results(new);
        let groups: Vec<Vec<Value>> =
            counts.iter().map(|count| results.by_ref().take(*count).collect()).collect();
        rewriter.replace_many(op, &groups);
        Ok(())
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn root(&self) -> Option<&'static OpDef> {
        Some(self.0)
    }
}

/// Returns the new operation, and the number of results that each old result becomes.
fn converted_state(
    rewriter: &ConversionRewriter<'_>,
    op: Op,
    operands: &Operands,
) -> Result<(OperationState, Vec<usize>), NoMatch> {
    let body = rewriter.body();
    let ctx = body.ctx().clone();
    let results = rewriter.convert_result_types(op)?;
    let counts: Vec<usize> = results.iter().map(Vec::len).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op));
    state.properties = convert_dict(rewriter, body.properties(op))?;
    state.attributes = convert_dict(rewriter, body.attributes(op))?;
    state.operands = operands.all();
    state.result_types = results.concat();
    state.successors = body.successors(op).collect();
    state.num_regions = body.own_regions(op).len();
    let operand_counts: Vec<usize> = (0..operands.len()).map(|own| operands.get(own).len()).collect();
    for (is_result, counts) in [(false, &operand_counts), (true, &counts)] {
        if counts.iter().all(|count| *count == 1) {
            continue;
        }
        if let Some((name, sizes)) = segments(body, op, is_result, counts)? {
            state.set_attr(&ctx, name, ctx.dense_ints_attr(Type::I32, &sizes));
        }
    }
    Ok((state, counts))
}

/// Returns the sizes of the segments of operands or results, if the operation keeps them, when each
/// value becomes as many as `counts` says.
fn segments(
    body: &Body,
    op: Op,
    is_result: bool,
    counts: &[usize],
) -> Result<Option<(&'static str, Vec<i64>)>, NoMatch> {
    let Some(def) = body.info(op).def() else { return Ok(None) };
    let (defs, name, is_sized) = match is_result {
        false => (&def.operands, OPERAND_SEGMENTS, def.traits.has(Trait::AttrSizedOperandSegments)),
        true => (&def.results, RESULT_SEGMENTS, def.traits.has(Trait::AttrSizedResultSegments)),
    };
    let group = |index: usize| match is_result {
        false => body.operand_group(op, def, index),
        true => body.result_group(op, def, index),
    };
    let mut sizes = Vec::with_capacity(defs.len());
    let mut grown = 0;
    for (index, own) in defs.iter().enumerate() {
        let counts = counts.get(group(index)).unwrap_or_default();
        let changes = counts.iter().any(|count| *count != 1);
        check_arity(own, changes, is_result)?;
        grown += usize::from(changes);
        sizes.push(counts.iter().sum::<usize>() as i64);
    }
    let is_shared = defs.iter().filter(|own| own.arity != Arity::One).count() > 1;
    if !is_sized && is_shared && grown > 0 {
        return Err("the values of two variadic operands could not be told apart".into());
    }
    Ok(is_sized.then_some((name, sizes)))
}

fn check_arity(own: &OperandDef, changes: bool, is_result: bool) -> Result<(), NoMatch> {
    if !changes || own.arity == Arity::Variadic {
        return Ok(());
    }
    let what = if is_result { "result" } else { "operand" };
    Err(format!("{what} '{}' has to be one value", own.name).into())
}

/// Converts the types in attributes.
fn convert_dict(rewriter: &ConversionRewriter<'_>, dict: Dict) -> Result<Dict, NoMatch> {
    let ctx = rewriter.ctx();
    let mut new = dict;
    for (name, attr) in dict.entries(&ctx) {
        let AttrKind::Type(ty) = attr.kind(&ctx) else { continue };
        let Some(converted) = rewriter.types().convert_attribute(*ty) else {
            return Err(format!("the type in attribute '{}' has no counterpart", ctx.str(*name)).into());
        };
        if converted != *ty {
            new = new.with(&ctx, ctx.str(*name), ctx.type_attr(converted));
        }
    }
    Ok(new)
}

/// Checks that all block arguments can be converted, before anything is changed. If any number of
/// values changes, checks that no attribute depends on it.
fn check_counts(
    rewriter: &ConversionRewriter<'_>,
    op: Op,
    operands: &Operands,
    regions: &[Region],
) -> Result<(), NoMatch> {
    let (body, types) = (rewriter.body(), rewriter.types());
    let mut changes = (0..operands.len()).any(|index| operands.get(index).len() != 1);
    let arguments =
        regions.iter().flat_map(|region| body.blocks(*region)).flat_map(|own| body.arguments(own));
    for value in arguments.chain(body.results(op)) {
        let Some(new) = types.convert(body.value_type(value)) else {
            return Err("the type of a result or block argument has no counterpart".into());
        };
        changes |= new.len() != 1;
    }
    let ctx = body.ctx();
    let properties = body.properties(op).entries(ctx);
    changes |= properties.iter().filter_map(|(_, attr)| attr.as_type(ctx)).any(|ty| {
        let counts = |ty: Type| ty.function(ctx).map(|(inputs, results)| (inputs.len(), results.len()));
        types.convert_attribute(ty).and_then(counts) != counts(ty)
    });
    for (name, attr) in properties {
        let name = ctx.str(*name);
        let is_list = match attr.kind(ctx) {
            AttrKind::Array(_) => true,
            _ => attr.dense_ints(ctx).is_some() && ![OPERAND_SEGMENTS, RESULT_SEGMENTS].contains(&name),
        };
        if is_list && changes {
            let text = format!("attribute '{name}' may depend on the number of values, which changes");
            return Err(text.into());
        }
    }
    Ok(())
}
