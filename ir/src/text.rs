//! MLIR's text: reading and printing modules.
//!
//! [`parse`] reads the generic form of any operation, registered or not, and the custom form of
//! those that are; [`print()`] writes both, byte for byte as `mlir-opt` does. How an operation's
//! custom form looks is said by its definition: a declarative format ([`Format`], which its module
//! describes), or two functions that work with [`OpParser`] and [`OpPrinter`]. Names of values come
//! from [`AsmNames`].
//!
//! Reading never panics, whatever the input: every error is a diagnostic with its place, and
//! reading goes on at the next operation. Both ways are linear in the text. Nothing is verified
//! here.
//!
//! # Limits
//!
//! - Of 8,552 files of MLIR's own tests in generic form, seven are printed differently: `mlir-opt`
//!   itself reprints two differently, four use aliases that its C++ test dialect invents, and one
//!   has two attributes of one text.

use crate::affine::AffineMap;
use crate::attributes::Attr;
use crate::body::{Body, OpRef};
use crate::context::{Context, Name};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::location::Loc;
use crate::opdef::{AttrConstraint, OpDef, Presence};
use crate::types::Type;

mod float;
mod format;
mod lexer;
mod op_parser;
mod op_printer;
pub mod outline;
mod parser;
mod printer;
mod split;

pub use format::{DirectiveArg, DirectiveDef, Format};
pub use op_parser::{Argument, Delimiter, OpParser, UnresolvedOperand};
pub use op_printer::{AsmNames, OpPrinter};
pub use split::{Chunk, SPLIT_MARKER, split_source};

/// A parse step: its value, or a diagnostic that says why not.
pub type ParseResult<T> = Result<T, Box<Diagnostic>>;

/// The settings with which a module is printed.
#[derive(Clone, Debug, Default)]
pub struct PrintOptions {
    /// Every operation in generic form.
    pub generic: bool,
    /// With locations.
    pub debug_info: bool,
    /// Locations in a form for readers, not for parsers.
    pub pretty_debug_info: bool,
    /// Without what stands outside the operation: aliases of attributes and types, and resources.
    pub local_scope: bool,
    /// Every number and name of a value is used once in the whole text, as in generic form.
    pub unique_ssa_ids: bool,
    /// Values are called what their locations call them (`loc("sum")`), where one has a name.
    pub nameloc_as_prefix: bool,
    /// Regions are written `{...}`.
    pub skip_regions: bool,
    /// Elements attributes with more elements are written `dense_resource<__elided__>`.
    pub elide_elements_larger_than: Option<usize>,
    /// Resources whose text is longer, with its quotes, are left out.
    pub elide_resources_longer_than: Option<usize>,
}

/// The settings with which a file is read.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// The number of the first line, in files that are read in pieces.
    pub first_line: u32,
    /// True if operations, types and attributes that nobody registered are read, as opaque things
    /// nothing is known of.
    pub allow_unregistered_dialects: bool,
    /// True if a module is made around what the file holds if that isn't one module. Otherwise the
    /// file must hold one operation, isolated from above, which becomes the root.
    pub implicit_module: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { first_line: 1, allow_unregistered_dialects: true, implicit_module: true }
    }
}

/// Reads a file. The result is the body of its one `builtin.module`, or of one made around what the
/// file holds. Nothing is verified.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse(ctx: &Context, source: &str, file_name: &str) -> Result<Body, Diagnostics> {
    parse_with(ctx, source, file_name, &ParseOptions::default())
}

/// Reads a file as [`parse`], as the options say.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse_with(
    ctx: &Context,
    source: &str,
    file_name: &str,
    options: &ParseOptions,
) -> Result<Body, Diagnostics> {
    parser::Parser::new(ctx, source, file_name, options).run()
}

/// Reads a file with its outline, and goes on after errors. The module holds what could be read.
/// Nothing is verified.
pub fn parse_with_outline(
    ctx: &Context,
    source: &str,
    file_name: &str,
    options: &ParseOptions,
) -> outline::Outlined {
    parser::Parser::new(ctx, source, file_name, options).run_with_outline()
}

/// Prints a body's root with all it holds, and a line break at the end.
pub fn print(body: &Body, options: &PrintOptions) -> String {
    printer::print(body, options)
}

/// Writes an operation alone, with all it holds. Values are called what they are in the text of the
/// body around it.
pub fn print_op(op: OpRef<'_>, options: &PrintOptions) -> String {
    printer::print_op(op, options)
}

/// An inherent attribute with the value that nothing written stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefaultAttr {
    /// Its name.
    pub name: Name,
    /// The value.
    pub value: Attr,
    /// True if it is set when absent, or stays absent and only means the value.
    pub is_set: bool,
}

/// The default values of a definition's attributes.
pub(crate) fn default_attrs_of(ctx: &Context, def: &OpDef) -> Vec<DefaultAttr> {
    let mut defaults = Vec::new();
    for attr in def.attrs.iter() {
        let (text, is_set) = match &attr.presence {
            Presence::Default(text) => (text, true),
            Presence::Implied(text) => (text, false),
            Presence::Required | Presence::Optional => continue,
        };
        // A text that is no attribute is a defect of the definition, which the dialect's tests
        // find.
        if let Ok(value) = parse_attr_as(ctx, text, &attr.constraint) {
            defaults.push(DefaultAttr { name: ctx.name(&attr.name), value, is_set });
        }
    }
    defaults
}

fn parse_attr_as(ctx: &Context, text: &str, constraint: &AttrConstraint) -> ParseResult<Attr> {
    if let AttrConstraint::Enum(def) = constraint
        && let Some(value) = def.value_of(text)
    {
        return Ok(def.attr(ctx, value));
    }
    parse_attr(ctx, text)
}

/// A type's text, without aliases.
pub fn type_to_string(ctx: &Context, ty: Type) -> String {
    printer::type_text(ctx, ty)
}

/// An attribute's text, without aliases.
pub fn attr_to_string(ctx: &Context, attr: Attr) -> String {
    printer::attr_text(ctx, attr)
}

/// A location's text, without `loc(` and `)`.
pub fn loc_to_string(ctx: &Context, loc: Loc) -> String {
    printer::with_printer(ctx, |p| p.location(loc, false, true))
}

/// An affine map's text, `(d0) -> (d0)`.
pub fn map_to_string(ctx: &Context, map: AffineMap) -> String {
    printer::with_printer(ctx, |p| p.map_itself(map))
}

/// Reads a type.
///
/// # Errors
/// If `text` is anything but one type.
pub fn parse_type(ctx: &Context, text: &str) -> ParseResult<Type> {
    parser::Parser::new(ctx, text, "type", &ParseOptions::default()).whole(|p| p.ty())
}

/// Reads an attribute.
///
/// # Errors
/// If `text` is anything but one attribute.
pub fn parse_attr(ctx: &Context, text: &str) -> ParseResult<Attr> {
    parser::Parser::new(ctx, text, "attribute", &ParseOptions::default()).whole(|p| p.attr(None))
}
