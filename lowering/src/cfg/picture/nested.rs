//! The layout of nested loops: each loop is laid out separately, as a box that is one item of its
//! parent.
//!
//! A loop is entered through its header, which comes first, so edges come in from above. An edge
//! that leaves loops goes to the lower side of each and on from there. A backedge goes up at the
//! right, inside the box.

use hashbrown::HashMap;

use super::Picture;
use super::layered::{Item, Layout, Link, lay_out};

/// The padding inside a box.
const PADDING: i64 = 12;
/// The height of the name of a loop.
const TITLE: i64 = 16;
/// The height of a line of text.
pub(super) const LINE: i64 = 14;
/// The width of a letter, rounded up.
const LETTER: i64 = 7;
/// The maximal number of drawn blocks and edges. `MAX_PASSED` limits the layers that edges pass.
const MAX_DRAWN: usize = 2_000;
const MAX_PASSED: usize = 50_000;

/// A rectangle: left, top, width, height.
pub(super) type Rectangle = (i64, i64, i64, i64);

/// The drawing of a function: the places of all its parts.
pub(super) struct Drawing {
    pub(super) blocks: Vec<Rectangle>,
    pub(super) loops: Vec<Rectangle>,
    /// The points each edge passes.
    pub(super) edges: Vec<Vec<(i64, i64)>>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// An item of a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Block(usize),
    Loop(usize),
    /// The exit of an edge.
    Way(usize),
}

/// The contents of a loop, or of the function.
#[derive(Default)]
struct Level {
    keys: Vec<Key>,
    places: HashMap<Key, usize>,
    /// Edges, with their source and target items at this level.
    links: Vec<(usize, Key, Key)>,
    layout: Option<Layout>,
}

impl Level {
    fn add(&mut self, key: Key) {
        self.places.insert(key, self.keys.len());
        self.keys.push(key);
    }
}

/// Returns the width of a text.
pub(super) fn text_width(text: &str) -> i64 {
    text.chars().count() as i64 * LETTER
}

/// Lays out a function. `None` if it is too large.
pub(super) fn draw(picture: &Picture) -> Option<Drawing> {
    if picture.blocks.len() + picture.edges.len() > MAX_DRAWN {
        return None;
    }
    let sizes: Vec<(i64, i64)> = (picture.blocks.iter())
        .map(|block| {
            let lines = std::iter::once(&block.name).chain(&block.roles);
            let width = lines.map(|line| text_width(line)).max().unwrap_or(0) + 16;
            (width.max(44), LINE * (1 + block.roles.len() as i64) + 8)
        })
        .collect();
    let mut levels = levels(picture);
    // A loop is laid out before its parents. For each loop, its size, and the place of its header
    // in it.
    let mut boxes = vec![(0, 0); picture.loops.len()];
    let mut entries = vec![0; picture.loops.len()];
    for at in (0..levels.len()).rev() {
        let size = |key: &Key| match key {
            Key::Block(block) => sizes[*block],
            Key::Loop(own) => boxes[*own],
            Key::Way(_) => (8, 0),
        };
        let items: Vec<Item> = (levels[at].keys.iter())
            .map(|key| {
                let (width, height) = size(key);
                Item { width, height, is_last: matches!(key, Key::Way(_)) }
            })
            .collect();
        let mut leaving: HashMap<Key, i64> = HashMap::new();
        let mut of_key: HashMap<Key, i64> = HashMap::new();
        levels[at].links.iter().for_each(|(_, from, _)| *of_key.entry(*from).or_default() += 1);
        let links: Vec<Link> = (levels[at].links.iter())
            .map(|(edge, from, to)| {
                let out = match from {
                    Key::Loop(own) => way_out(&levels[own + 1], *edge) + PADDING,
                    _ => {
                        let place = leaving.entry(*from).or_default();
                        *place += 1;
                        size(from).0 * *place / (of_key[from] + 1)
                    }
                };
                let into = match to {
                    Key::Block(block) if at > 0 && picture.loops[at - 1].header == *block => size(to).0 - 10,
                    Key::Loop(own) => entries[*own],
                    _ => size(to).0 / 2,
                };
                Link { from: (levels[at].places[from], out), to: (levels[at].places[to], into) }
            })
            .collect();
        let layout = lay_out(&items, &links, MAX_PASSED)?;
        if let Some(own) = at.checked_sub(1) {
            let header = Key::Block(picture.loops[own].header);
            let place = layout.places[levels[at].places[&header]];
            entries[own] = place.0 + size(&header).0 / 2 + PADDING;
            boxes[own] = (
                (layout.width + 2 * PADDING).max(text_width(&title(picture, own)) + 2 * PADDING),
                layout.height + 2 * PADDING + TITLE,
            );
        }
        levels[at].layout = Some(layout);
    }
    Some(place(picture, &levels, &sizes, &boxes))
}

