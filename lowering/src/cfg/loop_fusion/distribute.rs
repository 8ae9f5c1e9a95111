//! A loop made two that run one after the other, of which one is fused.
//!
//! What an iteration does to memory is in one of the two, cut in order; what is computed of counters and of what does not change is in both. Values that are handed on otherwise, sums for one, are where
//! they are used. The part that is fused stays where it is; the rest is a copy, which comes in front of the fused loop or behind it once that is there.
//!
//! ```text
//! preheader             preheader              preheader
//!    │                     │                      │
//! loop: A; B ↺          copy: A ↺              fused loop: …; A ↺
//!    │            ►        │           or         │
//! exit                  landing                middle
//!                          │                      │
//!                       fused loop: B; … ↺     copy: B ↺
//!                          │                      │
//!                       exit                   landing
//!                                                 │
//!                                              exit
//! ```
//!
//! **Soundness.** All of one part comes before all of the other, whichever that is. What would change places must not meet: with the head in front, an iteration of it that is later than one of the tail; with
//! the tail in front, one that is not. Nothing of a loop that may not end or return is moved. What is chosen once, as by `freeze`, is in one part.
//!
//! **Cost.** Linear in the loop for each cut; loops are of bounded size.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::rewrite::is_trivially_dead;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Trait, Type, Value};
use loomir_transforms::legality::ApprovedPlan;

use super::candidate::Candidate;
use super::reorder::Which;
use super::rewire::{Plan, split as parted_targets};
use crate::cfg::Analysis;
use crate::cfg::branch::{
    Ending, Target, change_operands, end_block, set_successor_operands, successor_operands, targets,
};

/// Most operations of a loop that is split, and most arguments of its header.
const MAX_OPS: usize = 256;
const MAX_ARGUMENTS: usize = 16;

/// What a value or an operation depends on of the part before a cut, or behind it.
type Parts = u8;
const HEAD: Parts = 1;
const TAIL: Parts = 2;

/// A loop of one block that may be split.
pub(super) struct Pieces {
    ops: Vec<Op>,
    /// Which of them are in one part alone.
    is_whole: Vec<bool>,
    arguments: Vec<Value>,
    next: Vec<Value>,
    out: Vec<Value>,
    condition: Value,
}

impl Pieces {
    /// Those of a loop, if it is one block of which values come out by the exit alone.
    pub(super) fn of(function: &Body, of: &Candidate) -> Option<Pieces> {
        let latch = function.terminator(of.latch).filter(|_| of.header == of.latch)?;
        let ops: Vec<Op> = function.ops(of.header).filter(|op| *op != latch).take(MAX_OPS + 1).collect();
        let arguments: Vec<Value> = function.arguments(of.header).collect();
        if ops.len() > MAX_OPS || arguments.len() > MAX_ARGUMENTS {
            return None;
        }
        let (back, out) = parted_targets(targets(function, latch), of.header)?;
        let results = |op: &Op| function.results(*op).collect::<Vec<_>>();
        let mut defined = arguments.iter().copied().chain(ops.iter().flat_map(results));
        let is_closed =
            |value: Value| function.uses(value).all(|used| function.block_of(used.op) == Some(of.header));
        if !defined.all(is_closed) {
            return None;
        }
        // What is chosen must be chosen once.
        let is_whole =
            |op: &Op| !function.has_trait(*op, Trait::Pure) || function.is(*op, llvm::FreezeOp::DEF);
        Some(Pieces {
            is_whole: ops.iter().map(is_whole).collect(),
            ops,
            arguments,
            next: back.operands,
            out: out.operands,
            condition: function.operand(latch, 0),
        })
    }

    /// The place of an operation.
    pub(super) fn place(&self, op: Op) -> Option<usize> {
        self.ops.iter().position(|own| *own == op)
    }

    /// The place of an argument of the header.
    pub(super) fn argument(&self, argument: Value) -> Option<usize> {
        self.arguments.iter().position(|own| *own == argument)
    }

