//! Undefined behaviour: the other program must not have any where the original has none.
//!
//! - A division runs only for operands for which the original divides too.
//! - A load is within its buffer, or the original touches the same element of the same buffer.
//! - A store is to what the original stores to too, or to a buffer that the function allocates:
//!   other memory may be read-only.
//! - A load of a new buffer follows a store, or the original reads what was never written too.
//! - No access follows the end of its buffer's life.
//!
//! An access whose subscripts are not affine has to be one of the original by a claim. Where values
//! are used for nothing, no proof makes such claims; [`unused`] looks for them.
//!
//! Operations under conditions that are not affine count only where a claim shows the same
//! condition in the original.

mod branches;
mod unused;

use loomir_ir::OpRef;
use loomir_polyhedra::Conjunction;

use super::alias::{Overlap, may_meet};
use super::form::Form;
use super::matching::Matcher;
use super::model::{Access, AccessId, Free, Kind, Object, Program, ScopeId, TermId};
use super::order::{Place, before};
use super::sets::{Asked, Pieces, hide, moved, var};

/// An obligation that is not seen to be met.
#[derive(Debug)]
pub(super) struct Unmet<'b> {
    pub(super) side: usize,
    pub(super) op: OpRef<'b>,
    pub(super) message: String,
}

/// Returns an access of a buffer that may overlap others which is not matched one to one with one
/// of the original, or whose order is not the same.
pub(super) fn misplaced<'b>(matcher: &mut Matcher<'_, 'b>, overlap: &Overlap) -> Asked<Option<Unmet<'b>>> {
    let (programs, params) = (matcher.programs, matcher.params);
    for side in [0, 1] {
        let program = programs[side];
        let stores =
            program.objects.iter().filter(|object| object.is_ordered).flat_map(|object| &object.stores);
        for &store in stores {
            let access = &program.accesses[store];
            let mut covered = Pieces::new();
            for joint in matcher.joints.iter().filter(|joint| joint.accesses[side] == store) {
                let depths = [0, 1].map(|side| {
                    let program = programs[side];
                    program.scopes[program.accesses[joint.accesses[side]].scope].depth()
                });
                let other = match side {
                    0 => params + depths[0]..params + depths[0] + depths[1],
                    _ => params..params + depths[0],
                };
                covered.extend(hide(&joint.pairs, other));
            }
            if !matcher.solver.is_subset(&program.domains[access.scope], &covered)? {
                let message = "the store is not matched with one of the other program".to_string();
                return Ok(Some(Unmet { side, op: access.op, message }));
            }
        }
    }
    let turned = overlap.turned_around(programs, params, &matcher.joints, matcher.solver)?;
    Ok(turned.map(|[op, _]| Unmet {
        side: 1,
        op,
        message: "buffers may overlap, and accesses of two of them change their order".to_string(),
    }))
}

