//! Loop distribution: a loop becomes several consecutive loops, each with a part of its body.
//!
//! A loop is cut between two writing operations wherever that is legal, from the outside in. Each
//! cut is judged separately: several together reverse a dependence only if one of them does. A cut
//! may go through an `if`, which becomes two with the same condition. Pure computations are
//! repeated in each part that needs them. Other values keep the parts together, unless scalar
//! expansion may pass them on in arrays (`expansion.rs`). A condition that cannot be recomputed is
//! such a value, once the conditional is split (`distribution/split.rs`).
//!
//! An array costs a store and a load in each iteration. A cut is therefore made only if it saves
//! more (`distribution/price.rs`), or if the user asks for it. [Fusion](crate::fusion) and
//! [contraction](crate::contraction) are the inverse.
//!
//! **Assumptions.**
//! - A statement that is computed again in several parts has no effect and freezes nothing. Tried
//!   with `fixtures/distribution/cuts.mlir` and `tests/tests/all/hazards.rs`.
//! - Arrays that pass values on have the trip count of the loop as their size, which is known
//!   before it. Tried with `fixtures/distribution/expansion.mlir`.
//!
//! **Cost.** A bounded number of cuts for each loop. Each is linear in the contents of the loop.
//!
//! **Not in `.ll`.** In a schedule, `loomir.distribute` cuts single loops of LLVM IR before an
//! operation.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<12xf32>, %b: memref<12xf32>, %x: f32) {
//!   affine.for %i = 0 to 12 {
//!     affine.store %x, %a[%i] : memref<12xf32>
//!     %0 = arith.addf %x, %x : f32
//!     affine.store %0, %b[%i] : memref<12xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-distribute=alias=distinct --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/distribute-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/distribute-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/distribute-0.svg)
//! ![The order of stores after](images/distribute-1.svg)

use std::str::FromStr;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Block, Body, Diagnostics, Op, Value};
use loomir_polyhedra::Limits;

use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::survey;
use crate::access::{Analyses, INTERFACES, LoopContext};
use crate::assumption::MAX_TESTS;
use crate::assumption::{self, Assumption};
use crate::cost::{Cost, CostSource, Machine, OnMachine};
use crate::expansion::{self, Expanded, HandOn, Read};
use crate::legality::{Checker, QUESTION, Verdict};
use crate::naming::called;
use crate::regenerate::{Rewrite, regenerate};
use crate::remark;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Green, Node, Program, TreeStore};
use crate::while_to_for;
use pieces::Pieces;
use price::{Cut, Priced};
use split::Split;

pub(crate) mod pieces;
mod price;
mod remarks;
mod split;

/// The maximal number of cuts that are judged in one loop.
const MAX_CUTS: usize = 16;
/// The default limit on values that are passed on over one cut.
const MAX_HANDED: usize = 4;

/// The options of distribution.
#[derive(Clone, Debug)]
pub struct Options {
    /// The alias assumption about unknown memrefs. Values are passed on in arrays only if no
    /// run-time check is needed.
    pub alias: AliasMode,
    /// The analyses.
    pub analyses: Analyses,
    /// The values that may be passed over a cut in arrays.
    pub expand: Expand,
    /// The cost model of loops and arrays.
    pub cost: Arc<dyn Cost>,
    /// The limits on one question of legality.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alias: AliasMode::May,
            analyses: Analyses::default(),
            expand: Expand::default(),
            cost: CostSource::default().cost(Machine::default()),
            limits: QUESTION,
        }
    }
}

impl Options {
    /// Returns the same options without run-time checks.
    fn untested(&self) -> Options {
        let alias = self.alias.untested();
        Options { alias, ..self.clone() }
    }

    fn checker<'a>(&'a self, body: &'a Body, program: &'a Program) -> Checker<'a> {
        Checker::new(body, program, self.alias, self.limits).with_dependence(&*self.analyses.dependence)
    }
}

/// The values that may be passed over a cut in arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expand {
    /// The cuts whose parts, including arrays, cost less than the original loop.
    #[default]
    Cost,
    /// All values, if at most this many are passed over one cut.
    UpTo(usize),
}

impl Expand {
    /// Returns the number of values that may be passed over one cut.
    fn most(self) -> usize {
        match self {
            Expand::Cost => MAX_HANDED,
            Expand::UpTo(most) => most,
        }
    }
}

