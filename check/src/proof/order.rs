//! The order in which instances of two places run.

use loomir_polyhedra::Conjunction;

use super::model::{Program, ScopeId};
use super::sets::{Pieces, intersect, moved, var};

/// A place in the text of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) scope: ScopeId,
    pub(super) order: usize,
}

/// Returns the pairs of instances of two places of which the first runs before the second.
pub(super) fn before(program: &Program<'_>, params: usize, first: Place, second: Place) -> Pieces {
    let scopes = [first, second].map(|place| &program.scopes[place.scope]);
    let [x, y] = scopes.map(super::model::Scope::depth);
    let all = params + x + y;
    let shared = scopes[0].loops.iter().zip(&scopes[1].loops).take_while(|(a, b)| a == b).count();
    let mut orders = Pieces::new();
    for level in 0..=shared {
        let mut order = Conjunction::new(all);
        (0..level).for_each(|k| order.add_eq(var(params + k), var(params + x + k)));
        if level < shared {
            order.add_lt(var(params + level), var(params + x + level));
        } else if first.order >= second.order {
            continue;
        }
        orders.push(order);
    }
    if orders.is_empty() {
        return orders;
    }
    let behind = |set: &Conjunction| moved(set, all, |v| if v < params { v } else { v + x });
    let firsts: Pieces = program.domains[first.scope].iter().map(|set| moved(set, all, |v| v)).collect();
    let seconds: Pieces = program.domains[second.scope].iter().map(behind).collect();
    intersect(&intersect(&firsts, &seconds), &orders)
}
