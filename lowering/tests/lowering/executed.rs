//! The sixty programs in the interpreter: their output equals that of the compiled programs, and
//! their behaviour is defined.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use loomir_dialects::interp::{self, Fault, FaultKind, Limits};
use loomir_ir::{Body, Diagnostics};
use loomir_lowering::from_ll;

use crate::fixture::context;
use crate::programs::{LEVELS, for_each, output, programs, same, translated};

/// Programs that the interpreter does not execute at some level, and the reason.
const NOT_EXECUTED: &[(&str, &str)] = &[
    ("aliases.c", "a function that is chosen when the program is loaded"),
    ("assembly.c", "a variable that assembly defines"),
    ("bit_int.c", "integers of more than 128 bits"),
    ("classes.cpp", "what is constructed before `main`"),
    ("complex.c", "quotients of complex numbers, which the compiler's own library computes"),
    ("long_double.c", "floats of 80 bits"),
    ("references.cpp", "tables of the library's classes"),
    ("sorting.c", "`qsort`, which calls back"),
    ("statics.c", "a function that may be missing"),
    ("virtuals.cpp", "tables of the library's classes"),
];

/// Returns the output of `main`.
fn printed(module: &Body) -> Result<String, Box<Fault>> {
    let limits = Limits { steps: 100_000_000, ..Limits::default() };
    let outcome = interp::run(module, "main", &[], &limits)?;
    Ok(String::from_utf8_lossy(&outcome.printed).into_owned())
}

fn check(llvm: &Path, program: &Path, count: &AtomicUsize) -> Result<(), String> {
    let name = program.file_name().expect("a file").to_string_lossy();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("executed-{name}"));
    fs::copy(program, &scratch).map_err(|error| error.to_string())?;
    let expected = output(llvm, program, &scratch)?;
    let (is_listed, mut all) = (NOT_EXECUTED.iter().any(|(name, _)| program.ends_with(name)), true);
    for level in LEVELS {
        let source = translated(llvm, program, level)?;
        let ctx = context();
        let module = from_ll(&ctx, &source, "input.ll").map_err(|errors| errors.to_text(&ctx))?;
        let difference = match printed(&module) {
            Ok(printed) => same(&printed, &expected).err().map(|place| format!("prints otherwise: {place}")),
            Err(fault) if fault.kind == FaultKind::Undefined => {
                return Err(format!("{level}: {}", Diagnostics::from(fault.diagnostic).to_text(&ctx)));
            }
            Err(fault) => Some(Diagnostics::from(fault.diagnostic).to_text(&ctx)),
        };
        match difference {
            None => _ = count.fetch_add(1, Ordering::Relaxed),
            Some(_) if is_listed => all = false,
            Some(difference) => return Err(format!("{level}: {difference}")),
        }
    }
    if all && is_listed {
        Err("is executed at every level, and no longer belongs on the list".into())
    } else {
        Ok(())
    }
}

#[test]
fn programs_print_in_the_interpreter_what_they_print_compiled() {
    let Some(llvm) = crate::llvm() else { return };
    let count = AtomicUsize::new(0);
    let failures = for_each(&programs(), |program| check(&llvm, program, &count));
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
    let count = count.into_inner();
    assert!(count >= 150, "only {count} were executed");
}
