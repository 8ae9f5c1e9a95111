//! Scalar evolution: what the integers and addresses of a function are, as expressions over the
//! iterations of its loops, and how often these run.
//!
//! | module | holds |
//! | --- | --- |
//! | [`expr`] | expressions, each there once |
//! | `build` | their normal form |
//! | `values` | expressions of values; recurrences of headers' arguments |
//! | [`range`] | the least and the greatest number |
//! | `flags` | what does not wrap |
//! | [`facts`] | guards in force |
//! | `scope` | where expressions are defined, and the value at a scope |
//! | [`count`], [`exits`] | backedge-taken counts by comparison, by exit and of the loop |
//! | `first`, `running` | counts of numbers: by Euclid's algorithm, by running the loop |
//! | `behavior` | what else may happen in a loop |
//! | `evaluate` | expressions of numbers |
//! | [`mod@print`] | what `opt` prints |
//!
//! Expressions are words modulo two to the power of a width, where the
//! [forms](loomir_transforms::affine) of the tree are numbers; where words provably do not wrap,
//! one is the other.
//!
//! **Soundness.** An expression is the value wherever that is defined and not poison. A range holds
//! of it, and flags say of it what does not wrap, each time the header of its loop runs. A count is
//! that of each time the loop is entered and left without undefined behaviour before.
//!
//! **Cost.** All is computed once and kept. Counts of all loops are made at the start, outer loops
//! first, in the order of the text, so what is asked later does not depend on what was asked
//! before. Walks from a value are on a stack of their own; expressions are of bounded depth and
//! size; what leads from loop to loop goes a bounded number of them far. So the time is linear in
//! the function, times how deep loops nest.
//!
//! # Limits
//!
//! - Ranges have ends but no strides, and no range wraps. A value that meets itself around a loop
//!   without being a sum is a name.
//! - Trip counts with two moving bounds are upper bounds, not exact. Loops over floats are
//!   simulated while the numbers are ordinary.
//! - Flags become facts only where poison is undefined behaviour, so some facts of LLVM's are
//!   missing.
//! - An expression is at most 24 deep and 128 large. At most 16 loops are looked at for one value.

use std::hash::Hash;
use std::rc::Rc;

use hashbrown::HashMap;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Op, Value};

use super::{Analysis, branch};
use exits::Counts;
use expr::{Expr, ExprId, ExprType, Flags, Pool};
use facts::Fact;
use memo::Memo;
use range::Range;

mod behavior;
mod build;
pub mod count;
mod evaluate;
pub mod exits;
pub mod expr;
pub mod facts;
mod first;
mod flags;
mod memo;
pub mod print;
pub mod range;
mod running;
mod scope;
mod values;

pub use values::HeaderArgument;

/// The expressions of a function, and the counts of its loops. See the [module](self).
pub struct ScalarEvolution<'f> {
    function: &'f Body,
    analysis: &'f Analysis,
    data_layout: DataLayout,
    /// Edges into blocks with arguments: where from, and what they bring.
    edges: HashMap<Block, Vec<(u32, Vec<Value>)>>,
    /// Assumptions by block.
    assumptions: HashMap<u32, Vec<Op>>,
    /// No loop of the function may run for ever unnoticed.
    must_progress: bool,
    pool: Pool,
    exprs: Memo<Value, ExprId>,
    ranges: Memo<(ExprId, Option<LoopId>), Range>,
    proven: Memo<ExprId, Flags>,
    scoped: Memo<(ExprId, Option<LoopId>), ExprId>,
    entry_facts: Memo<LoopId, Rc<[Fact]>>,
    stopping: Memo<LoopId, bool>,
    noticed: Memo<LoopId, bool>,
    exiting: Memo<LoopId, Rc<[u32]>>,
    loop_counts: Memo<LoopId, Rc<Counts>>,
    /// Values whose expressions are being found out.
    in_progress: HashMap<Value, ()>,
    /// Loops whose counts are being found out, and how many that were for the sake of the first.
    active: Vec<LoopId>,
    nested: usize,
    /// How many values that meet are being looked through.
    merges: u32,
    /// True if something that was asked for since is only known for now.
    provisional: bool,
}

