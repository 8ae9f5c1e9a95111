//! Raising: from IR to the tree.
//!
//! It never fails. A statement is any operation but a counted loop, a parallel loop, or an `if`. A
//! parallel loop is one loop of the tree for each dimension. The yield of an `if`'s branch is its
//! last statement. Statements that the chosen analysis ties are one
//! (`raise/tie.rs`).
//!
//! **Cost.** Linear in the operations.
//!
//! # Limits
//!
//! - `scf.parallel`, `affine.parallel` and `scf.forall` without results become one parallel loop
//!   per dimension, and so does `scf.parallel` with results that one operation each combines. Two
//!   are fused only if the iterations of the fused loop may run in any order. `affine.parallel` and
//!   `scf.forall` with results are opaque statements.
//! - `scf.if` becomes a guard, and each value that it yields becomes a statement. Any other
//!   operation with regions is one statement, and its regions are raised by themselves.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{Decision, LoopBounds, LoopLike};
use loomir_ir::{Block, Body, Op, Trait};
use smallvec::{SmallVec, smallvec};

use super::green::{Green, Header, Map, Origin, Span, TreeStore};
use super::ids::{IfId, LoopId, StatementId};
use super::program::{IfInfo, LoopInfo, Program, StatementInfo};
use super::sides::If;
use crate::access::base::AliasMode;
use crate::access::structure::{MAX_DEPTH, Structure};
use crate::access::updates::combined;
use crate::access::{Analyses, Effects, Reader, Space, header_may_be_undefined};
use crate::affine::AffineForm;
use crate::affine::condition::Condition;
use crate::affine::surroundings::Surroundings;

mod tie;

/// Raises the operations of `block`, its terminator excepted.
pub fn raise(body: &Body, block: Block, trees: &mut TreeStore, mode: AliasMode) -> Program {
    raise_by(&Analyses::default(), body, block, trees, mode)
}

/// Raises with these analyses.
pub fn raise_by(
    analyses: &Analyses,
    body: &Body,
    block: Block,
    trees: &mut TreeStore,
    mode: AliasMode,
) -> Program {
    let reader = Reader::new(body, block, mode, analyses);
    let mut raise = Raise {
        body,
        analyses,
        reader,
        trees,
        program: Program {
            block,
            root: TreeStore::EMPTY,
            surroundings: Surroundings::nothing(),
            loops: Vec::new(),
            ifs: Vec::new(),
            statements: Vec::new(),
            blocks: HashMap::new(),
            sides: HashMap::new(),
            depths: HashMap::new(),
        },
        identities: Vec::new(),
        extents: HashMap::new(),
        decisions: HashMap::new(),
        conditions: HashMap::new(),
    };
    raise.program.root = raise.block(block, Place { parent: None, depth: 0, nesting: 0 });
    raise.program.surroundings = raise.reader.surroundings();
    raise.program
}

/// Returns the blocks to raise, each to a tree of its own: the blocks of the function, and those
/// inside statements. In the order of the text.
pub fn roots(body: &Body, analyses: &Analyses) -> Vec<Block> {
    let mut found = Vec::new();
    // Blocks to visit, with the loops and conditionals around them in their tree.
    let mut stack: Vec<(Block, Option<u32>)> = body
        .own_regions(body.root())
        .flat_map(|region| body.blocks(region))
        .map(|block| (block, None))
        .collect();
    stack.reverse();
    while let Some((block, around)) = stack.pop() {
        if around.is_none() {
            found.push(block);
        }
        let (mark, depth) = (stack.len(), around.unwrap_or(0));
        for op in body.ops(block) {
            match analyses.structure(body, op).filter(|structure| depth + structure.levels() <= MAX_DEPTH) {
                Some(structure) => {
                    let inside = depth + structure.levels();
                    stack.extend(structure.blocks().map(|block| (block, Some(inside))));
                }
                None => {
                    let inside = body.own_regions(op).flat_map(|region| body.blocks(region));
                    stack.extend(inside.map(|block| (block, None)));
                }
            }
        }
        stack[mark..].reverse();
    }
    found
}

/// The place of an operation.
#[derive(Clone, Copy)]
struct Place {
    /// The innermost loop around.
    parent: Option<LoopId>,
    /// The number of loops around the place.
    depth: u32,
    /// The number of surrounding loops and `if`s.
    nesting: u32,
}

