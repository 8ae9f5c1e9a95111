//! Random edits of loop trees. Most of them are illegal.

use loomir::ir::Body;
use loomir::transforms::affine::{AffineForm, Atom};
use loomir::transforms::tree::{Change, Green, Header, Node, Program, Red, Separation, TreeStore};

use crate::random::Random;

/// The kinds of edits, for counting.
pub const KINDS: &[&str] = &[
    "move",
    "reverse",
    "permute",
    "distribute",
    "fuse",
    "shift",
    "split",
    "drop",
    "repeat",
    "any order",
    "strip-mine",
    "peel",
    "unroll",
    "jam",
    "flatten",
    "skew",
    "tile",
    "arrange",
    "wavefront",
    "morton",
    "separate",
    "unswitch",
    "hilbert",
    "vectorize",
];

/// Returns the tree after one random edit, and the kind of the edit. `None` if the drawn edit is
/// impossible there.
pub fn edit(
    ir: &Body,
    trees: &mut TreeStore,
    program: &Program,
    tree: Green,
    random: &mut Random,
) -> Option<(Green, usize)> {
    let (mut cursor, mut depth) = (Red::of(tree), 0);
    let (items, loops) = loop {
        let items: Vec<Green> = cursor.children(trees).collect();
        let loops: Vec<usize> =
            (0..items.len()).filter(|at| matches!(trees.get(items[*at]), Node::Loop { .. })).collect();
        // Inside a loop, or here.
        if loops.is_empty() || !random.chance(45) {
            break (items, loops);
        }
        cursor.down(trees, *random.pick(&loops));
        depth += 1;
    };
    let kind = random
        .weighted(&[15, 14, 14, 14, 22, 6, 10, 2, 3, 6, 12, 12, 10, 14, 8, 8, 14, 10, 14, 6, 10, 14, 8, 10]);
    let at = match kind {
        0 | 7 | 8 => random.below(items.len()),
        _ => *loops.get(random.below(loops.len()))?,
    };
    let item = *items.get(at)?;
    let change = match kind {
        0 => Change::Move { to: random.below(items.len()) },
        1 => Change::Reverse,
        2 => Change::Permute { order: Box::new([1, 0]) },
        3 => Change::Distribute { at: cut(ir, trees, program, item, random)? },
        4 => {
            // The items between the loops run before or after them.
            let next = *loops.iter().find(|next| **next > at)?;
            let (from, to, first) =
                if random.chance(70) { (at, next - 1, next - 1) } else { (next, at + 1, at) };
            let moved = Change::Move { to }.at(path(&cursor, from));
            let tree = moved.apply(program, trees, tree)?;
            let shift = if random.chance(70) { 0 } else { random.range(1, 2) };
            let fuse = Change::Fuse { shift }.at(path(&cursor, first));
            return Some((fuse.apply(program, trees, tree)?, kind));
        }
        6 => Change::SplitRange { at: bound(trees, program, item, depth, random)? },
        10 => Change::StripMine { size: random.range(1, 4) },
        11 => Change::Peel { first: random.below(3), last: random.below(3) },
        12 => Change::Unroll { count: 1 + random.below(4) },
        13 => Change::UnrollAndJam { count: 2 + random.below(2) },
        14 => Change::Flatten,
        15 => Change::Skew { by: random.range(-2, 2) },
        16 => {
            let sizes = Box::new([random.range(0, 3), random.range(1, 3)]);
            let separate =
                *random.pick(&[Separation::Nowhere, Separation::FullTiles, Separation::Everywhere]);
            Change::Tile { sizes, separate }
        }
        17 => {
            let Node::Loop { body, .. } = trees.get(item) else { return None };
            let mut left: Vec<usize> = (0..trees.items(body).count()).collect();
            let order = (0..left.len()).map(|_| left.remove(random.below(left.len())));
            Change::Arrange { order: order.collect() }
        }
        18 => Change::Wavefront { by: random.range(-2, 2) },
        19 => Change::Morton { depth: 1 + random.below(2), levels: 1 + random.below(2) as u32 },
        20 => {
            let place = path(&cursor, at);
            return Some((tiled_apart(trees, program, tree, &place, random)?, kind));
        }
        21 => Change::Unswitch { conditions: 1 + random.below(2) as u32 },
        22 => Change::Hilbert { levels: 1 + random.below(2) as u32 },
        23 => vectorized(random.below(6)),
        _ => {
            let new = no_edit(trees, kind, item, random)?;
            cursor.splice(trees, at..at + 1, &new);
            return Some((cursor.root(), kind));
        }
    };
    let edit = change.at(path(&cursor, at));
    Some((edit.apply(program, trees, tree)?, kind))
}

