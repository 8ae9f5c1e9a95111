//! `cargo xtask faults`: seeds faults, one at a time, to see that a test finds each.
//!
//! A test is worth what it catches. Each fault is a small change of one expression: a direction
//! forgotten, a sign turned, an iteration lost. All of them are built into one copy of the project
//! under `target/faults`; the environment variable `LOOMIR_FAULT` says by its name which one is
//! there when a program runs. The tests of its file run with it, and one has to fail. A fault that
//! no test finds is a hole in the tests. `faults_are_where_they_are_said_to_be` keeps the list
//! true.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use list::{Fault, Place};

use crate::Failure;
use crate::process::{cargo, command, output, root};
use crate::record::{self, Heading};

mod list;

/// A test that runs longer does not end: it has found a fault.
const LONGEST: Duration = Duration::from_secs(300);

/// The argument that goes on with the last run over all faults.
const REST: &str = "rest";

/// `[TEXT…|rest]`: the faults with one of these in their names, or in those of their files; or those
/// that the last run over all faults has not found, because it missed them or was interrupted.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|text| text.starts_with('-')) {
        return Err("takes texts in the names of faults or of their files, or 'rest'".to_owned());
    }
    let (is_rest, is_all) = (arguments == [REST], arguments.is_empty());
    let mut found = if is_rest { earlier()? } else { BTreeSet::new() };
    let wanted: Vec<(&Place, &Fault)> = list::all()
        .flat_map(|place| place.faults.iter().map(move |own| (place, own)))
        .filter(|(place, Fault(name, ..))| {
            is_all
                || if is_rest {
                    !found.contains(*name)
                } else {
                    arguments.iter().any(|text| name.contains(&**text) || place.file.contains(&**text))
                }
        })
        .collect();
    let copy = root().join("target/faults/project");
    copy_project(&copy)?;
    let tests: BTreeSet<&str> = wanted.iter().flat_map(|(place, _)| place.tests).copied().collect();
    build(&copy, &tests)?;
    for test in &tests {
        if let Some(failed) = first_failure(&copy, test, None)? {
            return Err(format!("{test}: {failed} fails without any fault"));
        }
    }
    let mut missed = Vec::new();
    for (place, Fault(name, ..)) in wanted {
        match finder(&copy, place, name)? {
            Some(test) => {
                println!("found: {name}\n    by {test}");
                found.insert((*name).to_owned());
            }
            None => (_, _) = (missed.push(*name), println!("MISSED: {name}")),
        }
        if is_all || is_rest {
            keep_found(&found)?;
        }
    }
    if is_all || is_rest {
        keep_record(found.len(), missed.len())?;
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("not found: {}", missed.join("; "))) }
}

/// Returns the first test that finds a fault, if one does.
fn finder(copy: &Path, place: &Place, name: &str) -> Result<Option<String>, Failure> {
    for test in place.tests {
        if let Some(failed) = first_failure(copy, test, Some(name))? {
            return Ok(Some(format!("{test}: {failed}")));
        }
    }
    Ok(None)
}

/// The names of the faults that the last run over all of them has found, a line each.
fn found_file() -> PathBuf {
    root().join("target/faults/found.txt")
}

/// Returns the faults that were found, if they are still in the list.
fn earlier() -> Result<BTreeSet<String>, Failure> {
    let text = std::fs::read_to_string(found_file())
        .map_err(|error| format!("{}: {error}; `cargo xtask faults` tries all", found_file().display()))?;
    let known = |line: &&str| list::all().any(|place| place.faults.iter().any(|own| own.0 == *line));
    Ok(text.lines().filter(known).map(str::to_owned).collect())
}

fn keep_found(found: &BTreeSet<String>) -> Result<(), Failure> {
    let text: String = found.iter().map(|name| format!("{name}\n")).collect();
    std::fs::write(found_file(), text).map_err(|error| format!("{}: {error}", found_file().display()))
}

fn keep_record(found: usize, missed: usize) -> Result<(), Failure> {
    let heading = Heading {
        title: "Seeded faults".to_owned(),
        does: "one fault at a time is put in; a test has to find each",
        command: "cargo xtask faults".to_owned(),
    };
    let values = [("faults", found + missed), ("found", found), ("missed", missed)];
    record::keep("faults", &heading, &values.map(|(key, value)| (key.to_owned(), value.to_string())))
}