struct Raise<'a> {
    body: &'a Body,
    analyses: &'a Analyses,
    reader: Reader<'a>,
    trees: &'a mut TreeStore,
    program: Program,
    /// The identity map of each depth.
    identities: Vec<Map>,
    /// The first loop with these bounds.
    extents: HashMap<(Option<LoopId>, bool, LoopBounds), LoopId>,
    /// The first `if` with this decision.
    decisions: HashMap<Decision, IfId>,
    /// The first `if` that holds for the same forms.
    conditions: HashMap<Condition, IfId>,
}

impl<'a> Raise<'a> {
    /// Recurses once for each loop or `if`, at most [`MAX_DEPTH`] times.
    fn block(&mut self, block: Block, place: Place) -> Green {
        let body = self.body;
        let terminator = body.terminator(block);
        let (mut items, mut run) = (Vec::new(), Vec::new());
        for op in body.ops(block).filter(|op| Some(*op) != terminator) {
            for result in body.results(op).filter(|_| place.depth > 0) {
                self.program.depths.insert(result, place.depth);
            }
            let fits = |structure: &Structure<'_>| place.nesting + structure.levels() <= MAX_DEPTH;
            let structure = self.analyses.structure(body, op).filter(fits);
            if structure.is_some() {
                self.statements(&mut run, place, &mut items);
            }
            match structure {
                Some(Structure::Loop { model, block }) => {
                    items.push(self.enter_loop(op, model, block, place))
                }
                Some(Structure::Parallel { dimensions, block }) => {
                    items.push(self.enter_parallel(op, dimensions, block, place));
                }
                Some(Structure::If { decision, blocks }) => {
                    items.extend(self.enter_if(op, decision, blocks, place));
                }
                None => {
                    run.push(op);
                    continue;
                }
            }
        }
        self.statements(&mut run, place, &mut items);
        self.trees.sequence(&items)
    }

    /// Adds the statements of neighbouring operations, which are taken out of `run`.
    fn statements(&mut self, run: &mut Vec<Op>, place: Place, items: &mut Vec<Green>) {
        for part in run.chunks(tie::MAX_RUN) {
            let ties = self.analyses.statements.ties(self.body, part);
            if ties.is_empty() {
                for op in part {
                    let effects = self.reader.effects(*op, place.depth);
                    items.push(self.statement(smallvec![*op], effects, place));
                }
                continue;
            }
            let mut effects: Vec<Effects> =
                part.iter().map(|op| self.reader.effects(*op, place.depth)).collect();
            for statement in tie::statements(self.body, self.reader.bases(), part, &effects, &ties) {
                let ops = statement.iter().map(|at| part[*at]).collect();
                let effects = statement.into_iter().map(|at| std::mem::take(&mut effects[at]));
                let effects = effects.reduce(Effects::and_then).unwrap_or_default();
                items.push(self.statement(ops, effects, place));
            }
        }
        run.clear();
    }

    fn statement(&mut self, ops: SmallVec<[Op; 2]>, effects: Effects, place: Place) -> Green {
        let id = StatementId(self.program.statements.len() as u32);
        self.program.statements.push(StatementInfo { ops, parent: place.parent, effects });
        let map = self.identity(place.depth);
        self.trees.leaf(id, map)
    }

    fn enter_loop(&mut self, op: Op, model: &'a dyn LoopLike, block: Block, place: Place) -> Green {
        let body = self.body;
        let Place { depth, nesting, .. } = place;
        for value in body.arguments(block).skip(1) {
            self.program.depths.insert(value, depth + 1);
        }
        let space = self.reader.space(op, model, depth);
        self.reader.enter(block);
        let id = self.add_loop(op, block, 0, None, space, place);
        self.program.blocks.insert(block, id);
        let inside = self.block(block, Place { parent: Some(id), depth: depth + 1, nesting: nesting + 1 });
        self.close_loop(id, inside)
    }

    /// Enters one loop for each dimension, the first outside.
    fn enter_parallel(&mut self, op: Op, dimensions: Vec<LoopBounds>, block: Block, place: Place) -> Green {
        let mut inside = place;
        let mut ids = Vec::new();
        for (index, bounds) in dimensions.into_iter().enumerate() {
            let variable = self.body.argument(block, index);
            let space = self.reader.space_within(bounds, false, Some(variable), inside.depth);
            let id = self.add_loop(op, block, index, Some(index), space, inside);
            ids.push(id);
            inside = Place { parent: Some(id), depth: inside.depth + 1, nesting: inside.nesting + 1 };
        }
        self.reader.enter(block);
        if let Some(innermost) = ids.last() {
            self.program.blocks.insert(block, *innermost);
        }
        let mut body = self.block(block, inside);
        for id in ids.into_iter().rev() {
            let green = self.close_loop(id, body);
            body = self.trees.sequence(&[green]);
        }
        self.trees.item(body, 0).unwrap_or(body)
    }

