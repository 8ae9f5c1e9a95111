//! Modules: a program, its version, and the numbers that Python knows parts of it by.
//!
//! Readers share the program. Long work changes a copy, which replaces the program at the end if
//! nothing else did so in the meantime. Small edits are made in place, or in a copy if a reader
//! still has the program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use loomir::ir::text::{self, PrintOptions};
use loomir::ir::{Block, Body, Diagnostics, Op, Value, verifier};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::context::{Context, Shared};
use crate::error::{self, Source};
use crate::handles::{self, BodyNumber, Entity, Handles};
use crate::work::on_thread;

/// A program.
#[pyclass(frozen, module = "loomir._loomir")]
pub(crate) struct Module {
    pub(crate) shared: Arc<Shared>,
    state: Mutex<State>,
    /// The texts that locations refer to.
    pub(crate) sources: Arc<Vec<Source>>,
}

/// The parts of a module that change.
pub(crate) struct State {
    pub(crate) body: Arc<Body>,
    /// Grows with each change.
    version: u64,
    /// True while an edit is made, and for ever if the edit panicked.
    is_damaged: bool,
    pub(crate) handles: Handles,
}

/// The reason why a small step was refused, as a sentence.
pub(crate) type Refused = String;

impl Module {
    pub(crate) fn new(shared: Arc<Shared>, body: Body, sources: Vec<Source>) -> Module {
        let state =
            State { body: Arc::new(body), version: 0, is_damaged: false, handles: Handles::default() };
        Module { shared, state: Mutex::new(state), sources: Arc::new(sources) }
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held: `look` catches it.
        self.state.lock_py_attached(py).unwrap_or_else(|poison| poison.into_inner())
    }

    pub(crate) fn context_object(&self) -> Context {
        Context { shared: self.shared.clone() }
    }

    /// Returns the program as it is now.
    pub(crate) fn body(&self, py: Python<'_>) -> Arc<Body> {
        self.lock(py).body.clone()
    }

    pub(crate) fn error(&self, py: Python<'_>, errors: &Diagnostics) -> PyErr {
        error::of(py, &self.shared.ctx, errors, &self.sources)
    }

    /// Looks at the program, for a moment.
    pub(crate) fn look<T>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut State) -> Result<T, Refused>,
    ) -> PyResult<T> {
        let mut state = self.lock(py);
        if state.is_damaged {
            drop(state);
            return Err(error::plain(py, "an earlier step damaged the module; parse it again"));
        }
        let result = catch_unwind(AssertUnwindSafe(|| f(&mut state)));
        drop(state);
        match result {
            Ok(result) => result.map_err(|refused| error::plain(py, &refused)),
            Err(_) => Err(error::defect(py)),
        }
    }

    /// Changes the program, for a moment. Steps that are refused have to change nothing.
    pub(crate) fn edit<T>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut State) -> Result<T, Refused>,
    ) -> PyResult<T> {
        self.look(py, |state| {
            if Arc::get_mut(&mut state.body).is_none() {
                state.body = Arc::new(state.body.snapshot());
            }
            state.is_damaged = true;
            let done = f(state);
            state.is_damaged = false;
            state.version += u64::from(done.is_ok());
            done
        })
    }

    /// Works on a verified copy of the program, which then replaces it.
    pub(crate) fn transform<T: Send + 'static>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Body) -> Result<T, Diagnostics> + Send + 'static,
    ) -> PyResult<T> {
        let (before, version) = {
            let state = self.lock(py);
            (state.body.clone(), state.version)
        };
        let done = on_thread(py, move || {
            verified(&before)?;
            let mut body = before.snapshot();
            let result = f(&mut body)?;
            verified(&body)?;
            Ok((body, result))
        })?;
        let (body, result) = done.map_err(|errors: Diagnostics| self.error(py, &errors))?;
        let mut state = self.lock(py);
        if state.version != version {
            drop(state);
            let text = "the module was changed while other work on it ran; the work is dropped. \
                        Let one thread at a time change a module";
            return Err(error::plain(py, text));
        }
        state.body = Arc::new(body);
        state.version += 1;
        state.handles.end_all();
        Ok(result)
    }

    /// Reads a verified program, on a thread of its own.
    pub(crate) fn study<T: Send + 'static>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&Body) -> Result<T, Diagnostics> + Send + 'static,
    ) -> PyResult<T> {
        let body = self.body(py);
        let done = on_thread(py, move || {
            verified(&body)?;
            f(&body)
        })?;
        done.map_err(|errors| self.error(py, &errors))
    }
}

