//! The body of a loop as a sequence of pieces, and its possible cuts.
//!
//! A piece is an item of the body, or of a guard in it, together with its guards. A cut may
//! therefore go through an `if`, which becomes two with the same condition. A pure computation is a
//! piece too, but it is recomputed where it is needed and blocks no cut. A cut is *open* if no
//! other value computed before it is used behind it. Legality decides if it may be made.
//!
//! **Assumptions.**
//! - The condition of a piece is among its uses. Tried with
//!   `fixtures/distribution/predicates.mlir`.
//!
//! **Cost.** Linear in the contents of the loop; so is writing a part.

use std::ops::Range;

use hashbrown::HashMap;
use loomir_ir::{Body, Op, Value};

use crate::tree::{Green, IfId, Map, Node, Program, TreeStore};

/// A condition that has to hold, or to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Guard {
    of: IfId,
    map: Map,
    holds: bool,
}

/// A piece of a body.
#[derive(Clone, Debug)]
struct Piece {
    /// From the outside.
    guards: Vec<Guard>,
    item: Green,
    /// The operation of the piece, or its first one.
    op: Op,
    /// The earlier pieces that compute its operands or its condition, each with the value.
    uses: Vec<(usize, Value)>,
    /// True if it may be run again, or not at all.
    pure: bool,
    /// True if the piece has effects besides computing and reading.
    writes: bool,
}

/// The body of a loop in pieces. See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    of_op: HashMap<Op, usize>,
    /// The pieces that are pure computations of values from outside or of other such pieces.
    again: Vec<bool>,
}

impl Pieces {
    /// Returns the pieces of a sequence, the body of a loop.
    pub(crate) fn of(ir: &Body, program: &Program, trees: &TreeStore, body: Green) -> Pieces {
        let mut pieces = Pieces { pieces: Vec::new(), of_op: HashMap::new(), again: Vec::new() };
        pieces.visit(ir, program, trees, body, &mut Vec::new());
        for piece in &pieces.pieces {
            let again = piece.pure && piece.uses.iter().all(|(from, _)| pieces.again[*from]);
            pieces.again.push(again);
        }
        pieces
    }

    /// Recurses once for each guard. Raising bounds their nesting depth.
    fn visit(
        &mut self,
        ir: &Body,
        program: &Program,
        trees: &TreeStore,
        tree: Green,
        guards: &mut Vec<Guard>,
    ) {
        for item in trees.items(tree) {
            let ops: Vec<Op> = match trees.get(item) {
                Node::Guard { of, map, holds, body } => {
                    guards.push(Guard { of, map, holds });
                    self.visit(ir, program, trees, body, guards);
                    guards.pop();
                    continue;
                }
                Node::Leaf { statement, .. } => program.statement(statement).ops.to_vec(),
                Node::Loop { header, .. } => {
                    let origins = &trees.header(header).origins;
                    origins.iter().map(|origin| program.loop_info(origin.of).op).collect()
                }
                Node::Empty | Node::Sequence { .. } | Node::Versioned { .. } => Vec::new(),
            };
            let Some(op) = ops.first().copied() else { continue };
            let conditions = guards.iter().map(|guard| program.if_info(guard.of).op);
            let inside = ops.iter().flat_map(|op| ir.preorder(*op));
            let used = conditions.chain(inside).flat_map(|op| ir.operands(op));
            let from = |value: Value| Some((*self.of_op.get(&ir.defining_op(value)?)?, value));
            let mut uses: Vec<(usize, Value)> = used.filter_map(from).collect();
            uses.sort_unstable_by_key(|(from, value)| (*from, value.index()));
            uses.dedup();
            let (mut pure, mut writes) = (false, true);
            let place = self.pieces.len();
            if let Node::Leaf { statement, .. } = trees.get(item) {
                let info = program.statement(statement);
                // The results of a conditional are used behind both sides, so the second side
                // completes them.
                if let Some(conditional) = info.yields_for(ir)
                    && let Some(first) = self.of_op.insert(conditional, place)
                {
                    uses.push((first, ir.result(conditional, 0)));
                }
                pure = info.is_pure(ir);
                writes = info.effects.world.is_some()
                    || info.effects.classes.iter().any(|(class, _)| class.writes);
            }
            self.of_op.extend(ops.into_iter().map(|op| (op, place)));
            self.pieces.push(Piece { guards: guards.clone(), item, op, uses, pure, writes });
        }
    }

    /// Their number.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the operation of a piece, or its first one.
    pub(crate) fn op(&self, piece: usize) -> Op {
        self.pieces[piece].op
    }

