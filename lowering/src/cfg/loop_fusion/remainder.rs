//! Iterations that have no partner: some of the first loop in front, and behind what is left of the loop that runs longer.
//!
//! ```text
//! preheader
//!    │
//! the first iterations of the first loop ──┐ (over before all of these)
//!    │                                     │
//! fused loop ↺                             │
//!    │                                     │
//! left ── the rest of the first loop ↺     │   (if it goes on)
//!    │         │                           │
//! behind ◄─────┴───────────────────────────┘
//!    │
//!    ├── the rest of the second loop ↺         (if it goes on)
//!    │         │
//! exit ◄───────┘
//! ```
//!
//! The fused loop goes on as long as both would. Both loops are tested at their end, so what they decide in one iteration says where the next one runs; what they would hand to it and what they would hand
//! out goes through the arguments of the blocks behind. Which of the rests there may be is known before: where a number of iterations is never greater than the other, that loop has none.
//!
//! What stands between the loops and is kept there runs behind the first iterations of the first loop, before it is decided whether that goes on.
//!
//! **Invariants.** Nothing is copied that stands between the loops: it has moved, or moves into one copy. Remainders are no candidates: nothing is known of them.
//!
//! **Cost.** Linear in the loops that are copied.
//!
//! **Assumptions.**
//! - Loops are copied only if each operation in them may be: see `Summaries::may_be_copied`.
//!
//! Tried with `loop_fusion_traps/declared.ll`.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Builder, InsertPoint, Type, Value};

use super::candidate::Candidate;
use super::motion::Motion;
use super::rewire::split;
use super::summary::Count;
use crate::cfg::Analysis;
use crate::cfg::branch::{Ending, LOOP_ANNOTATION, Target, end_block, successor_operands, targets};
use crate::cfg::constants::Constants;

/// Iterations without a partner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Remainders {
    /// How many iterations of the first loop run in front.
    pub(super) peeled: u32,
    /// Whether the first loop is known to run more often than that: if the number is not known, only that it runs at all.
    pub(super) is_longer: bool,
    /// Whether iterations of the first loop may be left behind, and of the second.
    pub(super) behind: [bool; 2],
}

/// How the latch of a loop, or of a copy, decides.
pub(super) struct Decision {
    latch: Block,
    condition: Value,
    /// The successor that is the header.
    stays: usize,
    /// What goes on to the next iteration, and what goes out.
    back: Vec<Value>,
    out: Vec<Value>,
}

impl Remainders {
    /// Those of two loops that run so often, with so many iterations of the first in front. Nothing if it has not that many, or if less than half of the second is left to run with it.
    pub(super) fn of(first: Count, second: Count, peeled: u32) -> Option<Remainders> {
        match (first, second) {
            (Count::Constant(first), Count::Constant(second)) => {
                let first = first.checked_sub(u128::from(peeled))?;
                let is_worth_it = peeled == 0 || first >= second / 2;
                let remainders =
                    Remainders { peeled, is_longer: true, behind: [first > second, first < second] };
                is_worth_it.then_some(remainders)
            }
            _ if first == second => {
                Some(Remainders { peeled, is_longer: peeled == 0, behind: [false, peeled > 0] })
            }
            _ => Some(Remainders { peeled, is_longer: peeled == 0, behind: [true; 2] }),
        }
    }

    /// Whether all iterations have a partner.
    pub(super) fn is_nothing(&self) -> bool {
        self.peeled == 0 && self.behind == [false; 2]
    }
}

impl Decision {
    fn of(function: &Body, latch: Block, header: Block) -> Option<Decision> {
        let branch = function.terminator(latch)?;
        let stays = function.successors(branch).position(|to| to == header)?;
        let (back, out) = split(targets(function, branch), header)?;
        let condition = function.operand(branch, 0);
        Some(Decision { latch, condition, stays, back: back.operands, out: out.operands })
    }

