//! Common subexpression elimination: of two equal operations, the second is replaced by the first.
//!
//! Two operations are equal if they have the same name, attributes, operands and result types;
//! operands of a commutative operation may be in any order. Operations with regions of one block
//! are compared with their contents. The first operation must dominate the second. An operation
//! that reads memory is replaced only if both are in one block and nothing between them writes.
//! Operations without effects and uses are erased on the way, as `mlir-opt --cse` does.
//!
//! **Assumptions.**
//! - Equal operations on equal operands compute equal results, or results of which either may be
//!   chosen (poison, uninitialized memory). Operations that make objects are exempt. Tried in
//!   `fixtures/simplify/cse.mlir`.
//! - Memory that no operation between two reads writes has not changed: a change by another thread
//!   would be a race. Atomic and volatile reads count as writes. Tried in
//!   `fixtures/simplify/cse_llvm.mlir`.
//!
//! **Cost.** Linear in the operations, their operands and regions. Each operation is compared with
//! at most 16 others of the same hash.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Region, Trait};

use crate::effects::Effects;
use crate::equal::{is_equal, operands};

/// The pass `cse`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "cse",
    anchor: None,
    summary: "Replace operations that were computed before, and erase unused ones",
    options: &[],
    make: |_| Ok(Box::new(Cse)),
};

/// The number of known operations with the same hash that one operation is compared with.
const MAX_COMPARED: usize = 16;

struct Cse;

impl Pass for Cse {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        cx.unchanged = true;
        let mut known = Known::default();
        body.for_each_body(&mut |body| {
            let root = body.root();
            let done = cse_knowing(body, root, &mut known);
            cx.count("Operations replaced", done.replaced as u64);
            cx.count("Operations erased", done.erased as u64);
            cx.unchanged &= done == Eliminated::default();
        });
        Ok(())
    }
}

/// The statistics of an elimination.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Eliminated {
    /// Operations replaced by equal ones.
    pub replaced: usize,
    /// Operations erased because nothing used them.
    pub erased: usize,
}

/// Eliminates common subexpressions of a body, without the bodies nested in it.
pub fn cse(body: &mut Body) -> Eliminated {
    let root = body.root();
    cse_within(body, root)
}

/// The same for what is inside an operation.
pub fn cse_within(body: &mut Body, root: Op) -> Eliminated {
    cse_knowing(body, root, &mut Known::default())
}

/// The same with an empty table, which is left empty: one serves many small bodies.
fn cse_knowing(body: &mut Body, root: Op, known: &mut Known) -> Eliminated {
    if body.has_trait(root, Trait::GraphRegion) {
        return Eliminated::default();
    }
    let hashing = DefaultHashBuilder::default();
    let mut shapes = HashMap::new();
    let effects = Effects::of(body);
    // Operations that may be replaced are hashed with their contents, inner ones first.
    let is_compared =
        |op: &Op| body.own_regions(*op).len() > 0 && *op != root && effects.get(*op).is_repeatable();
    for op in body.preorder(root).filter(is_compared).collect::<Vec<_>>().into_iter().rev() {
        let shape = shape(body, op, &shapes, &hashing);
        shapes.extend(shape.map(|shape| (op, shape)));
    }
    let mut walk = Walk { hashing, effects, shapes, known, writes: 0, done: Eliminated::default() };
    walk.run(body, root);
    walk.done
}

/// Returns a number that is equal for operations with equal regions, computed from the numbers of
/// operations inside. It ignores values. `None` if some region inside has several blocks: such
/// operations are not compared.
fn shape(body: &Body, op: Op, inside: &HashMap<Op, u64>, hashing: &DefaultHashBuilder) -> Option<u64> {
    let mut hasher = hashing.build_hasher();
    for region in body.own_regions(op) {
        let Some(block) = body.entry_block(region) else { continue };
        if body.next_block(block).is_some() {
            return None;
        }
        body.num_arguments(block).hash(&mut hasher);
        for op in body.ops(block) {
            (body.op_name(op), body.properties(op), body.num_operands(op)).hash(&mut hasher);
            if body.own_regions(op).len() > 0 {
                inside.get(&op)?.hash(&mut hasher);
            }
        }
    }
    Some(hasher.finish())
}

/// An operation whose results are available.
#[derive(Clone, Copy)]
struct Available {
    hash: u64,
    op: Op,
    /// The number of writes before the operation, in the order of the walk.
    writes: usize,
}

/// The available operations, and the order in which they became so.
#[derive(Default)]
struct Known {
    table: HashTable<Available>,
    /// Each insertion, with the entry that it replaced.
    log: Vec<(Available, Option<Available>)>,
}

impl Known {
    fn insert(&mut self, new: Available, replaces: Option<Available>) {
        if let Some(old) = replaces
            && let Ok(entry) = self.table.find_entry(old.hash, |own| own.op == old.op)
        {
            entry.remove();
        }
        self.table.insert_unique(new.hash, new, |own| own.hash);
        self.log.push((new, replaces));
    }

