//! The loops of a tree, with their places.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use loomir_dialects::scf;
use loomir_ir::{Block, Body, Op, Trait, Type, Value};

use crate::access::Class;
use crate::access::base::Base;
use crate::affine::{AffineForm, Atom};
use crate::cost::stride_of;
use crate::tree::program::{LoopInfo, StatementInfo};
use crate::tree::{Green, Node, Program, Red, StatementId, TreeStore};
use crate::unrolling::JamFacts;

/// The operations that count, compare and branch at a loop's end, less the terminator.
const TEST: u64 = 2;

/// A loop of a tree that was raised, and its place there.
pub struct LoopRef<'a> {
    block: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    place: Box<[usize]>,
    node: Green,
    body: Green,
    info: &'a LoopInfo,
}

impl<'a> LoopRef<'a> {
    /// Visits all loops of a program's own tree, in the order of the text.
    pub(super) fn all(
        block: &'a Body,
        program: &'a Program,
        trees: &'a TreeStore,
    ) -> impl Iterator<Item = LoopRef<'a>> {
        let mut cursor = Some(Red::of(program.root));
        let nodes = std::iter::from_fn(move || {
            let moved = cursor.as_mut()?.onwards(trees);
            if !moved {
                cursor = None;
            }
            cursor.as_ref().map(|at| (at.node(), at.path().collect()))
        });
        nodes.filter_map(|(node, place)| {
            let Node::Loop { header, body } = trees.get(node) else { return None };
            let origin = trees.header(header).origins.first()?;
            Some(LoopRef { block, program, trees, place, node, body, info: program.loop_info(origin.of) })
        })
    }

    /// Returns the outermost loop of each perfect nest, of loops in the order of the text.
    pub fn nests(loops: &mut dyn Iterator<Item = LoopRef<'a>>) -> impl Iterator<Item = LoopRef<'a>> {
        let mut inside = 0;
        loops.filter(move |own| {
            let is_first = inside == 0;
            inside = if is_first { own.nest_depth() } else { inside } - 1;
            is_first
        })
    }

    /// Returns the operation.
    pub fn op(&self) -> Op {
        self.info.op
    }

    /// Returns the numbers of the children that lead to the loop from the root of the tree.
    pub fn place(&self) -> &[usize] {
        &self.place
    }

    /// Returns true if the loop contains no other loop.
    pub fn is_innermost(&self) -> bool {
        !self.trees.any_loop(self.body, &|_| true)
    }

    /// Returns the number of loops of the perfect nest that begins here: each but the last contains
    /// the next one and nothing else. At least 1.
    pub fn nest_depth(&self) -> usize {
        self.nest().count()
    }

    /// Returns the reason why a loop has no parallel form, if its variable is one.
    pub fn why_not_parallel(&self) -> Option<&'static str> {
        let (body, op) = (self.body(), self.op());
        if body.value_type(self.variable()) != Type::INDEX {
            return Some("its induction variable is no index");
        }
        let is_unsigned = body.is(op, scf::ForOp::DEF) && body.attr(op, "unsignedCmp").is_some();
        is_unsigned.then_some("it compares its induction variable without a sign")
    }

    /// Returns the trip counts of the perfect nest that begins here, where they are constants.
    pub fn nest_trip_counts(&self) -> impl Iterator<Item = Option<u64>> {
        self.nest().map(LoopInfo::trip_count)
    }

    /// Returns the operations of the perfect nest that begins here.
    pub fn nest_ops(&self) -> impl Iterator<Item = Op> {
        self.nest().map(|own| own.op)
    }

    /// Returns true if a loop of the perfect nest that begins here carries values.
    pub fn nest_carries_values(&self) -> bool {
        self.nest().any(LoopInfo::has_results)
    }

    /// Returns true if a loop of the perfect nest that begins here is a dimension of a parallel
    /// loop.
    pub fn nest_is_parallel(&self) -> bool {
        self.nest().any(|own| own.dimension.is_some())
    }

    /// Returns the loops of the perfect nest that begins here.
    pub(super) fn nest(&self) -> impl Iterator<Item = &'a LoopInfo> {
        let (program, trees) = (self.program, self.trees);
        let mut next = Some(self.node);
        std::iter::from_fn(move || {
            let Node::Loop { header, body } = trees.get(next?) else { return None };
            next = trees.only_item(body);
            Some(program.loop_info(trees.header(header).origins.first()?.of))
        })
    }

    /// Returns true if a condition inside does not depend on the loop.
    pub fn has_invariant_condition(&self) -> bool {
        self.trees.invariant(self.program, self.body, 1).is_some()
    }

    /// Returns true if nothing in the loop runs unless one condition holds, or fails.
    pub fn is_all_conditional(&self) -> bool {
        let only = self.trees.only_item(self.body);
        matches!(only.map(|item| self.trees.get(item)), Some(Node::Guard { .. }))
    }

    /// Returns true if the loop carries values.
    pub fn carries_values(&self) -> bool {
        self.info.has_results()
    }

    /// Returns true if iterations do nothing with the carried values but to combine them.
    pub fn combines_values(&self) -> bool {
        self.info.combines
    }

    /// Returns the trip count, if it is constant.
    pub fn trip_count(&self) -> Option<u64> {
        self.info.trip_count()
    }

    /// Returns the number of operations inside, without constants, and those of the loop's test.
    pub fn size(&self) -> u64 {
        size(self.block, self.info.op)
    }

    /// Returns the function.
    pub fn body(&self) -> &'a Body {
        self.block
    }

    /// Returns the block of the loop's body.
    pub fn block(&self) -> Block {
        self.info.block
    }

    /// Returns the induction variable.
    pub fn variable(&self) -> Value {
        self.info.variable
    }

    /// Returns the first value of the induction variable and its step, if both are constants.
    pub fn values(&self) -> Option<(i64, i64)> {
        let form = self.info.space.variable.as_ref()?;
        match form.terms() {
            [(Atom::Level(level), step)] if *level == self.info.depth => Some((form.constant_part(), *step)),
            _ => None,
        }
    }

    /// Returns the number of loops inside, one in the other: 0 for an innermost loop.
    pub fn height(&self) -> usize {
        height(self.trees, self.body)
    }

    /// Returns the statements of the body, if there is nothing else in it.
    pub fn only_statements(&self) -> Option<Vec<&'a StatementInfo>> {
        let statement = |item| match self.trees.get(item) {
            Node::Leaf { statement, .. } => Some(self.program.statement(statement)),
            _ => None,
        };
        self.trees.items(self.body).map(statement).collect()
    }

    /// Returns the number of loops around it: the level of its iterations.
    pub fn level(&self) -> u32 {
        self.info.depth
    }

    /// Returns the number of accesses to memory in the loop, those of inner loops too.
    pub fn num_accesses(&self) -> u64 {
        num_accesses(self.program, self.trees, self.body)
    }

    /// Returns the number of lines that `count` neighbouring iterations of the loop access
    /// together, in one iteration of the loops inside.
    pub fn num_lines(&self, count: u64) -> u64 {
        let mut runs = HashMap::new();
        add_runs(self.program, self.trees, self.body, &mut runs);
        let of = |(class, _, places): (&Class, Op, BTreeSet<i64>)| {
            let apart = if places.len() < NEIGHBOURS { places.len() as u64 } else { 1 };
            apart * lines_of(class, (self.info.depth, count))
        };
        runs.into_values().map(of).sum()
    }

    /// Returns the number of lines of an iteration that share a set of the nearest cache with lines
    /// of its neighbours, because these are whole pages away.
    pub fn num_lines_of_a_set(&self) -> u64 {
        let mut runs = HashMap::new();
        add_runs(self.program, self.trees, self.body, &mut runs);
        let is_whole = |class: &Class, op: Op| {
            let stride = stride_of(self.block, (class, op), self.info.depth);
            stride.is_some_and(|stride| stride != 0 && stride % PAGE == 0)
        };
        runs.into_values().filter(|(class, op, _)| is_whole(class, *op)).count() as u64
    }

    /// Returns true if the loop contains loops, but none of these does.
    pub fn is_around_innermost(&self) -> bool {
        self.height() == 1
    }

    /// Returns the reason why the inner loops cannot run as one loop for several iterations of this
    /// one, if there is a reason other than a dependence.
    pub fn why_not_jammed(&self) -> Option<&'static str> {
        if self.is_dimension() {
            return Some("it is a dimension of a parallel loop");
        }
        self.trees.why_not_jammed(self.program, self.node)
    }

    /// Returns the trip count of the only inner loop, if the nest may be flattened.
    ///
    /// # Errors
    ///
    /// The reason why it can't be.
    pub fn flat_count(&self) -> Result<i64, &'static str> {
        self.trees.flat_count(self.program, self.node)
    }

    /// True if the variable of the loop or that of its only inner loop, which runs `count` times,
    /// is used other than as `count · outer + inner`. Linear in the contents.
    pub fn uses_apart(&self, count: i64) -> bool {
        let [(inner, body)] = self.inner()[..] else { return true };
        let variables = [self.info.variable, inner.variable];
        let depth = self.info.depth;
        let together = |form: &AffineForm| {
            let outer = form.coefficient_of_level(depth + 1).checked_mul(count);
            let is_split = |atom: &Atom| match atom {
                Atom::FloorDiv(form, _) => {
                    !form.all_atoms(&|atom| ![Atom::Level(depth), Atom::Level(depth + 1)].contains(atom))
                }
                _ => false,
            };
            outer == Some(form.coefficient_of_level(depth))
                && !form.terms().iter().any(|(atom, _)| is_split(atom))
        };
        let uses = |op: Op| {
            let all: Vec<Op> = self.block.preorder(op).collect();
            all.into_iter().any(|op| self.block.operands(op).any(|value| variables.contains(&value)))
        };
        self.trees.items(body).any(|item| match self.trees.get(item) {
            Node::Leaf { statement, .. } => {
                let statement = self.program.statement(statement);
                let stores = |op: &Op| {
                    let first = self.block.operands(*op).next();
                    statement.effects.classes.iter().any(|(class, _)| class.writes)
                        && first.is_some_and(|value| variables.contains(&value))
                };
                let classes = &statement.effects.classes;
                let is_together = !classes.is_empty()
                    && classes.iter().all(|(class, _)| {
                        class
                            .subscripts
                            .as_ref()
                            .is_some_and(|all| all.iter().all(|form| form.as_ref().is_some_and(together)))
                    });
                statement.ops.iter().any(|op| uses(*op) && (!is_together || stores(op)))
            }
            Node::Guard { of, .. } => uses(self.program.if_info(of).op),
            _ => true,
        })
    }

    /// Returns the facts that decide about unroll-and-jam. Linear in the loop's contents.
    pub fn jam_facts(&self) -> JamFacts {
        let mut facts = JamFacts { size: self.size(), trip_count: self.trip_count(), ..JamFacts::default() };
        let mut inner = self.inner();
        while let Some((of, body)) = inner.pop() {
            let inside = loops_in(self.trees, self.program, body);
            if inside.is_empty() {
                let size = size(self.block, of.op);
                if size > facts.inner_size {
                    (facts.inner_size, facts.inner_trip_count) = (size, of.trip_count());
                }
            }
            inner.extend(inside);
            for item in self.trees.items(body) {
                match self.trees.get(item) {
                    Node::Guard { .. } => facts.branches = true,
                    Node::Leaf { statement, .. } => facts.shares_loads |= self.shares_loads(statement),
                    _ => {}
                }
            }
        }
        facts
    }

    /// True if a statement loads what is the same in all iterations of the loop.
    fn shares_loads(&self, statement: StatementId) -> bool {
        let own = Atom::Level(self.info.depth);
        let is_free = |form: &Option<AffineForm>| {
            form.as_ref().is_some_and(|form| form.all_atoms(&|atom| *atom != own))
        };
        let classes = &self.program.statement(statement).effects.classes;
        classes.iter().any(|(class, _)| {
            !class.writes && class.subscripts.as_ref().is_some_and(|all| all.iter().all(is_free))
        })
    }

    /// Returns the loops directly inside, each with its body.
    fn inner(&self) -> Vec<(&'a LoopInfo, Green)> {
        loops_in(self.trees, self.program, self.body)
    }

    /// Returns true if the loop is a dimension of a parallel loop, or inside of one.
    pub fn is_in_parallel(&self) -> bool {
        let around = self.program.path(self.info.parent);
        self.is_dimension() || around.iter().any(|of| self.program.loop_info(*of).dimension.is_some())
    }

    /// Returns true if the loop is a dimension of a parallel loop.
    pub fn is_dimension(&self) -> bool {
        self.info.dimension.is_some()
    }
}

