//! Array contraction: removes memory that fusion made unnecessary.
//!
//! Once a producer and its consumer run in one loop, the values between them need no array. The
//! data flow of a function's accesses ([`flow`](crate::flow)) decides, in this order:
//!
//! 1. Allocations that only the branches of one conditional use move there (`contraction/sink.rs`).
//! 2. A load is replaced by the value last seen in its element in the same iteration. A store that
//!    is overwritten before it is read is erased (`legality/storage/forward.rs`).
//! 3. A load is replaced by the stored value of its last writer, if that value is available. Stores
//!    that are no load's last writer are erased, unless they are live-out. A remaining local array
//!    is folded to the elements that are live together (`legality/storage/flowing.rs`,
//!    `contraction/folded.rs`).
//! 4. Dead operations are erased, including allocations that are only written
//!    (`contraction/cleanup.rs`).
//!
//! The judge of storage (`legality/storage.rs`) decides 2 and 3. Contraction chooses the questions,
//! and applies the approved changes.
//!
//! No value is computed again or in another order, so floating-point results are unchanged, bit for
//! bit. Arrays that escape, or are visible from outside, keep their stores.
//!
//! **Cost.** Linear in the operations for 1, 2 and 4; for 3 a bounded number of integer maxima for
//! each load, and each pair of a load and a store of one array.
//!
//! # Limits
//!
//! - Storage is folded along single dimensions, not along a diagonal, and only if all uses are
//!   loads, stores and frees. A value that is loaded an iteration later stays in memory.
//!
//! **Never conditional.** Only arrays that the function allocates shrink, and nothing overlaps
//! these.
//!
//! **Not in `.ll`.** The arrays are allocations of memrefs.
//!
//! **Never illegal.** An array whose elements are all alive together stays, with a remark.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%b: memref<12xf32>, %x: f32) {
//!   %t = memref.alloc() : memref<12xf32>
//!   affine.for %i = 0 to 12 {
//!     affine.store %x, %t[%i] : memref<12xf32>
//!     %0 = affine.load %t[%i] : memref<12xf32>
//!     %1 = arith.addf %0, %0 : f32
//!     affine.store %1, %b[%i] : memref<12xf32>
//!   }
//!   memref.dealloc %t : memref<12xf32>
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --array-contraction --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/array-contraction-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/array-contraction-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/array-contraction-0.svg)
//! ![The order of stores after](images/array-contraction-1.svg)
//!
//! [Arrays that fusion made unnecessary](../contraction.md) has more.

use hashbrown::{HashMap, HashSet};
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, Value};
use loomir_polyhedra::Limits;

use crate::access::base::{AliasMode, Base};
use crate::access::callees::Callees;
use crate::access::locals::{self, Locals};
use crate::access::survey;
use crate::access::{ACCESSES, Analyses, CLOSED_FORMS, CONTROL_FLOW};
use crate::flow::Flow;
use crate::flow::timeline::{self, Timeline};
use crate::fusion;
use crate::legality::storage::{Forwarded, Missed, Plan, Storage, StorageJudge, Unneeded, value_at};
use crate::remark;
use cleanup::Cleanup;

mod cleanup;
mod folded;
mod remarks;
mod sink;

/// The options of contraction.
#[derive(Clone, Debug)]
pub struct Options {
    /// The alias assumption about memrefs. Nothing is tested at run time.
    pub alias: AliasMode,
    /// The limits on one question about integers.
    pub limits: Limits,
    /// The analyses of accesses and their order. The writes that a load sees are then computed
    /// exactly from this knowledge.
    pub analyses: Analyses,
    /// True to report each change and each refusal with its reason.
    pub remarks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alias: AliasMode::May,
            limits: Limits::steps(400_000),
            analyses: Analyses::default(),
            remarks: true,
        }
    }
}

impl Options {
    /// Returns the options of a contraction that follows a fusion: its analyses, its assumption if
    /// nothing has to be tested for that, and remarks if the fusion makes some.
    pub fn after(fusion: &fusion::Options) -> Self {
        Options {
            alias: fusion.alias.untested(),
            analyses: fusion.analyses.clone(),
            remarks: fusion.remarks,
            ..Options::default()
        }
    }
}

/// The report of a contraction.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each array that was folded or erased, and for each local array that loops
    /// access and that was not. Empty if remarks are not wanted.
    pub remarks: Diagnostics,
    /// The number of loads replaced by values.
    pub forwarded: usize,
    /// The number of erased loads whose values nothing used.
    pub loads_erased: usize,
    /// The number of erased stores, without those into erased arrays.
    pub stores_erased: usize,
    /// The number of erased allocations.
    pub arrays_erased: usize,
    /// The number of folded allocations.
    pub arrays_folded: usize,
    /// The number of elements that loops keep in registers, if promotion ran too.
    pub promoted: usize,
    /// True if another contraction would find nothing: no object is left that may carry a value
    /// from one access to another, or the data flow just changed nothing.
    pub is_settled: bool,
}

