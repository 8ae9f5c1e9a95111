//! `--limit`: a bound on the edits of all passes, to find the one that goes wrong.

use crate::ir::Diagnostic;
use crate::ir::pass::EditLimit;
use clap::{Arg, ArgMatches, value_parser};

/// The argument that bounds edits.
pub(super) fn arg() -> Arg {
    Arg::new("limit").long("limit").value_name("N").value_parser(value_parser!(u64)).help(
        "Make at most N edits, such as fusions, and say which was the last; passes that count none run as ever",
    )
}

/// Returns the bound that the arguments say.
pub(super) fn of(matches: &ArgMatches) -> EditLimit {
    matches.get_one::<u64>("limit").map_or(EditLimit::default(), |most| EditLimit::at_most(*most))
}

/// Says which edit was the last one, if edits are bounded.
pub(super) fn said(limit: &EditLimit) -> Option<Diagnostic> {
    if !limit.is_set() {
        return None;
    }
    let made = limit.so_far();
    let state = if limit.allows_more() { "all edits were made" } else { "the limit was reached" };
    let (count, s) = (made.count, if made.count == 1 { "" } else { "s" });
    Some(match made.last {
        Some((pass, loc)) => Diagnostic::remark(loc, format!("edit {count} is the last, by {pass}: {state}")),
        None => Diagnostic::remark(crate::ir::Loc::UNKNOWN, format!("{count} edit{s} made: {state}")),
    })
}
