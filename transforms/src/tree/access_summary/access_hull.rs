//! Classes that differ only in when they happen, seen as one.
//!
//! Loops of different lengths that all update `A[i]` have as many classes as lengths. What is true
//! of no iteration of the longest is true of none of the others, so what is asked of many classes
//! is asked first of a few *hulls*: each happens at least whenever one of its classes does. Only if
//! the answer for a hull is not that there is nothing, the classes are asked one by one.
//!
//! **Cost.** A class added is compared with one hull, constraint by constraint. Few classes have no
//! hulls.

use std::sync::Arc;

use hashbrown::HashMap;

use super::Representative;
use crate::access::{Class, Domain};
use crate::affine::AffineForm;

/// Fewer classes of an object than this are asked one by one.
pub(super) const MIN_CLASSES: usize = 8;

/// The hulls of the classes of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Hulls {
    /// Each with an operation of its first class.
    pub(super) all: Vec<Representative>,
    /// The places in `all`, by classes without their constraints.
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

/// Makes a domain hold another one's iterations, too: of constraints that differ by a number the
/// weaker one is kept, others are dropped.
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
