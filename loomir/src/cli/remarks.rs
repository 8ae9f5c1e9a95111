//! Remarks: what the passes did, or did not do, as text for people, as JSON for programs, or not at all.
//!
//! As JSON each remark is one line, an object with the keys `severity`, `message`, `file`, `line`, `column`, `notes` (each with `message` and its own
//! place) and `help`. What is not known is `null`. Errors and warnings are text in any case.

use clap::{Arg, ArgMatches};
use loomir::ir::{Context, Diagnostic, Diagnostics, Loc, Severity};
use serde_json::{Map, Value};

use super::input::Input;
use super::render::render;

/// The argument that says how remarks are shown.
pub(super) fn arg() -> Arg {
    Arg::new("remarks")
        .long("remarks")
        .value_name("FORM")
        .default_value("text")
        .value_parser(["text", "json", "none"])
        .help("How to show remarks: as text, one JSON object a line, or not at all")
}

/// Whether remarks are wanted as JSON.
pub(super) fn as_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("remarks").is_some_and(|form| form == "json")
}

/// Diagnostics with the remarks among them as they are wanted.
pub(super) fn show(matches: &ArgMatches, ctx: &Context, diagnostics: Diagnostics, input: &Input) -> String {
    let form = matches.get_one::<String>("remarks").map_or("text", String::as_str);
    if form == "text" {
        return render(ctx, &diagnostics, input);
    }
    let (mut lines, mut others) = (String::new(), Diagnostics::new());
    for diagnostic in diagnostics {
        match diagnostic.severity {
            Severity::Remark if form == "none" => {}
            Severity::Remark => lines.push_str(&(json(ctx, &diagnostic).to_string() + "\n")),
            _ => others.push(diagnostic),
        }
    }
    lines + &render(ctx, &others, input)
}

fn json(ctx: &Context, diagnostic: &Diagnostic) -> Value {
    let mut object = Map::new();
    object.insert("severity".to_owned(), diagnostic.severity.name().into());
    said(ctx, &mut object, &diagnostic.message, diagnostic.loc);
    let notes = diagnostic.notes.iter().map(|(loc, message)| {
        let mut note = Map::new();
        said(ctx, &mut note, message, *loc);
        Value::Object(note)
    });
    object.insert("notes".to_owned(), notes.collect());
    object.insert("help".to_owned(), diagnostic.help.clone().into());
    Value::Object(object)
}

fn said(ctx: &Context, object: &mut Map<String, Value>, message: &str, loc: Loc) {
    let place = loc.file_line_col(ctx);
    object.insert("message".to_owned(), message.into());
    object.insert("file".to_owned(), place.map(|(file, _, _)| file).into());
    object.insert("line".to_owned(), place.map(|(_, line, _)| line).into());
    object.insert("column".to_owned(), place.map(|(_, _, column)| column).into());
}
