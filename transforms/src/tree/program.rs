//! The program of a tree: the original loops and statements as they were raised.
//!
//! Each operation that is neither a loop nor an `if` of the tree is a statement with all of its
//! contents, or part of one. The terminators of the branches of an `if` with results are statements
//! too: each defines the results if its branch runs. The accesses of a statement are affine in the
//! surrounding loops of the program, which are numbered from the outside. Values computed in the
//! program are known by name.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{Decision, is_speculatable};
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Op, Trait, Value};
use smallvec::SmallVec;

use super::green::{Green, Map, TreeStore, trip_count};
use super::ids::{IfId, LoopId, Path, StatementId};
use super::levels::absolute;
use crate::access::{Effects, Space};
use crate::affine::condition::Condition;
use crate::affine::surroundings::Surroundings;
use crate::affine::{AffineForm, Atom};

/// An original loop.
#[derive(Clone, Debug)]
pub struct LoopInfo {
    /// The operation.
    pub op: Op,
    /// The block of the loop body.
    pub block: Block,
    /// Its variable.
    pub variable: Value,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// The number of loops around this loop.
    pub depth: u32,
    /// Its iterations.
    pub space: Space,
    /// The number of loop-carried values.
    pub carried: usize,
    /// The number of results that the iterations of a parallel loop combine, in each dimension.
    pub reduced: usize,
    /// The anchor of a loop with carried values: an operation of a statement that runs exactly once
    /// in each iteration, if there is one. An iteration runs iff its anchor does.
    pub anchor: Option<Op>,
    /// True if iterations do nothing else with the carried values than to
    /// [combine](crate::access::updates::combined) them.
    pub combines: bool,
    /// The dimension, if the operation is a loop whose iterations may run in any order.
    pub dimension: Option<usize>,
    /// The original loop as a tree.
    pub green: Green,
    /// True if the computation of the bounds and the step may be undefined: see
    /// [`header_may_be_undefined`](crate::access::header_may_be_undefined).
    pub may_be_undefined: bool,
    /// The first loop in the same parent with the same bounds. Unknown conditions of both domains
    /// are the same.
    pub alike: LoopId,
}

impl LoopInfo {
    /// True if the loop carries values, or combines values of its iterations.
    pub fn has_results(&self) -> bool {
        self.carried > 0 || self.reduced > 0
    }

    /// True if this is the outermost dimension of a parallel loop with results.
    pub fn begins_reduction(&self) -> bool {
        self.reduced > 0 && self.dimension == Some(0)
    }

    /// Returns the trip count, if it is a constant.
    pub fn trip_count(&self) -> Option<u64> {
        let space = &self.space;
        let extents = space.extents().filter(|_| space.is_counted() && space.domain.exact)?;
        let count = trip_count(&[], &extents, space.step.filter(|step| *step > 0)?)?;
        u64::try_from(count).ok()
    }
}

/// An original `if`.
#[derive(Clone, Debug)]
pub struct IfInfo {
    /// The operation.
    pub op: Op,
    /// Its decision.
    pub decision: Decision,
    /// The constraints of the decision, over the surrounding loops of the program.
    pub condition: Condition,
    /// True if the evaluation of the condition may be undefined: see
    /// [`header_may_be_undefined`](crate::access::header_may_be_undefined).
    pub may_be_undefined: bool,
    /// The bodies of its regions, if they have a block: the first runs if the condition holds, the
    /// second if not.
    pub bodies: [Option<Green>; 2],
    /// The first equivalent `if`: with the same decision, or with conditions known to be equal as
    /// forms over the loops around.
    pub alike: IfId,
    /// The number of loops around that determine the decision: in equal iterations of these it is
    /// the same.
    pub decided_inside: u32,
    /// For the first of equivalent `if`s: true if they have several decisions. Their conditions
    /// are equal, but one may be poison where another is not.
    pub(super) has_several_decisions: bool,
}

/// An original statement.
#[derive(Clone, Debug)]
pub struct StatementInfo {
    /// The operations, in the order of the text. At least one.
    pub ops: SmallVec<[Op; 2]>,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// Its effects, including its contents.
    pub effects: Effects,
}