impl FromStr for Expand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(most) => Ok(Expand::UpTo(most)),
            Err(_) if text == "cost" => Ok(Expand::Cost),
            Err(_) => Err(format!("'{text}' is neither 'cost' nor a number")),
        }
    }
}

/// The report of a distribution.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each loop that was distributed, and for each loop that could not be although
    /// several of its operations write.
    pub remarks: Diagnostics,
    /// The number of loops that were distributed.
    pub distributed: usize,
    /// The number of new arrays.
    pub expanded: usize,
}

impl Report {
    /// Adds the report of work elsewhere.
    pub fn append(&mut self, other: Report) {
        self.remarks.append(other.remarks);
        self.distributed += other.distributed;
        self.expanded += other.expanded;
    }
}

/// Distributes the loops of a function. The result is well formed if `body` was, and computes the
/// same.
pub fn distribute(body: &mut Body, options: &Options) -> Report {
    while_to_for::uplift(body);
    let untested = options.untested();
    // Blocks inside statements come first, because a copy of a statement copies its changed blocks.
    let mut parts: Vec<Report> = roots(body, &options.analyses)
        .into_iter()
        .rev()
        .map(|block| {
            // A version inside of code that may be versioned would double it again.
            let is_inside = body.block_of(body.region_parent(body.block_region(block))).is_some();
            distribute_block(body, block, if is_inside { &untested } else { options })
        })
        .collect();
    let mut report = Report::default();
    while let Some(part) = parts.pop() {
        report.append(part);
    }
    report
}

/// Distributes the loops of one block.
fn distribute_block(body: &mut Body, block: Block, options: &Options) -> Report {
    let mut expanded: Vec<(Planned, Handed)> = Vec::new();
    // Code in LLVM IR may have no `malloc`, or be a part of it.
    let expands = options.expand.most() > 0 && !body.is(body.root(), llvm::FuncOp::DEF);
    for planned in if expands { plan(body, block, &options.untested()) } else { Vec::new() } {
        let (planned, splits) = planned.with_splits(body);
        match expansion::expand(body, planned.op, &planned.values) {
            Some(made) => expanded.push((planned, Handed { made, splits })),
            None => splits.into_iter().rev().for_each(|split| split.undo(body)),
        }
    }
    loop {
        let mut trees = TreeStore::default();
        let program = raise_by(&options.analyses, body, block, &mut trees, options.alias);
        let mut distribution = Distribution {
            body,
            program: &program,
            trees: &mut trees,
            options,
            expanded: &expanded,
            report: Report::default(),
            parts: HashMap::new(),
            assumed: Vec::new(),
            tests: Vec::new(),
        };
        let root = distribution.sequence(program.root, 0);
        let Distribution { mut report, parts, mut assumed, .. } = distribution;
        // Arrays without a resulting cut are removed.
        let is_cut = |own: &Planned| parts.get(&own.op).is_some_and(|parts| *parts > own.cuts);
        let (kept, undone): (Vec<_>, Vec<_>) = expanded.into_iter().partition(|(own, _)| is_cut(own));
        expanded = kept;
        if !undone.is_empty() {
            undone.into_iter().rev().for_each(|(_, handed)| handed.undo(body));
            continue;
        }
        for own in expanded.iter().flat_map(|(own, _)| &own.values) {
            report.expanded += 1;
            report.remarks.push(remarks::expanded(body, own.value));
        }
        if !assumed.is_empty() {
            assumption::sort(&mut assumed);
            remarks::remarks(body)
                .assumed(&assumed, options.alias, "Distributed", &|value| called(body, value))
                .into_iter()
                .for_each(|said| report.remarks.push(said));
        }
        match options.checker(body, &program).judge(&mut trees, root) {
            Ok(approved) => {
                if let Err(why) = regenerate(body, &program, &trees, &approved, Rewrite::Changed) {
                    report.remarks.push(why.remark(remarks::remarks(body), "distributed"));
                }
            }
            Err(verdict) => {
                expanded.into_iter().rev().for_each(|(_, handed)| handed.undo(body));
                let remarks = verdict.not_approved(remarks::remarks(body), block, "distributed").into();
                report = Report { remarks, ..Report::default() };
            }
        }
        return report;
    }
}

