//! Reading the custom form of an operation: what a `syntax (parse, print)` hook, a custom directive or a dialect's type
//! works with.
//!
//! An [`OpParser`] stands behind the operation's name. Every method reads what it is named after, leaves the rest, and on failure
//! yields the diagnostic that the hook passes on with `?`. Methods called `accept…` and `parse_optional_…` read nothing
//! when what they look for is not there.

use crate::affine::{AffineMap, IntegerSet};
use crate::attributes::{Attr, Dict};
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::Context;
use crate::diagnostics::Diagnostic;
use crate::entity::{Block, Value};
use crate::location::Loc;
use crate::opdef::OpDef;
use crate::text::ParseResult;
use crate::types::Type;

/// An operand as it is written, `%x` or `%x#1`: the value it names may be defined further down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnresolvedOperand {
    /// First byte of the name, behind the percent sign.
    pub(crate) start: u32,
    /// The byte after the name.
    pub(crate) end: u32,
    /// Which of the values of the name.
    pub(crate) number: u32,
}

/// An argument of a region as it is written: `%i: index {attrs} loc(…)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Its name.
    pub operand: UnresolvedOperand,
    /// Its type; `none` if it is written elsewhere and not known yet.
    pub ty: Type,
    /// Its attributes.
    pub attrs: Dict,
    /// Its location.
    pub loc: Loc,
}

/// What stands around a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delimiter {
    /// Nothing: at least one element.
    None,
    /// `(…)`.
    Paren,
    /// `[…]`.
    Square,
    /// `<…>`.
    LessGreater,
    /// `{…}`.
    Braces,
    /// `(…)` or nothing at all.
    OptionalParen,
    /// `[…]` or nothing at all.
    OptionalSquare,
    /// `<…>` or nothing at all.
    OptionalLessGreater,
    /// `{…}` or nothing at all.
    OptionalBraces,
}

/// Reads the custom form of an operation. See the [module](self).
pub struct OpParser<'p, 's> {
    _p: std::marker::PhantomData<(&'p mut (), &'s ())>,
}

