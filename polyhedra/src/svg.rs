//! Pictures of small sets and relations, as SVG text.
//!
//! A set of one or two dimensions is drawn as its points on a grid, each conjunction in a colour of
//! its own; a relation between such sets as arrows from inputs to outputs. Parameters are taken for
//! any value: fix them first. The text depends on the set alone.

use std::fmt::Write;

use crate::affine::{Affine, Var};
use crate::conjunction::Conjunction;
use crate::error::Error;
use crate::error::limited;
use crate::limits::{Budget, Exact, Limits, Stop};
use crate::optimum::least;
use crate::relation::Relation;
use crate::set::Set;
use crate::solve::Least;

/// Pixels from one grid line to the next.
const CELL: i64 = 28;
/// Pixels around the grid.
const MARGIN: i64 = 34;
/// Points a picture may have.
const MAX_POINTS: usize = 10_000;
/// Grid lines a picture may have in each direction.
const MAX_EXTENT: i64 = 400;

const COLOURS: [&str; 6] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"];

impl Set {
    /// The set's points on a grid. It must be bounded, small, and of one or two dimensions.
    pub fn to_svg(&self, limits: &Limits) -> Result<String, Error> {
        let arity = self.tuple().arity();
        if arity == 0 || arity > 2 {
            return Err(Error::NoSuchDimension(arity));
        }
        let first = self.space.params.len();
        let mut picture = Picture::default();
        for (index, piece) in self.pieces.iter().enumerate() {
            let shadow = piece.hidden(|var| var < first);
            for point in limited(limits, |budget| points(&shadow, budget))? {
                let (x, y) = coordinates(&point);
                picture.include(x, y);
                picture.dots.push((x, y, COLOURS[index % COLOURS.len()]));
            }
        }
        let names = self.space.names();
        let vertical = names.get(first + 1).cloned().unwrap_or_default();
        picture.render(&names[first], &vertical)
    }
}

impl Relation {
    /// The relation's pairs as arrows on one grid. It must be bounded, small, and each tuple of one
    /// or two dimensions.
    pub fn to_svg(&self, limits: &Limits) -> Result<String, Error> {
        let (inputs, outputs) = (self.input().arity(), self.output().arity());
        for arity in [inputs, outputs] {
            if arity == 0 || arity > 2 {
                return Err(Error::NoSuchDimension(arity));
            }
        }
        let first = self.space.params.len();
        let mut picture = Picture::default();
        for (index, piece) in self.pieces.iter().enumerate() {
            let shadow = piece.hidden(|var| var < first);
            for pair in limited(limits, |budget| points(&shadow, budget))? {
                let (from, mut to) = (coordinates(&pair[..inputs]), coordinates(&pair[inputs..]));
                if inputs == 1 && outputs == 1 {
                    // One-dimensional tuples lie on two lines, input below output.
                    to.1 = 1;
                }
                for (x, y) in [from, to] {
                    picture.include(x, y);
                    picture.dots.push((x, y, "#555555"));
                }
                picture.arrows.push((from, to, COLOURS[index % COLOURS.len()]));
            }
        }
        let names = self.space.names();
        let vertical = if inputs == 2 { names[first + 1].clone() } else { String::new() };
        picture.render(&names[first], &vertical)
    }
}

fn coordinates(point: &[i64]) -> (i64, i64) {
    (point[0], point.get(1).copied().unwrap_or(0))
}

/// The points of a small bounded conjunction, in lexicographic order. An unbounded one or one with
/// too many points reaches the limit.
fn points(piece: &Conjunction, budget: &mut Budget) -> Exact<Vec<Vec<i64>>> {
    let mut partial = vec![(Vec::new(), piece.clone())];
    for dim in 0..piece.visible() {
        let var = Var(dim as u32);
        let mut next = Vec::new();
        for (prefix, slice) in partial {
            let Some((low, high)) = range(&slice, var, budget)? else { continue };
            for value in low..=high {
                let mut point: Vec<i64> = prefix.clone();
                point.push(value);
                let mut fixed = slice.clone();
                fixed.add_eq(var, value);
                if !fixed.decide_empty(budget)? {
                    next.push((point, fixed));
                }
            }
            if next.len() > MAX_POINTS {
                return Err(Stop::Limit);
            }
        }
        partial = next;
    }
    Ok(partial.into_iter().map(|(point, _)| point).collect())
}

