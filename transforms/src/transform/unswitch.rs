//! Unswitching: decides a condition before a loop instead of in each iteration.
//!
//! A condition that does not depend on a loop has the same outcome in all iterations. It is
//! decided once, before the loop. Each outcome has its own copy of the loop, without the code of
//! the other one. The copies have no branch, so that they may be vectorised, fused or tiled.
//!
//! A condition leaves all loops that it does not depend on. If nothing runs in one of the copies,
//! that copy is left out, and the loop does not grow. Else `max-size` limits the operations of a
//! loop that is copied, and `conditions` the number of conditions that leave it: each doubles the
//! copies.
//!
//! The condition is a value from outside of the loop, or a set over such values; before,
//! `loop-invariant-code-motion` moves out what computes it. It may be poison, and the loop need not
//! run: then the condition is frozen. One that may divide by zero stays in the loop. A loop that
//! carries values stays as it is. A selection is no condition: both of its values are computed.
//!
//! **Never illegal.** In each of both cases, one copy runs each iteration that ran, in the same
//! order. Only calls in which threads may come together (`convergent`) must not get a new condition
//! around them: loops with calls that have unknown effects are left alone.
//!
//! **Never conditional.** No dependence has to be kept by a test.
//!
//! Reference: Allen and Cocke, *A Catalogue of Optimizing Transformations*, 1971.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %scale: i1, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     %0 = affine.load %a[%i] : memref<8xf32>
//!     scf.if %scale {
//!       %1 = arith.mulf %0, %x : f32
//!       affine.store %1, %b[%i] : memref<8xf32>
//!     } else {
//!       affine.store %0, %b[%i] : memref<8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-unswitch --remarks=text -o new.mlir
//! $ cat new.mlir
//! ```

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::{Change, MAX_CONDITIONS};

/// Proposes to decide conditions before loops.
pub struct Unswitch {
    /// The most conditions that leave one loop. Positive.
    conditions: u32,
    /// The most operations of a loop that is copied.
    max_size: u64,
}

impl Transformation for Unswitch {
    const INFO: Info = Info {
        name: "loop-unswitch",
        source: include_str!("unswitch.rs"),
        summary: "Decide conditions before loops that they do not depend on",
        options: &[
            AliasMode::UNTESTED,
            ("conditions", "2", "the most conditions that leave one loop, 1 to 6; each doubles its copies"),
            ("max-size", "100", "the most operations of a loop that is copied"),
        ],
        samples: &["", "conditions=1", "conditions=3"],
        passed: "Unswitched",
        missed: "NotUnswitched",
        what_missed: "Loop not unswitched",
        then: "unswitched",
    };

    fn of(options: &Options) -> Result<Unswitch, String> {
        let max_size = options.parse("max-size", 100)?;
        match options.parse("conditions", 2)? {
            conditions @ 1..=MAX_CONDITIONS => Ok(Unswitch { conditions, max_size }),
            own => Err(format!("'{own}' conditions are not possible; 'conditions' is 1 to {MAX_CONDITIONS}")),
        }
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops {
            if !target.has_invariant_condition() {
                out.missed(&target, "it has no condition that is the same in all its iterations");
            } else if target.carries_values() {
                out.missed(&target, "it carries values from one iteration to the next");
            } else if target.size() > self.max_size && !target.is_all_conditional() {
                out.missed(&target, "it is too large to be copied; 'max-size' sets the limit");
            } else {
                out.change(&target, Change::Unswitch { conditions: self.conditions });
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loop unswitched: a condition is decided before it")
    }
}