/// Returns the first obligation of the second program that is not seen to be met.
pub(super) fn unmet<'b>(matcher: &mut Matcher<'_, 'b>) -> Asked<Option<Unmet<'b>>> {
    let program = matcher.programs[1];
    unused::claim(matcher)?;
    if let Some(op) = branches::unmatched(matcher)? {
        let message = "the branch is on a value that may be poison, and is not one of the original";
        return Ok(Some(Unmet { side: 1, op, message: message.to_string() }));
    }
    for &trap in &program.traps {
        if !traps_before(matcher, trap)? {
            let op = program.terms[trap].op;
            let message = "it may divide by zero where the original does not divide".to_string();
            return Ok(Some(Unmet { side: 1, op, message }));
        }
    }
    for access in 0..program.accesses.len() {
        if promises_more(matcher.programs, &program.accesses[access]) {
            let op = program.accesses[access].op;
            let message = "the value read is promised to be in a range, which may not hold".to_string();
            return Ok(Some(Unmet { side: 1, op, message }));
        }
        if !program.accesses[access].is_virtual && !is_within(matcher, access)? {
            let Access { op, stored, .. } = program.accesses[access];
            let message = match stored {
                Some(_) => "it may store to an element that the original does not store to",
                None => "it may access an element that the original does not access",
            };
            return Ok(Some(Unmet { side: 1, op, message: message.to_string() }));
        }
    }
    for (id, access) in program.accesses.iter().enumerate() {
        let is_local = !program.objects[access.object].is_visible();
        if is_local && access.stored.is_none() && !access.is_virtual && !is_written(matcher, id)? {
            let message = "it may read an element that was never written".to_string();
            return Ok(Some(Unmet { side: 1, op: access.op, message }));
        }
    }
    for object in program.objects.iter() {
        let (op, scope) = object.made;
        if !object.is_visible() && object.sizes.iter().any(Option::is_none) {
            let message = "it allocates a buffer of a size that is not known".to_string();
            return Ok(Some(Unmet { side: 1, op, message }));
        }
        for size in object.sizes.iter().flatten().filter(|_| !object.is_visible()) {
            if !is_size(matcher, size, scope)? {
                let message = "it may allocate a buffer of negative size".to_string();
                return Ok(Some(Unmet { side: 1, op, message }));
            }
        }
    }
    if let Some(op) = race(matcher)? {
        let message = "iterations of a parallel loop may access one element".to_string();
        return Ok(Some(Unmet { side: 1, op, message }));
    }
    for free in &program.frees {
        if is_freed_in_parallel(program, free) {
            let message =
                "iterations of a parallel loop may access a buffer that one of them frees".to_string();
            return Ok(Some(Unmet { side: 1, op: free.op, message }));
        }
        let end = Place { scope: free.scope, order: free.order };
        let depth = program.objects[free.object].depth;
        for other in program.frees.iter().filter(|other| other.object == free.object) {
            let again = Place { scope: other.scope, order: other.order };
            if follows(matcher, end, again, depth)? {
                let message = "it may free a buffer again".to_string();
                return Ok(Some(Unmet { side: 1, op: other.op, message }));
            }
        }
        for access in
            program.accesses.iter().filter(|access| access.object == free.object && !access.is_virtual)
        {
            let place = Place { scope: access.scope, order: access.order };
            if follows(matcher, end, place, depth)? {
                let message = "it may access a buffer that was freed".to_string();
                return Ok(Some(Unmet { side: 1, op: access.op, message }));
            }
        }
    }
    Ok(None)
}

/// Returns an access in a parallel loop of the other program whose element another iteration of
/// that loop accesses too, at least one of both writing.
fn race<'b>(matcher: &mut Matcher<'_, 'b>) -> Asked<Option<OpRef<'b>>> {
    let (program, params) = (matcher.programs[1], matcher.params);
    for (around, own) in program.loops.iter().enumerate().filter(|(_, own)| own.is_parallel) {
        let level = program.scopes[own.outside].depth();
        let inside: Vec<&Access<'_>> = program
            .accesses
            .iter()
            .filter(|access| !access.is_virtual && program.scopes[access.scope].loops.contains(&around))
            .collect();
        for a in inside.iter().filter(|access| access.stored.is_some()) {
            for b in &inside {
                let objects = [a, b].map(|access| &program.objects[access.object]);
                let is_one = a.object == b.object;
                if !(is_one || objects[0].is_ordered && may_meet(objects[0], objects[1])) {
                    continue;
                }
                let [x, y] = [a, b].map(|access| program.scopes[access.scope].depth());
                let all = params + x + y;
                let behind = |set: &Conjunction| moved(set, all, |v| if v < params { v } else { v + x });
                let first: Pieces =
                    program.domains[a.scope].iter().map(|set| moved(set, all, |v| v)).collect();
                let second: Pieces = program.domains[b.scope].iter().map(behind).collect();
                let mut both = Pieces::new();
                for mut set in super::sets::intersect(&first, &second) {
                    (0..level).for_each(|k| set.add_eq(var(params + k), var(params + x + k)));
                    if let (true, Some(a), Some(b)) = (is_one, &a.element, &b.element) {
                        for (a, b) in a.iter().zip(b) {
                            let a = a.expression(&mut set, params);
                            let b = b.expression(&mut set, params + x);
                            set.add_eq(a, b);
                        }
                    }
                    let mut other = set.clone();
                    set.add_lt(var(params + level), var(params + x + level));
                    other.add_gt(var(params + level), var(params + x + level));
                    both.extend([set, other]);
                }
                if !matcher.solver.pruned(both)?.is_empty() {
                    return Ok(Some(a.op));
                }
            }
        }
    }
    Ok(None)
}

