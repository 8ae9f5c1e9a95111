//! The comparison of two modules: equal with a proof, different with an input, or not decided.

use loomir::check::execution::instance::Instance;
use loomir::check::execution::{Counterexample, Options, Tried};
use loomir::check::functions::{self, Function, Verdict};
use loomir::ir::Context;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error;
use crate::module::Module;

/// Compares two modules of one context, function by function. Returns a dictionary for each.
#[pyfunction]
pub(crate) fn check<'py>(
    before: &Module,
    after: &Module,
    py: Python<'py>,
    function: Option<String>,
    distinct: bool,
    max_inputs: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let ctx = &before.shared.ctx;
    if !std::sync::Arc::ptr_eq(&before.shared, &after.shared) {
        return Err(error::plain(py, "the two modules belong to two contexts"));
    }
    after.study(py, |_| Ok(()))?;
    let second = after.body(py);
    let compared = before.study(py, move |first| {
        let default = Options::default();
        let options = Options { distinct, inputs: max_inputs.unwrap_or(default.inputs), ..default };
        let prover = functions::prover(distinct);
        loomir::on_one_level(first, &second, |level| {
            let (one, other) = (level.before, level.after);
            functions::check(one, other, function.as_deref(), level.originals, &options, Some(&prover))
        })
        .map_err(|(_, errors)| errors)
    });
    let compared = compared?;
    let list = PyList::empty(py);
    for function in &compared {
        list.append(object(py, ctx, function)?)?;
    }
    Ok(list)
}

fn object<'py>(py: Python<'py>, ctx: &Context, function: &Function) -> PyResult<Bound<'py, PyDict>> {
    let none = Tried::default();
    let (answer, assumptions, reasons, tried, example) = match &function.verdict {
        Verdict::Identical => ("equal", Vec::new(), Vec::new(), none, None),
        Verdict::Proved(under) => ("equal", under.clone(), Vec::new(), none, None),
        Verdict::Different(example) => ("different", Vec::new(), Vec::new(), none, Some(&**example)),
        Verdict::Undecided(reasons, tried) => ("unknown", Vec::new(), reasons.clone(), *tried, None),
        Verdict::Unfit(unfit) => {
            ("unknown", Vec::new(), vec![format!("{}; {}", unfit.reason, unfit.help)], none, None)
        }
    };
    let object = PyDict::new(py);
    object.set_item("name", &function.name)?;
    object.set_item("answer", answer)?;
    object.set_item("location", error::place(py, ctx, function.loc)?)?;
    object.set_item("assumptions", assumptions)?;
    object.set_item("reasons", reasons)?;
    object.set_item("inputs_tried", tried.executed)?;
    object.set_item("counterexample", example.map(|own| counterexample(py, ctx, own)).transpose()?)?;
    Ok(object)
}

fn counterexample<'py>(
    py: Python<'py>,
    ctx: &Context,
    example: &Counterexample,
) -> PyResult<Bound<'py, PyDict>> {
    let object = PyDict::new(py);
    object.set_item("arguments", &example.arguments)?;
    object.set_item("place", example.difference.place.to_string())?;
    object.set_item("before", &example.difference.before)?;
    object.set_item("after", &example.difference.after)?;
    let [before, after] = &example.writers;
    for (key, writer) in [("written_before", before), ("written_after", after)] {
        object.set_item(key, writer.as_ref().map(|own| instance(py, ctx, own)).transpose()?)?;
    }
    Ok(object)
}

/// Returns a statement in one iteration.
fn instance<'py>(py: Python<'py>, ctx: &Context, own: &Instance) -> PyResult<Bound<'py, PyDict>> {
    let object = PyDict::new(py);
    object.set_item("operation", &own.operation)?;
    object.set_item("function", &own.function)?;
    object.set_item("location", error::place(py, ctx, own.loc)?)?;
    let iteration: Vec<i64> = own.loops.iter().flat_map(|own| own.variables.iter().copied()).collect();
    object.set_item("iteration", iteration)?;
    Ok(object)
}
