//! Canonicalisation: folds every operation as far as possible and erases operations without effects
//! and uses.
//!
//! # Limits
//!
//! - Folds and erases; there are no patterns.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::{Limits, apply_patterns_greedily};
use loomir_ir::{Body, Diagnostics};

/// The pass `canonicalize`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "canonicalize",
    anchor: None,
    summary: "Fold operations and erase those without effect and use",
    options: &[],
    make: |_| Ok(Box::new(Canonicalize)),
};

struct Canonicalize;

impl Pass for Canonicalize {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            let report = apply_patterns_greedily(body, &[], Limits::default());
            cx.count("Operations folded", report.folded as u64);
            cx.count("Operations erased", report.erased as u64);
        });
        Ok(())
    }
}
