//! Comparison of two functions up to names, the places of pure operations, and the order of
//! reorderable operations.
//!
//! Both are walked in step from their entries. Each branch must have as many successors as its
//! partner, and a block that was visited before must meet the same partner again. Corresponding
//! blocks must have the same effects, in the same order as far as that matters, on equal
//! (`classes`) values. Branches must decide by equal values in the same way. Promises about results
//! on one side alone are counted and are no difference.
//!
//! The answer "equal" proves that both behave the same; "different" does not prove that they don't.
//! Cost: that of the classes.

use hashbrown::HashMap;
use loomir_ir::graph::ControlFlow;
use loomir_ir::{Attr, Block, Body, Loc, Name, Op};

use super::classes::{Classes, Happens, Side, classes, operands};
use super::shape::{Shapes, promises};

/// The result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// They are equal, except for this many values with more promises on one side.
    Equal(usize),
    /// They differ: the first difference.
    Different(Difference),
    /// They can't be compared, for this reason.
    Open(&'static str),
}

/// A difference of two functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The difference, in a sentence.
    pub what: String,
    /// Its location in each function.
    pub places: [Loc; 2],
}

/// Compares two functions of one context.
pub fn compare(first: &Body, second: &Body) -> Comparison {
    let functions = [first, second];
    let has_regions = |function: &&Body| {
        let blocks = function.blocks(function.region(function.root(), 0));
        blocks.flat_map(|block| function.ops(block)).any(|op| function.own_regions(op).len() > 0)
    };
    if functions.iter().any(has_regions) {
        return Comparison::Open("an operation with regions");
    }
    let mut shapes = Shapes::default();
    let [x, y] = functions.map(|function| shapes.of(function, function.root()));
    if x != y {
        let places = functions.map(|function| function.loc(function.root()));
        return Comparison::Different(Difference { what: "their types or attributes differ".into(), places });
    }
    let blocks = match in_step(functions) {
        Ok(blocks) => blocks,
        Err(difference) => return Comparison::Different(difference),
    };
    let [a, b] = blocks;
    let sides = [Side::of(first, a, &mut shapes), Side::of(second, b, &mut shapes)];
    let Some(known) = classes(&sides) else { return Comparison::Open("arguments that are told apart late") };
    for number in 0..sides[0].blocks.len() {
        if let Err(difference) = same_block(&sides, &known, &mut shapes, number) {
            return Comparison::Different(difference);
        }
    }
    Comparison::Equal(promised_apart(&sides, &known))
}

/// Returns the blocks of two functions, corresponding ones at the same place, dominators first.
fn in_step(functions: [&Body; 2]) -> Result<[Vec<Block>; 2], Difference> {
    let flow = functions.map(|function| ControlFlow::of(function, function.region(function.root(), 0)));
    let ends = |side: usize, block: Block| functions[side].terminator(block);
    let mut partners: [HashMap<Block, Block>; 2] = Default::default();
    let entries = [0, 1]
        .map(|side: usize| functions[side].entry_block(functions[side].region(functions[side].root(), 0)));
    let [Some(a), Some(b)] = entries else {
        return Err(Difference { what: "only one has a body".into(), places: [Loc::UNKNOWN; 2] });
    };
    if functions[0].num_arguments(a) != functions[1].num_arguments(b) {
        return Err(Difference { what: "their parameters differ".into(), places: [Loc::UNKNOWN; 2] });
    }
    let mut pending = vec![[a, b]];
    partners[0].insert(a, b);
    partners[1].insert(b, a);
    while let Some(pair) = pending.pop() {
        let places = [0, 1].map(|side| place(functions[side], ends(side, pair[side])));
        let differ = |what: &str| Err(Difference { what: what.into(), places });
        let [x, y] = [0, 1].map(|side| functions[side].block_successors(pair[side]).collect::<Vec<_>>());
        if x.len() != y.len() {
            return differ("branches lead to different numbers of blocks");
        }
        for next in x.into_iter().zip(y).map(|(x, y)| [x, y]) {
            match [partners[0].get(&next[0]), partners[1].get(&next[1])] {
                [None, None] => {
                    partners[0].insert(next[0], next[1]);
                    partners[1].insert(next[1], next[0]);
                    pending.push(next);
                }
                [Some(known), _] if *known == next[1] => {}
                _ => return differ("branches lead to blocks that are not the same"),
            }
        }
    }
    let mut order: Vec<Block> =
        flow[0].graph().post_order(0).into_iter().map(|node| flow[0].block(node)).collect();
    order.reverse();
    let others = order.iter().map(|block| partners[0][block]).collect();
    Ok([order, others])
}

fn place(function: &Body, op: Option<Op>) -> Loc {
    op.map_or(Loc::UNKNOWN, |op| function.loc(op))
}

/// Checks that two blocks have the same effects and equal terminators.
fn same_block(
    sides: &[Side<'_>; 2],
    known: &[Classes; 2],
    shapes: &mut Shapes,
    number: usize,
) -> Result<(), Difference> {
    let ends = [0, 1].map(|side: usize| sides[side].function.terminator(sides[side].blocks[number]));
    let end = [0, 1].map(|side: usize| place(sides[side].function, ends[side]));
    for side in [0, 1] {
        let [own, other] = [side, 1 - side].map(|side| &known[side].happens[number]);
        if let Some(op) = without_partner(own, other) {
            let function = sides[side].function;
            let name = function.op_ref(op).name();
            let what = format!("'{name}' stands only in the {} of them", ["first", "second"][side]);
            let mut places = end;
            places[side] = function.loc(op);
            return Err(Difference { what, places });
        }
    }
    let differ = |what: &str| Err(Difference { what: what.into(), places: end });
    let [Some(a), Some(b)] = ends else { return differ("a block has no end") };
    let [x, y] = [(0, a), (1, b)].map(|(side, op): (usize, Op)| shapes.of(sides[side].function, op));
    if x != y {
        return differ("branches are not of one kind, or different things are said there");
    }
    let [x, y] =
        [(0, a), (1, b)].map(|(side, op): (usize, Op)| operands(sides[side].function, op, &known[side]));
    if x != y {
        return differ("branches decide by different values, or different values are returned");
    }
    Ok(())
}

/// Returns the first event that occurs more often in one block than in the other.
fn without_partner(own: &[Happens], other: &[Happens]) -> Option<Op> {
    let mut left: HashMap<u32, usize> = HashMap::new();
    other.iter().for_each(|happens| *left.entry(happens.class).or_default() += 1);
    let mut own = own.iter();
    let lonely = own.find(|happens| match left.get_mut(&happens.class) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    lonely.map(|happens| happens.op)
}

/// The promises about a value on each side.
type Promises = [Option<Vec<(Name, Attr)>>; 2];

/// Returns the number of values with different promises on both sides.
fn promised_apart(sides: &[Side<'_>; 2], known: &[Classes; 2]) -> usize {
    let mut all: HashMap<u32, Promises> = HashMap::new();
    for (side, own) in sides.iter().enumerate() {
        for op in own.blocks.iter().flat_map(|block| own.function.ops(*block)) {
            if let Some(value) = own.function.results(op).next() {
                let promised = &mut all.entry(known[side].of(value)).or_default()[side];
                promised.get_or_insert_with(|| promises(own.function, op));
            }
        }
    }
    all.values().filter(|[a, b]| a.is_some() && b.is_some() && a != b).count()
}
