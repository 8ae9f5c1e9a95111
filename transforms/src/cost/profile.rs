//! Costs from a profile: the program carries its execution counts.

use loomir_dialects::interfaces::ParallelLike;
use loomir_ir::{Body, Op};

use super::{Cost, Machine, StaticCost};

/// The attribute with the number of times that each region of an operation ran to its end in a
/// measured run.
pub const COUNTS: &str = "loomir.counts";

/// Frequencies from a measured run, stored in attributes [`COUNTS`]. Operations without the
/// attribute have assumed frequencies.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProfileCost {
    /// The machine, and the assumed frequencies.
    pub usual: StaticCost,
}

impl ProfileCost {
    /// Returns the executions of a region of `of` for each time that `of` was reached.
    fn ratio(ir: &Body, of: Op, region: usize) -> Option<f64> {
        let around = ir.region_of(of)?;
        let reached = count(ir, ir.region_parent(around), ir.region_index(around))?;
        (reached > 0).then_some(count(ir, of, region)? as f64 / reached as f64)
    }
}

fn is_parallel(ir: &Body, op: Op) -> bool {
    ir.info(op).interface::<dyn ParallelLike>().is_some()
}

/// Returns the number of times that a region ran to its end.
fn count(ir: &Body, op: Op, region: usize) -> Option<i64> {
    let counts = ir.attr(op, COUNTS)?.as_dense_ints(ir.ctx())?;
    counts.get(region).copied().filter(|count| *count >= 0)
}

impl Cost for ProfileCost {
    fn trips(&self, ir: &Body, of: Op, known: Option<i64>) -> f64 {
        let usual = || self.usual.trips(ir, of, known);
        let Some(ratio) = ProfileCost::ratio(ir, of, 0) else { return usual() };
        match ir.entry_block(ir.region(of, 0)).map(|body| ir.num_arguments(body)) {
            // The count covers all dimensions together. Dimensions with unknown trip counts are
            // assumed equal.
            Some(dimensions) if dimensions > 1 && is_parallel(ir, of) => {
                known.map_or_else(|| ratio.powf(1.0 / dimensions as f64), |_| usual())
            }
            _ => ratio,
        }
    }

    fn assumes(&self, ir: &Body, of: Op, known: Option<i64>) -> bool {
        known.is_none() && ProfileCost::ratio(ir, of, 0).is_none()
    }

    fn likelihood(&self, ir: &Body, of: Op) -> f64 {
        ProfileCost::ratio(ir, of, 0).unwrap_or_else(|| self.usual.likelihood(ir, of))
    }

    fn machine(&self) -> &Machine {
        &self.usual.machine
    }
}