/// True if an iteration of a parallel loop frees a buffer of all iterations.
fn is_freed_in_parallel(program: &Program<'_>, free: &Free<'_>) -> bool {
    let mut around = program.scopes[free.scope].loops.iter().map(|around| &program.loops[*around]);
    let depth = program.objects[free.object].depth;
    around.any(|own| own.is_parallel && depth <= program.scopes[own.outside].depth())
}

/// True if what stands in a place may run behind the end of the life of its buffer.
fn follows(matcher: &mut Matcher<'_, '_>, end: Place, place: Place, depth: usize) -> Asked<bool> {
    let (program, params) = (matcher.programs[1], matcher.params);
    let outer = program.scopes[end.scope].depth();
    let late = before(program, params, end, place).into_iter().map(|mut set| {
        (0..depth).for_each(|k| set.add_eq(var(params + k), var(params + outer + k)));
        set
    });
    Ok(!matcher.solver.pruned(late)?.is_empty())
}

/// True if an extent is never negative, or also that of a buffer which the original allocates
/// whenever it runs.
fn is_size(matcher: &mut Matcher<'_, '_>, size: &Form, scope: ScopeId) -> Asked<bool> {
    let (programs, params) = (matcher.programs, matcher.params);
    let is_own = |object: &Object<'_>| {
        !object.is_visible() && object.depth == 0 && object.sizes.iter().flatten().any(|own| own == size)
    };
    let is_certain = |scope: ScopeId| {
        let scope = &programs[0].scopes[scope];
        scope.guards.is_empty() && scope.domain == programs[0].scopes[0].domain
    };
    if programs[0].objects.iter().any(|object| is_own(object) && is_certain(object.made.1)) {
        return Ok(true);
    }
    let negative = programs[1].domains[scope].iter().map(|set| {
        let mut set = set.clone();
        let size = size.expression(&mut set, params);
        set.add_lt(size, 0);
        set
    });
    let negative: Pieces = negative.collect();
    Ok(matcher.solver.pruned(negative)?.is_empty())
}

/// True if an operation that may be undefined runs only where the original runs it too.
fn traps_before(matcher: &mut Matcher<'_, '_>, trap: TermId) -> Asked<bool> {
    let (programs, params) = (matcher.programs, matcher.params);
    let own = &programs[1].terms[trap];
    let scope = &programs[1].scopes[own.scope];
    if !scope.guards.is_empty() {
        return Ok(false);
    }
    let all = params + scope.depth();
    let domain = &programs[1].domains[own.scope];
    let mut covered = Pieces::new();
    for &other in &programs[0].traps {
        let term = &programs[0].terms[other];
        let around = &programs[0].scopes[term.scope];
        if !around.guards.is_empty() {
            continue;
        }
        let depth = around.depth();
        // One parameter is one computation with the same operands.
        let is_same = match (&term.kind, &own.kind) {
            (Kind::Number(x), Kind::Number(y)) => x == y,
            (Kind::Truth(x), Kind::Truth(y)) => x == y,
            _ => false,
        };
        if is_same {
            let runs = hide(&programs[0].domains[term.scope], params..params + depth);
            covered.extend(runs.iter().map(|set| moved(set, all, |v| v)));
            continue;
        }
        let pairs: Pieces = matcher.claimed([other, trap]).cloned().collect();
        covered.extend(hide(&pairs, params..params + depth));
    }
    let domain = domain.clone();
    matcher.solver.is_subset(&domain, &covered)
}