/// Returns the number of loops of a sequence, one in the other. Recurses once for each loop and
/// guard. Raising bounds their nesting depth.
fn height(trees: &TreeStore, body: Green) -> usize {
    let of = |item| match trees.get(item) {
        Node::Loop { body, .. } => 1 + height(trees, body),
        Node::Guard { body, .. } => height(trees, body),
        _ => 0,
    };
    trees.items(body).map(of).max().unwrap_or(0)
}

/// Returns the number of accesses of a sequence. Recurses once for each loop and guard.
pub(super) fn num_accesses(program: &Program, trees: &TreeStore, body: Green) -> u64 {
    let of = |item| match trees.get(item) {
        Node::Loop { body, .. } | Node::Guard { body, .. } => num_accesses(program, trees, body),
        Node::Leaf { statement, .. } => program.statement(statement).effects.classes.len() as u64,
        _ => 0,
    };
    trees.items(body).map(of).sum()
}

/// Elements in one line: their object, their subscripts without the last constant, and the number
/// of the line, counted from the place that the subscripts name without it.
type Run = (Base, Option<Value>, Option<Vec<Option<AffineForm>>>, i64);

/// The fewest elements of a line that become a vector, and count as one access. Fewer of them are
/// loaded as a stencil does: each in vectors along another loop.
const NEIGHBOURS: usize = 4;

