//! Transformations: proposals of [edits](crate::tree::Edit) of the loop tree.
//!
//! A [`Transformation`] looks at the loops of a block and proposes changes, or reasons against
//! them. Everything else is done here, the same for all: the edits are applied, the judge is asked,
//! approved trees are written, and remarks report the changes. A transformation is one file with
//! its proposals and its remarks, and one line in [`ALL`]. Its pass, its options, its part of the
//! campaign `transformations` and its line in `loomir --list-passes` come from its [`Info`].
//!
//! ```text
//!     block ──raise──> loops ──propose──> edits ──apply──> tree ──judge──> approved ──> block'
//! ```
//!
//! **Assumptions.**
//! - None about legality: the judge sees the whole block with all edits in it. Tried with the
//!   campaign `hazards`.
//! - Edits of a block do not interfere if they are applied from the last to the first, inner ones
//!   before outer ones: no place changes before its edit is applied.
//!
//! **Cost.** A block is judged once, and a logarithmic number of times more for each edit that is
//! not approved. It is raised again for each loop that cannot be written.

use hashbrown::{HashMap, HashSet};
use loomir_ir::pass::{EditLimit, Options, Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc, Op};
use loomir_polyhedra::Limits;

use crate::access::Analyses;
use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::survey;
use crate::cost::{Cost, StaticCost};
use crate::legality::{Approved, Checker, QUESTION, Verdict};
use crate::regenerate::{Reason, Rewrite, Unwritable, regenerate};
use crate::remark::Remarks;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Change, Edit, Program, TreeStore};

use flatten::Flatten;
use hilbert::Hilbert;
use interchange::Interchange;
use loads_first::LoadsFirst;
pub use loops::LoopRef;
use morton::Morton;
use parallelize::Parallelize;
use peel::Peel;
use register_tile::RegisterTile;
use reverse::Reverse;
use skew::Skew;
use split::Split;
use strip_mine::StripMine;
use tile::Tile;
use unroll::Unroll;
use unroll_and_jam::{AffineUnrollAndJam, UnrollAndJam};
use unswitch::Unswitch;
use vectorize::Vectorize;

mod choice;
mod first_iterations;
pub mod flatten;
pub mod hilbert;
pub mod interchange;
pub mod loads_first;
mod loops;
pub mod morton;
pub mod parallelize;
pub mod peel;
pub mod register_tile;
pub mod reverse;
pub mod skew;
pub mod split;
pub mod strip_mine;
pub mod tile;
pub mod tile_by;
pub mod unroll;
pub mod unroll_and_jam;
pub mod unswitch;
pub mod vectorize;

/// All transformations, as passes on `func.func` with their information.
pub const ALL: &[(PassInfo, Info)] = &[
    registered::<AffineUnrollAndJam>(),
    registered::<Flatten>(),
    registered::<Hilbert>(),
    registered::<Interchange>(),
    registered::<LoadsFirst>(),
    registered::<Morton>(),
    registered::<Parallelize>(),
    registered::<Peel>(),
    registered::<RegisterTile>(),
    registered::<Reverse>(),
    registered::<Skew>(),
    registered::<Split>(),
    registered::<StripMine>(),
    registered::<Tile>(),
    registered::<Unroll>(),
    registered::<UnrollAndJam>(),
    registered::<Unswitch>(),
    registered::<Vectorize>(),
];

/// The name and the texts of a transformation.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name of its pass.
    pub name: &'static str,
    /// The text of its file, whose header is its page in the [catalogue](crate::catalogue).
    /// Empty if the page of another pass is about this one too.
    pub source: &'static str,
    /// A one-line summary for lists of passes.
    pub summary: &'static str,
    /// The name, default and meaning of each option.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    /// Options that the campaign tests.
    pub samples: &'static [&'static str],
    /// The name of the remark about a change.
    pub passed: &'static str,
    /// The name of the remark about a refusal.
    pub missed: &'static str,
    /// The text of that remark, before the reason.
    pub what_missed: &'static str,
    /// The participle for changed loops, such as "peeled".
    pub then: &'static str,
}

