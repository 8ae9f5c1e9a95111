//! Printing of loops exactly as `opt` does: `print<loops>`, `print<cycles>`, `print<domtree>` and
//! `print<postdomtree>`.
//!
//! Blocks have the numbers of [`to_ll`](crate::to_ll).

use std::fmt::Write;

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::{Cycle, CycleForest, CycleId};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Attr, Body, Diagnostics, OpRef};

use super::effects::touches_memory;
use super::{Analysis, accesses, scev};
use crate::ll::{LOOP_ANNOTATION, Label, block_labels, kept_metadata};

/// The printable analyses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printed {
    /// Natural loops.
    Loops,
    /// Cycles.
    Cycles,
    /// The dominator tree.
    Dominators,
    /// The post-dominator tree.
    PostDominators,
    /// The expressions of values and the trip counts of loops.
    ScalarEvolution,
    /// The memory accesses and their iterations.
    Accesses,
}

/// Prints an analysis of every function of a module with a body, in their order.
///
/// # Errors
/// Constructs without text in LLVM IR, if values are printed.
pub fn print(module: &Body, what: Printed) -> Result<String, Diagnostics> {
    let mut text = String::new();
    let symbols = SymbolTable::of(module);
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    for op in blocks.flat_map(|block| module.ops(block)) {
        let function = module.nested(op).filter(|function| function.is(function.root(), llvm::FuncOp::DEF));
        if let Some(function) = function.filter(|f| f.entry_block(f.region(f.root(), 0)).is_some()) {
            match what {
                Printed::ScalarEvolution => scev::print::print(module, function, &mut text)?,
                Printed::Accesses => accesses::print::print((module, &symbols), function, &mut text)?,
                _ => print_function(function, what, &mut text),
            }
        }
    }
    Ok(text)
}

/// A function with its analyses and the numbers of its blocks.
struct Printer<'f> {
    function: &'f Body,
    flow: ControlFlow,
    analysis: &'f Analysis,
    /// The names of blocks, by number in the graph.
    names: Vec<Label>,
    text: &'f mut String,
}

fn print_function(function: &Body, what: Printed, text: &mut String) {
    let analysis = Analysis::with_all_loops(function);
    let numbers = block_labels(function);
    let flow = ControlFlow::of(function, function.region(function.root(), 0));
    let names = flow.blocks().iter().map(|block| numbers[block.index()].clone()).collect();
    let name = OpRef::new(function, function.root()).attr("sym_name");
    let name = name.and_then(|name| name.as_str(function.ctx())).unwrap_or_default();
    let mut printer = Printer { function, flow, analysis: &analysis, names, text };
    match what {
        Printed::Loops => printer.loops(name),
        Printed::Cycles => printer.cycles(name),
        Printed::Dominators => printer.dominators(name),
        Printed::PostDominators => printer.post_dominators(name),
        Printed::ScalarEvolution | Printed::Accesses => {}
    }
}

