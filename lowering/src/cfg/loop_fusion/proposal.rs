//! The schedule that a fusion proposes to the judge: each piece that moves, with its two times.
//!
//! ```text
//!     in the program   preheader  first loop  between  second loop
//!     proposed         above  preheader  early  front  [ fused: first, second, kept ]  behind  late
//! ```
//!
//! Iterations that run by themselves in front of the fused loop or behind it have the times that they
//! would have in it, and no piece runs between.
//!
//! **Assumptions.**
//! - Operations of the first loop that run once, in front, are taken to have run behind it; those of
//!   the second that run once, behind, in front of it. Both only read or compute.
//!
//! **Cost.** Linear in what moves; see [`Schedule`] for what the judge asks.

use hashbrown::HashMap;
use loomir_ir::{Op, Trait};
use loomir_transforms::access::base::{AliasMode, Bases};
use loomir_transforms::access::dependence::Polyhedral;
use loomir_transforms::affine::AffineForm;
use loomir_transforms::legality::{ApprovedPlan, DependenceOracle, Ending, Piece, Schedule};
use loomir_transforms::tree::access_summary::AccessSummary;

use super::remarks::Missed;
use super::rewire::Plan;
use super::summary::{Summary, anything};
use super::{Fusion, Group};
use crate::cfg::effects::touches_memory;

// Where pieces run in what is proposed.
const ABOVE: i64 = -5;
const PREHEADER: i64 = -4;
const EARLY: i64 = -3;
const FRONT: i64 = -2;
const FUSED: i64 = 0;
const BEHIND: i64 = 1;
const LATE: i64 = 2;

/// The places in the fused loop's body.
const FIRST: i64 = 0;
const SECOND: i64 = 1;
const KEPT: i64 = 2;

/// Operations that move together.
struct Run {
    touches: AccessSummary,
    ending: Ending,
    old: Vec<AffineForm>,
    new: Vec<AffineForm>,
}

impl Run {
    fn piece(&self) -> Piece<'_> {
        let Run { touches, ending, old, new } = self;
        Piece { touches, old: old.clone(), new: new.clone(), ending: *ending, replaces: false }
    }
}

impl Fusion<'_> {
    /// Asks the judge whether a plan for two loops may be carried out.
    pub(super) fn approved(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        plan: Plan,
    ) -> Result<ApprovedPlan<Plan>, Missed> {
        let counted = second.counted_anew(depth).ok_or(Missed::Unnumbered)?;
        let second = counted.as_ref().unwrap_or(second);
        let bases = Bases::new(self.function, AliasMode::May);
        // A search may be told less; the judge is told exactly.
        let oracle = DependenceOracle { dependence: &Polyhedral, ..self.oracle(&bases) };
        let loop_context = self.loop_context(depth);
        let runs = self.runs(depth, first, &plan);
        let at = 3 + plan.between.blocks().map(|block| self.function.ops(block).count() as i64).sum::<i64>();
        let mut pieces: Vec<Piece<'_>> = runs.iter().map(Run::piece).collect();
        pieces.extend(loops(depth, [first, second], at, first.start + plan.remainders.peeled));
        Schedule::new(&loop_context, pieces).judge(plan, &[], &oracle).map_err(Missed::Dependences)
    }

    /// All that moves and is no loop.
    fn runs(&self, depth: u32, first: &Group, plan: &Plan) -> Vec<Run> {
        let motion = &plan.motion;
        let kept_at = i64::from(first.start) + i64::from(motion.kept_behind) - 1;
        let places = [
            (&motion.above, time(&[ABOVE])),
            (&motion.hoisted, time(&[FRONT])),
            (&motion.kept, time(&[FUSED, kept_at, KEPT])),
            (&motion.sunk, time(&[BEHIND])),
        ];
        let place_of: HashMap<Op, usize> =
            (0..).zip(&places).flat_map(|(place, (ops, _))| ops.iter().map(move |op| (*op, place))).collect();
        let mut runs = vec![self.run(depth, &plan.def_use.hoisted, time(&[1]), time(&[EARLY]))];
        if !motion.above.is_empty() {
            let ops: Vec<Op> = self.function.ops(first.candidate.preheader).collect();
            runs.push(self.run(depth, &ops, time(&[-1]), time(&[PREHEADER])));
        }
        let between: Vec<Op> = plan.between.blocks().flat_map(|block| self.function.ops(block)).collect();
        let mut at = 0;
        while at < between.len() {
            let place = place_of.get(&between[at]);
            let same = between[at..].iter().take_while(|op| place_of.get(*op) == place).count();
            // What is in no list ends a block, or is asked in front of everything and only computes.
            let mut new = place.map_or_else(|| time(&[ABOVE]), |place| places[*place].1.clone());
            // What goes to one place keeps its order there.
            new.push(AffineForm::constant(at as i64));
            runs.push(self.run(depth, &between[at..at + same], time(&[2 + at as i64]), new));
            at += same;
        }
        let old = time(&[2 + between.len() as i64]);
        runs.push(self.run(depth, &plan.def_use.sunk, old, time(&[LATE])));
        runs.retain(|run| !run.touches.classes.is_empty() || run.ending.late.is_some());
        runs
    }

    fn run(&self, depth: u32, ops: &[Op], old: Vec<AffineForm>, new: Vec<AffineForm>) -> Run {
        let mut touches = AccessSummary::default();
        for op in ops {
            match self.summaries.touched(*op, depth) {
                Some(nest) => touches.merge(nest),
                None if touches_memory(self.function, *op) => touches.merge(&anything(*op)),
                None => {}
            }
        }
        let may_matter = |op: &&Op| {
            !self.function.has_trait(**op, Trait::Pure) && !self.function.has_trait(**op, Trait::Terminator)
        };
        let late = ops.iter().find(may_matter).copied();
        let barrier = ops.iter().find(|op| self.summaries.barrier(**op).is_some()).copied();
        Run { touches, ending: Ending { barrier, late, seen: late }, old, new }
    }
}

/// Two loops as they are fused: the second stood at a place behind the first, and runs `late`
/// iterations later.
pub(super) fn loops<'g>(depth: u32, [first, second]: [&'g Group; 2], at: i64, late: u32) -> [Piece<'g>; 2] {
    let level = AffineForm::level(depth);
    // A number of iterations that leaves 64 bits is refused before.
    let later = level.plus(&AffineForm::constant(i64::from(late)), 1).unwrap_or_default();
    let old = |at: i64| vec![AffineForm::constant(at), level.clone()];
    let new = |now: &AffineForm, place: i64| {
        vec![AffineForm::constant(FUSED), now.clone(), AffineForm::constant(place)]
    };
    [first.summary.piece(old(0), new(&level, FIRST)), second.summary.piece(old(at), new(&later, SECOND))]
}

impl Summary {
    /// The loop as a piece with these times.
    fn piece(&self, old: Vec<AffineForm>, new: Vec<AffineForm>) -> Piece<'_> {
        let ending = Ending { barrier: self.barrier.map(|own| own.op()), late: self.late, seen: self.seen };
        Piece { touches: &self.nest, old, new, ending, replaces: self.stores_plainly }
    }
}

/// A time of numbers.
fn time(numbers: &[i64]) -> Vec<AffineForm> {
    numbers.iter().map(|number| AffineForm::constant(*number)).collect()
}