/// A source of edits. See the [module](self).
pub trait Transformation: Send + Sync + Sized + 'static {
    /// Its name and texts.
    const INFO: Info;

    /// The limit on one question about its edits.
    const LIMITS: Limits = QUESTION;

    /// True if a loop is left alone when a loop around it was changed.
    const OUTERMOST: bool = false;

    /// Creates the transformation from the options of a pass.
    ///
    /// # Errors
    ///
    /// What is wrong with an option.
    fn of(options: &Options) -> Result<Self, String>;

    /// Proposes changes of some of these loops, at most one of each. The loops are in the order of
    /// the text, a loop before its inner loops.
    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals);

    /// Prepares a function. By default there is nothing to do.
    fn start(_: &mut Body) {}

    /// Rewrites what was written, where the tree has no form for it. By default there is nothing to
    /// do.
    fn finish(&self, _: &mut Body) {}

    /// Returns the remark about a changed loop.
    fn remark(&self, remarks: Remarks<'_>, loc: Loc, change: &Change) -> Diagnostic;
}

/// The proposals of a transformation for the loops of a block.
#[derive(Default)]
pub struct Proposals {
    changes: Vec<Proposal>,
    missed: HashMap<Op, &'static str>,
}

/// A loop to change.
struct Proposal {
    op: Op,
    /// The edits to try, one after the other.
    edits: Vec<Edit>,
    choice: Choice,
}

/// The choice among the edits of a proposal.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    /// The first legal edit.
    First,
    /// The cheapest legal edit that makes the loop cheaper.
    Cheapest,
    /// The first legal edit, if the loop takes at least so many cycles.
    IfAtLeast(f64),
}

impl Proposal {
    /// Leaves the edits to try, in this order.
    ///
    /// # Errors
    ///
    /// The reason why there are none.
    fn choose(
        &mut self,
        body: &Body,
        program: &Program,
        trees: &mut TreeStore,
        (cost, ahead): (&dyn Cost, bool),
    ) -> Result<(), &'static str> {
        match self.choice {
            Choice::First => {}
            Choice::Cheapest => {
                let all = std::mem::take(&mut self.edits);
                self.edits = choice::cheaper(body, program, trees, (cost, ahead), all).ok_or(NOT_APPLIED)?;
                if self.edits.is_empty() {
                    return Err(NOT_CHEAPER);
                }
            }
            Choice::IfAtLeast(least) => {
                let place = self.edits.first().map(|edit| &edit.place);
                let cycles = place.and_then(|place| choice::cycles_at(body, program, trees, cost, place));
                if cycles.is_none_or(|cycles| cycles < least) {
                    return Err(TOO_SHORT);
                }
            }
        }
        Ok(())
    }
}

impl Proposals {
    /// Proposes a change of a loop.
    pub fn change(&mut self, target: &LoopRef<'_>, change: Change) {
        self.propose(target, [change].into_iter(), Choice::First);
    }

    /// Proposes a change of a loop that is estimated to take at least so many cycles.
    pub fn if_at_least(&mut self, cycles: f64, target: &LoopRef<'_>, change: Change) {
        self.propose(target, [change].into_iter(), Choice::IfAtLeast(cycles));
    }

    fn propose(&mut self, target: &LoopRef<'_>, changes: impl Iterator<Item = Change>, choice: Choice) {
        let edits = changes.map(|change| change.at(target.place())).collect();
        self.changes.push(Proposal { op: target.op(), edits, choice });
    }

    /// Proposes several changes of a loop, of which the first legal one is made.
    pub fn first_legal(&mut self, target: &LoopRef<'_>, changes: impl Iterator<Item = Change>) {
        self.propose(target, changes, Choice::First);
    }

    /// Proposes several changes of a loop. Of those that are legal and make its nest cheaper, the
    /// cheapest is made.
    pub fn cheapest(&mut self, target: &LoopRef<'_>, changes: impl Iterator<Item = Change>) {
        self.propose(target, changes, Choice::Cheapest);
    }

    /// Records the reason why a loop stays unchanged.
    pub fn missed(&mut self, target: &LoopRef<'_>, why: &'static str) {
        self.missed.insert(target.op(), why);
    }
}

/// The pass of a transformation.
struct TransformPass<T> {
    by: T,
    alias: AliasMode,
}

const fn registered<T: Transformation>() -> (PassInfo, Info) {
    (pass::<T>(), T::INFO)
}

/// Returns the pass of a transformation, for those that are not in [`ALL`].
pub const fn pass<T: Transformation>() -> PassInfo {
    let Info { name, summary, options, .. } = T::INFO;
    let make = |options: &Options| {
        let alias = AliasMode::untested_of(options)?;
        Ok(Box::new(TransformPass { by: T::of(options)?, alias }) as Box<dyn Pass>)
    };
    PassInfo { name, anchor: Some("func.func"), summary, options, make }
}

