//! Peeling: moves the first or the last iterations out of a loop.
//!
//! With one first iteration, `for i in 0..n` becomes `for i in 0..min(1, n)` and `for i in 1..n`.
//! What runs once is written without a loop if it is known to run. The order of iterations does not
//! change. It takes special cases out of a loop: a value that is carried in, or a condition on the
//! counter, is the same in all iterations that are left.
//!
//! Reference: Kennedy and Allen, *Optimizing Compilers for Modern Architectures*, §5.7.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16xf32>, %b: memref<16xf32>) {
//!   %zero = arith.constant 0.0 : f32
//!   %s = affine.for %i = 0 to 16 iter_args(%before = %zero) -> (f32) {
//!     %x = affine.load %a[%i] : memref<16xf32>
//!     %d = arith.subf %x, %before : f32
//!     affine.store %d, %b[%i] : memref<16xf32>
//!     affine.yield %x : f32
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-peel --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --arg=zeros --order=images/peel-0.svg
//! $ loomir run new.mlir --entry=f --arg=iota --arg=zeros --order=images/peel-1.svg
//! ```
//!
//! The order of stores stays. Each colour is one operation of the text:
//!
//! ![The order of stores before](images/peel-0.svg)
//! ![The order of stores after](images/peel-1.svg)
//!
//! The trip count need not be known. Of a loop from 0 to `%n`, one first iteration becomes a
//! loop from 0 to the least of 1 and `%n`, and the rest begins at 1. So a loop of fewer iterations
//! than are peeled runs all of them, once. At most 64 iterations are peeled at one end: each is a
//! copy of the body.

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to peel every innermost loop.
pub struct Peel {
    /// The number of first iterations to peel, at most [`MOST`].
    first: usize,
    /// The number of last iterations to peel, at most [`MOST`].
    last: usize,
}

/// The maximal number of iterations peeled at one end: each is a copy of the body.
const MOST: usize = 64;

impl Transformation for Peel {
    const INFO: Info = Info {
        name: "loop-peel",
        source: include_str!("peel.rs"),
        summary: "Run first or last iterations of innermost loops by themselves",
        options: &[
            AliasMode::UNTESTED,
            ("first", "1", "the number of first iterations, at most 64"),
            ("last", "0", "the number of last iterations, at most 64"),
        ],
        samples: &["first=1", "first=2 last=1", "first=0 last=2"],
        passed: "Peeled",
        missed: "NotPeeled",
        what_missed: "Loop not peeled",
        then: "peeled",
    };

    fn of(options: &Options) -> Result<Peel, String> {
        let (first, last) = (options.parse("first", 1)?, options.parse("last", 0)?);
        match first.max(last) {
            ..1 => Err("no iteration is peeled; 'first' or 'last' is 1 or more".to_owned()),
            1..=MOST => Ok(Peel { first, last }),
            most => Err(format!(
                "'{most}' copies of the body are too many; 'first' and 'last' are {MOST} or less"
            )),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_innermost) {
            if target.is_dimension() {
                out.missed(&target, "it is a dimension of a parallel loop");
            } else {
                out.change(&target, Change::Peel { first: self.first, last: self.last });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        let remark = remarks.passed(Self::INFO.passed, loc, &self.described());
        remark.arg("first", self.first as i64).arg("last", self.last as i64)
    }
}

impl Peel {
    /// Returns the numbers of first and last iterations to peel.
    pub fn counts(&self) -> [u64; 2] {
        [self.first as u64, self.last as u64]
    }

    /// Returns the text of the remark about a peeled loop.
    pub fn described(&self) -> String {
        let iterations = |which: &str, number: usize| match number {
            0 => None,
            1 => Some(format!("{which} iteration")),
            more => Some(format!("{which} {more} iterations")),
        };
        let ends = [iterations("first", self.first), iterations("last", self.last)];
        format!("Peeled the {}", ends.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}