/// A loop to distribute after some of its values were expanded to arrays.
struct Planned {
    op: Op,
    cuts: usize,
    values: Vec<HandOn>,
    /// Operations in conditionals to split there, because their conditions are passed on. In the
    /// order of the text.
    splits: Vec<Op>,
}

impl Planned {
    /// Splits the planned conditionals. Their conditions are then read behind the cuts too.
    fn with_splits(mut self, body: &mut Body) -> (Planned, Vec<Split>) {
        let mut splits = Vec::new();
        for behind in std::mem::take(&mut self.splits) {
            let Some(split) = split::split(body, behind) else { continue };
            for own in &mut self.values {
                if body.operands(split.second).any(|value| value == own.value) {
                    own.reads.push(Read { before: split.second, users: vec![split.second] });
                }
            }
            splits.push(split);
        }
        (self, splits)
    }
}

/// The preparations that allow values to be passed on.
struct Handed {
    made: Expanded,
    splits: Vec<Split>,
}

impl Handed {
    fn undo(self, body: &mut Body) {
        self.made.undo(body);
        self.splits.into_iter().rev().for_each(|split| split.undo(body));
    }
}

/// Returns the loops of a block that may be distributed after scalar expansion.
fn plan(body: &Body, block: Block, options: &Options) -> Vec<Planned> {
    let mut trees = TreeStore::default();
    let program = raise_by(&options.analyses, body, block, &mut trees, options.alias);
    let checker = options.checker(body, &program);
    let mut planned = Vec::new();
    for of in program.loops() {
        let info = program.loop_info(of);
        let Node::Loop { header, body: inside } = trees.get(info.green) else { continue };
        let pieces = Pieces::of(body, &program, &trees, inside);
        let gaps = pieces.gaps();
        if info.has_results() || !expansion::has_trip_count(body, info.op) {
            continue;
        }
        let mut cuts: Vec<(Cut, Option<Op>)> = Vec::new();
        for (at, _) in
            gaps.into_iter().filter(|(_, crossing)| *crossing <= options.expand.most()).take(MAX_CUTS)
        {
            let values = pieces.crossing(at);
            // A condition with pieces on both sides of the cut is needed twice.
            let decides = pieces.conditionals(&program, at);
            let is_decisive =
                |(_, value): &(usize, Value)| body.uses(*value).any(|used| decides.contains(&used.op));
            let split = match values.iter().any(is_decisive) {
                true => split::place(body, &program, &pieces, at).map(Some),
                false => Some(None),
            };
            let is_element =
                |(_, value): &(usize, Value)| expansion::may_be_element(body, body.value_type(*value));
            let Some(split) = split.filter(|_| values.iter().all(is_element)) else { continue };
            let items = [0..at, at..pieces.len()].map(|range| {
                let part = pieces.part(&mut trees, range);
                trees.with_header(header, part)
            });
            let on: HashSet<Op> = values.iter().filter_map(|(_, value)| body.defining_op(*value)).collect();
            if checker.check_loop(&trees, of, &items, &on).is_legal() {
                cuts.push((Cut { at, values }, split));
            }
        }
        if cuts.iter().all(|(cut, _)| cut.values.is_empty()) {
            continue;
        }
        if options.expand == Expand::Cost {
            let loop_context = LoopContext::around(&program, &trees, of);
            let priced = Priced {
                ir: body,
                program: &program,
                cost: &OnMachine::of_function(&*options.cost, body),
                header,
                pieces: &pieces,
                loop_context: &loop_context,
            };
            let mut is_worth = priced.worth(&mut trees, &cuts).into_iter();
            cuts.retain(|_| is_worth.next() == Some(true));
        }
        let (cuts, splits): (Vec<Cut>, Vec<Option<Op>>) = cuts.into_iter().unzip();
        let mut handed: Vec<(usize, Value)> =
            cuts.iter().flat_map(|cut| cut.values.iter().copied()).collect();
        let splits = splits.into_iter().flatten().collect();
        handed.sort_unstable_by_key(|(from, value)| (*from, value.index()));
        handed.dedup();
        if !handed.is_empty() {
            let values = handed.iter().map(|value| hand_on(body, &program, &pieces, &cuts, *value)).collect();
            planned.push(Planned { op: info.op, cuts: cuts.len(), values, splits });
        }
    }
    planned
}