impl Report {
    /// Returns true if the function changed.
    pub fn changed(&self) -> bool {
        self.steps() > 0
    }

    /// Returns the number of changes of the function.
    fn steps(&self) -> usize {
        let accesses = self.forwarded + self.loads_erased + self.stores_erased;
        accesses + self.arrays_erased + self.arrays_folded + self.promoted
    }

    /// Adds the report of later work on the same function.
    pub fn go_on(&mut self, mut later: Report) {
        later.remarks.retain_from(0, |own| !own.is_missed());
        self.append(later);
    }

    /// Adds the report of work elsewhere.
    pub fn append(&mut self, other: Report) {
        self.remarks.append(other.remarks);
        self.forwarded += other.forwarded;
        self.loads_erased += other.loads_erased;
        self.stores_erased += other.stores_erased;
        self.arrays_erased += other.arrays_erased;
        self.arrays_folded += other.arrays_folded;
        self.promoted += other.promoted;
        self.is_settled = other.is_settled;
    }
}

/// Contracts the arrays of a function. The result is well formed if `body` was, and computes the
/// same.
pub fn contract(body: &mut Body, options: &Options) -> Report {
    let mut locals = Locals::of(body);
    if sink::sink(body, &locals) {
        locals = Locals::of(body);
    }
    let options = &Options { analyses: options.analyses.for_one_function(), ..*options };
    let cleanup = Cleanup::new(&locals);
    let report = Report::default();
    let mut contraction =
        Contraction { locals, cleanup, options, report, replaced: HashSet::new(), reveals: false };
    // Compounds come first: the code around them then sees their final form.
    let mut open: HashMap<Block, Vec<Base>> = HashMap::new();
    for block in timeline::roots(body).into_iter().rev() {
        open.insert(block, contraction.within_iterations(body, block));
    }
    contraction.finish(body);
    open.retain(|_, bases| bases.iter().any(|base| contraction.is_there(*base)));
    if open.is_empty() {
        return Report { is_settled: true, ..contraction.report };
    }
    // Operations that passed an array on may be gone, and blocks may have lost their contents.
    contraction.locals = Locals::of(body);
    contraction.cleanup = Cleanup::new(&contraction.locals);
    let before = contraction.report.steps();
    for block in timeline::roots(body).into_iter().rev() {
        if open.contains_key(&block) {
            contraction.by_flow(body, block);
        }
    }
    contraction.finish(body);
    let changed = contraction.report.steps() > before;
    let is_settled = !changed && !contraction.reveals && !sink::sink(body, &contraction.locals);
    Report { is_settled, ..contraction.report }
}

/// Contraction of the arrays of one function.
struct Contraction<'o> {
    locals: Locals,
    cleanup: Cleanup,
    options: &'o Options,
    report: Report,
    /// Allocations with a load that was replaced by a value.
    replaced: HashSet<Value>,
    /// True if a change may let a load see a value that was hidden from it: a store between them is
    /// gone, or two subscripts became one value.
    reveals: bool,
}

