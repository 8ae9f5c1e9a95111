//! The meeting of two accesses: the subscripts that are equal in pairs of instances that touch one
//! location.
//!
//! **Assumptions.**
//! - Subscripts are compared only if both accesses count in the same elements of one object: equal
//!   types of elements, sizes and origin. Tried with `fixtures/fusion/same_buffer.mlir`, rows that
//!   overlap.

use super::{Cause, Element, add_symbols};
use crate::access::base::{Base, Overlap};
use crate::access::{Class, Example};
use crate::affine::AffineForm;
use crate::affine::system::Side;

/// The common elements of two accesses: pairs of subscripts that are equal if both touch one
/// element, and a flag if this condition is sufficient too.
pub struct Meeting<'c> {
    /// Pairs of subscripts of both accesses that are equal.
    pub pairs: Vec<(&'c AffineForm, &'c AffineForm)>,
    /// True if equal subscripts imply that both accesses touch one location.
    pub exact: bool,
}

impl<'c> Meeting<'c> {
    /// Returns the meeting of two accesses of objects with this overlap.
    pub fn of(s: &'c Class, t: &'c Class, overlap: Overlap) -> Meeting<'c> {
        let same_elements = overlap == Overlap::Same && s.counts_like(t);
        let subscripts = match (&s.subscripts, &t.subscripts) {
            (Some(x), Some(y)) if same_elements && x.len() == y.len() => Some((x, y)),
            _ => None,
        };
        let pairs: Vec<(&AffineForm, &AffineForm)> = subscripts
            .map(|(x, y)| x.iter().zip(y).filter_map(|(x, y)| x.as_ref().zip(y.as_ref())).collect())
            .unwrap_or_default();
        let exact = subscripts.is_some_and(|(x, _)| x.len() == pairs.len());
        Meeting { pairs, exact }
    }

    /// Returns the meeting of two accesses whose elements are known under conditions, and those:
    /// forms over parameters. The meeting holds where none of them is negative.
    pub(super) fn conditional(
        s: &'c Class,
        t: &'c Class,
        overlap: Overlap,
    ) -> Option<(Meeting<'c>, Vec<&'c AffineForm>)> {
        let is_conditional = [s, t].iter().any(|class| class.conditional.is_some());
        if !is_conditional || overlap != Overlap::Same || !s.is_relative_to(t) {
            return None;
        }
        let ((sizes, x), (others, y)) = (named(s)?, named(t)?);
        let conditions = [s, t].into_iter().filter_map(|class| class.conditional.as_ref());
        let conditions = conditions.flat_map(|own| &own.conditions).collect();
        let pairs = x.into_iter().zip(y).collect();
        (sizes == others).then_some((Meeting { pairs, exact: false }, conditions))
    }

    /// Returns the reason why the accesses are assumed to meet, with an example if there is one.
    pub(crate) fn cause(&self, s: &Class, t: &Class, overlap: Overlap, example: Option<&Example>) -> Cause {
        match (overlap, s.base, t.base) {
            (_, Base::World, _) | (_, _, Base::World) => Cause::World,
            (Overlap::Same, ..) => match example.filter(|_| self.exact) {
                Some(example) => {
                    let value = |form: &AffineForm| example.value(form, Side::First);
                    let mut symbols = Vec::new();
                    let subscripts = self.pairs.iter().map(|(form, _)| {
                        add_symbols(&mut symbols, form, &value);
                        value(form).unwrap_or_default()
                    });
                    let subscripts = subscripts.collect();
                    Cause::Element(Box::new(Element { base: s.base, origin: s.origin, subscripts, symbols }))
                }
                None => Cause::Object,
            },
            (_, Base::Argument(x), Base::Argument(y)) => Cause::MayOverlap(Some((x, y))),
            _ => Cause::MayOverlap(None),
        }
    }
}

/// Returns the sizes and subscripts of an access that name its elements, perhaps under conditions.
fn named(class: &Class) -> Option<(&[AffineForm], Vec<&AffineForm>)> {
    match &class.conditional {
        Some(found) => Some((&found.sizes, found.subscripts.iter().collect())),
        None => {
            let subscripts = class.subscripts.as_ref()?.iter().map(Option::as_ref).collect::<Option<_>>()?;
            Some((&class.sizes, subscripts))
        }
    }
}
