//! Remarks: what the passes did, or did not do, as text for people, as JSON or YAML for programs,
//! or not at all.
//!
//! As JSON each remark is one line, an object with the keys `severity`, `message`, `file`, `line`,
//! `column`, `notes` (each with `message` and its own place) and `help`, which say it to people;
//! and `kind`, `pass`, `name`, `function` and `args`, which say it to programs: see [`Remark`]. A
//! place among the arguments is an object with `file`, `line` and `column`. What is not known is
//! `null`. Errors and warnings are such lines too, with `null` for what only remarks say.

use crate::ir::diagnostics::{Arg, Fields, Remark};
use crate::ir::{Context, Diagnostic, Diagnostics, Loc, Severity};
use clap::ArgMatches;
use serde_json::{Map, Value};

use super::Tools;
use super::console::Stream;
use super::input::Input;
use super::render::{Color, render_of};

mod yaml;

/// The argument that says how remarks are shown.
pub(super) fn arg() -> clap::Arg {
    clap::Arg::new("remarks")
        .long("remarks")
        .value_name("FORM")
        .default_value("text")
        .value_parser(["text", "all", "lines", "json", "yaml", "none"])
        .help(
            "How to show remarks: text, grouped by nest; all, as text; lines, as file:line:column: text; \
             json, one object a line; yaml, as LLVM's; none",
        )
}

/// True if remarks are wanted for programs, so that nothing else may stand between.
pub(super) fn as_data(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("remarks").is_some_and(|form| form == "json" || form == "yaml")
}

/// True if remarks that belong together are to be shown as one.
pub(super) fn are_grouped(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("remarks").is_some_and(|form| form == "text")
}

/// The form in which diagnostics are shown.
#[derive(Clone, Copy, Default)]
pub(super) struct RemarkFormat {
    json: bool,
    yaml: bool,
    lines: bool,
    hides_remarks: bool,
    /// True for each stream with colours.
    colored: [bool; 2],
}

impl RemarkFormat {
    /// Returns the form that the arguments ask for. Commands without remarks show text.
    pub(super) fn of(tools: &Tools, matches: &ArgMatches) -> RemarkFormat {
        let remarks = matches.try_get_one::<String>("remarks").ok().flatten();
        let is = |form: &str| remarks.is_some_and(|own| own == form);
        let color = Color::of(matches);
        let colored = [Stream::Out, Stream::Err].map(|stream| color.is_on(&tools.console, stream));
        RemarkFormat {
            json: is("json"),
            yaml: is("yaml"),
            lines: is("lines"),
            hides_remarks: is("none"),
            colored,
        }
    }

    /// True if a stream has colours.
    pub(super) fn is_colored(self, stream: Stream) -> bool {
        self.colored[stream as usize]
    }
}

/// Diagnostics with the remarks among them as they are wanted, for a stream.
pub(super) fn say(ctx: &Context, diagnostics: &Diagnostics, input: &Input, stream: Stream) -> String {
    say_of(ctx, diagnostics, &[input], stream)
}

/// The same for diagnostics about several sources. The first says how.
pub(super) fn say_of(ctx: &Context, diagnostics: &Diagnostics, inputs: &[&Input], stream: Stream) -> String {
    let form = inputs.first().map_or(RemarkFormat::default(), |input| input.form);
    if form.json {
        return diagnostics.iter().map(|diagnostic| json(ctx, diagnostic).to_string() + "\n").collect();
    }
    if form.yaml {
        return diagnostics.iter().map(|diagnostic| yaml::document(ctx, diagnostic)).collect();
    }
    if form.lines {
        return diagnostics.to_text(ctx);
    }
    if !form.hides_remarks {
        return render_of(ctx, diagnostics, inputs, stream);
    }
    let mut others = Diagnostics::new();
    let shown = diagnostics.iter().filter(|own| own.severity != Severity::Remark);
    shown.for_each(|own| others.push(own.clone()));
    render_of(ctx, &others, inputs, stream)
}

/// Returns a diagnostic as JSON.
pub(super) fn json(ctx: &Context, diagnostic: &Diagnostic) -> Value {
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
    let remark: Option<&Remark> = diagnostic.remark.as_deref();
    object.insert("kind".to_owned(), remark.map(|remark| remark.kind.name()).into());
    object.insert("pass".to_owned(), remark.map(|remark| remark.pass).into());
    object.insert("name".to_owned(), remark.map(|remark| remark.name).into());
    object.insert("function".to_owned(), remark.map(|remark| &*remark.function).into());
    object.insert("args".to_owned(), remark.map_or(Value::Null, |remark| fields(ctx, &remark.args)));
    Value::Object(object)
}

fn fields(ctx: &Context, fields: &Fields) -> Value {
    Value::Object(fields.iter().map(|(key, value)| ((*key).to_owned(), argument(ctx, value))).collect())
}

/// Recurses as deep as arguments are made, which is a few levels.
fn argument(ctx: &Context, value: &Arg) -> Value {
    match value {
        Arg::Number(number) => (*number).into(),
        Arg::Text(text) => text.as_str().into(),
        Arg::Flag(is) => (*is).into(),
        Arg::Place(loc) => match loc.file_line_col(ctx) {
            Some(_) => {
                let mut object = Map::new();
                placed(ctx, &mut object, *loc);
                Value::Object(object)
            }
            None => Value::Null,
        },
        Arg::List(all) => all.iter().map(|one| argument(ctx, one)).collect(),
        Arg::Fields(own) => fields(ctx, own),
        Arg::Unknown => Value::Null,
    }
}

fn said(ctx: &Context, object: &mut Map<String, Value>, message: &str, loc: Loc) {
    object.insert("message".to_owned(), message.into());
    placed(ctx, object, loc);
}

fn placed(ctx: &Context, object: &mut Map<String, Value>, loc: Loc) {
    let place = loc.file_line_col(ctx);
    object.insert("file".to_owned(), place.map(|(file, _, _)| file).into());
    object.insert("line".to_owned(), place.map(|(_, line, _)| line).into());
    object.insert("column".to_owned(), place.map(|(_, _, column)| column).into());
}
