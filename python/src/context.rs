//! Contexts: the dialects that programs are read with.

use std::sync::Arc;

use loomir::ir::text;
use loomir::{DialectFiles, ir};
use pyo3::prelude::*;

use crate::error::{self, Source};
use crate::module::Module;
use crate::types::{Attribute, Type};
use crate::work::on_thread;

/// The context of the intermediate representation, and the loaded dialects that it refers to.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) ctx: ir::Context,
    /// Owned, because the meanings of loaded operations live in it.
    _files: Option<DialectFiles>,
}

/// Loomir's dialects, and perhaps dialects of text files.
#[pyclass(frozen, module = "loomir._loomir")]
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl Context {
    /// Loads dialects, each given by the name and the text of its file.
    #[new]
    fn new(py: Python<'_>, files: Vec<Source>) -> PyResult<Context> {
        if files.is_empty() {
            let shared = Arc::new(Shared { ctx: loomir::context(), _files: None });
            return Ok(Context { shared });
        }
        let sources = files.clone();
        let loaded = on_thread(py, move || {
            let texts: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
            DialectFiles::load(loomir::registry(), &texts)
        })?;
        let files = loaded.map_err(|failed| error::of(py, failed.ctx(), failed.diagnostics(), &sources))?;
        Ok(Context { shared: Arc::new(Shared { ctx: files.ctx().clone(), _files: Some(files) }) })
    }

    /// Returns the names of the loaded dialects.
    fn dialects(&self) -> Vec<String> {
        let files = self.shared._files.as_ref();
        files.map_or(Vec::new(), |files| files.names().into_iter().map(str::to_owned).collect())
    }

    /// Reads and verifies a module.
    pub(crate) fn parse(&self, py: Python<'_>, source: String, file_name: String) -> PyResult<Module> {
        let shared = self.shared.clone();
        let named = (file_name, source);
        let (read, named) = on_thread(py, move || {
            let read = loomir::parse(&shared.ctx, &named.1, &named.0);
            (read, named)
        })?;
        match read {
            Ok(body) => Ok(Module::new(self.shared.clone(), body, vec![named])),
            Err(errors) => Err(error::of(py, &self.shared.ctx, &errors, &[named])),
        }
    }

    /// Reads a type.
    fn parse_type(&self, py: Python<'_>, source: String) -> PyResult<Type> {
        let ty = parse_with(py, &self.shared, source, "type", text::parse_type)?;
        Ok(Type::new(self.shared.clone(), ty))
    }

    /// Reads an attribute.
    fn parse_attribute(&self, py: Python<'_>, source: String) -> PyResult<Attribute> {
        let attr = parse_with(py, &self.shared, source, "attribute", text::parse_attr)?;
        Ok(Attribute::new(self.shared.clone(), attr))
    }
}

/// The length of a text that is read at once.
const SHORT: usize = 256;

/// Reads a type or an attribute. Errors show the text under `name`.
pub(crate) fn parse_with<T: Send + 'static>(
    py: Python<'_>,
    shared: &Arc<Shared>,
    source: String,
    name: &str,
    read: fn(&ir::Context, &str) -> text::ParseResult<T>,
) -> PyResult<T> {
    // A short text cannot nest deep.
    let (result, source) = match source.len() < SHORT {
        true => (read(&shared.ctx, &source), source),
        false => {
            let own = shared.clone();
            on_thread(py, move || (read(&own.ctx, &source), source))?
        }
    };
    result
        .map_err(|diagnostic| error::of(py, &shared.ctx, &(*diagnostic).into(), &[(name.to_owned(), source)]))
}