/// Returns where a value, the result of a piece, is read after these cuts: once in each block of
/// each later part.
fn hand_on(
    body: &Body,
    program: &Program,
    pieces: &Pieces,
    cuts: &[Cut],
    (from, value): (usize, Value),
) -> HandOn {
    let part_of = |piece: usize| cuts.iter().filter(|cut| cut.at <= piece).count();
    // Each use, with its piece and the operation there. A condition counts for the first piece that
    // it guards.
    let place = |user: Op| match pieces.holding(body, user) {
        Some((piece, op)) => Some((piece, op, user)),
        None => Some((pieces.decided(program, user).next()?, user, user)),
    };
    let mut uses: Vec<(usize, Op, Op)> = body.uses(value).filter_map(|used| place(used.op)).collect();
    uses.sort_by_key(|(piece, ..)| *piece);
    let mut of_block: HashMap<(usize, Option<Block>), usize> = HashMap::new();
    let mut reads: Vec<Read> = Vec::new();
    for (piece, before, user) in uses.into_iter().filter(|(piece, ..)| part_of(*piece) > part_of(from)) {
        let next = reads.len();
        let at = *of_block.entry((part_of(piece), body.block_of(before))).or_insert(next);
        match reads.get_mut(at) {
            Some(read) => {
                // Statements of several operations may interleave in the text.
                if body.is_before_in_block(before, read.before) {
                    read.before = before;
                }
                read.users.push(user);
            }
            None => reads.push(Read { before, users: vec![user] }),
        }
    }
    HandOn { value, reads }
}

/// Distribution of the loops of one program.
struct Distribution<'a> {
    body: &'a Body,
    program: &'a Program,
    trees: &'a mut TreeStore,
    options: &'a Options,
    expanded: &'a [(Planned, Handed)],
    report: Report,
    /// The number of new loops for each distributed loop.
    parts: HashMap<Op, usize>,
    /// All run-time assumptions.
    assumed: Vec<Assumption>,
    /// The assumptions of the current outermost loop.
    tests: Vec<Assumption>,
}

