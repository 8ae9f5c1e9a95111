//! Dependences as arrows between iterations, drawn.
//!
//! Of two loops, each is a row; a column is an iteration of the fused loop. A column runs from top
//! to bottom, and columns from left to right. An arrow that points to the left is therefore a
//! dependence that fusion would reverse.

use hashbrown::HashMap;
use loomir_transforms::listing::Kind;
use loomir_transforms::listing::sample::{Arrow, Point, Sample};
use serde_json::Value;

use super::html::Html;
use super::picture::{Nest, Pair, own};
use super::{Function, advice, card};

/// The distance of two iterations.
const STEP: i64 = 36;
/// The radius of an iteration.
const RADIUS: i64 = 12;
/// The room for the names of rows.
const LEFT: i64 = 92;
/// The heights of the two rows.
const ROWS: [i64; 2] = [52, 150];

/// A point of a drawing.
#[derive(Clone, Copy, PartialEq, Eq)]
struct At {
    x: i64,
    y: i64,
}

/// Returns the picture of two loops beside each other.
pub(super) fn pair(function: &Function, pair: &Pair, at: usize, remark: &Value) -> Html {
    let rows = [&pair.sample.first, &pair.sample.second].map(|points| own(points).collect::<Vec<_>>());
    let count = rows[1].len() as i64;
    let column = |row: usize, number: i64| match (row, pair.is_backwards) {
        (0, _) => number - pair.first,
        (_, false) => number - pair.first + pair.shift,
        (_, true) => count - 1 - number,
    };
    let place = |row: usize, number: i64| At { x: LEFT + column(row, number) * STEP, y: ROWS[row] };
    let last =
        [0, 1].map(|row| rows[row].iter().map(|point| column(row, point.numbers[0])).max().unwrap_or(0));
    let width = LEFT + last[0].max(last[1]) * STEP + 44;
    let drawn = |(from, to, kind)| {
        let is_back = column(1, to) < column(0, from);
        let look = Look { is_witness: pair.witness == Some([from, to]), is_back, kind };
        (look, place(0, from), place(1, to))
    };
    let mut arrows: Vec<(Look, At, At)> = arrows(pair).map(drawn).collect();
    let back = arrows.iter().filter(|(look, ..)| look.is_back).count();
    let mut html = Html::default();
    if back > 0 && remark["kind"] == "passed" {
        // Accesses of the source were removed before these loops were fused.
        return html;
    }
    html.markup("<figure class=\"grid\"><div class=\"scroll\">");
    start(&mut html, width, 190, at, "Iterations of both loops, and the order that has to be kept");
    axis(&mut html, width);
    for (row, points) in rows.iter().enumerate() {
        let y = ROWS[row];
        let number = function.loop_at(pair.places[row]);
        html.markup("<text class=\"row\" x=\"4\" y=\"").shown(y - 2).markup("\">");
        html.markup(if row == 0 { "first" } else { "second" })
            .markup("</text><text class=\"row sub\" x=\"4\" y=\"")
            .shown(y + 13)
            .markup("\">");
        if let Some(number) = number {
            html.markup("L").shown(number).markup(", ");
        }
        html.markup("line ").shown(pair.places[row].line).markup("</text>");
        let is_full = points.len() as i64 >= pair.width;
        let is_witness = |number: i64| pair.witness.is_some_and(|witness| witness[row] == number);
        begin_row(&mut html, y);
        for point in points {
            bubble(&mut html, place(row, point.numbers[0]).x, point, is_witness(point.numbers[0]));
        }
        html.markup("</g>");
        if is_full && !pair.is_backwards {
            html.markup("<text class=\"row\" x=\"")
                .shown(LEFT + last[row] * STEP + 20)
                .markup("\" y=\"")
                .shown(y + 4)
                .markup("\">…</text>");
        }
    }
    lines(&mut html, &mut arrows, RADIUS);
    html.markup("</svg></div><figcaption>");
    caption(&mut html, function, pair, remark, (arrows.len(), back));
    html.markup("</figcaption></figure>");
    html
}

/// Returns the arrows between iterations of the two loops, without repetitions, and the witness.
fn arrows(pair: &Pair) -> impl Iterator<Item = (i64, i64, Kind)> {
    let mut seen: HashMap<(i64, i64), Kind> = HashMap::new();
    let mut all = Vec::new();
    for arrow in &pair.sample.arrows {
        let ends = (arrow.from.1[0], arrow.to.1[0]);
        if let hashbrown::hash_map::Entry::Vacant(entry) = seen.entry(ends) {
            entry.insert(arrow.kind);
            all.push((ends.0, ends.1, arrow.kind));
        }
    }
    let missing = pair.witness.filter(|[a, b]| !seen.contains_key(&(*a, *b)));
    all.extend(missing.map(|[a, b]| (a, b, Kind::Flow)));
    all.into_iter()
}

