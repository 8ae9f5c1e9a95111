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

use crate::access::Analyses;
use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::survey;
use crate::legality::{Approved, Checker, QUESTION, Verdict};
use crate::regenerate::{Reason, Rewrite, Unwritable, regenerate};
use crate::remark::Remarks;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Change, Edit, Program, TreeStore};

use flatten::Flatten;
pub use loops::LoopRef;
use peel::Peel;
use strip_mine::StripMine;
use unroll::Unroll;
use unroll_and_jam::{AffineUnrollAndJam, UnrollAndJam};

mod first_iterations;
pub mod flatten;
mod loops;
pub mod peel;
pub mod strip_mine;
pub mod unroll;
pub mod unroll_and_jam;

/// All transformations, as passes on `func.func` with their information.
pub const ALL: &[(PassInfo, Info)] = &[
    registered::<AffineUnrollAndJam>(),
    registered::<Flatten>(),
    registered::<Peel>(),
    registered::<StripMine>(),
    registered::<Unroll>(),
    registered::<UnrollAndJam>(),
];

/// The name and the texts of a transformation.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name of its pass.
    pub name: &'static str,
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

    /// Creates the transformation from the options of a pass.
    ///
    /// # Errors
    ///
    /// What is wrong with an option.
    fn of(options: &Options) -> Result<Self, String>;

    /// Proposes changes of some of these loops, at most one of each. The loops are in the order of
    /// the text, a loop before its inner loops.
    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals);

    /// Returns the remark about a changed loop.
    fn remark(&self, remarks: Remarks<'_>, loc: Loc) -> Diagnostic;
}

/// The proposals of a transformation for the loops of a block.
#[derive(Default)]
pub struct Proposals {
    edits: Vec<(Op, Edit)>,
    missed: HashMap<Op, &'static str>,
}

impl Proposals {
    /// Proposes a change of a loop.
    pub fn change(&mut self, target: &LoopRef<'_>, change: Change) {
        self.edits.push((target.op(), change.at(target.place())));
    }

    /// Records the reason why a loop stays unchanged.
    pub fn missed(&mut self, target: &LoopRef<'_>, why: &'static str) {
        self.missed.insert(target.op(), why);
    }
}

/// The pass of a transformation.
struct TransformPass<T>(T);

const fn registered<T: Transformation>() -> (PassInfo, Info) {
    let Info { name, summary, options, .. } = T::INFO;
    let make = |options: &Options| Ok(Box::new(TransformPass(T::of(options)?)) as Box<dyn Pass>);
    (PassInfo { name, anchor: Some("func.func"), summary, options, make }, T::INFO)
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
        for remark in transform(body, &self.0, &analyses, &cx.edits.clone()) {
            cx.remark(remark);
        }
        Ok(())
    }
}

/// Makes all edits that a transformation proposes for a function and that the judge approves, up to
/// a limit. Returns a remark for each edit. The result is well formed if `body` was, and computes
/// the same.
pub fn transform<T: Transformation>(
    body: &mut Body,
    by: &T,
    analyses: &Analyses,
    limit: &EditLimit,
) -> Diagnostics {
    let mut remarks = Diagnostics::default();
    // Blocks inside statements come first, because a copy of a statement copies its changed blocks.
    for block in roots(body, analyses).into_iter().rev() {
        let mut unwritable = HashMap::new();
        loop {
            match in_block(body, block, by, analyses, (&unwritable, limit)) {
                Ok(said) => break remarks.append(said),
                Err(more) => unwritable.extend(more),
            }
        }
    }
    remarks
}

const NOT_APPLIED: &str = "its first and last iteration are not known before it";
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
    analyses: &Analyses,
    (unwritable, limit): (&HashMap<Op, Reason>, &EditLimit),
) -> Result<Diagnostics, Vec<(Op, Reason)>> {
    let mut trees = TreeStore::default();
    let program = raise_by(analyses, body, block, &mut trees, AliasMode::May);
    let mut proposals = Proposals::default();
    by.propose(&mut LoopRef::all(body, &program, &trees), &mut proposals);
    let mut edits = proposals.edits;
    edits.retain(|(op, _)| !unwritable.contains_key(op));
    proposals.missed.extend(unwritable.iter().map(|(op, reason)| (*op, reason.text())));
    edits.sort_by(|(_, a), (_, b)| b.place.cmp(&a.place));
    // The first loops of the text are changed. They are at the end of the list.
    let left = limit.left().map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
    edits.drain(..edits.len().saturating_sub(left));
    let checker = Checker::new(body, &program, AliasMode::May, QUESTION);
    let mut search = Search {
        program: &program,
        trees: &mut trees,
        checker: checker.with_dependence(&*analyses.dependence),
        approved: Approved::unchanged(&program),
        done: HashSet::new(),
        refused: HashMap::new(),
    };
    search.make(&edits);
    let Search { approved, done, refused, .. } = search;
    let mut said = Diagnostics::default();
    let remarks = Remarks { body, pass: T::INFO.name };
    for op in LoopRef::all(body, &program, &trees).map(|own| own.op()) {
        let missed = |why| remarks.missed(T::INFO.missed, body.loc(op), T::INFO.what_missed, why);
        if done.contains(&op) {
            said.push(by.remark(remarks, body.loc(op)));
        } else if let Some(refused) = refused.get(&op) {
            said.push(match refused {
                Some(verdict) => verdict.explain(body, missed(NOT_APPROVED), T::INFO.then),
                None => missed(NOT_APPLIED),
            });
        } else if let Some(why) = proposals.missed.get(&op) {
            said.push(missed(why));
        }
    }
    let changed = LoopRef::all(body, &program, &trees).map(|own| own.op()).filter(|op| done.contains(op));
    let made: Vec<Loc> = changed.map(|op| body.loc(op)).collect();
    match regenerate(body, &program, &trees, &approved, Rewrite::Changed) {
        Ok(()) => {
            made.into_iter().for_each(|loc| limit.made(T::INFO.name, loc));
            Ok(said)
        }
        Err(Unwritable { op, reason }) if done.contains(&op) => Err(vec![(op, reason)]),
        Err(Unwritable { reason, .. }) => Err(done.into_iter().map(|op| (op, reason)).collect()),
    }
}

/// The search for edits that are legal together.
struct Search<'a> {
    program: &'a Program,
    trees: &'a mut TreeStore,
    checker: Checker<'a>,
    approved: Approved,
    /// The loops changed so far.
    done: HashSet<Op>,
    /// The unchanged loops, with the verdict of the judge.
    refused: HashMap<Op, Option<Verdict>>,
}

impl Search<'_> {
    /// Applies all of these edits if they are legal together; else the legal ones of either half.
    /// The recursion is logarithmic in the number of edits.
    fn make(&mut self, edits: &[(Op, Edit)]) {
        let mut tree = self.approved.root();
        let mut made = Vec::new();
        for (op, edit) in edits {
            match edit.apply(self.program, self.trees, tree) {
                Some(changed) => (tree, _) = (changed, made.push(*op)),
                None => _ = self.refused.insert(*op, None),
            }
        }
        if made.is_empty() {
            return;
        }
        match (self.checker.judge(self.trees, tree), edits) {
            (Ok(approved), _) => {
                self.approved = approved;
                self.done.extend(made);
            }
            (Err(verdict), [(op, _)]) => _ = self.refused.insert(*op, Some(verdict)),
            (Err(_), _) => {
                let (later, earlier) = edits.split_at(edits.len() / 2);
                self.make(later);
                self.make(earlier);
            }
        }
    }
}
