//! Scalar promotion: a loop that accesses one element of memory in every iteration keeps it in a
//! register.
//!
//! ```text
//! for j                               s = load acc[i]
//!   acc[i] = acc[i] + a[i][j]   →     s' = for j carrying s: s + a[i][j]
//!                                     store s', acc[i]
//! ```
//!
//! The judge of storage decides (`legality/storage/promoted.rs`). An element that is only loaded is
//! loaded once. If the loop may have no iteration, the loop and both accesses get a guard, an
//! `scf.if` on its bounds: the program accesses nothing then, and the element may not exist. Inner
//! loops come first; what they leave around them may be promoted again.
//!
//! Values are computed in the same order, so floating-point results are unchanged, bit for bit.
//!
//! **Cost.** Each round is linear in the operations, plus for each group of accesses some integer
//! sets. There is a round for each level of loops.
//!
//! # Limits
//!
//! - All accesses of the element must stand directly in the loop: one inside a conditional keeps
//!   it in memory.
//! - An element that is only loaded stays in memory if the loop may have no iteration.
//!
//! **Not in `.ll`.** LLVM's own `licm` does the same there.
//!
//! **Never illegal.** An element that something else may touch stays in memory.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<4x8xf32>, %s: memref<4xf32>) {
//!   affine.for %i = 0 to 4 {
//!     affine.for %j = 0 to 8 {
//!       %x = affine.load %a[%i, %j] : memref<4x8xf32>
//!       %y = affine.load %s[%i] : memref<4xf32>
//!       %z = arith.addf %x, %y : f32
//!       affine.store %z, %s[%i] : memref<4xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --scalar-promotion --remarks=text -o new.mlir
//! $ cat new.mlir
//! ```
//!
//! An element is stored once then, instead of eight times. The order of iterations stays.

use element::{Element, poison};
use hashbrown::HashMap;
use loomir_dialects::{affine, arith, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Attr, Block, Body, Builder, Diagnostics, Mapping, Op, Value};
use loomir_polyhedra::Limits;
use rebuild::{with_carried, yield_also};

use crate::access::base::{AliasMode, Named};
use crate::access::callees::Callees;
use crate::access::locals::Locals;
use crate::access::survey;
use crate::access::{ACCESSES, Analyses, CLOSED_FORMS, CONTROL_FLOW};
use crate::affine::bounds::has_iteration;
use crate::assumption::{self, Assumption, MAX_TESTS};
use crate::effects::{Effects, runs_at_least_once};
use crate::flow::Flow;
use crate::flow::timeline::{self, Timeline};
use crate::legality::storage::{Promoted, StorageJudge, has_candidate, stored_by};
use crate::marks;
use crate::naming::called;
use crate::naming::called_in_full;
use crate::regenerate::guard::{Otherwise, guard, run_if};
use crate::regenerate::overlap::{Make, Overlap};
use crate::remark::{self, Remarks};

mod element;
mod rebuild;

/// The options of scalar promotion.
#[derive(Clone, Debug)]
pub struct Options {
    /// The alias assumption about memrefs. With [`AliasMode::Version`] it is tested at run time,
    /// and the fallback is the original loop.
    pub alias: AliasMode,
    /// The maximal number of tests before a loop.
    pub max_tests: usize,
    /// The maximal number of rounds. An element leaves one loop in each round.
    pub max_rounds: usize,
    /// The limits on one question about integers.
    pub limits: Limits,
    /// The analyses of accesses.
    pub analyses: Analyses,
    /// True to report each promotion.
    pub remarks: bool,
}

impl Default for Options {
    fn default() -> Self {
        let limits = Limits::steps(400_000);
        Options {
            alias: AliasMode::May,
            max_tests: MAX_TESTS,
            max_rounds: MAX_ROUNDS,
            limits,
            analyses: Analyses::default(),
            remarks: true,
        }
    }
}

/// The report of a promotion.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each element that a loop keeps in a register.
    pub remarks: Diagnostics,
    /// The number of such elements.
    pub promoted: usize,
    /// The number of loads and stores that left a loop.
    pub accesses: usize,
}

/// The default limit on rounds: more than loops are nested.
const MAX_ROUNDS: usize = 16;

