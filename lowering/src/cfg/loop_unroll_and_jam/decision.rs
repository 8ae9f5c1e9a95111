//! The count of unroll-and-jam.
//!
//! The count that unrolling would choose for the outer loop is reduced until the jammed inner loop
//! is small enough. Options and directives name another count. Without these, the inner loop must
//! be one block that loads what the outer loop does not change: such loads become one.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::Options;
use loomir_ir::symbols::SymbolTable;
use loomir_transforms::unrolling::{
    self, Action, Cost, Facts, Preferences as Unrolling, Questions, Step, decide as decide_unroll,
};

use super::nest::Nest;
use crate::cfg::loop_unroll::directives::JamDirectives;
use crate::cfg::loop_unroll::facts;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Expr, ExprId};

/// The options, with their defaults and meanings, in the order of their importance.
pub(super) const OPTIONS: &[(&str, &str, &str)] = &[
    ("allow-unroll-and-jam", "", "unroll and jam loops without a directive (true), or none (false)"),
    ("unroll-and-jam-count", "", "the count of all loops, whatever directives say"),
    ("unroll-and-jam-threshold", "60", "the size below which a jammed inner loop must be"),
    ("pragma-unroll-and-jam-threshold", "1024", "the same for loops with a directive"),
    ("unroll-count", "", "the unroll count of all loops, which are left to the unroller then"),
    ("unroll-threshold", "150", "the size below which a completely unrolled outer loop must be"),
    ("unroll-partial-threshold", "150", "the maximal size of a partially unrolled outer loop"),
    ("unroll-allow-partial", "false", "unroll outer loops partially, up to that size"),
    ("unroll-runtime", "false", "unroll outer loops whose trip count is known at run time only"),
    ("unroll-allow-remainder", "true", "let a remainder loop run the iterations left over"),
    ("unroll-remainder", "false", "unroll the remainder loop too"),
    ("unroll-full-max-count", "", "the maximal count of full unrolling"),
    ("unroll-max-count", "", "the maximal count of partial unrolling"),
    ("opt-level", "2", "the level of optimization; from 3 on, the threshold is 300"),
    ("explain", "false", "print the steps of each decision as a remark"),
];

/// Limits and permissions.
pub(super) struct Preferences {
    /// The preferences of unrolling, for the outer loop.
    unrolling: Unrolling,
    /// True if loops without a directive are jammed; false if no loop is.
    allow: Option<bool>,
    /// The count that is asked for.
    count: Option<u64>,
    threshold: u64,
    pragma_threshold: u64,
}

impl Preferences {
    /// Reads preferences from the options of the pass.
    ///
    /// # Errors
    ///
    /// The option that is wrong, and why.
    pub(super) fn of(options: &Options) -> Result<Preferences, String> {
        let allow = "allow-unroll-and-jam";
        let count = "unroll-and-jam-count";
        Ok(Preferences {
            unrolling: Unrolling::of(options)?,
            allow: options.get(allow).map(|_| options.parse(allow, false)).transpose()?,
            count: options.get(count).map(|_| options.parse(count, 0)).transpose()?,
            threshold: options.parse("unroll-and-jam-threshold", 60)?,
            pragma_threshold: options.parse("pragma-unroll-and-jam-threshold", 1024)?,
        })
    }

    /// True if a loop with these directives is to be jammed, if possible.
    pub(super) fn wants(&self, own: &JamDirectives) -> bool {
        let is_wanted = self.allow.unwrap_or_else(|| own.forces());
        is_wanted && self.threshold > 0 && !own.forbids()
    }

    pub(super) fn unrolls_remainder(&self) -> bool {
        self.unrolling.unroll_remainder
    }

    pub(super) fn explains(&self) -> bool {
        self.unrolling.explain
    }
}

/// The decision about one nest.
pub(super) struct Decision {
    /// The number of copies: zero if the nest stays, and one if the outer loop has one iteration.
    pub(super) count: u64,
    /// The constant trip count of the outer loop.
    pub(super) trip_count: Option<u64>,
    /// A divisor of the outer loop's trip count.
    pub(super) trip_multiple: u64,
    /// True if a request or a directive decided.
    pub(super) is_explicit: bool,
    /// The way to the decision.
    pub(super) steps: Vec<Step>,
}

/// Answers for loops that are neither peeled nor simulated.
struct NoQuestions;

impl Questions for NoQuestions {
    fn full_unroll_cost(&mut self, _: u64, _: u64) -> Option<Cost> {
        None
    }

    fn peel_count(&mut self, _: u64) -> u64 {
        0
    }
}

