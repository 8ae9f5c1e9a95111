//! Execution of the operations of `affine`.

use loomir_ir::attributes::AttrKind;
use loomir_ir::{AffineMap, OpRef, Registry, Value};

use crate::arith::reduction::Reduction;
use crate::interp::access::{Access, Subscripts, load, store};
use crate::interp::affine_map::{Map, Set, bad_divisor};
use crate::interp::code::malformed;
use crate::interp::constant::dense_elements;
use crate::interp::mixed::Mixed;
use crate::interp::{
    AccessKind, Cause, Datum, Decoded, Decoder, Entry, Evaluate, Execute, Fault, Flow, Machine, Slot, Step,
    action,
};
use crate::scf::evaluate::{Choice, decode_yield, optional_region, overflow, span};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded| {
        registry.attach::<dyn Evaluate>(&format!("affine.{name}"), Box::new(model));
    };
    attach("apply", |op, d| {
        let (map, result) = (attached_map(op, d, "map", op.operands())?, d.result(op, 0)?);
        Ok(action(move |m| {
            let datum = map.datum(m, 0)?;
            m.done(result, datum)
        }))
    });
    attach("min", |op, d| decode_extreme(op, d, false));
    attach("max", |op, d| decode_extreme(op, d, true));
    attach("for", decode_for);
    attach("if", decode_if);
    attach("parallel", decode_parallel);
    attach("load", |op, d| load(op, d, access(op, d, 0)?));
    attach("store", |op, d| store(op, d, access(op, d, 1)?));
    attach("vector_load", decode_vector_load);
    attach("vector_store", decode_vector_store);
    attach("prefetch", |_, _| Ok(action(|_| Ok(Flow::Next))));
    attach("delinearize_index", decode_delinearize);
    attach("linearize_index", decode_linearize);
    attach("yield", decode_yield);
}

fn map_attribute(op: OpRef<'_>, d: &Decoder<'_>, name: &str) -> Result<AffineMap, Box<Fault>> {
    op.attr(name).and_then(|a| a.as_affine_map(d.ctx())).ok_or_else(|| malformed(name))
}

fn attached_map(
    op: OpRef<'_>,
    d: &Decoder<'_>,
    name: &str,
    operands: impl IntoIterator<Item = Value>,
) -> Result<Map, Box<Fault>> {
    let map = Map::new(d, map_attribute(op, d, name)?, operands, op.loc())?;
    if map.num_results() == 0 { Err(malformed("a result of its map")) } else { Ok(map) }
}

fn decode_extreme(op: OpRef<'_>, d: &mut Decoder<'_>, greatest: bool) -> Decoded {
    let (map, result) = (attached_map(op, d, "map", op.operands())?, d.result(op, 0)?);
    Ok(action(move |m| {
        let datum = map.extreme(m, greatest)?.map_or_else(Datum::Poison, Datum::index);
        m.done(result, datum)
    }))
}

/// `affine.for`. The upper bound is computed once.
struct For {
    lower: Map,
    upper: Map,
    limit: Slot,
    step: i64,
    inits: Box<[Slot]>,
    body: Entry,
    variable: Slot,
    carried: Box<[Slot]>,
    results: Box<[Slot]>,
}

fn decode_for(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 3)?;
    let body = d.region_of(op, 0)?;
    let Some((variable, carried)) = body.arguments.split_first() else {
        return Err(malformed("an induction variable"));
    };
    let step = op.attr("step").and_then(|a| a.as_int(d.ctx())).filter(|s| *s > 0);
    Ok(Box::new(For {
        lower: attached_map(op, d, "lowerBoundMap", groups[0].iter().copied())?,
        upper: attached_map(op, d, "upperBoundMap", groups[1].iter().copied())?,
        limit: d.scratch(),
        step: step.ok_or_else(|| malformed("a positive step"))?,
        inits: d.slots(groups[2].iter().copied()),
        variable: *variable,
        carried: carried.into(),
        results: d.slots(op.results()),
        body,
    }))
}