/// True if a store precedes each load of a buffer that the function allocates.
fn is_written(matcher: &mut Matcher<'_, '_>, load: AccessId) -> Asked<bool> {
    let initial = match matcher.flow_of(1, load)? {
        Some(flow) => flow.initial.clone(),
        // Loads matched by contents find what the loads of the original find.
        None => return is_claimed(matcher, load, true),
    };
    let initial = matcher.solver.pruned(initial)?;
    if initial.is_empty() {
        return Ok(true);
    }
    // For some parameters the original itself reads what was never written.
    let (programs, params) = (matcher.programs, matcher.params);
    let all = initial.first().map_or(params, Conjunction::visible);
    let mut covered = undefined_first(matcher, all)?;
    for (other, access) in programs[0].accesses.iter().enumerate() {
        let scope = &programs[0].scopes[access.scope];
        // A load of such an element is undefined; a copy of it is not.
        let is_load = matches!(access.op.name(), "memref.load" | "affine.load") && !access.is_virtual;
        let is_visible = programs[0].objects[access.object].is_visible();
        if is_visible || !is_load || !scope.guards.is_empty() {
            continue;
        }
        if let Some(flow) = matcher.flow_of(0, other)? {
            let unwritten = hide(&flow.initial, params..params + scope.depth());
            covered.extend(unwritten.iter().map(|set| moved(set, all, |v| v)));
        }
    }
    matcher.solver.is_subset(&initial, &covered)
}

/// True if an access is within its buffer, or touches what the original touches. A store has to
/// touch what the original stores to, unless the function allocates the buffer: its caller may have
/// memory that is only read.
fn is_within(matcher: &mut Matcher<'_, '_>, id: AccessId) -> Asked<bool> {
    let (programs, params) = (matcher.programs, matcher.params);
    let (program, own) = (programs[1], &programs[1].accesses[id]);
    let object = &program.objects[own.object];
    let Some(element) = &own.element else { return is_claimed(matcher, id, false) };
    let needs_store = own.stored.is_some() && object.is_visible();
    let mut outside = match needs_store {
        true => program.domains[own.scope].clone(),
        false => out_of_bounds(program, params, own, element),
    };
    for (index, size) in own.inside.iter().filter(|_| !needs_store) {
        outside.extend(beyond(program, params, own, (index, size.as_ref())));
    }
    let outside = matcher.solver.pruned(outside)?;
    if outside.is_empty() {
        return Ok(true);
    }
    let mut covered = Pieces::new();
    for other in programs[0].accesses.iter().filter(|other| !other.is_virtual) {
        let is_same = programs[0].objects[other.object].key == object.key && object.is_visible();
        let is_enough = other.stored.is_some() || !needs_store;
        if is_same && is_enough && own.promise.follows_from(&other.promise) {
            covered.extend(touched_too(matcher, other, own)?);
            // Most accesses have one of the original that covers them.
            if matcher.solver.is_subset(&outside, &covered)? {
                return Ok(true);
            }
        }
    }
    covered.extend(undefined_first(matcher, params + program.scopes[own.scope].depth())?);
    matcher.solver.is_subset(&outside, &covered)
}

/// Returns the points of `all` variables for whose parameters the original leaves a buffer, and so
/// is undefined.
fn undefined_first(matcher: &mut Matcher<'_, '_>, all: usize) -> Asked<Pieces> {
    let (program, params) = (matcher.programs[0], matcher.params);
    let mut undefined = Pieces::new();
    for other in program.accesses.iter().filter(|other| !other.is_virtual) {
        let scope = &program.scopes[other.scope];
        // Nothing is beyond an extent that is not known.
        let has_sizes = program.objects[other.object].sizes.iter().all(Option::is_some);
        if let Some(element) = &other.element
            && scope.guards.is_empty()
            && has_sizes
        {
            let outside = out_of_bounds(program, params, other, element);
            let outside = matcher.solver.pruned(hide(&outside, params..params + scope.depth()))?;
            undefined.extend(outside.iter().map(|set| moved(set, all, |v| v)));
        }
    }
    Ok(undefined)
}