impl Contraction<'_> {
    fn timeline(&self, body: &Body, block: Block) -> Timeline {
        Timeline::assuming(body, block, &self.locals, &self.options.analyses, self.options.alias)
    }

    /// Erases loads and stores that are unnecessary within an iteration, by their own block or the
    /// block around. Returns the objects with further candidates.
    fn within_iterations(&mut self, body: &mut Body, block: Block) -> Vec<Base> {
        let mut timeline = self.timeline(body, block);
        let limits = self.options.limits;
        self.erase_unused_loads(body, &mut timeline);
        let found = StorageJudge::new(body, &timeline, &Flow::new(body, &timeline, limits)).forwarded();
        self.forward(body, &mut timeline, &found);
        let dead = StorageJudge::new(body, &timeline, &Flow::new(body, &timeline, limits)).overwritten();
        self.erase_stores(body, &mut timeline, &dead);
        timeline.unsettled().collect()
    }

    /// True if an object was not erased.
    fn is_there(&self, base: Base) -> bool {
        !matches!(base, Base::Allocation(allocation) if !self.locals.knows(allocation))
    }

    /// Removes loads, stores and storage that are unnecessary according to the data flow.
    fn by_flow(&mut self, body: &mut Body, block: Block) {
        let mut timeline = self.timeline(body, block);
        let limits = self.options.limits;
        let flow = Flow::new(body, &timeline, limits);
        let found = StorageJudge::new(body, &timeline, &flow).invariant();
        self.forward(body, &mut timeline, &found);
        let flow = Flow::new(body, &timeline, limits);
        let dead = StorageJudge::new(body, &timeline, &flow).unseen();
        self.erase_stores(body, &mut timeline, &dead);
        for base in timeline.bases().collect::<Vec<_>>() {
            let Base::Allocation(allocation) = base else { continue };
            let flow = Flow::new(body, &timeline, limits);
            let judge = StorageJudge::new(body, &timeline, &flow);
            if !self.locals.is_local(base) {
                if judge.has_flow(allocation)
                    && let Some(op) = locals::escape(body, allocation)
                {
                    self.tell(|| remarks::missed(body, allocation, Missed::Escapes(op)));
                }
            } else if let Some(plan) = judge.plan(allocation) {
                self.carry_out(body, &mut timeline, allocation, plan);
            }
        }
    }

    fn carry_out(&mut self, body: &mut Body, timeline: &mut Timeline, allocation: Value, plan: Plan) {
        let (dead, kept, storage) = plan.into_parts();
        self.erase_stores(body, timeline, &dead);
        match storage {
            Storage::Stays(why) => self.tell(|| remarks::missed(body, allocation, why)),
            Storage::Scalar => {}
            Storage::Folds(folds) => {
                let accesses: Vec<Op> = kept.iter().map(|id| timeline.get(*id).op).collect();
                let before = body.value_type(allocation);
                if let Some(old) = body.defining_op(allocation)
                    && let Some(folded) = folded::fold(body, old, &folds, &accesses)
                {
                    self.locals.replace(allocation, folded);
                    self.cleanup.erase(body, &self.locals, old);
                    self.cleanup.forget(allocation);
                    self.report.arrays_folded += 1;
                    self.tell(|| remarks::folded(body, folded, before));
                }
            }
        }
    }

    /// Adds a remark, if remarks are wanted.
    fn tell(&mut self, remark: impl FnOnce() -> Diagnostic) {
        if self.options.remarks {
            self.report.remarks.push(remark());
        }
    }

    fn erase_unused_loads(&mut self, body: &mut Body, timeline: &mut Timeline) {
        for id in timeline.accesses().collect::<Vec<_>>() {
            let op = timeline.get(id).op;
            if cleanup::is_unused_load(body, op) {
                self.cleanup.erase(body, &self.locals, op);
                timeline.remove(id);
                self.report.loads_erased += 1;
            }
        }
    }

    /// Replaces each of these loads by the value that another access has seen. That access stays.
    fn forward(&mut self, body: &mut Body, timeline: &mut Timeline, found: &[Forwarded]) {
        for forwarded in found {
            let access = timeline.get(forwarded.load());
            let Some(value) = value_at(body, timeline.get(forwarded.source()).op) else { continue };
            if let Base::Allocation(allocation) = access.class.base {
                self.replaced.insert(allocation);
            }
            let op = access.op;
            self.reveals |= !body.value_type(value).is_float(body.ctx());
            body.replace_all_uses(body.result(op, 0), value);
            self.cleanup.erase(body, &self.locals, op);
            timeline.remove(forwarded.load());
            self.report.forwarded += 1;
        }
    }

    fn erase_stores(&mut self, body: &mut Body, timeline: &mut Timeline, stores: &[Unneeded]) {
        for unneeded in stores {
            let op = timeline.get(unneeded.store()).op;
            self.cleanup.erase(body, &self.locals, op);
            timeline.remove(unneeded.store());
        }
        self.reveals |= !stores.is_empty();
        self.report.stores_erased += stores.len();
    }

    /// Erases everything that is dead.
    fn finish(&mut self, body: &mut Body) {
        for (allocation, loc) in self.cleanup.run(body, &self.locals) {
            let read = self.replaced.remove(&allocation);
            self.tell(|| remarks::erased(body, loc, read));
            self.report.arrays_erased += 1;
            self.locals.forget(allocation);
        }
    }
}

/// The pass `array-contraction` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "array-contraction",
    anchor: Some("func.func"),
    summary: "Replace loads by known values, and shrink local arrays to the elements that are live at a time",
    options: &[AliasMode::UNTESTED, CLOSED_FORMS.option(), ACCESSES.option(), CONTROL_FLOW.option()],
    make: |options| {
        let (alias, analyses) = (AliasMode::untested_of(options)?, Analyses::of_options(options)?);
        Ok(Box::new(ArrayContraction { options: Options { alias, analyses, ..Options::default() } }))
    },
};

struct ArrayContraction {
    options: Options,
}

impl Pass for ArrayContraction {
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
        let report = contract(body, &Options { analyses, ..self.options });
        cx.count("Loads forwarded", report.forwarded as u64);
        cx.count("Stores erased", report.stores_erased as u64);
        cx.count("Arrays erased", report.arrays_erased as u64);
        cx.count("Arrays folded", report.arrays_folded as u64);
        remark::tell(cx, PASS.name, body, report.changed(), report.remarks);
        Ok(())
    }
}
