//! Application of patterns that were loaded from files.
//!
//! The patterns are `pdl.pattern` operations of the files that the command loads. They are applied
//! greedily, with folding, until nothing changes. The user vouches that a pattern keeps the meaning
//! of a program; `loomir check` compares the program before and after.
//!
//! **Cost.** Each visit of an operation tries all patterns of its name. Visits are bounded. At the
//! bound the pass fails with a diagnostic that names the pattern applied most often.

use loomir_dialects::irdl::meaning;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::rewrite::{Greedy, Pattern};
use loomir_ir::{Body, Diagnostic, Diagnostics, Severity};

/// The pass `apply-patterns`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "apply-patterns",
    anchor: None,
    summary: "Apply the patterns of loaded files",
    options: &[],
    make: |_| Ok(Box::new(ApplyPatterns)),
};

struct ApplyPatterns;

impl Pass for ApplyPatterns {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let ctx = body.ctx().clone();
        let files: Vec<_> = meaning::files(&ctx).collect();
        let patterns: Vec<&dyn Pattern> =
            files.iter().flat_map(|file| file.patterns()).map(|own| own as &dyn Pattern).collect();
        if patterns.is_empty() {
            let error = Diagnostic::error(body.loc(body.root()), "no patterns are loaded");
            return Err(error.help("name a file with 'pdl.pattern' in it: --patterns=FILE").into());
        }
        let mut errors = Diagnostics::new();
        let mut driver = Greedy::new(&patterns);
        body.for_each_body(&mut |body| {
            let report = driver.run(body);
            cx.count("Patterns applied", report.rewritten as u64);
            cx.count("Operations folded", report.folded as u64);
            cx.count("Operations erased", report.erased as u64);
            if let Some(stopped) = report.stopped {
                errors.push(Diagnostic { severity: Severity::Error, ..stopped });
            }
        });
        if errors.has_errors() { Err(errors) } else { Ok(()) }
    }
}
