//! Random graphs of blocks before and after they become structured control flow, and before and
//! after their loops are fused on the tree.
//!
//! The functions are loops that count, random graphs with irreducible cycles, switches and several
//! returns, and neighbouring loops over arrays behind pointers. Each is executed as blocks, as
//! regions, after clean-up, as blocks again, and after `fuse`. Of every second one only parts
//! become regions.

use loomir::dialects::interp::Limits;
use loomir::{ContractionOptions, Extent, FuseOptions, Profitability, ProgramOptions};

use crate::behaviour::{Input, same_behaviour};
use crate::check::Checker;
use crate::graphs;
use crate::neighbours::{CALLED, neighbours, odd, odd_neighbours};
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
    /// Functions with parts that became regions.
    pub parts: u64,
    /// Functions that `fuse` changed.
    pub fused: u64,
    /// Defined calls that were compared, in each form.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
}

/// The steps, one after the other.
const STEPS: [&str; 2] =
    ["builtin.module(llvm.func(canonicalize,cse))", "builtin.module(convert-scf-to-cf,convert-to-llvm)"];

/// Lifts the functions of these numbers, and compares.
///
/// # Errors
/// The first function that behaves differently afterwards, with both texts.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let (text, calls) = match index % 6 {
            0 => counted(&mut random),
            1 => (graphs::function(&mut random, "kernel"), graph_calls()),
            2 => {
                let own = odd_neighbours(&mut random, "kernel");
                (format!("{CALLED}{}{}", odd::CALLED, own.text), own.calls)
            }
            _ => {
                let own = neighbours(&mut random, "kernel");
                (format!("{CALLED}{}", own.text), own.calls)
            }
        };
        // Fusion only where it pays, or wherever it is legal.
        let always = random.chance(50);
        let extent = if random.chance(50) { Extent::Parts } else { Extent::Whole };
        compare(&checker, (&text, &calls), (always, extent), tally)
            .map_err(|error| format!("case {index}: {error}\n{text}"))?;
        tally.cases += 1;
    }
    Ok(())
}

fn compare(
    checker: &Checker,
    (text, calls): (&str, &[Input]),
    (always, extent): (bool, Extent),
    tally: &mut Tally,
) -> Result<(), String> {
    let said = |errors: loomir::ir::Diagnostics| checker.lines(&errors);
    let before = loomir::lowering::from_ll(&checker.ctx, text, "f.ll").map_err(said)?;
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let mut after = before.duplicate();
    let lifting = match extent {
        Extent::Parts => "builtin.module(llvm.func(lift-cf-to-scf{parts=true}))",
        _ => "builtin.module(llvm.func(lift-cf-to-scf))",
    };
    for (number, step) in std::iter::once(lifting).chain(STEPS).enumerate() {
        checker.run(step, &mut after).map_err(said)?;
        let printed = loomir::print(&after);
        if number == 0 && extent == Extent::Parts {
            tally.parts += u64::from(printed.contains("scf.for"));
        } else if number == 0 {
            tally.lifted += u64::from(!printed.contains("llvm.br") && !printed.contains("llvm.cond_br"));
            tally.counted += u64::from(printed.contains("scf.for"));
            tally.uncounted += u64::from(printed.contains("scf.while"));
        }
        let agreement = same_behaviour(&before, &after, "kernel", calls, &limits);
        let agreement = agreement.map_err(|error| format!("{step}: {error}\n{printed}"))?;
        tally.compared += agreement.compared;
        tally.skipped += agreement.skipped;
    }
    let mut after = before.duplicate();
    let profitability = if always { Profitability::Always } else { Profitability::default() };
    let fusion = FuseOptions { profitability, ..FuseOptions::default() };
    let contraction = ContractionOptions::after(&fusion);
    let options = ProgramOptions { contraction: Some(&contraction), extent, ..ProgramOptions::of(&fusion) };
    loomir::fuse_program(&mut after, &options);
    let printed = loomir::print(&after);
    if printed == loomir::print(&before) {
        return Ok(());
    }
    tally.fused += 1;
    let errors = loomir::ir::verifier::verify(&after);
    if errors.has_errors() {
        return Err(format!("fused: {}\n{printed}", said(errors)));
    }
    let agreement = same_behaviour(&before, &after, "kernel", calls, &limits);
    let agreement = agreement.map_err(|error| format!("fused: {error}\n{printed}"))?;
    tally.compared += agreement.compared;
    tally.skipped += agreement.skipped;
    Ok(())
}
