//! `cargo xtask bless`: run the tests and accept what they now show.
//!
//! insta's snapshots and the book's console blocks are rewritten in place; git then shows what
//! changed, which is the review. Whatever else is wrong still fails.

use crate::Failure;
use crate::process::{cargo, command, execute};

/// Arguments go to `cargo test`, to bless part of the tests.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut test = cargo();
    test.args(["test", "--no-fail-fast", "--workspace"]).args(arguments);
    // `always` writes over snapshots, `FORCE_PASS` lets a test go on to its next one.
    test.envs([("INSTA_UPDATE", "always"), ("INSTA_FORCE_PASS", "1"), ("LOOMIR_BLESS", "1")]);
    let result = execute(&mut test);
    execute(command("git").args(["status", "--short", "--", "*.snap", "*.rs", "book"]))?;
    result
}
