//! Loops that a function loses when it is raised.
//!
//! A loop whose results nothing uses, and that has no effect, is erased. So is a loop that runs at
//! most once: its operations take its place. Neither can be fused with anything.
//!
//! **Cost.** One walk over the function for each list of loops.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::scf;
use loomir_ir::{Body, Loc, Op};
use loomir_transforms::simplify::dce::find_dead;

/// The reason why a loop is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gone {
    /// It has no effect, and nothing uses its results.
    NoEffect,
    /// It runs at most once.
    RunsOnce,
}

impl Gone {
    /// Returns the name of the reason, as remarks give it.
    pub fn name(self) -> &'static str {
        match self {
            Gone::NoEffect => "NoEffect",
            Gone::RunsOnce => "RunsOnce",
        }
    }

    /// Returns the reason as a sentence about the loop.
    pub fn reason(self) -> &'static str {
        match self {
            Gone::NoEffect => "nothing uses what it computes",
            Gone::RunsOnce => "it runs at most once",
        }
    }
}

/// Returns the loops of a function with structured control flow, in its order.
fn loops(function: &Body) -> impl Iterator<Item = Op> {
    function.all_ops().filter(|op| {
        function.info(*op).interface::<dyn LoopLike>().is_some() || function.is(*op, scf::WhileOp::DEF)
    })
}

/// Returns the places of the loops of a function with structured control flow, in its order.
pub(super) fn places(function: &Body) -> Vec<Loc> {
    loops(function).map(|op| function.loc(op)).collect()
}

/// The loops of a function before it is simplified.
pub(super) struct Lost(Vec<(Loc, Gone)>);

impl Lost {
    /// Lists the loops, each with the reason for which it would go.
    pub(super) fn before(function: &Body) -> Lost {
        let all: Vec<Op> = loops(function).collect();
        let dead = if all.is_empty() { HashSet::new() } else { find_dead(function) };
        let why = |op: &Op| if dead.contains(op) { Gone::NoEffect } else { Gone::RunsOnce };
        Lost(all.iter().map(|op| (function.loc(*op), why(op))).collect())
    }

    /// Returns the loops that are not in the function any more.
    pub(super) fn after(self, function: &Body) -> Vec<(Loc, Gone)> {
        let mut left: HashMap<Loc, usize> = HashMap::new();
        loops(function).for_each(|op| *left.entry(function.loc(op)).or_default() += 1);
        let mut is_left = |place: &Loc| match left.get_mut(place) {
            Some(number @ 1..) => {
                *number -= 1;
                true
            }
            _ => false,
        };
        self.0.into_iter().filter(|(place, _)| !is_left(place)).collect()
    }
}
