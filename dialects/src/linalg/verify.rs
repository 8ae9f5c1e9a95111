//! Verifiers of `linalg`: operands, maps and regions fit each other, and operands are memrefs.

use hashbrown::HashMap;
use loomir_ir::affine::AffineExprKind;
use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{
    AffineExpr, AffineMap, Attr, Block, Body, Builder, DYNAMIC, Diagnostic, Diagnostics, InsertPoint, OpRef,
    OperationState, Type, TypeKind, Value,
};

use super::attributes::{attached_maps, element_type, rank};
use super::named::Named;

use super::{BatchMatmulOp, FillOp, GenericOp, MatmulOp, Structured, TYPE_FN};

/// The way from tensors to memrefs.
const BUFFERIZE: &str = "make memrefs first: mlir-opt --one-shot-bufferize='bufferize-function-boundaries \
                         function-boundary-type-conversion=identity-layout-map' IN -o OUT";

/// Checks an operation with a region against its general form.
pub(super) fn structured(op: OpRef<'_>, out: &mut Diagnostics) {
    if let Err(error) = check(op) {
        out.push(error);
    }
}

/// Checks the permutation of `linalg.transpose`, then the operation.
pub(super) fn transpose(op: OpRef<'_>, out: &mut Diagnostics) {
    let order = op.attr("permutation").and_then(|order| order.as_dense_ints(op.ctx())).unwrap_or_default();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let memrefs = only_memrefs(op);
    let (input, output) = (shape(op, 0), shape(op, 1));
    let error = if let Err(error) = memrefs {
        error
    } else if !sorted.iter().copied().eq(0..order.len() as i64) {
        op_error(op, "permutation is not valid")
    } else if input.len() != output.len() {
        let (input, output) = (input.len(), output.len());
        op_error(op, format!("input rank {input} does not match init rank {output}"))
    } else if order.len() != input.len() {
        let (sizes, rank) = (order.len(), input.len());
        op_error(op, format!("size of permutation {sizes} does not match the argument rank {rank}"))
    } else if let Some(at) = (0..order.len()).find(|at| output[*at] != input[order[*at] as usize]) {
        let (own, from) = (output[at], input[order[at] as usize]);
        op_error(
            op,
            format!("dim(result, {at}) = {own} doesn't match dim(input, permutation[{at}]) = {from}"),
        )
    } else {
        return structured(op, out);
    };
    out.push(error);
}

/// Checks the dimensions of `linalg.broadcast`, then the operation.
pub(super) fn broadcast(op: OpRef<'_>, out: &mut Diagnostics) {
    let added = op.attr("dimensions").and_then(|added| added.as_dense_ints(op.ctx())).unwrap_or_default();
    let memrefs = only_memrefs(op);
    let (input, output) = (shape(op, 0), shape(op, 1));
    let kept: Vec<usize> = (0..output.len()).filter(|d| !added.contains(&(*d as i64))).collect();
    let error = if let Err(error) = memrefs {
        error
    } else if let Some(d) = added.iter().find(|d| !(0..output.len() as i64).contains(*d)) {
        let last = output.len() as i64 - 1;
        op_error(op, format!("dimension 0 is out of range. expected range: [0, {last}], got: {d}"))
    } else if input.len() + added.len() != output.len() || kept.len() != input.len() {
        let (input, added, output) = (input.len(), added.len(), output.len());
        op_error(
            op,
            format!(
                "input rank plus added dimensions does not match init rank. input rank: {input}, \
                 dimensions size: {added}, init rank: {output}"
            ),
        )
    } else if let Some((d, own)) = kept.iter().enumerate().find(|(d, own)| input[*d] != output[**own]) {
        let (from, to) = (input[d], output[*own]);
        op_error(op, format!("input dim {d} should match init dim {own}. input: {from}, init: {to}"))
    } else {
        return structured(op, out);
    };
    out.push(error);
}

/// Returns the sizes of an operand; none of one that is no memref.
fn shape(op: OpRef<'_>, operand: usize) -> &[i64] {
    op.operand_type(operand).shape(op.ctx()).unwrap_or_default()
}

