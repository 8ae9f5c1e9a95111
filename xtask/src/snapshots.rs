//! Snapshots that no test compares with: `cargo insta test --unreferenced=reject`, in the same run
//! as the tests.
//!
//! The crate `insta` writes the name of each snapshot that it reads to a file. All others are left
//! over from tests that are gone.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use crate::Failure;
use crate::process::{command, output, root};
use crate::setup::target;

/// The file that tests add the names of snapshots to.
fn list() -> PathBuf {
    target().join("snapshots.txt")
}

/// Lets a command that runs tests list the snapshots that they read.
pub(crate) fn listing(mut cargo: Command) -> Command {
    // If the list of an earlier run cannot be removed, fewer snapshots are found.
    drop(std::fs::remove_file(list()));
    cargo.env("INSTA_SNAPSHOT_REFERENCES_FILE", list());
    cargo
}

/// Checks that the tests of a whole run read every snapshot in the repository.
///
/// # Errors
/// The snapshots that are left over.
pub(crate) fn check() -> Result<(), Failure> {
    let listed = std::fs::read_to_string(list()).unwrap_or_default();
    let read: BTreeSet<PathBuf> =
        listed.lines().filter_map(|name| std::fs::canonicalize(root().join(name)).ok()).collect();
    let all = output(command("git").args(["ls-files", "--cached", "--", "*.snap"]))?;
    let is_left = |name: &&str| {
        // One that was removed and is still known to git does no harm.
        std::fs::canonicalize(root().join(name)).is_ok_and(|path| !read.contains(&path))
    };
    let left: Vec<&str> = all.lines().filter(is_left).collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(format!("no test reads these snapshots, so remove them:\n  {}", left.join("\n  "))),
    }
}
