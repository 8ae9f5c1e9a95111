//! Cancels casts that undo each other, which conversions of dialects leave behind.
//!
//! A chain of `builtin.unrealized_conversion_cast` that ends with the types it starts with is
//! replaced by the values it starts with. Casts without uses go. All others stay: no conversion is
//! invented here.
//!
//! **Cost.** Linear in the operations, and in the casts and their uses.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::reconcile_casts;
use loomir_ir::{Body, Diagnostics};

/// The pass `reconcile-unrealized-casts`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "reconcile-unrealized-casts",
    anchor: None,
    summary: "Cancel unrealized conversion casts that undo each other",
    options: &[],
    make: |_| Ok(Box::new(ReconcileCasts)),
};

struct ReconcileCasts;

impl Pass for ReconcileCasts {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Casts left", reconcile_casts(body) as u64));
        Ok(())
    }
}
