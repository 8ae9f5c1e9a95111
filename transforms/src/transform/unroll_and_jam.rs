//! Unroll-and-jam: unrolls a loop and runs the copies of each inner loop as one loop.
//!
//! With a count of two, `for i { A; for j { B }; C }` becomes
//!
//! ```text
//!     for i by 2 { A(i); A(i+1); for j { B(i); B(i+1) }; C(i); C(i+1) }
//! ```
//!
//! and a loop over the iteration left over. Copies share what does not depend on `i`: in a product
//! of matrices, each element that is loaded is used several times. Carried values of the inner loop
//! become one for each copy. Iterations change their order, so the judge may refuse.
//!
//! Reference: Callahan, Carr, Kennedy, *Improving Register Allocation for Subscripted Variables*
//! (1990).
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.for %j = 0 to 8 {
//!       affine.store %x, %a[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-unroll-and-jam=unroll-and-jam-count=2 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/unroll-and-jam-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/unroll-and-jam-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/unroll-and-jam-0.svg)
//! ![The order of stores after](images/unroll-and-jam-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;
use crate::unrolling::annotation::jam_directives;
use crate::unrolling::{JAM_OPTIONS, JamPreferences, decide_jam};

/// Proposes to unroll and jam loops around innermost loops, and loops with a directive.
pub struct UnrollAndJam {
    preferences: JamPreferences,
}

impl Transformation for UnrollAndJam {
    const INFO: Info = Info {
        name: "loop-unroll-and-jam",
        source: include_str!("unroll_and_jam.rs"),
        summary: "Unroll loops and run the copies of their inner loops as one",
        options: &[
            AliasMode::UNTESTED,
            JAM_OPTIONS[0],
            JAM_OPTIONS[1],
            JAM_OPTIONS[2],
            JAM_OPTIONS[3],
            JAM_OPTIONS[4],
        ],
        samples: &["unroll-and-jam-count=2"],
        passed: "UnrolledAndJammed",
        missed: "NotUnrolledAndJammed",
        what_missed: "Loop not unrolled and jammed",
        then: "unrolled and jammed",
    };

    fn of(options: &Options) -> Result<UnrollAndJam, String> {
        Ok(UnrollAndJam { preferences: JamPreferences::of(options)? })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(|target| !target.is_innermost()) {
            let directives = jam_directives(target.body(), target.op());
            if !target.is_around_innermost() && !directives.forces() {
                continue;
            }
            match decide_jam(&target.jam_facts(), &directives, &self.preferences) {
                Ok(Some(count)) => propose(&target, count, out),
                Ok(None) => {}
                Err(why) => out.missed(&target, why),
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop unrolled and jammed")
    }
}

fn propose(target: &LoopRef<'_>, count: u64, out: &mut Proposals) {
    match target.why_not_jammed() {
        Some(why) => out.missed(target, why),
        None => out.change(target, Change::UnrollAndJam { count: count as usize }),
    }
}

/// MLIR's pass of this name: proposes the loop that a function begins with, all nests inside.
pub struct AffineUnrollAndJam {
    factor: u64,
}

impl Transformation for AffineUnrollAndJam {
    const INFO: Info = Info {
        name: "affine-loop-unroll-jam",
        source: "",
        summary: "Unroll and jam the loop that a function begins with",
        options: &[AliasMode::UNTESTED, ("unroll-jam-factor", "4", "the number of copies, at most 64")],
        samples: &[],
        ..UnrollAndJam::INFO
    };

    fn of(options: &Options) -> Result<AffineUnrollAndJam, String> {
        match options.parse("unroll-jam-factor", 4)? {
            factor @ 1..=64 => Ok(AffineUnrollAndJam { factor }),
            factor => Err(format!("'unroll-jam-factor' is from 1 to 64, not '{factor}'")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        let Some(target) = loops.next().filter(|first| first.place() == [0] && self.factor > 1) else {
            return;
        };
        if target.trip_count().is_some_and(|count| count < self.factor) {
            out.missed(&target, "it runs fewer iterations than there would be copies");
        } else {
            propose(&target, self.factor, out);
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop unrolled and jammed")
    }
}
