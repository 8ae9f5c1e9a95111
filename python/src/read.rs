//! Looks at operations, blocks and values, each named by a number.

use std::sync::Arc;

use loomir::ir::symbols::lookup;
use loomir::ir::text::{PrintOptions, print_op};
use loomir::ir::{Body, Op, ValueDef, verifier};
use pyo3::prelude::*;

use crate::context::Shared;
use crate::error;
use crate::handles::Entity;
use crate::module::Module;
use crate::types::{Attribute, Type};
use crate::work::on_thread;

/// A value: the number of what defines it, and its position there.
pub(crate) type ValueKey = (u64, usize);

/// Returns the module's own operation.
#[pyfunction]
pub(crate) fn root(module: &Module, py: Python<'_>) -> PyResult<u64> {
    module.look(py, |state| {
        let root = state.body.root();
        Ok(state.handles.number(0, Entity::Op(root)))
    })
}

/// Returns the operation of a symbol at the top of the module.
#[pyfunction]
pub(crate) fn symbol(module: &Module, py: Python<'_>, name: &str) -> PyResult<Option<u64>> {
    module.look(py, |state| {
        let body = &state.body;
        let found = lookup(body, name);
        Ok(found.map(|op| state.handles.number(0, Entity::Op(op))))
    })
}

/// Returns the name of an operation.
#[pyfunction]
pub(crate) fn op_name(module: &Module, py: Python<'_>, op: u64) -> PyResult<String> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        Ok(state.at(at)?.op_ref(op).name().to_owned())
    })
}

/// Returns the operands of an operation. Each is true at the end if a block defines it.
#[pyfunction]
pub(crate) fn op_operands(module: &Module, py: Python<'_>, op: u64) -> PyResult<Vec<(u64, usize, bool)>> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        let body = state.at(at)?;
        let defs: Vec<ValueDef> = body.operands(op).map(|value| body.def(value)).collect();
        let key = |def: ValueDef| match def {
            ValueDef::OpResult { op, index } => (state.handles.number(at, Entity::Op(op)), index, false),
            ValueDef::BlockArgument { block, index } => {
                (state.handles.number(at, Entity::Block(block)), index, true)
            }
        };
        Ok(defs.into_iter().map(key).collect())
    })
}

/// Returns the number of results of an operation.
#[pyfunction]
pub(crate) fn op_results(module: &Module, py: Python<'_>, op: u64) -> PyResult<usize> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        Ok(state.at(at)?.num_results(op))
    })
}

/// Returns the number of regions of an operation.
#[pyfunction]
pub(crate) fn op_regions(module: &Module, py: Python<'_>, op: u64) -> PyResult<usize> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        Ok(state.at(at)?.op_ref(op).regions().len())
    })
}

/// Returns the attributes of an operation, inherent ones first.
#[pyfunction]
pub(crate) fn op_attributes(module: &Module, py: Python<'_>, op: u64) -> PyResult<Vec<(String, Attribute)>> {
    let shared: &Arc<Shared> = &module.shared;
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        let body = state.at(at)?;
        let (ctx, own) = (body.ctx(), body.op_ref(op));
        let all = own.properties().entries(ctx).iter().chain(own.attributes().entries(ctx));
        Ok(all
            .map(|(name, attr)| (ctx.str(*name).to_owned(), Attribute::new(shared.clone(), *attr)))
            .collect())
    })
}

/// Returns the place of an operation in the source.
#[pyfunction]
pub(crate) fn op_location<'py>(module: &Module, py: Python<'py>, op: u64) -> PyResult<Bound<'py, PyAny>> {
    let loc = module.look(py, |state| {
        let (at, op) = state.op(op)?;
        Ok(state.at(at)?.loc(op))
    })?;
    error::place(py, &module.shared.ctx, loc)
}

/// Returns the block that an operation stands in.
#[pyfunction]
pub(crate) fn op_block(module: &Module, py: Python<'_>, op: u64) -> PyResult<Option<u64>> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        let block = state.at(at)?.block_of(op);
        Ok(block.map(|block| state.handles.number(at, Entity::Block(block))))
    })
}

