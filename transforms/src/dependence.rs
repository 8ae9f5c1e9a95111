//! What loops touch, in which order, as exact integer relations.
//!
//! The way of the data: values of index type become affine [`Form`](form::Form)s over loop variables and parameters; the
//! operations of a loop nest become a [`Nest`](nest::Nest), a list of access *classes* (same object, same relation, same kind); memory objects are
//! found by [`base`]; pairs of classes become conjunctions of [`loomir_polyhedra`], which [`legality`](crate::legality) asks
//! whether an order that was there is lost.

pub mod base;
pub mod form;
pub mod nest;
