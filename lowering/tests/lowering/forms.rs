//! The canonical forms of control flow, on the programs in C and C++ at every level. Each form is
//! reached in one run and holds. Loops, cycles and post-dominators equal those of `opt` before and
//! after all forms, and after each form at one level of each program. The result of all forms in
//! sequence behaves as the original.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use loomir_ir::pass::{PassInstrumentor, PassRegistry, VerifyAnalyses, VerifyEach};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::{Body, Diagnostics};
use loomir_lowering::cfg::FORMS;
use loomir_lowering::cfg::print::{Printed, print};
use loomir_lowering::{PASSES, from_ll, to_ll};

use crate::fixture::context;
use crate::llvm;
use crate::programs::{LEVELS, for_each, output, programs, same, translated};

/// Runs a pass on every function of a module; loops and dominators are compared after each step,
/// and the forms it keeps after it.
fn run_on_functions(module: &mut Body, pass: &str) -> Result<(), Diagnostics> {
    let mut registry = PassRegistry::new();
    for pass in PASSES {
        registry.add(*pass);
    }
    let manager = registry.parse(&format!("builtin.module(llvm.func({pass}))")).expect("a pipeline");
    let report = manager.run(module, &PassInstrumentor::new().with(VerifyAnalyses).with(VerifyEach));
    if report.succeeded() { Ok(()) } else { Err(report.diagnostics) }
}

fn as_text(module: &Body) -> String {
    text::print(module, &PrintOptions::default())
}

/// Returns the output of `opt` for a file, on its standard error.
fn printed_by_opt(llvm: &Path, file: &Path, passes: &str) -> Result<String, String> {
    let mut opt = Command::new(llvm.join("bin/opt"));
    let output = opt.args(["-disable-output", &format!("-passes={passes}")]).arg(file).output();
    let output = output.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(said) } else { Err(said) }
}

/// Checks that LLVM accepts a module, and finds the same loops, cycles and post-dominators.
pub(crate) fn agree_on_control_flow(llvm: &Path, module: &Body, file: &Path) -> Result<(), String> {
    let written = to_ll(module).map_err(|errors| errors.to_text(module.ctx()))?;
    fs::write(file, written).map_err(|error| error.to_string())?;
    let theirs = printed_by_opt(
        llvm,
        file,
        "verify,function(print<loops>),function(print<cycles>),function(print<postdomtree>)",
    )?;
    let ours = |what| print(module, what).map_err(|errors| errors.to_text(module.ctx()));
    let printed = [Printed::Loops, Printed::Cycles, Printed::PostDominators].map(ours);
    same(&printed.into_iter().collect::<Result<String, String>>()?, &theirs)
}

fn check(llvm: &Path, program: &Path) -> Result<(), String> {
    let name = program.file_name().expect("a file").to_string_lossy().into_owned();
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("forms-{name}"));
    fs::copy(program, &scratch).map_err(|error| error.to_string())?;
    let expected = output(llvm, program, &scratch)?;
    // The levels take turns.
    let turn = programs().iter().position(|own| own == program).unwrap_or_default() % LEVELS.len();
    for (number, level) in LEVELS.iter().enumerate() {
        let file = scratch.with_added_extension(format!("{level}.ll"));
        check_level((llvm, number == turn), program, level, &file, &expected)
            .map_err(|failure| format!("{level}: {failure}"))?;
    }
    Ok(())
}

