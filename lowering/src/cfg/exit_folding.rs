//! Folding of loop exits that are never taken: branches with a known condition become branches that
//! stay in the loop.
//!
//! Conditions are known from constants and from conditions that every path to the branch has
//! passed. An exit on poison or undef counts as never taken. In a switch, impossible cases are
//! removed, also a default without remaining numbers, and all but one case if the number is known.
//! A loop may lose its last exit and never end then. Code that becomes unreachable is erased, and
//! surrounding loops that the loop no longer leads back to are dissolved.
//!
//! A round finds all such exits of a function, changes them, and updates the analysis. Rounds
//! repeat as long as they find something, at most 32 times. Each is linear.
//!
//! **Assumptions.**
//! - A condition that every path there has passed still holds; of `undef` each use may differ, and
//!   folding picks one.
//!
//! Tried with `cfg/fold_loop_exits.mlir`.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op};

use super::Analysis;
use super::branch::{Ending, Target, all_known, case_values, end_block, targets};
use super::conditions::{Facts, constant_bits};
use super::edit::erase_unreachable;

/// The maximal number of rounds.
const MAX_ROUNDS: usize = 32;

/// The statistics of folding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Folded {
    /// Branches that lost ways out.
    pub branches: usize,
    /// Erased unreachable blocks.
    pub erased: usize,
}

/// Folds all exits of a function that are never taken. Returns an analysis of the new function.
pub fn fold_exits(function: &mut Body, checks: bool) -> (Analysis, Folded) {
    let mut done = Folded { erased: erase_unreachable(function), ..Folded::default() };
    let mut analysis = Analysis::of(function).checked(checks);
    for _ in 0..MAX_ROUNDS {
        let found = never_taken(function, &analysis);
        if found.is_empty() {
            break;
        }
        done.branches += found.len();
        analysis.defer_updates();
        for (block, ending) in found {
            end_block(function, block, &ending);
            analysis.branch_changed(function, block);
        }
        done.erased += analysis.prune(function);
        analysis.settle();
        analysis.step(function, NAME);
    }
    analysis.finish(function, NAME);
    (analysis, done)
}

/// Returns the blocks whose branches have exits that are never taken, with their new endings.
fn never_taken(function: &Body, analysis: &Analysis) -> Vec<(Block, Ending)> {
    let mut found = Vec::new();
    let mut facts = Facts::default();
    let mut cases = HashMap::new();
    // Down the dominator tree, where facts learnt on the way hold, and up again.
    let mut pending = vec![Step::Enter(0)];
    while let Some(step) = pending.pop() {
        match step {
            Step::Leave(mark) => facts.go_back(mark),
            Step::Enter(node) if (node as usize) < analysis.graph().len() => {
                pending.push(Step::Leave(facts.mark()));
                learn_from_entry(function, analysis, node, &mut facts, &mut cases);
                if let Some(ending) = folded(function, analysis, node, &facts) {
                    found.push((analysis.block(node), ending));
                }
                pending.extend(analysis.dominators().children_of(node).map(Step::Enter));
            }
            Step::Enter(_) => {}
        }
    }
    found
}

enum Step {
    Enter(u32),
    Leave(usize),
}

/// Learns the condition of the only edge into a block that does not come from behind it. `cases`
/// caches the values of switches.
fn learn_from_entry(
    function: &Body,
    analysis: &Analysis,
    node: u32,
    facts: &mut Facts,
    cases: &mut HashMap<Op, Vec<u128>>,
) {
    let is_ahead = |edge: &(Op, usize)| {
        let from = function.block_of(edge.0).map(|block| analysis.number(block));
        from.is_none_or(|from| !analysis.dominators().dominates(node, from))
    };
    let mut edges = function.predecessor_edges(analysis.block(node)).filter(is_ahead);
    let (Some((op, index)), None) = (edges.next(), edges.next()) else { return };
    if function.is(op, llvm::CondBrOp::DEF) {
        facts.learn(function, function.operand(op, 0), index == 0);
    } else if function.is(op, llvm::SwitchOp::DEF) {
        let values = cases.entry(op).or_insert_with(|| case_values(function, op));
        if let Some(value) = index.checked_sub(1).and_then(|case| values.get(case)) {
            facts.learn_value(function, function.operand(op, 0), *value);
        }
    }
}

