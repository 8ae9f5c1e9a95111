//! Corner cases of functions, and each pass on control flow: unreachable blocks, unreachable ends,
//! no way out, no block at all.
//!
//! The snapshot is the function as read, and the output of each pass that changes it. LLVM accepts
//! all of it, and its loops are those that `opt` finds.

use std::fmt::Write;
use std::path::PathBuf;

use loomir_ir::Body;
use loomir_ir::pass::{PassInstrumentor, PassRegistry, VerifyAnalyses, VerifyEach};
use loomir_lowering::cfg::FORMS;
use loomir_lowering::{PASSES, from_ll, to_ll};

use crate::fixture::context;
use crate::forms::agree_on_control_flow;
use crate::llvm;

/// Returns the text of each function separately.
fn functions(module: &Body) -> Vec<String> {
    let text = to_ll(module).unwrap_or_else(|errors| panic!("{}", errors.to_text(module.ctx())));
    let begins = |line: &&str| line.starts_with("define ");
    let mut functions: Vec<String> = Vec::new();
    for line in text.lines().skip_while(|line| !begins(line)) {
        match functions.last_mut() {
            Some(open) if !begins(&line) => open.extend([line, "\n"]),
            _ => functions.push(format!("{line}\n")),
        }
    }
    functions
}

/// Compares the control flow of a module with the output of `opt`.
fn agree(module: &Body, what: &str) {
    let Some(llvm) = llvm() else { return };
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("corners.ll");
    agree_on_control_flow(&llvm, module, &file).unwrap_or_else(|failure| panic!("{what}: {failure}"));
}

#[test]
fn functions_at_the_edge() {
    let (ctx, source) = (context(), include_str!("fixtures/ll/corners.ll"));
    let module =
        from_ll(&ctx, source, "corners.ll").unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    let mut registry = PassRegistry::new();
    for pass in PASSES.iter().chain(loomir_transforms::passes()) {
        registry.add(*pass);
    }
    agree(&module, "before");
    let before = functions(&module);
    // For each function its results, with the passes that make them.
    let mut made: Vec<Vec<(Vec<&str>, String)>> = vec![Vec::new(); before.len()];
    for pass in FORMS.iter().map(|form| form.name).chain(["simplify-cfg", "mem2reg"]) {
        let manager = registry.parse(&format!("builtin.module(llvm.func({pass}))")).expect("a pipeline");
        let mut after = module.duplicate();
        let done = manager.run(&mut after, &PassInstrumentor::new().with(VerifyAnalyses).with(VerifyEach));
        assert!(done.succeeded(), "{pass}: {}", done.diagnostics.to_text(&ctx));
        for ((made, before), after) in made.iter_mut().zip(&before).zip(functions(&after)) {
            match made.iter_mut().find(|(_, text)| *text == after) {
                Some((passes, _)) => passes.push(pass),
                None if *before != after => made.push((vec![pass], after)),
                None => {}
            }
        }
        agree(&after, pass);
    }
    let mut report = String::new();
    for (before, made) in before.iter().zip(made) {
        report.push_str(before);
        for (passes, after) in made {
            let _ = write!(report, "; {}\n{after}", passes.join(", "));
        }
    }
    insta::assert_snapshot!("corners", report);
}