impl Distribution<'_> {
    /// Distributes the loops of a sequence inside `depth` loops, then their inner loops. Recurses
    /// once a loop or guard. Their nesting depth is bounded when they are raised.
    fn sequence(&mut self, sequence: Green, depth: u32) -> Green {
        let mut done = Vec::new();
        for item in self.trees.items(sequence).collect::<Vec<_>>() {
            match self.trees.get(item) {
                Node::Loop { header, .. } => {
                    let mut loops = Vec::new();
                    for body in self.parts_of(item) {
                        let body = self.sequence(body, depth + 1);
                        loops.push(self.trees.with_header(header, body));
                    }
                    done.extend(if depth == 0 { self.tested(item, loops) } else { loops });
                }
                Node::Guard { of, map, holds, body } => {
                    let body = self.sequence(body, depth);
                    done.push(self.trees.guard(of, map, holds, body));
                }
                _ => done.push(item),
            }
        }
        self.trees.sequence(&done)
    }

    /// Returns the result of an outermost loop, versioned by its run-time assumptions.
    fn tested(&mut self, original: Green, loops: Vec<Green>) -> Vec<Green> {
        let mut tests = std::mem::take(&mut self.tests);
        assumption::add(&mut self.assumed, tests.iter().cloned());
        if tests.is_empty() || self.options.alias != AliasMode::Version {
            return loops;
        }
        assumption::sort(&mut tests);
        let (fast, original) = (self.trees.sequence(&loops), self.trees.sequence(&[original]));
        vec![self.trees.versioned(tests, fast, original)]
    }

    /// Adds assumptions. The error is the number of tests that would be needed, if it exceeds the
    /// limit.
    fn assume(&mut self, more: Vec<Assumption>) -> Result<(), usize> {
        let mut all = self.tests.clone();
        assumption::add(&mut all, more);
        if self.options.alias == AliasMode::Version && all.len() > MAX_TESTS {
            return Err(all.len());
        }
        self.tests = all;
        Ok(())
    }

    /// True if scalar expansion created a value to pass others on.
    fn is_made(&self, value: Value) -> bool {
        let op = self.body.defining_op(value);
        op.is_some_and(|op| self.expanded.iter().any(|(_, handed)| handed.made.has_made(op)))
    }

    /// Returns the bodies of the loops that replace a loop.
    fn parts_of(&mut self, item: Green) -> Vec<Green> {
        let Node::Loop { header, body } = self.trees.get(item) else { return Vec::new() };
        let Some(of) = self.trees.header(header).origins.first().map(|origin| origin.of) else {
            return vec![body];
        };
        let pieces = Pieces::of(self.body, self.program, self.trees, body);
        let gaps = pieces.gaps();
        let checker = self.options.checker(self.body, self.program);
        let (mut cuts, mut why, mut tested) = (Vec::new(), None, None);
        for (at, _) in gaps.iter().filter(|(_, crossing)| *crossing == 0).take(MAX_CUTS) {
            let items = [0..*at, *at..pieces.len()].map(|range| {
                let part = pieces.part(self.trees, range);
                self.trees.with_header(header, part)
            });
            match checker.check_loop(self.trees, of, &items, &HashSet::new()) {
                Verdict::Legal { assumed } => match self.assume(assumed) {
                    Ok(()) => cuts.push(*at),
                    Err(many) => tested = Some(many),
                },
                verdict => {
                    why.get_or_insert(verdict);
                }
            }
        }
        let op = self.program.loop_info(of).op;
        if cuts.is_empty() {
            let crossing = gaps.first().and_then(|(at, _)| pieces.crossing(*at).first().copied());
            if let Some(verdict) = why {
                let callees = &*self.options.analyses.callees;
                self.report.remarks.push(remarks::dependences(self.body, callees, op, &verdict));
            } else if let Some(tested) = tested {
                self.report.remarks.push(remarks::too_many_tests(self.body, op, tested));
            } else if let Some((_, value)) = crossing
                && !self.is_made(value)
            {
                self.report.remarks.push(remarks::crossing(self.body, op, value));
            }
            return vec![body];
        }
        let ends = cuts.iter().copied().chain([pieces.len()]);
        let begins = std::iter::once(0).chain(cuts.iter().copied());
        let ranges: Vec<_> = begins.zip(ends).map(|(begin, end)| begin..end).collect();
        let first = |range: &std::ops::Range<usize>| Some(pieces.op(pieces.first_effect(range.clone())?));
        let heads: Vec<Op> = ranges.iter().skip(1).filter_map(first).collect();
        self.report.remarks.push(remarks::distributed(self.body, op, &heads));
        self.report.distributed += 1;
        self.parts.insert(op, ranges.len());
        ranges.into_iter().map(|range| pieces.part(self.trees, range)).collect()
    }
}

/// The pass `loop-distribute` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-distribute",
    anchor: Some("func.func"),
    summary: "Make several loops of one, wherever every dependence is kept",
    options: &[
        ("alias", "may", "what to assume of memrefs nothing is known of: version, may, distinct"),
        (
            "expand",
            "cost",
            "which values are handed over a cut in arrays: cost, those worth it, or at most so many over one",
        ),
        (
            "cost",
            "static",
            "where costs come from: static, or profile, a run whose counts are in the program",
        ),
        INTERFACES[0].option(),
        INTERFACES[1].option(),
        INTERFACES[2].option(),
        INTERFACES[3].option(),
        INTERFACES[4].option(),
    ],
    make: |options| {
        let default = Options::default();
        let alias = options.parse("alias", default.alias)?;
        let expand = options.parse("expand", default.expand)?;
        let cost = options.parse("cost", CostSource::default())?.cost(Machine::default());
        let analyses = Analyses::of_options(options)?;
        Ok(Box::new(LoopDistribute { options: Options { alias, expand, cost, analyses, ..default } }))
    },
};

struct LoopDistribute {
    options: Options,
}

impl Pass for LoopDistribute {
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
        let report = distribute(body, &Options { analyses, ..self.options.clone() });
        cx.count("Loops distributed", report.distributed as u64);
        cx.count("Values handed on in arrays", report.expanded as u64);
        remark::tell(cx, PASS.name, body, report.distributed > 0, report.remarks);
        Ok(())
    }
}
