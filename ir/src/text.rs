//! MLIR's text: reading and printing modules.

use crate::affine::AffineMap;
use crate::attributes::Attr;
use crate::body::Body;
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::location::Loc;
use crate::opdef::OpDef;
use crate::types::Type;

mod float;
mod format;
mod lexer;
mod op_parser;
mod op_printer;
mod parser;

pub use format::{DirectiveArg, DirectiveDef, Format};
pub use op_parser::{Argument, Delimiter, OpParser, UnresolvedOperand};
pub use op_printer::{AsmNames, OpPrinter};

/// A parse step: its value, or a diagnostic that says why not.
pub type ParseResult<T> = Result<T, Box<Diagnostic>>;

/// How a module is printed.
#[derive(Clone, Debug, Default)]
pub struct PrintOptions {
    /// Every operation in generic form.
    pub generic: bool,
    /// With locations.
    pub debug_info: bool,
    /// Locations in a form for readers, not for parsers.
    pub pretty_debug_info: bool,
    /// Without aliases of attributes and types.
    pub local_scope: bool,
    /// Elements attributes with more elements are written `dense_resource<__elided__>`.
    pub elide_elements_larger_than: Option<usize>,
}

/// Reads a file. The result is the body of its one `builtin.module`, or of one made around what the file holds. Nothing is verified.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse(ctx: &Context, source: &str, file_name: &str) -> Result<Body, Diagnostics> {
    parser::Parser::new(ctx, source, file_name).run()
}

/// Prints a body's root with all it holds, and a line break at the end.
#[allow(clippy::todo)]
pub fn print(_body: &Body, _options: &PrintOptions) -> String {
    todo!()
}

/// Names and values of the attributes with defaults.
pub fn default_attrs<'d>(_ctx: &Context, _def: &'d OpDef) -> Vec<(&'d str, Attr)> {
    Vec::new()
}

/// A type's text, without aliases.
#[allow(clippy::todo)]
pub fn type_to_string(_ctx: &Context, _ty: Type) -> String {
    todo!()
}

/// An attribute's text, without aliases.
#[allow(clippy::todo)]
pub fn attr_to_string(_ctx: &Context, _attr: Attr) -> String {
    todo!()
}

/// A location's text, without `loc(` and `)`.
#[allow(clippy::todo)]
pub fn loc_to_string(_ctx: &Context, _loc: Loc) -> String {
    todo!()
}

/// An affine map's text, `(d0) -> (d0)`.
#[allow(clippy::todo)]
pub fn map_to_string(_ctx: &Context, _map: AffineMap) -> String {
    todo!()
}

/// Reads a type.
///
/// # Errors
/// If `text` is anything but one type.
#[allow(clippy::todo)]
pub fn parse_type(_ctx: &Context, _text: &str) -> ParseResult<Type> {
    todo!()
}

/// Reads an attribute.
///
/// # Errors
/// If `text` is anything but one attribute.
#[allow(clippy::todo)]
pub fn parse_attr(_ctx: &Context, _text: &str) -> ParseResult<Attr> {
    todo!()
}
