//! MLIR's text: reading and printing modules.

use crate::attributes::Attr;
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::opdef::OpDef;

/// A parse step: its value, or a diagnostic that says why not.
pub type ParseResult<T> = Result<T, Box<Diagnostic>>;

/// A parsed declarative assembly format.
#[derive(Debug)]
pub struct Format {}

impl Format {
    /// Parses a format.
    pub fn parse(_text: &str) -> Result<Format, String> {
        Ok(Format {})
    }
}

/// Reads the custom form of an operation.
pub struct OpParser<'p, 's> {
    _p: std::marker::PhantomData<(&'p (), &'s ())>,
}

/// Writes the custom form of an operation.
pub struct OpPrinter<'p> {
    _p: std::marker::PhantomData<&'p ()>,
}

/// Names and values of the attributes with defaults.
pub fn default_attrs<'d>(_ctx: &Context, _def: &'d OpDef) -> Vec<(&'d str, Attr)> {
    Vec::new()
}

/// A type as text, for diagnostics.
pub fn type_to_string(ctx: &Context, ty: crate::types::Type) -> String {
    format!("{:?}", ty.kind(ctx))
}

/// An attribute as text, for diagnostics.
pub fn attr_to_string(ctx: &Context, attr: Attr) -> String {
    format!("{:?}", attr.kind(ctx))
}