/// Returns the ending that replaces a branch with an exit that is never taken.
fn folded(function: &Body, analysis: &Analysis, node: u32, facts: &Facts) -> Option<Ending> {
    let id = analysis.loops().innermost(node)?;
    let op = function.terminator(analysis.block(node))?;
    let leaves = |block: Block| !analysis.loops().contains(id, analysis.number(block));
    if function.successors(op).all(|to| !leaves(to)) {
        return None;
    }
    if function.is(op, llvm::CondBrOp::DEF) {
        let mut ways = targets(function, op);
        let out = ways.iter().position(|to| leaves(to.block))?;
        let condition = function.operand(op, 0);
        let is_never = is_undefined(function, function.defining_op(condition))
            || facts.decide(function, condition) == Some(out == 1);
        return is_never.then(|| Ending::Branch(ways.swap_remove(1 - out)));
    }
    if function.is(op, llvm::SwitchOp::DEF) {
        return folded_switch(function, op, facts, leaves);
    }
    None
}

fn is_undefined(function: &Body, op: Option<Op>) -> bool {
    op.is_some_and(|op| function.is(op, llvm::UndefOp::DEF) || function.is(op, llvm::PoisonOp::DEF))
}

fn folded_switch(function: &Body, op: Op, facts: &Facts, leaves: impl Fn(Block) -> bool) -> Option<Ending> {
    let value = function.operand(op, 0);
    let (lowest, highest) = facts.range(function, value)?.unsigned;
    let mut ways = targets(function, op).into_iter();
    let mut default = ways.next()?;
    let can_be = |bits: u128| (lowest..=highest).contains(&bits);
    let all: Vec<(u128, Target)> = case_values(function, op).into_iter().zip(ways).collect();
    if constant_bits(function, value).is_some() || lowest == highest {
        let taken = all.into_iter().find(|(bits, _)| *bits == lowest).map_or(default, |(_, to)| to);
        return (!leaves(taken.block)).then_some(Ending::Branch(taken));
    }
    let before = all.len();
    let mut cases: Vec<(u128, Target)> =
        all.into_iter().filter(|(bits, to)| can_be(*bits) || !leaves(to.block)).collect();
    let mut has_changed = cases.len() < before;
    let possible =
        cases.iter().filter(|(bits, _)| can_be(*bits)).map(|(bits, _)| *bits).collect::<HashSet<_>>();
    let is_complete = (highest - lowest).checked_add(1) == Some(possible.len() as u128);
    if is_complete && leaves(default.block) {
        let last = cases.iter().rposition(|(bits, _)| can_be(*bits))?;
        default = cases.remove(last).1;
        has_changed = true;
    }
    has_changed.then_some(match cases.is_empty() {
        true => Ending::Branch(default),
        false => Ending::Switch(value, default, cases),
    })
}

const NAME: &str = "fold-loop-exits";

/// The form: no loop exit is known never to be taken, and every block is reachable.
pub static FORM: CanonicalForm = CanonicalForm { name: NAME, check, make: || Box::new(FoldLoopExits) };

fn check(function: &Body, _: &SymbolTable) -> Result<(), Diagnostic> {
    match never_taken(function, &Analysis::of(function)).first() {
        None => Ok(()),
        Some((block, _)) => {
            let loc = function.terminator(*block).map_or(loomir_ir::Loc::UNKNOWN, |op| function.loc(op));
            Err(Diagnostic::error(loc, "a way out of a loop here is never taken"))
        }
    }
}

/// The pass `fold-loop-exits` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Take away ways out of loops that are never taken",
    options: &[],
    make: |_| Ok(Box::new(FoldLoopExits)),
};

struct FoldLoopExits;

impl Pass for FoldLoopExits {
    fn name(&self) -> &str {
        NAME
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        all_known(body)?;
        let (_, done) = fold_exits(body, cx.checks);
        cx.count("Branches folded", done.branches as u64);
        cx.count("Unreachable blocks erased", done.erased as u64);
        Ok(())
    }
}
