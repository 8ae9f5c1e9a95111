//! `cargo xtask bench`: the benchmarks of `benches/`.

use crate::Failure;
use crate::process::{cargo, execute};

/// Arguments go to `cargo bench`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    execute(cargo().args(["bench", "--package", "loomir-benches"]).args(arguments))
}