fn check_level(
    (llvm, compares_each): (&Path, bool),
    program: &Path,
    level: &str,
    file: &Path,
    expected: &str,
) -> Result<(), String> {
    let source = translated(llvm, program, level)?;
    let ctx = context();
    let module = from_ll(&ctx, &source, "input.ll").map_err(|errors| errors.to_text(&ctx))?;
    agree_on_control_flow(llvm, &module, file)?;
    let mut all = module.duplicate();
    for form in FORMS {
        let failed = |errors: Diagnostics| format!("{}: {}", form.name, errors.to_text(&ctx));
        let mut after = module.duplicate();
        run_on_functions(&mut after, form.name).map_err(failed)?;
        let once = as_text(&after);
        if compares_each {
            agree_on_control_flow(llvm, &after, file)
                .map_err(|failure| format!("{}: {failure}", form.name))?;
        }
        run_on_functions(&mut after, form.name).map_err(failed)?;
        same(&once, &as_text(&after)).map_err(|place| format!("{} changes it again: {place}", form.name))?;
        run_on_functions(&mut all, form.name).map_err(failed)?;
    }
    agree_on_control_flow(llvm, &all, file)?;
    let actual = output(llvm, program, file)?;
    if actual == expected { Ok(()) } else { Err(format!("prints\n{actual}\ninstead of\n{expected}")) }
}

#[test]
fn programs_are_in_every_form_and_behave_as_before() {
    let Some(llvm) = llvm() else { return };
    let failures = for_each(&programs(), |program| check(&llvm, program));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// For each form a function that violates it, and the message of its check.
const OUT_OF_FORM: &[(&str, &str, &str)] = &[
    (
        "loop-simplify",
        "define void @f(i1 %c) {\n br i1 %c, label %a, label %b\na:\n br i1 %c, label %a, label %b\nb:\n ret void\n}",
        "here begins a loop that has no preheader",
    ),
    (
        "loop-simplify",
        "define void @f() {\n ret void\na:\n br label %a\n}",
        "nothing leads to the block that begins here",
    ),
    (
        "lcssa",
        "define i32 @f(i32 %n) {\n br label %a\na:\n %i = phi i32 [ %n, %0 ], [ %j, %a ]\n %j = add i32 %i, 1\n %c = icmp eq i32 %j, 0\n br i1 %c, label %b, label %a\nb:\n ret i32 %j\n}",
        "a value is used outside of the loop that defines it",
    ),
    (
        "loop-rotate",
        "define void @f(i1 %c, ptr %p) {\n br label %a\na:\n br i1 %c, label %b, label %d\nb:\n store i32 1, ptr %p\n br label %a\nd:\n ret void\n}",
        "here begins a loop that is tested at its start",
    ),
    (
        "fix-irreducible",
        "define void @f(i1 %c) {\n br i1 %c, label %a, label %b\na:\n br label %b\nb:\n br label %a\n}",
        "a cycle is entered here, and at another place",
    ),
    (
        "unify-loop-exits",
        "define void @f(i1 %c) {\n br label %a\na:\n br i1 %c, label %b, label %d\nb:\n br i1 %c, label %a, label %e\nd:\n ret void\ne:\n ret void\n}",
        "here begins a loop that leads to several blocks",
    ),
    (
        "loop-deletion",
        "define void @f(i1 %c) mustprogress {\n br label %a\na:\n br i1 %c, label %a, label %b\nb:\n ret void\n}",
        "here begins a loop that does nothing",
    ),
    (
        "fold-loop-exits",
        "define void @f() {\n br label %a\na:\n br i1 true, label %a, label %b\nb:\n ret void\n}",
        "a way out of a loop here is never taken",
    ),
];

#[test]
fn checks_say_what_is_not_in_form() {
    let ctx = context();
    for (name, source, message) in OUT_OF_FORM {
        let form = FORMS.iter().find(|form| form.name == *name).expect("a form");
        let mut module = from_ll(&ctx, source, "input.ll").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let checked = |module: &Body| {
            let function = module.all_ops().find_map(|op| module.nested(op)).expect("a function");
            (form.check)(function, &SymbolTable::of(module))
                .map_err(|error| Diagnostics::from(error).to_text(&ctx))
        };
        let said = checked(&module).expect_err("it is not in form");
        assert!(said.contains(message), "{name}: {said}");
        run_on_functions(&mut module, name).unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
        assert_eq!(checked(&module), Ok(()), "{name}");
    }
    assert!(FORMS.iter().all(|form| OUT_OF_FORM.iter().any(|(name, ..)| form.name == *name)));
}