    /// The places where a part may begin that leaves out the operation at a place: the nearest first, before it for the head and behind it for the tail.
    pub(super) fn cuts_beside(&self, place: usize, takes_head: bool) -> Vec<usize> {
        let is_cut = |at: &usize| match takes_head {
            true => self.is_whole.get(*at) == Some(&true),
            false => *at > 0 && self.is_whole.get(*at - 1) == Some(&true),
        };
        match takes_head {
            true => (1..=place).rev().filter(is_cut).collect(),
            false => (place + 1..self.ops.len()).filter(is_cut).collect(),
        }
    }

    /// The loop cut before the operation at a place, if no value crosses the cut that is not computed on both sides.
    pub(super) fn cut(&self, function: &Body, at: usize) -> Option<Cut> {
        let mut of: HashMap<Value, Parts> = HashMap::new();
        let parts = |of: &HashMap<Value, Parts>, value: Value| of.get(&value).copied().unwrap_or_default();
        let own = |place: usize| match self.is_whole[place] {
            true if place < at => HEAD,
            true => TAIL,
            false => 0,
        };
        // What is handed on is in the part of what it is computed of.
        loop {
            for (place, op) in self.ops.iter().enumerate() {
                let all = function.operands(*op).fold(own(place), |all, value| all | parts(&of, value));
                of.extend(function.results(*op).map(|result| (result, all)));
            }
            let mut is_done = true;
            for (argument, next) in self.arguments.iter().zip(&self.next) {
                let all = parts(&of, *argument) | parts(&of, *next);
                is_done &= of.insert(*argument, all).unwrap_or_default() == all;
            }
            if is_done {
                break;
            }
        }
        let ops: Vec<Parts> = self
            .ops
            .iter()
            .enumerate()
            .map(|(place, op)| function.operands(*op).fold(own(place), |all, value| all | parts(&of, value)))
            .collect();
        let both = HEAD | TAIL;
        let crosses = ops.iter().zip(&self.is_whole).any(|(parts, is_whole)| *is_whole && *parts == both);
        let arguments: Vec<Parts> = self.arguments.iter().map(|value| parts(&of, *value)).collect();
        let out: Vec<Parts> = self.out.iter().map(|value| parts(&of, *value)).collect();
        let is_sound =
            !crosses && parts(&of, self.condition) == 0 && !arguments.contains(&both) && !out.contains(&both);
        is_sound.then_some(Cut { ops, arguments, out })
    }

    /// The operations that are in one part alone, of one part.
    pub(super) fn whole<'p>(&'p self, cut: &'p Cut, takes_head: bool) -> impl Iterator<Item = Op> + 'p {
        let wanted = if takes_head { HEAD } else { TAIL };
        let all = self.ops.iter().zip(&self.is_whole).zip(&cut.ops);
        all.filter(move |((_, is_whole), parts)| **is_whole && **parts == wanted).map(|((op, _), _)| *op)
    }
}

/// Which parts all of a loop is in: of one, of the other, or of none, which is in both.
#[derive(Clone)]
pub(super) struct Cut {
    ops: Vec<Parts>,
    arguments: Vec<Parts>,
    out: Vec<Parts>,
}

impl Cut {
    /// Whether an argument, by its place, is in both parts.
    pub(super) fn is_in_both(&self, argument: usize) -> bool {
        self.arguments.get(argument) == Some(&0)
    }
}

/// What is left of a loop that was split: a copy that nothing leads to yet.
pub(super) struct Remainder {
    which: Which,
    pub(super) id: LoopId,
    header: Block,
    landing: Block,
    /// What enters it.
    initial: Vec<Value>,
    /// What stands for the values that it hands out.
    stand_ins: Vec<Op>,
    /// What arguments of the loop are in it.
    pub(super) renamed: HashMap<Value, Value>,
    /// Operations that are in it and no longer in the loop, as they were and as they are.
    pub(super) moved: Vec<(Op, Op)>,
}

