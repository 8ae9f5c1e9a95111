//! Buffers that may overlap: proofs that hold wherever the arguments lie in memory.
//!
//! Data flow takes each buffer by itself. If two buffers may overlap, a write to one may change an
//! element of the other, so more has to be shown:
//!
//! - Stores of both programs to such a buffer are matched one to one
//!   ([`Kind::Stored`](super::model::Kind::Stored)): the last one of each element with the last
//!   one, those before with those before.
//! - A load takes the value of the store that wrote the element without more ado only where no
//!   write to another buffer runs in between ([`Overlap::clobbered`]). Elsewhere loads are matched
//!   with loads of the same element.
//! - Each two matched accesses of two buffers, at least one a store, run in the same order in both
//!   programs ([`Overlap::turned_around`]).
//!
//! Then whatever elements of the two are one, each load reads what the same store wrote.
//!
//! **Run-time tests.** A parameter that compares where two buffers end and begin tells that they do
//! not overlap where it is true ([`separators`]). Only the rest is looked at.

use loomir_ir::{AttrKind, Context, OpRef, TypeKind};
use loomir_polyhedra::Conjunction;

use super::flow::Flow;
use super::form::{Atom, Form};
use super::model::{Access, AccessId, Invariant, Object, ObjectId, ObjectKey, ParamKey, Params, Program};
use super::order::{Place, before};
use super::sets::{Asked, Pieces, Solver, hide, intersect, moved, var};

/// The facts about buffers that overlap.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Parameters that are true only if two arguments do not overlap.
    separators: Vec<(usize, usize, u32)>,
}

/// A load or store of each program that are one, with their instances.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub(super) accesses: [AccessId; 2],
    pub(super) pairs: Pieces,
    /// The number of claims when it was found.
    pub(super) at: usize,
}

/// True if callers may pass two buffers of which parts are one.
pub(super) fn may_meet(a: &Object<'_>, b: &Object<'_>) -> bool {
    let is_global = |own: &Object<'_>| matches!(own.key, ObjectKey::Global(_));
    let is_apart = a.is_alone || b.is_alone || a.key == b.key || (is_global(a) && is_global(b));
    a.is_visible() && b.is_visible() && !is_apart
}

fn is_touched(program: &Program<'_>, object: ObjectId) -> bool {
    program.accesses.iter().any(|access| access.object == object && !access.is_virtual)
}

