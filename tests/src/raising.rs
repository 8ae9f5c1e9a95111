//! Random graphs of blocks before and after they become structured control flow.
//!
//! Half of the functions are loops that count, the other half random graphs with irreducible
//! cycles, switches and several returns. Each is executed as blocks, as regions, after clean-up,
//! and as blocks again.

use loomir::dialects::interp::Limits;

use crate::behaviour::{Input, same_behaviour};
use crate::check::Checker;
use crate::graphs;
use crate::random::Random;
use crate::unrolling::{counted, graph_calls};

/// The numbers of functions and of their forms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions whose blocks became regions.
    pub lifted: u64,
    /// Functions with a loop that became `scf.for`.
    pub counted: u64,
    /// Functions with a loop that became `scf.while`.
    pub uncounted: u64,
    /// Defined calls that were compared, in each form.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
}

/// The steps, one after the other.
const STEPS: [&str; 3] = [
    "builtin.module(llvm.func(lift-cf-to-scf))",
    "builtin.module(llvm.func(canonicalize,cse))",
    "builtin.module(convert-scf-to-cf,convert-to-llvm)",
];

/// Lifts the functions of these numbers, and compares.
///
/// # Errors
/// The first function that behaves differently afterwards, with both texts.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let (text, calls) = match index % 2 {
            0 => counted(&mut random),
            _ => (graphs::function(&mut random, "kernel"), graph_calls()),
        };
        compare(&checker, &text, &calls, tally).map_err(|error| format!("case {index}: {error}\n{text}"))?;
        tally.cases += 1;
    }
    Ok(())
}

fn compare(checker: &Checker, text: &str, calls: &[Input], tally: &mut Tally) -> Result<(), String> {
    let said = |errors: loomir::ir::Diagnostics| checker.lines(&errors);
    let before = loomir::lowering::from_ll(&checker.ctx, text, "f.ll").map_err(said)?;
    let mut after = before.duplicate();
    for (number, step) in STEPS.iter().enumerate() {
        checker.run(step, &mut after).map_err(said)?;
        let printed = loomir::print(&after);
        if number == 0 {
            tally.lifted += u64::from(!printed.contains("llvm.br") && !printed.contains("llvm.cond_br"));
            tally.counted += u64::from(printed.contains("scf.for"));
            tally.uncounted += u64::from(printed.contains("scf.while"));
        }
        let limits = Limits { steps: 20_000, ..Limits::default() };
        let agreement = same_behaviour(&before, &after, "kernel", calls, &limits);
        let agreement = agreement.map_err(|error| format!("{step}: {error}\n{printed}"))?;
        tally.compared += agreement.compared;
        tally.skipped += agreement.skipped;
    }
    Ok(())
}
