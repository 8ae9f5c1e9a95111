//! `cargo xtask bench`: the benchmarks of `benches/`.
//!
//! Without arguments, all of them; the report of `text`, which measures the whole command too and says which targets are met, is kept.

use crate::Failure;
use crate::process::{cargo, execute, output};
use crate::record::{self, Heading};

/// Arguments go to `cargo bench`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    execute(cargo().args(["build", "--release", "--package", "loomir"]))?;
    if !arguments.is_empty() {
        return execute(bench().args(arguments));
    }
    let report = output(bench().args(["--bench", "text"]))?;
    println!("{report}");
    let heading = Heading {
        title: "Reading, verifying, printing, copying and rewriting text".into(),
        does: "Programs of 100,000 and 200,000 operations, beside `mlir-opt` 22 in the same run",
        command: "cargo xtask bench".into(),
    };
    record::keep_report("text", &heading, &format!("Commit {}.\n\n{report}\n", record::commit()))?;
    execute(bench().args(["--bench", "stages"]))
}

fn bench() -> std::process::Command {
    let mut command = cargo();
    command.args(["bench", "--package", "loomir-benches"]);
    command
}
