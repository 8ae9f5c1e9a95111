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
