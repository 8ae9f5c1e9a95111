//! Programs before and after pipelines of passes: executed, and proved equal or compared by the
//! checker.

use loomir::AliasMode;
use loomir::check::proof::ProofOptions;
use loomir::dialects::interp::Limits;
use loomir::ir::Body;

use crate::behaviour::{Agreement, Input, inputs, retain_distinct, same_interleaved};
use crate::check::Checker;
use crate::generate::generate;
use crate::hazards::{calls, hazards};
use crate::random::Random;
use crate::twin::compared;
use crate::verdicts::is_proved;

/// A program with calls of one of its functions.
pub(crate) struct Case {
    /// The program.
    pub(crate) text: String,
    /// The program as Loomir prints it.
    pub(crate) printed: String,
    /// The seeds of random interleavings of parallel loops in the changed program.
    pub(crate) seeds: Vec<u64>,
    entry: &'static str,
    calls: Vec<Input>,
}

/// A comparison of a program before and after a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Comparison {
    /// Defined calls that were compared.
    pub(crate) compared: usize,
    /// Calls that are not.
    pub(crate) skipped: usize,
    /// Runs in random interleavings.
    pub(crate) interleaved: usize,
    /// True if the checker proves both programs equal. `None` if it was not asked.
    pub(crate) proved: Option<bool>,
}

impl Case {
    /// Returns a regular nest with generated inputs.
    pub(crate) fn regular(checker: &Checker, random: &mut Random) -> Result<Case, String> {
        let text = generate(random).to_mlir().mlir;
        Case::with_inputs(checker, text, "kernel", random)
    }

    /// Returns a nest with operations that some operands make undefined.
    pub(crate) fn hazardous(checker: &Checker, random: &mut Random) -> Result<Case, String> {
        let text = hazards(random);
        let before = read(checker, &text)?;
        Ok(Case::new(text, &before, "kernel", calls(random)))
    }

    /// Returns a program with generated inputs.
    pub(crate) fn with_inputs(
        checker: &Checker,
        text: String,
        entry: &'static str,
        random: &mut Random,
    ) -> Result<Case, String> {
        let before = read(checker, &text)?;
        let calls = inputs(&before, entry, random).unwrap_or_default();
        Ok(Case::new(text, &before, entry, calls))
    }

    fn new(text: String, before: &Body, entry: &'static str, mut calls: Vec<Input>) -> Case {
        if text.contains("llvm.noalias") {
            retain_distinct(&mut calls);
        }
        Case { printed: loomir::print(before), text, seeds: Vec::new(), entry, calls }
    }

    /// Returns the program after a pipeline, with the same calls.
    pub(crate) fn after(self, checker: &Checker, pipeline: &str) -> Result<Case, String> {
        let text = self.transformed(checker, pipeline)?;
        Ok(Case { printed: text.clone(), text, ..self })
    }

    /// Returns the printed program after a pipeline.
    pub(crate) fn transformed(&self, checker: &Checker, pipeline: &str) -> Result<String, String> {
        let after = checker.transformed(pipeline, &self.text);
        let (after, _) = after.map_err(|errors| self.failed(pipeline, checker.lines(&errors)))?;
        Ok(loomir::print(&after))
    }

    /// Executes the program and what a pipeline made of it. With limits for
    /// it, asks the checker too.
    ///
    /// # Errors
    /// The first call that behaves differently, with the program.
    pub(crate) fn compare(
        &self,
        checker: &Checker,
        pipeline: &str,
        changed: &str,
        proves: Option<ProofOptions>,
    ) -> Result<Comparison, String> {
        let failed = |error| self.failed(pipeline, format!("{error}\n{changed}"));
        let [before, after] = compared(&self.printed, changed).map(|text| read(checker, &text));
        let (before, after) = (before.map_err(failed)?, after.map_err(failed)?);
        let (calls, limits) = (&self.calls, Limits::default());
        let agreement = same_interleaved(&before, &after, self.entry, calls, &limits, &self.seeds);
        let agreement = agreement.map_err(failed)?;
        let ask = |limits| is_proved([&before, &after], self.entry, limits);
        let proved = proves.map(ask).transpose().map_err(failed)?;
        let Agreement { compared, skipped, interleaved } = agreement;
        Ok(Comparison { compared, skipped, interleaved, proved })
    }

    fn failed(&self, pipeline: &str, error: String) -> String {
        format!("{pipeline}: {error}\n{}", self.text)
    }
}

/// Returns a printed program after a schedule, and true if the schedule did not fail. A schedule
/// that fails leaves a program that computes the same.
pub(crate) fn scheduled(checker: &Checker, text: &str, schedule: &str) -> Result<(String, bool), String> {
    let mut module = read(checker, text)?;
    let schedule = read(checker, schedule)?;
    let succeeded = loomir::run_schedule(&mut module, &schedule, AliasMode::May).is_ok();
    let printed = loomir::print(&module);
    read(checker, &printed).map(|_| (printed, succeeded))
}

fn read(checker: &Checker, text: &str) -> Result<Body, String> {
    checker.read(text).map_err(|errors| format!("{}\n{text}", checker.lines(&errors)))
}