    /// An end of a block by a condition that is true and false as that of the latch is.
    fn ending(&self, condition: Value, on: Target, out: Target) -> Ending {
        Ending::Conditional(condition, if self.stays == 0 { [on, out] } else { [out, on] })
    }
}

/// A copy of a loop.
struct Copy {
    header: Block,
    latch: Block,
    blocks: Vec<Block>,
}

fn copy(function: &mut Body, analysis: &mut Analysis, of: &Candidate, after: Block, is_opened: bool) -> Copy {
    let blocks: Vec<Block> = analysis.blocks_in(of.id).collect();
    let (mapping, copies) = analysis.copy_blocks(function, &blocks, after, is_opened.then_some(of.id));
    Copy { header: mapping.block(of.header), latch: mapping.block(of.latch), blocks: copies }
}

/// Puts the first iterations of a loop in front of it, and what is kept between behind some of them. Returns the loop's new preheader, and how those iterations decide that may be the last.
pub(super) fn peel(
    function: &mut Body,
    analysis: &mut Analysis,
    of: &Candidate,
    remainders: &Remainders,
    motion: &Motion,
) -> Option<(Block, Vec<Decision>)> {
    let mut copies = Vec::new();
    let mut last = of.latch;
    for _ in 0..remainders.peeled {
        let copy = copy(function, analysis, of, last, true);
        last = *copy.blocks.last()?;
        copies.push(copy);
    }
    if let Some(copy) = motion.kept_behind.checked_sub(1).and_then(|at| copies.get(at as usize)) {
        let branch = function.terminator(copy.latch)?;
        motion.kept.iter().for_each(|op| function.move_before(*op, branch));
    }
    let parent = analysis.loops().get(of.id).parent;
    let preheader = analysis.new_block(function, &[], last, parent);
    let entering = function.terminator(of.preheader)?;
    let mut handed = successor_operands(function, entering).swap_remove(0);
    let mut from = of.preheader;
    let mut decisions = Vec::new();
    for copy in &copies {
        let decision = Decision::of(function, copy.latch, copy.header)?;
        let into =
            Target { block: copy.header, operands: std::mem::replace(&mut handed, decision.back.clone()) };
        end_block(function, from, &Ending::Branch(into));
        from = copy.latch;
        decisions.push(decision);
    }
    end_block(function, from, &Ending::Branch(Target { block: preheader, operands: Vec::new() }));
    end_block(function, preheader, &Ending::Branch(Target { block: of.header, operands: handed }));
    let ends = copies.iter().flat_map(|copy| &copy.blocks).chain([&of.preheader, &preheader]);
    for block in ends {
        if let Some(branch) = function.terminator(*block).filter(|op| function.is(*op, llvm::BrOp::DEF)) {
            function.remove_attr(branch, LOOP_ANNOTATION);
        }
        analysis.branch_changed(function, *block);
    }
    if !remainders.is_longer {
        return Some((preheader, decisions));
    }
    // Nothing leads out: all of it is straight.
    let mut end = of.preheader;
    for copy in &copies {
        analysis.merge_blocks(function, end, copy.header);
        if copy.latch != copy.header {
            end = copy.latch;
        }
    }
    analysis.merge_blocks(function, end, preheader);
    Some((end, Vec::new()))
}

/// The blocks behind a fused loop of which iterations may be left over.
pub(super) struct Left {
    /// What the fused loop decides by, and whether it goes on if that is false.
    pub(super) condition: Value,
    pub(super) goes_on_if_false: bool,
    /// Where it leads to if it does not go on.
    pub(super) out: Target,
    /// The values that the first loop hands out, in order.
    pub(super) handed: Vec<Value>,
    blocks: Vec<Block>,
}

impl Left {
    /// Says that the new blocks lead where they do.
    pub(super) fn settle(&self, function: &Body, analysis: &mut Analysis) {
        self.blocks.iter().for_each(|block| analysis.branch_changed(function, *block));
    }
}

/// Copies of both loops, as far as iterations of them may be left, from before they are fused.
pub(super) struct Copies([Option<Copy>; 2]);