/// Refuses operands and results that are tensors, or memrefs of unknown rank.
fn only_memrefs(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ctx = op.ctx();
    for (index, value) in op.operands().enumerate() {
        let ty = op.type_of(value);
        let name = type_to_string(ctx, ty);
        match ty.kind(ctx) {
            TypeKind::Tensor { .. } => {
                let message = format!("works on memrefs, but operand #{index} is the tensor '{name}'");
                return Err(op_error(op, message).help(BUFFERIZE));
            }
            TypeKind::MemRef { shape: None, .. } => {
                return Err(op_error(op, format!("operand #{index} has no rank: '{name}'")));
            }
            _ => {}
        }
    }
    match op.num_results() {
        0 => Ok(()),
        _ => Err(op_error(op, "works on memrefs, and has no results")),
    }
}

fn check(op: OpRef<'_>) -> Result<(), Diagnostic> {
    only_memrefs(op)?;
    let named = op.def().and_then(Named::of);
    if let Some(named) = named
        && op.num_operands() != named.num_operands()
    {
        let (expected, got) = (named.num_operands(), op.num_operands());
        return Err(op_error(op, format!("has {expected} operands, and {got} are given")));
    }
    if op.is(FillOp::DEF) {
        check_fill(op)?;
    }
    let maps = named.map_or_else(|| attached_maps(op), |named| named.maps(op));
    let Some(maps) = maps else { return Err(op_error(op, "expected indexing_maps to hold affine maps")) };
    if maps.len() != op.num_operands() {
        let (maps, operands) = (maps.len(), op.num_operands());
        let message = format!(
            "expected the number of indexing_map ({maps}) to be equal to the number of input/output \
             operands ({operands})"
        );
        return Err(op_error(op, message));
    }
    check_maps(op, &maps)?;
    check_product(op, &maps)?;
    let Some(view) = Structured::of(op) else {
        return Err(op_error(op, "expected maps and iterator types that fit the operands"));
    };
    check_region(&view)?;
    if let Some(named) = named {
        check_computation(&view, named)?;
    }
    check_sizes(&view)
}

/// Checks that the input is a number of the type of the elements.
fn check_fill(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ctx = op.ctx();
    let (value, element) = (op.operand_type(0), element_type(ctx, op.operand_type(1)));
    if matches!(value.kind(ctx), TypeKind::MemRef { .. }) {
        return Err(op_error(op, "expected op with scalar input"));
    }
    if value != element {
        let (value, element) = (type_to_string(ctx, value), type_to_string(ctx, element));
        let message =
            format!("expected fill value type ('{value}') to match output element type ('{element}')");
        return Err(op_error(op, message));
    }
    Ok(())
}

/// Checks that each map has a dimension for each loop and a result for each dimension of its
/// operand.
fn check_maps(op: OpRef<'_>, maps: &[AffineMap]) -> Result<(), Diagnostic> {
    let ctx = op.ctx();
    let iterators = op.attr("iterator_types").and_then(|types| types.as_array(ctx)).map(<[Attr]>::len);
    let loops = iterators.or(maps.last().map(|map| map.data(ctx).dims as usize)).unwrap_or(0);
    for (index, map) in maps.iter().enumerate() {
        let data = map.data(ctx);
        let (results, rank) = (data.results.len(), rank(ctx, op.operand_type(index)));
        let message = if data.symbols > 0 {
            format!("unexpected symbols in indexing_map #{index}")
        } else if data.dims as usize != loops {
            format!("expected indexing_map #{index} to have {loops} dim(s) to match the number of loops")
        } else if results != rank {
            format!(
                "expected operand #{index} rank ({rank}) to match the result rank of indexing_map ({results})"
            )
        } else {
            continue;
        };
        return Err(op_error(op, message));
    }
    Ok(())
}

