//! Ordinary passes on the programs in C and C++. LLVM accepts their output, which behaves as the
//! original. `mem2reg` leaves no more stack allocations than that of `opt`.

use std::fs;
use std::path::{Path, PathBuf};

use loomir_ir::pass::{PassInstrumentor, PassRegistry, VerifyAnalyses, VerifyEach};
use loomir_ir::{Body, Diagnostics};
use loomir_lowering::{PASSES, from_ll, to_ll};

use crate::fixture::context;
use crate::llvm;
use crate::programs::{for_each, optimised, output, programs, translated};

/// Runs passes on every function of a module, which is verified after each.
fn run(module: &mut Body, passes: &str) -> Result<(), Diagnostics> {
    let mut registry = PassRegistry::new();
    for pass in PASSES.iter().chain(loomir_transforms::passes()) {
        registry.add(*pass);
    }
    let manager = registry.parse(&format!("builtin.module(llvm.func({passes}))")).expect("a pipeline");
    let report = manager.run(module, &PassInstrumentor::new().with(VerifyAnalyses).with(VerifyEach));
    if report.succeeded() { Ok(()) } else { Err(report.diagnostics) }
}

/// Returns the number of stack allocations in the text of a module.
fn allocations(ll: &str) -> usize {
    ll.matches(" = alloca ").count()
}

fn check(llvm: &Path, program: &Path) -> Result<(), String> {
    let name = program.file_name().expect("a file").to_string_lossy().into_owned();
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ordinary-{name}"));
    fs::copy(program, &scratch).map_err(|error| error.to_string())?;
    let expected = output(llvm, program, &scratch)?;
    // At -O0, functions are marked as not to be optimized, and `opt` obeys.
    let source = translated(llvm, program, "-O0")?.replace(" optnone", "");
    let ctx = context();
    let failed = |errors: Diagnostics| errors.to_text(&ctx);
    for passes in ["mem2reg", "mem2reg,simplify-cfg", "mem2reg,lcssa,simplify-cfg{keep-loops=true}"] {
        let mut module = from_ll(&ctx, &source, "input.ll").map_err(failed)?;
        run(&mut module, passes).map_err(failed)?;
        let written = to_ll(&module).map_err(failed)?;
        let file = scratch.with_added_extension("ll");
        fs::write(&file, &written).map_err(|error| error.to_string())?;
        optimised(llvm, &file, "verify")?;
        if passes == "mem2reg" {
            let original = scratch.with_added_extension("original.ll");
            fs::write(&original, &source).map_err(|error| error.to_string())?;
            let theirs = optimised(llvm, &original, "mem2reg")?;
            let (ours, theirs) = (allocations(&written), allocations(&theirs));
            if ours > theirs {
                return Err(format!("{ours} allocations are left, and only {theirs} by opt"));
            }
        }
        let actual = output(llvm, program, &file)?;
        if actual != expected {
            return Err(format!("{passes}: prints\n{actual}\ninstead of\n{expected}"));
        }
    }
    Ok(())
}

#[test]
fn programs_behave_as_before() {
    let Some(llvm) = llvm() else { return };
    let failures = for_each(&programs(), |program| check(&llvm, program));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
