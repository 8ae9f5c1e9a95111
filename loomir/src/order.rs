//! The order in which a run stores elements, drawn as SVG text.
//!
//! Each memref that is stored to is a grid. A circle is an element, with the number of its first
//! store among those of the whole run. A line leads from store to store. Stores of operations at
//! different places of the text have different colours, so copies of a body can be told apart.
//!
//! **Cost.** Linear in the stores; the picture has at most [`MAX_ELEMENTS`] circles.

use std::fmt::Write;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::{Store, Stored};
use loomir_ir::Loc;

/// The most elements of a picture.
const MAX_ELEMENTS: usize = 1024;
/// The longest row of a grid.
const MAX_COLUMNS: i64 = 64;
/// Pixels from one element to the next.
const CELL: i64 = 30;
/// The radius of an element.
const RADIUS: i64 = 11;
/// Pixels around a grid; its name stands above.
const MARGIN: i64 = 26;
/// The width at which grids continue below.
const WIDTH: i64 = 700;

/// Light fills, so that numbers can be read on them.
const COLOURS: [&str; 6] = ["#cfe2f3", "#fff2b3", "#d5ead0", "#f6d5d5", "#e4d9f0", "#e6e6e6"];

/// A memref of the picture.
struct Grid {
    name: String,
    columns: i64,
    rows: i64,
    /// The corner of its first element.
    corner: (i64, i64),
    /// The elements in the order of first stores: row, column, number and place of the store.
    elements: Vec<(i64, i64, usize, Loc)>,
}

/// Draws the order of stores.
///
/// # Errors
///
/// The reason why there is no picture.
pub(crate) fn draw_stores(stores: &[Store]) -> Result<String, String> {
    let mut grids = grids(stores)?;
    let (mut x, mut y, mut below, mut right) = (0, 0, 0, 0);
    for grid in &mut grids {
        let (width, height) = (grid.columns * CELL + MARGIN, grid.rows * CELL + MARGIN);
        if x > 0 && x + width > WIDTH {
            (x, y) = (0, below);
        }
        grid.corner = (x + MARGIN, y + MARGIN + CELL / 2);
        x += width;
        (below, right) = (below.max(y + height), right.max(x));
    }
    Ok(render(&grids, (right + MARGIN / 2, below + MARGIN / 2)))
}

/// Collects first stores by memref.
fn grids(stores: &[Store]) -> Result<Vec<Grid>, String> {
    let mut at: HashMap<(Stored, &[i64]), usize> = HashMap::new();
    let mut grids: Vec<Grid> = Vec::new();
    let mut seen = HashSet::new();
    for store in stores {
        let key = (store.memref, &*store.sizes);
        if !seen.insert((key, &*store.element)) {
            continue;
        }
        if seen.len() > MAX_ELEMENTS {
            return Err(format!("a picture shows at most {MAX_ELEMENTS} elements; draw a smaller program"));
        }
        let index = *at.entry(key).or_insert_with(|| {
            grids.push(grid(store));
            grids.len() - 1
        });
        let grid = &mut grids[index];
        if grid.columns > MAX_COLUMNS {
            return Err(format!(
                "a picture shows rows of at most {MAX_COLUMNS} elements; draw a smaller program"
            ));
        }
        let (column, rows) = store.element.split_last().map_or((0, &[][..]), |(last, rest)| (*last, rest));
        let sizes = &store.sizes[..rows.len()];
        let row = rows
            .iter()
            .zip(sizes)
            .fold(0_i64, |row, (own, size)| row.saturating_mul(*size).saturating_add(*own));
        if row >= MAX_ELEMENTS as i64 {
            return Err(format!("a picture shows at most {MAX_ELEMENTS} rows; draw a smaller program"));
        }
        grid.rows = grid.rows.max(row + 1);
        grid.elements.push((row, column, seen.len(), store.loc));
    }
    if grids.is_empty() {
        return Err("the function stores to no element of a memref".to_owned());
    }
    Ok(grids)
}

/// Returns the empty grid of a memref.
fn grid(store: &Store) -> Grid {
    let name = match store.memref {
        Stored::Argument(number) => format!("argument #{number}"),
        Stored::Local(number) => format!("local array {}", number + 1),
    };
    let columns = store.sizes.last().copied().unwrap_or(1);
    Grid { name, columns, rows: 1, corner: (0, 0), elements: Vec::new() }
}

fn render(grids: &[Grid], (width, height): (i64, i64)) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"10\">"
    );
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    let mut colours: HashMap<Loc, &str> = HashMap::new();
    for grid in grids {
        for (.., loc) in &grid.elements {
            let next = COLOURS[colours.len() % COLOURS.len()];
            colours.entry(*loc).or_insert(next);
        }
    }
    for grid in grids {
        let (left, top) = grid.corner;
        let place = |row: i64, column: i64| (left + column * CELL, top + row * CELL);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" font-style=\"italic\">{}</text>",
            left - RADIUS,
            top - RADIUS - 6,
            grid.name
        );
        let mut path = String::new();
        for (at, (row, column, ..)) in grid.elements.iter().enumerate() {
            let (x, y) = place(*row, *column);
            let _ = write!(path, "{}{x} {y}", if at == 0 { "M" } else { "L" });
        }
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#999999\" stroke-width=\"1.5\"/>");
        for (row, column, number, loc) in &grid.elements {
            let ((x, y), colour) = (place(*row, *column), colours[loc]);
            let _ = writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"{colour}\" stroke=\"#999999\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{number}</text>",
                y + 4
            );
        }
    }
    out.push_str("</svg>\n");
    out
}
