//! Changes of blocks that preserve the analysis.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::{LoopForest, LoopId};
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Type, Value};

use super::branch::{set_successor_operands, successor_operands};
use super::{Analysis, Upkeep};

impl Analysis {
    /// Inserts a new block on some of the edges into `to`, given by branch and successor number.
    /// The block passes on operands that all of the edges share, if they may be used in it and
    /// closed loops stay closed. It has arguments for the rest. It is placed behind `after` in the
    /// text. At least one edge is given. Linear in the edges into `to` and their operands, and in
    /// the depth of loops and dominators there.
    pub fn insert_block(
        &mut self,
        function: &mut Body,
        edges: &[(Op, usize)],
        to: Block,
        after: Block,
    ) -> Block {
        // The block is in a loop if it both comes from the loop and leads back to it.
        let from: Vec<u32> = edges
            .iter()
            .filter_map(|(op, _)| function.block_of(*op))
            .map(|block| self.number(block))
            .collect();
        let comes_from = |id: &LoopId| from.iter().any(|from| self.loops.contains(*id, *from));
        let innermost = self.loops_around(self.number(to)).find(comes_from);
        let same = self.handed_by_all(function, edges, to, innermost);
        let arguments: Vec<Value> = function.arguments(to).collect();
        let differing = arguments.iter().zip(&same).filter(|(_, same)| same.is_none());
        let types: Vec<Type> = differing.map(|(argument, _)| function.value_type(*argument)).collect();
        let block = function.create_block(function.block_region(to), Some(after), &types);
        let mut own = function.arguments(block).collect::<Vec<_>>().into_iter();
        let handed: Vec<Value> = same.iter().filter_map(|same| same.or_else(|| own.next())).collect();
        let mut builder = Builder::new(function, InsertPoint::End(block));
        let state = builder.state(llvm::BrOp::DEF).operands(&handed).successors(&[to]);
        builder.insert(state);
        if same.iter().any(Option::is_some) {
            let on_edge: HashSet<(Op, usize)> = edges.iter().copied().collect();
            let mut seen = HashSet::new();
            for op in edges.iter().map(|(op, _)| *op).filter(|op| seen.insert(*op)) {
                let mut operands = successor_operands(function, op);
                let edges = operands.iter_mut().enumerate();
                for (_, own) in edges.filter(|(index, _)| on_edge.contains(&(op, *index))) {
                    let mut known = same.iter();
                    own.retain(|_| known.next().is_some_and(Option::is_none));
                }
                set_successor_operands(function, op, &operands);
            }
        }
        let node = self.add_node(block);
        let to = self.number(to);
        for (branch, index) in edges {
            function.set_successor(*branch, *index, block);
            if let Some(from) = function.block_of(*branch).map(|block| self.number(block)) {
                self.graph.remove_edge(from, to);
                self.graph.add_edge(from, node);
            }
        }
        self.graph.add_edge(node, to);
        match &mut self.upkeep {
            Upkeep::Later(is_stale) => *is_stale = true,
            _ => self.dominators.node_inserted(&self.graph, to),
        }
        if let Some(tree) = &mut self.post_dominators {
            tree.node_inserted(&self.graph, to);
        }
        self.loops.insert(innermost);
        block
    }

    /// Returns, for each argument of `to`, the operand that all of some edges pass, if it is the
    /// same and a block in a loop may pass it on. Returns nothing for branches with many other
    /// edges: a switch must not be rewritten for each of its cases.
    fn handed_by_all(
        &self,
        function: &Body,
        edges: &[(Op, usize)],
        to: Block,
        innermost: Option<LoopId>,
    ) -> Vec<Option<Value>> {
        let all = edges.iter().map(|(op, _)| function.successors(*op).len()).sum::<usize>();
        if all > 16 + 4 * edges.len() {
            return vec![None; function.num_arguments(to)];
        }
        let may_leave = |value: &Value| {
            let at = function.value_block(*value).map(|block| self.number(block));
            let defining = at.and_then(|at| self.loops.innermost(at));
            let mut around = std::iter::successors(innermost, |id| self.loops.get(*id).parent);
            defining.is_none_or(|defining| around.any(|id| id == defining))
        };
        let mut handed: Vec<Option<Value>> = Vec::new();
        for (place, (op, index)) in edges.iter().enumerate() {
            let operands = successor_operands(function, *op).swap_remove(*index);
            match place {
                0 => handed = operands.into_iter().map(|value| Some(value).filter(may_leave)).collect(),
                _ => {
                    for (known, own) in handed.iter_mut().zip(operands) {
                        *known = known.filter(|value| *value == own);
                    }
                }
            }
        }
        handed
    }