/// Checks that the maps of a product of matrices make it one: each operand has its loops as
/// subscripts, transposed or not, or has fewer and is the same for the others.
fn check_product(op: OpRef<'_>, maps: &[AffineMap]) -> Result<(), Diagnostic> {
    const MATMUL: [(&[u32], &[&[u32]]); 3] = [(&[0, 2], &[&[2]]), (&[1, 2], &[&[2]]), (&[0, 1], &[])];
    const BATCH_MATMUL: [(&[u32], &[&[u32]]); 3] =
        [(&[0, 1, 3], &[&[1, 3], &[3]]), (&[0, 2, 3], &[&[3, 2], &[3]]), (&[0, 1, 2], &[])];
    let (allowed, has_batch) = if op.is(MatmulOp::DEF) {
        (MATMUL, false)
    } else if op.is(BatchMatmulOp::DEF) {
        (BATCH_MATMUL, true)
    } else {
        return Ok(());
    };
    let ctx = op.ctx();
    let dim = |expr: &AffineExpr| match expr.kind(ctx) {
        AffineExprKind::Dim(d) => Some(d),
        _ => None,
    };
    for (index, (map, (loops, broadcasts))) in maps.iter().zip(allowed).enumerate() {
        let dims: Vec<u32> = map.results(ctx).iter().map(dim).collect::<Option<_>>().unwrap_or_default();
        let mut sorted = dims.clone();
        sorted.sort_unstable();
        let is_whole = sorted == loops && !(has_batch && dims[0] != 0);
        if !is_whole && !broadcasts.contains(&&dims[..]) {
            let message =
                format!("expected indexing_map #{index} to be that of a matrix, or of a broadcast one");
            return Err(op_error(op, message));
        }
    }
    Ok(())
}

/// Checks that the computation takes an element of each operand.
fn check_region(view: &Structured<'_>) -> Result<(), Diagnostic> {
    let op = view.op();
    let Some(block) = view.block() else {
        return Err(op_error(op, "expects to have 1 region with 1 block"));
    };
    if op.body().num_arguments(block) != op.num_operands() {
        let message = "expected as many non-induction variable region arguments as the number of \
                       input/output operands";
        return Err(op_error(op, message));
    }
    for (index, argument) in op.body().arguments(block).enumerate() {
        let (own, expected) = (op.type_of(argument), view.element_type(index));
        if own != expected {
            let (own, expected) = (type_to_string(op.ctx(), own), type_to_string(op.ctx(), expected));
            let message = format!(
                "expected type of bb argument #{index} ('{own}') to match element or self type of the \
                 corresponding operand ('{expected}')"
            );
            return Err(op_error(op, message));
        }
    }
    Ok(())
}

/// Checks that the computation is the one that the name stands for. The custom form leaves it out.
fn check_computation(view: &Structured<'_>, named: &Named) -> Result<(), Diagnostic> {
    let op = view.op();
    let (ctx, Some(block)) = (op.ctx(), view.block()) else { return Ok(()) };
    let types: Vec<Type> = (0..op.num_operands()).map(|operand| view.element_type(operand)).collect();
    let mut implied = Body::new(ctx, OperationState::of(ctx, GenericOp::DEF, op.loc()));
    let region = implied.region(implied.root(), 0);
    let implied_block = implied.append_block(region, &types);
    let arguments: Vec<Value> = implied.arguments(implied_block).collect();
    let cast = op.attr("cast").and_then(|cast| TYPE_FN.value(ctx, cast));
    let mut builder = Builder::new(&mut implied, InsertPoint::End(implied_block));
    let is_built = named.build(&mut builder, &arguments, cast == Some(1)).is_some();
    if is_built && are_equal(op.body(), block, &implied, implied_block) {
        return Ok(());
    }
    let message = "has a computation that its name does not stand for";
    Err(op_error(op, message).help("write it as linalg.generic"))
}

/// True if two blocks compute the same by the same operations in the same order.
fn are_equal(body: &Body, block: Block, other: &Body, other_block: Block) -> bool {
    let mut same: HashMap<Value, Value> = body.arguments(block).zip(other.arguments(other_block)).collect();
    let (mut ops, mut others) = (body.ops(block), other.ops(other_block));
    loop {
        let (op, own) = match (ops.next(), others.next()) {
            (None, None) => return true,
            (Some(op), Some(own)) => (op, own),
            _ => return false,
        };
        let types = |body: &Body, op| body.results(op).map(|v| body.value_type(v)).collect::<Vec<_>>();
        let is_same = body.op_name(op) == other.op_name(own)
            && body.properties(op) == other.properties(own)
            && body.attributes(op) == other.attributes(own)
            && body.own_regions(op).len() == 0
            && types(body, op) == types(other, own)
            && body.operands(op).map(|v| same.get(&v).copied()).eq(other.operands(own).map(Some));
        if !is_same {
            return false;
        }
        same.extend(body.results(op).zip(other.results(own)));
    }
}