/// Promotes elements of memory to values that loops carry. The result is well formed if `body` was,
/// and computes the same.
pub fn promote(body: &mut Body, options: &Options) -> Report {
    let mut report = Report::default();
    if !has_candidate(body) {
        return report;
    }
    let mut open = timeline::roots(body);
    let mut tested = HashMap::new();
    for _ in 0..options.max_rounds {
        let effects = Effects::of(body);
        let locals = Locals::of(body);
        let mut next = Vec::new();
        for block in std::mem::take(&mut open) {
            let timeline = Timeline::assuming(body, block, &locals, &options.analyses, options.alias);
            let flow = Flow::new(body, &timeline, options.limits);
            let found = StorageJudge::new(body, &timeline, &flow).promoted(&effects);
            let before = report.promoted;
            Writer { body, options, tested: &mut tested, report: &mut report }.write(found);
            if report.promoted > before {
                next.push(block);
            }
        }
        open = next;
        if open.is_empty() {
            break;
        }
    }
    report
}

/// Writes approved promotions.
struct Writer<'w> {
    body: &'w mut Body,
    options: &'w Options,
    /// The assumptions that hold in the fast side of each new check.
    tested: &'w mut HashMap<Block, Vec<Assumption>>,
    report: &'w mut Report,
}

impl Writer<'_> {
    fn write(&mut self, mut found: Vec<Promoted>) {
        found.sort_by_key(|own| own.loop_op().index());
        let mut pending: Vec<(Op, Vec<Assumption>)> = Vec::new();
        for own in found.iter().filter(|own| !self.holds(own) && self.can_be_tested(own)) {
            let known = pending.iter_mut().find(|(outermost, _)| *outermost == own.outermost());
            match known {
                Some((_, assumed)) => assumption::add(assumed, own.assumed().iter().cloned()),
                None => pending.push((own.outermost(), own.assumed().to_vec())),
            }
        }
        for (outermost, mut assumed) in pending {
            if assumed.len() <= self.options.max_tests {
                assumption::sort(&mut assumed);
                self.version(outermost, assumed);
            }
        }
        found.retain(|own| self.holds(own));
        for elements in found.chunk_by(|a, b| a.loop_op() == b.loop_op()) {
            let loop_op = elements[0].loop_op();
            if self.body.is(loop_op, scf::ForOp::DEF) || self.body.is(loop_op, affine::ForOp::DEF) {
                self.promote(loop_op, elements);
            }
        }
    }

    /// True if the assumptions of a promotion were tested before.
    fn holds(&self, promoted: &Promoted) -> bool {
        let around = std::iter::successors(Some(promoted.loop_op()), |op| self.body.parent_op(*op));
        let blocks = around.filter_map(|op| self.body.block_of(op));
        let tested = blocks.filter_map(|block| self.tested.get(&block)).flatten();
        let known: Vec<&Assumption> = tested.collect();
        promoted.assumed().iter().all(|assumed| known.contains(&assumed))
    }

    /// True if a check may be added: the loops are not in a version of something else.
    fn can_be_tested(&self, promoted: &Promoted) -> bool {
        let mut around = std::iter::successors(Some(promoted.outermost()), |op| self.body.parent_op(*op));
        around.all(|op| self.body.attr(op, marks::VERSIONED).is_none())
    }

    /// Moves a loop into the fast side of a run-time check. The fallback is a copy of the loop.
    fn version(&mut self, loop_op: Op, assumed: Vec<Assumption>) {
        let body = &mut *self.body;
        let mut builder = Builder::before(body, loop_op);
        let mut overlap = Overlap::default();
        let mut holds: Option<Value> = None;
        for assumption in &assumed {
            let Assumption::Apart(Named::Value(a), Named::Value(b)) = assumption else { continue };
            let apart = overlap.apart(&mut builder, [*a, *b]);
            holds = Some(match holds {
                Some(others) => builder.make(arith::AndIOp::DEF, &[others, apart]),
                None => apart,
            });
        }
        let Some(holds) = holds else { return };
        let copy = body.copy_op(loop_op, &mut Mapping::default());
        let check = run_if(body, loop_op, holds, Otherwise::Runs(copy));
        body.set_attr(check, marks::VERSIONED, Attr::UNIT);
        if self.options.remarks {
            let remarks = Remarks { body, pass: PASS.name };
            let said =
                remarks.assumed(&assumed, AliasMode::Version, "Promoted", &|value| called(body, value));
            said.into_iter().for_each(|remark| self.report.remarks.push(remark));
        }
        self.tested.extend(body.block_of(loop_op).map(|block| (block, assumed)));
    }

    /// Promotes elements of one loop.
    fn promote(&mut self, mut loop_op: Op, elements: &[Promoted]) {
        let runs = runs_at_least_once(self.body, loop_op) || has_iteration(self.body, loop_op);
        let is_stored = |own: &&Promoted| own.accesses().iter().any(|op| stored_by(self.body, *op).is_some());
        let (changed, read): (Vec<&Promoted>, Vec<&Promoted>) = elements.iter().partition(is_stored);
        let read = if runs { read } else { Vec::new() };
        for promoted in read {
            let Some(element) = Element::of(self.body, promoted.named_by()) else { continue };
            self.tell(promoted, &element, loop_op);
            let value = element.load(self.body, loop_op);
            self.replace_accesses(promoted, value);
        }
        if !runs && !changed.is_empty() {
            guard(self.body, loop_op);
        }
        let mut stores = Vec::new();
        for promoted in changed {
            let Some(element) = Element::of(self.body, promoted.named_by()) else { continue };
            self.tell(promoted, &element, loop_op);
            // An iteration that begins with a store does not need the value before the loop.
            let begins_with_store =
                promoted.accesses().first().is_some_and(|op| stored_by(self.body, *op).is_some());
            let init = match begins_with_store {
                true => poison(self.body, loop_op, element.ty),
                false => element.load(self.body, loop_op),
            };
            let (new, argument) = with_carried(self.body, loop_op, init);
            loop_op = new;
            let last = self.replace_accesses(promoted, argument);
            yield_also(self.body, loop_op, last);
            stores.push(element);
        }
        let first = self.body.num_results(loop_op) - stores.len();
        let Some(next) = self.body.next_op(loop_op) else { return };
        for (i, element) in stores.into_iter().enumerate() {
            let value = self.body.result(loop_op, first + i);
            element.store(self.body, next, value);
        }
    }

    /// Replaces the loads of an element, whose value is `value` at first, and erases all accesses.
    /// Returns the value after the last of them.
    fn replace_accesses(&mut self, promoted: &Promoted, mut value: Value) -> Value {
        for op in promoted.accesses() {
            match stored_by(self.body, *op) {
                Some(new) => value = new,
                None => self.body.replace_all_uses(self.body.result(*op, 0), value),
            }
            self.body.erase(*op);
        }
        self.report.accesses += promoted.accesses().len();
        value
    }

    fn tell(&mut self, promoted: &Promoted, element: &Element, loop_op: Op) {
        self.report.promoted += 1;
        if !self.options.remarks {
            return;
        }
        let name = called_in_full(self.body, element.memref);
        let stores = promoted.accesses().iter().filter(|op| stored_by(self.body, **op).is_some()).count();
        let loads = promoted.accesses().len() - stores;
        let text = format!("Kept an element of {name} in a register ({loads} loads, {stores} stores)");
        let loc = self.body.loc(loop_op);
        let remark = Remarks { body: self.body, pass: PASS.name }.passed("Promoted", loc, &text);
        self.report.remarks.push(remark.arg("loads", loads as i64).arg("stores", stores as i64));
    }
}

/// The pass `scalar-promotion` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "scalar-promotion",
    anchor: Some("func.func"),
    summary: "Keep elements of memory that every iteration of a loop accesses in registers",
    options: &[
        (
            "alias",
            "may",
            "'distinct' assumes that no two memref arguments overlap, 'version' tests it when run, 'may' assumes nothing",
        ),
        CLOSED_FORMS.option(),
        ACCESSES.option(),
        CONTROL_FLOW.option(),
    ],
    make: |options| {
        let alias = options.parse("alias", AliasMode::May)?;
        let options = Options { alias, analyses: Analyses::of_options(options)?, ..Options::default() };
        Ok(Box::new(ScalarPromotion { options }))
    },
};

struct ScalarPromotion {
    options: Options,
}

impl Pass for ScalarPromotion {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if !cx.edits.allows_more() {
            return Ok(());
        }
        let analyses = self.options.analyses.with_callees(&Callees::around(cx.surveys));
        let report = promote(body, &Options { analyses, ..self.options.clone() });
        cx.count("Elements promoted", report.promoted as u64);
        cx.count("Accesses moved", report.accesses as u64);
        remark::tell(cx, PASS.name, body, report.promoted > 0, report.remarks);
        Ok(())
    }
}
