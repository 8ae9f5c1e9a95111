//! Declarative assembly formats: MLIR's format language, parsed when an operation is registered and interpreted in both directions.

use crate::attributes::Attr;
use crate::body::OpRef;
use crate::builder::OperationState;
use crate::entity::{Block, Value};
use crate::opdef::OpDef;
use crate::text::{OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use crate::types::Type;

/// A custom directive of a dialect: `custom<Name>(…)` in a format calls it by its name.
#[derive(Clone, Copy, Debug)]
pub struct DirectiveDef {
    /// The name between `<` and `>`.
    pub name: &'static str,
    /// Reads it. Arguments that were read before (`ref(…)`) come filled in, the others are for the function to fill.
    pub parse: fn(&mut OpParser<'_, '_>, &mut OperationState, &mut [DirectiveArg]) -> ParseResult<()>,
    /// Writes it. All arguments come filled in.
    pub print: fn(&mut OpPrinter<'_>, OpRef<'_>, &[DirectiveArg]),
}

/// An argument of a custom directive, in the order they are written in the format.
#[derive(Clone, Debug)]
pub enum DirectiveArg {
    /// `$operand` when reading: none, one or many.
    Operands(Vec<UnresolvedOperand>),
    /// `$operand` when writing.
    Values(Vec<Value>),
    /// `type($operand)` or `type($result)`.
    Types(Vec<Type>),
    /// `$attr`.
    Attr(Option<Attr>),
    /// `$successor`.
    Successors(Vec<Block>),
    /// `$region`, by its index. To read one, call [`OpParser::parse_region`].
    Region(usize),
}

/// A parsed declarative assembly format.
#[derive(Debug)]
pub struct Format {}

impl Format {
    /// Parses the format of a definition.
    pub fn parse(_def: &OpDef, _directives: &[DirectiveDef]) -> Result<Format, String> {
        Ok(Format {})
    }

    pub(crate) fn read(
        &self,
        _def: &OpDef,
        parser: &mut OpParser<'_, '_>,
        _state: &mut OperationState,
    ) -> ParseResult<()> {
        Err(parser.error_here("not yet"))
    }

    pub(crate) fn write(&self, _def: &OpDef, _printer: &mut OpPrinter<'_>, _op: OpRef<'_>) {}
}