/// The least and greatest value of a variable; `None` for the empty set.
fn range(piece: &Conjunction, var: Var, budget: &mut Budget) -> Exact<Option<(i64, i64)>> {
    let mut end = |objective: Affine| match least(std::slice::from_ref(piece), &objective, budget)? {
        Least::Empty => Ok(None),
        Least::Unbounded => Err(Stop::Limit),
        Least::Value(value) => value.to_i64().map(Some).ok_or(Stop::Limit),
    };
    let (Some(low), Some(negated)) = (end(var.into())?, end(-var)?) else { return Ok(None) };
    let high = negated.checked_neg().ok_or(Stop::Limit)?;
    if high.saturating_sub(low) > MAX_EXTENT { Err(Stop::Limit) } else { Ok(Some((low, high))) }
}

/// From, to and colour.
type Arrow = ((i64, i64), (i64, i64), &'static str);

/// The picture to draw, in grid coordinates.
#[derive(Default)]
struct Picture {
    /// Least and greatest coordinates, once there is a point.
    frame: Option<[i64; 4]>,
    dots: Vec<(i64, i64, &'static str)>,
    arrows: Vec<Arrow>,
}

impl Picture {
    fn include(&mut self, x: i64, y: i64) {
        let [left, right, bottom, top] = self.frame.unwrap_or([x, x, y, y]);
        self.frame = Some([left.min(x), right.max(x), bottom.min(y), top.max(y)]);
    }

    /// The SVG text, axes named.
    fn render(&self, horizontal: &str, vertical: &str) -> Result<String, Error> {
        let [left, right, bottom, top] = self.frame.unwrap_or([0, 0, 0, 0]);
        // The origin's lines are drawn if they are near.
        let left = if (0..=3).contains(&left) { 0 } else { left };
        let bottom = if (0..=3).contains(&bottom) { 0 } else { bottom };
        if right - left > MAX_EXTENT || top - bottom > MAX_EXTENT {
            return Err(Error::Unbounded);
        }
        let x = |value: i64| MARGIN + (value - left) * CELL;
        let y = |value: i64| MARGIN + (top - value) * CELL;
        let (width, height) = (x(right) + MARGIN, y(bottom) + MARGIN);
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">"
        );
        let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
        for column in left..=right {
            let colour = if column == 0 { "#999999" } else { "#e4e4e4" };
            let (at, from, to) = (x(column), y(top), y(bottom));
            let _ = writeln!(out, "<path d=\"M{at} {from}V{to}\" stroke=\"{colour}\"/>");
            let _ =
                writeln!(out, "<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{column}</text>", to + 16);
        }
        for row in bottom..=top {
            let colour = if row == 0 { "#999999" } else { "#e4e4e4" };
            let (at, from, to) = (y(row), x(left), x(right));
            let _ = writeln!(out, "<path d=\"M{from} {at}H{to}\" stroke=\"{colour}\"/>");
            if !vertical.is_empty() {
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{row}</text>",
                    from - 8,
                    at + 4
                );
            }
        }
        for (from, to, colour) in &self.arrows {
            arrow(&mut out, (x(from.0), y(from.1)), (x(to.0), y(to.1)), colour);
        }
        for (column, row, colour) in &self.dots {
            let _ =
                writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{colour}\"/>", x(*column), y(*row));
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" font-style=\"italic\">{}</text>",
            width - 20,
            height - 6,
            escaped(horizontal)
        );
        let _ = writeln!(out, "<text x=\"6\" y=\"14\" font-style=\"italic\">{}</text>", escaped(vertical));
        out.push_str("</svg>\n");
        Ok(out)
    }
}

/// A line with a head, ending short of the dot at its end; a loop for a pair of equal points.
fn arrow(out: &mut String, from: (i64, i64), to: (i64, i64), colour: &str) {
    let (dx, dy) = ((to.0 - from.0) as f64, (to.1 - from.1) as f64);
    let length = (dx * dx + dy * dy).sqrt();
    if length == 0.0 {
        let _ = writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"8\" fill=\"none\" stroke=\"{colour}\"/>",
            from.0, from.1
        );
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let (tip_x, tip_y) = (to.0 as f64 - 5.0 * ux, to.1 as f64 - 5.0 * uy);
    let (base_x, base_y) = (tip_x - 7.0 * ux, tip_y - 7.0 * uy);
    let _ = writeln!(out, "<path d=\"M{} {}L{base_x:.1} {base_y:.1}\" stroke=\"{colour}\"/>", from.0, from.1);
    let _ = writeln!(
        out,
        "<path d=\"M{tip_x:.1} {tip_y:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{colour}\"/>",
        base_x - 3.0 * uy,
        base_y + 3.0 * ux,
        base_x + 3.0 * uy,
        base_y - 3.0 * ux
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
