//! What loops touch, in which order, as exact integer relations.
//!
//! The way of the data: values of index type become affine [`Form`](form::Form)s over loop variables and parameters; what an operation touches
//! becomes access *classes* ([`access`]) of memory objects ([`base`]); those of a subtree of the loop tree, in its own iteration order, are a
//! [`Nest`](nest::Nest); pairs of classes become conjunctions of [`loomir_polyhedra`], which [`legality`](crate::legality) asks
//! whether an order that was there is lost. A call is what the function does that it calls ([`callees`]). All of a program, for people and
//! programs to read, are a [`listing`].

pub mod access;
mod alike;
pub mod base;
pub mod callees;
pub mod flow;
pub mod form;
pub mod listing;
pub mod locals;
pub mod nest;
pub mod objects;
pub mod surroundings;
pub mod system;
pub mod timeline;
pub mod updates;