/// Adds a class of each run of a sequence, with the places of all. Recurses once for each loop and
/// guard.
fn add_runs<'a>(
    program: &'a Program,
    trees: &TreeStore,
    body: Green,
    runs: &mut HashMap<Run, (&'a Class, Op, BTreeSet<i64>)>,
) {
    for item in trees.items(body) {
        match trees.get(item) {
            Node::Loop { body, .. } | Node::Guard { body, .. } => add_runs(program, trees, body, runs),
            Node::Leaf { statement, .. } => {
                for (class, op) in &program.statement(statement).effects.classes {
                    let (run, place) = run_of(class);
                    runs.entry(run).or_insert_with(|| (class, *op, BTreeSet::new())).2.insert(place);
                }
            }
            _ => {}
        }
    }
}

/// Returns the run of a class, and its place in it.
fn run_of(class: &Class) -> (Run, i64) {
    let mut subscripts = class.subscripts.clone();
    let (mut line, mut place) = (0, 0);
    if let Some(Some(last)) = subscripts.as_mut().and_then(|all| all.last_mut()) {
        let constant = last.constant_part();
        if let Some(rest) = last.plus(&AffineForm::constant(constant), -1) {
            (*last, place) = (rest, constant);
            line = constant.div_euclid((LINE / bytes_of(class)).max(1) as i64);
        }
    }
    ((class.base, class.origin, subscripts, line), place)
}

