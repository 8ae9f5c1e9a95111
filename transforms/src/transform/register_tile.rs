//! Register tiling: unrolls and jams loops by the count that is estimated to be fastest.
//!
//! ```text
//!     for i for j for k { s += a[i][k] * b[k][j] }
//! ```
//!
//! computes four elements at a time with a count of 4 at `j`: they wait for their sums together,
//! and `a[i][k]` is loaded once for all of them. A second run, with `level=2`, jams `i` as well.
//! [Unroll-and-jam](super::unroll_and_jam) does the same by LLVM's rules, which ask for shared
//! loads and a threshold; here the [cost](crate::cost) decides.
//!
//! Reference: Carr and Kennedy, *Improving the Ratio of Memory Operations to Floating-Point
//! Operations in Loops*, TOPLAS 1994.
//!
//! **Not in `.ll`.** The pass `loop-unroll-and-jam` and `loomir optimize` tile loops of LLVM IR.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16x64xf64>, %s: memref<16xf64>) {
//!   %zero = arith.constant 0.0 : f64
//!   affine.for %i = 0 to 16 {
//!     %sum = affine.for %j = 0 to 64 iter_args(%t = %zero) -> f64 {
//!       %x = affine.load %a[%i, %j] : memref<16x64xf64>
//!       %u = arith.addf %t, %x : f64
//!       affine.yield %u : f64
//!     }
//!     affine.store %sum, %s[%i] : memref<16xf64>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-register-tile=alias=distinct --remarks=text -o new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --arg=zeros --order=images/register-tile-0.svg
//! $ loomir run new.mlir --entry=f --arg=iota --arg=zeros --order=images/register-tile-1.svg
//! ```
//!
//! The order of stores stays. Each colour is one of the copies:
//!
//! ![The order of stores before](images/register-tile-0.svg)
//! ![The order of stores after](images/register-tile-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::cost::multiplies_narrow;
use crate::remark::Remarks;
use crate::tree::Change;
use crate::unrolling::annotation::jam_directives;

/// The counts that are compared.
const COUNTS: [usize; 4] = [16, 8, 4, 2];

/// Further counts, compared if the trip count is a multiple of them.
const EXACT_COUNTS: [usize; 10] = [48, 40, 32, 24, 20, 12, 10, 6, 5, 3];

/// The most operations of a loop with all copies.
const MAX_SIZE: u64 = 2000;

/// The most accesses of a loop with all copies. The judge compares each with each when the loop is
/// changed again.
const MAX_ACCESSES: u64 = 800;

/// The most lines that all copies of a loop around innermost ones access at a time: a core fetches
/// lines ahead for some dozens of streams.
const MAX_LINES: u64 = 96;

/// The most lines of all copies in one set of the first cache: a usual one holds no more.
const MAX_IN_SET: u64 = 8;

/// The most operations of all changed loops of a block.
const MAX_TOTAL: u64 = 6000;

/// Proposes counts for unroll-and-jam.
pub struct RegisterTile {
    /// The number of loops inside each changed loop, one in the other.
    pub level: usize,
}

impl Transformation for RegisterTile {
    const INFO: Info = Info {
        name: "loop-register-tile",
        source: include_str!("register_tile.rs"),
        summary: "Unroll and jam loops by the count that is estimated to be fastest",
        options: &[
            AliasMode::UNTESTED,
            ("level", "1", "change loops with so many loops inside, one in the other"),
        ],
        samples: &["", "level=2"],
        passed: "RegisterTiled",
        missed: "NotRegisterTiled",
        what_missed: "Loop not unrolled and jammed",
        then: "unrolled and jammed",
    };

    fn of(options: &Options) -> Result<RegisterTile, String> {
        match options.parse("level", 1)? {
            level @ 1.. => Ok(RegisterTile { level }),
            0 => Err("'level' is 1 or more; an innermost loop has nothing to jam".to_owned()),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        let mut left = MAX_TOTAL;
        for target in loops.filter(|target| target.height() == self.level) {
            if jam_directives(target.body(), target.op()).forbids() {
                out.missed(&target, "a directive forbids it");
                continue;
            }
            if multiplies_narrow(target.body(), target.op()) {
                out.missed(
                    &target,
                    "LLVM adds products of narrow integers in pairs, unless copies share them",
                );
                continue;
            }
            if let Some(why) = target.why_not_jammed() {
                out.missed(&target, why);
                continue;
            }
            let trips = target.trip_count();
            let fits = |count: &usize| trips.is_none_or(|trips| *count as u64 <= trips / 2);
            let divides =
                |count: &usize| trips.is_some_and(|trips| trips > 0 && trips.is_multiple_of(*count as u64));
            let exact = EXACT_COUNTS.into_iter().filter(divides);
            let mut counts: Vec<usize> = COUNTS.into_iter().filter(fits).chain(exact).collect();
            if counts.is_empty() {
                out.missed(&target, "it has too few iterations for copies");
                continue;
            }
            let in_set = if self.level == 1 { target.num_lines_of_a_set() } else { 0 };
            counts.retain(|count| *count as u64 * in_set <= MAX_IN_SET);
            if counts.is_empty() {
                out.missed(&target, "its copies would access more lines of one set than a cache holds");
                continue;
            }
            let size = target.size().max(1);
            let most = (MAX_SIZE.min(left) / size).min(MAX_ACCESSES / target.num_accesses().max(1));
            let is_small =
                |count: u64| count <= most && (self.level > 1 || target.num_lines(count) <= MAX_LINES);
            counts.retain(|count| is_small(*count as u64));
            let Some(most) = counts.iter().max() else {
                out.missed(&target, "two copies of it are too large, alone or with the loops before it");
                continue;
            };
            left = left.saturating_sub(size.saturating_mul(*most as u64));
            out.cheapest(&target, counts.into_iter().map(|count| Change::UnrollAndJam { count }));
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, change: &Change) -> Diagnostic {
        let Change::UnrollAndJam { count } = change else {
            return remarks.passed(Self::INFO.passed, loc, "Loop unrolled and jammed");
        };
        remarks.passed(Self::INFO.passed, loc, &format!("Loop unrolled by {count} and jammed"))
    }
}
