//! From IR to the tree. It never fails: what is no counted loop is a statement.
//!
//! **Cost.** Linear in the operations.

use hashbrown::HashMap;
use loomir_dialects::interfaces::LoopLike;
use loomir_ir::{Block, Body, Op};

use super::green::{Forest, Green, Header, Map, Origin, Span};
use super::program::{LoopId, LoopInfo, Program, StatementId, StatementInfo};
use crate::dependence::access::Reader;
use crate::dependence::base::AliasMode;
use crate::dependence::form::{Atom, Form};
use crate::dependence::surroundings::Surroundings;

/// Loops that stand inside more loops than this are statements.
pub const MAX_DEPTH: u32 = 32;

/// Raises the operations of `block`, its terminator excepted.
pub fn raise(body: &Body, block: Block, forest: &mut Forest, mode: AliasMode) -> Program {
    let mut raise = Raise {
        body,
        reader: Reader::new(body, block, mode),
        forest,
        program: Program {
            block,
            root: Forest::EMPTY,
            surroundings: Surroundings::of(body, block),
            loops: Vec::new(),
            statements: Vec::new(),
            blocks: HashMap::new(),
            depths: HashMap::new(),
        },
        identities: Vec::new(),
    };
    raise.program.root = raise.block(block, None, 0);
    raise.program
}

/// Whether an operation is a counted loop of one block that ends in a terminator.
pub fn is_loop(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    let Some(model) = view.info().interface::<dyn LoopLike>() else { return false };
    body.single_block(model.body(view)).and_then(|block| body.terminator(block)).is_some()
}

struct Raise<'a> {
    body: &'a Body,
    reader: Reader<'a>,
    forest: &'a mut Forest,
    program: Program,
    /// The identity map of each depth.
    identities: Vec<Map>,
}

impl Raise<'_> {
    fn block(&mut self, block: Block, parent: Option<LoopId>, depth: u32) -> Green {
        let terminator = self.body.terminator(block);
        let mut items = Vec::new();
        for op in self.body.ops(block) {
            if Some(op) == terminator {
                continue;
            }
            items.push(if depth < MAX_DEPTH && is_loop(self.body, op) {
                self.enter_loop(op, parent, depth)
            } else {
                self.statement(op, parent, depth)
            });
        }
        self.forest.sequence(&items)
    }

    fn statement(&mut self, op: Op, parent: Option<LoopId>, depth: u32) -> Green {
        if depth > 0 {
            for result in self.body.results(op) {
                self.program.depths.insert(result, depth);
            }
        }
        let effects = self.reader.effects(op, depth);
        let id = StatementId(self.program.statements.len() as u32);
        self.program.statements.push(StatementInfo { op, parent, effects });
        let map = self.identity(depth);
        self.forest.leaf(id, map)
    }

    /// Recurses once a loop, at most [`MAX_DEPTH`] times.
    fn enter_loop(&mut self, op: Op, parent: Option<LoopId>, depth: u32) -> Green {
        let body = self.body;
        let view = body.op_ref(op);
        let found = view.info().interface::<dyn LoopLike>();
        let entered = found.and_then(|model| Some((model, body.entry_block(model.body(view))?)));
        let Some((model, block)) = entered else { return self.statement(op, parent, depth) };
        for value in body.results(op).filter(|_| depth > 0) {
            self.program.depths.insert(value, depth);
        }
        for value in body.arguments(block).skip(1) {
            self.program.depths.insert(value, depth + 1);
        }
        let space = self.reader.space(op, model, depth);
        self.reader.enter(block);
        let id = LoopId(self.program.loops.len() as u32);
        let carried = body.num_results(op);
        let info = LoopInfo {
            op,
            block,
            variable: body.argument(block, 0),
            parent,
            depth,
            space,
            carried,
            green: Forest::EMPTY,
        };
        self.program.loops.push(info);
        self.program.blocks.insert(block, id);
        let inside = self.block(block, Some(id), depth + 1);
        let map = self.identity(depth + 1);
        let map = self.forest.map(map).into();
        let header = Header { span: Span::Whole, origins: Box::new([Origin { of: id, map }]) };
        let green = self.forest.make_loop(header, inside);
        self.program.loops[id.0 as usize].green = green;
        green
    }

    fn identity(&mut self, depth: u32) -> Map {
        while self.identities.len() <= depth as usize {
            let depth = self.identities.len() as u32;
            let forms: Vec<Form> = (0..depth).rev().map(|index| Form::atom(Atom::Level(index))).collect();
            let map = self.forest.make_map(forms.into());
            self.identities.push(map);
        }
        self.identities[depth as usize]
    }
}
