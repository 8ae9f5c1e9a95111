//! Loop-closed SSA: a value that a loop defines is used outside of it only through arguments of
//! blocks behind the loop.
//!
//! An operand of an edge out of a loop is used inside it, at the end of the edge's source block.
//! Each value with uses outside therefore gets an argument in the exits that reach its uses, and in
//! the blocks behind where several of these meet. The uses are replaced by these arguments. A
//! change of the loop then only needs to change the operands of its exits, and finds all of them
//! there.
//!
//! Loops are closed from the inside out: a live-out value of an inner loop is a value of its
//! parent. The arrival blocks of a value are read off the dominator tree. Take the topmost block
//! outside of the loop that dominates a use. Its own dominator is in the loop, so it is an exit, or
//! a block where paths from several exits meet. Behind it the value can't change, because a path
//! back into the loop and out again would avoid it. Only these blocks need an argument, and only if
//! it is used behind them: the number is minimal.
//!
//! Needs loop-simplify form. Linear in blocks times the depth of nests, and in the uses and new
//! arguments times the logarithm of the exits. Tokens are left alone: no block argument can hold
//! them.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, Value};

use super::branch::{branches_into, change_operands};
use super::roles::Roles;
use super::{Analysis, loop_simplify};

/// Closes every loop of a function in loop-simplify form. Returns the number of new arguments. The
/// blocks stay the same.
pub fn lcssa(function: &mut Body, analysis: &Analysis) -> usize {
    let loops: Vec<LoopId> = analysis.loops().iter().map(|(id, _)| id).collect();
    loops.into_iter().map(|id| close(function, analysis, id)).sum()
}

/// Closes a loop whose inner loops are closed.
fn close(function: &mut Body, analysis: &Analysis, id: LoopId) -> usize {
    let uses = outside_uses(function, analysis, id);
    if uses.is_empty() {
        return 0;
    }
    let mut arrivals = Arrivals::new(analysis, id);
    for used in &uses {
        let at = arrivals.top_of(used.at);
        arrivals.need(function, used.value, at);
    }
    while let Some((value, at)) = arrivals.pending.pop() {
        // All predecessors of an exit are in the loop. No predecessor of a merge block is.
        if !arrivals.exits.contains(&at) {
            for from in analysis.graph().predecessors(at) {
                let top = arrivals.top_of(*from);
                arrivals.need(function, value, top);
            }
        }
    }
    for used in &uses {
        let arrived = arrivals.arguments[&(used.value, arrivals.top_of(used.at))];
        function.set_operand(used.op, used.operand, arrived);
    }
    let blocks: Vec<Block> = arrivals.handed.keys().map(|node| analysis.block(*node)).collect();
    let branches = branches_into(function, blocks);
    change_operands(function, &branches, |function, op, to, operands| {
        let handed = arrivals.handed.get(&analysis.number(to));
        let Some(from) = analysis.number_at(function, op) else { return };
        for value in handed.into_iter().flatten() {
            operands.push(match analysis.loops().contains(id, from) {
                true => *value,
                false => arrivals.arguments[&(*value, arrivals.top_of(from))],
            });
        }
    });
    arrivals.arguments.len()
}

/// A use outside of the loop of a value that it defines.
struct OutsideUse {
    value: Value,
    op: Op,
    operand: usize,
    /// The block it is in.
    at: u32,
}

/// Returns the uses outside of a loop of values that it defines directly, not in an inner loop.
fn outside_uses(function: &Body, analysis: &Analysis, id: LoopId) -> Vec<OutsideUse> {
    let mut found = Vec::new();
    let is_token = |value| LlvmType::of(function.ctx(), function.value_type(value)) == Some(LlvmType::Token);
    let own = analysis.loops().get(id).nodes.iter();
    for node in own.filter(|node| analysis.loops().innermost(**node) == Some(id)) {
        let block = analysis.block(*node);
        for value in values_of(function, block) {
            // Most uses are in the block of the definition.
            for used in function.uses(value).filter(|used| function.block_of(used.op) != Some(block)) {
                let at = analysis.number_at(function, used.op);
                if let Some(at) = at.filter(|at| !analysis.loops().contains(id, *at))
                    && !is_token(value)
                {
                    found.push(OutsideUse { value, op: used.op, operand: used.index, at });
                }
            }
        }
    }
    found
}

/// Returns the values that a block defines.
fn values_of(function: &Body, block: Block) -> impl Iterator<Item = Value> + '_ {
    function.arguments(block).chain(function.ops(block).flat_map(|op| function.results(op)))
}

/// The blocks outside of a loop where its values arrive.
struct Arrivals<'a> {
    analysis: &'a Analysis,
    exits: HashSet<u32>,
    /// The blocks outside of the loop whose immediate dominator is in it, by their position in the
    /// dominator tree.
    tops: BTreeMap<u32, u32>,
    /// The arguments that were made.
    arguments: HashMap<(Value, u32), Value>,
    /// The values that each block receives, in the order of its new arguments.
    handed: BTreeMap<u32, Vec<Value>>,
    /// Arguments of blocks whose predecessors were not visited yet.
    pending: Vec<(Value, u32)>,
}

impl<'a> Arrivals<'a> {
    fn new(analysis: &'a Analysis, id: LoopId) -> Arrivals<'a> {
        let dominators = analysis.dominators();
        let dominated = analysis.loops().get(id).nodes.iter().flat_map(|node| dominators.children_of(*node));
        let tops = dominated.filter(|node| !analysis.loops().contains(id, *node));
        Arrivals {
            analysis,
            exits: Roles::of(analysis, id).exits.into_iter().collect(),
            tops: tops.map(|node| (dominators.place(node), node)).collect(),
            arguments: HashMap::new(),
            handed: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    /// Returns the topmost block outside of the loop that dominates a block behind the loop.
    fn top_of(&self, node: u32) -> u32 {
        let place = self.analysis.dominators().place(node);
        self.tops.range(..=place).next_back().map_or(node, |(_, top)| *top)
    }

    /// Adds the block argument that carries a value, unless there is one.
    fn need(&mut self, function: &mut Body, value: Value, at: u32) {
        if !self.arguments.contains_key(&(value, at)) {
            let argument = function.add_argument(self.analysis.block(at), function.value_type(value));
            self.arguments.insert((value, at), argument);
            self.handed.entry(at).or_default().push(value);
            self.pending.push((value, at));
        }
    }
}

const NAME: &str = "lcssa";

/// The form.
pub static FORM: CanonicalForm = CanonicalForm { name: NAME, check, make: || Box::new(Lcssa) };

fn check(function: &Body, _: &SymbolTable) -> Result<(), Diagnostic> {
    let analysis = Analysis::of(function);
    for (id, _) in analysis.loops().iter() {
        if let Some(used) = outside_uses(function, &analysis, id).first() {
            let message = "a value is used outside of the loop that defines it";
            let defined = function.defining_op(used.value);
            let error = Diagnostic::error(function.loc(used.op), message);
            return Err(match defined {
                Some(op) => error.note(function.loc(op), "it is defined here"),
                None => error,
            });
        }
    }
    Ok(())
}

/// The pass `lcssa` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Let values leave loops only as arguments of the blocks behind them",
    options: &[],
    make: |_| Ok(Box::new(Lcssa)),
};

struct Lcssa;

impl Pass for Lcssa {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        const { &[&loop_simplify::FORM] }
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        const { &[&loop_simplify::FORM] }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut analysis = Analysis::of(body).checked(cx.checks);
        cx.count("Arguments made", lcssa(body, &analysis) as u64);
        analysis.finish(body, NAME);
        Ok(())
    }
}
