//! Scalar evolution: the integers and addresses of a function as expressions over the iterations of
//! its loops, and trip counts.
//!
//! | module | holds |
//! | --- | --- |
//! | [`expr`] | expressions, each stored once |
//! | `build` | their normal form |
//! | `values` | expressions of values; recurrences of headers' arguments |
//! | [`range`] | the least and the greatest number |
//! | `flags` | no-wrap facts |
//! | [`facts`] | guards in force |
//! | `scope` | where expressions are defined, and the value at a scope |
//! | [`count`], [`exits`] | backedge-taken counts by comparison, by exit and of the loop |
//! | `first`, `running` | constant counts: by Euclid's algorithm, by running the loop |
//! | `behavior` | other behaviour of a loop: abnormal exits, non-termination |
//! | `evaluate` | values of expressions for numbers |
//! | [`mod@print`] | output in the form of `opt` |
//!
//! Expressions are words modulo two to the power of a width, while the
//! [forms](loomir_transforms::affine) of the tree are numbers. Where words provably do not wrap,
//! both agree.
//!
//! **Soundness.** An expression is the value wherever that is defined and not poison. Ranges and
//! no-wrap flags of an expression hold each time the header of its loop runs. A count holds each
//! time the loop is entered, and left without earlier undefined behaviour.
//!
//! **Cost.** Everything is computed once and kept. Counts of all loops are computed at the start,
//! outer loops first, in the order of the text, so later answers do not depend on the order of
//! questions. Walks from a value use an explicit stack. Expressions have bounded depth and size,
//! and chains from loop to loop are bounded. The time is linear in the function, times the nesting
//! depth of loops.
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
    /// Edges into blocks with arguments: their sources and operands.
    edges: HashMap<Block, Vec<(u32, Vec<Value>)>>,
    /// Assumptions by block.
    assumptions: HashMap<u32, Vec<Op>>,
    /// True if every loop of the function must make progress.
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
    /// Values whose expressions are being computed.
    in_progress: HashMap<Value, ()>,
    /// Loops whose counts are being computed. `nested` is the number of counts computed for the
    /// sake of the first.
    active: Vec<LoopId>,
    nested: usize,
    /// The number of merges being looked through.
    merges: u32,
    /// True if an answer since then is provisional.
    provisional: bool,
}

impl<'f> ScalarEvolution<'f> {
    /// Returns the scalar evolution of a function with this analysis of its loops. The data layout
    /// must be that of the function's module: it decides the width of addresses.
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

    /// Returns all loops, each before its inner loops, in the order of the text.
    pub fn loops_from_the_outside(&self) -> Vec<LoopId> {
        let loops = self.analysis.loops();
        let mut order = Vec::new();
        // The outermost loops are in postorder: the last comes first in the text.
        let mut pending: Vec<LoopId> = loops.top().to_vec();
        while let Some(of) = pending.pop() {
            order.push(of);
            pending.extend(loops.get(of).children.iter().rev());
        }
        order
    }

    /// Returns the function.
    pub fn function(&self) -> &'f Body {
        self.function
    }

    /// Returns the data layout of the target.
    pub fn data_layout(&self) -> &DataLayout {
        &self.data_layout
    }

    /// Its loops.
    pub fn analysis(&self) -> &'f Analysis {
        self.analysis
    }

    /// Returns the contents of an expression.
    pub fn get(&self, id: ExprId) -> &Expr {
        self.pool.get(id)
    }

    /// Returns the type of an expression.
    pub fn type_of(&self, id: ExprId) -> ExprType {
        self.pool.ty(id)
    }

    /// Returns the values of the cases of a switch, as bits.
    pub fn case_values(&self, of: Op) -> Vec<u128> {
        branch::case_values(self.function, of)
    }

    /// Returns a cached result, or computes it.
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