/// Marks the buffers that others may change; returns whether there is any.
pub(super) fn mark(programs: &mut [Program<'_>; 2]) -> bool {
    let mut keys: Vec<ObjectKey> = Vec::new();
    for program in programs.iter() {
        for (a, first) in program.objects.iter().enumerate() {
            for (b, second) in program.objects.iter().enumerate().skip(a + 1) {
                let is_written = !first.stores.is_empty() || !second.stores.is_empty();
                if is_written && may_meet(first, second) && is_touched(program, a) && is_touched(program, b) {
                    keys.extend([first.key, second.key]);
                }
            }
        }
    }
    for object in programs.iter_mut().flat_map(|program| &mut program.objects) {
        object.is_ordered = keys.contains(&object.key);
    }
    !keys.is_empty()
}

impl Overlap {
    pub(super) fn new(program: &Program<'_>, params: &Params) -> Overlap {
        Overlap { separators: separators(program, params) }
    }

    /// Keeps the points at which two buffers may overlap.
    fn where_met(&self, a: &Object<'_>, b: &Object<'_>, pieces: Pieces) -> Pieces {
        let (ObjectKey::Argument(a), ObjectKey::Argument(b)) = (a.key, b.key) else { return pieces };
        let mut pieces = pieces;
        for (first, second, param) in &self.separators {
            if (*first, *second) == (a, b) || (*first, *second) == (b, a) {
                pieces.iter_mut().for_each(|set| set.add_le(var(*param as usize), 0));
            }
        }
        pieces
    }

    /// Returns the instances of a load between which and the source of its element another buffer
    /// is written that may overlap.
    pub(super) fn clobbered(
        &self,
        program: &Program<'_>,
        params: usize,
        load: AccessId,
        flow: &Flow,
        solver: &mut Solver,
    ) -> Asked<Pieces> {
        let access = &program.accesses[load];
        let depth = program.scopes[access.scope].depth();
        if access.is_virtual {
            return Ok(program.domains[access.scope].clone());
        }
        let own = &program.objects[access.object];
        let mut found = Pieces::new();
        let others = program.objects.iter().filter(|other| may_meet(own, other));
        for (other, store) in others.flat_map(|other| other.stores.iter().map(move |store| (other, *store))) {
            let between = &program.accesses[store];
            let width = program.scopes[between.scope].depth();
            // Instances of the load, then of the other store.
            let earlier = before(program, params, place(between), place(access));
            let earlier: Pieces = earlier
                .iter()
                .map(|set| {
                    moved(set, params + depth + width, |v| match v {
                        _ if v < params => v,
                        _ if v < params + width => v + depth,
                        _ => v - width,
                    })
                })
                .collect();
            let all = params + depth + width;
            let initial: Pieces = flow.initial.iter().map(|set| moved(set, all, |v| v)).collect();
            found.extend(hide(
                &self.where_met(own, other, intersect(&earlier, &initial)),
                params + depth..all,
            ));
            for (source, pieces) in &flow.writers {
                let source = &program.accesses[*source];
                let from = program.scopes[source.scope].depth();
                // Instances of the load, of its source, of the other store.
                let all = params + depth + from + width;
                let linked: Pieces = pieces.iter().map(|set| moved(set, all, |v| v)).collect();
                let earlier: Pieces = earlier
                    .iter()
                    .map(|set| moved(set, all, |v| if v < params + depth { v } else { v + from }))
                    .collect();
                let later: Pieces = before(program, params, place(source), place(between))
                    .iter()
                    .map(|set| moved(set, all, |v| if v < params { v } else { v + depth }))
                    .collect();
                let both = intersect(&intersect(&linked, &earlier), &later);
                found.extend(hide(&self.where_met(own, other, both), params + depth..all));
            }
        }
        solver.pruned(found)
    }

    /// Returns an access whose order with another one differs between the programs.
    pub(super) fn turned_around<'b>(
        &self,
        programs: [&Program<'b>; 2],
        params: usize,
        joints: &[Joint],
        solver: &mut Solver,
    ) -> Asked<Option<[OpRef<'b>; 2]>> {
        let joints = merged(joints, solver)?;
        for first in &joints {
            for second in &joints {
                let accesses = [first, second].map(|joint| &programs[0].accesses[joint.accesses[0]]);
                let objects = accesses.map(|access| &programs[0].objects[access.object]);
                let is_write = accesses.iter().any(|access| access.stored.is_some());
                if !is_write || !may_meet(objects[0], objects[1]) {
                    continue;
                }
                let orders = reversed(programs, params, first, second);
                let turned = self.where_met(objects[0], objects[1], orders);
                if turned.is_empty() {
                    continue;
                }
                // One part after the other: most are empty before all are together.
                let mut turned = solver.pruned(turned)?;
                for pairs in placed(programs, params, first, second) {
                    solver.tick(turned.len() * pairs.len())?;
                    turned = solver.pruned(intersect(&turned, &pairs))?;
                }
                if !turned.is_empty() {
                    return Ok(Some([first, second].map(|joint| programs[1].accesses[joint.accesses[1]].op)));
                }
            }
        }
        Ok(None)
    }
}

fn place(access: &Access<'_>) -> Place {
    Place { scope: access.scope, order: access.order }
}

/// Returns the joints with those of the same accesses together.
fn merged(joints: &[Joint], solver: &mut Solver) -> Asked<Vec<Joint>> {
    let mut sorted: Vec<&Joint> = joints.iter().collect();
    sorted.sort_by_key(|joint| joint.accesses);
    let mut merged: Vec<Joint> = Vec::new();
    for joint in sorted {
        match merged.last_mut().filter(|last| last.accesses == joint.accesses) {
            Some(last) => {
                if !solver.is_subset(&joint.pairs, &last.pairs)? {
                    last.pairs.extend(joint.pairs.iter().cloned());
                }
            }
            None => merged.push(joint.clone()),
        }
    }
    for joint in &mut merged {
        joint.pairs = solver.coalesced(std::mem::take(&mut joint.pairs))?;
    }
    Ok(merged)
}

/// Returns the numbers of loops around two accesses in both programs.
fn depths(programs: [&Program<'_>; 2], first: &Joint, second: &Joint) -> [usize; 4] {
    let depth = |side: usize, joint: &Joint| {
        programs[side].scopes[programs[side].accesses[joint.accesses[side]].scope].depth()
    };
    [depth(0, first), depth(1, first), depth(0, second), depth(1, second)]
}

/// Moves variables behind the parameters.
fn shifted(pieces: &[Conjunction], params: usize, all: usize, map: impl Fn(usize) -> usize) -> Pieces {
    let place = |v: usize| if v < params { v } else { params + map(v - params) };
    pieces.iter().map(|set| moved(set, all, place)).collect()
}

/// Returns the pairs of instances of two accesses of which the first runs before the second in the
/// original, and behind it in the other program. The variables are those of the first access in
/// both programs, then those of the second one.
fn reversed(programs: [&Program<'_>; 2], params: usize, first: &Joint, second: &Joint) -> Pieces {
    let [a, b, c, d] = depths(programs, first, second);
    let all = params + a + b + c + d;
    let places = |side: usize, joint: &Joint| place(&programs[side].accesses[joint.accesses[side]]);
    let backwards = before(programs[1], params, places(1, second), places(1, first));
    if backwards.is_empty() {
        return Pieces::new();
    }
    let forwards = before(programs[0], params, places(0, first), places(0, second));
    let forwards = shifted(&forwards, params, all, |v| if v < a { v } else { v + b });
    let backwards = shifted(&backwards, params, all, |v| if v < d { v + a + b + c } else { v - d + a });
    intersect(&forwards, &backwards)
}

/// Returns the instances of two joints over the variables of [`reversed`].
fn placed(programs: [&Program<'_>; 2], params: usize, first: &Joint, second: &Joint) -> [Pieces; 2] {
    let [a, b, c, d] = depths(programs, first, second);
    let all = params + a + b + c + d;
    [shifted(&first.pairs, params, all, |v| v), shifted(&second.pairs, params, all, |v| v + a + b)]
}

/// Returns the pairs of arguments that do not overlap where a parameter is true.
fn separators(program: &Program<'_>, params: &Params) -> Vec<(usize, usize, u32)> {
    let ctx = program.body.ctx();
    // The ends of buffers, as parameters.
    let mut ends: Vec<(u32, usize)> = Vec::new();
    for (key, number) in params.all() {
        if let ParamKey::Computed { name, operands, .. } = key
            && ctx.op_str(*name) == "arith.addi"
            && let [Invariant::Address(index), Invariant::Number(size, _)] = &operands[..]
            && let Some(object) = program.object(ObjectKey::Argument(*index))
            && bytes_of(ctx, &program.objects[object]).as_ref() == Some(size)
        {
            ends.push((number, *index));
        }
    }
    let mut found = Vec::new();
    for (key, number) in params.all() {
        let ParamKey::Computed { name, properties, operands, .. } = key else { continue };
        let predicate = properties.get(ctx, "predicate").and_then(|attr| match attr.kind(ctx) {
            AttrKind::Enum { value, .. } => i64::try_from(*value).ok(),
            _ => attr.as_int(ctx),
        });
        // The predicate `ule`.
        if ctx.op_str(*name) != "arith.cmpi" || predicate != Some(7) {
            continue;
        }
        if let [Invariant::Number(end, _), Invariant::Address(second)] = &operands[..]
            && let Some(behind) = program.object(ObjectKey::Argument(*second))
            && bytes_of(ctx, &program.objects[behind]).is_some()
            && let Some((_, first)) = ends.iter().find(|(param, _)| *end == Form::atom(Atom::Param(*param)))
        {
            found.push((*first, *second, number));
        }
    }
    found
}

/// Returns the bytes of a buffer whose elements lie one behind the other.
fn bytes_of(ctx: &Context, object: &Object<'_>) -> Option<Form> {
    let TypeKind::MemRef { layout, .. } = object.ty.kind(ctx) else { return None };
    if layout.is_some() {
        return None;
    }
    let element = object.ty.element(ctx)?;
    let bits = match element.kind(ctx) {
        TypeKind::Float(kind) => kind.width(),
        _ if element.is_index() => 64,
        _ => element.integer_width(ctx)?,
    };
    // Of other widths the place in memory is up to the target.
    if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
        return None;
    }
    let mut size = Form::constant(i64::from(bits / 8));
    for extent in &object.sizes {
        let extent = extent.as_ref()?;
        size = match (size.as_constant(), extent.as_constant()) {
            (Some(factor), _) => extent.times(factor)?,
            (_, Some(factor)) => size.times(factor)?,
            _ => return None,
        };
    }
    Some(size)
}