/// True if the value of a load is promised to be what the original may not promise: an element that
/// the second program writes, or that the original also reads without the promise.
fn promises_more(programs: [&Program<'_>; 2], own: &Access<'_>) -> bool {
    if !own.promise.is_of_value {
        return false;
    }
    let key = programs[1].objects[own.object].key;
    let reads = programs[0].accesses.iter().filter(|other| !other.is_virtual && other.stored.is_none());
    let mut same = reads.filter(|other| programs[0].objects[other.object].key == key);
    let object = &programs[1].objects[own.object];
    let writes = |other: &Access<'_>| {
        let written = &programs[1].objects[other.object];
        other.stored.is_some()
            && (other.object == own.object || object.is_ordered && may_meet(object, written))
    };
    programs[1].accesses.iter().any(writes)
        || !same.all(|other| other.promise.attributes == own.promise.attributes)
}

/// Returns the instances of an access that touch no element of its buffer.
fn out_of_bounds(program: &Program<'_>, params: usize, own: &Access<'_>, element: &[Form]) -> Pieces {
    let object = &program.objects[own.object];
    let mut outside = Pieces::new();
    for (index, size) in element[object.depth..].iter().zip(&object.sizes) {
        outside.extend(beyond(program, params, own, (index, size.as_ref())));
    }
    outside
}

/// Returns the instances of an access of which an index is not within an extent.
fn beyond(
    program: &Program<'_>,
    params: usize,
    own: &Access<'_>,
    (index, size): (&Form, Option<&Form>),
) -> Pieces {
    let mut outside = Pieces::new();
    for set in &program.domains[own.scope] {
        let mut below = set.clone();
        let index = index.expression(&mut below, params);
        let mut above = below.clone();
        below.add_lt(index.clone(), 0);
        outside.push(below);
        if let Some(size) = size {
            let size = size.expression(&mut above, params);
            above.add_ge(index, size);
        }
        outside.push(above);
    }
    outside
}

/// Returns the instances of an access that touch what some instance of one of the original touches.
fn touched_too(matcher: &mut Matcher<'_, '_>, other: &Access<'_>, own: &Access<'_>) -> Asked<Pieces> {
    let (programs, params) = (matcher.programs, matcher.params);
    let scopes = [&programs[0].scopes[other.scope], &programs[1].scopes[own.scope]];
    let (x, y) = (scopes[0].depth(), scopes[1].depth());
    let (Some(a), Some(b)) = (&other.element, &own.element) else { return Ok(Pieces::new()) };
    // Where elements are numbered, or a part of a buffer is shown, the subscripts have to be the
    // same too.
    let is_alike = |(x, y): (&(Form, _), &(Form, _))| x.1 == y.1;
    let is_shown_alike =
        other.inside.len() == own.inside.len() && other.inside.iter().zip(&own.inside).all(is_alike);
    if a.len() != b.len() || !(own.inside.is_empty() || is_shown_alike) {
        return Ok(Pieces::new());
    }
    let indices = |access: &Access<'_>| access.inside.iter().map(|(index, _)| index.clone()).collect();
    let [inner, own_inner]: [Vec<Form>; 2] = [indices(other), indices(own)];
    let (a, b) = (a.iter().chain(&inner), b.iter().chain(&own_inner));
    let all = params + x + y;
    let firsts: Pieces = programs[0].domains[other.scope].iter().map(|set| moved(set, all, |v| v)).collect();
    let behind = |set: &Conjunction| moved(set, all, |v| if v < params { v } else { v + x });
    let seconds: Pieces = programs[1].domains[own.scope].iter().map(behind).collect();
    let mut pairs: Pieces = super::sets::intersect(&firsts, &seconds)
        .into_iter()
        .map(|mut set| {
            for (a, b) in a.clone().zip(b.clone()) {
                let a = a.expression(&mut set, params);
                let b = b.expression(&mut set, params + x);
                set.add_eq(a, b);
            }
            set
        })
        .collect();
    pairs = guarded(matcher, [other.scope, own.scope], pairs);
    Ok(hide(&pairs, params..params + x))
}