fn caption(html: &mut Html, function: &Function, pair: &Pair, remark: &Value, (all, back): (usize, usize)) {
    html.markup("Each circle is an iteration. If the loops were one, a column would run from top to bottom, and columns from left to right. Arrows lead from an access to a later one of the same element: solid from a write to a read, dashed from a read to a write, dotted between writes. ");
    let fault = &remark["args"]["faults"][0];
    if pair.witness.is_some() && fault["kind"] == "order" {
        html.markup("<strong>The thick arrow points back:</strong> ");
        html.text(&advice::iteration(&fault["second"]["iteration"]).to_lowercase())
            .markup(" of the second loop would run before ");
        html.text(&advice::iteration(&fault["first"]["iteration"]).to_lowercase()).markup(" of the first.");
    } else if all == 0 {
        html.markup("There is none between these iterations.");
    } else if back == 0 {
        html.markup(
            "<strong>No arrow points back</strong>, so every element is still touched in the old order",
        );
        match pair.shift {
            0 if pair.is_backwards => {
                html.markup(": the second loop runs backwards.");
            }
            0 => {
                html.markup(".");
            }
            1 => {
                html.markup(": the second loop runs one iteration later.");
            }
            shift => {
                html.markup(": the second loop runs ").shown(shift).markup(" iterations later.");
            }
        }
    } else {
        html.shown(back).markup(" of ").shown(all).markup(" arrows point back.");
    }
    supposed(html, &pair.sample, &function.names);
}

/// Adds the assumptions of a picture.
fn supposed(html: &mut Html, sample: &Sample, names: &[String]) {
    if !sample.supposed.is_empty() {
        html.markup(" Drawn for ");
        for (at, (name, value)) in sample.supposed.iter().enumerate() {
            html.markup(if at > 0 { ", " } else { "" })
                .text(&card::named(name, names))
                .markup(" = ")
                .shown(value);
        }
        html.markup(".");
    }
    if !sample.is_complete {
        html.markup(" <span class=\"muted\">Accesses whose elements are unknown are not drawn.</span>");
    }
}

/// Returns the picture of the dependences inside of a nest.
pub(super) fn nest(function: &Function, nest: &Nest, at: usize) -> Html {
    let mut html = Html::default();
    html.markup("<figure class=\"grid\"><div class=\"scroll\">");
    if nest.depth == 1 {
        row(&mut html, nest, at)
    } else {
        plane(&mut html, nest, at)
    }
    html.markup("</div><figcaption>").piece(&card::loop_link(function, nest.place)).markup(": ");
    let mut distances: Vec<String> = nest.sample.arrows.iter().map(distance).collect();
    distances.sort();
    distances.dedup();
    let few = distances.len().min(6);
    html.markup(if distances.len() == 1 {
        "each arrow spans the distance "
    } else {
        "arrows span the distances "
    });
    html.text(&distances[..few].join(", ")).markup(if few < distances.len() { " and others." } else { "." });
    supposed(&mut html, &nest.sample, &function.names);
    html.markup("</figcaption></figure>");
    html
}

fn distance(arrow: &Arrow) -> String {
    let parts = arrow.from.1.iter().zip(&arrow.to.1).map(|(from, to)| (to - from).to_string());
    format!("({})", parts.collect::<Vec<_>>().join(", "))
}

/// Draws one loop as a row, with arcs above.
fn row(html: &mut Html, nest: &Nest, at: usize) {
    let points: Vec<&Point> = own(&nest.sample.first).collect();
    let place = |number: i64| At { x: 24 + number * STEP, y: 92 };
    start(html, 24 + points.len() as i64 * STEP, 116, at, "Dependences between iterations of the loop");
    begin_row(html, 92);
    points.iter().for_each(|point| bubble(html, place(point.numbers[0]).x, point, false));
    html.markup("</g>");
    for arrow in &nest.sample.arrows {
        let (from, to) = (place(arrow.from.1[0]), place(arrow.to.1[0]));
        let (middle, top) = ((from.x + to.x) / 2, 92 - RADIUS - 14 - ((to.x - from.x) / 3).min(60));
        html.markup("<path class=\"arrow ")
            .markup(arrow.kind.name())
            .markup("\" marker-end=\"url(#head)\" d=\"M");
        html.shown(from.x)
            .markup(" ")
            .shown(from.y - RADIUS)
            .markup("Q")
            .shown(middle)
            .markup(" ")
            .shown(top);
        html.markup(" ").shown(to.x).markup(" ").shown(to.y - RADIUS - 3).markup("\"/>");
    }
    html.markup("</svg>");
}

