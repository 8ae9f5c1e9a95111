//! Flattening: runs a perfect nest of two loops as one loop.
//!
//! `for i in 0..n { for j in 0..8 { … a[8 * i + j] … } }` becomes
//!
//! ```text
//!     for x in 0..8 * n { … a[x] … }
//! ```
//!
//! This saves the inner loop's start, and gives later passes one long loop. Where `i` and `j` are
//! used apart, each is computed from `x` by a division. That costs more than it saves, so such
//! loops stay unless the division is asked for. The product of the trip counts is computed in a
//! wider type where it may overflow; counters of less than 64 bits are widened.
//!
//! The pass of the same name on `llvm.func` flattens loops of graphs, also with an inner trip count
//! that is known at run time only.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<32xf32>, %x: f32) {
//!   affine.for %i = 0 to 4 {
//!     affine.for %j = 0 to 8 {
//!       affine.store %x, %a[%i * 8 + %j] : memref<32xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-flatten --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/flatten-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/flatten-1.svg
//! ```
//!
//! The order of stores stays:
//!
//! ![The order of stores before](images/flatten-0.svg)
//! ![The order of stores after](images/flatten-1.svg)

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// Proposes to flatten nests of two loops.
pub struct Flatten {
    /// True if variables may be computed by a division.
    divide: bool,
}

impl Transformation for Flatten {
    const INFO: Info = Info {
        name: "loop-flatten",
        source: include_str!("flatten.rs"),
        summary: "Run a nest of two loops as one loop",
        options: &[
            AliasMode::UNTESTED,
            ("divide", "false", "compute variables that are used apart by a division"),
        ],
        samples: &["divide=true"],
        passed: "Flattened",
        missed: "NotFlattened",
        what_missed: "Loops not flattened",
        then: "flattened",
    };

    fn of(options: &Options) -> Result<Flatten, String> {
        Ok(Flatten { divide: options.parse("divide", false)? })
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops.filter(LoopRef::is_around_innermost) {
            match target.flat_count() {
                Err(why) => out.missed(&target, why),
                Ok(count) if !self.divide && target.uses_apart(count) => {
                    out.missed(&target, "it would need a division; 'divide=true' allows it");
                }
                Ok(_) => out.change(&target, Change::Flatten),
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loops flattened")
    }
}
