//! A decision as a card: the fact, the two places, the picture, the reason and the way out.

use serde_json::Value;

use super::html::Html;
use super::source::{Place, Source};
use super::{Function, advice};

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
    picture: Option<Html>,
    has_data: bool,
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
    let advice = advice::of(remark);
    if let Some(why) = &advice.why {
        html.markup("<section class=\"why\"><h5>Why</h5>").within(
            "<p>",
            &named(why, &function.names),
            "</p></section>",
        );
    }
    notes(&mut html, source, remark);
    if let Some(picture) = picture {
        html.piece(&picture);
    }
    tests(&mut html, function, remark);
    costs(&mut html, remark);
    if !advice.changes.is_empty() {
        html.markup("<section class=\"change\"><h5>What would have to change</h5><ul>");
        advice.changes.iter().for_each(|change| {
            html.within("<li>", change, "</li>");
        });
        html.markup("</ul></section>");
    }
    if has_data {
        facts(&mut html, remark);
    }
    html.markup("</article>\n");
    html
}

/// Adds the assumptions of a remark, with the names of the source.
fn tests(html: &mut Html, function: &Function, remark: &Value) {
    let all = |key: &str| remark["args"][key].as_array().map(Vec::as_slice).unwrap_or_default();
    let (apart, holds, assumes) = (all("apart"), all("holds"), all("assumes"));
    if apart.is_empty() && holds.is_empty() && assumes.is_empty() {
        return;
    }
    html.markup("<section class=\"tests\"><h5>").markup(match Outcome::of(remark) {
        Outcome::Tested => "Tested before the loops",
        _ => "Holds if these tests do",
    });
    html.markup("</h5><ul>");
    // Relations of numbers have a sign, pairs of arrays have none.
    let is_pair = |condition: &Value| !condition.as_str().unwrap_or_default().contains(['=', '<', '>']);
    let conditions = apart.iter().map(|own| (own, true)).chain(holds.iter().map(|own| (own, false)));
    for (condition, is_apart) in conditions.chain(assumes.iter().map(|own| (own, is_pair(own)))) {
        let condition = condition.as_str().unwrap_or_default();
        html.markup("<li><code>").text(&named(condition, &function.names));
        html.markup(if is_apart { "</code> do not overlap in memory</li>" } else { "</code></li>" });
    }
    html.markup("</ul>");
    if remark["name"] == "Versioned" {
        html.markup("<p>If one fails, the original loops run, and the result is the same as before.</p>");
    }
    html.markup("</section>");
}

/// Returns a condition with the names of the source instead of numbers of arguments.
pub(super) fn named(condition: &str, names: &[String]) -> String {
    let mut text = String::new();
    let mut parts = condition.split('#');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        match part[..digits].parse::<usize>().ok().and_then(|at| names.get(at)) {
            Some(name) => text.push_str(name),
            None => {
                text.push('#');
                text.push_str(&part[..digits]);
            }
        }
        text.push_str(&part[digits..]);
    }
    text
}

/// Adds the estimate of a decision's costs.
fn costs(html: &mut Html, remark: &Value) {
    let Some(saved) = remark["args"]["saved_cycles"].as_i64() else { return };
    html.markup("<p class=\"costs\">");
    match saved {
        0 => html.markup("The estimate: no cycles saved."),
        1.. => html
            .markup("The estimate: ")
            .shown(saved)
            .markup(" cycles saved each time the loops are reached."),
        _ => html
            .markup("The estimate: ")
            .shown(-saved)
            .markup(" cycles more each time the loops are reached."),
    };
    html.markup("</p>");
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
    if let Some(origin) = function.origin_at(place) {
        html.within(" <span class=\"origin\">", origin, "</span>");
    }
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
