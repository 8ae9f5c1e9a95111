//! Dialects from text files: a context that knows what files define.
//!
//! A file is a module with one or more `irdl.dialect`, and functions that say what operations
//! compute (see [`loomir_dialects::irdl`]). It is read twice: first for the definitions, with all
//! else skipped; then as a whole, in the context that knows the definitions.

use std::sync::Arc;

use loomir_dialects::irdl;
use loomir_dialects::irdl::meaning::Meanings;
use loomir_ir::text::outline::Outlined;
use loomir_ir::text::{ParseOptions, parse_with_outline};
use loomir_ir::{Body, Context, Diagnostics, Registry, verifier};

use crate::Failed;

/// A context that knows the dialects of files, and the meanings of their operations.
///
/// The meanings live as long as this. Without it, the operations are known, and cannot be executed
/// or lowered.
///
/// ```
/// let file = r#"
///   irdl.dialect @sat {
///     irdl.operation @double attributes {loomir.meaning = @double, loomir.traits = ["Pure"]} {
///       %0 = irdl.is i32
///       irdl.operands(x: %0)
///       irdl.results(y: %0)
///     }
///   }
///   func.func @double(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }"#;
/// let loaded = loomir::DialectFiles::load(loomir::registry(), &[("sat.irdl", file)])?;
/// let program = r#"func.func @f(%x: i32) -> i32 {
///   %0 = "sat.double"(%x) : (i32) -> i32
///   return %0 : i32
/// }"#;
/// let ctx = loaded.ctx();
/// let mut module = loomir::parse(ctx, program, "f.mlir").map_err(|d| d.to_text(ctx))?;
/// let outcome =
///     loomir::execute(&mut module, "f", &["21"], Default::default(), &Default::default());
/// assert_eq!(outcome.map_err(|d| d.to_text(ctx))?.to_text(), "result 0: 42\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DialectFiles {
    ctx: Context,
    names: Vec<String>,
    /// Owned for the operations of the context, which refer to them weakly.
    meanings: Vec<Arc<Meanings>>,
}

impl DialectFiles {
    /// Loads files, given by name and text, into a registry, and makes a context of it. A file may
    /// use the operations of those before it.
    ///
    /// # Errors
    /// Everything that is wrong with the first file that has errors.
    pub fn load(mut registry: Registry, files: &[(&str, &str)]) -> Result<DialectFiles, Failed> {
        let mut loaded = Vec::new();
        for (name, text) in files {
            loaded.push(definitions(&mut registry, name, text)?);
        }
        let names = loaded.iter().flat_map(|own: &irdl::Loaded| own.dialects.clone()).collect();
        let mut files_loaded = DialectFiles { ctx: Context::new(registry), names, meanings: Vec::new() };
        let ctx = files_loaded.ctx.clone();
        for ((name, text), loaded) in files.iter().zip(&loaded) {
            let made = whole(&ctx, name, text).and_then(|module| Meanings::new(&module, loaded));
            let made = made.map_err(|diagnostics| Failed::new(&ctx, diagnostics))?;
            files_loaded.meanings.push(made);
        }
        Ok(files_loaded)
    }

    /// Returns the names of the dialects, in the order of the files.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Returns the number of patterns in a file, counted from 0.
    pub fn num_patterns(&self, file: usize) -> usize {
        self.meanings.get(file).map_or(0, |own| own.patterns().len())
    }

    /// Returns the context.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }
}

/// Loads the definitions of a file into a registry.
fn definitions(registry: &mut Registry, name: &str, text: &str) -> Result<irdl::Loaded, Failed> {
    let ctx = crate::context();
    let Outlined { module, diagnostics, .. } = parse_with_outline(&ctx, text, name, &ParseOptions::default());
    let mut errors = Diagnostics::new();
    for op in module.all_ops() {
        let dialect = module.nested(op).filter(|body| body.is(body.root(), irdl::DialectOp::DEF));
        dialect.into_iter().for_each(|body| errors.append(verifier::verify(body)));
    }
    if errors.has_errors() {
        // What cannot be read is the cause of the rest. Alone it may be what is defined here.
        let cause = if diagnostics.has_errors() { diagnostics } else { errors };
        return Err(Failed::new(&ctx, cause));
    }
    irdl::load(registry, &module).map_err(|errors| Failed::new(&ctx, errors))
}

/// Reads a whole file in the context that knows its definitions.
fn whole(ctx: &Context, name: &str, text: &str) -> Result<Body, Diagnostics> {
    let options = ParseOptions { allow_unregistered_dialects: false, ..ParseOptions::default() };
    crate::parse_with(ctx, text, name, &options)
}