    /// Returns a number for a new block, which is not in dominators and loops yet.
    fn add_node(&mut self, block: Block) -> u32 {
        let node = self.graph.add_node();
        self.blocks.push(block);
        self.numbers.insert(block, node);
        node
    }

    /// Makes an unreachable block in a loop and those around it. It is placed behind `after` in the
    /// text.
    pub fn new_block(
        &mut self,
        function: &mut Body,
        types: &[Type],
        after: Block,
        innermost: Option<LoopId>,
    ) -> Block {
        let block = function.create_block(function.block_region(after), Some(after), types);
        self.add_block(block, innermost);
        block
    }

    /// Adds a new block of a loop and those around it. Its edges are not known yet.
    pub(super) fn add_block(&mut self, block: Block, innermost: Option<LoopId>) {
        self.add_node(block);
        self.dominators.add_node();
        if let Some(tree) = &mut self.post_dominators {
            tree.add_node();
        }
        self.loops.insert(innermost);
    }

    /// Updates the analysis for a new terminator of a block. The effect on loops is left to
    /// [`loops_mut`](Analysis::loops_mut) or [`prune`](Analysis::prune). Linear in the edges out of
    /// the block, plus the cost of [`DominatorTree`].
    pub fn branch_changed(&mut self, function: &Body, block: Block) {
        let from = self.number(block);
        let mut gone = self.graph.successors(from).to_vec();
        let mut come: Vec<u32> = function.block_successors(block).map(|to| self.number(to)).collect();
        gone.sort_unstable();
        come.sort_unstable();
        subtract_common(&mut gone, &mut come);
        let puts_off = matches!(self.upkeep, Upkeep::Later(_));
        if puts_off {
            self.upkeep = Upkeep::Later(true);
        }
        // Adding edges first keeps common targets reachable.
        for to in come {
            self.graph.add_edge(from, to);
            if !puts_off {
                self.dominators.edge_added(&self.graph, from, to);
            }
            if let Some(tree) = &mut self.post_dominators {
                tree.edge_added(from, to);
            }
        }
        for to in gone {
            self.graph.remove_edge(from, to);
            if !puts_off {
                self.dominators.edge_removed(&self.graph, from, to);
            }
            if let Some(tree) = &mut self.post_dominators {
                tree.edge_removed(from, to);
            }
        }
    }

    /// Returns the loops, for callers that know the effect of a change on them.
    pub fn loops_mut(&mut self) -> &mut LoopForest {
        &mut self.loops
    }

    /// Erases an unreachable block with its contents.
    pub fn erase_block(&mut self, function: &mut Body, block: Block) {
        self.forget(block);
        function.erase_block(block);
    }

    /// Merges two blocks. The second is reached from the first alone, and the first leads nowhere
    /// else. The second's terminator ends the merged block. Linear in the second block and the
    /// edges out of it, plus the cost of [`DominatorTree`].
    pub fn merge_blocks(&mut self, function: &mut Body, first: Block, second: Block) {
        merge_into(function, first, second);
        self.branch_changed(function, first);
        self.forget(second);
    }

    /// Removes an unreachable block.
    fn forget(&mut self, block: Block) {
        let node = self.number(block);
        for to in self.graph.successors(node).to_vec() {
            self.graph.remove_edge(node, to);
        }
        if let Some(tree) = &mut self.post_dominators {
            tree.node_removed(node);
        }
        self.numbers.remove(&block);
        self.loops.remove(node);
    }

    /// Erases unreachable blocks, and finds loops anew: unreachable loops are gone, and their
    /// parents may be. Returns the number of erased blocks. Linear.
    pub fn prune(&mut self, function: &mut Body) -> usize {
        self.refresh();
        let blocks = unreachable_blocks(function);
        for block in &blocks {
            clear(function, *block);
        }
        for block in &blocks {
            self.erase_block(function, *block);
        }
        self.loops = LoopForest::of_mutable(&self.graph, &self.dominators, 0);
        self.leave_out_opaque(function);
        blocks.len()
    }

