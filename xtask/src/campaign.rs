//! `cargo xtask campaign`: long random runs, and the record of what they found.
//!
//! A campaign is an example program of some crate. The contract: it takes `--cases N --seed S`, shows progress on
//! stderr, prints its counts on stdout as lines `key=value`, and exits non-zero if any case went wrong. Everything
//! it prints follows from N and S, so a record can be made again from its own first lines.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Instant;

use crate::Failure;
use crate::process::{cargo, command, output, root};

/// One campaign.
struct Campaign {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    /// Cases of a full run.
    cases: u64,
    does: &'static str,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "polyhedra",
        package: "loomir-polyhedra",
        example: "campaign",
        cases: 1_000_000,
        does: "random integer sets against enumeration",
    },
    Campaign {
        name: "fusion",
        package: "loomir-testing",
        example: "fusion",
        cases: 20_000,
        does: "random programs of neighbouring loop nests, run before and after fusion",
    },
];

/// `NAME [--cases N] [--seed S]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let usage = || {
        let list = CAMPAIGNS.iter().map(|campaign| format!("\n  {:<12}{}", campaign.name, campaign.does));
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
    let counts = start_child(campaign, cases, seed, true)?;
    record(campaign, cases, seed, &counts, start.elapsed().as_secs())
}

/// One percent of each campaign, in the tests' own profile and without a record.
pub(crate) fn run_samples() -> Result<(), Failure> {
    for campaign in CAMPAIGNS {
        let counts = start_child(campaign, campaign.cases.div_ceil(100), 1, false)?;
        let counts: Vec<String> = counts.iter().map(|(key, value)| format!("{key}={value}")).collect();
        println!("{}: {}", campaign.name, counts.join(" "));
    }
    Ok(())
}

/// Runs a campaign's program and returns its counts in the order printed.
fn start_child(
    campaign: &Campaign,
    cases: u64,
    seed: u64,
    release: bool,
) -> Result<Vec<(String, String)>, Failure> {
    println!("{}: {cases} cases, seed {seed}: {}", campaign.name, campaign.does);
    let mut child = cargo();
    child.args(["run", "--quiet", "--package", campaign.package, "--example", campaign.example]);
    if release {
        child.arg("--release");
    }
    child.args(["--", "--cases", &cases.to_string(), "--seed", &seed.to_string()]);
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

/// Writes `benches/results/NAME-CASES-SEED.md`; running the same campaign again replaces it.
fn record(
    campaign: &Campaign,
    cases: u64,
    seed: u64,
    counts: &[(String, String)],
    seconds: u64,
) -> Result<(), Failure> {
    let name = campaign.name;
    let commit =
        output(command("git").args(["rev-parse", "--short=12", "HEAD"])).unwrap_or_else(|_| "unknown".into());
    let is_clean =
        output(command("git").args(["status", "--porcelain"])).is_ok_and(|changes| changes.is_empty());
    let state = if is_clean { "" } else { " with changes" };
    let mut text = format!("# Campaign {name}\n{}.\n\n", campaign.does);
    let _ = writeln!(text, "Made by `cargo xtask campaign {name} --cases {cases} --seed {seed}`.\n");
    let _ = writeln!(
        text,
        "| what | value |\n| --- | --- |\n| commit | {commit}{state} |\n| seconds | {seconds} |"
    );
    for (key, value) in counts {
        let _ = writeln!(text, "| {key} | {value} |");
        println!("{key}={value}");
    }
    let folder = root().join("benches/results");
    let file = folder.join(format!("{name}-{cases}-{seed}.md"));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    println!("kept in benches/results/{name}-{cases}-{seed}.md");
    Ok(())
}