/// Takes all out of a loop that is not in one part of it, as the judge approved, and makes a loop of the rest. `above` is the block in front of the loop that will be the fused one.
pub(super) fn split(
    function: &mut Body,
    analysis: &mut Analysis,
    (of, above): (&Candidate, Block),
    pieces: &Pieces,
    cut: &Cut,
    (which, takes_head): (Which, bool),
    _: &ApprovedPlan<Plan>,
) -> Option<Remainder> {
    let (own, other) = if takes_head { (HEAD, TAIL) } else { (TAIL, HEAD) };
    let parent = analysis.loops().get(of.id).parent;
    let (entering, front) = (function.terminator(of.preheader)?, function.terminator(above)?);
    let after = if which == Which::First { of.preheader } else { of.latch };
    let (mapping, copies) = analysis.copy_blocks(function, &[of.header], after, None);
    let header = *copies.first()?;
    let id = analysis.loops().innermost(analysis.number(header))?;
    // The copy.
    let copied: Vec<Op> = function.ops(header).collect();
    let latch = function.terminator(header)?;
    let is_rest = |parts: &Parts| *parts & own == 0;
    let handed: Vec<Value> = pieces
        .out
        .iter()
        .zip(&cut.out)
        .filter(|(_, parts)| **parts == other)
        .map(|(value, _)| mapping.value(*value))
        .collect();
    let types: Vec<Type> = handed.iter().map(|value| function.value_type(*value)).collect();
    let landing = analysis.new_block(function, &types, header, parent);
    let goes_on_first = function.successors(latch).next() == Some(header);
    let next = pieces.next.iter().zip(&cut.arguments).filter(|(_, parts)| is_rest(parts));
    let back = Target { block: header, operands: next.map(|(value, _)| mapping.value(*value)).collect() };
    let out = Target { block: landing, operands: handed };
    let both = if goes_on_first { [back, out] } else { [out, back] };
    end_block(function, header, &Ending::Conditional(mapping.value(pieces.condition), both));
    erase(function, &copied, &cut.ops, own);
    let all = successor_operands(function, entering).swap_remove(0);
    let initial = all.iter().zip(&cut.arguments).filter(|(_, parts)| is_rest(parts));
    let initial = initial.map(|(value, _)| *value).collect();
    let renamed = pieces.arguments.iter().map(|value| (*value, mapping.value(*value))).collect();
    for index in (0..cut.arguments.len()).rev().filter(|index| !is_rest(&cut.arguments[*index])) {
        function.erase_argument(header, index);
    }
    // The loop itself.
    let latch = function.terminator(of.latch)?;
    let mut stand_ins = Vec::new();
    for (index, _) in cut.out.iter().enumerate().filter(|(_, parts)| **parts == other) {
        let ty = function.value_type(pieces.out[index]);
        let mut builder = Builder::new(function, InsertPoint::Before(front));
        let state = builder.state(llvm::PoisonOp::DEF).results(&[ty]);
        let stand_in = builder.value(state);
        stand_ins.extend(function.defining_op(stand_in));
        change_operands(function, &[latch], |_, _, to, operands| {
            if to == of.exit && operands.len() > index {
                operands[index] = stand_in;
            }
        });
    }
    for op in [latch, entering] {
        let to_header: Vec<bool> = function.successors(op).map(|to| to == of.header).collect();
        let mut operands = successor_operands(function, op);
        for (own_operands, _) in operands.iter_mut().zip(to_header).filter(|(_, to_header)| *to_header) {
            let mut parts = cut.arguments.iter();
            own_operands.retain(|_| parts.next().is_none_or(|parts| *parts != other));
        }
        set_successor_operands(function, op, &operands);
    }
    let is_moved = |(_, parts): &(_, &Parts)| **parts & other != 0;
    let moved = pieces.ops.iter().copied().zip(copied).zip(&cut.ops).filter(is_moved);
    let moved = moved.map(|(op, _)| op).collect();
    erase(function, &pieces.ops, &cut.ops, other);
    for index in (0..cut.arguments.len()).rev().filter(|index| cut.arguments[*index] == other) {
        function.erase_argument(of.header, index);
    }
    Some(Remainder { which, id, header, landing, initial, stand_ins, renamed, moved })
}

