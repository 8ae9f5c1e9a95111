//! Random programs before and after each pass that [simplifies](loomir::transforms::simplify), and
//! after random pipelines of five passes.
//!
//! Both programs are executed, and the checker proves some of them equal or executes them on its
//! own inputs. Programs are regular nests, nests with operations that some operands make undefined,
//! expressions, and nests that were lowered to a graph of blocks.

use std::collections::BTreeMap;

use loomir::dialects::interp::Limits;

use crate::behaviour::{inputs, same_behaviour};
use crate::check::Checker;
use crate::expressions::Expressions;
use crate::generate::generate;
use crate::hazards::{calls, hazards};
use crate::random::Random;
use crate::twin::compared;
use crate::verdicts::is_proved;

/// The passes, by their names in pipelines. Each runs on every operation that owns a body.
pub const PASSES: &[&str] = &[
    "canonicalize",
    "control-flow-sink",
    "cse",
    "dce",
    "if-to-select",
    "loop-invariant-code-motion",
    "mem2reg",
    "scalar-promotion",
    "symbol-dce",
];

/// The checker is asked about one program in this many.
const CHECKED: u64 = 10;
/// The number of passes in a random pipeline.
const LENGTH: usize = 5;

/// The numbers of compared programs and runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs that a pass changed, by the pass. Pipelines of several count as `random`.
    pub changed: BTreeMap<String, usize>,
    /// Defined calls that were compared before and after a pipeline.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
    /// Changed programs that the checker proves equal.
    pub proved: usize,
}

/// Runs the programs of these numbers before and after each pass, and before and after a random
/// pipeline.
///
/// # Errors
/// The first call that behaves differently afterwards, with the program.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let (text, entry, calls) = program(&checker, index, &mut random)?;
        let failed = |what: &str, error: String| format!("case {index}, {what}: {error}\n{text}");
        let before = checker.read(&text).map_err(|errors| failed("as it is", checker.lines(&errors)))?;
        let printed = loomir::print(&before);
        let several = (0..LENGTH).map(|_| pass(random.pick::<&str>(PASSES))).collect::<Vec<_>>().join(",");
        let single = PASSES.iter().map(|own| (*own, pass(own)));
        for (name, passes) in single.chain([("random", several)]) {
            let pipeline = format!("builtin.module({passes})");
            let after = checker.transformed(&pipeline, &text);
            let (after, _) = after.map_err(|errors| failed(&pipeline, checker.lines(&errors)))?;
            let changed = loomir::print(&after);
            *tally.changed.entry(name.to_owned()).or_default() += usize::from(changed != printed);
            if changed == printed {
                continue;
            }
            let [before, after] = compared(&printed, &changed).map(|text| checker.read(&text));
            let both = before.and_then(|before| Ok((before, after?)));
            let (before, after) = both.map_err(|errors| failed(&pipeline, checker.lines(&errors)))?;
            let agreement = same_behaviour(&before, &after, entry, &calls, &Limits::default());
            let agreement = agreement.map_err(|error| failed(&pipeline, format!("{error}\n{changed}")))?;
            tally.compared += agreement.compared;
            tally.skipped += agreement.skipped;
            if index % CHECKED == 0 {
                let proved = is_proved(&before, &after, false);
                tally.proved += usize::from(proved.map_err(|error| failed(&pipeline, error))?);
            }
        }
        tally.cases += 1;
    }
    Ok(())
}

/// Returns the text of a pass in a pipeline on modules.
fn pass(name: &str) -> String {
    match name {
        "scalar-promotion" => format!("func.func({name}{{alias=version}})"),
        _ => name.to_owned(),
    }
}

/// Returns a program, its function and calls of it.
fn program(
    checker: &Checker,
    index: u64,
    random: &mut Random,
) -> Result<(String, &'static str, Vec<Vec<String>>), String> {
    let (mut text, entry) = match index % 4 {
        0 | 3 => (generate(random).to_mlir().mlir, "kernel"),
        1 => (hazards(random), "kernel"),
        _ => {
            let program = Expressions::generate(random, 8, 3, 12, 20);
            let returned: Vec<usize> = (3..program.values()).rev().take(2).collect();
            (program.to_mlir(&returned), "f")
        }
    };
    let before = checker.read(&text).map_err(|errors| format!("{}\n{text}", checker.lines(&errors)))?;
    let mut inputs = match index % 4 {
        1 => calls(random),
        _ => inputs(&before, entry, random).unwrap_or_default(),
    };
    if text.contains("llvm.noalias") {
        inputs.retain(|call| !call.iter().any(|argument| argument.starts_with('@')));
    }
    if index % 4 == 3 {
        let lowered = checker.transformed("builtin.module(lower-affine,convert-scf-to-cf)", &text);
        let (lowered, _) = lowered.map_err(|errors| format!("{}\n{text}", checker.lines(&errors)))?;
        text = loomir::print(&lowered);
    }
    Ok((text, entry, inputs))
}
