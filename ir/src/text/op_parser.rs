//! Reading the custom form of an operation: what a `syntax (parse, print)` hook, a custom directive
//! or a dialect's type works with.
//!
//! An [`OpParser`] stands behind the operation's name. Every method reads what it is named after,
//! leaves the rest, and on failure yields the diagnostic that the hook passes on with `?`. Methods
//! called `accept…` and `parse_optional_…` read nothing when what they look for is not there.

use crate::affine::{AffineExpr, AffineMap, IntegerSet};
use crate::attributes::{Attr, AttrKind, Dict};
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::{Context, Name};
use crate::diagnostics::Diagnostic;
use crate::entity::{Op, Value};
use crate::location::Loc;
use crate::opdef::EnumDef;
use crate::text::ParseResult;
use crate::text::lexer::{Kind, unescape};
use crate::text::parser::{Parser, ResultGroup};
use crate::types::Type;

mod regions;

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

/// The brackets around a list.
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

/// Reads the custom form of an operation.
pub struct OpParser<'p, 's> {
    pub(super) parser: &'p mut Parser<'s>,
    groups: &'p [ResultGroup],
    pending: Pending,
}

/// The operation whose regions are being read: it does not exist before the first of them.
pub(crate) enum Pending {
    None,
    /// Begun in the body that is being read; each region beyond the first is held by an operation
    /// of its own.
    Op {
        first: Op,
        more: Vec<Op>,
    },
    /// The root of a body of its own.
    Body {
        body: Box<Body>,
        more: Vec<Op>,
    },
}

#[allow(clippy::missing_errors_doc)]
impl<'p, 's> OpParser<'p, 's> {
    /// A reader of what belongs to no operation: a type, an attribute.
    pub(crate) fn of_parser(parser: &'p mut Parser<'s>) -> Self {
        OpParser { parser, groups: &[], pending: Pending::None }
    }

    pub(crate) fn of_operation(parser: &'p mut Parser<'s>, groups: &'p [ResultGroup]) -> Self {
        OpParser { parser, groups, pending: Pending::None }
    }

    pub(crate) fn into_pending(self) -> Pending {
        self.pending
    }