/// Erases the operations that depend on a part, and what nobody needs then; the last first.
fn erase(function: &mut Body, ops: &[Op], parts: &[Parts], gone: Parts) {
    for (op, parts) in ops.iter().zip(parts).rev() {
        if *parts & gone != 0 || is_trivially_dead(function, *op) {
            function.erase(*op);
        }
    }
}

impl Remainder {
    /// Puts the rest in front of the fused loop, or behind it. Returns the fused loop and the rest as loops that may be fused.
    pub(super) fn place(
        self,
        function: &mut Body,
        analysis: &mut Analysis,
        fused: Candidate,
    ) -> (Candidate, Candidate) {
        let parent = analysis.loops().get(fused.id).parent;
        let stand_ins: Vec<Value> = self.stand_ins.iter().map(|op| function.result(*op, 0)).collect();
        let arguments: Vec<Value> = function.arguments(self.landing).collect();
        let into = Target { block: self.header, operands: self.initial };
        let mut rest = Candidate {
            id: self.id,
            preheader: fused.preheader,
            header: self.header,
            latch: self.header,
            exit: self.landing,
            guard: fused.guard,
        };
        let mut fused = fused;
        match self.which {
            Which::First => {
                let entering = function.terminator(fused.preheader);
                let operands = entering.map(|op| successor_operands(function, op).swap_remove(0));
                let on = Target { block: fused.header, operands: operands.unwrap_or_default() };
                end_block(function, self.landing, &Ending::Branch(on));
                end_block(function, fused.preheader, &Ending::Branch(into));
                analysis.branch_changed(function, fused.preheader);
                fused.preheader = self.landing;
            }
            Which::Second => {
                let out = out_of(function, &fused);
                let kept: Vec<Value> =
                    out.iter().filter(|value| !stand_ins.contains(*value)).copied().collect();
                let types: Vec<Type> = kept.iter().map(|value| function.value_type(*value)).collect();
                let middle = analysis.new_block(function, &types, fused.latch, parent);
                let mut through: Vec<Value> = function.arguments(middle).collect();
                through.reverse();
                let all = out.iter().map(|value| match stand_ins.contains(value) {
                    true => *value,
                    false => through.pop().unwrap_or(*value),
                });
                let on = Target { block: fused.exit, operands: all.collect() };
                end_block(function, self.landing, &Ending::Branch(on));
                end_block(function, middle, &Ending::Branch(into));
                if let Some(latch) = function.terminator(fused.latch) {
                    let mut all = targets(function, latch);
                    for target in all.iter_mut().filter(|target| target.block == fused.exit) {
                        *target = Target { block: middle, operands: kept.clone() };
                    }
                    if let Ok(both) = <[Target; 2]>::try_from(all) {
                        let condition = function.operand(latch, 0);
                        end_block(function, fused.latch, &Ending::Conditional(condition, both));
                    }
                }
                analysis.branch_changed(function, fused.latch);
                analysis.branch_changed(function, middle);
                (fused.exit, rest.preheader) = (middle, middle);
            }
        }
        for block in [self.header, self.landing] {
            analysis.branch_changed(function, block);
        }
        for ((stand_in, op), value) in stand_ins.into_iter().zip(self.stand_ins).zip(arguments) {
            function.replace_all_uses(stand_in, value);
            function.erase(op);
        }
        (fused, rest)
    }
}

/// What a loop hands out.
fn out_of(function: &Body, of: &Candidate) -> Vec<Value> {
    let latch = function.terminator(of.latch);
    let all = latch.map(|latch| targets(function, latch)).unwrap_or_default();
    all.into_iter().find(|target| target.block == of.exit).map_or_else(Vec::new, |target| target.operands)
}
