//! `cargo xtask release [REVISION]`: everything before a release, and not the release itself.
//!
//! 1. `cargo package` packs the published crates and builds each from what was packed.
//! 2. The public surface is compared with that of a revision, the last tag by default: by
//!    `cargo-semver-checks` if it is installed, and otherwise by the list that tidy keeps.
//! 3. The Python wheel is built and tested.
//! 4. The book is rendered.
//!
//! A step that fails does not stop the others. It is not part of the test run.

use crate::process::{cargo, command, execute, output};
use crate::setup::{self, target};
use crate::{Failure, test, wheel};

/// The crates that users get, each after those it uses.
const PUBLISHED: [&str; 8] = [
    "loomir-ir",
    "loomir-polyhedra",
    "loomir-dialects",
    "loomir-check",
    "loomir-transforms",
    "loomir-lowering",
    "loomir",
    "loomir-testing",
];

/// The list of the public surface.
const SURFACE: &str = "xtask/tests/tidy/surface.txt";

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let revision = match arguments {
        [] => output(command("git").args(["describe", "--tags", "--abbrev=0"])).ok(),
        [revision] => Some(revision.clone()),
        _ => return Err("expected at most one revision to compare with".into()),
    };
    let steps = [
        ("package", package()),
        ("surface", surface(revision.as_deref())),
        ("wheel", wheel::run(&[])),
        ("book", book()),
    ];
    println!();
    let mut failed = Vec::new();
    for (name, outcome) in steps {
        match outcome {
            Ok(()) => println!("{name:<10}passed"),
            Err(failure) => {
                println!("{name:<10}FAILED\n{:10}{failure}", "");
                failed.push(name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("did not pass: {}", failed.join(", "))) }
}

/// Renders the book. The test run goes on without mdBook, a release does not.
fn book() -> Result<(), Failure> {
    test::render(&setup::mdbook().map_err(|failure| format!("not rendered: {failure}"))?)
}

/// Packs the published crates. Cargo refuses files that are not committed.
fn package() -> Result<(), Failure> {
    let packages = PUBLISHED.iter().flat_map(|name| ["--package", name]);
    execute(
        cargo()
            .args(["package", "--locked"])
            .args(packages)
            .arg("--target-dir")
            .arg(target().join("release-check")),
    )
}

/// Compares the public surface with that of a revision.
fn surface(revision: Option<&str>) -> Result<(), Failure> {
    let Some(revision) = revision else {
        println!("no tag to compare the public surface with: name a revision");
        return Ok(());
    };
    if output(cargo().args(["semver-checks", "--version"])).is_ok() {
        let packages = PUBLISHED.iter().flat_map(|name| ["--package", name]);
        return execute(cargo().args(["semver-checks", "--baseline-rev", revision]).args(packages));
    }
    println!(
        "no cargo-semver-checks: `cargo install cargo-semver-checks` adds it. The list of items tells less"
    );
    let changes = output(command("git").args(["diff", "--unified=0", revision, "--", SURFACE]))?;
    let lines = |sign: char| {
        let header = sign.to_string().repeat(3);
        changes.lines().filter(|line| line.starts_with(sign) && !line.starts_with(&header)).count()
    };
    let (removed, added) = (lines('-'), lines('+'));
    println!("since {revision}: {removed} lines of the public surface are gone or changed, {added} are new");
    match removed {
        0 => Ok(()),
        _ => Err(format!(
            "the next version must be one that may break users; see `git diff {revision} -- {SURFACE}`"
        )),
    }
}