impl Execute for For {
    fn execute(&self, m: &mut Machine) -> Step {
        let lower = bound(self.lower.extreme(m, true)?)?;
        let upper = bound(self.upper.extreme(m, false)?)?;
        if lower >= upper {
            m.copy(&self.inits, &self.results)?;
            return Ok(Flow::Next);
        }
        m.set(self.limit, Datum::index(upper));
        m.copy(&self.inits, &self.carried)?;
        m.set(self.variable, Datum::index(lower));
        Ok(Flow::Goto(self.body.target))
    }

    #[inline]
    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        let current = m.index(self.variable, "the induction variable")?;
        let Some(next) = current.checked_add(self.step) else {
            return Err(overflow(current.into(), self.step.into(), 64));
        };
        if next < m.index(self.limit, "the upper bound of a loop")? {
            m.copy(yielded, &self.carried)?;
            m.set(self.variable, Datum::index(next));
            return Ok(Flow::Goto(self.body.target));
        }
        m.copy(yielded, &self.results)?;
        Ok(Flow::Next)
    }
}

fn bound(value: Result<i64, crate::interp::datum::Poison>) -> Result<i64, Box<Fault>> {
    value.map_err(|poison| Fault::poison("the bound of a loop", poison))
}

fn decode_if(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let set = match op.attr("condition").map(|a| a.kind(d.ctx())) {
        Some(AttrKind::IntegerSet(set)) => *set,
        _ => return Err(malformed("a condition")),
    };
    let set = Set::new(d, set, op.operands(), op.loc())?;
    let (yes, no) = (d.region_of(op, 0)?.target, optional_region(op, d, 1)?);
    let pick = move |m: &Machine| Ok(if set.contains(m)? { Some(yes) } else { no });
    Ok(Box::new(Choice { pick, results: d.slots(op.results()) }))
}

/// `affine.parallel`: a nest that runs in lexicographic order. Its results are reductions of the
/// values that the iterations yield.
struct Parallel {
    lower: Box<[(Map, Slot)]>,
    upper: Box<[(Map, Slot)]>,
    steps: Box<[i64]>,
    body: Entry,
    results: Box<[Slot]>,
    reductions: Box<[Reduction]>,
}

fn decode_parallel(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let body = d.region_of(op, 0)?;
    let operands: Vec<Value> = op.operands().collect();
    let lower_map = map_attribute(op, d, "lowerBoundsMap")?;
    let upper_map = map_attribute(op, d, "upperBoundsMap")?;
    let (for_lower, for_upper) = operands.split_at(lower_map.num_inputs(d.ctx()).min(operands.len()));
    let lower = grouped(op, d, lower_map, "lowerBoundsGroups", for_lower)?;
    let upper = grouped(op, d, upper_map, "upperBoundsGroups", for_upper)?;
    let numbers = |name: &str| -> Option<Vec<i64>> {
        op.attr(name)?.as_array(d.ctx())?.iter().map(|a| a.as_int(d.ctx())).collect()
    };
    let steps = numbers("steps").filter(|s| s.iter().all(|s| *s > 0)).ok_or_else(|| malformed("steps"))?;
    let kinds = numbers("reductions").ok_or_else(|| malformed("reductions"))?;
    let rank = body.arguments.len();
    if lower.len() != rank || upper.len() != rank || steps.len() != rank || kinds.len() != op.num_results() {
        return Err(malformed(
            "bounds and a step for each induction variable, and a reduction for each result",
        ));
    }
    let types = op.results().map(|v| op.type_of(v));
    let reductions = kinds.iter().zip(types).map(|(kind, ty)| Reduction::new(d.ctx(), *kind as u64, ty));
    Ok(Box::new(Parallel {
        lower,
        upper,
        steps: steps.into(),
        results: d.slots(op.results()),
        reductions: reductions.collect::<Result<_, _>>()?,
        body,
    }))
}