/// Checks that each loop has a trip count, and that elements at its ends are inside the operands,
/// if their sizes are known.
fn check_sizes(view: &Structured<'_>) -> Result<(), Diagnostic> {
    let op = view.op();
    let ctx = op.ctx();
    let Some(extents) = view.extents() else {
        return Err(op_error(op, "invalid indexing maps are non-invertible: a loop has no trip count"));
    };
    let sizes: Vec<i64> = extents.iter().map(|(operand, d)| shape(op, *operand)[*d]).collect();
    let is_known = (0..op.num_operands()).all(|operand| !shape(op, operand).contains(&DYNAMIC));
    if !is_known || sizes.contains(&0) {
        return Ok(());
    }
    let last: Vec<i64> = sizes.iter().map(|size| size - 1).collect();
    let first = vec![0; sizes.len()];
    for (operand, map) in view.maps().iter().enumerate() {
        for (d, expr) in map.results(ctx).iter().enumerate() {
            let ends = [&first, &last].map(|point| expr.evaluate(ctx, point, &[]));
            let [Some(low), Some(high)] = ends else {
                return Err(op_error(
                    op,
                    format!("has no subscript of dimension #{d} of operand #{operand}"),
                ));
            };
            let (needed, found) = (low.max(high).saturating_add(1), shape(op, operand)[d]);
            let which = format!("inferred input/output operand #{operand} has shape's dimension #{d} to be");
            let message = if low.min(high) < 0 {
                format!("unexpected result less than 0 at expression #{d} of the map of operand #{operand}")
            } else if matches!(expr.kind(ctx), AffineExprKind::Dim(_)) && needed != found {
                format!("{which} {needed}, but found {found}")
            } else if needed > found {
                format!("{which} greater than or equal to {needed}, but found {found}")
            } else {
                continue;
            };
            return Err(op_error(op, message));
        }
    }
    Ok(())
}

/// Checks that `linalg.index` names a loop around it.
pub(super) fn index(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(view) = op.parent().and_then(Structured::of) else {
        return out.push(op_error(op, "expected parent op with LinalgOp interface"));
    };
    let dim = op.attr("dim").and_then(|dim| dim.as_int(op.ctx())).unwrap_or(0);
    let loops = view.num_loops();
    if usize::try_from(dim).is_ok_and(|dim| dim >= loops) {
        let message = format!(
            "expected dim ({dim}) to be lower than the number of loops ({loops}) of the enclosing LinalgOp"
        );
        out.push(op_error(op, message));
    }
}

/// Checks that `linalg.yield` gives an element of each output.
pub(super) fn yielded(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(parent) = op.parent().filter(|parent| parent.name().starts_with("linalg.")) else {
        return out.push(op_error(op, "expected parent op with LinalgOp interface"));
    };
    let Some(view) = Structured::of(parent) else { return };
    let (ctx, outputs) = (op.ctx(), parent.num_operands() - view.num_inputs());
    if op.num_operands() != outputs {
        let message = format!(
            "expected number of yield values ({}) to match the number of inits / outs operands of the \
             enclosing LinalgOp ({outputs})",
            op.num_operands()
        );
        return out.push(op_error(op, message));
    }
    for index in 0..outputs {
        let output = parent.operand_type(view.num_inputs() + index);
        let (own, expected) = (op.operand_type(index), element_type(ctx, output));
        if own != expected {
            let (own, expected) = (type_to_string(ctx, own), type_to_string(ctx, expected));
            let message = format!(
                "type of yield operand {} ('{own}') doesn't match the element type of the enclosing {} op \
                 ('{expected}')",
                index + 1,
                parent.name()
            );
            out.push(op_error(op, message));
        }
    }
}
