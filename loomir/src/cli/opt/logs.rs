//! Output of `opt` besides the program and its diagnostics: dumps, times, counts, and what there is
//! to choose from.

use std::fmt::Write;
use std::time::Duration;

use crate::ir::pass::{PassManager, Record};
use clap::{Arg, ArgMatches};

use super::{Tools, choice, flag, is_on, string};

pub(super) fn args() -> [Arg; 7] {
    [
        flag("mlir-timing", "Print how long everything took, on standard error").alias("timing"),
        choice("mlir-timing-display", &["list", "tree"], "tree", "How to print times"),
        flag("mlir-pass-statistics", "Print the counts of each pass, on standard error").alias("stats"),
        choice("mlir-pass-statistics-display", &["list", "pipeline"], "pipeline", "How to print counts"),
        flag("dump-pass-pipeline", "Print the pipeline that is run, on standard error"),
        flag("list-passes", "Print all passes with their options, and nothing else"),
        flag("show-dialects", "Print the names of all dialects, and nothing else"),
    ]
}

/// Returns the list of choices, if only that is asked for.
pub(super) fn lists(tools: &Tools, matches: &ArgMatches) -> Option<String> {
    if is_on(matches, "show-dialects") {
        let ctx = &tools.ctx;
        let mut names: Vec<&str> = ctx.dialects().iter().map(|dialect| &*dialect.name).collect();
        names.sort_unstable();
        names.dedup();
        return Some(format!("Available Dialects: {}\n", names.join(",")));
    }
    is_on(matches, "list-passes").then(|| {
        let mut text = String::from("Passes:\n");
        for info in tools.passes.infos() {
            let anchor = info.anchor.unwrap_or("any operation");
            let _ = writeln!(text, "  --{:<36} on {anchor}: {}", info.name, info.summary);
            for (name, default, meaning) in info.options {
                let _ = writeln!(text, "      {:<34} {meaning}", format!("{name}={default}"));
            }
        }
        text
    })
}

/// The pipeline, a pass a line.
pub(super) fn pipeline(manager: &PassManager) -> String {
    format!("{manager:#}\n")
}

/// Dumps as `mlir-opt` prints them.
pub(super) fn dumps(dumps: &[(String, String)]) -> String {
    dumps.iter().map(|(title, text)| format!("// -----// {title} //----- //\n{text}\n")).collect()
}

/// The counts of all passes, if they are asked for.
pub(super) fn statistics(matches: &ArgMatches, records: &[Record]) -> String {
    if !is_on(matches, "mlir-pass-statistics") {
        return String::new();
    }
    let mut text = title("Pass statistics report");
    let counts = |record: &Record, depth: usize| {
        let counts = record.statistics.iter();
        counts
            .map(|(name, count)| format!("{:1$}(S) {count:>6} {name}\n", "", 2 * depth + 2))
            .collect::<String>()
    };
    if string(matches, "mlir-pass-statistics-display") == Some("list") {
        for record in merged(records).iter().filter(|record| !record.statistics.is_empty()) {
            let _ = write!(text, "{}\n{}", record.name, counts(record, 0));
        }
    } else {
        for (depth, record) in preorder(records).filter(|(_, record)| is_counted(record)) {
            let _ = write!(text, "{:2$}{}\n{3}", "", record.name, 2 * depth, counts(record, depth));
        }
    }
    text
}

/// True if there are counts of a pass, or in a pipeline.
fn is_counted(record: &Record) -> bool {
    preorder(std::slice::from_ref(record)).any(|(_, record)| !record.statistics.is_empty())
}

/// The times of everything, if they are asked for: of all that took `total`.
pub(super) fn timing(matches: &ArgMatches, records: &[Record], total: Duration) -> String {
    if !is_on(matches, "mlir-timing") {
        return String::new();
    }
    let measured: Duration = records.iter().map(|record| record.wall).sum();
    let in_threads: Duration = records.iter().map(|record| record.user).sum();
    let rest = total.saturating_sub(measured);
    let total = Record { user: in_threads + rest, ..Record::new("Total", total) };
    let mut text = title("Execution time report");
    let _ = writeln!(text, "  Total Execution Time: {:.4} seconds\n", total.wall.as_secs_f64());
    text += "  ----User Time----  ----Wall Time----  ----Name----\n";
    let mut line = |depth: usize, record: &Record| {
        for (time, of) in [(record.user, total.user), (record.wall, total.wall)] {
            let (time, of) = (time.as_secs_f64(), of.as_secs_f64());
            let _ = write!(text, "  {time:8.4} ({:5.1}%)", 100.0 * time / of.max(f64::MIN_POSITIVE));
        }
        let _ = writeln!(text, "  {:2$}{}", "", record.name, 2 * depth);
    };
    if string(matches, "mlir-timing-display") == Some("list") {
        let mut all = merged(records);
        all.sort_by_key(|record| std::cmp::Reverse(record.wall));
        all.iter().for_each(|record| line(0, record));
    } else {
        preorder(records).for_each(|(depth, record)| line(depth, record));
    }
    line(0, &Record::new("Rest", rest));
    line(0, &total);
    text
}

fn title(title: &str) -> String {
    let rule = format!("==={:-<73}===\n", "");
    let centred = format!("{:^79}", format!("... {title} ..."));
    format!("{rule}{}\n{rule}", centred.trim_end())
}

/// Records with their depths, one in front of its elements. Pipelines are nested a few levels deep
/// at most.
fn preorder(records: &[Record]) -> impl Iterator<Item = (usize, &Record)> {
    let mut pending: Vec<(usize, &Record)> = records.iter().rev().map(|record| (0, record)).collect();
    std::iter::from_fn(move || {
        let (depth, record) = pending.pop()?;
        pending.extend(record.children.iter().rev().map(|child| (depth + 1, child)));
        Some((depth, record))
    })
}

/// One record for each name, in order of first appearance, without elements.
fn merged(records: &[Record]) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    for (_, record) in preorder(records) {
        match all.iter_mut().find(|other| other.name == record.name) {
            Some(other) => other.add(record),
            None => all.push(Record { children: Vec::new(), ..record.clone() }),
        }
    }
    all
}
