//! Records of long runs, kept in `benches/results/`: what was run, on which commit, and what came
//! of it.

use std::fmt::Write as _;

use crate::Failure;
use crate::process::{command, output, root};

/// The text of a record above its table.
pub(crate) struct Heading<'a> {
    /// `Campaign fusion`.
    pub(crate) title: String,
    /// The work that was done, as half a sentence.
    pub(crate) does: &'a str,
    /// The command that does it again.
    pub(crate) command: String,
}

/// Prints the values and keeps them as a table with the commit; see [`keep_report`].
pub(crate) fn keep(name: &str, heading: &Heading<'_>, values: &[(String, String)]) -> Result<(), Failure> {
    let mut table = String::from("| what | value |\n| --- | --- |\n");
    let _ = writeln!(table, "| commit | {} |", commit());
    for (key, value) in values {
        let _ = writeln!(table, "| {key} | {value} |");
        println!("{key}={value}");
    }
    keep_report(name, heading, &table)
}

/// Writes a report to `benches/results/NAME.md`; a record of the same name is replaced.
pub(crate) fn keep_report(name: &str, heading: &Heading<'_>, report: &str) -> Result<(), Failure> {
    let text =
        format!("# {}\n{}.\n\nMade by `{}`.\n\n{report}", heading.title, heading.does, heading.command);
    let folder = root().join("benches/results");
    let file = folder.join(format!("{name}.md"));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    println!("kept in benches/results/{name}.md");
    Ok(())
}

/// The commit that is checked out, and whether anything differs from it.
pub(crate) fn commit() -> String {
    let commit =
        output(command("git").args(["rev-parse", "--short=12", "HEAD"])).unwrap_or_else(|_| "unknown".into());
    let is_clean =
        output(command("git").args(["status", "--porcelain"])).is_ok_and(|changes| changes.is_empty());
    commit + if is_clean { "" } else { " with changes" }
}
