//! Functions in the interpreter, and the signatures that compiled code is called by.

use loomir::dialects::interp::outcome::{Contents, Number, NumberKind};
use loomir::dialects::interp::{self, Limits, Output};
use loomir::ir::FloatKind;
use loomir::{Engine, execute};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error;
use crate::module::Module;
use crate::types::Type;

/// Executes a function in the interpreter. Arguments are texts, as `loomir run` takes them. The
/// limits are operations and bytes.
#[pyfunction]
pub(crate) fn interpret<'py>(
    module: &Module,
    py: Python<'py>,
    function: String,
    arguments: Vec<String>,
    limits: (u64, u64),
) -> PyResult<Bound<'py, PyDict>> {
    let outcome = module.study(py, move |body| {
        let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let limits = Limits { steps: limits.0, memory: limits.1, ..Limits::default() };
        // The interpreter changes nothing; compiled engines would.
        execute(&mut body.duplicate(), &function, &texts, Engine::Interpreter, &limits)
    })?;
    let result = PyDict::new(py);
    let results = PyList::empty(py);
    outcome.results.iter().try_for_each(|own| results.append(output(py, own)?))?;
    let buffers = PyDict::new(py);
    outcome.buffers.iter().try_for_each(|(at, own)| buffers.set_item(at, output(py, own)?))?;
    result.set_item("results", results)?;
    result.set_item("buffers", buffers)?;
    result.set_item("printed", String::from_utf8_lossy(&outcome.printed))?;
    result.set_item("steps", outcome.steps)?;
    result.set_item("text", outcome.to_text())?;
    Ok(result)
}

/// Returns a value: a number, a tuple, nested lists, or `None` for what has no value in Python.
/// Recursion is bounded by the nesting of types.
fn output<'py>(py: Python<'py>, own: &Output) -> PyResult<Bound<'py, PyAny>> {
    Ok(match own {
        Output::Number(own) => number(py, own)?,
        Output::Contents(contents) => nested(py, contents)?,
        Output::Aggregate(parts) => {
            let parts = parts.iter().map(|own| output(py, own)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, parts)?.into_any()
        }
        Output::Pointer | Output::Freed => py.None().into_bound(py),
    })
}

fn number<'py>(py: Python<'py>, own: &Number) -> PyResult<Bound<'py, PyAny>> {
    let float = match own.kind {
        NumberKind::Integer(1) => return Ok((own.bits & 1 != 0).into_pyobject(py)?.to_owned().into_any()),
        NumberKind::Integer(width) if width <= 128 => {
            let unused = 128 - width.max(1);
            return Ok(((own.bits << unused) as i128 >> unused).into_pyobject(py)?.into_any());
        }
        NumberKind::Integer(_) | NumberKind::Unsigned(_) => {
            return Ok(own.bits.into_pyobject(py)?.into_any());
        }
        NumberKind::Float(kind) => kind,
    };
    let value = match float {
        FloatKind::F64 => f64::from_bits(own.bits as u64),
        FloatKind::F32 => f32::from_bits(own.bits as u32).into(),
        FloatKind::F16 | FloatKind::BF16 => own.to_string().parse().unwrap_or(f64::NAN),
        // The bits, for formats that Python has no number for.
        _ => return Ok(own.bits.into_pyobject(py)?.into_any()),
    };
    Ok(value.into_pyobject(py)?.into_any())
}

/// Returns the elements as nested lists, or the one element of a memref without dimensions.
fn nested<'py>(py: Python<'py>, contents: &Contents) -> PyResult<Bound<'py, PyAny>> {
    let mut level = contents.numbers.iter().map(|own| number(py, own)).collect::<PyResult<Vec<_>>>()?;
    if contents.parts > 1 {
        let parts = level.chunks(contents.parts).map(|parts| Ok(PyTuple::new(py, parts)?.into_any()));
        level = parts.collect::<PyResult<Vec<_>>>()?;
    }
    for (at, size) in contents.sizes.iter().enumerate().rev() {
        let outer: i64 = contents.sizes[..at].iter().product();
        let size = usize::try_from(*size).unwrap_or(0);
        let lists = (0..usize::try_from(outer).unwrap_or(0)).map(|own| {
            let part = level.get(own * size..(own + 1) * size).unwrap_or_default();
            Ok(PyList::new(py, part)?.into_any())
        });
        level = lists.collect::<PyResult<Vec<_>>>()?;
    }
    Ok(level.into_iter().next().unwrap_or_else(|| PyList::empty(py).into_any()))
}

/// Returns the types of the parameters and results of a function.
#[pyfunction]
pub(crate) fn signature(module: &Module, py: Python<'_>, function: &str) -> PyResult<(Vec<Type>, Vec<Type>)> {
    let found = interp::signature(&module.body(py), function);
    let Some((parameters, results)) = found else {
        return Err(error::plain(py, &format!("the module has no function `@{function}`")));
    };
    let all = |types: Vec<loomir::ir::Type>| {
        types.into_iter().map(|ty| Type::new(module.shared.clone(), ty)).collect()
    };
    Ok((all(parameters), all(results)))
}
