//! The drivers of patterns.

use hashbrown::HashMap;

use super::constants::Constants;
use super::fold::{OperandConstants, fold, operand_constants, order_operands};
use super::rewriter::{Listener, Rewriter, Worklist};
use super::{Pattern, PatternSet, defect, is_trivially_dead};
use crate::body::Body;
use crate::diagnostics::{Diagnostic, Severity};
use crate::entity::Op;
use crate::location::Loc;
use crate::opdef::Trait;

/// Bounds on the work of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Visits of operations, as a multiple of the operations there are at first.
    pub visits_per_op: usize,
    /// Applications of patterns. When there were so many, nothing is folded any more, either.
    pub rewrites: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { visits_per_op: 64, rewrites: usize::MAX }
    }
}

/// The work that a driver did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Operations folded away.
    pub folded: usize,
    /// Patterns applied.
    pub rewritten: usize,
    /// Operations erased since nothing used them.
    pub erased: usize,
    /// Equal constants unified.
    pub unified: usize,
    /// The reason why the driver stopped early: the limit was reached, or a pattern is defective.
    /// It names the pattern.
    pub stopped: Option<Diagnostic>,
}

impl Report {
    /// True if anything changed.
    pub fn changed(&self) -> bool {
        self.folded + self.rewritten + self.erased + self.unified > 0
    }
}

/// The greedy driver: folds, applies patterns and erases what is unused, until nothing changes.
pub struct Greedy<'a> {
    patterns: PatternSet<'a, dyn Pattern + 'a>,
    limits: Limits,
    is_dead: fn(&Body, Op) -> bool,
    unifies_constants: bool,
    is_bottom_up: bool,
    listener: Option<&'a mut dyn Listener>,
    /// Empty between runs.
    worklist: Worklist,
}

