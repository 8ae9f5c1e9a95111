//! `cargo xtask bench`: the benchmarks of `benches/`.
//!
//! Without arguments, all of them; their reports are kept.

use crate::Failure;
use crate::process::{cargo, execute, output};
use crate::record::{self, Heading};

/// A benchmark whose report is kept.
struct Report {
    name: &'static str,
    title: &'static str,
    does: &'static str,
}

const REPORTS: [Report; 4] = [
    Report {
        name: "text",
        title: "Reading, verifying, printing, copying and rewriting text",
        does: "Programs of 100,000 and 200,000 operations, beside `mlir-opt` 22 in the same run",
    },
    Report {
        name: "fusion",
        title: "Fusing many loops",
        does: "Programs of up to 3,000 loops, the whole command, beside `mlir-opt` 22 in the same run",
    },
    Report {
        name: "graph_fusion",
        title: "Fusing many loops as control flow graphs",
        does: "Functions of up to 3,000 loops, the whole command, beside `opt` 22 in the same run",
    },
    Report {
        name: "variants",
        title: "Variants of a program in the loop tree",
        does: "A function of a thousand loops; each variant is made of the one before by two neighbours changing places",
    },
];

/// Arguments go to `cargo bench`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    execute(cargo().args(["build", "--release", "--package", "loomir"]))?;
    if !arguments.is_empty() {
        return execute(bench().args(arguments));
    }
    for report in REPORTS {
        let text = output(bench().args(["--bench", report.name]))?;
        println!("{text}");
        let heading =
            Heading { title: report.title.into(), does: report.does, command: "cargo xtask bench".into() };
        let text = format!("Commit {}.\n\n{text}\n", record::commit());
        record::keep_report(report.name, &heading, &text)?;
    }
    Ok(())
}

fn bench() -> std::process::Command {
    let mut command = cargo();
    command.args(["bench", "--package", "loomir-benches"]);
    command
}