/// Draws two loops in each other as a plane: the outer one downwards, the inner one to the right.
fn plane(html: &mut Html, nest: &Nest, at: usize) {
    let points = || nest.sample.first.iter().filter(|point| point.numbers.len() == 2);
    let most = |level: usize| points().map(|point| point.numbers[level]).max().unwrap_or(0) + 1;
    let place = |numbers: &[i64]| At { x: 44 + numbers[1] * 48, y: 30 + numbers[0] * 44 };
    start(html, 44 + most(1) * 48, 30 + most(0) * 44, at, "Dependences between iterations of the two loops");
    for point in points() {
        let At { x, y } = place(&point.numbers);
        let of = |level: usize| point.values[level].map_or("?".to_owned(), |value| value.to_string());
        html.markup("<circle class=\"dot\" cx=\"").shown(x).markup("\" cy=\"").shown(y).markup("\"><title>");
        html.text(&format!("iteration ({}, {})", of(0), of(1))).markup("</title></circle>");
        if point.numbers[1] == 0 {
            html.markup("<text class=\"row sub\" text-anchor=\"end\" x=\"30\" y=\"")
                .shown(y + 4)
                .markup("\">")
                .text(&of(0))
                .markup("</text>");
        }
        if point.numbers[0] == 0 {
            html.markup("<text class=\"row sub\" text-anchor=\"middle\" x=\"")
                .shown(x)
                .markup("\" y=\"14\">")
                .text(&of(1))
                .markup("</text>");
        }
    }
    let is_inside = |arrow: &&Arrow| arrow.from.1.len() == 2 && arrow.to.1.len() == 2;
    let drawn = |arrow: &Arrow| {
        let look = Look { is_witness: false, is_back: false, kind: arrow.kind };
        (look, place(&arrow.from.1), place(&arrow.to.1))
    };
    let mut arrows: Vec<_> = nest.sample.arrows.iter().filter(is_inside).map(drawn).collect();
    lines(html, &mut arrows, 7);
    html.markup("</svg>");
}

fn start(html: &mut Html, width: i64, height: i64, at: usize, title: &'static str) {
    html.markup("<svg role=\"img\" aria-labelledby=\"t").shown(at).markup("\" width=\"").shown(width);
    html.markup("\" height=\"")
        .shown(height)
        .markup("\" viewBox=\"0 0 ")
        .shown(width)
        .markup(" ")
        .shown(height);
    html.markup("\"><title id=\"t").shown(at).markup("\">").markup(title).markup("</title>");
}

/// Draws the direction of time.
fn axis(html: &mut Html, width: i64) {
    html.markup("<text class=\"row sub\" x=\"")
        .shown(LEFT - RADIUS)
        .markup("\" y=\"16\">time</text><path class=\"axis\" marker-end=\"url(#head)\" d=\"M");
    html.shown(LEFT + 20).markup(" 12H").shown(width - 16).markup("\"/>");
}

/// Draws an iteration of a row, which sets the height.
fn bubble(html: &mut Html, x: i64, point: &Point, is_witness: bool) {
    let value = point.values[0].map_or("·".to_owned(), |value| value.to_string());
    html.markup(if is_witness { "<circle class=\"witness\" cx=\"" } else { "<circle cx=\"" }).shown(x);
    html.markup(if is_witness { "\"/><text class=\"witness\" x=\"" } else { "\"/><text x=\"" }).shown(x);
    html.markup("\" y=\"4\">").text(&value).markup("</text>");
}

/// Begins a row of iterations at a height.
fn begin_row(html: &mut Html, y: i64) {
    html.markup("<g class=\"bubbles\" transform=\"translate(0 ").shown(y).markup(")\">");
}

/// Arrows of one look, which are one path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    is_witness: bool,
    is_back: bool,
    kind: Kind,
}

/// Draws arrows, those of one look as one path. The witness is drawn last, above all others.
fn lines(html: &mut Html, arrows: &mut [(Look, At, At)], radius: i64) {
    arrows.sort_by_key(|(look, ..)| *look);
    for group in arrows.chunk_by(|(a, ..), (b, ..)| a == b) {
        let (look, ..) = group[0];
        html.markup("<path class=\"arrow ").markup(look.kind.name());
        html.markup(if look.is_back { " back" } else { "" }).markup(if look.is_witness {
            " witness"
        } else {
            ""
        });
        html.markup("\" d=\"");
        group.iter().for_each(|(_, from, to)| line(html, *from, *to, radius));
        html.markup("\"/>");
    }
}

/// Adds a straight arrow from the rim of an iteration to the rim of another one to a path.
fn line(html: &mut Html, from: At, to: At, radius: i64) {
    let (dx, dy) = ((to.x - from.x) as f64, (to.y - from.y) as f64);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let point = |start: At, along: f64, across: f64| At {
        x: (start.x as f64 + ux * along - uy * across).round() as i64,
        y: (start.y as f64 + uy * along + ux * across).round() as i64,
    };
    let room = radius as f64;
    let (start, tip) = (point(from, room, 0.0), point(to, -room - 2.0, 0.0));
    let [left, right] = [4.0, -4.0].map(|across| point(to, -room - 10.0, across));
    for (word, At { x, y }) in [("M", start), ("L", tip), ("M", left), ("L", tip), ("L", right)] {
        html.markup(word).shown(x).markup(" ").shown(y);
    }
}
