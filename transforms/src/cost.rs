//! The cost of running loops, and the saving of fusing two of them.
//!
//! A loop of the tree is summarised once, as [`Work`]: its trip count, its computation, and the
//! memory that it traverses, as *streams* of cache lines. The comparison of two works is a
//! [`Saving`], in cycles. Each of its parts has a cause that can be named:
//!
//! | fusing saves | fusing costs |
//! | --- | --- |
//! | lines both touch, which are evicted from a cache before the second loop runs | lines an iteration touches again, but which no longer stay in a cache between two iterations |
//! | a loop: its start, and its counter in each iteration | vector instructions, where the fused loop has to run one element at a time |
//! | | values that no longer stay in registers from one iteration to the next |
//! | | loads that wait for stores to other pages |
//! | | comparisons of numbers before the loops, and a branch |
//!
//! A loop of unknown trip count may traverse more than the caches hold. If its fusion pays at that
//! length, since lines are fetched once and not twice, lost vector instructions cost nothing:
//! memory is the bound.
//!
//! Small loops without common data are therefore fused, for the saved loop, unless the fusion takes
//! one of these advantages from a loop. A [`Cost`] supplies trip counts and likelihoods; a
//! [`Machine`] supplies the rest.
//!
//! **Approximations.** Caches evict the least recently used line. Lines are prefetched, so they
//! cost bandwidth, not latency. Memory that contraction will remove counts as memory. Operations
//! between two loops touch nothing. If two nests are fused, their inner loops are fused too.
//!
//! **Cost.** Summarising is linear in the leaves of a loop; a saving is linear in the streams of
//! the second loop.
//!
//! # Limits
//!
//! - Costs are estimates for one machine: caches keep what was touched last, lines are fetched
//!   ahead, and memory that contraction will remove counts.
//! - Two loops of unknown trip count are fused at the cost of vector instructions, if that pays for
//!   long loops. A run-time test leaves short ones apart. Without tests (`alias` is not `version`),
//!   short ones are slower then.
//! - Sums that a loop carries as values are estimated one by one, though LLVM makes vectors of
//!   neighbouring ones. Estimates are made before sums become values.

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;

use loomir_ir::{Body, Op};

pub(crate) use estimate::{Estimate, sums_up};
pub use estimate::{LoopCost, cycles, loop_costs};
pub(crate) use leaves::Leaves;
pub use machine::{Cache, Machine};
pub use profile::{COUNTS, ProfileCost};
pub use saving::{Loss, Saving};
pub use target::{avoid_gathers, widen};
pub use work::{Pace, Work};
pub(crate) use work::{multiplies_narrow, only_reduces, stride_of};

mod chain;
mod estimate;
mod hull;
mod leaves;
mod machine;
mod operation;
mod pages;
mod profile;
mod saving;
mod small_loops;
mod streams;
mod target;
mod trips;
mod work;

/// The inputs of the cost model that no program states itself: execution frequencies, and the
/// machine.
pub trait Cost: Debug + Send + Sync {
    /// Returns the trip count of a loop each time it is reached. `known` is the trip count that the
    /// program states.
    fn trips(&self, ir: &Body, of: Op, known: Option<i64>) -> f64;

    /// True if the trip count that [`trips`](Cost::trips) returns is a guess.
    fn assumes(&self, ir: &Body, of: Op, known: Option<i64>) -> bool {
        let _ = (ir, of);
        known.is_none()
    }

    /// Returns the likelihood of the condition of a conditional, from 0 to 1.
    fn likelihood(&self, ir: &Body, of: Op) -> f64;

    /// Returns the machine.
    fn machine(&self) -> &Machine;
}

/// Static costs: the trip counts that the program states, and assumed ones for the rest.
#[derive(Clone, PartialEq, Debug)]
pub struct StaticCost {
    /// The machine.
    pub machine: Machine,
    /// The assumed trip count of a loop with unknown bounds.
    pub trips: f64,
}

impl Default for StaticCost {
    fn default() -> Self {
        StaticCost { machine: Machine::default(), trips: 1024.0 }
    }
}

impl Cost for StaticCost {
    fn trips(&self, _: &Body, _: Op, known: Option<i64>) -> f64 {
        known.map_or(self.trips, |known| known.max(0) as f64)
    }

    fn likelihood(&self, _: &Body, _: Op) -> f64 {
        0.5
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }
}

/// The same costs on another machine.
#[derive(Debug)]
pub struct OnMachine<'a> {
    of: &'a dyn Cost,
    machine: Machine,
}

impl<'a> OnMachine<'a> {
    /// The factor by which loops will compute faster.
    const SPEEDUP: f64 = 4.0;

    /// Returns the costs on the machine that a function is [compiled for](Machine::of_function).
    pub fn of_function(of: &'a dyn Cost, body: &Body) -> OnMachine<'a> {
        OnMachine { of, machine: of.machine().of_function(body) }
    }

    /// Returns the costs of loops that will compute faster, because register tiles come later: what
    /// counts is to fetch lines.
    pub fn computing_faster(of: &'a dyn Cost) -> OnMachine<'a> {
        let usual = of.machine();
        let machine = Machine {
            issue: usual.issue * Self::SPEEDUP,
            latency: usual.latency / Self::SPEEDUP,
            ..usual.clone()
        };
        OnMachine { of, machine }
    }
}

impl Cost for OnMachine<'_> {
    fn trips(&self, ir: &Body, of: Op, known: Option<i64>) -> f64 {
        self.of.trips(ir, of, known)
    }

    fn assumes(&self, ir: &Body, of: Op, known: Option<i64>) -> bool {
        self.of.assumes(ir, of, known)
    }

    fn likelihood(&self, ir: &Body, of: Op) -> f64 {
        self.of.likelihood(ir, of)
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }
}

/// The choice between the two cost models, as the value of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CostSource {
    /// [`StaticCost`].
    #[default]
    Static,
    /// [`ProfileCost`].
    Profile,
}

impl CostSource {
    /// Returns the cost model for a machine.
    pub fn cost(self, machine: Machine) -> Arc<dyn Cost> {
        let usual = StaticCost { machine, ..StaticCost::default() };
        match self {
            CostSource::Static => Arc::new(usual),
            CostSource::Profile => Arc::new(ProfileCost { usual }),
        }
    }
}

impl FromStr for CostSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "static" => Ok(CostSource::Static),
            "profile" => Ok(CostSource::Profile),
            _ => Err(format!("'{text}' is neither 'static' nor 'profile'")),
        }
    }
}