    /// Defers updates of dominators until [`settle`](Analysis::settle), which then costs as much as
    /// computing them. For changes all over a function.
    pub fn defer_updates(&mut self) {
        if self.upkeep == Upkeep::AtOnce {
            self.upkeep = Upkeep::Later(false);
        }
    }

    /// Brings everything up to date and numbers the dominators, so that queries about them are
    /// quick. Linear.
    pub fn settle(&mut self) {
        self.refresh();
        if matches!(self.upkeep, Upkeep::Later(_)) {
            self.upkeep = Upkeep::AtOnce;
        }
        self.dominators.renumber();
        self.loops.sweep();
    }

    /// Brings dominators up to date.
    fn refresh(&mut self) {
        if self.upkeep == Upkeep::Later(true) {
            self.dominators = DominatorTree::of_mutable(&self.graph, 0);
            self.upkeep = Upkeep::Later(false);
        }
    }

    /// Marks the end of a step of a change. If the analysis is [`checked`](Analysis::checked), it
    /// must equal a fresh one.
    ///
    /// # Panics
    /// If it does not: a defect of the step.
    pub fn step(&mut self, function: &Body, name: &str) {
        if let Upkeep::Checked(paid) = &mut self.upkeep {
            *paid += BLOCKS_A_STEP;
            if *paid >= self.blocks.len() {
                *paid = 0;
                self.check(function, name);
            }
        }
    }

    /// Marks a change as complete, which [settles](Analysis::settle) everything.
    ///
    /// # Panics
    /// As [`step`](Analysis::step).
    pub fn finish(&mut self, function: &Body, name: &str) {
        self.settle();
        if matches!(self.upkeep, Upkeep::Checked(_)) {
            self.check(function, name);
        }
    }

    fn check(&mut self, function: &Body, name: &str) {
        self.settle();
        self.post_dominators(function);
        assert!(
            self.is_true_of(function),
            "after a step of {name} the loops, dominators or post-dominators are others"
        );
    }
}

/// The number of blocks to compare for each step of a change.
const BLOCKS_A_STEP: usize = 1000;

/// Removes the common elements of two sorted lists from both.
fn subtract_common(a: &mut Vec<u32>, b: &mut Vec<u32>) {
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if x == y => (i, j) = (i + 1, j + 1),
            (Some(x), y) if y.is_none_or(|y| x < y) => {
                only_a.push(*x);
                i += 1;
            }
            (_, y) => {
                only_b.extend(y);
                j += 1;
            }
        }
    }
    (*a, *b) = (only_a, only_b);
}

/// Merges two blocks. The second is reached from the first alone, and the first leads nowhere else.
/// Linear in the second.
pub(super) fn merge_into(function: &mut Body, first: Block, second: Block) {
    let Some(branch) = function.terminator(first) else { return };
    let handed = successor_operands(function, branch).swap_remove(0);
    function.erase(branch);
    function.inline_block(second, first, None, &handed);
}

/// Returns the unreachable blocks of a function. Linear.
pub fn unreachable_blocks(function: &Body) -> Vec<Block> {
    let region = function.region(function.root(), 0);
    let Some(entry) = function.entry_block(region) else { return Vec::new() };
    let mut reached = HashSet::new();
    reached.insert(entry);
    let mut pending = vec![entry];
    while let Some(block) = pending.pop() {
        pending.extend(function.block_successors(block).filter(|to| reached.insert(*to)));
    }
    function.blocks(region).filter(|block| !reached.contains(block)).collect()
}

/// Erases the operations of a block that is erased with others: they may use each other's results
/// in any order.
fn clear(function: &mut Body, block: Block) {
    for op in function.ops(block).collect::<Vec<_>>() {
        function.set_operands(op, &[]);
        let successors = function.successors(op).len();
        for index in 0..successors {
            function.set_successor(op, index, block);
        }
    }
}

/// Erases the unreachable blocks of a function and returns their number. Linear.
pub fn erase_unreachable(function: &mut Body) -> usize {
    let blocks = unreachable_blocks(function);
    for block in &blocks {
        clear(function, *block);
    }
    for block in &blocks {
        function.erase_block(*block);
    }
    blocks.len()
}
