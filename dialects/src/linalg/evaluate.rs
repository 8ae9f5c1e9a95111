//! Execution of the `linalg` operations: loops in row-major order around the computation, which is
//! a region.

use loomir_ir::{OpRef, Registry, Value};

use super::{IndexOp, LINALG, Structured, YieldOp};
use crate::interp::access::{Access, Subscripts, memref};
use crate::interp::affine_map::Map;
use crate::interp::code::malformed;
use crate::interp::{
    AccessKind, Datum, Decoded, Decoder, Entry, Evaluate, Execute, Fault, Flow, Machine, Slot, Step, action,
};
use crate::scf::evaluate::decode_yield;

type Model = fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded;

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    for def in LINALG.ops.iter() {
        let model: Model = if def.name == YieldOp::DEF.name {
            decode_yield
        } else if def.name == IndexOp::DEF.name {
            decode_index
        } else {
            decode_structured
        };
        registry.attach_to::<dyn Evaluate>(def, Box::new(model));
    }
}

/// Decodes `linalg.index`, whose result the loops around write.
fn decode_index(_op: OpRef<'_>, _d: &mut Decoder<'_>) -> Decoded {
    Ok(action(|_| Ok(Flow::Next)))
}

/// An argument of the computation, and its element.
enum Argument {
    Scalar(Slot),
    Element(Access),
}

/// A loop nest around a computation.
struct Nest {
    /// The number of the current iteration of each loop.
    point: Box<[Slot]>,
    /// The memref and its dimension whose size is the trip count of each loop.
    extents: Box<[(Slot, usize)]>,
    /// The trip count of each loop.
    counts: Box<[Slot]>,
    /// The arguments that the computation uses.
    arguments: Box<[(Slot, Argument)]>,
    outputs: Box<[Access]>,
    /// The results of `linalg.index` in the computation, and their loops.
    indices: Box<[(Slot, usize)]>,
    body: Entry,
}

fn decode_structured(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let view = Structured::of(op).ok_or_else(|| malformed("maps that fit its operands"))?;
    let extents = view.extents().ok_or_else(|| malformed("a dimension for each loop"))?;
    let body = d.region_of(op, 0)?;
    if body.arguments.len() != op.num_operands() {
        return Err(malformed("an argument for each operand"));
    }
    let point: Box<[Slot]> = extents.iter().map(|_| d.scratch()).collect();
    let counts: Box<[Slot]> = extents.iter().map(|_| d.scratch()).collect();
    let access = |operand: usize| {
        let map = Map::over(d, view.maps()[operand], &point, op.loc())?;
        Access::new(op, d, operand, Subscripts::Map(map))
    };
    let mut arguments = Vec::new();
    for (operand, slot) in body.arguments.iter().enumerate().filter(|(operand, _)| view.reads(*operand)) {
        let argument = match view.is_scalar(operand) {
            true => Argument::Scalar(d.operand(op, operand)?),
            false => Argument::Element(access(operand)?),
        };
        arguments.push((*slot, argument));
    }
    let outputs = (view.num_inputs()..op.num_operands()).map(access).collect::<Result<_, Box<Fault>>>()?;
    let extent = |(operand, dimension): (usize, usize)| Ok((d.operand(op, operand)?, dimension));
    let extents = extents.into_iter().map(extent).collect::<Result<_, Box<Fault>>>()?;
    let indices = indices(&view).into_iter().map(|(value, dim)| (d.slot(value), dim)).collect();
    Ok(Box::new(Nest { point, extents, counts, arguments: arguments.into(), outputs, indices, body }))
}

/// Returns the results of the `linalg.index` operations in the computation, with their loops.
fn indices(view: &Structured<'_>) -> Vec<(Value, usize)> {
    let body = view.op().body();
    let index = |op| {
        let op = body.op_ref(op);
        let dim = op.attr("dim").filter(|_| op.is(IndexOp::DEF))?.as_int(op.ctx())?;
        Some((op.result(0), usize::try_from(dim).ok()?))
    };
    view.block().into_iter().flat_map(|block| body.ops(block)).filter_map(index).collect()
}

impl Nest {
    /// Enters the computation at the current point.
    fn enter(&self, m: &mut Machine) -> Step {
        for (slot, argument) in &self.arguments {
            let datum = match argument {
                Argument::Scalar(scalar) => m.get(*scalar).clone(),
                Argument::Element(access) => {
                    access.touch(m, AccessKind::Load)?;
                    access.load(m)?
                }
            };
            m.set(*slot, datum);
        }
        for (slot, dim) in &self.indices {
            let Some(iteration) = self.point.get(*dim) else { return Err(malformed("that loop")) };
            let datum = m.get(*iteration).clone();
            m.set(*slot, datum);
        }
        Ok(Flow::Goto(self.body.target))
    }
}

impl Execute for Nest {
    fn execute(&self, m: &mut Machine) -> Step {
        let mut is_empty = false;
        for (loop_, (operand, dimension)) in self.extents.iter().enumerate() {
            let dim = memref(m, *operand)?.dims.get(*dimension);
            let size = dim.ok_or_else(|| malformed("a dimension for each loop"))?.size;
            is_empty |= size <= 0;
            m.set(self.counts[loop_], Datum::index(size));
            m.set(self.point[loop_], Datum::index(0));
        }
        if is_empty { Ok(Flow::Next) } else { self.enter(m) }
    }

    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        if yielded.len() != self.outputs.len() {
            return Err(malformed("a yielded value for each output"));
        }
        for (output, value) in self.outputs.iter().zip(yielded) {
            output.touch(m, AccessKind::Store)?;
            output.store(m, *value)?;
        }
        for (iteration, count) in self.point.iter().zip(&self.counts).rev() {
            let next = m.index(*iteration, "the iteration of a loop")? + 1;
            if next < m.index(*count, "the trip count of a loop")? {
                m.set(*iteration, Datum::index(next));
                return self.enter(m);
            }
            m.set(*iteration, Datum::index(0));
        }
        Ok(Flow::Next)
    }
}