impl StatementInfo {
    /// Its first operation, to show.
    pub fn op(&self) -> Op {
        self.ops[0]
    }

    /// True if it is pure and deterministic. A yield of a conditional is not, because it also tells
    /// which branch runs. A freeze is not, because it may be another number each time.
    pub fn is_pure(&self, body: &Body) -> bool {
        let computes = |op: &Op| body.has_trait(*op, Trait::Pure) && !body.is(*op, llvm::FreezeOp::DEF);
        self.yields_for(body).is_none() && self.ops.iter().all(computes)
    }

    /// True if it writes memory.
    pub(crate) fn writes(&self) -> bool {
        self.effects.classes.iter().any(|(class, _)| class.writes)
    }

    /// True if the statement only computes and may run speculatively.
    pub fn is_speculatable(&self, body: &Body) -> bool {
        self.is_pure(body) && self.ops.iter().all(|op| is_speculatable(body.op_ref(*op)))
    }

    /// Returns the conditional whose results the statement yields.
    pub fn yields_for(&self, body: &Body) -> Option<Op> {
        body.parent_op(self.op()).filter(|_| body.has_trait(self.op(), Trait::Terminator))
    }
}

/// The loops, `if`s and statements of a block, with all that is inside. See the [module](self).
#[derive(Clone, Debug)]
pub struct Program {
    /// The block.
    pub block: Block,
    /// The original order: a sequence.
    pub root: Green,
    /// The facts that hold at the block.
    pub surroundings: Surroundings,
    pub(super) loops: Vec<LoopInfo>,
    pub(super) ifs: Vec<IfInfo>,
    pub(super) statements: Vec<StatementInfo>,
    /// The bodies of the loops. For a loop of several dimensions, the body of the last.
    pub(super) blocks: HashMap<Block, LoopId>,
    /// The number of loops around the blocks of `if`s.
    pub(super) sides: HashMap<Block, u32>,
    /// The number of loops around each parameter that is computed in the program.
    pub(super) depths: HashMap<Value, u32>,
}

impl Program {
    /// Returns a loop.
    pub fn loop_info(&self, id: LoopId) -> &LoopInfo {
        &self.loops[id.0 as usize]
    }

    /// Returns an `if`.
    pub fn if_info(&self, id: IfId) -> &IfInfo {
        &self.ifs[id.0 as usize]
    }

    /// Returns a statement.
    pub fn statement(&self, id: StatementId) -> &StatementInfo {
        &self.statements[id.0 as usize]
    }

    /// Returns all statements in program order.
    pub fn statements(&self) -> impl Iterator<Item = &StatementInfo> {
        self.statements.iter()
    }

    /// Returns all `if`s in program order.
    pub fn ifs(&self) -> impl Iterator<Item = &IfInfo> {
        self.ifs.iter()
    }

    /// Returns all loops in program order.
    pub fn loops(&self) -> impl ExactSizeIterator<Item = LoopId> + use<> {
        (0..self.loops.len() as u32).map(LoopId)
    }

    /// Returns the loop whose body is `block`.
    pub fn loop_of(&self, block: Block) -> Option<LoopId> {
        self.blocks.get(&block).copied()
    }

    /// Returns the loop that has `value` as an argument, and the argument's index: 0 for the
    /// induction variable, otherwise a loop-carried value.
    pub fn loop_of_argument(&self, body: &Body, value: Value) -> Option<(LoopId, usize)> {
        match body.def(value) {
            loomir_ir::ValueDef::BlockArgument { block, index } => {
                let innermost = self.loop_of(block)?;
                let Some(last) = self.loop_info(innermost).dimension else { return Some((innermost, index)) };
                // All arguments are induction variables. The last one belongs to the innermost
                // dimension.
                let outwards = last.checked_sub(index)?;
                let of =
                    std::iter::successors(Some(innermost), |id| self.loop_info(*id).parent).nth(outwards)?;
                Some((of, 0))
            }
            loomir_ir::ValueDef::OpResult { .. } => None,
        }
    }

