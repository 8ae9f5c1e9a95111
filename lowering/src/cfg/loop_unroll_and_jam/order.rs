//! The order of a jammed nest, as the judge is asked about it.
//!
//! With `n` copies, iteration `i` of the outer loop runs in the iteration `b = ⌊i / n⌋` of the
//! unrolled one:
//!
//! ```text
//!               in the program     jammed
//!     fore      (i, 0)             (b, 0, i)
//!     sub       (i, 1, j)          (b, 1, j, i)
//!     aft       (i, 2)             (b, 2, i)
//! ```
//!
//! Iterations that a remainder runs come behind all others, in the order of the program. They are
//! asked about as if they were jammed too, which only refuses more.
//!
//! **Cost.** Linear in the accesses of the function, once for all nests, and what the judge costs.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body};
use loomir_transforms::access::LoopContext;
use loomir_transforms::access::base::{AliasMode, Bases};
use loomir_transforms::access::dependence::Polyhedral;
use loomir_transforms::affine::AffineForm;
use loomir_transforms::affine::facts::Facts;
use loomir_transforms::legality::{
    ApprovedPlan, DependenceOracle, Ending, Piece, QUESTION, Schedule, Verdict,
};
use loomir_transforms::tree::access_summary::AccessSummary;

use super::nest::Nest;
use super::rewire::Jam;
use crate::cfg::accesses::Accesses;
use crate::cfg::scev::ScalarEvolution;

/// The parts of a nest.
const FORE: usize = 0;
const SUB: usize = 1;
const AFT: usize = 2;

/// The memory that nests touch, and the questions about it.
pub(super) struct Judge<'f> {
    function: &'f Body,
    facts: Arc<Facts>,
    nests: HashMap<LoopId, Touched>,
}

/// The memory that the parts of a nest touch, in one iteration of all loops around it.
struct Touched {
    depth: u32,
    parts: [AccessSummary; 3],
}

impl<'f> Judge<'f> {
    /// Reads the accesses of nests, which have no block in common.
    pub(super) fn of<'n>(
        scev: &mut ScalarEvolution<'f>,
        symbols: &SymbolTable,
        all: impl Iterator<Item = (LoopId, &'n Nest)>,
    ) -> Judge<'f> {
        let (function, analysis) = (scev.function(), scev.analysis());
        let mut nests = HashMap::new();
        let mut part_of: HashMap<u32, (LoopId, usize)> = HashMap::new();
        for (id, nest) in all {
            let mut place = |block: &Block, part| part_of.insert(analysis.number(*block), (id, part));
            nest.fore.iter().for_each(|block| _ = place(block, FORE));
            nest.inner.blocks.iter().for_each(|block| _ = place(block, SUB));
            place(&nest.outer.latch, AFT);
            let depth = analysis.loops_around(analysis.loops().get(id).header()).count() as u32 - 1;
            nests.insert(id, Touched { depth, parts: Default::default() });
        }
        let accesses = Accesses::of_blocks(symbols, scev, &|node| part_of.contains_key(&node));
        for access in &accesses.all {
            let Some((id, part)) = part_of.get(&access.block) else { continue };
            if let Some(own) = nests.get_mut(id) {
                accesses.add_to(&mut own.parts[*part], access, own.depth);
            }
        }
        Judge { function, facts: accesses.facts().clone(), nests }
    }

    /// Asks the judge about the order of a jammed nest.
    ///
    /// # Errors
    ///
    /// The verdict, if the order is not legal.
    pub(super) fn approve(&self, id: LoopId, jam: Jam) -> Result<ApprovedPlan<Jam>, Verdict> {
        let bases = Bases::new(self.function, AliasMode::May);
        let oracle = DependenceOracle {
            bases: &bases,
            dependence: &Polyhedral,
            limits: &QUESTION,
            tested_before: None,
        };
        let nothing = Touched { depth: 0, parts: Default::default() };
        let Touched { depth, parts } = self.nests.get(&id).unwrap_or(&nothing);
        let loop_context = LoopContext {
            depth: *depth,
            constraints: Vec::new(),
            exact: true,
            variables: vec![None; *depth as usize],
            facts: self.facts.clone(),
        };
        let pieces = pieces(*depth, parts, jam.count);
        Schedule::new(&loop_context, pieces).judge(jam, &[], &oracle)
    }
}

/// Returns the parts of a nest, with their times in the program and jammed.
fn pieces(depth: u32, parts: &[AccessSummary; 3], count: u64) -> Vec<Piece<'_>> {
    let (i, j) = (AffineForm::level(depth), AffineForm::level(depth + 1));
    // Without a quotient, all iterations run together, which refuses more.
    let together = i64::try_from(count).ok().and_then(|count| i.floor_div(count));
    let together = together.unwrap_or_default();
    let place = |part: usize| AffineForm::constant(part as i64);
    let piece = |part: usize, inner: Option<&AffineForm>| {
        let old = [i.clone(), place(part)].into_iter().chain(inner.cloned());
        let new = [together.clone(), place(part)].into_iter().chain(inner.cloned());
        Piece {
            touches: &parts[part],
            old: old.collect(),
            new: new.chain([i.clone()]).collect(),
            ending: Ending::default(),
            replaces: false,
        }
    };
    vec![piece(FORE, None), piece(SUB, Some(&j)), piece(AFT, None)]
}