/// Returns the bytes of an element.
fn bytes_of(class: &Class) -> u64 {
    if class.unit > 0 { class.unit.unsigned_abs() } else { USUAL_BYTES }
}

/// Returns the number of lines of the elements of one class.
fn lines_of(class: &Class, (level, count): (u32, u64)) -> u64 {
    let Some((last, others)) = class.subscripts.as_deref().and_then(<[_]>::split_last) else { return count };
    let step =
        |form: &Option<AffineForm>| form.as_ref().map(|form| form.coefficient_of_level(level).unsigned_abs());
    if others.iter().any(|form| step(form) != Some(0)) {
        return count;
    }
    step(last).map_or(count, |step| {
        (count * bytes_of(class)).saturating_mul(step).div_ceil(LINE).clamp(1, count.max(1))
    })
}

/// Bytes of an element, if its type does not tell.
const USUAL_BYTES: u64 = 8;

/// Bytes of a page, and of a usual first cache's lines with the same place in each set.
const PAGE: i64 = 4096;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Returns the loops of a sequence, in guards too, each with its body. Recurses once for each
/// guard. Raising bounds their nesting depth.
fn loops_in<'a>(trees: &TreeStore, program: &'a Program, body: Green) -> Vec<(&'a LoopInfo, Green)> {
    let mut found = Vec::new();
    for item in trees.items(body) {
        match trees.get(item) {
            Node::Loop { header, body } => {
                let lead = trees.header(header).origins.first();
                found.extend(lead.map(|lead| (program.loop_info(lead.of), body)));
            }
            Node::Guard { body, .. } => found.extend(loops_in(trees, program, body)),
            _ => {}
        }
    }
    found
}

fn size(block: &Body, of: Op) -> u64 {
    let mut ops = Vec::new();
    let mut regions: Vec<_> = block.own_regions(of).collect();
    while let Some(region) = regions.pop() {
        for inside in block.blocks(region) {
            for op in block.ops(inside) {
                ops.push(op);
                regions.extend(block.own_regions(op));
            }
        }
    }
    let is_counted = |op: &&Op| !block.has_trait(**op, Trait::ConstantLike);
    ops.iter().filter(is_counted).count() as u64 + TEST
}
