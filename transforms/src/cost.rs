//! What running loops costs, and what fusing two of them saves.
//!
//! A loop of the tree is summarised once, as [`Work`]: how often it runs, what it computes, and the
//! memory it goes through, as *streams* of cache lines. Two works are held against each other as a
//! [`Saving`], in cycles. Each of its parts has a cause that can be named:
//!
//! | fusing saves | fusing costs |
//! | --- | --- |
//! | lines both touch, which by the time the second loop runs have left a cache | lines an iteration touches again, but which no longer stay in a cache between two iterations |
//! | a loop: its start, and its counter in each iteration | vector instructions, where the fused loop has to run one element at a time |
//! | | values that no longer stay in registers from one iteration to the next |
//! | | comparisons of numbers that are made before, and a branch |
//!
//! So loops that have nothing in common are fused if they are small, for the loop that is saved,
//! and are not if that takes something from one of them. How often things run is asked of a
//! [`Cost`]; the rest is what a [`Machine`] is like.
//!
//! **Approximations.** Caches keep what was touched last. Lines are fetched ahead, so they cost
//! bandwidth, not latency. Memory that contraction will take away counts as memory. What stands
//! between two loops touches nothing, and of two nests that are fused the loops inside are, too.
//!
//! **Cost.** Summarising is linear in the leaves of a loop; a saving is linear in the streams of
//! the second loop.
//!
//! # Limits
//!
//! - Costs are estimates for one machine: caches keep what was touched last, lines are fetched
//!   ahead, and memory that contraction will remove counts.

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;

use loomir_ir::{Body, Op};

pub use machine::{Cache, Machine};
pub use profile::{COUNTS, ProfileCost};
pub use saving::{Loss, Saving};
pub use work::Work;

mod machine;
mod profile;
mod saving;
mod streams;
mod work;

/// How often things run, and on what: all that a cost is made from and that no program says by
/// itself.
pub trait Cost: Debug + Send + Sync {
    /// The number of iterations a loop runs each time it is reached; `known` if the program says
    /// so.
    fn trips(&self, ir: &Body, of: Op, known: Option<i64>) -> f64;

    /// How likely the condition of a conditional holds, from 0 to 1.
    fn likelihood(&self, ir: &Body, of: Op) -> f64;

    /// What it runs on.
    fn machine(&self) -> &Machine;
}

/// How often things run as far as the program says, and the usual where it doesn't.
#[derive(Clone, PartialEq, Debug)]
pub struct StaticCost {
    /// The machine.
    pub machine: Machine,
    /// The iterations of a loop about whose bounds nothing is known.
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

/// Which of the two costs here: as text, an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CostSource {
    /// [`StaticCost`].
    #[default]
    Static,
    /// [`ProfileCost`].
    Profile,
}

impl CostSource {
    /// The cost, for the usual machine.
    pub fn cost(self) -> Arc<dyn Cost> {
        match self {
            CostSource::Static => Arc::new(StaticCost::default()),
            CostSource::Profile => Arc::new(ProfileCost::default()),
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
