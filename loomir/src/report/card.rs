//! A decision as a card: the fact, the two places, the picture, the reason and the way out.

use serde_json::Value;

use super::html::Html;
use super::source::{Place, Source};
use super::{Function, advice, grid};

/// The outcome that a remark is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Done,
    Refused,
    Tested,
    Noted,
}

impl Outcome {
    /// Returns the outcome of a remark.
    pub(super) fn of(remark: &Value) -> Outcome {
        match (remark["kind"].as_str(), remark["name"].as_str()) {
            (Some("passed"), Some("Versioned")) | (_, Some("Assumed")) => Outcome::Tested,
            (Some("passed"), _) => Outcome::Done,
            (Some("missed"), _) => Outcome::Refused,
            _ => Outcome::Noted,
        }
    }

    /// The class of its colours.
    pub(super) fn class(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Refused => "refused",
            Outcome::Tested => "tested",
            Outcome::Noted => "noted",
        }
    }

    /// Its sign, which no reader of screens reads, and its word.
    pub(super) fn mark(self) -> Html {
        let mut html = Html::default();
        html.markup("<span class=\"mark ").markup(self.class()).markup("\" aria-hidden=\"true\">").markup(
            match self {
                Outcome::Done => "✓",
                Outcome::Refused => "✕",
                Outcome::Tested => "?",
                Outcome::Noted => "i",
            },
        );
        html.markup("</span><span class=\"visually-hidden\">").markup(self.word()).markup(": </span>");
        html
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Refused => "refused",
            Outcome::Tested => "tested when run",
            Outcome::Noted => "noted",
        }
    }
}

/// Returns a link to a line.
pub(super) fn line_link(place: Place) -> Html {
    let mut html = Html::default();
    html.markup("<a href=\"#s").shown(place.line).markup("\">line ").shown(place.line).markup("</a>");
    html
}

/// Returns the message of a remark without the function, which is said elsewhere.
pub(super) fn message(remark: &Value) -> &str {
    let message = remark["message"].as_str().unwrap_or_default();
    let rest = message.strip_prefix('[').and_then(|rest| rest.strip_prefix(remark["function"].as_str()?));
    rest.and_then(|rest| rest.strip_prefix("]: ")).unwrap_or(message)
}

/// Returns the headline of a remark: the fact in a few words.
pub(super) fn headline(remark: &Value) -> &str {
    let message = message(remark);
    match remark["name"].as_str() {
        Some("Fused") => "Fused",
        Some("Versioned") => "Tested when the program runs",
        Some("Assumed") => "Assumed",
        _ if message.starts_with("Loops not fused") => "Kept apart",
        _ => message.split(['[', ':', ',']).next().unwrap_or(message).trim_end(),
    }
}

/// Returns the card of a remark.
pub(super) fn card(
    source: &Source<'_>,
    function: &Function,
    (at, remark): (usize, &Value),
    picture: Option<&super::picture::Pair>,
) -> Html {
    let outcome = Outcome::of(remark);
    let mut html = Html::default();
    html.markup("<article class=\"card ").markup(outcome.class()).markup("\" id=\"r").shown(at);
    html.markup("\" tabindex=\"-1\" aria-labelledby=\"h").shown(at).markup("\"");
    loops_attribute(&mut html, source, function, remark);
    html.markup("><h4 id=\"h").shown(at).markup("\">").piece(&outcome.mark()).text(headline(remark));
    let own = source.place_in(remark);
    let first = source.place_in(&remark["args"]["first"]);
    match (first, own) {
        (Some(first), Some(own)) => {
            html.markup(": ")
                .piece(&loop_link(function, first))
                .markup(" and ")
                .piece(&loop_link(function, own));
        }
        (None, Some(own)) => {
            html.markup(": ").piece(&loop_link(function, own));
        }
        _ => {}
    }
    html.markup("</h4><p class=\"said\">").text(message(remark)).markup("</p>");
    notes(&mut html, source, remark);
    if let Some(pair) = picture {
        html.piece(&grid::pair(function, pair, at, remark));
    }
    let advice = advice::of(remark);
    if let Some(why) = &advice.why {
        html.markup("<section class=\"why\"><h5>Why</h5>").within("<p>", why, "</p></section>");
    }
    if !advice.changes.is_empty() {
        html.markup("<section class=\"change\"><h5>What would have to change</h5><ul>");
        advice.changes.iter().for_each(|change| {
            html.within("<li>", change, "</li>");
        });
        html.markup("</ul></section>");
    }
    facts(&mut html, remark);
    html.markup("</article>\n");
    html
}

/// Adds the loops that a remark is about, by number.
fn loops_attribute(html: &mut Html, source: &Source<'_>, function: &Function, remark: &Value) {
    let places = [source.place_in(&remark["args"]["first"]), source.place_in(remark)];
    let loops: Vec<String> = places
        .into_iter()
        .flatten()
        .filter_map(|place| function.loop_at(place))
        .map(|at| at.to_string())
        .collect();
    if !loops.is_empty() {
        html.markup(" data-loops=\"").text(&loops.join(" ")).markup("\"");
    }
}

/// Returns a link to a loop in the source, with its name.
pub(super) fn loop_link(function: &Function, place: Place) -> Html {
    let mut html = Html::default();
    if let Some(number) = function.loop_at(place) {
        html.piece(&chip(number));
    }
    html.piece(&line_link(place));
    html
}

/// Returns the name of a loop of the source.
pub(super) fn chip(number: usize) -> Html {
    let mut html = Html::default();
    html.markup("<span class=\"chip c").shown(number % 6).markup("\">L").shown(number).markup("</span> ");
    html
}

fn notes(html: &mut Html, source: &Source<'_>, remark: &Value) {
    let notes = remark["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    if notes.is_empty() {
        return;
    }
    html.markup("<ol class=\"notes\">");
    for note in notes {
        html.within("<li><span class=\"note\">", note["message"].as_str().unwrap_or_default(), "</span> ");
        if let Some(place) = source.place_in(note) {
            html.piece(&line_link(place));
        } else if let (Some(file), Some(line)) = (note["file"].as_str(), note["line"].as_u64()) {
            html.markup("<span class=\"muted\">").text(file).markup(":").shown(line).markup("</span>");
        }
        html.markup("</li>");
    }
    html.markup("</ol>");
}

/// Adds the data of a remark.
fn facts(html: &mut Html, remark: &Value) {
    let args = remark["args"].as_object();
    let shown = args
        .into_iter()
        .flatten()
        .filter(|(key, value)| *key != "first" && *key != "faults" && !is_nothing(value));
    let shown: Vec<(&String, &Value)> = shown.collect();
    html.markup("<details class=\"facts\"><summary>Data</summary><dl><div><dt>name</dt><dd>");
    html.text(remark["name"].as_str().unwrap_or_default()).markup("</dd></div><div><dt>pass</dt><dd>");
    html.text(remark["pass"].as_str().unwrap_or_default()).markup("</dd></div>");
    for (key, value) in shown {
        html.markup("<div>").within("<dt>", &key.replace('_', " "), "</dt>");
        html.within("<dd>", &plain(value), "</dd></div>");
    }
    html.markup("</dl></details>");
}

/// True for data that says nothing.
fn is_nothing(value: &Value) -> bool {
    value.is_null() || *value == false || value.as_array().is_some_and(Vec::is_empty)
}

/// Returns data as a short text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join("; "),
        Value::Object(fields) if fields.contains_key("line") => format!("line {}", fields["line"]),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key}: {}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}
