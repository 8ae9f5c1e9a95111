//! Attributes.

use super::Parser;
use crate::attributes::{Attr, AttrKind, Dict};
use crate::context::{Context, Name};
use crate::opdef::{EnumDef, EnumStorage};
use crate::text::ParseResult;
use crate::text::lexer::{Kind, unescape};
use crate::text::op_parser::OpParser;
use crate::types::{DYNAMIC, Type, TypeKind};

impl<'s> Parser<'s> {
    /// Reads an attribute. With a type given, literals are of that type and no `: type` is read
    /// behind them.
    pub(crate) fn attr(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        match self.optional_attr(ty)? {
            Some(attr) => Ok(attr),
            None => Err(self.missing("expected attribute value")),
        }
    }

    /// Reads an attribute if one is next.
    pub(crate) fn optional_attr(&mut self, ty: Option<Type>) -> ParseResult<Option<Attr>> {
        let attr = match self.token.kind {
            Kind::At => self.symbol_reference()?,
            Kind::Integer | Kind::Float => self.number(false, ty)?,
            Kind::Minus => {
                self.advance();
                if !matches!(self.token.kind, Kind::Integer | Kind::Float) {
                    return Err(self.missing("expected constant integer or floating point value"));
                }
                self.number(true, ty)?
            }
            Kind::String => self.string_attr(ty)?,
            Kind::LSquare => self.nested(|p| p.array())?,
            Kind::LBrace => {
                let dict = self.nested(|p| p.dictionary())?;
                self.ctx.attr(AttrKind::Dictionary(dict))
            }
            Kind::Hash => self.nested(|p| p.dialect_attr(ty))?,
            Kind::Bare => return self.keyword_attr(ty),
            Kind::LParen | Kind::Exclaim => {
                let ty = self.ty()?;
                self.ctx.type_attr(ty)
            }
            _ => return Ok(None),
        };
        Ok(Some(attr))
    }

    fn keyword_attr(&mut self, ty: Option<Type>) -> ParseResult<Option<Attr>> {
        let attr = match self.text() {
            word @ ("true" | "false") => {
                let value = word == "true";
                if let Some(ty) = ty
                    && ty != Type::I1
                {
                    return Err(self.missing("expected integer value"));
                }
                self.advance();
                self.ctx.bool_attr(value)
            }
            "unit" => {
                self.advance();
                Attr::UNIT
            }
            "affine_map" => {
                self.advance();
                self.expect(Kind::Less, "expected '<' in affine map")?;
                let map = self.affine_map()?;
                self.expect(Kind::Greater, "expected '>' in affine map")?;
                self.ctx.attr(AttrKind::AffineMap(map))
            }
            "affine_set" => {
                self.advance();
                self.expect(Kind::Less, "expected '<' in integer set")?;
                let set = self.integer_set()?;
                self.expect(Kind::Greater, "expected '>' in integer set")?;
                self.ctx.attr(AttrKind::IntegerSet(set))
            }
            "array" => self.dense_array()?,
            "dense" => self.dense_elements(ty)?,
            "sparse" => self.sparse_elements(ty)?,
            "dense_resource" => self.dense_resource(ty)?,
            "strided" => self.strided()?,
            "distinct" => self.nested(|p| p.distinct())?,
            "loc" => {
                self.advance();
                let loc = self.nested(|p| p.parenthesised_loc())?;
                self.ctx.attr(AttrKind::Location(loc))
            }
            _ => return Ok(self.optional_type()?.map(|ty| self.ctx.type_attr(ty))),
        };
        Ok(Some(attr))
    }

    fn symbol_reference(&mut self) -> ParseResult<Attr> {
        let root = self.symbol()?;
        let mut nested = Vec::new();
        while self.accept(Kind::ColonColon) {
            if !self.is(Kind::At) {
                return Err(self.missing("expected nested symbol reference identifier"));
            }
            nested.push(self.symbol()?);
        }
        Ok(self.ctx.attr(AttrKind::Symbol { root, nested: nested.into() }))
    }

    /// Reads `@name`.
    fn symbol(&mut self) -> ParseResult<Name> {
        self.symbol_as(Context::name)
    }

