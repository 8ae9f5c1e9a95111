//! The cost of a perfect nest, level by level.

use loomir_ir::Body;

use super::{Cost, Work};
use crate::access::LoopContext;
use crate::tree::{Green, Node, Program, TreeStore};

/// Costs that differ by less than this part are equal.
const NOISE: f64 = 0.02;

/// The cost of a perfect nest of loops.
///
/// The innermost loop decides: whether it runs several iterations at once, and how many lines it
/// goes through each time. Further loops decide between nests whose inner loops cost the same. The
/// idea is that of memory order: Carr, McKinley and Tseng, *Compiler Optimizations for Improving
/// Data Locality*, ASPLOS 1994.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NestCost {
    /// The cycles of each loop each time it is reached, times how often it is reached. The
    /// innermost loop comes first.
    levels: Vec<f64>,
}

impl NestCost {
    /// Returns the cost of the nest `tree`. `None` if it is no loop. Linear in the leaves below and
    /// the operations, for each loop of the nest.
    pub(crate) fn of(
        place: (&Body, &Program, &TreeStore),
        cost: &dyn Cost,
        mut tree: Green,
        mut loop_context: LoopContext,
    ) -> Option<NestCost> {
        let (_, program, trees) = place;
        let (mut levels, mut times) = (Vec::new(), 1.0);
        while let Node::Loop { header, body } = trees.get(tree) {
            let work = Work::of(place, cost, tree, &loop_context)?;
            levels.push(times * work.cycles(cost.machine()));
            times *= work.trips;
            loop_context = loop_context.inside(program, trees, header);
            match trees.only_item(body) {
                Some(only) => tree = only,
                None => break,
            }
        }
        levels.reverse();
        Some(NestCost { levels }).filter(|own| !own.levels.is_empty())
    }

    /// Returns true if this nest is cheaper than another one by more than noise.
    pub(crate) fn is_less_than(&self, other: &NestCost) -> bool {
        let differs = |(a, b): &(&f64, &f64)| (*a - *b).abs() > NOISE * a.max(**b);
        self.levels.iter().zip(&other.levels).find(differs).is_some_and(|(a, b)| a < b)
    }
}
