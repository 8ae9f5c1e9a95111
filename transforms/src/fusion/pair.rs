//! Fusion of two named loops: nothing is chosen or weighed, and no other loop is touched.
//!
//! They are fused where the pass would fuse them, but unchanged: all iterations of both at once,
//! without shift, peeling or reversal. The only assumption is that arguments are distinct, if the
//! options say so. Entries between them are hoisted before the first if legal. This is one step of
//! fusion, which can be compared with another implementation.
//!
//! **Assumptions.**
//! - Nothing is decided here: the plan of the pass is used if it is of the plain kind. Tried with
//!   the campaign `rewiring`.
//!
//! Cost: that of raising their block, and of one pair.

use std::rc::Rc;

use hashbrown::HashSet;
use loomir_ir::{Block, Body, Diagnostic, Op};

use super::schedule::{self, Entry};
use super::versioned_region::Segment;
use super::{Alignment, Fusion, Options, Plan, Profitability, remarks};
use crate::access::LoopContext;
use crate::access::base::AliasMode;
use crate::assumption::Assumption;
use crate::legality::Checker;
use crate::regenerate::{Rewrite, regenerate};
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Item, TreeStore};

/// Two loops to fuse, and the result.
pub(super) struct Only {
    pair: [Op; 2],
    done: Result<(), Diagnostic>,
}

/// Fuses two neighbouring loops of a body, unchanged. Conditionals, versions and costs of the
/// options are ignored.
///
/// # Errors
/// The reason for a refusal, as a remark. The body is then unchanged.
pub fn fuse_pair(body: &mut Body, pair: [Op; 2], options: &Options) -> Result<(), Diagnostic> {
    let alias = options.alias.untested();
    let options = Options { alias, remarks: false, profitability: Profitability::Always, ..options.clone() };
    let apart = || {
        remarks::remarks(body).missed(
            "NonAdjacent",
            body.loc(pair[1]),
            "Loops not fused",
            "They do not stand in one sequence",
        )
    };
    let roots = roots(body, &options.analyses).into_iter().collect();
    let Some(block) = root_of(body, pair[0], &roots) else { return Err(apart()) };
    let mut trees = TreeStore::default();
    let program = raise_by(&options.analyses, body, block, &mut trees, options.alias);
    let mut fusion = Fusion::new(body, &program, &mut trees, &options);
    fusion.only = Some(Only { pair, done: Err(apart()) });
    let root = fusion.sequence(program.root, &LoopContext::outside(&program.surroundings));
    fusion.only.map_or(Ok(()), |only| only.done)?;
    let checker = Checker::new(body, &program, options.alias, options.limits);
    let approved = checker.with_dependence(&*options.analyses.dependence).judge(&mut trees, root);
    let approved =
        approved.map_err(|verdict| verdict.not_approved(remarks::remarks(body), block, "fused"))?;
    let written = regenerate(body, &program, &trees, &approved, Rewrite::Changed);
    written.map_err(|why| why.remark(remarks::remarks(body), "fused"))
}

/// Returns the innermost block around an operation that is raised to a tree of its own.
pub(super) fn root_of(body: &Body, op: Op, roots: &HashSet<Block>) -> Option<Block> {
    let around = std::iter::successors(Some(op), |op| body.parent_op(*op));
    around.filter_map(|op| body.block_of(op)).find(|block| roots.contains(block))
}

impl Fusion<'_> {
    /// Returns the entries of a sequence, with the two loops fused if they are here and their
    /// fusion is legal.
    pub(super) fn fuse_only(&mut self, items: &[Item], loop_context: &LoopContext) -> Vec<Segment> {
        let entries = self.entries(items, loop_context);
        let entries = self.with_pair_fused(entries, loop_context);
        entries.into_iter().map(|entry| Segment::alone(entry, self.trees)).collect()
    }

    fn with_pair_fused(&mut self, mut entries: Vec<Entry>, loop_context: &LoopContext) -> Vec<Entry> {
        let Some(Only { pair, .. }) = self.only else { return entries };
        let is = |entry: &Entry, op: Op| matches!(entry, Entry::Group(own) if own.op(self.program) == op);
        let [at, to] = pair.map(|op| entries.iter().position(|entry| is(entry, op)));
        let (Some(at), Some(to)) = (at, to.filter(|to| at < Some(*to))) else { return entries };
        let behind = entries.split_off(to + 1);
        let Some(Entry::Group(second)) = entries.pop() else { return entries };
        let done = self.fuse_entries(&mut entries, at, &second, pair, loop_context);
        if done.is_err() {
            entries.push(Entry::Group(second));
        }
        self.only = Some(Only { pair, done });
        entries.extend(behind);
        entries
    }

    /// Fuses a loop with the group at this place. The entries behind that are between them.
    fn fuse_entries(
        &mut self,
        entries: &mut Vec<Entry>,
        at: usize,
        second: &super::Group,
        pair: [Op; 2],
        loop_context: &LoopContext,
    ) -> Result<(), Diagnostic> {
        let Some((Entry::Group(first), between)) = entries[at..].split_first_mut() else { return Ok(()) };
        let missed = |own: &Self, why| remarks::missed(own.body, own.callees(), pair[0], pair[1], &why);
        let plan = self.plan(first, between, second, loop_context).map_err(|why| missed(self, why))?;
        let Plan { way, assumed, joined, hoisted, swapped, .. } = plan;
        // The user makes this assumption, so nothing has to be tested.
        let is_given = |own: &Assumption| {
            self.options.alias == AliasMode::Distinct && matches!(own, Assumption::Apart(..))
        };
        let is_plain = matches!(way, Alignment::AsItIs)
            && joined.whole
            && swapped.is_empty()
            && assumed.iter().all(is_given);
        if !is_plain {
            let why = "They can only be fused with iterations shifted, cut off or run backwards";
            let loc = self.body.loc(pair[1]);
            return Err(remarks::remarks(self.body).missed(
                "Reshaped",
                loc,
                "Loops not fused as they are",
                why,
            ));
        }
        Rc::make_mut(first).join(second, joined);
        schedule::hoist(entries, at, &hoisted);
        Ok(())
    }
}