    /// Adds a new loop whose induction variable is an argument of its body.
    fn add_loop(
        &mut self,
        op: Op,
        block: Block,
        argument: usize,
        dimension: Option<usize>,
        space: Space,
        Place { parent, depth, .. }: Place,
    ) -> LoopId {
        let id = LoopId(self.program.loops.len() as u32);
        let results = self.body.num_results(op);
        let (carried, reduced) = if dimension.is_some() { (0, results) } else { (results, 0) };
        let alike = *self.extents.entry((parent, space.unsigned, space.bounds.clone())).or_insert(id);
        self.program.loops.push(LoopInfo {
            op,
            block,
            variable: self.body.argument(block, argument),
            parent,
            depth,
            space,
            carried,
            reduced,
            anchor: if carried > 0 { anchor(self.body, block) } else { None },
            combines: carried > 0 && combined(self.body, block).is_some(),
            dimension,
            green: TreeStore::EMPTY,
            may_be_undefined: header_may_be_undefined(self.body, op, true),
            alike,
        });
        id
    }

    /// Returns the tree of a loop with a raised body.
    fn close_loop(&mut self, id: LoopId, inside: Green) -> Green {
        let info = self.program.loop_info(id);
        let (depth, parallel) = (info.depth, info.dimension.is_some());
        let map = self.identity(depth + 1);
        let map = self.trees.map(map).into();
        let origins = Box::new([Origin { of: id, map }]);
        let green = self.trees.make_loop(Header { span: Span::Whole, origins, parallel, mark: None }, inside);
        self.program.loops[id.0 as usize].green = green;
        green
    }

    /// Enters an `if` and returns the guards of the regions that have a block.
    fn enter_if(
        &mut self,
        op: Op,
        decision: Decision,
        blocks: [Option<Block>; 2],
        place: Place,
    ) -> impl Iterator<Item = Green> + use<> {
        let condition = self.reader.condition(&decision);
        let inside = Place { nesting: place.nesting + 1, ..place };
        let bodies = blocks.map(|block| {
            let block = block?;
            self.reader.enter(block);
            self.program.sides.insert(block, place.depth);
            let side = self.block(block, inside);
            Some(self.yielding(op, block, side, place))
        });
        let of = IfId(self.program.ifs.len() as u32);
        let alike = match self.decisions.get(&decision) {
            Some(alike) => *alike,
            None if condition.outcome(true).exact => *self.conditions.entry(condition.clone()).or_insert(of),
            None => of,
        };
        let several = !self.decisions.contains_key(&decision);
        if let Some(first) = self.program.ifs.get_mut(alike.0 as usize) {
            first.has_several_decisions |= several;
        }
        self.decisions.insert(decision.clone(), alike);
        let may_be_undefined = header_may_be_undefined(self.body, op, true);
        let decided_inside = self.program.decided_inside(self.body, &decision);
        self.program.ifs.push(IfInfo {
            op,
            decision,
            condition,
            may_be_undefined,
            bodies,
            alike,
            decided_inside,
            has_several_decisions: false,
        });
        let map = self.identity(place.depth);
        self.trees.guards(If { of, map, bodies })
    }

    /// Returns a raised branch of a conditional, with its yield if the conditional has results.
    fn yielding(&mut self, conditional: Op, block: Block, side: Green, place: Place) -> Green {
        let end = self.body.terminator(block).filter(|_| self.body.num_results(conditional) > 0);
        let Some(end) = end else { return side };
        let mut yielding = Vec::new();
        self.statements(&mut vec![end], place, &mut yielding);
        let yielding = self.trees.sequence(&yielding);
        self.trees.join(side, yielding)
    }

    fn identity(&mut self, depth: u32) -> Map {
        while self.identities.len() <= depth as usize {
            let depth = self.identities.len() as u32;
            let forms: Vec<AffineForm> = (0..depth).rev().map(AffineForm::level).collect();
            let map = self.trees.make_map(forms.into());
            self.identities.push(map);
        }
        self.identities[depth as usize]
    }
}

/// Returns an operation that is a statement, or part of one, directly in the body of a loop.
/// Prefers operations with effects.
fn anchor(body: &Body, block: Block) -> Option<Op> {
    let is_statement = |op: &Op| body.own_regions(*op).len() == 0 && Some(*op) != body.terminator(block);
    let statements = || body.ops(block).filter(is_statement);
    statements().find(|op| !body.has_trait(*op, Trait::Pure)).or_else(|| statements().next())
}