/// Returns the blocks that an operation may branch to.
#[pyfunction]
pub(crate) fn op_successors(module: &Module, py: Python<'_>, op: u64) -> PyResult<Vec<u64>> {
    module.look(py, |state| {
        let (at, op) = state.op(op)?;
        let blocks: Vec<_> = state.at(at)?.successors(op).collect();
        Ok(blocks.into_iter().map(|block| state.handles.number(at, Entity::Block(block))).collect())
    })
}

/// Returns the text of an operation, in generic form if the module is not well formed.
#[pyfunction]
pub(crate) fn op_text(module: &Module, py: Python<'_>, op: u64) -> PyResult<String> {
    let path = module.look(py, |state| {
        let (at, op) = state.op(op)?;
        Ok((state.body.clone(), state.handles.path(at), op))
    })?;
    on_thread(py, move || {
        let (module, path, op) = path;
        let generic = verifier::verify(&module).has_errors();
        let body = path.into_iter().try_fold(&*module, |body: &Body, slot: Op| body.nested(slot));
        let options = PrintOptions { generic, local_scope: true, ..PrintOptions::default() };
        body.map_or(String::new(), |body| print_op(body.op_ref(op), &options))
    })
}

/// Returns the blocks of region `index` of an operation.
#[pyfunction]
pub(crate) fn region_blocks(module: &Module, py: Python<'_>, op: u64, index: usize) -> PyResult<Vec<u64>> {
    module.look(py, |state| {
        let (at, op) = state.inner(op)?;
        let body = state.at(at)?;
        let region = body.own_regions(op).nth(index).ok_or("the operation has no such region")?;
        let blocks: Vec<_> = body.blocks(region).collect();
        Ok(blocks.into_iter().map(|block| state.handles.number(at, Entity::Block(block))).collect())
    })
}

/// Returns the operations of a block.
#[pyfunction]
pub(crate) fn block_ops(module: &Module, py: Python<'_>, block: u64) -> PyResult<Vec<u64>> {
    module.look(py, |state| {
        let (at, block) = state.block(block)?;
        let ops: Vec<Op> = state.at(at)?.ops(block).collect();
        Ok(ops.into_iter().map(|op| state.handles.number(at, Entity::Op(op))).collect())
    })
}

/// Returns the number of arguments of a block.
#[pyfunction]
pub(crate) fn block_arguments(module: &Module, py: Python<'_>, block: u64) -> PyResult<usize> {
    module.look(py, |state| {
        let (at, block) = state.block(block)?;
        Ok(state.at(at)?.num_arguments(block))
    })
}

/// Returns the operation around a block, and the position of the block's region there.
#[pyfunction]
pub(crate) fn block_parent(module: &Module, py: Python<'_>, block: u64) -> PyResult<(u64, usize)> {
    module.look(py, |state| {
        let (at, block) = state.block(block)?;
        let body = state.at(at)?;
        let region = body.block_region(block);
        let (parent, index) = (body.region_parent(region), body.region_index(region));
        let is_root = parent == body.root();
        Ok((state.handles.op_number(at, parent, is_root), index))
    })
}

/// Returns the type of a value.
#[pyfunction]
pub(crate) fn value_type(module: &Module, py: Python<'_>, value: ValueKey) -> PyResult<Type> {
    let ty = module.look(py, |state| {
        let (at, value) = state.value(value)?;
        Ok(state.at(at)?.value_type(value))
    })?;
    Ok(Type::new(module.shared.clone(), ty))
}

/// Returns the uses of a value: operations, and which operand of each.
#[pyfunction]
pub(crate) fn value_uses(module: &Module, py: Python<'_>, value: ValueKey) -> PyResult<Vec<(u64, usize)>> {
    module.look(py, |state| {
        let (at, value) = state.value(value)?;
        let uses: Vec<_> = state.at(at)?.uses(value).collect();
        Ok(uses.into_iter().map(|own| (state.handles.number(at, Entity::Op(own.op)), own.index)).collect())
    })
}
