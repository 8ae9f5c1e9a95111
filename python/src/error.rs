//! Diagnostics as Python objects, and `loomir.Error`, which carries them.

use loomir::ir::diagnostics::Arg;
use loomir::ir::{Context, Diagnostic, Diagnostics, Loc};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A text with its name, to show lines of.
pub(crate) type Source = (String, String);

/// Returns the exception that carries errors, with the text that the command shows.
pub(crate) fn of(py: Python<'_>, ctx: &Context, errors: &Diagnostics, sources: &[Source]) -> PyErr {
    let named: Vec<(&str, &str)> = sources.iter().map(|(name, text)| (&**name, &**text)).collect();
    let text = loomir::render(ctx, errors, &named, false);
    match list(py, ctx, errors) {
        Ok(objects) => raise(py, text.trim_end(), Some(objects)),
        Err(error) => error,
    }
}

/// Returns the exception of a mistake that has no place.
pub(crate) fn plain(py: Python<'_>, message: &str) -> PyErr {
    raise(py, message, None)
}

/// Returns the exception of a panic, which is a defect of Loomir.
pub(crate) fn defect(py: Python<'_>) -> PyErr {
    plain(py, "Loomir met a defect of its own; the module is as it was. Please report the program")
}

fn raise(py: Python<'_>, text: &str, diagnostics: Option<Bound<'_, PyList>>) -> PyErr {
    let make = || {
        let class = py.import("loomir._diagnostics")?.getattr("Error")?;
        class.call1((text, diagnostics.unwrap_or_else(|| PyList::empty(py))))
    };
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(_) => PyRuntimeError::new_err(text.to_owned()),
    }
}

/// Returns diagnostics as objects.
pub(crate) fn list<'py>(
    py: Python<'py>,
    ctx: &Context,
    diagnostics: &Diagnostics,
) -> PyResult<Bound<'py, PyList>> {
    let make = py.import("loomir._diagnostics")?.getattr("Diagnostic")?;
    let objects = PyList::empty(py);
    for own in diagnostics.iter() {
        objects.append(make.call((), Some(&fields(py, ctx, own)?))?)?;
    }
    Ok(objects)
}

fn fields<'py>(py: Python<'py>, ctx: &Context, own: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let notes = PyList::empty(py);
    for (loc, text) in &own.notes {
        notes.append((text, place(py, ctx, *loc)?))?;
    }
    let fields = PyDict::new(py);
    fields.set_item("severity", own.severity.name())?;
    fields.set_item("message", &own.message)?;
    fields.set_item("location", place(py, ctx, own.loc)?)?;
    fields.set_item("notes", notes)?;
    fields.set_item("help", &own.help)?;
    if let Some(remark) = &own.remark {
        fields.set_item("kind", remark.kind.name())?;
        fields.set_item("pass_name", remark.pass)?;
        fields.set_item("name", remark.name)?;
        fields.set_item("function", &remark.function)?;
        let facts = PyDict::new(py);
        for (key, arg) in &remark.args {
            facts.set_item(key, value(py, ctx, arg)?)?;
        }
        fields.set_item("facts", facts)?;
    }
    Ok(fields)
}

/// Returns a place as an object of Python, `None` if it is unknown.
pub(crate) fn place<'py>(py: Python<'py>, ctx: &Context, loc: Loc) -> PyResult<Bound<'py, PyAny>> {
    match loc.file_line_col(ctx) {
        Some((file, line, column)) => {
            py.import("loomir._diagnostics")?.getattr("Location")?.call1((file, line, column))
        }
        None => Ok(py.None().into_bound(py)),
    }
}

/// Returns a fact of a remark. Recursion is bounded by what passes nest, a few levels.
fn value<'py>(py: Python<'py>, ctx: &Context, arg: &Arg) -> PyResult<Bound<'py, PyAny>> {
    Ok(match arg {
        Arg::Number(number) => number.into_pyobject(py)?.into_any(),
        Arg::Text(text) => text.into_pyobject(py)?.into_any(),
        Arg::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Arg::Place(loc) => place(py, ctx, *loc)?,
        Arg::List(all) => {
            let list = PyList::empty(py);
            all.iter().try_for_each(|own| list.append(value(py, ctx, own)?))?;
            list.into_any()
        }
        Arg::Fields(all) => {
            let dict = PyDict::new(py);
            all.iter().try_for_each(|(key, own)| dict.set_item(key, value(py, ctx, own)?))?;
            dict.into_any()
        }
        Arg::Unknown => py.None().into_bound(py),
    })
}
