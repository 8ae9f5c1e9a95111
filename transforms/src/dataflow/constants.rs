//! The lattice of constants: a value is one constant wherever it is computed, or it varies.
//!
//! Operations are folded by the hooks of their definitions, so an operation of any dialect takes
//! part.

use loomir_ir::opdef::Folded;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, Body, OpRef, Trait, Value};

use super::forward::Analysis;

/// The fact of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constancy {
    /// The value is this constant, if it is not poison.
    Constant(Attr),
    /// The value may be anything.
    Varies,
}

impl Constancy {
    /// Returns the constant.
    pub fn constant(self) -> Option<Attr> {
        match self {
            Constancy::Constant(attr) => Some(attr),
            Constancy::Varies => None,
        }
    }

    /// Returns the least fact that both facts imply.
    #[must_use]
    pub fn join(self, other: Constancy) -> Constancy {
        if self == other { self } else { Constancy::Varies }
    }
}

/// Sparse conditional constant propagation.
#[derive(Clone, Copy, Debug)]
pub struct ConstantPropagation;

impl Analysis for ConstantPropagation {
    type Fact = Constancy;

    fn unknown(&self, _: &Body, _: Value) -> Constancy {
        Constancy::Varies
    }

    fn join(&self, a: &Constancy, b: &Constancy) -> Constancy {
        a.join(*b)
    }

    fn transfer(&self, op: OpRef<'_>, operands: &[Constancy]) -> Vec<Constancy> {
        folded(op, operands).unwrap_or_default()
    }

    fn constant(&self, _: &Body, _: Value, fact: &Constancy) -> Option<Attr> {
        fact.constant()
    }
}

/// Returns the facts of the results of an operation without regions, as far as its definition folds
/// it.
pub(crate) fn folded(op: OpRef<'_>, operands: &[Constancy]) -> Option<Vec<Constancy>> {
    if op.info().has_trait(Trait::ConstantLike) {
        return Some(vec![Constancy::Constant(constant_of(op.body(), op.results().next()?)?)]);
    }
    let fold = op.def()?.fold?;
    let constants: Vec<Option<Attr>> = operands.iter().map(|fact| fact.constant()).collect();
    let results = fold(op, &constants)?;
    let fact = |result: Folded| match result {
        Folded::Constant(attr) => Constancy::Constant(attr),
        // The fact of a value that is no operand may rise without a visit of this operation.
        Folded::Value(value) => {
            op.operands().position(|own| own == value).map_or(Constancy::Varies, |own| operands[own])
        }
    };
    Some(results.into_iter().map(fact).collect())
}