impl<T: Transformation> Pass for TransformPass<T> {
    fn name(&self) -> &str {
        T::INFO.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let analyses = Analyses::default().with_callees(&Callees::around(cx.surveys));
        let cost = StaticCost::default();
        let basis = Basis { analyses: &analyses, alias: self.alias, cost: &cost, ahead: false };
        for remark in transform(body, &self.by, basis, &cx.edits.clone()) {
            cx.remark(remark);
        }
        Ok(())
    }
}

/// The knowledge that edits are chosen and judged by.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a> {
    /// The analyses.
    pub analyses: &'a Analyses,
    /// The alias assumption about memrefs, without run-time checks.
    pub alias: AliasMode,
    /// The cost model, for a choice among edits.
    pub cost: &'a dyn Cost,
    /// True if register tiles come later, so that a choice looks ahead to them.
    pub ahead: bool,
}

/// Makes all edits that a transformation proposes for a function and that the judge approves, up to
/// a limit. Returns a remark for each edit. The result is well formed if `body` was, and computes
/// the same.
pub fn transform<T: Transformation>(
    body: &mut Body,
    by: &T,
    basis: Basis<'_>,
    limit: &EditLimit,
) -> Diagnostics {
    let mut remarks = Diagnostics::default();
    T::start(body);
    // Blocks inside statements come first, because a copy of a statement copies its changed blocks.
    for block in roots(body, basis.analyses).into_iter().rev() {
        let mut unwritable = HashMap::new();
        loop {
            match in_block(body, block, by, basis, (&unwritable, limit)) {
                Ok(said) => break remarks.append(said),
                Err(more) => unwritable.extend(more),
            }
        }
    }
    remarks
}

const NOT_APPLIED: &str = "its first or last iteration is no single number that is known before it";
const TOO_SHORT: &str = "it is estimated to take too few cycles; 'min-cycles' sets the limit";
const NOT_CHEAPER: &str = "it is estimated to be fastest as it is";
const NOT_APPROVED: &str = "a dependence may not be kept";

/// Changes the loops of a block, except those that cannot be written.
///
/// # Errors
///
/// Edited loops one of which cannot be written either. The block is then unchanged.
fn in_block<T: Transformation>(
    body: &mut Body,
    block: Block,
    by: &T,
    Basis { analyses, alias, cost, ahead }: Basis<'_>,
    (unwritable, limit): (&HashMap<Op, Reason>, &EditLimit),
) -> Result<Diagnostics, Vec<(Op, Reason)>> {
    let mut trees = TreeStore::default();
    let program = raise_by(analyses, body, block, &mut trees, alias);
    let mut proposals = Proposals::default();
    by.propose(&mut LoopRef::all(body, &program, &trees), &mut proposals);
    let mut changes = proposals.changes;
    changes.retain(|own| !unwritable.contains_key(&own.op));
    proposals.missed.extend(unwritable.iter().map(|(op, reason)| (*op, reason.text())));
    for own in &mut changes {
        if let Err(why) = own.choose(body, &program, &mut trees, (cost, ahead)) {
            own.edits.clear();
            proposals.missed.insert(own.op, why);
        }
    }
    changes.retain(|own| !own.edits.is_empty());
    changes.sort_by(|a, b| b.edits[0].place.cmp(&a.edits[0].place));
    // The first loops of the text are changed. They are at the end of the list.
    let left = limit.left().map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
    changes.drain(..changes.len().saturating_sub(left));
    let checker = Checker::new(body, &program, alias, T::LIMITS);
    let mut search = Search {
        program: &program,
        trees: &mut trees,
        checker: checker.with_dependence(&*analyses.dependence),
        approved: Approved::unchanged(&program),
        done: HashMap::new(),
        refused: HashMap::new(),
    };
    if T::OUTERMOST {
        search.make_outermost(changes);
    } else {
        search.make(&changes);
    }
    let Search { approved, done, refused, .. } = search;
    let mut said = Diagnostics::default();
    let remarks = Remarks { body, pass: T::INFO.name };
    let all = || LoopRef::all(body, &program, &trees);
    let made = all().filter(|own| T::OUTERMOST && done.contains_key(&own.op()));
    let made: HashSet<Box<[usize]>> = made.map(|own| own.place().into()).collect();
    let mut ops: Vec<Op> = all().filter(|own| !is_below(own.place(), &made)).map(|own| own.op()).collect();
    // Dimensions of a parallel loop are one operation.
    ops.dedup();
    for op in ops.iter().copied() {
        let missed = |why| remarks.missed(T::INFO.missed, body.loc(op), T::INFO.what_missed, why);
        if let Some(change) = done.get(&op) {
            said.push(by.remark(remarks, body.loc(op), change));
        } else if let Some(refused) = refused.get(&op) {
            said.push(match refused {
                Some(verdict) => verdict.explain(body, missed(NOT_APPROVED), T::INFO.then),
                None => missed(NOT_APPLIED),
            });
        } else if let Some(why) = proposals.missed.get(&op) {
            said.push(missed(why));
        }
    }
    let changed = ops.iter().filter(|op| done.contains_key(*op));
    let made: Vec<Loc> = changed.map(|op| body.loc(*op)).collect();
    match regenerate(body, &program, &trees, &approved, Rewrite::Changed) {
        Ok(()) => {
            if !made.is_empty() {
                by.finish(body);
            }
            made.into_iter().for_each(|loc| limit.made(T::INFO.name, loc));
            Ok(said)
        }
        Err(Unwritable { op, reason }) if done.contains_key(&op) => Err(vec![(op, reason)]),
        Err(Unwritable { reason, .. }) => Err(done.into_keys().map(|op| (op, reason)).collect()),
    }
}