/// Returns the title of a loop.
pub(super) fn title(picture: &Picture, at: usize) -> String {
    format!("loop of {}", picture.blocks[picture.loops[at].header].name)
}

/// Returns where an edge leaves a loop, from the left side of its contents.
fn way_out(level: &Level, edge: usize) -> i64 {
    let layout = level.layout.as_ref();
    layout.map_or(0, |layout| layout.places[level.places[&Key::Way(edge)]].0 + 4)
}

/// Returns the levels: the function, then each loop. A level has its direct items, the header
/// first, and the edges between them.
fn levels(picture: &Picture) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    levels.resize_with(picture.loops.len() + 1, Level::default);
    for (at, nest) in picture.loops.iter().enumerate() {
        levels[at + 1].add(Key::Block(nest.header));
    }
    for (at, block) in picture.blocks.iter().enumerate().filter(|(_, block)| !block.is_header) {
        levels[block.home.map_or(0, |home| home + 1)].add(Key::Block(at));
    }
    for (at, nest) in picture.loops.iter().enumerate() {
        levels[nest.parent.map_or(0, |parent| parent + 1)].add(Key::Loop(at));
    }
    for (at, edge) in picture.edges.iter().enumerate() {
        // From the inside out, the item of the target in each surrounding loop.
        let mut targets: HashMap<Option<usize>, Key> = HashMap::new();
        let (mut key, mut home) = (Key::Block(edge.to), picture.blocks[edge.to].home);
        loop {
            targets.insert(home, key);
            let Some(own) = home else { break };
            (key, home) = (Key::Loop(own), picture.loops[own].parent);
        }
        let (mut key, mut home) = (Key::Block(edge.from), picture.blocks[edge.from].home);
        loop {
            let level = &mut levels[home.map_or(0, |home| home + 1)];
            if let Some(target) = targets.get(&home) {
                level.links.push((at, key, *target));
                break;
            }
            level.add(Key::Way(at));
            level.links.push((at, key, Key::Way(at)));
            let Some(own) = home else { break };
            (key, home) = (Key::Loop(own), picture.loops[own].parent);
        }
    }
    levels
}

/// Nests the levels.
fn place(picture: &Picture, levels: &[Level], sizes: &[(i64, i64)], boxes: &[(i64, i64)]) -> Drawing {
    let mut drawing = Drawing {
        blocks: vec![(0, 0, 0, 0); picture.blocks.len()],
        loops: vec![(0, 0, 0, 0); picture.loops.len()],
        edges: vec![Vec::new(); picture.edges.len()],
        width: 0,
        height: 0,
    };
    let mut corners = vec![(0, 0); levels.len()];
    for (at, level) in levels.iter().enumerate() {
        let Some(layout) = &level.layout else { continue };
        let (x, y) = corners[at];
        if at == 0 {
            (drawing.width, drawing.height) = (layout.width, layout.height);
        }
        for (key, place) in level.keys.iter().zip(&layout.places) {
            let (left, top) = (x + place.0, y + place.1);
            match key {
                Key::Block(block) => drawing.blocks[*block] = (left, top, sizes[*block].0, sizes[*block].1),
                Key::Loop(own) => {
                    drawing.loops[*own] = (left, top, boxes[*own].0, boxes[*own].1);
                    corners[own + 1] = (left + PADDING, top + PADDING + TITLE);
                }
                Key::Way(_) => {}
            }
        }
    }
    // Inner levels come last, and an edge begins in the innermost level.
    for (at, level) in levels.iter().enumerate().rev() {
        let Some(layout) = &level.layout else { continue };
        let (x, y) = corners[at];
        for ((edge, ..), route) in level.links.iter().zip(&layout.routes) {
            drawing.edges[*edge].extend(route.iter().map(|point| (x + point.0, y + point.1)));
        }
    }
    for (edge, points) in picture.edges.iter().zip(&mut drawing.edges) {
        // The edge continues through the boxes around a header down to it.
        if let Some(last) = points.last().copied() {
            points.push((last.0, drawing.blocks[edge.to].1));
        }
        points.dedup();
    }
    drawing
}
