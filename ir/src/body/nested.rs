//! Bodies inside bodies: the operations that own an arena of their own.

use super::Body;
use crate::entity::Op;

impl Body {
    /// The body an operation of this body owns; `None` for all others, the root of this body included.
    #[inline]
    pub fn nested(&self, op: Op) -> Option<&Body> {
        self.extra(op)?.nested.as_deref()
    }

    /// The body an operation of this body owns, to change.
    pub fn nested_mut(&mut self, op: Op) -> Option<&mut Body> {
        let extra = self.data(op).extra;
        if extra == crate::entity::NONE { None } else { self.extras[extra as usize].nested.as_deref_mut() }
    }

    /// Takes the body out of an operation, which is erased.
    pub fn take_nested(&mut self, op: Op) -> Option<Body> {
        let extra = self.data(op).extra;
        if extra == crate::entity::NONE {
            return None;
        }
        let body = self.extras[extra as usize].nested.take()?;
        self.erase(op);
        Some(*body)
    }

    /// Every body directly inside this one, with the operation that owns it, in no particular order; for work
    /// that treats each by itself. Collect and use [`Body::walk`](crate::walk) where order matters.
    pub fn nested_bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        self.extras.iter_mut().filter_map(|extra| extra.nested.as_deref_mut())
    }
}