/// True if a place is inside of one of these places.
fn is_below(place: &[usize], others: &HashSet<Box<[usize]>>) -> bool {
    (1..place.len()).any(|length| others.contains(&place[..length]))
}

/// The search for edits that are legal together.
struct Search<'a> {
    program: &'a Program,
    trees: &'a mut TreeStore,
    checker: Checker<'a>,
    approved: Approved,
    /// The loops changed so far.
    done: HashMap<Op, Change>,
    /// The unchanged loops, with the verdict of the judge.
    refused: HashMap<Op, Option<Verdict>>,
}

impl Search<'_> {
    /// Makes the first edits of all these loops if they are legal together; else the legal ones of
    /// either half. The recursion is logarithmic in the number of loops.
    fn make(&mut self, proposals: &[Proposal]) {
        match proposals {
            [] => return,
            [Proposal { op, edits, .. }] => return self.make_one(*op, edits),
            _ => {}
        }
        let firsts = || proposals.iter().filter_map(|own| Some((own.op, own.edits.first()?)));
        let tree = firsts()
            .try_fold(self.approved.root(), |tree, (_, edit)| edit.apply(self.program, self.trees, tree));
        match tree.map(|tree| self.checker.judge(self.trees, tree)) {
            Some(Ok(approved)) => {
                self.approved = approved;
                self.done.extend(firsts().map(|(op, edit)| (op, edit.change.clone())));
            }
            _ => {
                let (later, earlier) = proposals.split_at(proposals.len() / 2);
                self.make(later);
                self.make(earlier);
            }
        }
    }

    /// Makes edits of outermost loops first. Edits of loops inside of changed ones are left out.
    /// The edits do not move loops. One round a level of nesting.
    fn make_outermost(&mut self, mut left: Vec<Proposal>) {
        let place = |own: &Proposal| own.edits[0].place.clone();
        while !left.is_empty() {
            let places: HashSet<Box<[usize]>> = left.iter().map(place).collect();
            let (later, now): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|own| is_below(&own.edits[0].place, &places));
            self.make(&now);
            let made = now.iter().filter(|own| self.done.contains_key(&own.op));
            let made: HashSet<Box<[usize]>> = made.map(place).collect();
            left = later;
            left.retain(|own| !is_below(&own.edits[0].place, &made));
        }
    }

    /// Makes the first of these edits of a loop that is legal.
    fn make_one(&mut self, op: Op, edits: &[Edit]) {
        let mut refused = None;
        for edit in edits {
            let Some(tree) = edit.apply(self.program, self.trees, self.approved.root()) else { continue };
            match self.checker.judge(self.trees, tree) {
                Ok(approved) => {
                    self.approved = approved;
                    self.done.insert(op, edit.change.clone());
                    return;
                }
                Err(verdict) => refused = refused.or(Some(verdict)),
            }
        }
        self.refused.insert(op, refused);
    }
}
