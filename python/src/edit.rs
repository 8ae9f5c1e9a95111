//! Small changes: operations made, moved, replaced and erased, operands and attributes set.
//!
//! Each step is checked before it changes anything. What a step cannot see, such as dominance, is
//! left to the verifier, which every longer piece of work runs first.

use hashbrown::HashSet;
use loomir::ir::text::{parse_attr, parse_type, type_to_string};
use loomir::ir::{
    Attr, Block, Body, Builder, Context, InsertPoint, Loc, Op, OperationState, Trait, Type, Value,
};
use pyo3::prelude::*;

use crate::context::parse_with;
use crate::handles::{BodyNumber, Entity};
use crate::module::{Module, Refused, State};
use crate::read::ValueKey;

/// A place for an operation: `before` or `after` an operation, at the `start` or `end` of a block.
pub(crate) type Place = (String, u64);

impl State {
    fn point(&self, (side, number): &Place) -> Result<(BodyNumber, InsertPoint, Loc), Refused> {
        if side == "before" || side == "after" {
            let (at, op) = self.op(*number)?;
            let body = self.at(at)?;
            if body.block_of(op).is_none() {
                return Err("the module itself stands in no block; nothing can go beside it".into());
            }
            let point = if side == "before" { InsertPoint::Before(op) } else { InsertPoint::After(op) };
            return Ok((at, point, body.loc(op)));
        }
        let (at, block) = self.block(*number)?;
        match side.as_str() {
            "start" => Ok((at, InsertPoint::Start(block), Loc::UNKNOWN)),
            "end" => Ok((at, InsertPoint::End(block), Loc::UNKNOWN)),
            _ => Err(format!("'{side}' is no place: use 'before', 'after', 'start' or 'end'")),
        }
    }