fn vectorized(choice: usize) -> Change {
    Change::Vectorize { lanes: 2 + choice % 3, masked: choice < 3 }
}

/// Returns the items in the place of one after a change that no edit makes.
fn no_edit(trees: &mut TreeStore, kind: usize, item: Green, random: &mut Random) -> Option<Vec<Green>> {
    Some(match (kind, trees.get(item)) {
        (5, Node::Loop { header, body }) => {
            let later = trees.shifted(body, random.range(-1, 1))?;
            vec![trees.with_header(header, later)]
        }
        (7, _) => Vec::new(),
        (8, _) => vec![item, item],
        (_, Node::Loop { header, body }) => {
            let header = trees.header(header).clone();
            vec![trees.make_loop(Header { parallel: true, ..header }, body)]
        }
        _ => return None,
    })
}

/// Returns the tree with a nest in tiles, and some of its loops split where tiles are full: those
/// over tiles, or one inside a tile too.
fn tiled_apart(
    trees: &mut TreeStore,
    program: &Program,
    tree: Green,
    place: &[usize],
    random: &mut Random,
) -> Option<Green> {
    let sizes = Box::new([random.range(1, 3), random.range(0, 4)]);
    let tile = Change::Tile { sizes, separate: Separation::Nowhere }.at(place);
    let tree = tile.apply(program, trees, tree)?;
    let separate = Change::Separate { depth: 1 + random.below(3), all: random.chance(50) }.at(place);
    separate.apply(program, trees, tree)
}

/// Returns where to split the range of a loop inside `depth` others. The bound is mostly a number,
/// else the sum of a number and an outer induction variable or a number that bounds the loop.
fn bound(
    trees: &TreeStore,
    program: &Program,
    item: Green,
    depth: u32,
    random: &mut Random,
) -> Option<AffineForm> {
    let mut sum = AffineForm::constant(random.range(0, 4));
    if depth > 0 && random.chance(30) {
        let level = AffineForm::level(random.below(depth as usize) as u32);
        sum = sum.plus(&level, *random.pick(&[1, 1, -1, 2]))?;
    }
    if random.chance(20)
        && let Node::Loop { header, .. } = trees.get(item)
    {
        let lead = trees.header(header).origins.first()?.of;
        let mut parameters = Vec::new();
        program
            .loop_info(lead)
            .space
            .bounds()
            .for_each(|own| own.each_parameter(&mut |at| parameters.push(at)));
        if let Some(value) = parameters.first() {
            sum = sum.plus(&AffineForm::atom(Atom::Param(*value)), *random.pick(&[1, -1, 2]))?;
        }
    }
    Some(sum)
}

/// Returns the tree with a change of the item at `place`. Panics if the change is impossible.
pub fn made(trees: &mut TreeStore, program: &Program, tree: Green, place: &[usize], change: Change) -> Green {
    let edit = change.at(place);
    edit.apply(program, trees, tree).unwrap_or_else(|| panic!("{edit:?} can be made"))
}

/// Returns the path of a child of the cursor's node.
fn path(cursor: &Red, at: usize) -> Box<[usize]> {
    cursor.path().chain([at]).collect()
}

/// Returns where to cut the body of a loop: mostly behind an item whose values are not used later.
fn cut(ir: &Body, trees: &TreeStore, program: &Program, item: Green, random: &mut Random) -> Option<usize> {
    let Node::Loop { body, .. } = trees.get(item) else { return None };
    let cut = 1 + random.below(trees.items_in(body).checked_sub(1).filter(|n| *n > 0)?);
    let is_end =
        |at: &usize| trees.item(body, at - 1).is_some_and(|item| !computes(trees, program, ir, item));
    let ends: Vec<usize> = (1..trees.items_in(body)).filter(is_end).collect();
    Some(if ends.is_empty() || random.chance(20) { cut } else { *random.pick(&ends) })
}

/// True if an item is a statement that has results.
fn computes(trees: &TreeStore, program: &Program, ir: &Body, item: Green) -> bool {
    match trees.get(item) {
        Node::Leaf { statement, .. } => {
            program.statement(statement).ops.iter().any(|op| ir.num_results(*op) > 0)
        }
        _ => false,
    }
}