impl<'f> ScalarEvolution<'f> {
    /// Returns what is known of a function and its loops, which must be those it has. The data
    /// layout
    /// must be that of the function's module: it decides how wide addresses are.
    pub fn new(function: &'f Body, analysis: &'f Analysis, data_layout: &DataLayout) -> ScalarEvolution<'f> {
        let mut scev = ScalarEvolution {
            function,
            analysis,
            data_layout: data_layout.clone(),
            edges: HashMap::new(),
            assumptions: HashMap::new(),
            must_progress: crate::ll::function_must_progress(function.root_ref()),
            pool: Pool::default(),
            exprs: Memo::default(),
            ranges: Memo::default(),
            proven: Memo::default(),
            scoped: Memo::default(),
            entry_facts: Memo::default(),
            stopping: Memo::default(),
            noticed: Memo::default(),
            exiting: Memo::default(),
            loop_counts: Memo::default(),
            in_progress: HashMap::new(),
            active: Vec::new(),
            nested: 0,
            merges: 0,
            provisional: false,
        };
        scev.read_blocks();
        for of in scev.loops_from_the_outside() {
            scev.counts(of);
        }
        scev
    }

    fn read_blocks(&mut self) {
        let function = self.function;
        for block in function.blocks(function.region(function.root(), 0)) {
            let node = self.analysis.number(block);
            for op in function.ops(block).filter(|op| function.is(*op, llvm::AssumeOp::DEF)) {
                self.assumptions.entry(node).or_default().push(op);
            }
            let Some(branch) = function.terminator(block) else { continue };
            let is_reached = self.analysis.dominators().is_reachable(node);
            let brought =
                if is_reached { super::branch::successor_operands(function, branch) } else { Vec::new() };
            for (to, operands) in function.successors(branch).zip(brought) {
                if !operands.is_empty() {
                    self.edges.entry(to).or_default().push((node, operands));
                }
            }
        }
    }

    /// All loops, each before those in it, in the order of the text.
    pub fn loops_from_the_outside(&self) -> Vec<LoopId> {
        let loops = self.analysis.loops();
        let mut order = Vec::new();
        // The outermost stand in postorder: the last is met first.
        let mut pending: Vec<LoopId> = loops.top().to_vec();
        while let Some(of) = pending.pop() {
            order.push(of);
            pending.extend(loops.get(of).children.iter().rev());
        }
        order
    }

    /// The function.
    pub fn function(&self) -> &'f Body {
        self.function
    }

    /// The data layout of its target.
    pub fn data_layout(&self) -> &DataLayout {
        &self.data_layout
    }

    /// Its loops.
    pub fn analysis(&self) -> &'f Analysis {
        self.analysis
    }

    /// What an expression is.
    pub fn get(&self, id: ExprId) -> &Expr {
        self.pool.get(id)
    }

    /// The type of an expression.
    pub fn type_of(&self, id: ExprId) -> ExprType {
        self.pool.ty(id)
    }

    /// The values of the cases of a switch, as bits.
    pub fn case_values(&self, of: Op) -> Vec<u128> {
        branch::case_values(self.function, of)
    }

    /// An answer that is known, or is computed now.
    fn remembered<K: Hash + Eq + Copy, V: Clone>(
        &mut self,
        table: fn(&mut Self) -> &mut Memo<K, V>,
        key: K,
        compute: impl FnOnce(&mut Self) -> V,
    ) -> V {
        if let Some((known, is_provisional)) = table(self).get(&key) {
            self.provisional |= is_provisional;
            return known;
        }
        let before = std::mem::replace(&mut self.provisional, false);
        let answer = compute(self);
        let is_provisional = self.provisional;
        table(self).insert(key, answer.clone(), is_provisional);
        self.provisional |= before;
        answer
    }

    fn forget_provisional(&mut self) {
        self.exprs.forget_provisional();
        self.ranges.forget_provisional();
        self.proven.forget_provisional();
        self.scoped.forget_provisional();
        self.entry_facts.forget_provisional();
        self.stopping.forget_provisional();
        self.noticed.forget_provisional();
        self.exiting.forget_provisional();
        self.loop_counts.forget_provisional();
        self.nested = 0;
    }
}
