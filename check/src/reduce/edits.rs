//! The kinds of edits that shrink a program, and their sites.

use std::ops::Range;

use loomir_dialects::interfaces::{Conditional, LoopLike, ParallelLike};
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Body, Dict, Op, Trait};

use super::{constants, operations, regions};

/// A kind of edit. Each makes the program smaller or simpler, so that none can go on for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Erases a symbol: a function or a global.
    Symbol,
    /// Erases an operation. Its results become other values of their types, or zero.
    Operation,
    /// Puts the first iteration of a loop in the place of the loop.
    OneIteration,
    /// Puts a side of a conditional in its place.
    Side(usize),
    /// Leads a branch to one of its successors, whatever its condition says.
    Branch(usize),
    /// Makes a constant smaller, or a trip count.
    Constant(constants::Less),
    /// Takes away the attributes of an operation that it does not need.
    Attributes,
}

impl Kind {
    /// All kinds, in the order in which they are tried.
    pub(super) const ALL: [Kind; 11] = [
        Kind::Symbol,
        Kind::Operation,
        Kind::OneIteration,
        Kind::Side(0),
        Kind::Side(1),
        Kind::Branch(0),
        Kind::Branch(1),
        Kind::Constant(constants::Less::Small),
        Kind::Constant(constants::Less::Half),
        Kind::Constant(constants::Less::One),
        Kind::Attributes,
    ];

    /// True if an operation of a body is a site of this kind.
    fn has_site(self, body: &Body, op: Op) -> bool {
        let op_ref = body.op_ref(op);
        let info = body.info(op);
        let is_symbol = symbol_name(body, op).is_some() || body.nested(op).is_some();
        match self {
            Kind::Symbol => is_symbol,
            Kind::Operation => !is_symbol && !info.has_trait(Trait::Terminator),
            Kind::OneIteration => {
                info.interface::<dyn LoopLike>().is_some() || info.interface::<dyn ParallelLike>().is_some()
            }
            Kind::Side(side) => {
                info.interface::<dyn Conditional>().is_some()
                    && op_ref.regions().nth(side).is_some_and(|own| body.entry_block(own).is_some())
            }
            Kind::Branch(to) => op_ref.successors().len() > to.max(1),
            Kind::Constant(less) => constants::can_shrink(op_ref, less),
            Kind::Attributes => body.attributes(op) != Dict::EMPTY,
        }
    }

    /// Makes the edit at a site. True if anything changed.
    fn apply(self, body: &mut Body, op: Op) -> bool {
        match self {
            Kind::Symbol => {
                body.erase(op);
                true
            }
            Kind::Operation => operations::erase(body, op),
            Kind::OneIteration => regions::one_iteration(body, op),
            Kind::Side(side) => regions::side(body, op, side),
            Kind::Branch(to) => operations::branch(body, op, to),
            Kind::Constant(less) => constants::shrink(body, op, less),
            Kind::Attributes => {
                body.set_attributes(op, Dict::EMPTY);
                true
            }
        }
    }
}

/// The outcome of edits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Edited {
    /// The number of sites that the program had.
    pub(super) sites: usize,
    /// The number of sites where something changed.
    pub(super) changed: usize,
}

/// Makes the edits of a kind at some of its sites, the last first.
pub(super) fn edit(module: &mut Body, kind: Kind, chosen: Range<usize>) -> Edited {
    let mut edited = Edited::default();
    module.for_each_body(&mut |body| {
        // A root is a site in the body around it.
        let root = body.root();
        let sites: Vec<Op> = body.all_ops().filter(|op| *op != root && kind.has_site(body, *op)).collect();
        for (number, op) in sites.iter().enumerate().rev() {
            if chosen.contains(&(edited.sites + number)) && kind.apply(body, *op) {
                edited.changed += 1;
            }
        }
        edited.sites += sites.len();
    });
    edited
}