    /// Forgets the insertions from number `mark` on.
    fn close(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((new, old)) = self.log.pop() else { return };
            if let Ok(entry) = self.table.find_entry(new.hash, |own| own.op == new.op) {
                entry.remove();
            }
            if let Some(old) = old {
                self.table.insert_unique(old.hash, old, |own| own.hash);
            }
        }
    }
}

/// A step of the walk. The walk keeps its steps in a list, because nests may be deep.
enum Step {
    Region(Region),
    /// This operation and those behind it in its block.
    From(Op),
    /// An operation whose regions are done.
    Visit(Op),
    /// Ends the scope that began with this number of insertions.
    Close(usize),
    /// A block with those that it immediately dominates.
    Dominated(usize, u32),
}

struct Walk<'k> {
    hashing: DefaultHashBuilder,
    effects: Effects,
    /// The [shapes](shape) of operations with regions that are compared.
    shapes: HashMap<Op, u64>,
    known: &'k mut Known,
    writes: usize,
    done: Eliminated,
}

impl Walk<'_> {
    fn run(&mut self, body: &mut Body, root: Op) {
        let mut steps: Vec<Step> = body.own_regions(root).map(Step::Region).collect();
        let mut graphs: Vec<(ControlFlow, DominatorTree)> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Region(region) => match body.single_block(region) {
                    Some(block) => self.open(body, block, &mut steps),
                    None if body.entry_block(region).is_some() => {
                        let flow = ControlFlow::of(body, region);
                        let tree = DominatorTree::new(flow.graph(), 0);
                        graphs.push((flow, tree));
                        steps.push(Step::Dominated(graphs.len() - 1, 0));
                    }
                    None => {}
                },
                Step::Dominated(graph, node) => {
                    let (flow, tree) = &graphs[graph];
                    steps.push(Step::Close(self.known.log.len()));
                    let mark = steps.len();
                    steps.extend(tree.children_of(node).map(|child| Step::Dominated(graph, child)));
                    steps[mark..].reverse();
                    steps.extend(body.first_op(flow.block(node)).map(Step::From));
                }
                Step::From(op) => {
                    steps.extend(body.next_op(op).map(Step::From));
                    steps.push(Step::Visit(op));
                    if !body.has_trait(op, Trait::GraphRegion) {
                        let mark = steps.len();
                        steps.extend(body.own_regions(op).map(Step::Region));
                        steps[mark..].reverse();
                    }
                }
                Step::Visit(op) => self.visit(body, op),
                Step::Close(mark) => self.known.close(mark),
            }
        }
    }

    /// Walks a block in a scope of its own.
    fn open(&mut self, body: &Body, block: Block, steps: &mut Vec<Step>) {
        steps.push(Step::Close(self.known.log.len()));
        steps.extend(body.first_op(block).map(Step::From));
    }

    fn visit(&mut self, body: &mut Body, op: Op) {
        if body.has_trait(op, Trait::Terminator) || body.has_trait(op, Trait::Symbol) {
            return;
        }
        let effects = self.effects.get(op);
        if effects.is_removable() && !body.has_used_results(op) {
            self.done.erased += 1;
            return body.erase(op);
        }
        if !effects.is_repeatable() {
            self.writes += usize::from(effects.writes());
            return;
        }
        if body.own_regions(op).len() > 0 && !self.shapes.contains_key(&op) {
            return;
        }
        let new = Available { hash: self.hash(body, op), op, writes: self.writes };
        match self.find(body, new) {
            Some(old) if !effects.reads() || self.sees_same_memory(body, old, new) => {
                let results = body.results(op).zip(body.results(old.op));
                for (from, to) in results.collect::<Vec<_>>() {
                    body.replace_all_uses(from, to);
                }
                body.erase(op);
                self.done.replaced += 1;
            }
            old => self.known.insert(new, old),
        }
    }

    fn sees_same_memory(&self, body: &Body, old: Available, new: Available) -> bool {
        old.writes == new.writes && body.block_of(old.op) == body.block_of(new.op)
    }

    fn find(&self, body: &Body, new: Available) -> Option<Available> {
        let same_hash = self.known.table.iter_hash(new.hash).filter(|old| old.hash == new.hash);
        same_hash.take(MAX_COMPARED).find(|old| is_equal(body, old.op, new.op)).copied()
    }

    fn hash(&self, body: &Body, op: Op) -> u64 {
        let mut hasher = self.hashing.build_hasher();
        (body.op_name(op), body.properties(op), body.attributes(op)).hash(&mut hasher);
        operands(body, op, |value| value).hash(&mut hasher);
        body.results(op).for_each(|value| body.value_type(value).hash(&mut hasher));
        self.shapes.get(&op).hash(&mut hasher);
        hasher.finish()
    }
}