impl<'a> Greedy<'a> {
    /// Returns a driver of these patterns, with default limits. It unifies constants, and erases
    /// [trivially dead](is_trivially_dead) operations.
    pub fn new(patterns: &[&'a dyn Pattern]) -> Greedy<'a> {
        Greedy {
            patterns: PatternSet::new(patterns),
            limits: Limits::default(),
            is_dead: is_trivially_dead,
            unifies_constants: true,
            is_bottom_up: false,
            listener: None,
            worklist: Worklist::default(),
        }
    }

    /// Bounds the work.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Erases operations of which this is true. It must be false for used results and terminators.
    #[must_use]
    pub fn erases_if(mut self, is_dead: fn(&Body, Op) -> bool) -> Self {
        self.is_dead = is_dead;
        self
    }

    /// Leaves constants where they are.
    #[must_use]
    pub fn keeps_constants(mut self) -> Self {
        self.unifies_constants = false;
        self
    }

    /// Visits operations from the last to the first, at first.
    #[must_use]
    pub fn bottom_up(mut self) -> Self {
        self.is_bottom_up = true;
        self
    }

    /// Tells a listener of every change.
    #[must_use]
    pub fn listener(mut self, listener: &'a mut dyn Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Rewrites a body, without the bodies nested in it. Visits each operation once, and again when
    /// something changes around it.
    pub fn run(&mut self, body: &mut Body) -> Report {
        let ops: Vec<Op> = body.all_ops().collect();
        self.run_on(body, ops)
    }

    /// Rewrites these operations of a body, and those around what changes. Linear in them; a first
    /// run also takes as long as the body has operations.
    pub fn run_on(&mut self, body: &mut Body, ops: Vec<Op>) -> Report {
        let budget = ops.len().saturating_add(16).saturating_mul(self.limits.visits_per_op);
        let listener: Option<&mut dyn Listener> = match &mut self.listener {
            Some(listener) => Some(&mut **listener),
            None => None,
        };
        let mut rewriter = Rewriter::new(body, listener, std::mem::take(&mut self.worklist));
        rewriter.constants = self.unifies_constants.then(Constants::default);
        // The last one is visited first.
        match self.is_bottom_up {
            true => ops.into_iter().for_each(|op| rewriter.revisit(op)),
            false => ops.into_iter().rev().for_each(|op| rewriter.revisit(op)),
        }
        let mut run = Run {
            patterns: &self.patterns,
            is_dead: self.is_dead,
            applied: HashMap::new(),
            report: Report::default(),
        };
        run.drain(&mut rewriter, budget, self.limits.rewrites);
        let report = run.report;
        self.worklist = rewriter.into_worklist();
        report
    }
}

/// One run of the greedy driver.
struct Run<'r, 'a> {
    patterns: &'r PatternSet<'a, dyn Pattern + 'a>,
    is_dead: fn(&Body, Op) -> bool,
    /// The number of applications of each pattern, and its place.
    applied: HashMap<String, (usize, Option<Loc>)>,
    report: Report,
}

impl Run<'_, '_> {
    /// Visits the operations of the worklist, at most `budget` times in all, and until there were
    /// `most` rewrites.
    fn drain(&mut self, rewriter: &mut Rewriter<'_>, budget: usize, most: usize) {
        for _ in 0..budget {
            if self.report.rewritten >= most {
                break;
            }
            let Some(op) = rewriter.pop() else { return };
            self.visit(rewriter, op);
            if self.report.stopped.is_some() {
                return;
            }
        }
        if let Some(op) = rewriter.pop() {
            self.report.stopped = Some(self.limit_reached(rewriter.body(), op));
        }
    }

    fn visit(&mut self, rewriter: &mut Rewriter<'_>, op: Op) {
        if (self.is_dead)(rewriter.body(), op) {
            rewriter.erase(op);
            self.report.erased += 1;
            return;
        }
        let info = rewriter.body().info(op);
        if info.has_trait(Trait::ConstantLike) {
            self.report.unified += usize::from(rewriter.unify_constant(op));
            return;
        }
        let (is_commutative, hook) =
            (info.has_trait(Trait::Commutative), info.def().and_then(|def| def.fold));
        let constants = match hook.is_some() || is_commutative {
            true => operand_constants(rewriter.body(), op),
            false => OperandConstants::new(),
        };
        if is_commutative && order_operands(rewriter, op, &constants) {
            self.report.folded += 1;
            return;
        }
        if hook.is_some_and(|hook| fold(rewriter, op, hook, &constants)) {
            self.report.folded += 1;
            if let Some(what) = rewriter.defect.take() {
                let name = rewriter.body().op_ref(op).name().to_owned();
                self.report.stopped =
                    Some(defect(rewriter.body().loc(op), &format!("fold of {name}"), None, &what));
            }
            return;
        }
        for pattern in self.patterns.for_op(rewriter.body(), op) {
            let changed = pattern.rewrite(rewriter, op);
            if let Some(what) = rewriter.defect.take() {
                let loc = rewriter.body().loc(op);
                self.report.stopped = Some(defect(loc, pattern.name(), pattern.loc(), &what));
                return;
            }
            if changed {
                self.report.rewritten += 1;
                self.applied.entry_ref(pattern.name()).or_insert((0, pattern.loc())).0 += 1;
                return;
            }
        }
    }

    fn limit_reached(&self, body: &Body, op: Op) -> Diagnostic {
        let busiest = self.applied.iter().max_by(|a, b| (a.1.0, b.0).cmp(&(b.1.0, a.0)));
        let loc = body.loc(op);
        let warning =
            Diagnostic::new(Severity::Warning, loc, "rewriting stopped before nothing changed any more");
        match busiest {
            Some((name, (times, place))) => {
                warning.note(place.unwrap_or(loc), format!("pattern '{name}' was applied {times} times"))
            }
            None => warning.note(loc, "no pattern was applied; a fold does not end"),
        }
    }
}

/// Folds, applies `patterns` and erases what is unused, in this body only, until nothing changes.
/// Constants stay where they are. [`Greedy`] has more options.
pub fn apply_patterns_greedily(body: &mut Body, patterns: &[&dyn Pattern], limits: Limits) -> Report {
    Greedy::new(patterns).limits(limits).keeps_constants().run(body)
}

/// Applies patterns once to each operation of this body, in the order of the text, without folding.
/// Operations that a pattern makes are not visited. Returns the number of applications.
///
/// # Errors
/// A defect of a pattern, by name.
pub fn apply_patterns_once(body: &mut Body, patterns: &[&dyn Pattern]) -> Result<usize, Diagnostic> {
    let set = PatternSet::new(patterns);
    let ops: Vec<Op> = body.all_ops().collect();
    let mut rewriter = Rewriter::new(body, None, Worklist::default());
    ops.iter().for_each(|op| rewriter.revisit(*op));
    let mut applied = 0;
    for op in ops {
        // An operation that was erased is not queued any more.
        if !rewriter.is_queued(op) {
            continue;
        }
        for pattern in set.for_op(rewriter.body(), op) {
            let changed = pattern.rewrite(&mut rewriter, op);
            if let Some(what) = rewriter.defect.take() {
                return Err(defect(rewriter.body().loc(op), pattern.name(), pattern.loc(), &what));
            }
            if changed {
                applied += 1;
                break;
            }
        }
    }
    Ok(applied)
}