/// Returns the results of a map in groups, one for each dimension, each with a register for its
/// extreme.
fn grouped(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    map: AffineMap,
    name: &str,
    operands: &[Value],
) -> Result<Box<[(Map, Slot)]>, Box<Fault>> {
    let sizes = dense_elements(d.ctx(), op.attr(name).ok_or_else(|| malformed(name))?)?;
    let data = map.data(d.ctx());
    let mut results = data.results.iter().copied();
    let mut groups = Vec::new();
    for size in sizes {
        let size = size.as_bits().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let part: Vec<_> = results.by_ref().take(size).collect();
        if part.is_empty() {
            return Err(malformed(name));
        }
        let map = AffineMap::new(d.ctx(), data.dims, data.symbols, &part);
        groups.push((Map::new(d, map, operands.iter().copied(), op.loc())?, d.scratch()));
    }
    Ok(groups.into())
}

impl Execute for Parallel {
    fn execute(&self, m: &mut Machine) -> Step {
        for (slot, reduction) in self.results.iter().zip(&self.reductions) {
            m.set(*slot, reduction.identity()?);
        }
        let mut empty = false;
        for (d, variable) in self.body.arguments.iter().enumerate() {
            let lower = bound(self.lower[d].0.extreme(m, true)?)?;
            let upper = bound(self.upper[d].0.extreme(m, false)?)?;
            empty |= lower >= upper;
            m.set(self.lower[d].1, Datum::index(lower));
            m.set(self.upper[d].1, Datum::index(upper));
            m.set(*variable, Datum::index(lower));
        }
        if empty {
            return Ok(Flow::Next);
        }
        m.begin_parallel(&self.body, |m| {
            let span = |d: usize| {
                let lower = m.index(self.lower[d].1, "the lower bound of a loop")?;
                span(lower, m.index(self.upper[d].1, "the upper bound of a loop")?, self.steps[d])
            };
            (0..self.body.arguments.len()).map(span).collect()
        })
    }

    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        if yielded.len() != self.results.len() {
            return Err(malformed("a yielded value for each result"));
        }
        let is_strand = m.runs_strands();
        if is_strand {
            m.fetch(&self.results);
        }
        for ((slot, reduction), value) in self.results.iter().zip(&self.reductions).zip(yielded) {
            let datum = reduction.combine(m.get(*slot), m.get(*value))?;
            m.set(*slot, datum);
        }
        if is_strand {
            m.share(&self.results);
            return Ok(Flow::Join);
        }
        for (d, variable) in self.body.arguments.iter().enumerate().rev() {
            let current = m.index(*variable, "the induction variable")?;
            let step = self.steps[d];
            let next = current.checked_add(step).ok_or_else(|| overflow(current.into(), step.into(), 64))?;
            if next < m.index(self.upper[d].1, "the upper bound of a loop")? {
                m.set(*variable, Datum::index(next));
                m.begin_iteration(&self.body.arguments)?;
                return Ok(Flow::Goto(self.body.target));
            }
            let lower = m.get(self.lower[d].1).clone();
            m.set(*variable, lower);
        }
        m.end_parallel();
        Ok(Flow::Next)
    }
}

/// Returns the access to operand `memref` through the map, whose operands follow it.
fn access(op: OpRef<'_>, d: &Decoder<'_>, memref: usize) -> Result<Access, Box<Fault>> {
    let map = Map::new(d, map_attribute(op, d, "map")?, op.operands().skip(memref + 1), op.loc())?;
    Access::new(op, d, memref, Subscripts::Map(map))
}

fn decode_vector_load(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (access, result) = (access(op, d, 0)?, d.result(op, 0)?);
    let count = vector_length(d, op.result_type(0))?;
    let loc = op.loc();
    Ok(action(move |m| {
        let repr = &access.element().repr;
        let places = access.run(m, count, AccessKind::Load)?.into_iter();
        let elements = places.map(|place| match m.memory.load(place, repr, loc)? {
            Datum::Poison(poison) if poison.cause == Cause::Uninitialised => {
                Err(Fault::undefined("reads a vector with an element that was never written"))
            }
            datum => Ok(datum),
        });
        let datum = Datum::aggregate(elements.collect::<Result<_, Box<Fault>>>()?);
        m.done(result, datum)
    }))
}

