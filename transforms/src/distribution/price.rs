//! What arrays cost that values are handed on in, and which cuts are worth them.
//!
//! A loop that is cut runs as several, each of which may have something the whole had not:
//! iterations that run at once, or an iteration that fits a cache. For that each value that crosses
//! a cut is stored in an iteration of one part and loaded in one of another, and the array has to
//! be had. The cuts that are taken are those with which all parts and arrays cost least, if that is
//! less than the loop costs as it is. What costs no array is cut in any case.
//!
//! **Assumptions.**
//! - Nothing is decided here but what is worth it.
//!
//! **Cost.** Quadratic in the cuts, which are few, times what is in the loop.

use loomir_ir::{Body, Op, Value};

use super::pieces::Pieces;
use crate::access::LoopContext;
use crate::access::base::bytes_of_element;
use crate::cost::{Cost, Work};
use crate::tree::{HeaderId, Program, TreeStore};

/// A place where a loop may be cut.
pub(super) struct Cut {
    /// Before which piece.
    pub(super) at: usize,
    /// What has to be handed on, each value with the piece that computes it.
    pub(super) values: Vec<(usize, Value)>,
}

/// A loop that may be cut.
pub(super) struct Priced<'a> {
    pub(super) ir: &'a Body,
    pub(super) program: &'a Program,
    pub(super) cost: &'a dyn Cost,
    pub(super) header: HeaderId,
    pub(super) pieces: &'a Pieces,
    pub(super) loop_context: &'a LoopContext,
}

impl Priced<'_> {
    /// Those of the cuts, which are in order, that are worth it.
    pub(super) fn worth(&self, trees: &mut TreeStore, cuts: &[(Cut, Option<Op>)]) -> Vec<bool> {
        let end = cuts.len() + 1;
        let cut = |number: usize| Some(&cuts.get(number.checked_sub(1)?)?.0);
        // For each cut, and the end, what is before costs at least, and where the part begins that
        // ends there; the beginning is number 0.
        let mut least: Vec<(f64, usize)> = vec![(0.0, 0)];
        for to in 1..=end {
            // No part goes over what is cut in any case.
            let from = (0..to).rev().find(|from| *from == 0 || cuts[from - 1].0.values.is_empty());
            let all = (from.unwrap_or(0)..to).map(|from| {
                let before = least[from].0;
                (before + self.part(trees, cut(from), cut(to)), from)
            });
            // The longest part of those that cost the same.
            least.push(all.min_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap_or_default());
        }
        let mut is_worth = vec![false; cuts.len()];
        let mut place = least[end].1;
        while place > 0 {
            is_worth[place - 1] = true;
            place = least[place].1;
        }
        is_worth
    }

    /// What the part from one cut to another costs, with the arrays it writes and reads.
    fn part(&self, trees: &mut TreeStore, from: Option<&Cut>, to: Option<&Cut>) -> f64 {
        let range = from.map_or(0, |cut| cut.at)..to.map_or(self.pieces.len(), |cut| cut.at);
        let body = self.pieces.part(trees, range);
        let part = trees.with_header(self.header, body);
        let machine = self.cost.machine();
        let Some(mut work) = Work::of((self.ir, self.program, trees), self.cost, part, self.loop_context)
        else {
            return f64::INFINITY;
        };
        let bytes = |(_, value): &(usize, Value)| {
            bytes_of_element(self.ir.ctx(), self.ir.value_type(*value)).unwrap_or(1) as f64
        };
        let values =
            |cut: Option<&'_ Cut>| cut.into_iter().flat_map(|cut| cut.values.iter().map(bytes)).collect();
        let (read, written): (Vec<f64>, Vec<f64>) = (values(from), values(to));
        // One array is allocated and freed for each.
        let allocations = written.len() as f64 * machine.start;
        read.into_iter().for_each(|bytes| work.hand_on(bytes, false, machine));
        written.into_iter().for_each(|bytes| work.hand_on(bytes, true, machine));
        work.cycles(machine) + allocations
    }
}
