//! How it is told that fusion keeps the order of two accesses: LLVM's strategies made sound, and exactly.
//!
//! | strategy | two accesses keep their order if |
//! | --- | --- |
//! | `scev` | both places lie in the loop's direction in one iteration, and move on with each ([`Differences`]) |
//! | `da` | directions exclude it: bounds and divisibility of each subscript, levels around being equal ([`Directions`]) |
//! | `all` | one of these says so |
//! | `polyhedral` | there are no two iterations that would change places ([`Polyhedral`]) |
//!
//! **Soundness.** The first three are cheap, and ask the last one where they would let a pair pass. So none lets anything pass that it does not.

use loomir_transforms::access::Dependence;
use loomir_transforms::access::dependence::{Confirmed, Differences, Directions, Polyhedral};

/// How dependences are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// By the difference of both places in one iteration.
    Scev,
    /// By directions.
    Da,
    /// By either.
    All,
    /// Exactly.
    #[default]
    Polyhedral,
}

impl Strategy {
    /// All of them, the exact one last.
    pub const ALL: [Strategy; 4] = [Strategy::Scev, Strategy::Da, Strategy::All, Strategy::Polyhedral];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Scev => "scev",
            Strategy::Da => "da",
            Strategy::All => "all",
            Strategy::Polyhedral => "polyhedral",
        }
    }

    /// The one of a name.
    ///
    /// # Errors
    /// A message, if there is none.
    pub fn named(name: &str) -> Result<Strategy, String> {
        let found = Strategy::ALL.into_iter().find(|own| own.name() == name);
        found.ok_or_else(|| {
            let known = Strategy::ALL.map(Strategy::name).join(", ");
            format!("'{name}' is none of {known}")
        })
    }

    /// What answers.
    pub(super) fn dependence(self) -> &'static dyn Dependence {
        match self {
            Strategy::Scev => &Confirmed(&[&Differences]),
            Strategy::Da => &Confirmed(&[&Directions]),
            Strategy::All => &Confirmed(&[&Differences, &Directions]),
            Strategy::Polyhedral => &Polyhedral,
        }
    }
}