fn verified(body: &Body) -> Result<(), Diagnostics> {
    let errors = verifier::verify(body);
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

impl State {
    /// Returns an operation by its number, with the number of the body it stands in.
    pub(crate) fn op(&self, number: u64) -> Result<(BodyNumber, Op), Refused> {
        match self.handles.entity(number) {
            Some((body, Entity::Op(op))) => Ok((body, op)),
            Some(_) => Err("an operation is expected, and this is a block".into()),
            None => Err(gone("operation")),
        }
    }

    /// Returns a block by its number, with the number of the body it stands in.
    pub(crate) fn block(&self, number: u64) -> Result<(BodyNumber, Block), Refused> {
        match self.handles.entity(number) {
            Some((body, Entity::Block(block))) => Ok((body, block)),
            Some(_) => Err("a block is expected, and this is an operation".into()),
            None => Err(gone("block")),
        }
    }

    /// Returns a value by what defines it.
    pub(crate) fn value(&self, (number, index): (u64, usize)) -> Result<(BodyNumber, Value), Refused> {
        let (at, entity) = self.handles.entity(number).ok_or_else(|| gone("definition of this value"))?;
        let value = handles::value(self.at(at)?, entity, index);
        Ok((at, value.ok_or("there is no such result or argument")?))
    }

    /// Returns a body by its number.
    pub(crate) fn at(&self, number: BodyNumber) -> Result<&Body, Refused> {
        self.handles.body(&self.body, number).ok_or_else(|| gone("operation around this one"))
    }

    /// Returns a body by its number, to change.
    pub(crate) fn at_mut(&mut self, number: BodyNumber) -> Result<&mut Body, Refused> {
        let module = Arc::get_mut(&mut self.body).ok_or("the module is in use")?;
        self.handles.body_mut(module, number).ok_or_else(|| gone("operation around this one"))
    }

    /// Returns the body that holds the regions of an operation, and the operation in it.
    pub(crate) fn inner(&mut self, number: u64) -> Result<(BodyNumber, Op), Refused> {
        let (at, op) = self.op(number)?;
        match self.at(at)?.nested(op).map(Body::root) {
            Some(root) => Ok((self.handles.inside(at, op), root)),
            None => Ok((at, op)),
        }
    }
}

fn gone(kind: &str) -> Refused {
    format!(
        "the {kind} is no longer there: it was erased, or the module was rewritten by a pass. \
         Look it up again in the module"
    )
}

#[pymethods]
impl Module {
    /// The context.
    #[getter]
    fn context(&self) -> Context {
        self.context_object()
    }

    /// Returns the text, in generic form if that is asked for or the module is not well formed.
    fn print(&self, py: Python<'_>, generic: bool, locations: bool) -> PyResult<String> {
        let body = self.body(py);
        on_thread(py, move || {
            let generic = generic || verifier::verify(&body).has_errors();
            text::print(&body, &PrintOptions { generic, debug_info: locations, ..PrintOptions::default() })
        })
    }

    /// Returns everything that is wrong with the module.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let body = self.body(py);
        let errors = on_thread(py, move || verifier::verify(&body))?;
        error::list(py, &self.shared.ctx, &errors)
    }

    /// Raises `loomir.Error` if something is wrong with the module.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.study(py, |_| Ok(()))
    }

    /// Returns the module as LLVM IR, lowered in a copy.
    fn to_ll(&self, py: Python<'_>) -> PyResult<String> {
        self.study(py, loomir::to_ll)
    }

    /// Returns a module of its own with the same program.
    fn clone(&self, py: Python<'_>) -> Module {
        let state = State { body: self.body(py), version: 0, is_damaged: false, handles: Handles::default() };
        Module { shared: self.shared.clone(), state: Mutex::new(state), sources: self.sources.clone() }
    }

    /// Makes the program that of another module of the same context.
    fn restore(&self, py: Python<'_>, other: &Module) -> PyResult<()> {
        if !Arc::ptr_eq(&self.shared, &other.shared) {
            return Err(error::plain(py, "the two modules belong to two contexts"));
        }
        let body = other.body(py);
        let mut state = self.lock(py);
        state.body = body;
        state.version += 1;
        state.handles.end_all();
        Ok(())
    }
}
