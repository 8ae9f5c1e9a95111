//! Random programs before and after each pass that [simplifies](loomir::transforms::simplify), and
//! after random pipelines of five passes.
//!
//! Both programs are executed. The checker is asked about every program that changed: it proves
//! both equal, or executes them on its own inputs. Programs are regular nests, nests with
//! operations that some operands make undefined, expressions, two functions of which one calls the
//! other, and programs with scalars in memory and calls. Some are lowered to graphs of blocks.

use std::collections::BTreeMap;

use loomir::check::proof::ProofOptions;

use crate::callers::callers;
use crate::check::Checker;
use crate::expressions::Expressions;
use crate::locals::locals;
use crate::pipelines::Case;
use crate::random::Random;

/// The passes, by their names in pipelines. A pass that is `guarded` has that option. Each runs on
/// every operation that owns a body.
pub const PASSES: &[&str] = &[
    "canonicalize",
    "control-flow-sink",
    "cse",
    "dce",
    "expand-strided-metadata",
    "if-to-select",
    "inline",
    "int-range-optimizations",
    "loop-invariant-code-motion",
    "loop-invariant-code-motion-guarded",
    "mem2reg",
    "raise-scf-to-affine",
    "remove-dead-values",
    "scalar-promotion",
    "sccp",
    "sroa",
    "symbol-dce",
];

/// The limits on one question to the checker. A question beyond them is undecided.
const LIMITS: ProofOptions = ProofOptions { distinct: false, questions: 2_000, steps: 200_000 };
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
    /// Changed programs that it neither proves equal nor finds different.
    pub undecided: BTreeMap<String, usize>,
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
        let failed = |error: String| format!("case {index}: {error}");
        let case = case(&checker, index, &mut random).map_err(failed)?;
        let several = (0..LENGTH).map(|_| pass(random.pick::<&str>(PASSES))).collect::<Vec<_>>().join(",");
        let single = PASSES.iter().map(|own| (*own, pass(own)));
        for (name, passes) in single.chain([("random", several)]) {
            let pipeline = format!("builtin.module({passes})");
            let changed = case.transformed(&checker, &pipeline).map_err(failed)?;
            let is_changed = changed != case.printed;
            *tally.changed.entry(name.to_owned()).or_default() += usize::from(is_changed);
            if is_changed {
                let asked = case.compare(&checker, &pipeline, &changed, Some(LIMITS));
                let comparison = asked.map_err(failed)?;
                tally.compared += comparison.compared;
                tally.skipped += comparison.skipped;
                let is_proved = comparison.proved == Some(true);
                tally.proved += usize::from(is_proved);
                *tally.undecided.entry(name.to_owned()).or_default() += usize::from(!is_proved);
            }
        }
        tally.cases += 1;
    }
    Ok(())
}

/// Returns the text of a pass in a pipeline on modules.
fn pass(name: &str) -> String {
    match name {
        "loop-invariant-code-motion-guarded" => "loop-invariant-code-motion{guard=true}".to_owned(),
        // Canonicalization is a pass of its own.
        "inline" => format!("{name}{{default-pipeline=none}}"),
        "scalar-promotion" => format!("func.func({name}{{alias=version}})"),
        _ => name.to_owned(),
    }
}

/// Returns a program with calls.
fn case(checker: &Checker, index: u64, random: &mut Random) -> Result<Case, String> {
    match index % 7 {
        0 => Case::regular(checker, random),
        1 => Case::hazardous(checker, random),
        2 => {
            let program = Expressions::generate(random, 8, 3, 12, 20);
            let returned: Vec<usize> = (3..program.values()).rev().take(2).collect();
            Case::with_inputs(checker, program.to_mlir(&returned), "f", random)
        }
        3 => Case::with_inputs(checker, locals(random), "kernel", random),
        4 => {
            let program = Case::with_inputs(checker, locals(random), "kernel", random)?;
            program.after(checker, "builtin.module(convert-scf-to-cf)")
        }
        5 => Case::with_inputs(checker, callers(random), "f", random),
        _ => {
            let nest = Case::regular(checker, random)?;
            nest.after(checker, "builtin.module(lower-affine,convert-scf-to-cf)")
        }
    }
}
