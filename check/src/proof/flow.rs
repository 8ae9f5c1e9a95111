//! Exact array data flow: the store that wrote each element that a load reads.
//!
//! For each load the stores to its object are looked through from the latest to the earliest, in
//! groups that do not interleave: those in one iteration of all loops they share with the load,
//! then those in earlier iterations of the innermost shared loop, and so on outwards. The latest
//! instance of a group is a parametric lexicographic maximum. Iterations of the load for which a
//! group has an instance are done; what is left at the end reads memory as the function found it.
//!
//! Reference: Feautrier, *Dataflow Analysis of Array and Scalar References*, 1991.

use loomir_polyhedra::{Affine, Conjunction};

use super::form::Form;
use super::model::{Access, AccessId, LoopId, Program};
use super::sets::{Asked, OutOfReach, Pieces, Solver, hide, intersect, moved, var};

/// The sources of the elements that an access touches.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    /// Stores with the instances of the access, then of the store, that read what it wrote.
    pub(super) writers: Vec<(AccessId, Pieces)>,
    /// The instances that no store precedes.
    pub(super) initial: Pieces,
}

/// Stores that do not interleave with others.
struct Group {
    /// Later groups have greater keys.
    key: (usize, usize),
    /// The number of loops whose iterations are those of the load.
    level: usize,
    /// True if the stores run in earlier iterations of the loop at `level`.
    is_carried: bool,
    stores: Vec<AccessId>,
}

/// The part of a buffer whose sources are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The element accessed.
    Element,
    /// The buffer as a whole: its source is the latest store to any element.
    Whole,
}

impl Part {
    /// Returns the subscripts of an access that tell parts apart.
    fn of(self, program: &Program<'_>, access: &Access<'_>) -> Option<Vec<Form>> {
        match self {
            Part::Element => access.element.clone(),
            Part::Whole => Some((0..program.objects[access.object].depth).map(Form::dim).collect()),
        }
    }
}

/// Returns the sources of an access; `None` if a subscript of it or of a store is not affine.
pub(super) fn flow(
    program: &Program<'_>,
    params: usize,
    (load, part): (AccessId, Part),
    solver: &mut Solver,
) -> Asked<Option<Flow>> {
    let access = &program.accesses[load];
    let mut rest = solver.pruned(program.domains[access.scope].iter().cloned())?;
    let mut found = Flow { writers: Vec::new(), initial: Pieces::new() };
    let stores = &program.objects[access.object].stores;
    let is_affine = |access: &AccessId| part.of(program, &program.accesses[*access]).is_some();
    if !stores.is_empty() && !stores.iter().chain([&load]).all(is_affine) {
        return Ok(None);
    }
    for group in groups(program, load) {
        if rest.is_empty() {
            break;
        }
        let sources = latest(program, params, (load, part), &group, &rest, solver)?;
        let depth = program.scopes[access.scope].depth();
        for (store, pieces) in sources {
            let vars = params + depth;
            let all = pieces.first().map_or(vars, Conjunction::visible);
            rest = solver.subtract(&rest, &hide(&pieces, vars..all))?;
            found.writers.push((store, pieces));
        }
    }
    found.initial = rest;
    Ok(Some(found))
}