    /// The context.
    pub fn ctx(&self) -> &'s Context {
        self.parser.ctx
    }

    /// The place of the next token.
    pub fn loc(&mut self) -> Loc {
        self.parser.loc_at(self.parser.token.start)
    }

    /// The body that the operation will stand in.
    pub fn body(&self) -> &Body {
        &self.parser.body
    }

    /// The type of a value that is resolved.
    pub fn type_of(&self, value: Value) -> Type {
        self.parser.body.value_type(value)
    }

    /// An error at a place, to be returned.
    pub fn error(&self, loc: Loc, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(loc, message))
    }

    /// The place of a byte.
    pub(crate) fn loc_at(&mut self, position: u32) -> Loc {
        self.parser.loc_at(position)
    }

    /// An error at a byte, to be returned.
    pub(crate) fn error_at(&mut self, position: u32, message: impl Into<String>) -> Box<Diagnostic> {
        self.parser.error_at(position, message)
    }

    /// An error at the next token, to be returned.
    pub fn error_here(&mut self, message: impl Into<String>) -> Box<Diagnostic> {
        self.parser.error_here(message)
    }

    /// The number of results the text in front of the operation names.
    pub fn num_named_results(&self) -> usize {
        self.groups.iter().map(|g| g.count as usize).sum()
    }

    /// The name that the text in front of the operation gives result `index`, without the percent
    /// sign, and which of the results of that name it is.
    pub fn result_name(&self, index: usize) -> Option<(&'s str, usize)> {
        let mut first = 0;
        for group in self.groups {
            let count = group.count as usize;
            if index < first + count {
                return Some((self.parser.slice(group.name.start, group.name.end), index - first));
            }
            first += count;
        }
        None
    }

    /// The name of an operand, without the percent sign.
    pub fn operand_name(&self, operand: UnresolvedOperand) -> &'s str {
        self.parser.slice(operand.start, operand.end)
    }

    /// The place of an operand.
    pub fn operand_loc(&mut self, operand: UnresolvedOperand) -> Loc {
        self.parser.operand_loc(operand)
    }

    /// One level deeper, for a hook that calls itself: fails where text is nested too deeply.
    pub fn nested<T: Send>(
        &mut self,
        f: impl FnOnce(&mut OpParser<'_, 's>) -> ParseResult<T> + Send,
    ) -> ParseResult<T> {
        self.parser.nested(|parser| f(&mut OpParser::of_parser(parser)))
    }

    /// Reads the inside of something that has a name, such as a type that may refer to itself.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn inside<T>(&mut self, name: Name, f: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.parser.inside.push(name);
        let read = f(self);
        self.parser.inside.pop();
        read
    }

    /// Returns true while the [inside](Self::inside) of something with this name is read. Linear in
    /// the nesting.
    pub fn is_inside(&self, name: Name) -> bool {
        self.parser.inside.contains(&name)
    }

    // Punctuation and keywords.

    /// Reads a piece of punctuation if it is next: one of
    /// `( ) [ ] { } < > , : :: = -> + - * ? | / ...`.
    pub fn accept(&mut self, punctuation: &str) -> bool {
        Kind::of_punctuation(punctuation).is_some_and(|kind| self.parser.accept(kind))
    }

    /// Reads a token of punctuation if it is next.
    pub(crate) fn accept_kind(&mut self, kind: Kind) -> bool {
        self.parser.accept(kind)
    }

    /// Reads a token of punctuation, which is written `text`.
    pub(crate) fn expect_kind(&mut self, kind: Kind, text: &str) -> ParseResult<()> {
        if self.parser.accept(kind) {
            return Ok(());
        }
        Err(self.parser.missing(format!("expected '{text}'")))
    }

    /// True if a piece of punctuation is next.
    pub fn is_next(&self, punctuation: &str) -> bool {
        Kind::of_punctuation(punctuation).is_some_and(|kind| self.parser.is(kind))
    }

    /// True if `%x` is next.
    pub fn is_operand_next(&self) -> bool {
        self.parser.is(Kind::Percent)
    }

    /// True if `@name` is next.
    pub fn is_symbol_next(&self) -> bool {
        self.parser.is(Kind::At)
    }

    /// True if `#name` is next.
    pub fn is_hash_next(&self) -> bool {
        self.parser.is(Kind::Hash)
    }

    /// The keyword that is next.
    pub fn next_keyword(&self) -> Option<&'s str> {
        self.parser.is(Kind::Bare).then(|| self.parser.text())
    }

    /// First byte of the next token.
    pub(crate) fn position(&self) -> u32 {
        self.parser.token.start
    }

    /// Reads a piece of punctuation.
    pub fn expect(&mut self, punctuation: &str) -> ParseResult<()> {
        if self.accept(punctuation) {
            return Ok(());
        }
        Err(self.parser.missing(format!("expected '{punctuation}'")))
    }

    /// True if a given keyword is next.
    pub fn is_keyword(&self, keyword: &str) -> bool {
        self.parser.is_keyword(keyword)
    }

    /// Reads a given keyword if it is next.
    pub fn accept_keyword(&mut self, keyword: &str) -> bool {
        self.parser.accept_keyword(keyword)
    }

    /// Reads a given keyword.
    pub fn expect_keyword(&mut self, keyword: &str) -> ParseResult<()> {
        if self.parser.accept_keyword(keyword) {
            return Ok(());
        }
        Err(self.parser.missing(format!("expected '{keyword}'")))
    }

    /// Reads any keyword.
    pub fn parse_keyword(&mut self) -> ParseResult<&'s str> {
        match self.parse_optional_keyword() {
            Some(keyword) => Ok(keyword),
            None => Err(self.parser.missing("expected valid keyword")),
        }
    }

    /// Reads any keyword if one is next.
    pub fn parse_optional_keyword(&mut self) -> Option<&'s str> {
        let found = self.parser.is(Kind::Bare).then(|| self.parser.text());
        if found.is_some() {
            self.parser.advance();
        }
        found
    }

    /// Reads a keyword, or a string in quotes that could be none.
    pub fn parse_keyword_or_string(&mut self) -> ParseResult<String> {
        match self.parse_optional_keyword() {
            Some(keyword) => Ok(keyword.to_owned()),
            None => self.parse_string(),
        }
    }

    /// Reads elements separated by commas.
    pub fn parse_list<T>(
        &mut self,
        delimiter: Delimiter,
        mut element: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let (open, close, optional) = match delimiter {
            Delimiter::None => ("", "", false),
            Delimiter::Paren => ("(", ")", false),
            Delimiter::Square => ("[", "]", false),
            Delimiter::LessGreater => ("<", ">", false),
            Delimiter::Braces => ("{", "}", false),
            Delimiter::OptionalParen => ("(", ")", true),
            Delimiter::OptionalSquare => ("[", "]", true),
            Delimiter::OptionalLessGreater => ("<", ">", true),
            Delimiter::OptionalBraces => ("{", "}", true),
        };
        let mut elements = Vec::new();
        if optional && !self.is_next(open) {
            return Ok(elements);
        }
        if !open.is_empty() {
            self.expect(open)?;
            if self.accept(close) {
                return Ok(elements);
            }
        }
        loop {
            elements.push(element(self)?);
            if !self.accept(",") {
                break;
            }
        }
        if !close.is_empty() {
            self.expect(close)?;
        }
        Ok(elements)
    }

    // Operands.

    /// Reads `%x`.
    pub fn parse_operand(&mut self) -> ParseResult<UnresolvedOperand> {
        self.parser.operand()
    }

    /// Reads `%x` if it is next.
    pub fn parse_optional_operand(&mut self) -> ParseResult<Option<UnresolvedOperand>> {
        if self.parser.is(Kind::Percent) { self.parser.operand().map(Some) } else { Ok(None) }
    }

    /// Reads operands separated by commas. With `Delimiter::None` there may be none.
    pub fn parse_operand_list(&mut self, delimiter: Delimiter) -> ParseResult<Vec<UnresolvedOperand>> {
        if delimiter == Delimiter::None && !self.parser.is(Kind::Percent) {
            return Ok(Vec::new());
        }
        self.parse_list(delimiter, Self::parse_operand)
    }

    /// The value that an operand names, which is of type `ty`.
    pub fn resolve(&mut self, operand: UnresolvedOperand, ty: Type) -> ParseResult<Value> {
        self.parser.resolve(operand, ty)
    }

    /// The values that operands name; an error at `loc` if there are more or fewer types.
    pub fn resolve_all(
        &mut self,
        operands: &[UnresolvedOperand],
        types: &[Type],
        loc: Loc,
    ) -> ParseResult<Vec<Value>> {
        if operands.len() != types.len() {
            let (n, m) = (operands.len(), types.len());
            let message =
                format!("number of operands and types do not match: got {n} operands and {m} types");
            return Err(self.error(loc, message));
        }
        operands.iter().zip(types).map(|(operand, ty)| self.parser.resolve(*operand, *ty)).collect()
    }

    /// The values that operands of one type name.
    pub fn resolve_same(&mut self, operands: &[UnresolvedOperand], ty: Type) -> ParseResult<Vec<Value>> {
        operands.iter().map(|operand| self.parser.resolve(*operand, ty)).collect()
    }

    // Types.

    /// Reads a type.
    pub fn parse_type(&mut self) -> ParseResult<Type> {
        self.parser.ty()
    }

    /// Reads a type if one is next.
    pub fn parse_optional_type(&mut self) -> ParseResult<Option<Type>> {
        self.parser.optional_type()
    }

    /// Reads the parameters of the dialect type `name` without that name; nothing if a whole type
    /// is next.
    pub(crate) fn parse_stripped_type(&mut self, name: &str) -> ParseResult<Option<Type>> {
        let ctx = self.ctx();
        let Some(def) = ctx.type_def(ctx.name(name)) else { return Ok(None) };
        if self.parser.is(Kind::Exclaim) {
            return Ok(None);
        }
        let params = (def.parse)(self)?;
        Ok(Some(ctx.dialect_type(name, &params)))
    }

    /// Reads `: type`.
    pub fn parse_colon_type(&mut self) -> ParseResult<Type> {
        self.expect(":")?;
        self.parser.ty()
    }

    /// Reads at least one type, separated by commas.
    pub fn parse_type_list(&mut self) -> ParseResult<Vec<Type>> {
        self.parse_list(Delimiter::None, Self::parse_type)
    }

    /// Reads `-> type` or `-> (type, type)`.
    pub fn parse_arrow_types(&mut self) -> ParseResult<Vec<Type>> {
        self.expect("->")?;
        let mut types = Vec::new();
        self.parser.type_or_types(&mut types)?;
        Ok(types)
    }

    /// Reads `-> type` or `-> (type, type)`; no types if no arrow is next.
    pub fn parse_optional_arrow_types(&mut self) -> ParseResult<Vec<Type>> {
        if self.is_next("->") { self.parse_arrow_types() } else { Ok(Vec::new()) }
    }

    /// Reads the sizes of a shape, `4x?x` before an element type (`trailing_x`) or `4x?` alone; `?`
    /// only if `dynamic`.
    pub fn parse_dimension_list(&mut self, dynamic: bool, trailing_x: bool) -> ParseResult<Vec<i64>> {
        self.parser.dimensions(dynamic, trailing_x)
    }

    // Attributes.

    /// Reads an attribute. With a type, no `: type` is read behind a number or literal: it is of
    /// that type.
    pub fn parse_attr(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        self.parser.attr(ty)
    }

    /// Reads an attribute if one is next.
    pub fn parse_optional_attr(&mut self, ty: Option<Type>) -> ParseResult<Option<Attr>> {
        // The location of the operation may be next.
        if self.parser.is_keyword("loc") {
            return Ok(None);
        }
        self.parser.optional_attr(ty)
    }

    /// Reads a number that fits 64 bits, with or without a minus sign.
    pub fn parse_integer(&mut self) -> ParseResult<i64> {
        match self.parser.optional_integer()? {
            Some(value) => Ok(value),
            None => Err(self.parser.missing("expected integer value")),
        }
    }

    /// Reads a number if one is next.
    pub fn parse_optional_integer(&mut self) -> ParseResult<Option<i64>> {
        self.parser.optional_integer()
    }

    /// Reads a string in quotes; bytes that are no UTF-8 are an error.
    pub fn parse_string(&mut self) -> ParseResult<String> {
        match self.parse_optional_string()? {
            Some(text) => Ok(text),
            None => Err(self.parser.missing("expected string")),
        }
    }

    /// Reads a string in quotes if one is next.
    pub fn parse_optional_string(&mut self) -> ParseResult<Option<String>> {
        if !self.parser.is(Kind::String) {
            return Ok(None);
        }
        let Ok(text) = String::from_utf8(unescape(self.parser.text()).into_owned()) else {
            return Err(self.parser.error_here("string is not UTF-8"));
        };
        self.parser.advance();
        Ok(Some(text))
    }

    /// Reads `@name`; the attribute is the string `"name"`.
    pub fn parse_symbol_name(&mut self) -> ParseResult<Attr> {
        match self.parse_optional_symbol_name()? {
            Some(name) => Ok(name),
            None => Err(self.parser.missing("expected valid '@'-identifier for symbol name")),
        }
    }

    /// Reads `@name` if it is next.
    pub fn parse_optional_symbol_name(&mut self) -> ParseResult<Option<Attr>> {
        if !self.parser.is(Kind::At) {
            return Ok(None);
        }
        self.parser.symbol_as(Context::string_attr).map(Some)
    }

    /// Reads an affine map, `affine_map<…>` or an alias of one.
    pub fn parse_affine_map(&mut self) -> ParseResult<AffineMap> {
        let loc = self.loc();
        match self.parser.attr(None)?.kind(self.ctx()) {
            AttrKind::AffineMap(map) => Ok(*map),
            _ => Err(self.error(loc, "expected an affine map")),
        }
    }

    /// Reads an integer set, `affine_set<…>` or an alias of one.
    pub fn parse_integer_set(&mut self) -> ParseResult<IntegerSet> {
        let loc = self.loc();
        match self.parser.attr(None)?.kind(self.ctx()) {
            AttrKind::IntegerSet(set) => Ok(*set),
            _ => Err(self.error(loc, "expected an integer set")),
        }
    }

    /// Reads an affine map over values in place of dimensions and symbols,
    /// `[%i + 1, %j * symbol(%n)]`: the map, its operands with dimensions first, and the number of
    /// dimensions.
    pub fn parse_affine_map_of_ssa_ids(
        &mut self,
        delimiter: Delimiter,
    ) -> ParseResult<(AffineMap, Vec<UnresolvedOperand>, u32)> {
        let (open, close) = match delimiter {
            Delimiter::Paren | Delimiter::OptionalParen => (Kind::LParen, Kind::RParen),
            Delimiter::LessGreater | Delimiter::OptionalLessGreater => (Kind::Less, Kind::Greater),
            Delimiter::Braces | Delimiter::OptionalBraces => (Kind::LBrace, Kind::RBrace),
            Delimiter::Square | Delimiter::OptionalSquare => (Kind::LSquare, Kind::RSquare),
            Delimiter::None => {
                let (mut operands, mut symbols) = (Vec::new(), Vec::new());
                let expr = self.parser.expression_of_ssa_ids(&mut operands, &mut symbols)?;
                let (d, s) = (operands.len() as u32, symbols.len() as u32);
                operands.extend(symbols);
                return Ok((AffineMap::new(self.ctx(), d, s, &[expr]), operands, d));
            }
        };
        self.parser.expect(open, "expected a list of affine expressions")?;
        self.parser.map_of_ssa_ids(close, "expected the end of a list of affine expressions")
    }

    /// Reads one affine expression over values, `%i + symbol(%n)`, adding the values to `dims` and
    /// `symbols` unless they are there: values read before keep their positions.
    pub fn parse_affine_expr_of_ssa_ids(
        &mut self,
        dims: &mut Vec<UnresolvedOperand>,
        symbols: &mut Vec<UnresolvedOperand>,
    ) -> ParseResult<AffineExpr> {
        self.parser.expression_of_ssa_ids(dims, symbols)
    }

    /// Reads a case of an enumeration, or flags separated by commas, as its attribute.
    pub fn parse_enum(&mut self, def: &EnumDef) -> ParseResult<Attr> {
        self.parser.enum_cases(def)
    }

    /// Reads `{name = attribute, …}`.
    pub fn parse_dictionary(&mut self) -> ParseResult<Dict> {
        self.parser.dictionary()
    }

    /// Reads `{name = attribute, …}` if it is next. Inherent attributes go where they belong.
    pub fn parse_optional_attr_dict(&mut self, state: &mut OperationState) -> ParseResult<()> {
        if !self.parser.is(Kind::LBrace) {
            return Ok(());
        }
        let at = self.loc();
        let entries = self.parser.dictionary_entries()?;
        let (ctx, info) = (self.ctx(), self.ctx().op_info(state.name));
        let is_inherent = |name| info.def().is_some_and(|def| def.is_inherent(ctx.str(name)));
        let (inherent, other): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(name, _)| is_inherent(*name));
        self.add_properties(state, inherent, at)?;
        state.attributes = state.attributes.with_all(ctx, &other);
        Ok(())
    }

    /// Reads `<{name = attribute, …}>`, inherent attributes, if it is next.
    pub fn parse_optional_prop_dict(&mut self, state: &mut OperationState) -> ParseResult<()> {
        if !self.accept("<") {
            return Ok(());
        }
        let at = self.loc();
        let entries = self.parser.dictionary_entries()?;
        let (ctx, info) = (self.ctx(), self.ctx().op_info(state.name));
        let is_inherent = |name| info.def().is_some_and(|def| def.is_inherent(ctx.str(name)));
        if let Some((name, _)) = entries.iter().find(|(name, _)| !is_inherent(*name)) {
            let message = format!("'{}' is no property of the operation", ctx.str(*name));
            return Err(self.error(at, message));
        }
        self.add_properties(state, entries, at)?;
        self.expect(">")
    }

    fn add_properties(
        &mut self,
        state: &mut OperationState,
        entries: Vec<(Name, Attr)>,
        at: Loc,
    ) -> ParseResult<()> {
        let ctx = self.ctx();
        for (name, _) in &entries {
            if state.properties.get(ctx, ctx.str(*name)).is_some() {
                let message = format!("attribute '{}' occurs twice in the attribute list", ctx.str(*name));
                return Err(self.error(at, message));
            }
        }
        if !entries.is_empty() {
            state.properties = state.properties.with_all(ctx, &entries);
        }
        Ok(())
    }

    /// Reads `attributes {name = attribute, …}` if it is next.
    pub fn parse_optional_attr_dict_with_keyword(&mut self, state: &mut OperationState) -> ParseResult<()> {
        if !self.parser.accept_keyword("attributes") {
            return Ok(());
        }
        if !self.parser.is(Kind::LBrace) {
            return Err(self.parser.missing("expected '{' in attribute dictionary"));
        }
        self.parse_optional_attr_dict(state)
    }

    /// Reads `loc(…)` if it is next.
    pub fn parse_optional_loc(&mut self) -> ParseResult<Option<Loc>> {
        self.parser.optional_trailing_loc()
    }
}
