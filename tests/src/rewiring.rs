//! The rewiring campaign: each fusion step of random loop trees must give the same result on the
//! tree and on the lowered graph.
//!
//! Programs come from the [campaign](crate::campaign) of fusion. All tree fusions of adjacent
//! unchanged loops are counted: those with equal results on both sides, and the reasons of those
//! that the graph does not fuse or that can't be compared. A difference is a failure. In addition
//! each graph is brought into normal form and executed before and after that.

use std::collections::BTreeMap;

use loomir::dialects::interp;
use loomir::ir::symbols::{SymbolTable, symbol_name};
use loomir::ir::text::type_to_string;
use loomir::ir::{Body, Type};
use loomir::lowering::lower_to_llvm;
use loomir::lowering::rewiring::normal::normalise;
use loomir::lowering::rewiring::{self, Outcome, Report};

use crate::behaviour::{Input, call, inputs, same_behaviour};
use crate::check::Checker;
use crate::generate::generate;
use crate::random::Random;

/// The statistics of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs that can't be lowered.
    pub not_lowered: u64,
    /// Fusions of unchanged neighbours on the tree.
    pub steps: u64,
    /// Steps whose two loops have nothing between them but operations that make values.
    pub adjacent: u64,
    /// Steps with equal results on the graph.
    pub equal: u64,
    /// Equal steps with nothing between the loops.
    pub adjacent_equal: u64,
    /// Equal steps where one side states more promises about values.
    pub promised: u64,
    /// Steps that the graph does not fuse, by the name of the reason.
    pub refused: BTreeMap<String, u64>,
    /// Steps that can't be compared, by the reason.
    pub open: BTreeMap<String, u64>,
    /// Unchanged neighbours that the tree does not fuse.
    pub apart: u64,
    /// Runs of graphs in normal form that were compared.
    pub runs: u64,
    /// Functions that cannot be called after lowering.
    pub not_called: u64,
}

impl Tally {
    /// Adds the report of a check.
    ///
    /// # Errors
    /// The first difference or broken graph.
    pub fn add(&mut self, checker: &Checker, module: &Body, report: &Report) -> Result<(), String> {
        self.apart += report.apart as u64;
        for step in &report.steps {
            self.steps += 1;
            self.adjacent += u64::from(step.adjacent);
            match &step.outcome {
                Outcome::Equal(promised) => {
                    self.equal += 1;
                    self.adjacent_equal += u64::from(step.adjacent);
                    self.promised += u64::from(*promised > 0);
                }
                Outcome::Refused(name, _) => *self.refused.entry((*name).to_owned()).or_default() += 1,
                Outcome::Open(why) => *self.open.entry(why.clone()).or_default() += 1,
                Outcome::Different(_) | Outcome::Broken(_) => {
                    return Err(checker.lines(&rewiring::told(module, step).into()));
                }
            }
        }
        Ok(())
    }

    /// Lines `key=value`.
    pub fn to_text(&self) -> String {
        let mut lines = vec![
            format!("cases={}", self.cases),
            format!("not_lowered={}", self.not_lowered),
            format!("steps={}", self.steps),
            format!("equal={}", self.equal),
            format!("adjacent={}", self.adjacent),
            format!("adjacent_equal={}", self.adjacent_equal),
            format!("equal_but_for_promises={}", self.promised),
            format!("apart={}", self.apart),
            format!("runs={}", self.runs),
            format!("not_called={}", self.not_called),
        ];
        lines.extend(self.refused.iter().map(|(name, count)| format!("refused_{name}={count}")));
        lines.extend(self.open.iter().map(|(why, count)| format!("open_{}={count}", why.replace(' ', "_"))));
        lines.join("\n") + "\n"
    }
}

/// Checks one program.
///
/// # Errors
/// The difference, with the program.
pub fn run_case(seed: u64, index: u64, tally: &mut Tally) -> Result<(), String> {
    let mut program = generate(&mut Random::of_case(seed, index));
    program.style.calls = false;
    let text = program.to_mlir().mlir;
    tally.cases += 1;
    check_text(&text, index, tally).map_err(|error| format!("{error}\n{text}"))
}

/// Checks one program. The arguments of its runs are drawn from `seed`.
///
/// # Errors
/// The difference.
pub fn check_text(text: &str, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    let module = checker.read(text).map_err(|errors| checker.lines(&errors))?;
    let Ok(report) = rewiring::check(&module, &Default::default()) else {
        tally.not_lowered += 1;
        return Ok(());
    };
    tally.add(&checker, &module, &report)?;
    let mut lowered = module.duplicate();
    if lower_to_llvm(&mut lowered).is_err() {
        tally.not_lowered += 1;
        return Ok(());
    }
    let (mut normal, symbols) = (lowered.duplicate(), SymbolTable::of(&lowered));
    for function in normal.nested_in_order() {
        if function.entry_block(function.region(function.root(), 0)).is_some() {
            normalise(function, &symbols).map_err(|errors| checker.lines(&errors))?;
        }
    }
    let errors = loomir::ir::verifier::verify(&normal);
    if errors.has_errors() {
        return Err(format!("in normal form: {}", checker.lines(&errors)));
    }
    for name in functions(&module) {
        let Some(mut calls) = lowered_inputs(&module, &name, seed) else { continue };
        // Some calls are possible only before lowering.
        calls.retain(|input| call(&lowered, &name, input, &LIMITS).is_ok());
        tally.not_called += u64::from(calls.is_empty());
        let agreement = same_behaviour(&lowered, &normal, &name, &calls, &LIMITS)?;
        tally.runs += agreement.compared as u64;
    }
    Ok(())
}

/// Returns calls of a lowered function. The arguments name their types before lowering.
fn lowered_inputs(module: &Body, name: &str, seed: u64) -> Option<Vec<Input>> {
    let calls = inputs(module, name, &mut Random::of_case(seed, 0))?;
    let (parameters, _) = interp::signature(module, name)?;
    let typed = |(text, ty): (String, &Type)| match text.contains(':') && text.contains('<') {
        true => text,
        false => {
            let ty = if ty.is_index() { Type::I64 } else { *ty };
            format!("{text} : {}", type_to_string(module.ctx(), ty))
        }
    };
    Some(calls.into_iter().map(|call| call.into_iter().zip(&parameters).map(typed).collect()).collect())
}

/// The limits of one run.
const LIMITS: interp::Limits = interp::Limits { steps: 200_000, call_depth: 200, memory: 1 << 26 };

fn functions(module: &Body) -> Vec<String> {
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let names = blocks.flat_map(|block| module.ops(block)).filter_map(|op| symbol_name(module, op));
    names.map(|name| module.ctx().str(name).to_owned()).collect()
}
