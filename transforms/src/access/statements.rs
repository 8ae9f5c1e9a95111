//! The granularity of the statements of the tree.
//!
//! # Limits
//!
//! - Operations of one statement are searched among at most 128 neighbours.

use std::fmt;
use std::sync::Arc;

use loomir_ir::{Body, Op, Trait, Type};

/// Decides which operations are better kept together.
///
/// **Owed:** nothing. Tied operations become one statement if an order remains in which everything
/// can run ([`tree::raise`](crate::tree::raise)). Other ties are cut.
pub trait Statements: fmt::Debug + Send + Sync {
    /// Returns pairs of operations of a run that belong together, by their places in it, in the
    /// order of importance. A run is a sequence of neighbours in a block without loops and
    /// conditionals of the tree.
    fn ties(&self, body: &Body, run: &[Op]) -> Vec<(usize, usize)>;
}

/// Each operation is a statement.
#[derive(Clone, Copy, Debug)]
pub struct Single;

/// A value is computed and used in one statement. Constants and the arithmetic of subscripts are
/// not tied, because many operations share them.
#[derive(Clone, Copy, Debug)]
pub struct Tied;

/// All neighbours without regions are one statement.
#[derive(Clone, Copy, Debug)]
pub struct Straight;

impl Statements for Single {
    fn ties(&self, _: &Body, _: &[Op]) -> Vec<(usize, usize)> {
        Vec::new()
    }
}

impl Statements for Tied {
    fn ties(&self, body: &Body, run: &[Op]) -> Vec<(usize, usize)> {
        let places: hashbrown::HashMap<Op, usize> =
            run.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        let is_shared = |op: Op| {
            let is_number = body.results(op).all(|value| body.value_type(value) == Type::INDEX);
            body.has_trait(op, Trait::ConstantLike) || (body.has_trait(op, Trait::Pure) && is_number)
        };
        let mut ties = Vec::new();
        for (user, op) in run.iter().enumerate() {
            let used = body.operands(*op).filter_map(|value| body.defining_op(value));
            let used = used.filter(|of| !is_shared(*of)).filter_map(|of| places.get(&of));
            ties.extend(used.map(|of| (*of, user)));
        }
        ties
    }
}

impl Statements for Straight {
    fn ties(&self, body: &Body, run: &[Op]) -> Vec<(usize, usize)> {
        let is_plain = |op: Op| body.own_regions(op).len() == 0 && body.nested(op).is_none();
        (1..run.len())
            .filter(|at| is_plain(run[at - 1]) && is_plain(run[*at]))
            .map(|at| (at - 1, at))
            .collect()
    }
}

/// Returns an implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn Statements>> {
    Some(match name {
        "op" => Arc::new(Single),
        "tied" => Arc::new(Tied),
        "block" => Arc::new(Straight),
        _ => return None,
    })
}
