//! The operation that wrote an element last, and the iterations of the loops around it.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::interp::{Active, Datum, Written};
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopForest;
use loomir_ir::symbols::lookup;
use loomir_ir::{Block, Body, Loc, Op, Region, Type, TypeKind};

/// A statement in one iteration of the loops around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The place of the statement.
    pub loc: Loc,
    /// The name of its operation.
    pub operation: String,
    /// The function that it stands in.
    pub function: String,
    /// The loops around it, those of its callers included, the outermost first.
    pub loops: Vec<Iteration>,
}

/// A loop in one of its iterations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Iteration {
    /// The place of the loop.
    pub loc: Loc,
    /// The values of its induction variables.
    pub variables: Vec<i64>,
}

impl Instance {
    /// Returns the iteration as a vector: `(1, 3)`; nothing outside of loops.
    pub fn iteration(&self) -> String {
        let all = self.loops.iter().flat_map(|own| &own.variables);
        let all: Vec<String> = all.map(i64::to_string).collect();
        if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
    }
}

/// Returns the instance that a run recorded; `None` if nothing wrote the element.
pub(super) fn of(module: &Body, written: &Written) -> Option<Instance> {
    let ctx = module.ctx();
    let mut loops = Vec::new();
    let mut instance = None;
    for active in written {
        let body = function_body(module, active)?;
        around(body, active, &mut loops);
        instance = Some(Instance {
            loc: body.loc(active.op),
            operation: body.op_ref(active.op).name().into(),
            function: ctx.str(active.function).into(),
            loops: Vec::new(),
        });
    }
    Some(Instance { loops, ..instance? })
}

fn function_body<'m>(module: &'m Body, active: &Active) -> Option<&'m Body> {
    let op = lookup(module, module.ctx().str(active.function))?;
    Some(module.nested(op).unwrap_or(module))
}

/// Adds the loops around an operation, the outermost first.
fn around(body: &Body, active: &Active, loops: &mut Vec<Iteration>) {
    let mut own = Vec::new();
    let mut at = Some(active.op);
    while let Some(op) = at {
        if let Some(block) = body.block_of(op) {
            graph_loops(body, block, active, &mut own);
        }
        at = body.parent_op(op).filter(|parent| *parent != body.root());
        if let Some(parent) = at {
            own.extend(structured(body, parent, active));
        }
    }
    own.reverse();
    loops.append(&mut own);
}

/// Returns the iteration of a structured loop.
fn structured(body: &Body, op: Op, active: &Active) -> Option<Iteration> {
    let op_ref = body.op_ref(op);
    let (region, count): (Region, usize) = if let Some(model) = op_ref.info().interface::<dyn LoopLike>() {
        (model.body(op_ref), 1)
    } else if let Some(model) = op_ref.info().interface::<dyn ParallelLike>() {
        (model.body(op_ref), model.dimensions(op_ref).len())
    } else {
        return None;
    };
    let block = body.entry_block(region)?;
    let variables = body
        .arguments(block)
        .take(count)
        .map(|value| number(body, active, value.index(), body.value_type(value)));
    Some(Iteration { loc: body.loc(op), variables: variables.collect::<Option<_>>()? })
}

/// Adds the loops of a graph of blocks around one of them, the innermost first. Their variables are
/// the integers that the header takes.
fn graph_loops(body: &Body, block: Block, active: &Active, own: &mut Vec<Iteration>) {
    let region = body.block_region(block);
    if body.single_block(region).is_some() {
        return;
    }
    let flow = ControlFlow::of(body, region);
    let dominators = DominatorTree::new(flow.graph(), 0);
    let forest = LoopForest::new(flow.graph(), flow.reversed(), &dominators, 0);
    let mut id = forest.innermost(flow.number(block));
    while let Some(inner) = id {
        let natural = forest.get(inner);
        let header = flow.block(natural.header());
        let variables = body
            .arguments(header)
            .filter_map(|value| number(body, active, value.index(), body.value_type(value)));
        let loc = body.first_op(header).map_or(Loc::UNKNOWN, |op| body.loc(op));
        own.push(Iteration { loc, variables: variables.take(1).collect() });
        id = natural.parent;
    }
}

/// Returns the value of an integer, with its sign.
fn number(body: &Body, active: &Active, index: usize, ty: Type) -> Option<i64> {
    let width = match ty.kind(body.ctx()) {
        TypeKind::Index => 64,
        TypeKind::Integer { width: width @ 2..=64, .. } => *width,
        _ => return None,
    };
    match active.values.get(index) {
        Some(Datum::Bits(bits)) => Some(((*bits << (64 - width)) as i64) >> (64 - width)),
        _ => None,
    }
}