impl Printer<'_> {
    fn loops(&mut self, function: &str) {
        let _ = writeln!(self.text, "Loop info for function '{function}':");
        let mut pending: Vec<LoopId> = self.analysis.loops.top().iter().rev().copied().collect();
        while let Some(id) = pending.pop() {
            self.one_loop(id);
            pending.extend(self.analysis.loops.get(id).children.iter().rev());
        }
    }

    fn one_loop(&mut self, id: LoopId) {
        let own = self.analysis.loops.get(id);
        let indent = 4 * (own.depth as usize - 1);
        let parallel = if self.is_parallel(id) { "Parallel " } else { "" };
        let _ = write!(self.text, "{:indent$}{parallel}Loop at depth {} containing: ", "", own.depth);
        for (index, node) in own.nodes.iter().enumerate() {
            let _ = write!(self.text, "{}%{}", if index == 0 { "" } else { "," }, self.names[*node as usize]);
            let successors = self.flow.graph().successors(*node);
            if index == 0 {
                self.text.push_str("<header>");
            }
            if successors.contains(&own.header()) {
                self.text.push_str("<latch>");
            }
            if successors.iter().any(|to| !self.analysis.loops.contains(id, *to)) {
                self.text.push_str("<exiting>");
            }
        }
        self.text.push('\n');
    }

    /// True if `opt` calls a loop parallel: all its latches have the same annotation, and nothing
    /// in it accesses memory. (Accesses could also be marked parallel. Such metadata is kept but
    /// not read here.)
    fn is_parallel(&self, id: LoopId) -> bool {
        let own = self.analysis.loops.get(id);
        let latches =
            own.nodes.iter().filter(|node| self.flow.graph().successors(**node).contains(&own.header()));
        let said = latches.map(|latch| {
            let branch = self.function.terminator(self.flow.block(*latch))?;
            let kept = kept_metadata(self.function.op_ref(branch), "llvm.loop");
            self.function.attr(branch, LOOP_ANNOTATION).or(kept)
        });
        let said: Vec<Option<Attr>> = said.collect();
        let ops = own.nodes.iter().flat_map(|node| self.function.ops(self.flow.block(*node)));
        said.iter().all(|own| own.is_some() && *own == said[0])
            && !ops.into_iter().any(|op| touches_memory(self.function, op))
    }

    fn cycles(&mut self, function: &str) {
        let _ = writeln!(self.text, "CycleInfo for function: {function}");
        let trees = CycleForest::new(self.flow.graph(), self.flow.reversed(), 0);
        let mut pending: Vec<CycleId> = trees.top().iter().rev().copied().collect();
        while let Some(id) = pending.pop() {
            self.one_cycle(trees.get(id));
            pending.extend(trees.get(id).children.iter().rev());
        }
    }

    fn one_cycle(&mut self, cycle: &Cycle) {
        let indent = 4 * cycle.depth as usize;
        let name = |node: &u32| self.names[*node as usize].to_string();
        let entries: Vec<String> = cycle.entries.iter().map(name).collect();
        let mut line = format!("{:indent$}depth={}: entries({})", "", cycle.depth, entries.join(" "));
        let is_entry: HashSet<&u32> = cycle.entries.iter().collect();
        for node in cycle.nodes.iter().filter(|node| !is_entry.contains(node)) {
            let _ = write!(line, " {}", name(node));
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn dominators(&mut self, function: &str) {
        let _ = writeln!(self.text, "DominatorTree for function: {function}");
        self.tree_heading("Dominator");
        let children = self.analysis.dominators.children(self.flow.graph());
        let mut pending = vec![(0u32, 0usize)];
        while let Some((node, depth)) = pending.pop() {
            self.tree_line(depth, &format!("%{}", self.names[node as usize]));
            pending.extend(children[node as usize].iter().rev().map(|child| (*child, depth + 1)));
        }
        self.tree_roots(&[0]);
    }

    fn post_dominators(&mut self, function: &str) {
        let _ = writeln!(self.text, "PostDominatorTree for function: {function}");
        self.tree_heading("PostDominator");
        let tree = PostDominatorTree::new(self.flow.graph());
        self.tree_line(0, " <<exit node>>");
        for (node, depth) in tree.pre_order() {
            self.tree_line(depth, &format!("%{}", self.names[node as usize]));
        }
        self.tree_roots(&tree.roots().collect::<Vec<_>>());
    }

    fn tree_heading(&mut self, kind: &str) {
        self.text.push_str("=============================--------------------------------\n");
        let _ = writeln!(self.text, "Inorder {kind} Tree: DFSNumbers invalid: 0 slow queries.");
    }

    fn tree_line(&mut self, depth: usize, name: &str) {
        let (level, indent) = (depth + 1, 2 * (depth + 1));
        let _ = writeln!(self.text, "{:indent$}[{level}] {name} {{4294967295,4294967295}} [{depth}]", "");
    }

    fn tree_roots(&mut self, roots: &[u32]) {
        self.text.push_str("Roots: ");
        for root in roots {
            let _ = write!(self.text, "%{} ", self.names[*root as usize]);
        }
        self.text.push('\n');
    }
}