/// Keeps the pairs of instances of two scopes for which claims show that each condition around the
/// first one, of the original, is one around the second.
fn guarded(matcher: &Matcher<'_, '_>, scopes: [ScopeId; 2], mut pairs: Pieces) -> Pieces {
    let (programs, params) = (matcher.programs, matcher.params);
    let scopes = [0, 1].map(|side| &programs[side].scopes[scopes[side]]);
    let x = scopes[0].depth();
    let all = params + x + scopes[1].depth();
    for (guard, value) in &scopes[0].guards {
        let mut same = Pieces::new();
        for (condition, wanted) in &scopes[1].guards {
            if value == wanted {
                let depths = [programs[0].depth(*guard), programs[1].depth(*condition)];
                let place = |v: usize| match v {
                    _ if v < params => v,
                    _ if v < params + depths[0] => v,
                    _ => params + x + (v - params - depths[0]),
                };
                same.extend(matcher.claimed([*guard, *condition]).map(|set| moved(set, all, place)));
            }
        }
        pairs = super::sets::intersect(&pairs, &same);
    }
    pairs
}

/// True if claims show that the original accesses what an access with other subscripts does. If it
/// `reads`, accesses count that the original has as loads.
fn is_claimed(matcher: &mut Matcher<'_, '_>, id: AccessId, reads: bool) -> Asked<bool> {
    let (programs, params) = (matcher.programs, matcher.params);
    let own = &programs[1].accesses[id];
    let mut covered = Pieces::new();
    for [first, second] in matcher.claimed_terms() {
        let Some(other) = claimed_access(matcher, [first, second], id, reads)? else { continue };
        let other = &programs[0].accesses[other];
        let pairs: Pieces = matcher.claimed([first, second]).cloned().collect();
        let pairs = guarded(matcher, [other.scope, own.scope], pairs);
        let depth = programs[0].scopes[other.scope].depth();
        covered.extend(hide(&pairs, params..params + depth));
    }
    let domain = programs[1].domains[own.scope].clone();
    matcher.solver.is_subset(&domain, &covered)
}

/// Returns the access of the original which a claim shows to have the subscripts of an access.
fn claimed_access(
    matcher: &mut Matcher<'_, '_>,
    [first, second]: [TermId; 2],
    id: AccessId,
    reads: bool,
) -> Asked<Option<AccessId>> {
    let programs = matcher.programs;
    let other = match (&programs[0].terms[first].kind, &programs[1].terms[second].kind) {
        (Kind::Initial(x), Kind::Initial(y)) if *y == id && !reads => *x,
        (Kind::Update { access: x, .. }, Kind::Update { access: y, .. }) if *y == id && !reads => *x,
        (Kind::Load(x), Kind::Load(y))
            if *y == id && matcher.is_by_state(0, *x)? && matcher.is_by_state(1, *y)? =>
        {
            *x
        }
        _ => return Ok(None),
    };
    let accesses = [&programs[0].accesses[other], &programs[1].accesses[id]];
    let objects = [0, 1].map(|side| &programs[side].objects[accesses[side].object]);
    let same = |a: &[Option<Form>], b: &[Option<Form>]| {
        a == b && a.iter().all(|size| size.as_ref().is_some_and(Form::is_invariant))
    };
    // What a pointer leads to is as large as it is.
    let is_pointed_to = objects[0].is_visible()
        && objects[0].key == objects[1].key
        && objects.iter().all(|own| own.ty.shape(programs[0].body.ctx()).is_none());
    let is_as_large = (is_pointed_to || same(&objects[0].sizes, &objects[1].sizes))
        && same(&accesses[0].extents, &accesses[1].extents);
    let is_load = accesses[0].stored.is_none() && !accesses[0].is_virtual;
    if !accesses[1].promise.follows_from(&accesses[0].promise) {
        return Ok(None);
    }
    Ok((is_as_large && (is_load || !reads)).then_some(other))
}
