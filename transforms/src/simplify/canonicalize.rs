//! Canonicalization: folds every operation as far as possible, applies the patterns that dialects
//! register, keeps one copy of each constant, and erases operations without effects and uses. In
//! graphs of blocks, branches that a constant decides become jumps, and blocks without need go.
//!
//! Patterns stand with their dialects: `loomir_dialects::arith::patterns` and its like.
//! [`Registry::patterns`](loomir_ir::Registry::patterns) adds those of a dialect of one's own.
//!
//! **Cost.** Linear in the operations and in the changes, up to a limit. At the limit, or if a
//! pattern is defective, the pass stops with a diagnostic that names the pattern.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::{Greedy, Pattern, Report};
use loomir_ir::{Body, Context, Diagnostics, Severity};

use super::blocks;
use crate::effects::is_removable;

/// The pass `canonicalize`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "canonicalize",
    anchor: None,
    summary: "Fold operations, apply the dialects' patterns, and erase what is unused",
    options: &[],
    make: |_| Ok(Box::new(Canonicalize)),
};

/// The most rounds of rewriting. Blocks that go may leave something to fold.
const MAX_ROUNDS: usize = 8;

/// Canonicalizes a body, without the bodies nested in it. Changed branches and blocks count as
/// rewritten operations.
pub fn canonicalize(body: &mut Body) -> Report {
    let ctx = body.ctx().clone();
    canonicalize_by(&mut driver(&ctx), body)
}

/// Returns the driver of all patterns of a context.
fn driver(ctx: &Context) -> Greedy<'_> {
    let patterns: Vec<&dyn Pattern> = ctx.patterns().map(|own| own as &dyn Pattern).collect();
    Greedy::new(&patterns).erases_if(is_removable)
}

fn canonicalize_by(driver: &mut Greedy<'_>, body: &mut Body) -> Report {
    let mut total = Report { rewritten: blocks::erase_unreached(body), ..Report::default() };
    for _ in 0..MAX_ROUNDS {
        let report = driver.run(body);
        total.folded += report.folded;
        total.rewritten += report.rewritten;
        total.erased += report.erased;
        total.unified += report.unified;
        total.stopped = report.stopped;
        let blocks = if total.stopped.is_none() { blocks::simplify(body) } else { 0 };
        total.rewritten += blocks;
        if blocks == 0 {
            break;
        }
    }
    total
}

struct Canonicalize;

impl Pass for Canonicalize {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        let ctx = body.ctx().clone();
        let mut driver = driver(&ctx);
        body.for_each_body(&mut |body| {
            let report = canonicalize_by(&mut driver, body);
            cx.count("Operations folded", report.folded as u64);
            cx.count("Operations rewritten", report.rewritten as u64);
            cx.count("Operations erased", report.erased as u64);
            cx.count("Constants unified", report.unified as u64);
            match report.stopped {
                Some(error) if error.severity == Severity::Error => errors.push(error),
                Some(warning) => cx.remark(warning),
                None => {}
            }
        });
        if errors.has_errors() { Err(errors) } else { Ok(()) }
    }
}