    /// Reads `@name`, as what `make` makes of the name.
    pub(crate) fn symbol_as<T>(&mut self, make: fn(&Context, &str) -> T) -> ParseResult<T> {
        let bytes = unescape(self.text());
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(self.error_here("symbol name is not UTF-8"));
        };
        if text.is_empty() {
            return Err(self.missing("expected valid symbol name"));
        }
        let symbol = make(self.ctx, text);
        self.advance();
        Ok(symbol)
    }

    fn string_attr(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        let value = unescape(self.text());
        self.advance();
        let ty = match ty {
            Some(ty) => Some(ty),
            None if self.accept(Kind::Colon) => Some(self.ty()?),
            None => None,
        };
        let value = value.into_owned().into();
        Ok(self.ctx.attr(match ty.filter(|ty| *ty != Type::NONE) {
            Some(ty) => AttrKind::TypedString { value, ty },
            None => AttrKind::String(value),
        }))
    }

    fn array(&mut self) -> ParseResult<Attr> {
        self.advance();
        let mut elements = Vec::new();
        self.list_until(Kind::RSquare, "expected ']' to end array attribute", |p| {
            elements.push(p.attr(None)?);
            Ok(())
        })?;
        Ok(self.ctx.attr(AttrKind::Array(elements.into())))
    }

    /// Reads `{name = attribute, …}`.
    pub(crate) fn dictionary(&mut self) -> ParseResult<Dict> {
        let entries = self.dictionary_entries()?;
        Ok(self.ctx.dict(entries))
    }

    /// Reads `{name = attribute, …}` and keeps the order.
    pub(crate) fn dictionary_entries(&mut self) -> ParseResult<Vec<(Name, Attr)>> {
        self.expect(Kind::LBrace, "expected '{' in attribute dictionary")?;
        let mut entries: Vec<(Name, Attr)> = Vec::new();
        let mut seen = hashbrown::HashSet::new();
        self.list_until(Kind::RBrace, "expected '}' in attribute dictionary", |p| {
            let at = p.token.start;
            let name = match p.token.kind {
                Kind::Bare => p.ctx.name(p.text()),
                Kind::String => {
                    let bytes = unescape(p.text());
                    match std::str::from_utf8(&bytes) {
                        Ok(text) if !text.is_empty() => p.ctx.name(text),
                        _ => return Err(p.missing("expected valid attribute name")),
                    }
                }
                _ => return Err(p.missing("expected attribute name")),
            };
            // Dictionaries are short; only long ones are worth a table.
            if entries.len() == 8 {
                seen.extend(entries.iter().map(|e| e.0));
            }
            let twice =
                if entries.len() < 8 { entries.iter().any(|e| e.0 == name) } else { !seen.insert(name) };
            if twice {
                let message = format!("duplicate key '{}' in dictionary attribute", p.ctx.str(name));
                return Err(p.error_at(at, message));
            }
            p.advance();
            let attr = if p.accept(Kind::Equal) { p.attr(None)? } else { Attr::UNIT };
            entries.push((name, attr));
            Ok(())
        })?;
        Ok(entries)
    }

    fn strided(&mut self) -> ParseResult<Attr> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'strided'")?;
        self.expect(Kind::LSquare, "expected '[' before strides")?;
        let mut strides = Vec::new();
        self.list_until(Kind::RSquare, "expected ']' after strides", |p| {
            strides.push(p.integer_or_question()?);
            Ok(())
        })?;
        let mut offset = 0;
        if self.accept(Kind::Comma) {
            if !self.accept_keyword("offset") {
                return Err(self.missing("expected 'offset' after comma"));
            }
            self.expect(Kind::Colon, "expected ':' after 'offset'")?;
            offset = self.integer_or_question()?;
        }
        self.expect(Kind::Greater, "expected '>'")?;
        Ok(self.ctx.attr(AttrKind::Strided { offset, strides: strides.into() }))
    }

    fn integer_or_question(&mut self) -> ParseResult<i64> {
        if self.accept(Kind::Question) {
            return Ok(DYNAMIC);
        }
        match self.optional_integer()? {
            Some(value) => Ok(value),
            None => Err(self.missing("expected a 64-bit signed integer or '?'")),
        }
    }

    fn distinct(&mut self) -> ParseResult<Attr> {
        let at = self.token.start;
        self.advance();
        self.expect(Kind::LSquare, "expected '[' after 'distinct'")?;
        let id = if self.is(Kind::Integer) { self.text().parse().ok() } else { None };
        let Some(id) = id else { return Err(self.missing("expected distinct ID")) };
        self.advance();
        self.expect(Kind::RSquare, "expected ']' to close distinct ID")?;
        self.expect(Kind::Less, "expected '<' after distinct ID")?;
        let inner = if self.is(Kind::Greater) { Attr::UNIT } else { self.attr(None)? };
        self.expect(Kind::Greater, "expected '>' to close distinct attribute")?;
        if *self.distinct.entry(id).or_insert(inner) != inner {
            let message = format!("distinct[{id}] was written with another attribute before");
            return Err(self.error_at(at, message));
        }
        Ok(self.ctx.attr(AttrKind::Distinct { id, inner }))
    }

    fn dense_resource(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'dense_resource'")?;
        let key = match self.token.kind {
            Kind::Bare => self.ctx.name(self.text()),
            Kind::String => self.ctx.name(&String::from_utf8_lossy(&unescape(self.text()))),
            _ => return Err(self.missing("expected identifier key for 'resource' entry")),
        };
        self.advance();
        self.expect(Kind::Greater, "expected '>'")?;
        let ty = self.shaped_type(ty)?;
        Ok(self.ctx.attr(AttrKind::DenseResource { key, ty }))
    }

    /// A vector, tensor or memref type, given or read behind a colon.
    fn shaped_type(&mut self, ty: Option<Type>) -> ParseResult<Type> {
        let at = self.token.start;
        let ty = match ty {
            Some(ty) => ty,
            None => {
                self.expect(Kind::Colon, "expected ':'")?;
                self.ty()?
            }
        };
        let is_shaped = |kind: &TypeKind| {
            matches!(kind, TypeKind::Vector { .. } | TypeKind::Tensor { .. } | TypeKind::MemRef { .. })
        };
        if is_shaped(ty.kind(self.ctx)) {
            Ok(ty)
        } else {
            Err(self.error_at(at, "elements literal must be a shaped type"))
        }
    }

    /// The type of elements that are written down: shaped, with all sizes known.
    pub(super) fn elements_type(&mut self, ty: Option<Type>) -> ParseResult<Type> {
        let at = self.token.start;
        let ty = self.shaped_type(ty)?;
        if ty.shape(self.ctx).is_none_or(|sizes| sizes.contains(&DYNAMIC)) {
            return Err(self.error_at(at, "elements literal type must have static shape"));
        }
        Ok(ty)
    }

    /// Reads `#alias`, `#dialect.body` or `#dialect<body>`.
    fn dialect_attr(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        let symbol = self.dialect_symbol()?;
        if symbol.is_alias {
            let attr = self.attr_alias(&symbol)?;
            if let (Some(expected), Some(own)) = (ty, attr.ty(self.ctx))
                && expected != own
            {
                let name = crate::text::type_to_string(self.ctx, expected);
                let message = format!("attribute type different than expected: expected '{name}'");
                return Err(self.error_at(symbol.start, message));
            }
            return Ok(attr);
        }
        if let Some(full) = symbol.name() {
            let name = self.ctx.name(&full);
            if let Some(def) = self.ctx.enum_def(name) {
                return self.inside_symbol(&symbol, |p| {
                    if def.storage == EnumStorage::BareAttribute {
                        return p.enum_cases(def);
                    }
                    p.expect(Kind::Less, "expected '<' before the case")?;
                    let attr = p.enum_cases(def)?;
                    p.expect(Kind::Greater, "expected '>' behind the case")?;
                    Ok(attr)
                });
            }
            if let Some(def) = self.ctx.struct_attr_def(name) {
                let params = self.inside_symbol(&symbol, |p| (def.parse)(&mut OpParser::of_parser(p)))?;
                let params = self.ctx.dict(params);
                return Ok(self.ctx.attr(AttrKind::Dialect { name, params }));
            }
            if let Some(def) = self.ctx.parametric_attr(name) {
                let params = self.inside_symbol(&symbol, |p| def.parse(&mut OpParser::of_parser(p)))?;
                return Ok(def.attr(self.ctx, &params));
            }
        }
        let kept = symbol.name().and_then(|name| Some((self.ctx.kept_attribute(&name)?, name)));
        if kept.is_none() {
            let what = format!("attribute '{}'", symbol.to_text());
            self.unregistered(symbol.start, symbol.dialect, &what)?;
        }
        let body = self.expand_aliases(symbol.body)?;
        if let Some((accepts, name)) = kept {
            let mnemonic = name.strip_prefix(symbol.dialect).map_or("", |rest| rest.trim_start_matches('.'));
            if !accepts(body.strip_prefix(mnemonic).unwrap_or(&body)) {
                return Err(self.error_at(symbol.start, format!("invalid parameters of '#{name}'")));
            }
        }
        let ty = match ty {
            Some(ty) => Some(ty),
            None if self.accept(Kind::Colon) => Some(self.ty()?),
            None => None,
        };
        let (dialect, pretty) = (self.ctx.name(symbol.dialect), super::aliases::is_pretty(&body));
        Ok(self.ctx.attr(AttrKind::Opaque { dialect, body: body.into(), pretty, ty }))
    }

    /// Reads a case of an enumeration, or flags separated by `,` or `|`.
    pub(crate) fn enum_cases(&mut self, def: &EnumDef) -> ParseResult<Attr> {
        let mut value = 0;
        loop {
            let word = match self.token.kind {
                Kind::Bare => self.text().to_owned(),
                Kind::String => String::from_utf8_lossy(&unescape(self.text())).into_owned(),
                _ => String::new(),
            };
            let Some(case) = def.value_of(&word) else {
                let names: Vec<_> = def.cases.iter().map(|(name, _)| *name).collect();
                let message = format!("expected {} to be one of: {}", def.name, names.join(", "));
                return Err(self.error_here(message));
            };
            self.advance();
            value |= case;
            if !def.flags || !(self.accept(Kind::Comma) || self.accept(Kind::VBar)) {
                return Ok(def.attr(self.ctx, value));
            }
        }
    }

    /// True if a type's elements are kept by the element.
    pub(super) fn is_string_element(&self, element: Type) -> bool {
        matches!(element.kind(self.ctx), TypeKind::Dialect { .. } | TypeKind::Opaque { .. })
    }
}