/// Decides about a nest.
pub(super) fn decide(
    scev: &mut ScalarEvolution<'_>,
    (id, child): (LoopId, LoopId),
    nest: &Nest,
    symbols: &SymbolTable,
    (directives, preferences): (&JamDirectives, &Preferences),
) -> Decision {
    let outer = facts::facts(scev, id, &nest.outer, symbols, 0);
    let inner = facts::facts(scev, child, &nest.inner, symbols, 0);
    // Upper bounds and profiles are left to the unroller.
    let outer = Facts { max_trip_count: None, max_or_zero: false, estimated_trip_count: None, ..outer };
    let unrolling = Unrolling { allow_peeling: false, ..preferences.unrolling.clone() };
    let decided = decide_unroll(&outer, &directives.unroll, &unrolling, &mut NoQuestions);
    let unrolling::Decision { action, is_explicit, steps, .. } = decided;
    let count = match action {
        Action::Keep | Action::Peel { .. } => 0,
        Action::Full { count } | Action::Partial { count } | Action::Runtime { count, .. } => count,
    };
    let (trip_count, trip_multiple) = (outer.trip_count, outer.trip_multiple);
    let mut deciding = Deciding { outer: &outer, inner: &inner, unrolling, preferences, count, steps };
    let is_fixed = outer.fixed.is_some() || inner.fixed.is_some();
    let is_explicit = if is_fixed || is_explicit {
        if is_explicit {
            deciding.say("count", "0: the loop is left to the unroller".to_owned());
        }
        deciding.count = 0;
        false
    } else {
        let only_one_block = nest.inner.blocks.len() == 1;
        deciding.run(directives, only_one_block, &mut || shared_loads(scev, (id, child), nest))
    };
    let Deciding { count, steps, .. } = deciding;
    let count = if count < 2 { 0 } else { trip_count.map_or(count, |most| count.min(most)) };
    Decision { count, trip_count, trip_multiple, is_explicit, steps }
}

struct Deciding<'a> {
    outer: &'a Facts,
    inner: &'a Facts,
    unrolling: Unrolling,
    preferences: &'a Preferences,
    count: u64,
    steps: Vec<Step>,
}

impl Deciding<'_> {
    fn say(&mut self, name: &'static str, text: String) {
        self.steps.push(Step { name, text });
    }

    /// Returns the size of a loop with as many copies as there are to be.
    fn size(&self, of: &Facts) -> u64 {
        let test = self.unrolling.backedge_size;
        of.size.max(test + 1).saturating_sub(test).saturating_mul(self.count).saturating_add(test)
    }

    /// Sets the count; returns true if it is explicit.
    fn run(
        &mut self,
        directives: &JamDirectives,
        only_one_block: bool,
        shared_loads: &mut dyn FnMut() -> usize,
    ) -> bool {
        let allows_remainder = self.unrolling.allow_remainder && !self.outer.no_remainder;
        let named = self.preferences.count.or(directives.count.filter(|count| *count > 0));
        if let Some(count) = named {
            self.count = count;
            self.say("count", format!("{count}, as asked for"));
        } else {
            self.say("count", format!("{}, as for unrolling the outer loop", self.count));
        }
        let is_explicit = named.is_some() || directives.enable;
        let threshold = match is_explicit {
            true => self.preferences.pragma_threshold,
            false => self.preferences.threshold,
        };
        let is_divided = named.is_some_and(|count| self.outer.trip_multiple.is_multiple_of(count.max(1)));
        if !allows_remainder && !is_divided && self.size(self.inner) >= threshold {
            self.say("inner loop", format!("size {}, not below {threshold}", self.size(self.inner)));
            self.count = 0;
            return false;
        }
        if named.is_none() && allows_remainder {
            let test = self.unrolling.backedge_size;
            let each = self.inner.size.max(test + 1) - test;
            self.count = self.count.min(threshold.saturating_sub(test + 1) / each);
        }
        self.say("inner loop", format!("{} copies, size {}", self.count, self.size(self.inner)));
        if is_explicit {
            return true;
        }
        let inner_size = self.inner.size.max(self.unrolling.backedge_size + 1);
        let trips = self.inner.trip_count;
        if let Some(trips) = trips.filter(|own| inner_size.saturating_mul(*own) < self.unrolling.threshold) {
            self.say("profit", format!("no: {trips} iterations of the inner loop are left to the unroller"));
            self.count = 0;
        } else if !only_one_block {
            self.say("profit", "no: the inner loop branches".to_owned());
            self.count = 0;
        } else {
            match shared_loads() {
                0 => {
                    self.say("profit", "no: no load is the same in all iterations".to_owned());
                    self.count = 0;
                }
                loads => self.say("profit", format!("yes: {loads} loads become one")),
            }
        }
        false
    }
}

/// Returns the number of loads of the inner loop that the outer loop does not change.
fn shared_loads(scev: &mut ScalarEvolution<'_>, (id, child): (LoopId, LoopId), nest: &Nest) -> usize {
    let function = scev.function();
    let ops = nest.inner.blocks.iter().flat_map(|block| function.ops(*block));
    let loads: Vec<_> = ops.filter(|op| function.is(*op, llvm::LoadOp::DEF)).collect();
    let addresses = loads.into_iter().map(|op| function.operand(op, 0));
    let shared = addresses.filter(|address| {
        scev.expr_type(*address).is_some() && {
            let address = scev.expr(*address);
            is_shared(scev, address, (id, child))
        }
    });
    shared.count()
}

/// True if an expression has the same values in all iterations of the outer loop.
fn is_shared(scev: &ScalarEvolution<'_>, expr: ExprId, (id, child): (LoopId, LoopId)) -> bool {
    match scev.get(expr) {
        Expr::AddRec(of, operands) if *of == child => {
            operands.iter().all(|operand| scev.is_invariant(*operand, id))
        }
        _ => scev.is_invariant(expr, id),
    }
}
