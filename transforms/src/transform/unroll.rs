//! Unrolling: writes iterations one after the other.
//!
//! With a count of four, `for i in 0..n` becomes a loop over whole blocks of four iterations and a
//! loop over the iterations left over. A loop of few iterations is written without a loop. If the
//! first iterations differ from the rest, they are peeled instead. The order of iterations does not
//! change.
//!
//! The decision is that of [`unrolling`](crate::unrolling), which also serves graphs of blocks.
//!
//! Reference: Wolfe, *High Performance Compilers for Parallel Computing*, §9.2.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16xf32>, %x: f32) {
//!   affine.for %i = 0 to 16 {
//!     affine.store %x, %a[%i] : memref<16xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-unroll=unroll-count=4 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/unroll-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/unroll-1.svg
//! ```
//!
//! The order of stores stays. Each colour is one of the copies:
//!
//! ![The order of stores before](images/unroll-0.svg)
//! ![The order of stores after](images/unroll-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::first_iterations::peel_count;
use super::{Info, LoopRef, Proposals, Transformation};
use crate::remark::Remarks;
use crate::tree::Change;
use crate::unrolling::annotation::directives;
use crate::unrolling::preferences::OPTIONS;
use crate::unrolling::{Action, Cost, Facts, Preferences, Questions, decide};

/// Proposes to unroll every innermost loop.
pub struct Unroll {
    preferences: Preferences,
}

/// Questions about a loop. Full unrolling is not simulated on the tree.
struct Asked<'q, 'a>(&'q LoopRef<'a>);

impl Questions for Asked<'_, '_> {
    fn full_unroll_cost(&mut self, _: u64, _: u64) -> Option<Cost> {
        None
    }

    fn peel_count(&mut self, max: u64) -> u64 {
        peel_count(self.0, max)
    }
}

/// The maximal number of copies of one body.
const MOST: u64 = 4096;

impl Transformation for Unroll {
    const INFO: Info = Info {
        name: "loop-unroll",
        source: include_str!("unroll.rs"),
        summary: "Write iterations of innermost loops one after the other",
        options: OPTIONS,
        samples: &["unroll-threshold=150", "unroll-count=3"],
        passed: "Unrolled",
        missed: "NotUnrolled",
        what_missed: "Loop not unrolled",
        then: "unrolled",
    };

    fn of(options: &Options) -> Result<Unroll, String> {
        Ok(Unroll { preferences: Preferences::of(options)? })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_innermost) {
            let trip_count = target.trip_count();
            let facts = Facts {
                size: target.size(),
                trip_count,
                max_trip_count: trip_count,
                trip_multiple: trip_count.unwrap_or(1),
                is_innermost: true,
                ..Facts::default()
            };
            let decision = decide(
                &facts,
                &directives(target.body(), target.op()),
                &self.preferences,
                &mut Asked(&target),
            );
            let change = match decision.action {
                Action::Keep => None,
                Action::Full { count } => Some((count, true)),
                Action::Peel { first, .. } => Some((first, true)),
                Action::Partial { count } | Action::Runtime { count, .. } => Some((count, false)),
            };
            let Some((count, is_whole)) = change else { continue };
            if target.is_dimension() {
                out.missed(&target, "it is a dimension of a parallel loop");
            } else if count > MOST {
                out.missed(&target, "it would be copied more than 4096 times");
            } else if is_whole {
                out.change(&target, Change::Peel { first: count as usize, last: 0 });
            } else {
                out.change(&target, Change::Unroll { count: count as usize });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop unrolled")
    }
}
