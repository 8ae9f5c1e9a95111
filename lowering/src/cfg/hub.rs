//! Hubs: a block that several edges go through. An argument tells it where each edge wants to go.
//!
//! The block has an argument for the target (a truth value for two targets, a number for more). It
//! also has arguments for the operands of the targets: as many of each type as one target needs,
//! because only one is entered. An edge passes the operands of its own target and poison for the
//! rest. A hub for many edges to many targets therefore costs the edges times the arguments of one
//! target, not of all.

use hashbrown::HashMap;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Op, Type, Value};

use super::Analysis;
use super::branch::{Ending, Target, change_operands, end_block, successor_operands};
use super::constants::Constants;

/// Redirects edges, given by branch and successor number, through a new block. The block is in
/// `innermost` and the loops around it, and is placed behind `after`. Edges of one branch must have
/// one target and the same operands. The caller updates the loops. Linear in the resulting operands
/// of the edges, plus the cost of dominators.
pub(super) fn lead_through_hub(
    function: &mut Body,
    analysis: &mut Analysis,
    constants: &mut Constants,
    edges: &[(Op, usize)],
    after: Block,
    innermost: Option<LoopId>,
) -> Block {
    let mut targets: Vec<Block> = Vec::new();
    let mut ways: HashMap<Block, usize> = HashMap::new();
    for (op, index) in edges {
        if let Some(to) = function.successors(*op).nth(*index) {
            ways.entry(to).or_insert_with(|| {
                targets.push(to);
                targets.len() - 1
            });
        }
    }
    let mut places = Places::default();
    let places_of: Vec<Vec<usize>> = targets.iter().map(|to| places.of(function, *to)).collect();
    let selector = if targets.len() == 2 { Type::I1 } else { Type::I32 };
    let selectors: Vec<Value> =
        (0..targets.len()).map(|way| constants.get(function, selector, Some(way))).collect();
    let poison: Vec<Value> = places.types.iter().map(|ty| constants.get(function, *ty, None)).collect();
    let types: Vec<Type> = [selector].iter().chain(&places.types).copied().collect();
    let hub = analysis.new_block(function, &types, after, innermost);
    let arguments: Vec<Value> = function.arguments(hub).collect();
    let onward = |way: usize| {
        let operands = places_of[way].iter().map(|place| arguments[place + 1]).collect();
        Target { block: targets[way], operands }
    };
    end_block(function, hub, &dispatch(arguments[0], targets.len(), onward));
    analysis.branch_changed(function, hub);
    let mut branches: Vec<Op> = Vec::new();
    let mut way_of: HashMap<Op, usize> = HashMap::new();
    for (op, index) in edges {
        let Some(way) = function.successors(*op).nth(*index).and_then(|to| ways.get(&to)).copied() else {
            continue;
        };
        if branches.last() != Some(op) {
            branches.push(*op);
        }
        function.set_successor(*op, *index, hub);
        way_of.insert(*op, way);
    }
    change_operands(function, &branches, |_, op, to, operands| {
        if to == hub {
            let way = way_of[&op];
            let mut handed: Vec<Value> = poison.clone();
            for (place, value) in places_of[way].iter().zip(operands.iter()) {
                handed[*place] = *value;
            }
            handed.insert(0, selectors[way]);
            *operands = handed;
        }
    });
    for op in branches {
        if let Some(block) = function.block_of(op) {
            analysis.branch_changed(function, block);
        }
    }
    hub
}

/// Returns the ending that dispatches on a selector among `count` targets.
fn dispatch(selector: Value, count: usize, onward: impl Fn(usize) -> Target) -> Ending {
    match count {
        1 => Ending::Branch(onward(0)),
        2 => Ending::Conditional(selector, [onward(0), onward(1)]),
        _ => {
            let cases = (0..count - 1).map(|way| (way as u128, onward(way))).collect();
            Ending::Switch(selector, onward(count - 1), cases)
        }
    }
}

/// Argument positions of the hub, which its targets share.
#[derive(Default)]
struct Places {
    types: Vec<Type>,
    of_type: HashMap<Type, Vec<usize>>,
}

impl Places {
    /// Returns a position for each argument of a target.
    fn of(&mut self, function: &Body, target: Block) -> Vec<usize> {
        let mut taken: HashMap<Type, usize> = HashMap::new();
        let mut places = Vec::new();
        for argument in function.arguments(target) {
            let ty = function.value_type(argument);
            let own = self.of_type.entry(ty).or_default();
            let taken = taken.entry(ty).or_default();
            if *taken == own.len() {
                own.push(self.types.len());
                self.types.push(ty);
            }
            places.push(own[*taken]);
            *taken += 1;
        }
        places
    }
}

/// Splits edges of a branch with several successors, given by successor number: one new block for
/// each target. Each new edge is then the only edge of a branch. Returns the new edges.
pub(super) fn part_edges(
    function: &mut Body,
    analysis: &mut Analysis,
    branch: Op,
    edges: &[usize],
) -> Vec<(Op, usize)> {
    if let [only] = edges[..] {
        return vec![(branch, only)];
    }
    let Some(from) = function.block_of(branch) else { return Vec::new() };
    let mut of_target: Vec<(Block, Vec<(Op, usize)>)> = Vec::new();
    let mut places: HashMap<Block, usize> = HashMap::new();
    let successors: Vec<Block> = function.successors(branch).collect();
    for index in edges {
        let to = successors[*index];
        let place = *places.entry(to).or_insert(of_target.len());
        if place == of_target.len() {
            of_target.push((to, Vec::new()));
        }
        of_target[place].1.push((branch, *index));
    }
    let mut parted = Vec::new();
    for (to, edges) in of_target {
        let block = analysis.insert_block(function, &edges, to, from);
        parted.extend(function.terminator(block).map(|op| (op, 0)));
    }
    parted
}

/// True if all these edges of a branch have the same target and operands.
pub(super) fn are_one(function: &Body, branch: Op, edges: &[usize]) -> bool {
    let blocks: Vec<Block> = function.successors(branch).collect();
    let operands = successor_operands(function, branch);
    edges.windows(2).all(|pair| blocks[pair[0]] == blocks[pair[1]] && operands[pair[0]] == operands[pair[1]])
}

/// Groups edges by their branch, in the order of first appearance. Each group holds successor
/// numbers.
pub(super) fn by_branch(edges: Vec<(Op, usize)>) -> Vec<(Op, Vec<usize>)> {
    let mut places: HashMap<Op, usize> = HashMap::new();
    let mut groups: Vec<(Op, Vec<usize>)> = Vec::new();
    for (op, index) in edges {
        let place = *places.entry(op).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, own)) => own.push(index),
            None => groups.push((op, vec![index])),
        }
    }
    groups
}
