//! Random programs before and after each registered
//! [transformation](loomir::transforms::transform), with each of its named options, alone and
//! before fusion.
//!
//! Both programs are executed, and the checker proves them equal or executes them on its own
//! inputs.
//!
//! Half of the programs are regular nests. The other half have operations that some operands make
//! undefined.

use loomir::dialects::interp::Limits;
use loomir::transforms::transform::ALL;

use crate::behaviour::{inputs, same_behaviour};
use crate::check::Checker;
use crate::generate::generate;
use crate::hazards::{calls, hazards};
use crate::random::Random;
use crate::twin::compared;
use crate::verdicts::is_proved;

/// The checker is asked about one program in this many.
const CHECKED: u64 = 5;

/// The numbers of compared programs and runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs that a pipeline changed, counted once for each pipeline.
    pub changed: usize,
    /// Defined calls that were compared before and after a pipeline.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
    /// Changed programs that the checker proves equal.
    pub proved: usize,
}

/// Runs the programs of these numbers before and after each transformation.
///
/// # Errors
/// The first call that behaves differently afterwards, with the program.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    let pipelines = pipelines();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let is_regular = index % 2 == 0;
        let text = if is_regular { generate(&mut random).to_mlir().mlir } else { hazards(&mut random) };
        let failed = |what: &str, error: String| format!("case {index}, {what}: {error}\n{text}");
        let before = checker.read(&text);
        let before = before.map_err(|errors| failed("as it is", checker.lines(&errors)))?;
        let mut calls = match is_regular {
            true => inputs(&before, "kernel", &mut random).unwrap_or_default(),
            false => calls(&mut random),
        };
        if text.contains("llvm.noalias") {
            calls.retain(|call| !call.iter().any(|argument| argument.starts_with('@')));
        }
        let printed = loomir::print(&before);
        for pipeline in &pipelines {
            let after = checker.transformed(pipeline, &text);
            let (after, _) = after.map_err(|errors| failed(pipeline, checker.lines(&errors)))?;
            let changed = loomir::print(&after);
            tally.changed += usize::from(changed != printed);
            let [before, after] = compared(&printed, &changed).map(|text| checker.read(&text));
            let both = before.and_then(|before| Ok((before, after?)));
            let (before, after) = both.map_err(|errors| failed(pipeline, checker.lines(&errors)))?;
            let agreement = same_behaviour(&before, &after, "kernel", &calls, &Limits::default());
            let agreement = agreement.map_err(|error| failed(pipeline, error))?;
            tally.compared += agreement.compared;
            tally.skipped += agreement.skipped;
            if changed != printed && index % CHECKED == 0 {
                let proved = is_proved(&before, &after, false);
                tally.proved += usize::from(proved.map_err(|error| failed(pipeline, error))?);
            }
        }
        tally.cases += 1;
    }
    Ok(())
}

/// Returns each transformation with each of its samples. The last sample also runs before fusion.
fn pipelines() -> Vec<String> {
    let mut all = Vec::new();
    for (_, info) in ALL {
        let mut passes = info.samples.iter().map(|sample| format!("{}{{{sample}}}", info.name));
        all.extend(passes.clone().map(|pass| format!("builtin.module(func.func({pass}))")));
        let before_fusion =
            passes.next_back().map(|pass| format!("{pass},loop-fusion{{fusion-profitability=always}}"));
        all.extend(before_fusion.map(|passes| format!("builtin.module(func.func({passes}))")));
    }
    all
}