/// Copies the loops of which iterations may be left.
pub(super) fn copies(
    function: &mut Body,
    analysis: &mut Analysis,
    [first, second]: [&Candidate; 2],
    remainders: &Remainders,
) -> Copies {
    let after = second.latch;
    Copies([
        remainders.behind[0].then(|| copy(function, analysis, first, after, false)),
        remainders.behind[1].then(|| copy(function, analysis, second, after, false)),
    ])
}

/// Writes what runs behind the fused loop, whose latches are still those of the two. `initial` is what entered the second loop.
pub(super) fn leave(
    function: &mut Body,
    analysis: &mut Analysis,
    [first, second]: [&Candidate; 2],
    copies: Copies,
    (early, initial): (&[Decision], &[Value]),
    constants: &mut Constants,
) -> Option<Left> {
    let [first_rest, second_rest] = copies.0;
    let parent = analysis.loops().get(first.id).parent;
    let own = Decision::of(function, first.latch, first.header)?;
    let other = Decision::of(function, second.latch, second.header)?;
    let mut blocks = Vec::new();
    // What the fused loop goes on by.
    let (condition, goes_on_if_false) = match (&first_rest, &second_rest) {
        (Some(_), Some(_)) => (both(function, constants, second.latch, [&own, &other]), false),
        (None, Some(_)) => (own.condition, own.stays != 0),
        _ => (other.condition, other.stays != 0),
    };
    // Behind it: what decides, what would go on and what goes out, of the first and of the second.
    let of_first = Parts::of(&own, first_rest.is_some());
    let of_second = Parts::of(&other, second_rest.is_some());
    let all: Vec<Value> = of_first.all().chain(of_second.all()).collect();
    let left = new_block(function, analysis, &all, second.latch, parent);
    blocks.push(left);
    let arguments: Vec<Value> = function.arguments(left).collect();
    let (own_arguments, other_arguments) = arguments.split_at(of_first.all().count());
    let (of_first_left, of_second_left) =
        (of_first.renamed(own_arguments), of_second.renamed(other_arguments));
    // Behind the first loop's rest.
    let through: Vec<Value> = match &second_rest {
        Some(_) => of_second_left.all().collect(),
        None => Vec::new(),
    };
    let joined: Vec<Value> = of_first_left.out.iter().chain(&through).copied().collect();
    let behind = new_block(function, analysis, &joined, left, parent);
    blocks.push(behind);
    let on =
        |out: &[Value]| Target { block: behind, operands: out.iter().chain(&through).copied().collect() };
    let skips = on(&of_first_left.out);
    match (&first_rest, of_first_left.condition) {
        (Some(rest), Some(decides)) => {
            let entry = rest_of(function, analysis, rest, &of_first_left, (left, parent), &on, &mut blocks)?;
            let enters = Target { block: entry, operands: Vec::new() };
            end_block(function, left, &own.ending(decides, enters, skips));
        }
        _ => {
            end_block(function, left, &Ending::Branch(skips));
        }
    }
    // Behind the second's.
    let arguments: Vec<Value> = function.arguments(behind).collect();
    let (handed, rest_arguments) = arguments.split_at(of_first.out.len());
    let on = |out: &[Value]| Target { block: second.exit, operands: out.to_vec() };
    match &second_rest {
        Some(rest) => {
            let parts = of_second.renamed(rest_arguments);
            let entry = rest_of(function, analysis, rest, &parts, (behind, parent), &on, &mut blocks)?;
            let enters = Target { block: entry, operands: Vec::new() };
            end_block(function, behind, &other.ending(parts.condition?, enters, on(&parts.out)));
            for decision in early {
                let begins = begin(function, constants, &other, initial);
                let operands = decision.out.iter().copied().chain(begins).collect();
                let next = function
                    .terminator(decision.latch)
                    .map(|branch| targets(function, branch))?
                    .swap_remove(0);
                let ending = decision.ending(decision.condition, next, Target { block: behind, operands });
                end_block(function, decision.latch, &ending);
                blocks.push(decision.latch);
            }
        }
        None => {
            end_block(function, behind, &Ending::Branch(on(&of_second_left.out)));
        }
    }
    let handed = handed.to_vec();
    Some(Left { condition, goes_on_if_false, out: Target { block: left, operands: all }, handed, blocks })
}