fn decode_vector_store(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (value, access) = (d.operand(op, 0)?, access(op, d, 1)?);
    let count = vector_length(d, op.operand_type(0))?;
    Ok(action(move |m| {
        let vector = m.get(value).clone();
        for (i, place) in access.run(m, count, AccessKind::Store)?.into_iter().enumerate() {
            let element = match &vector {
                Datum::Aggregate(parts) => parts.get(i).ok_or_else(|| malformed("a vector of its type"))?,
                whole => whole,
            };
            m.memory.store(place, &access.element().repr, element)?;
        }
        Ok(Flow::Next)
    }))
}

fn vector_length(d: &Decoder<'_>, ty: loomir_ir::Type) -> Result<usize, Box<Fault>> {
    match ty.shape(d.ctx()) {
        Some([n]) if (1..=1 << 20).contains(n) => Ok(*n as usize),
        _ => Err(Fault::unsupported("a vector of more than one dimension in memory")),
    }
}

/// Returns the numbers of `static_basis`, with operands for the dynamic ones.
fn basis(op: OpRef<'_>, d: &Decoder<'_>, values: &[Value]) -> Result<Mixed, Box<Fault>> {
    Mixed::new(op, d, "static_basis", values.iter().copied())
}

fn decode_delinearize(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let linear = d.operand(op, 0)?;
    let basis = basis(op, d, &op.operands().skip(1).collect::<Vec<_>>())?;
    let results = d.slots(op.results());
    if results.is_empty() || basis.len() > results.len() || basis.len() + 1 < results.len() {
        return Err(malformed("a basis that fits its results"));
    }
    Ok(action(move |m| {
        // Poison in the index spreads to the results. Poison in a basis is a divisor, which is
        // undefined behaviour.
        let mut rest = match *m.get(linear) {
            Datum::Poison(poison) => Err(poison),
            _ => Ok(m.index(linear, "the linear index")?),
        };
        // The first result is unbounded, even if the basis names a bound.
        for (i, slot) in results.iter().enumerate().skip(1).rev() {
            let size = basis.get(m, basis.len() - (results.len() - i), "a basis")?;
            if size <= 0 {
                return Err(bad_divisor(size));
            }
            m.set(*slot, rest.map_or_else(Datum::Poison, |rest| Datum::index(rest.rem_euclid(size))));
            rest = rest.map(|rest| rest.div_euclid(size));
        }
        m.done(results[0], rest.map_or_else(Datum::Poison, Datum::index))
    }))
}

fn decode_linearize(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 2)?;
    let indices = d.slots(groups[0].iter().copied());
    let (basis, result, loc) = (basis(op, d, &groups[1])?, d.result(op, 0)?, op.loc());
    let disjoint = op.attr("disjoint") == Some(loomir_ir::Attr::UNIT);
    if basis.len() > indices.len() || basis.len() + 1 < indices.len() {
        return Err(malformed("a basis that fits its indices"));
    }
    Ok(action(move |m| {
        let (mut sum, mut stride) = (Some(0i64), Some(1i64));
        for (i, slot) in indices.iter().enumerate().rev() {
            let index = match *m.get(*slot) {
                Datum::Poison(poison) => return m.done(result, Datum::Poison(poison)),
                _ => m.index(*slot, "an index")?,
            };
            sum = sum.zip(stride).and_then(|(sum, stride)| sum.checked_add(index.checked_mul(stride)?));
            let Some(place) = (basis.len() + i).checked_sub(indices.len()) else { continue };
            let size = basis.get(m, place, "a basis")?;
            if disjoint && !(0..size).contains(&index) {
                return m.done(result, Datum::poison(Cause::NotDisjoint, loc));
            }
            if i > 0 {
                stride = stride.and_then(|stride| stride.checked_mul(size));
            }
        }
        let overflow = || Datum::poison(Cause::AffineOverflow, loc);
        m.done(result, sum.map_or_else(overflow, Datum::index))
    }))
}