    /// Returns values that all have to be of one body.
    fn values_in(&self, at: BodyNumber, keys: &[ValueKey]) -> Result<Vec<Value>, Refused> {
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let (own, value) = self.value(*key)?;
            if own != at {
                return Err(
                    "a value of one function cannot be used in another; pass it as an argument".into()
                );
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Returns an operation that stands in a block.
    fn placed_op(&self, number: u64) -> Result<(BodyNumber, Op), Refused> {
        let (at, op) = self.op(number)?;
        match self.at(at)?.block_of(op) {
            Some(_) => Ok((at, op)),
            None => Err("this is the module itself, which can be neither moved nor erased".into()),
        }
    }
}

/// The parts of a new operation.
#[derive(FromPyObject)]
pub(crate) struct NewOp {
    name: String,
    operands: Vec<ValueKey>,
    /// The number of operands in each group, for definitions that have to be told.
    segments: Vec<i64>,
    /// Texts of types; `None` if they follow from the operands.
    results: Option<Vec<String>>,
    attributes: Vec<(String, String)>,
    successors: Vec<u64>,
    /// `None` for as many as the definition says.
    regions: Option<usize>,
}

/// The largest number of regions of a new operation.
const MAX_REGIONS: usize = 1 << 16;

/// Makes an operation at a place. Returns its number.
#[pyfunction]
pub(crate) fn create_op(module: &Module, py: Python<'_>, place: Place, new: NewOp) -> PyResult<u64> {
    let types = new.results.as_deref().map(|all| types(module, py, all)).transpose()?;
    let mut attributes = Vec::with_capacity(new.attributes.len());
    for (name, text) in &new.attributes {
        attributes.push((name.as_str(), attribute(module, py, text)?));
    }
    module.edit(py, |state| {
        let (at, point, loc) = state.point(&place)?;
        let op_state = op_state(state, &new, (at, loc), types, &attributes)?;
        let body = state.at_mut(at)?;
        let op = Builder::new(body, point).insert(op_state);
        Ok(state.handles.number(at, Entity::Op(op)))
    })
}

fn op_state(
    state: &State,
    new: &NewOp,
    (at, loc): (BodyNumber, Loc),
    types: Option<Vec<Type>>,
    attributes: &[(&str, Attr)],
) -> Result<OperationState, Refused> {
    let body = state.at(at)?;
    let (ctx, name) = (body.ctx(), &new.name);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
    if !name.contains('.') || !name.chars().all(is_word) || name.starts_with('.') || name.ends_with('.') {
        return Err(format!("'{name}' is no name of an operation: write 'dialect.operation'"));
    }
    let mut own = OperationState::new(ctx, name, loc).operands(&state.values_in(at, &new.operands)?);
    own.set_attrs(ctx, attributes);
    if ctx.op_info(own.name).has_trait(Trait::AttrSizedOperandSegments) {
        own.set_segments(ctx, &new.segments);
    }
    for successor in &new.successors {
        let (around, block) = state.block(*successor)?;
        if around != at {
            return Err("a branch cannot leave its function".into());
        }
        own.successors.push(block);
    }
    let info = ctx.op_info(own.name);
    let defined = info.def().map_or(0, |def| def.regions.iter().filter(|region| !region.variadic).count());
    own.num_regions = new.regions.unwrap_or(defined);
    if own.num_regions > MAX_REGIONS {
        return Err(format!("an operation has at most {MAX_REGIONS} regions"));
    }
    match types {
        Some(types) => own.result_types = types,
        None if own.infer_result_types(body) || info.def().is_some_and(|def| def.results.is_empty()) => {}
        None => {
            return Err(format!(
                "the result types of '{name}' do not follow from its operands; give 'results'"
            ));
        }
    }
    let is_bare = own.operands.is_empty() && own.result_types.is_empty() && own.successors.is_empty();
    if info.owns_arena() && !is_bare {
        return Err(format!("'{name}' is isolated from above: it has no operands, results or successors"));
    }
    Ok(own)
}

fn types(module: &Module, py: Python<'_>, texts: &[String]) -> PyResult<Vec<Type>> {
    let read = |text: &String| parse_with(py, &module.shared, text.clone(), "type", parse_type);
    texts.iter().map(read).collect()
}

fn attribute(module: &Module, py: Python<'_>, text: &str) -> PyResult<Attr> {
    parse_with(py, &module.shared, text.to_owned(), "attribute", parse_attr)
}

/// Adds a block at the end of a region, with arguments of these types. Returns its number.
#[pyfunction]
pub(crate) fn add_block(
    module: &Module,
    py: Python<'_>,
    op: u64,
    region: usize,
    arguments: Vec<String>,
) -> PyResult<u64> {
    let arguments = types(module, py, &arguments)?;
    module.edit(py, |state| {
        let (at, op) = state.inner(op)?;
        let body = state.at_mut(at)?;
        let region = body.own_regions(op).nth(region).ok_or("the operation has no such region")?;
        let block = body.append_block(region, &arguments);
        Ok(state.handles.number(at, Entity::Block(block)))
    })
}

/// Sets an attribute, given as text.
#[pyfunction]
pub(crate) fn set_attribute(
    module: &Module,
    py: Python<'_>,
    op: u64,
    name: &str,
    value: &str,
) -> PyResult<()> {
    let attr = attribute(module, py, value)?;
    module.edit(py, |state| {
        let (at, op) = state.op(op)?;
        state.at_mut(at)?.set_attr(op, name, attr);
        Ok(())
    })
}

/// Removes an attribute.
#[pyfunction]
pub(crate) fn remove_attribute(module: &Module, py: Python<'_>, op: u64, name: &str) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, op) = state.op(op)?;
        if state.at(at)?.attr(op, name).is_none() {
            return Err(format!("the operation has no attribute '{name}'"));
        }
        state.at_mut(at)?.remove_attr(op, name);
        Ok(())
    })
}

/// Replaces an operand.
#[pyfunction]
pub(crate) fn set_operand(
    module: &Module,
    py: Python<'_>,
    op: u64,
    index: usize,
    value: ValueKey,
) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, op) = state.op(op)?;
        let values = state.values_in(at, &[value])?;
        let body = state.at_mut(at)?;
        if index >= body.num_operands(op) {
            return Err(format!("the operation has no operand {index}"));
        }
        values.into_iter().for_each(|value| body.set_operand(op, index, value));
        Ok(())
    })
}

/// Refuses to put a value in the place of one of another type.
fn same_type(ctx: &Context, from: Type, to: Type) -> Result<(), Refused> {
    if from == to {
        return Ok(());
    }
    let (from, to) = (type_to_string(ctx, from), type_to_string(ctx, to));
    Err(format!("a value of type {from} cannot be replaced by one of type {to}"))
}

