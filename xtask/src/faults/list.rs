//! The faults, by the file that they are put into.

mod judge;
mod prover;
mod reading;
mod tiles;
mod written;

/// Holds the check of legality against running every instance.
const INSTANCES: &str = "all::legality";
/// Fuses, edits, judges and runs each fixture.
const FIXTURES: &str = "fixtures";
/// Holds fusion on graphs against fusion on the tree.
const REWIRING: &str = "all::rewiring";
/// Holds fusion on graphs against what was.
const GRAPHS: &str = "all::cfg_fusion";
/// Compares trees with what edits are said to make of them.
const TREES: &str = "all::tree";
/// Holds the judge of schedules against all instances.
const SCHEDULES: &str = "all::schedule";
/// Programs that a fusion of graphs falls for that does not look closely.
const TRAPS: &str = "all::fusion_traps";
/// Runs what is written of edited trees.
const WRITTEN: &str = "all::written";
/// Runs what transformations make of random programs.
const TRANSFORMATIONS: &str = "all::transformations";

/// Asks the checker about what pipelines make of kernels.
const KERNELS: &str = "all::kernels";
/// Asks the checker about random pairs.
const PAIRS: &str = "all::verdicts";
/// Proves pairs of functions by kind, right ones and wrong ones.
const PROOFS: &str = "all::proofs";
/// Proves nothing of programs that promise more than the original.
const PROMISES: &str = "all::promises";
/// Proves nothing of programs with one change that makes them wrong.
const CHANGED: &str = "all::faults";
/// Runs what is proved equal of random programs.
const RANDOM: &str = "all::random";
/// Proves pairs of graphs in step, right ones and wrong ones.
const STEPS: &str = "all::simulation";
/// Proves pairs that need numbers, right ones and wrong ones.
const NUMBERS: &str = "all::runtime";
/// Runs promoted programs with memory that faults.
const PROMOTION: &str = "all::promotion";
/// Contracts random programs, and runs them.
const CONTRACTION: &str = "all::contraction";

/// Faults of one file.
pub(super) struct Place {
    pub(super) file: &'static str,
    /// The tests that should find them, each a program or a module of one. One of them has to.
    pub(super) tests: &'static [&'static str],
    pub(super) faults: &'static [Fault],
}

/// A fault: its name, a text that is in the file once, and what stands there instead. If a part of
/// the text is between `«` and `»`, only that part is replaced. It is an expression, or a statement
/// with its semicolon.
pub(super) struct Fault(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

/// All faults.
pub(super) fn all() -> impl Iterator<Item = &'static Place> {
    judge::FAULTS
        .iter()
        .chain(written::FAULTS)
        .chain(reading::FAULTS)
        .chain(prover::FAULTS)
        .chain(tiles::FAULTS)
}