/// What a loop decides by, if that is asked behind it, and what it hands on then.
struct Parts {
    condition: Option<Value>,
    back: Vec<Value>,
    out: Vec<Value>,
}

impl Parts {
    fn of(decision: &Decision, may_go_on: bool) -> Parts {
        let back = if may_go_on { decision.back.clone() } else { Vec::new() };
        Parts { condition: may_go_on.then_some(decision.condition), back, out: decision.out.clone() }
    }

    fn all(&self) -> impl Iterator<Item = Value> + '_ {
        self.condition.iter().chain(&self.back).chain(&self.out).copied()
    }

    /// The same by other names, in the order of [`all`](Parts::all).
    fn renamed(&self, names: &[Value]) -> Parts {
        let (condition, names) = names.split_at(usize::from(self.condition.is_some()));
        let (back, out) = names.split_at(self.back.len());
        Parts { condition: condition.first().copied(), back: back.to_vec(), out: out.to_vec() }
    }
}

/// Leads into the rest of a loop from a new block, which it returns, and out of it.
fn rest_of(
    function: &mut Body,
    analysis: &mut Analysis,
    rest: &Copy,
    parts: &Parts,
    (after, parent): (Block, Option<LoopId>),
    on: &dyn Fn(&[Value]) -> Target,
    blocks: &mut Vec<Block>,
) -> Option<Block> {
    let entry = new_block(function, analysis, &[], after, parent);
    let into = Target { block: rest.header, operands: parts.back.clone() };
    end_block(function, entry, &Ending::Branch(into));
    let decision = Decision::of(function, rest.latch, rest.header)?;
    let exit = new_block(function, analysis, &decision.out, rest.latch, parent);
    let arguments: Vec<Value> = function.arguments(exit).collect();
    end_block(function, exit, &Ending::Branch(on(&arguments)));
    let back = Target { block: rest.header, operands: decision.back.clone() };
    let out = Target { block: exit, operands: decision.out.clone() };
    end_block(function, rest.latch, &decision.ending(decision.condition, back, out));
    blocks.extend([entry, exit]);
    blocks.extend(&rest.blocks);
    Some(entry)
}

/// What stands for the second loop where none of it has run: that it goes on, with what enters it. What it would hand out is not looked at.
fn begin(function: &mut Body, constants: &mut Constants, other: &Decision, initial: &[Value]) -> Vec<Value> {
    let mut begins = vec![constants.get(function, Type::I1, Some(other.stays))];
    begins.extend(initial);
    for value in &other.out {
        let ty = function.value_type(*value);
        begins.push(constants.get(function, ty, None));
    }
    begins
}

/// Whether both loops go on, asked at the end of a block.
fn both(function: &mut Body, constants: &mut Constants, at: Block, decisions: [&Decision; 2]) -> Value {
    let yes = constants.get(function, Type::I1, Some(0));
    let point = function.terminator(at).map_or(InsertPoint::End(at), InsertPoint::Before);
    let mut builder = Builder::new(function, point);
    let goes_on = decisions.map(|decision| match decision.stays {
        0 => decision.condition,
        _ => {
            let state = builder.state(llvm::XOrOp::DEF).operands(&[decision.condition, yes]);
            builder.value(state.results(&[Type::I1]))
        }
    });
    let state = builder.state(llvm::AndOp::DEF).operands(&goes_on).results(&[Type::I1]);
    builder.value(state)
}

fn new_block(
    function: &mut Body,
    analysis: &mut Analysis,
    values: &[Value],
    after: Block,
    parent: Option<LoopId>,
) -> Block {
    let types: Vec<Type> = values.iter().map(|value| function.value_type(*value)).collect();
    analysis.new_block(function, &types, after, parent)
}
