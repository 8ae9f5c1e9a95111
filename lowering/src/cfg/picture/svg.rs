//! Control flow as a drawing.

use std::fmt::Write;

use hashbrown::HashSet;
use loomir_ir::{Diagnostic, Diagnostics};

use super::nested::{Drawing, LINE, draw, text_width, title};
use super::{KINDS, Kind, PLAIN, Picture};

/// Room around everything.
const MARGIN: i64 = 16;
/// The height of a function's name.
const HEADING: i64 = 26;

/// Returns the drawings of functions, one below the other.
pub(super) fn text(pictures: &[Picture]) -> Result<String, Diagnostics> {
    let mut body = String::new();
    let (mut width, mut y) = (0, MARGIN);
    let mut kinds: HashSet<Kind> = HashSet::new();
    for picture in pictures {
        let Some(drawing) = draw(picture) else {
            let message = format!("'{}' is too large to be drawn", picture.name);
            let help = "--emit=dot writes its graph for other tools";
            return Err(Diagnostic::error(picture.loc, message).help(help).into());
        };
        let heading = heading(picture);
        let _ = writeln!(
            body,
            "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"13\">{}</text>",
            y + 12,
            escaped(&heading)
        );
        y += HEADING;
        let _ = writeln!(body, "<g transform=\"translate({MARGIN} {y})\">");
        function(picture, &drawing, &mut body);
        body.push_str("</g>\n");
        width = width.max(drawing.width).max(text_width(&heading) + MARGIN);
        y += drawing.height + MARGIN;
        kinds.extend(picture.edges.iter().map(|edge| edge.kind));
    }
    for (kind, name, colour, dashed) in KINDS.iter().filter(|(kind, ..)| kinds.contains(kind)) {
        let (middle, baseline) = (y + 6, y + 10);
        let line = format!("M{MARGIN} {middle}H{}", MARGIN + 34);
        path(&mut body, &line, *kind, colour, *dashed);
        let _ = writeln!(body, "<text x=\"{}\" y=\"{baseline}\">{name}</text>", MARGIN + 44);
        width = width.max(text_width(name) + 44);
        y += LINE + 4;
    }
    let (width, height) = (width + 2 * MARGIN, y + MARGIN / 2);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n<defs>\n"
    );
    for (kind, colour) in heads() {
        let _ = writeln!(
            text,
            "<marker id=\"head{kind}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1L8 4L0 7Z\" fill=\"{colour}\"/></marker>"
        );
    }
    let _ = writeln!(text, "</defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    Ok(text + &body + "</svg>\n")
}

/// Returns the arrow heads: a number and a colour for each kind of edge.
fn heads() -> impl Iterator<Item = (usize, &'static str)> {
    std::iter::once((Kind::Plain, PLAIN))
        .chain(KINDS.iter().map(|(kind, _, colour, _)| (*kind, *colour)))
        .map(|(kind, colour)| (kind as usize, colour))
}

fn heading(picture: &Picture) -> String {
    match picture.left_out {
        0 => format!("@{}", picture.name),
        1 => format!("@{}, without a block that nothing leads to", picture.name),
        many => format!("@{}, without {many} blocks that nothing leads to", picture.name),
    }
}

fn function(picture: &Picture, drawing: &Drawing, out: &mut String) {
    let boxes = || picture.loops.iter().zip(&drawing.loops);
    for (nest, (x, y, width, height)) in boxes() {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"{}\" stroke=\"#999999\"/>",
            nest.colour()
        );
    }
    for (edge, points) in picture.edges.iter().zip(&drawing.edges) {
        let (colour, dashed) = edge.kind.look();
        path(out, &way(points), edge.kind, colour, dashed);
    }
    // Names may cross edges, so they have an outline.
    for (at, (nest, (x, y, ..))) in boxes().enumerate() {
        let (left, baseline, name) = (x + 8, y + 14, escaped(&title(picture, at)));
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"{baseline}\" fill=\"#777777\" stroke=\"{}\" stroke-width=\"4\" paint-order=\"stroke\">{name}</text>",
            nest.colour()
        );
    }
    for (block, (x, y, width, height)) in picture.blocks.iter().zip(&drawing.blocks) {
        let outline = match (block.is_irreducible, block.is_header) {
            (true, _) => "stroke=\"#9467bd\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"",
            (_, true) => "stroke=\"#333333\" stroke-width=\"2\"",
            _ => "stroke=\"#333333\"",
        };
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" fill=\"white\" {outline}/>"
        );
        let (middle, mut line) = (x + width / 2, y + LINE);
        let name = escaped(&block.name);
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{line}\" text-anchor=\"middle\" font-weight=\"bold\">{name}</text>"
        );
        for role in &block.roles {
            line += LINE;
            let role = escaped(role);
            let _ = writeln!(out, "<text x=\"{middle}\" y=\"{line}\" text-anchor=\"middle\">{role}</text>");
        }
    }
}

/// Writes a line with an arrow head.
fn path(out: &mut String, way: &str, kind: Kind, colour: &str, dashed: bool) {
    let dashes = if dashed { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = writeln!(
        out,
        "<path d=\"{way}\" fill=\"none\" stroke=\"{colour}\"{dashes} marker-end=\"url(#head{})\"/>",
        kind as usize
    );
}

/// Returns a path through points: straight down or sideways, or else a curve that starts and ends
/// downwards.
fn way(points: &[(i64, i64)]) -> String {
    let mut text = String::new();
    let mut before: Option<(i64, i64)> = None;
    for (x, y) in points {
        let _ = match before {
            None => write!(text, "M{x} {y}"),
            Some((from, top)) if from == *x || top == *y => write!(text, "L{x} {y}"),
            Some((from, top)) => {
                let middle = (top + y) / 2;
                write!(text, "C{from} {middle} {x} {middle} {x} {y}")
            }
        };
        before = Some((*x, *y));
    }
    text
}

/// Returns a text escaped for XML. Characters that XML cannot hold become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