/// Copies what is under version control, with all faults in it.
fn copy_project(to: &Path) -> Result<(), Failure> {
    for name in output(command("git").args(["ls-files"]))?.lines() {
        let (from, to) = (root().join(name), to.join(name));
        let Ok(mut new) = std::fs::read(&from) else { continue };
        if let Some(place) = list::all().find(|place| place.file == name) {
            let text = String::from_utf8(new).map_err(|error| format!("{name}: {error}"))?;
            new = woven(&text, place)?.into_bytes();
        }
        // What did not change keeps its time, so that it is not built again.
        if std::fs::read(&to).ok().as_ref() != Some(&new) {
            let folder = to.parent().unwrap_or(&to);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&to, new))
                .map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

/// A part of a file, with what stands there if one of these faults is chosen.
struct Spot {
    start: usize,
    end: usize,
    instead: Vec<&'static Fault>,
}

/// The text of a file with its faults, each behind a question for its name.
fn woven(text: &str, place: &Place) -> Result<String, Failure> {
    let mut spots: Vec<Spot> = Vec::new();
    for fault in place.faults {
        let (start, end) =
            spot(text, fault).ok_or_else(|| format!("{}: not there once: {}", place.file, fault.0))?;
        match spots.iter_mut().find(|spot| (spot.start, spot.end) == (start, end)) {
            Some(spot) => spot.instead.push(fault),
            None => spots.push(Spot { start, end, instead: vec![fault] }),
        }
    }
    // A part comes before the parts in it.
    spots.sort_by_key(|spot| (spot.start, std::cmp::Reverse(spot.end)));
    Ok(part(text, 0..text.len(), &spots))
}

/// Recurses once a part within a part.
fn part(text: &str, range: std::ops::Range<usize>, spots: &[Spot]) -> String {
    let mut result = String::new();
    let (mut at, mut rest) = (range.start, spots);
    while let Some((spot, behind)) = rest.split_first() {
        let (inside, behind) = behind.split_at(behind.partition_point(|other| other.start < spot.end));
        result += &text[at..spot.start];
        let original = part(text, spot.start..spot.end, inside);
        let is_statement = original.ends_with(';');
        let choices = spot.instead.iter().map(|Fault(name, _, instead)| {
            format!(
                "if {{ static CHOSEN: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| \
                 std::env::var(\"LOOMIR_FAULT\").is_ok_and(|name| name == {name:?})); *CHOSEN }} \
                 {{ {instead} }} else "
            )
        });
        let choice = format!("{}{{ {original} }}", choices.collect::<String>());
        result += &if is_statement { choice } else { format!("({choice})") };
        (at, rest) = (spot.end, behind);
    }
    result + &text[at..range.end]
}

/// The part of a file that a fault replaces, if its text is there once.
fn spot(text: &str, Fault(_, pattern, _): &Fault) -> Option<(usize, usize)> {
    let (before, marked) = pattern.split_once('«').unwrap_or(("", pattern));
    let (marked, behind) = marked.split_once('»').unwrap_or((marked, ""));
    let pattern = format!("{before}{marked}{behind}");
    let start = text.find(&pattern).filter(|_| text.matches(&pattern).count() == 1)? + before.len();
    Some((start, start + marked.len()))
}

fn build(copy: &Path, tests: &BTreeSet<&str>) -> Result<(), Failure> {
    let mut command = cargo();
    prepare(&mut command, copy, tests);
    let status = command.arg("--no-run").status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("the copy with all faults in it does not build".to_owned()) }
}

/// Returns the first test that fails with a fault. The others are not waited for.
fn first_failure(copy: &Path, test: &str, fault: Option<&str>) -> Result<Option<String>, Failure> {
    let mut command = cargo();
    prepare(&mut command, copy, &BTreeSet::from([test]));
    if let Some((_, module)) = test.split_once("::") {
        command.args(["--", &format!("{module}::")]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null()).env("INSTA_UPDATE", "no");
    command.env("LOOMIR_FAULT", fault.unwrap_or_default());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let failed = failed_tests(child.stdout.take());
    match failed.recv_timeout(LONGEST) {
        Ok(name) => {
            end(&mut child);
            Ok(Some(name))
        }
        Err(RecvTimeoutError::Timeout) => {
            end(&mut child);
            Ok(Some("a test that does not end".to_owned()))
        }
        // The program has closed its output.
        Err(RecvTimeoutError::Disconnected) => {
            let status = child.wait().map_err(|error| error.to_string())?;
            Ok((!status.success()).then(|| format!("the program ends with {status}")))
        }
    }
}

/// The names of failed tests, as a program prints them.
fn failed_tests(output: Option<ChildStdout>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
        for line in lines.map_while(Result::ok) {
            let failed = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix("FAILED"));
            if let Some(name) = failed.and_then(|rest| rest.split_once(" ... ")) {
                // Nobody may be waiting any more.
                drop(sender.send(name.0.trim_end().to_owned()));
            }
        }
    });
    receiver
}

/// Ends a test run and what it has started.
fn end(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = command("kill").args(["-KILL", "--", &group]).status();
    let _ = child.kill();
    let _ = child.wait();
}

fn prepare(command: &mut Command, copy: &Path, tests: &BTreeSet<&str>) {
    use std::os::unix::process::CommandExt;
    command.current_dir(copy).env("CARGO_TARGET_DIR", root().join("target/faults/build")).process_group(0);
    command.args(["test", "-p", "loomir-tests", "-p", "loomir-check"]);
    let programs: BTreeSet<&str> =
        tests.iter().map(|test| test.split_once("::").map_or(*test, |(program, _)| program)).collect();
    command.args(programs.iter().flat_map(|program| ["--test", program]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_where_they_are_said_to_be() {
        let mut names = Vec::new();
        for place in list::all() {
            let text = std::fs::read_to_string(root().join(place.file)).unwrap_or_default();
            for fault in place.faults {
                assert!(spot(&text, fault).is_some(), "{} in {}", fault.0, place.file);
                assert!(!names.contains(&fault.0), "twice: {}", fault.0);
                names.push(fault.0);
            }
        }
    }

    #[test]
    fn faults_within_faults_are_chosen_by_name() {
        let faults: &'static [Fault] =
            &[Fault("all", "f(a + b)", "0"), Fault("sum", "f(«a + b»)", "a"), Fault("none", "f(a + b)", "1")];
        let text = woven("let x = f(a + b);", &Place { file: "", tests: &[], faults }).unwrap_or_default();
        let order = ["\"all\"", "{ 0 }", "\"none\"", "{ 1 }", "f((", "\"sum\"", "{ a }", "a + b }))"];
        let places: Vec<Option<usize>> = order.iter().map(|part| text.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    }
}