/// Returns the number of loops that two accesses share.
pub(super) fn shared_loops(program: &Program<'_>, a: &Access<'_>, b: &Access<'_>) -> usize {
    let (a, b) = (&program.scopes[a.scope].loops, &program.scopes[b.scope].loops);
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// Returns the groups of the stores to the object of a load, latest first.
fn groups(program: &Program<'_>, load: AccessId) -> Vec<Group> {
    let access = &program.accesses[load];
    let mut groups: Vec<Group> = Vec::new();
    let mut add =
        |key, level, is_carried, store| match groups.iter_mut().find(|group: &&mut Group| group.key == key) {
            Some(group) => group.stores.push(store),
            None => groups.push(Group { key, level, is_carried, stores: vec![store] }),
        };
    for &store in &program.objects[access.object].stores {
        let other = &program.accesses[store];
        let shared = shared_loops(program, access, other);
        if other.order < access.order {
            let loops = &program.scopes[other.scope].loops;
            let place = loops.get(shared).map_or(other.order, |inner| program.loops[*inner].order);
            add((2 * shared, place), shared, false, store);
        }
        for level in 0..shared {
            add((2 * level + 1, 0), level, true, store);
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.key));
    groups
}

/// Returns the latest instances of a group that write what instances of a load in `rest` read.
fn latest(
    program: &Program<'_>,
    params: usize,
    (load, part): (AccessId, Part),
    group: &Group,
    rest: &[Conjunction],
    solver: &mut Solver,
) -> Asked<Vec<(AccessId, Pieces)>> {
    let access = &program.accesses[load];
    let depth = program.scopes[access.scope].depth();
    let mut candidates: Vec<(AccessId, Pieces)> = Vec::new();
    for &store in &group.stores {
        let pairs = meetings(program, params, [access, &program.accesses[store]], part, rest)?;
        let pairs = pairs.into_iter().map(|mut pair| {
            let (x, y) = (|k: usize| var(params + k), |k: usize| var(params + depth + k));
            (0..group.level).for_each(|k| pair.add_eq(x(k), y(k)));
            if group.is_carried {
                pair.add_lt(y(group.level), x(group.level));
            }
            pair
        });
        let pairs = solver.pruned(pairs)?;
        if !pairs.is_empty() {
            candidates.push((store, pairs));
        }
    }
    let fixed = params + depth;
    if candidates.len() < 2 {
        for (_, pairs) in &mut candidates {
            let greatest = solver.lexmax(pairs, fixed)?;
            *pairs = solver.pruned(greatest)?;
        }
        return Ok(candidates);
    }
    among(program, params, fixed, group.level, &candidates, solver)
}

/// Returns pairs of instances of two accesses, the first in `rest`, that touch one element.
fn meetings(
    program: &Program<'_>,
    params: usize,
    [first, second]: [&Access<'_>; 2],
    part: Part,
    rest: &[Conjunction],
) -> Asked<Pieces> {
    let (x, y) = (program.scopes[first.scope].depth(), program.scopes[second.scope].depth());
    let all = params + x + y;
    let behind = |set: &Conjunction| moved(set, all, |v| if v < params { v } else { v + x });
    let seconds: Pieces = program.domains[second.scope].iter().map(behind).collect();
    let firsts: Pieces = rest.iter().map(|set| moved(set, all, |v| v)).collect();
    let (Some(a), Some(b)) = (part.of(program, first), part.of(program, second)) else {
        return Err(OutOfReach);
    };
    if a.len() != b.len() || plainly_apart(&a, &b) {
        return Ok(Pieces::new());
    }
    let same = |mut set: Conjunction| {
        for (a, b) in a.iter().zip(&b) {
            let a = a.expression(&mut set, params);
            let b = b.expression(&mut set, params + x);
            set.add_eq(a, b);
        }
        set.simplified()
    };
    Ok(intersect(&firsts, &seconds).into_iter().filter_map(same).collect())
}

/// True if two elements differ in a constant subscript.
fn plainly_apart(a: &[Form], b: &[Form]) -> bool {
    let differ =
        |(a, b): (&Form, &Form)| matches!((a.as_constant(), b.as_constant()), (Some(a), Some(b)) if a != b);
    a.iter().zip(b).any(differ)
}

/// Returns the latest of several stores that share the loop at `level`: their instances are
/// ordered as vectors of loop variables and places in the text, in turn.
fn among(
    program: &Program<'_>,
    params: usize,
    fixed: usize,
    level: usize,
    candidates: &[(AccessId, Pieces)],
    solver: &mut Solver,
) -> Asked<Vec<(AccessId, Pieces)>> {
    let depths = candidates.iter().map(|(store, _)| program.scopes[program.accesses[*store].scope].depth());
    let deepest = depths.max().unwrap_or(0);
    let times = 2 * (deepest - level);
    let mut union = Pieces::new();
    for (store, pairs) in candidates {
        let places = places(program, *store, level);
        let depth = program.scopes[program.accesses[*store].scope].depth();
        for pair in pairs {
            // Fixed variables, the time, then the store's variables, which are hidden.
            let all = fixed + times + depth;
            let mut timed = moved(pair, all, |v| if v < fixed { v } else { v + times });
            for k in 0..deepest - level {
                let (variable, place) = (var(fixed + 2 * k), var(fixed + 2 * k + 1));
                match level + k < depth {
                    true => timed.add_eq(variable, var(fixed + times + level + k)),
                    false => timed.add_eq(variable, 0),
                }
                timed.add_eq(place, Affine::constant(places.get(k).copied().unwrap_or(0)));
            }
            union.extend(hide(&[timed], fixed + times..all));
        }
    }
    let greatest = solver.lexmax(&union, fixed)?;
    let mut found = Vec::new();
    for (store, _) in candidates {
        let places = places(program, *store, level);
        let depth = program.scopes[program.accesses[*store].scope].depth();
        let mut own = Pieces::new();
        for piece in &greatest {
            let all = fixed + depth + times;
            let mut timed = moved(piece, all, |v| if v < fixed { v } else { v + depth });
            let time = |k: usize| var(fixed + depth + k);
            for (k, place) in places.iter().enumerate() {
                timed.add_eq(time(2 * k + 1), Affine::constant(*place));
            }
            for k in places.len()..deepest - level {
                timed.add_eq(time(2 * k + 1), 0);
            }
            // The outer variables are those of the load.
            for k in 0..depth {
                let value = if k < level { var(params + k) } else { time(2 * (k - level)) };
                timed.add_eq(var(fixed + k), value);
            }
            own.extend(hide(&[timed], fixed + depth..all));
        }
        let own = solver.pruned(own)?;
        if !own.is_empty() {
            found.push((*store, own));
        }
    }
    Ok(found)
}

/// Returns the places in the text of what holds a store in each loop from `level` on.
fn places(program: &Program<'_>, store: AccessId, level: usize) -> Vec<i64> {
    let access = &program.accesses[store];
    let inner: &[LoopId] = program.scopes[access.scope].loops.get(level + 1..).unwrap_or_default();
    let mut places: Vec<i64> = inner.iter().map(|inner| program.loops[*inner].order as i64).collect();
    places.push(access.order as i64);
    places
}
