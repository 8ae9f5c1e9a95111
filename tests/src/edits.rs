//! Random edits of loop trees, most of them wrong.

use loomir::ir::Body;
use loomir::transforms::dependence::form::Form;
use loomir::transforms::tree::{Forest, Green, Header, Node, Program, Red};

use crate::random::Random;

/// What an edit does, for counting.
pub const KINDS: &[&str] = &[
    "swap",
    "reverse",
    "interchange",
    "distribute",
    "fuse",
    "delay",
    "split",
    "drop",
    "repeat",
    "any order",
    "strip-mine",
];

/// A tree with something in it changed, and what; nothing if what was drawn cannot be done there.
pub fn edit(
    ir: &Body,
    forest: &mut Forest,
    program: &Program,
    tree: Green,
    random: &mut Random,
) -> Option<(Green, usize)> {
    let mut cursor = Red::of(tree);
    let (items, loops) = loop {
        let items: Vec<Green> = cursor.children(forest).collect();
        let loops: Vec<usize> =
            (0..items.len()).filter(|at| matches!(forest.get(items[*at]), Node::Loop { .. })).collect();
        // Inside a loop, or here.
        if loops.is_empty() || !random.chance(45) {
            break (items, loops);
        }
        cursor.down(forest, *random.pick(&loops));
    };
    let kind = random.weighted(&[15, 14, 14, 14, 22, 6, 10, 2, 3, 6, 12]);
    let (range, new): (std::ops::Range<usize>, Vec<Green>) = match kind {
        0 => {
            let at = random.below(items.len().checked_sub(1).filter(|n| *n > 0)?);
            (at..at + 2, vec![items[at + 1], items[at]])
        }
        4 => {
            // What stands between them runs before or behind.
            let pair = random.below(loops.len().checked_sub(1).filter(|n| *n > 0)?);
            let (first, second) = (loops[pair], loops[pair + 1]);
            let fused = forest.fused(items[first], items[second])?;
            let mut new = items[first + 1..second].to_vec();
            new.insert(if random.chance(70) { new.len() } else { 0 }, fused);
            (first..second + 1, new)
        }
        7 | 8 => {
            let at = random.below(items.len());
            let item = *items.get(at)?;
            (at..at + 1, if kind == 7 { Vec::new() } else { vec![item, item] })
        }
        _ => {
            let at = *loops.get(random.below(loops.len()))?;
            let item = items[at];
            let Node::Loop { header, body } = forest.get(item) else { return None };
            let new = match kind {
                1 => vec![forest.reversed(program, item)?],
                2 => vec![forest.interchanged(program, item)?],
                3 => {
                    // Behind what is not used any more, mostly.
                    let ends: Vec<usize> = (1..forest.items_in(body))
                        .filter(|at| {
                            forest.item(body, at - 1).is_some_and(|item| !computes(forest, program, ir, item))
                        })
                        .collect();
                    let cut = 1 + random.below(forest.items_in(body).checked_sub(1).filter(|n| *n > 0)?);
                    let cut = if ends.is_empty() || random.chance(20) { cut } else { *random.pick(&ends) };
                    forest.distributed(item, cut)?.to_vec()
                }
                5 => {
                    let later = forest.delayed(body, random.range(-1, 1))?;
                    vec![forest.with_header(header, later)]
                }
                9 => {
                    let header = forest.header(header).clone();
                    vec![forest.make_loop(Header { parallel: true, ..header }, body)]
                }
                10 => vec![forest.strip_mined(program, item, random.range(1, 4))?],
                _ => forest.range_split(program, item, &Form::constant(random.range(0, 4)))?.to_vec(),
            };
            (at..at + 1, new)
        }
    };
    cursor.splice(forest, range, &new);
    Some((cursor.root(), kind))
}

/// Whether an item is a statement that has results.
fn computes(forest: &Forest, program: &Program, ir: &Body, item: Green) -> bool {
    match forest.get(item) {
        Node::Leaf { statement, .. } => {
            program.statement(statement).ops.iter().any(|op| ir.num_results(*op) > 0)
        }
        _ => false,
    }
}
