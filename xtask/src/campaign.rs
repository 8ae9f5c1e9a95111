//! `cargo xtask campaign`: long random runs, and the record of what they found.
//!
//! Campaigns are one example program, `campaigns`, that takes a name and `--cases N --seed S`. Each
//! shows progress on stderr, prints its counts on stdout as lines `key=value`, and exits non-zero
//! if any case went wrong. Everything it prints follows from N and S, so a record can be made again
//! from its own first lines.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::Failure;
use crate::process::command;
use crate::record::{self, Heading};
use crate::setup::{self, Tools, cargo_with, target, with_tools};

/// One campaign.
struct Campaign {
    name: &'static str,
    /// Cases of a full run.
    cases: u64,
    does: &'static str,
}

/// The campaign on integer sets. Its program is in their crate, which needs no other.
const POLYHEDRA: &str = "polyhedra";

const CAMPAIGNS: &[Campaign] = &[
    Campaign { name: POLYHEDRA, cases: 1_000_000, does: "random integer sets against enumeration" },
    Campaign {
        name: "fusion",
        cases: 20_000,
        does: "random programs of neighbouring loop nests, run before and after fusion",
    },
    Campaign {
        name: "rewiring",
        cases: 20_000,
        does: "loops of random programs fused on the tree and on the graph, and what comes of both compared",
    },
    Campaign {
        name: "graphs",
        cases: 10_000,
        does: "loops, cycles, dominators and post-dominators of random control flow graphs, beside what opt prints",
    },
    Campaign {
        name: "ll",
        cases: 5_000,
        does: "random programs in LLVM IR without undefined behaviour, run by the interpreter and by lli",
    },
    Campaign {
        name: "hazards",
        cases: 20_000,
        does: "neighbouring loops with what some operands make undefined, run before and after ten pipelines",
    },
    Campaign {
        name: "unrolling",
        cases: 50_000,
        does: "loops of graphs, counted and random, run before and after unrolling, peeling and jamming",
    },
    Campaign {
        name: "flattening",
        cases: 20_000,
        does: "nests of two loops of graphs run before and after flattening",
    },
    Campaign {
        name: "raising",
        cases: 20_000,
        does: "graphs of blocks run as regions, after clean-up, and as blocks again",
    },
    Campaign {
        name: "transformations",
        cases: 5_000,
        does: "random programs run before and after each registered transformation",
    },
    Campaign {
        name: "compositions",
        cases: 20_000,
        does: "random programs before and after up to five edits, by schedules and as one edited tree",
    },
    Campaign {
        name: "everyday",
        cases: 20_000,
        does: "random programs run before and after each pass that simplifies, and random pipelines of five",
    },
    Campaign {
        name: "parallel",
        cases: 20_000,
        does: "random programs with loops made parallel, vectors and both; iterations in order and interleaved",
    },
    Campaign {
        name: "promotion",
        cases: 10_000,
        does: "random functions before and after promotion to registers, as machine code with memory that faults",
    },
    Campaign {
        name: "check",
        cases: 20_000,
        does: "pairs of random programs, half of them made wrong, and what the checker says of them",
    },
    Campaign {
        name: "native",
        cases: 20_000,
        does: "neighbouring loops with what compilers seldom see, run as machine code before and after fusion",
    },
    Campaign {
        name: "exponentials",
        cases: 2_048,
        does: "exponential functions as arithmetic beside the C library, for every number of 32 bits",
    },
    Campaign {
        name: "c-functions",
        cases: 20_000,
        does: "random C functions behind pointers, compiled by clang before and after fusion, called with memory that overlaps in many ways",
    },
    Campaign {
        name: "loop-fusion",
        cases: 20_000,
        does: "random functions of neighbouring loops in LLVM IR, run before and after fusion, and beside what opt fuses",
    },
];

/// `NAME [--cases N] [--seed S]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let usage = || {
        let list = CAMPAIGNS.iter().map(|campaign| format!("\n  {:<17}{}", campaign.name, campaign.does));
        format!("NAME [--cases N] [--seed S], where NAME is one of{}", list.collect::<String>())
    };
    let (name, options) = arguments.split_first().ok_or_else(usage)?;
    let campaign = CAMPAIGNS.iter().find(|campaign| campaign.name == name).ok_or_else(usage)?;
    let (mut cases, mut seed) = (campaign.cases, 1);
    for option in options.chunks(2) {
        let [key, value] = option else { return Err(usage()) };
        let value = value.parse().map_err(|_| usage())?;
        match key.as_str() {
            "--cases" => cases = value,
            "--seed" => seed = value,
            _ => return Err(usage()),
        }
    }
    let start = Instant::now();
    let mut values = start_child(&setup::run()?, campaign, cases, seed, true)?;
    values.insert(0, ("seconds".into(), start.elapsed().as_secs().to_string()));
    let heading = Heading {
        title: format!("Campaign {name}"),
        does: campaign.does,
        command: format!("cargo xtask campaign {name} --cases {cases} --seed {seed}"),
    };
    record::keep(&format!("{name}-{cases}-{seed}"), &heading, &values)
}

/// A quarter of a percent of each campaign, without a record. The programs were built in the tests'
/// own profile. As many run at once as there are processors.
pub(crate) fn run_samples(tools: &Tools) -> Result<(), Failure> {
    let sample = |campaign: &Campaign| {
        // The checker's campaign has a limit on undecided pairs. A small sample may exceed it.
        let share = if campaign.name == "check" { 200 } else { 400 };
        let counts = start_child(tools, campaign, campaign.cases.div_ceil(share), 1, false)?;
        let counts: Vec<String> = counts.iter().map(|(key, value)| format!("{key}={value}")).collect();
        println!("{}: {}", campaign.name, counts.join(" "));
        Ok(())
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let campaigns = std::iter::from_fn(|| CAMPAIGNS.get(next.fetch_add(1, Ordering::Relaxed)));
        campaigns.filter_map(|campaign| sample(campaign).err()).collect::<Vec<Failure>>()
    };
    let failures: Vec<Failure> = std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| worker.join());
        ends.flat_map(|end| end.unwrap_or_else(|cause| std::panic::resume_unwind(cause))).collect()
    });
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Runs a campaign's program and returns its counts in the order printed.
fn start_child(
    tools: &Tools,
    campaign: &Campaign,
    cases: u64,
    seed: u64,
    release: bool,
) -> Result<Vec<(String, String)>, Failure> {
    let (package, example) = match campaign.name {
        POLYHEDRA => ("loomir-polyhedra", "campaign"),
        _ => ("loomir-tests", "campaigns"),
    };
    println!("{}: {cases} cases, seed {seed}: {}", campaign.name, campaign.does);
    let mut child = match release {
        true => {
            let mut cargo = cargo_with(tools);
            cargo.args(["run", "--quiet", "--release", "--package", package]);
            cargo.args(["--example", example, "--"]);
            cargo
        }
        false => with_tools(command(target().join("debug/examples").join(example)), tools),
    };
    if campaign.name != POLYHEDRA {
        child.arg(campaign.name);
    }
    child.args(["--cases", &cases.to_string(), "--seed", &seed.to_string()]);
    let finished = child.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&finished.stdout);
    if !finished.status.success() {
        return Err(format!("campaign {} failed ({}):\n{text}", campaign.name, finished.status));
    }
    let count =
        |line: &str| line.split_once('=').map(|(key, value)| (key.trim().into(), value.trim().into()));
    let counts: Vec<(String, String)> = text.lines().filter_map(count).collect();
    if counts.is_empty() { Err(format!("campaign {} printed no counts", campaign.name)) } else { Ok(counts) }
}
