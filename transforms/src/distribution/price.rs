//! The profitability of cuts: the cost of arrays that pass values on, against the saving.
//!
//! A distributed loop runs as several loops. Each may have an advantage that the whole lacked:
//! iterations that run at once, or an iteration that fits a cache. The price is an array, with a
//! store in one part and a load in another for each value that crosses a cut. The chosen cuts are
//! those with the least total cost of all parts and arrays, if this is less than the cost of the
//! original loop. A cut without arrays is always made.
//!
//! **Assumptions.**
//! - Only profitability is decided here.
//!
//! **Cost.** Quadratic in the cuts, which are few, times the contents of the loop.

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
    /// The values to pass on, each with the piece that computes it.
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
    /// Returns true for each cut that is profitable. The cuts are in order.
    pub(super) fn worth(&self, trees: &mut TreeStore, cuts: &[(Cut, Option<Op>)]) -> Vec<bool> {
        let end = cuts.len() + 1;
        let cut = |number: usize| Some(&cuts.get(number.checked_sub(1)?)?.0);
        // For each cut, and the end, the least cost of everything before, and the start of the part
        // that ends there. The beginning is number 0.
        let mut least: Vec<(f64, usize)> = vec![(0.0, 0)];
        for to in 1..=end {
            // No part extends over a cut that is always made.
            let from = (0..to).rev().find(|from| *from == 0 || cuts[from - 1].0.values.is_empty());
            let all = (from.unwrap_or(0)..to).map(|from| {
                let before = least[from].0;
                (before + self.part(trees, cut(from), cut(to)), from)
            });
            // Among equal costs, the longest part.
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

    /// Returns the cost of the part from one cut to another, with the arrays that it writes and
    /// reads.
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
        // Each passed value needs an array, which is allocated and freed.
        let allocations = written.len() as f64 * machine.start;
        read.into_iter().for_each(|bytes| work.hand_on(bytes, false, machine));
        written.into_iter().for_each(|bytes| work.hand_on(bytes, true, machine));
        work.cycles(machine) + allocations
    }
}