    /// Returns the first of some pieces with an effect besides computing.
    pub(crate) fn first_effect(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|piece| !self.pieces[*piece].pure)
    }

    /// Returns the conditionals that a cut goes through, or whose branches it separates.
    pub(crate) fn conditionals(&self, program: &Program, at: usize) -> Vec<Op> {
        let [Some(before), Some(behind)] = [at.checked_sub(1), Some(at)].map(|at| self.pieces.get(at?))
        else {
            return Vec::new();
        };
        let both =
            before.guards.iter().zip(&behind.guards).take_while(|(a, b)| (a.of, a.map) == (b.of, b.map));
        both.map(|(guard, _)| program.if_info(guard.of).op).collect()
    }

    /// Returns the pieces that a conditional around pieces of the loop controls.
    pub(crate) fn decided(&self, program: &Program, conditional: Op) -> impl Iterator<Item = usize> {
        let is_it = move |guard: &Guard| program.if_info(guard.of).op == conditional;
        let pieces = self.pieces.iter().enumerate();
        pieces.filter(move |(_, piece)| piece.guards.iter().any(is_it)).map(|(place, _)| place)
    }

    /// Returns the piece that contains an operation, and the operation of the piece around it.
    pub(crate) fn holding(&self, ir: &Body, op: Op) -> Option<(usize, Op)> {
        let own = |op: Op| Some((*self.of_op.get(&op)?, op));
        std::iter::successors(Some(op), |op| ir.parent_op(*op)).find_map(own)
    }

    /// Returns, for each place before a piece, the number of values that a cut there would have to
    /// pass on. `None` if one side of the cut writes nothing.
    fn crossings(&self) -> Vec<Option<usize>> {
        let mut last_uses: HashMap<(usize, Value), usize> = HashMap::new();
        for (place, piece) in self.pieces.iter().enumerate() {
            for (from, value) in piece.uses.iter().filter(|(from, _)| !self.again[*from]) {
                last_uses.insert((*from, *value), place);
            }
        }
        let mut change = vec![0isize; self.len() + 1];
        for ((from, _), to) in &last_uses {
            change[from + 1] += 1;
            change[to + 1] -= 1;
        }
        let writing = || (0..self.len()).filter(|piece| self.pieces[*piece].writes);
        let (first, last) = (writing().next(), writing().next_back());
        let mut crossing = 0isize;
        let count = |at: usize| {
            crossing += change[at];
            (first.is_some_and(|first| first < at) && Some(at) <= last).then_some(crossing.unsigned_abs())
        };
        (0..self.len()).map(count).collect()
    }

    /// Returns, between each two writing neighbours, the first cut that passes on the fewest
    /// values, and their number.
    pub(crate) fn gaps(&self) -> Vec<(usize, usize)> {
        let mut gaps: Vec<(usize, usize)> = Vec::new();
        let mut is_new = true;
        for (at, crossing) in self.crossings().into_iter().enumerate() {
            is_new |= at > 0 && self.pieces[at - 1].writes;
            let Some(crossing) = crossing else { continue };
            match gaps.last_mut() {
                Some(last) if !is_new => {
                    if crossing < last.1 {
                        *last = (at, crossing);
                    }
                }
                _ => gaps.push((at, crossing)),
            }
            is_new = false;
        }
        gaps
    }

    /// Returns the places where the body may be cut without passing on a value.
    pub(crate) fn open_cuts(&self) -> Vec<usize> {
        let crossings = self.crossings();
        (0..crossings.len()).filter(|at| crossings[*at] == Some(0)).collect()
    }

    /// Returns the values that a cut would have to pass on, each with the piece that computes it.
    pub(crate) fn crossing(&self, at: usize) -> Vec<(usize, Value)> {
        let behind = self.pieces[at..].iter().flat_map(|piece| &piece.uses);
        let mut values: Vec<_> =
            behind.copied().filter(|(from, _)| *from < at && !self.again[*from]).collect();
        values.sort_unstable_by_key(|(from, value)| (*from, value.index()));
        values.dedup();
        values
    }

    /// Returns the sequence that runs some pieces, and recomputes their operands.
    pub(crate) fn part(&self, trees: &mut TreeStore, range: Range<usize>) -> Green {
        let mut needed: Vec<bool> = vec![false; range.end];
        for place in (0..range.end).rev() {
            needed[place] |= range.contains(&place) && !self.pieces[place].pure;
            if needed[place] {
                let uses = self.pieces[place].uses.iter().map(|(from, _)| *from);
                uses.filter(|from| range.contains(from) || self.again[*from])
                    .for_each(|from| needed[from] = true);
            }
        }
        // The open guards, each with its contents so far. The outermost entry has no guard.
        let mut open: Vec<(Option<Guard>, Vec<Green>)> = vec![(None, Vec::new())];
        for (_, piece) in
            self.pieces.iter().enumerate().filter(|(place, _)| needed.get(*place) == Some(&true))
        {
            let own = open.iter().skip(1).zip(&piece.guards);
            let common = own.take_while(|((guard, _), own)| *guard == Some(**own)).count();
            close(trees, &mut open, 1 + common);
            open.extend(piece.guards[common..].iter().map(|guard| (Some(*guard), Vec::new())));
            if let Some((_, items)) = open.last_mut() {
                items.push(piece.item);
            }
        }
        close(trees, &mut open, 1);
        let items = open.pop().map(|(_, items)| items).unwrap_or_default();
        trees.sequence(&items)
    }
}

/// Closes guards until `left` are open.
fn close(trees: &mut TreeStore, open: &mut Vec<(Option<Guard>, Vec<Green>)>, left: usize) {
    while open.len() > left {
        let Some((Some(Guard { of, map, holds }), items)) = open.pop() else { return };
        let body = trees.sequence(&items);
        let guard = trees.guard(of, map, holds, body);
        if let Some((_, around)) = open.last_mut() {
            around.push(guard);
        }
    }
}
