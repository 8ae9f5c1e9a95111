//! `cargo xtask bench`: the benchmarks of `benches/`.
//!
//! Without arguments, all of them; their reports are kept. So are those of reports that are named.
//! `cargo xtask bench code` measures the programs that come out, beside those of other compilers:
//! `benches/native/code.py` has the options. It goes on where it was ended. `cargo xtask bench
//! order` measures random variants of these programs, and compares their order with that of their
//! estimates.

use crate::Failure;
use crate::process::{cargo, command, execute, output};
use crate::record::{self, Heading};

/// A benchmark whose report is kept.
struct Report {
    name: &'static str,
    title: &'static str,
    does: &'static str,
}

const REPORTS: [Report; 5] = [
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
        name: "page",
        title: "Pages of large programs",
        does: "Functions of four loops that stay apart, shown by `loomir view` and opened in headless Chromium",
    },
    Report {
        name: "variants",
        title: "Variants of a program in the loop tree",
        does: "A function of a thousand loops; each variant is made of the one before by two neighbours changing places",
    },
];

/// Arguments that are not names of reports go to `cargo bench`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    execute(cargo().args(["build", "--profile", "dist", "--package", "loomir"]))?;
    if let [first, options @ ..] = arguments
        && first == "code"
    {
        let script = ["benches/native/code.py", "target/dist/loomir", "target/bench-code"];
        return execute(command("python3").args(script).args(options));
    }
    if let [first, options @ ..] = arguments
        && first == "order"
    {
        let example = ["--package", "loomir-tests", "--example", "legal_variants"];
        execute(cargo().args(["build", "--profile", "dist"]).args(example))?;
        let tools = ["target/dist/loomir", "target/dist/examples/legal_variants"];
        let script = ["benches/native/order.py", tools[0], tools[1], "target/bench-order"];
        return execute(command("python3").args(script).args(options));
    }
    let is_report = |argument: &String| REPORTS.iter().any(|report| report.name == argument);
    if !arguments.iter().all(is_report) {
        return execute(bench().args(arguments));
    }
    let is_wanted =
        |report: &&Report| arguments.is_empty() || arguments.iter().any(|name| name == report.name);
    for report in REPORTS.iter().filter(is_wanted) {
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
    command.args(["bench", "--profile", "dist", "--package", "loomir-benches"]);
    command
}