/// Makes all uses of one value uses of another.
#[pyfunction]
pub(crate) fn replace_all_uses(
    module: &Module,
    py: Python<'_>,
    old: ValueKey,
    new: ValueKey,
) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, from) = state.value(old)?;
        let to = state.values_in(at, &[new])?;
        let body = state.at_mut(at)?;
        for to in to {
            same_type(body.ctx(), body.value_type(from), body.value_type(to))?;
            body.replace_all_uses(from, to);
        }
        Ok(())
    })
}

/// Replaces the results of an operation by values, and erases the operation.
#[pyfunction]
pub(crate) fn replace_op(module: &Module, py: Python<'_>, op: u64, values: Vec<ValueKey>) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, op) = state.placed_op(op)?;
        let values = state.values_in(at, &values)?;
        let body = state.at(at)?;
        let results: Vec<Value> = body.results(op).collect();
        if results.len() != values.len() {
            let (own, given) = (results.len(), values.len());
            return Err(format!("the operation has {own} results, and {given} values are to replace them"));
        }
        for (from, to) in results.iter().zip(&values) {
            same_type(body.ctx(), body.value_type(*from), body.value_type(*to))?;
            if body.defining_op(*to) == Some(op) || body.is_defined_within(*to, op) {
                return Err("an operation cannot be replaced by what it defines itself".into());
            }
        }
        inside_unused(body, op, Results::AreReplaced)?;
        let body = state.at_mut(at)?;
        results.into_iter().zip(values).for_each(|(from, to)| body.replace_all_uses(from, to));
        erase(state, at, op)
    })
}

/// Erases an operation with all it holds.
#[pyfunction]
pub(crate) fn erase_op(module: &Module, py: Python<'_>, op: u64) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, op) = state.placed_op(op)?;
        inside_unused(state.at(at)?, op, Results::HaveToBeUnused)?;
        erase(state, at, op)
    })
}

fn erase(state: &mut State, at: BodyNumber, op: Op) -> Result<(), Refused> {
    let module = state.body.clone();
    state.handles.end(&module, at, op);
    drop(module);
    state.at_mut(at)?.erase(op);
    Ok(())
}

/// The results of an operation that is about to be erased.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    AreReplaced,
    HaveToBeUnused,
}

/// Refuses if something outside of an operation uses what is defined inside. Linear in what the
/// operation holds and in the uses of that.
fn inside_unused(body: &Body, op: Op, results: Results) -> Result<(), Refused> {
    let inside: HashSet<Op> = body.preorder(op).collect();
    let is_used = |value: Value| body.uses(value).any(|own| !inside.contains(&own.op));
    let is_target = |block: Block| body.predecessor_edges(block).any(|(from, _)| !inside.contains(&from));
    for own in body.preorder(op) {
        let is_open = own != op || results == Results::HaveToBeUnused;
        let mut blocks = body.own_regions(own).flat_map(|region| body.blocks(region));
        let in_use = is_open && body.results(own).any(is_used)
            || blocks.any(|block| body.arguments(block).any(is_used) || is_target(block));
        if in_use {
            let name = body.op_ref(op).name();
            return Err(format!("'{name}' is still used: replace its uses first, or erase its users"));
        }
    }
    Ok(())
}

/// Moves an operation to another place in its function.
#[pyfunction]
pub(crate) fn move_op(module: &Module, py: Python<'_>, op: u64, place: Place) -> PyResult<()> {
    module.edit(py, |state| {
        let (at, op) = state.placed_op(op)?;
        let (target, point, _) = state.point(&place)?;
        if target != at {
            return Err("an operation cannot move to another function; make a new one there".into());
        }
        let body = state.at_mut(at)?;
        let beside = match point {
            InsertPoint::Before(other) | InsertPoint::After(other) => Some(other),
            InsertPoint::Start(block) | InsertPoint::End(block) => {
                Some(body.region_parent(body.block_region(block)))
            }
        };
        if beside.is_some_and(|other| body.is_within(other, op)) {
            return Err("an operation cannot move into itself".into());
        }
        body.detach(op);
        Builder::new(body, point).place(op);
        Ok(())
    })
}
