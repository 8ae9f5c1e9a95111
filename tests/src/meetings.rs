//! Pairs of accesses of a run that touch one location, one of them writing: single dependences.
//!
//! An access with an unknown location only meets accesses of the world.

use std::collections::BTreeMap;

use loomir::ir::Op;
use loomir::transforms::access::Class;
use loomir::transforms::access::base::Base;
use loomir::transforms::listing::Kind;
use loomir::transforms::tree::Program;

use crate::instances::{Instance, Values, location};

/// Two accesses. The first ran first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The operations.
    pub ops: [Op; 2],
    /// The kind of dependence between them.
    pub kind: Kind,
    /// The distance in iterations from the first to the second, for each common loop.
    pub distance: Vec<i64>,
}

/// Returns all meetings in a run.
pub fn meetings(program: &Program, run: &[Instance], values: Values<'_>) -> Vec<Meeting> {
    let (mut objects, mut touched, mut all) = (Vec::new(), BTreeMap::<_, Vec<usize>>::new(), Vec::new());
    for (place, instance) in run.iter().enumerate() {
        // An access under a condition inside a statement may not happen.
        let always = |class: &Class| class.domain.constraints.is_empty();
        for (class, op) in program.statement(instance.0).effects.classes.iter().filter(|own| always(&own.0)) {
            if let Some(location) = location(class, instance, values, &mut objects) {
                touched.entry(location).or_default().push(all.len());
            }
            all.push((place, instance, class, *op));
        }
    }
    let mut found = Vec::new();
    let mut meet = |(x, a, s, op): (usize, &Instance, &Class, Op),
                    (y, b, t, other): (usize, &Instance, &Class, Op)| {
        if x == y {
            return;
        }
        let distance = distance(program, a, b);
        let kinds = kinds(s, t);
        found.extend(kinds.into_iter().map(|kind| Meeting {
            ops: [op, other],
            kind,
            distance: distance.clone(),
        }));
    };
    for of_location in touched.values() {
        for (i, first) in of_location.iter().enumerate() {
            // Accesses of the world meet more than this location.
            let others = of_location[i + 1..].iter().filter(|_| all[*first].2.base != Base::World);
            others.for_each(|second| meet(all[*first], all[*second]));
        }
    }
    for (i, first) in all.iter().enumerate() {
        for second in &all[i + 1..] {
            if first.2.base == Base::World || second.2.base == Base::World {
                meet(*first, *second);
            }
        }
    }
    found
}

fn kinds(first: &Class, second: &Class) -> Vec<Kind> {
    let world = |class: &Class| class.base == Base::World;
    let reads = |class: &Class| world(class) || !class.writes;
    if world(first) && second.base == Base::Exit {
        return vec![Kind::Control];
    }
    let mut kinds = Vec::new();
    kinds.extend((first.writes && reads(second)).then_some(Kind::Flow));
    kinds.extend((reads(first) && second.writes).then_some(Kind::Anti));
    kinds.extend((first.writes && second.writes).then_some(Kind::Output));
    kinds
}

fn distance(program: &Program, a: &Instance, b: &Instance) -> Vec<i64> {
    let path = |instance: &Instance| program.path(program.statement(instance.0).parent);
    let common = path(a).into_iter().zip(path(b)).take_while(|(x, y)| x == y).count();
    a.1.iter().zip(&b.1).take(common).map(|(x, y)| y - x).collect()
}