#[allow(clippy::todo, unused_variables, clippy::missing_errors_doc)]
impl<'s> OpParser<'_, 's> {
    /// The context.
    pub fn ctx(&self) -> &'s Context {
        todo!()
    }
    /// The place of the next token.
    pub fn loc(&self) -> Loc {
        todo!()
    }
    /// The body that the operation will stand in.
    pub fn body(&self) -> &Body {
        todo!()
    }
    /// The type of a value that is resolved.
    pub fn type_of(&self, value: Value) -> Type {
        self.body().value_type(value)
    }
    /// An error at a place, to be returned.
    pub fn error(&self, loc: Loc, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(loc, message))
    }
    /// The name the operation's results are given in text, without the percent sign and with its number of values.
    pub fn result_name(&self, index: usize) -> Option<(&'s str, usize)> {
        todo!()
    }

    // Punctuation and keywords.

    /// Reads a piece of punctuation if it is next: one of `( ) [ ] { } < > , : :: = -> + - * ? | / ...`.
    pub fn accept(&mut self, punctuation: &str) -> bool {
        todo!()
    }
    /// Reads a piece of punctuation.
    pub fn expect(&mut self, punctuation: &str) -> ParseResult<()> {
        todo!()
    }
    /// Reads a given keyword if it is next.
    pub fn accept_keyword(&mut self, keyword: &str) -> bool {
        todo!()
    }
    /// Reads a given keyword.
    pub fn expect_keyword(&mut self, keyword: &str) -> ParseResult<()> {
        todo!()
    }
    /// Reads any keyword.
    pub fn parse_keyword(&mut self) -> ParseResult<&'s str> {
        todo!()
    }
    /// Reads any keyword if one is next.
    pub fn parse_optional_keyword(&mut self) -> Option<&'s str> {
        todo!()
    }
    /// Reads elements separated by commas.
    pub fn parse_list<T>(
        &mut self,
        delimiter: Delimiter,
        mut element: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        todo!()
    }

    // Operands.

    /// Reads `%x`.
    pub fn parse_operand(&mut self) -> ParseResult<UnresolvedOperand> {
        todo!()
    }
    /// Reads `%x` if it is next.
    pub fn parse_optional_operand(&mut self) -> ParseResult<Option<UnresolvedOperand>> {
        todo!()
    }
    /// Reads operands separated by commas. With `Delimiter::None` there may be none.
    pub fn parse_operand_list(&mut self, delimiter: Delimiter) -> ParseResult<Vec<UnresolvedOperand>> {
        todo!()
    }
    /// The value that an operand names, which is of type `ty`.
    pub fn resolve(&mut self, operand: UnresolvedOperand, ty: Type) -> ParseResult<Value> {
        todo!()
    }
    /// The values that operands name; an error at `loc` if there are more or fewer types.
    pub fn resolve_all(
        &mut self,
        operands: &[UnresolvedOperand],
        types: &[Type],
        loc: Loc,
    ) -> ParseResult<Vec<Value>> {
        todo!()
    }

    // Types.

    /// Reads a type.
    pub fn parse_type(&mut self) -> ParseResult<Type> {
        todo!()
    }
    /// Reads a type if one is next.
    pub fn parse_optional_type(&mut self) -> ParseResult<Option<Type>> {
        todo!()
    }
    /// Reads `: type`.
    pub fn parse_colon_type(&mut self) -> ParseResult<Type> {
        todo!()
    }
    /// Reads at least one type, separated by commas.
    pub fn parse_type_list(&mut self) -> ParseResult<Vec<Type>> {
        todo!()
    }
    /// Reads `-> type` or `-> (type, type)`.
    pub fn parse_arrow_types(&mut self) -> ParseResult<Vec<Type>> {
        todo!()
    }
    /// Reads `-> type` or `-> (type, type)`; no types if no arrow is next.
    pub fn parse_optional_arrow_types(&mut self) -> ParseResult<Vec<Type>> {
        todo!()
    }
    /// Reads the sizes of a shape, `4x?x` before an element type (`trailing_x`) or `4x?` alone; `?` only if `dynamic`.
    pub fn parse_dimension_list(&mut self, dynamic: bool, trailing_x: bool) -> ParseResult<Vec<i64>> {
        todo!()
    }

    // Attributes.

    /// Reads an attribute. With a type, no `: type` is read behind a number or literal: it is of that type.
    pub fn parse_attr(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        todo!()
    }
    /// Reads an attribute if one is next.
    pub fn parse_optional_attr(&mut self, ty: Option<Type>) -> ParseResult<Option<Attr>> {
        todo!()
    }
    /// Reads a number that fits 64 bits, with or without a minus sign.
    pub fn parse_integer(&mut self) -> ParseResult<i64> {
        todo!()
    }
    /// Reads a number if one is next.
    pub fn parse_optional_integer(&mut self) -> ParseResult<Option<i64>> {
        todo!()
    }
    /// Reads a string in quotes; bytes that are no UTF-8 are an error.
    pub fn parse_string(&mut self) -> ParseResult<String> {
        todo!()
    }
    /// Reads a string in quotes if one is next.
    pub fn parse_optional_string(&mut self) -> ParseResult<Option<String>> {
        todo!()
    }
    /// Reads `@name`; the attribute is the string `"name"`.
    pub fn parse_symbol_name(&mut self) -> ParseResult<Attr> {
        todo!()
    }
    /// Reads `@name` if it is next.
    pub fn parse_optional_symbol_name(&mut self) -> ParseResult<Option<Attr>> {
        todo!()
    }
    /// Reads an affine map, `affine_map<…>` or an alias of one.
    pub fn parse_affine_map(&mut self) -> ParseResult<AffineMap> {
        todo!()
    }
    /// Reads an integer set, `affine_set<…>` or an alias of one.
    pub fn parse_integer_set(&mut self) -> ParseResult<IntegerSet> {
        todo!()
    }
    /// Reads an affine map over values in place of dimensions and symbols, `[%i + 1, %j * symbol(%n)]`: the map, and its operands, dimensions
    /// first.
    pub fn parse_affine_map_of_ssa_ids(
        &mut self,
        delimiter: Delimiter,
    ) -> ParseResult<(AffineMap, Vec<UnresolvedOperand>, u32)> {
        todo!()
    }
    /// Reads `{name = attribute, …}` if it is next. Inherent attributes go where they belong.
    pub fn parse_optional_attr_dict(&mut self, state: &mut OperationState) -> ParseResult<()> {
        todo!()
    }
    /// Reads `attributes {name = attribute, …}` if it is next.
    pub fn parse_optional_attr_dict_with_keyword(&mut self, state: &mut OperationState) -> ParseResult<()> {
        todo!()
    }
    /// Reads `loc(…)` if it is next.
    pub fn parse_optional_loc(&mut self) -> ParseResult<Option<Loc>> {
        todo!()
    }

    // Regions and successors.

    /// Reads `%name` or, `with_type`, `%name: type {attributes} loc(…)`.
    pub fn parse_argument(&mut self, with_type: bool) -> ParseResult<Argument> {
        todo!()
    }
    /// Reads arguments separated by commas.
    pub fn parse_argument_list(
        &mut self,
        delimiter: Delimiter,
        with_types: bool,
    ) -> ParseResult<Vec<Argument>> {
        todo!()
    }
    /// Reads `{…}` as one more region of the operation. `arguments` become those of its entry block.
    pub fn parse_region(&mut self, state: &mut OperationState, arguments: &[Argument]) -> ParseResult<()> {
        todo!()
    }
    /// Reads `{…}` as one more region if a brace is next; returns whether it was.
    pub fn parse_optional_region(
        &mut self,
        state: &mut OperationState,
        arguments: &[Argument],
    ) -> ParseResult<bool> {
        todo!()
    }
    /// Adds one more region, without blocks.
    pub fn add_empty_region(&mut self, state: &mut OperationState) {
        todo!()
    }
    /// Makes the region read last the first one, for operations that write them in another order than they have.
    pub fn move_last_region_to_front(&mut self, state: &mut OperationState) {
        todo!()
    }
    /// Reads one affine expression over values in place of dimensions and symbols, `%i + symbol(%n)`, adding the values to `dims` and `symbols`
    /// unless they are there: values read before keep their positions.
    pub fn parse_affine_expr_of_ssa_ids(
        &mut self,
        dims: &mut Vec<UnresolvedOperand>,
        symbols: &mut Vec<UnresolvedOperand>,
    ) -> ParseResult<crate::affine::AffineExpr> {
        todo!()
    }
    /// Sees to it that region `index` read so far has a block that ends in a terminator: adds a block if there is none, and an operation of `def`
    /// without operands if its one block lacks it.
    pub fn ensure_terminator(&mut self, state: &mut OperationState, index: usize, def: &'static OpDef) {
        todo!()
    }
    /// Reads `^block`.
    pub fn parse_successor(&mut self) -> ParseResult<Block> {
        todo!()
    }
    /// Reads `^block` or `^block(%a, %b : i32, f32)`.
    pub fn parse_successor_and_operands(&mut self) -> ParseResult<(Block, Vec<Value>)> {
        todo!()
    }
}
