//! Hulls: one class in place of many that differ only in their domains.
//!
//! Loops of different trip counts that all update `A[i]` have as many classes. A condition that no
//! iteration of the longest satisfies, no iteration of the others does. Questions about many
//! classes are therefore first asked about a few *hulls*: each happens at least whenever one of its
//! classes does. The classes are examined one by one only if a hull does not settle the question.
//!
//! **Cost.** A class added is compared with one hull, constraint by constraint. Few classes have no
//! hulls.

use std::sync::Arc;

use hashbrown::HashMap;

use super::Representative;
use crate::access::{Class, Domain};
use crate::affine::AffineForm;

/// Fewer classes of an object than this are examined one by one.
pub(super) const MIN_CLASSES: usize = 8;

/// The hulls of the classes of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Hulls {
    /// The hulls, each with an operation of its first class.
    pub(super) all: Vec<Representative>,
    /// The positions in `all`, by classes without their constraints.
    index: HashMap<Class, usize>,
}

impl Hulls {
    /// Adds a class.
    pub(super) fn add(&mut self, own: &Representative) {
        let domain = Domain { levels: own.class.domain.levels, ..Domain::default() };
        let key = Class { domain: Arc::new(domain), ..own.class.clone() };
        let next = self.all.len();
        let at = *self.index.entry(key).or_insert(next);
        match self.all.get_mut(at) {
            Some(hull) => widen(&mut hull.class.domain, &own.class.domain),
            None => self.all.push(own.clone()),
        }
    }
}

/// Widens a domain to contain another domain. If two constraints differ by a constant, the weaker
/// one is kept. Other constraints are dropped.
fn widen(hull: &mut Arc<Domain>, other: &Domain) {
    let weaker = |form: &AffineForm| {
        other.constraints.iter().find_map(|own| {
            let more = own.minus(form)?.as_constant()?;
            Some(if more > 0 { own.clone() } else { form.clone() })
        })
    };
    let constraints: Vec<AffineForm> = hull.constraints.iter().filter_map(weaker).collect();
    if constraints != hull.constraints {
        *hull = Arc::new(Domain { levels: hull.levels, constraints, exact: false });
    }
}
