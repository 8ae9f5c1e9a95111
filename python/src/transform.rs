//! Passes, schedules, fusion, and the explanation of what fusion does.

use std::collections::BTreeMap;

use loomir::ir::pass::{EditLimit, PassInstrumentor};
use loomir::ir::{Body, Diagnostic, Diagnostics, Loc};
use loomir::transforms::cost::Machine;
use loomir::{AliasMode, Analyses, ContractionOptions, CostSource, FuseOptions, ProgramOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error;
use crate::module::Module;

/// Runs passes, given as text. Returns their remarks.
#[pyfunction]
pub(crate) fn run_passes<'py>(
    module: &Module,
    py: Python<'py>,
    pipeline: String,
) -> PyResult<Bound<'py, PyList>> {
    let remarks = module.transform(py, move |body| {
        let read = loomir::passes().parse_for(&pipeline, body);
        let passes = read
            .map_err(|error| Diagnostics::from(Diagnostic::error(Loc::UNKNOWN, error.to_text(&pipeline))))?;
        let report = passes.run(body, &PassInstrumentor::new());
        if report.succeeded() { Ok(report.diagnostics) } else { Err(report.diagnostics) }
    })?;
    error::list(py, &module.shared.ctx, &remarks)
}

/// Runs a schedule, given as text. Returns its remarks.
#[pyfunction]
pub(crate) fn run_schedule<'py>(
    module: &Module,
    py: Python<'py>,
    schedule: String,
    file_name: String,
    alias: &str,
) -> PyResult<Bound<'py, PyList>> {
    let alias: AliasMode = alias.parse().map_err(|text: String| error::plain(py, &text))?;
    let schedule = module.context_object().parse(py, schedule, file_name)?.body(py);
    let report = module.transform(py, move |body| loomir::run_schedule(body, &schedule, alias))?;
    error::list(py, &module.shared.ctx, &report.remarks)
}

/// The options of fusion, as `loomir fuse` has them.
#[derive(FromPyObject)]
pub(crate) struct Fusion {
    alias: String,
    profitability: String,
    cost: String,
    /// A name, or a description.
    machine: String,
    max_shift: i64,
    shift_multiple: i64,
    max_tests: usize,
    unroll_and_jam: bool,
    limit: Option<u64>,
    analyses: BTreeMap<String, String>,
    contract: bool,
    optimize: bool,
    parallel: bool,
}

impl Fusion {
    fn options(&self) -> Result<FuseOptions, String> {
        if self.max_shift < 0 || self.shift_multiple < 0 {
            return Err("'max_shift' and 'shift_multiple' are not negative".into());
        }
        let mut analyses = Analyses::default();
        for (interface, name) in &self.analyses {
            analyses.choose(interface, name)?;
        }
        let cost: CostSource = self.cost.parse()?;
        let machine = Machine::named(&self.machine).map_or_else(|| self.machine.parse(), Ok)?;
        Ok(FuseOptions {
            alias: self.alias.parse()?,
            profitability: self.profitability.parse()?,
            cost: cost.cost(machine),
            analyses,
            max_shift: self.max_shift,
            shift_multiple: self.shift_multiple,
            max_tests: self.max_tests,
            unroll_and_jam: self.unroll_and_jam,
            edits: self.limit.map_or_else(EditLimit::default, EditLimit::at_most),
            ..FuseOptions::default()
        })
    }
}

/// Fuses loops and contracts arrays. Returns counts and remarks.
#[pyfunction]
pub(crate) fn fuse<'py>(module: &Module, py: Python<'py>, fusion: Fusion) -> PyResult<Bound<'py, PyDict>> {
    let options = fusion.options().map_err(|text| error::plain(py, &text))?;
    let done = module.transform(py, move |body| {
        let contraction = ContractionOptions::after(&options);
        let program = ProgramOptions {
            contraction: fusion.contract.then_some(&contraction),
            optimizes: fusion.optimize,
            parallel: fusion.parallel,
            ..ProgramOptions::of(&options)
        };
        let mut remarks = loomir::obey_directives(body, options.alias.untested())?.remarks;
        let fused = loomir::fuse_program(body, &program);
        for said in [fused.fusion.remarks, fused.contraction.remarks, fused.remarks] {
            remarks.append(said);
        }
        Ok((fused.fusion.fused, fused.fusion.refused, fused.edits, remarks))
    })?;
    let (fused, refused, edits, remarks) = done;
    let result = PyDict::new(py);
    result.set_item("fused", fused)?;
    result.set_item("refused", refused)?;
    result.set_item("other_edits", edits)?;
    result.set_item("remarks", error::list(py, &module.shared.ctx, &remarks)?)?;
    Ok(result)
}

/// Says of each pair of neighbouring loops if it may be fused, and why not. Changes nothing.
#[pyfunction]
pub(crate) fn explain<'py>(module: &Module, py: Python<'py>, fusion: Fusion) -> PyResult<Bound<'py, PyList>> {
    let options = fusion.options().map_err(|text| error::plain(py, &text))?;
    let remarks = module.study(py, move |body: &Body| {
        let options = FuseOptions { max_rounds: 1, ..options };
        let explained = loomir::explain(&mut body.duplicate(), &options);
        let mut remarks = explained.remarks();
        remarks.append(explained.fusion.remarks);
        Ok(remarks)
    })?;
    error::list(py, &module.shared.ctx, &remarks)
}