    /// True if all parameters of a form are computed inside at most `depth` loops.
    pub fn is_known(&self, form: &AffineForm, depth: u32) -> bool {
        form.all_atoms(&|atom| match atom {
            Atom::Param(value) => self.depths.get(value).is_none_or(|own| *own <= depth),
            _ => true,
        })
    }

    /// True if two instances of `if`s decide alike, at a place inside `depth` loops: by the same
    /// value, or by conditions that are equal as forms.
    pub fn is_same_condition(&self, trees: &TreeStore, a: (IfId, Map), b: (IfId, Map), depth: u32) -> bool {
        let (x, y) = (self.if_info(a.0), self.if_info(b.0));
        let (map, other) = (trees.map(a.1), trees.map(b.1));
        if map == other && (a.0 == b.0 || x.decision == y.decision) {
            return true;
        }
        let (own, others) = (x.condition.outcome(true), y.condition.outcome(true));
        // Values computed inside of loops are equal only in equal iterations.
        let in_common = map.iter().zip(other).take_while(|(x, y)| x == y).count() as u32;
        let here = |forms: &[AffineForm], map: &[AffineForm]| -> Option<HashSet<AffineForm>> {
            let form = |form: &AffineForm| {
                let form = self.is_known(form, in_common).then_some(form)?;
                form.substitute(&mut |level| absolute(map.get(level as usize)?, depth))
            };
            forms.iter().map(form).collect()
        };
        own.exact
            && others.exact
            && own.constraints.len() == others.constraints.len()
            && here(&own.constraints, map).is_some_and(|own| Some(own) == here(&others.constraints, other))
    }

    /// Returns the number of loops around that determine a decision: in equal iterations of these
    /// it is the same.
    pub(super) fn decided_inside(&self, body: &Body, decision: &Decision) -> u32 {
        let operands = match decision {
            Decision::Value(value) => std::slice::from_ref(value),
            Decision::Set(_, operands) => operands,
        };
        let depth = |value: &Value| match self.loop_of_argument(body, *value) {
            Some((of, _)) => self.loop_info(of).depth + 1,
            None => self.depths.get(value).copied().unwrap_or(0),
        };
        operands.iter().map(depth).max().unwrap_or(0)
    }

    /// True if an instance of an `if` is before a loop that is around the `if`: it counts fewer
    /// loops.
    pub(crate) fn is_decided_earlier(&self, body: &Body, of: IfId, instance: &[AffineForm]) -> bool {
        let depth = self.depth_of(body, self.if_info(of).op);
        depth.is_some_and(|depth| instance.len() < depth as usize)
    }

    /// Returns the innermost loop that computes a value anew in each iteration.
    pub fn loop_around(&self, body: &Body, value: Value) -> Option<LoopId> {
        if let Some((of, _)) = self.loop_of_argument(body, value) {
            return Some(of);
        }
        let mut block = body.block_of(body.defining_op(value)?)?;
        while block != self.block {
            if let Some(of) = self.loop_of(block) {
                return Some(of);
            }
            block = body.block_of(body.region_parent(body.block_region(block)))?;
        }
        None
    }

    /// Returns the number of loops around a statement, loop or `if`. `None` for operations inside a
    /// statement.
    pub fn depth_of(&self, body: &Body, op: Op) -> Option<u32> {
        self.block_depth(body.block_of(op)?)
    }

    /// Returns the number of loops around the operations of a block.
    fn block_depth(&self, block: Block) -> Option<u32> {
        if block == self.block {
            return Some(0);
        }
        let of_loop = self.loop_of(block).map(|of| self.loop_info(of).depth + 1);
        of_loop.or_else(|| self.sides.get(&block).copied())
    }

    /// Returns the loops around a loop and the loop itself, from the outside.
    pub fn path(&self, of: Option<LoopId>) -> Path {
        let mut path: Path = std::iter::successors(of, |id| self.loop_info(*id).parent).collect();
        path.reverse();
        path
    }
}
