//! The decision to peel or unroll a loop, the same for the loop tree and for graphs of blocks.
//!
//! | module | holds |
//! | --- | --- |
//! | [`preferences`] | limits, and what is allowed; LLVM's names and defaults |
//! | [`annotation`] | directives at loops of the tree |
//! | [`jam`] | the decision about unroll-and-jam |
//! | [`decision`] | the decision: its order of steps, and their record |
//! | [`explanation`] | the remark that lists the steps |
//!
//! Whoever asks gives [`Facts`] about a loop and answers a few [`Questions`]. The answer is a
//! [`Decision`] that says what to do; it doesn't say that this is legal. Peeling and unrolling keep
//! the order of iterations, so they are legal wherever operations may be copied.
//!
//! The order of steps, the limits and the names of remarks follow LLVM's `LoopUnrollPass` and
//! `LoopPeel`.

pub mod annotation;
pub mod decision;
pub mod explanation;
pub mod jam;
pub mod preferences;

pub use decision::{Action, Cost, Decision, Directives, Facts, Questions, Step, decide};
pub use jam::{JAM_OPTIONS, JamDirectives, JamFacts, JamPreferences, decide_jam};
pub use preferences::Preferences;
