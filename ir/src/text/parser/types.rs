//! Types.

use super::Parser;
use crate::attributes::{Attr, AttrKind};
use crate::text::ParseResult;
use crate::text::lexer::Kind;
use crate::text::op_parser::OpParser;
use crate::types::{DYNAMIC, FloatKind, MAX_INTEGER_WIDTH, Signedness, Type, TypeKind};

#[derive(Clone, Copy)]
struct RecentType<'s> {
    text: &'s str,
    ty: Type,
    /// Length of what the aliases in it stand for.
    expansion: u64,
}

/// The types with parameters that were read last, by their text: programs are full of the same few.
/// The text ends with the `>` that closes the type, so what begins with it is that type.
#[derive(Default)]
pub(super) struct RecentTypes<'s> {
    types: [Option<RecentType<'s>>; 8],
    /// The place of the next one.
    next: usize,
}

impl<'s> RecentTypes<'s> {
    fn find(&self, text: &str) -> Option<RecentType<'s>> {
        self.types.iter().flatten().find(|recent| text.starts_with(recent.text)).copied()
    }

    fn add(&mut self, recent: RecentType<'s>) {
        self.types[self.next] = Some(recent);
        self.next = (self.next + 1) % self.types.len();
    }
}

impl<'s> Parser<'s> {
    /// Reads a type.
    pub(crate) fn ty(&mut self) -> ParseResult<Type> {
        match self.optional_type()? {
            Some(ty) => Ok(ty),
            None => Err(self.missing("expected type")),
        }
    }

    /// Reads a type if one is next.
    pub(crate) fn optional_type(&mut self) -> ParseResult<Option<Type>> {
        match self.token.kind {
            Kind::Bare => {
                let text = self.text();
                if let Some(ty) = simple_type(self, text)? {
                    self.advance();
                    return Ok(Some(ty));
                }
                let read: fn(&mut Self) -> ParseResult<Type> = match text {
                    "memref" => Self::memref_type,
                    "tensor" => Self::tensor_type,
                    "vector" => Self::vector_type,
                    "complex" => Self::complex_type,
                    "tuple" => Self::tuple_type,
                    _ => return Ok(None),
                };
                let start = self.token.start;
                if let Some(recent) = self.recent_types.find(&self.source[start as usize..]) {
                    self.expand_by(recent.expansion)?;
                    self.set_pos(start + recent.text.len() as u32);
                    return Ok(Some(recent.ty));
                }
                let expanded = self.expanded;
                let ty = self.nested(|p| {
                    p.advance();
                    p.expect(Kind::Less, "expected '<' in type")?;
                    read(p)
                })?;
                let (text, expansion) = (self.slice(start, self.last_end), self.expanded - expanded);
                self.recent_types.add(RecentType { text, ty, expansion });
                Ok(Some(ty))
            }
            Kind::LParen => self.nested(|p| p.function_type()).map(Some),
            Kind::Exclaim => self.nested(|p| p.dialect_type()).map(Some),
            _ => Ok(None),
        }
    }

    fn function_type(&mut self) -> ParseResult<Type> {
        let (mut inputs, mut results) = (Vec::new(), Vec::new());
        self.function_signature(&mut inputs, &mut results)?;
        Ok(self.ctx.ty(TypeKind::Function { inputs: inputs.into(), results: results.into() }))
    }

    /// Reads `(inputs) -> results`.
    pub(super) fn function_signature(
        &mut self,
        inputs: &mut Vec<Type>,
        results: &mut Vec<Type>,
    ) -> ParseResult<()> {
        self.expect(Kind::LParen, "expected '('")?;
        self.list_until(Kind::RParen, "expected ')'", |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect(Kind::Arrow, "expected '->' in function type")?;
        self.type_or_types(results)
    }

    /// Reads `type` or `(type, type)`.
    pub(crate) fn type_or_types(&mut self, types: &mut Vec<Type>) -> ParseResult<()> {
        if self.accept(Kind::LParen) {
            return self.list_until(Kind::RParen, "expected ')'", |p| {
                types.push(p.ty()?);
                Ok(())
            });
        }
        types.push(self.ty()?);
        Ok(())
    }

    fn complex_type(&mut self) -> ParseResult<Type> {
        let at = self.token.start;
        let element = self.ty()?;
        self.expect(Kind::Greater, "expected '>' in complex type")?;
        if element.integer_width(self.ctx).is_none() && !element.is_float(self.ctx) {
            return Err(self.error_at(at, "invalid element type for complex"));
        }
        Ok(self.ctx.ty(TypeKind::Complex(element)))
    }

    fn tuple_type(&mut self) -> ParseResult<Type> {
        let mut types = Vec::new();
        self.list_until(Kind::Greater, "expected '>' in tuple type", |p| {
            types.push(p.ty()?);
            Ok(())
        })?;
        Ok(self.ctx.ty(TypeKind::Tuple(types.into())))
    }

    fn vector_type(&mut self) -> ParseResult<Type> {
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        loop {
            let at = self.token.start;
            match self.token.kind {
                Kind::Integer => {
                    shape.push(self.dimension()?);
                    scalable.push(false);
                }
                Kind::LSquare => {
                    self.advance();
                    if !self.is(Kind::Integer) {
                        return Err(self.missing("expected integer in vector dimension"));
                    }
                    shape.push(self.dimension()?);
                    scalable.push(true);
                    self.expect(Kind::RSquare, "missing ']' closing scalable dimension")?;
                }
                _ => break,
            }
            if shape.last() == Some(&0) {
                return Err(self.error_at(at, "vector types must have positive constant sizes"));
            }
            self.dimension_separator()?;
        }
        let at = self.token.start;
        let element = self.ty()?;
        self.expect(Kind::Greater, "expected '>' in vector type")?;
        let scalar =
            element.integer_width(self.ctx).is_some() || element.is_index() || element.is_float(self.ctx);
        let foreign = matches!(element.kind(self.ctx), TypeKind::Dialect { .. } | TypeKind::Opaque { .. });
        if !scalar && !foreign {
            return Err(self.error_at(at, "vector elements must be int/index/float type"));
        }
        Ok(self.ctx.ty(TypeKind::Vector { shape: shape.into(), scalable: scalable.into(), element }))
    }

    fn tensor_type(&mut self) -> ParseResult<Type> {
        let shape = self.shape()?;
        let at = self.token.start;
        let element = self.ty()?;
        if matches!(element.kind(self.ctx), TypeKind::Function { .. } | TypeKind::Tuple(_) | TypeKind::None)
            || matches!(element.kind(self.ctx), TypeKind::Tensor { .. } | TypeKind::MemRef { .. })
        {
            return Err(self.error_at(at, "invalid tensor element type"));
        }
        let mut encoding = None;
        if self.accept(Kind::Comma) {
            if shape.is_none() {
                return Err(self.error_here("cannot apply encoding to unranked tensor"));
            }
            encoding = Some(self.attr(None)?);
        }
        self.expect(Kind::Greater, "expected '>' in tensor type")?;
        Ok(self.ctx.ty(TypeKind::Tensor { shape: shape.map(Into::into), element, encoding }))
    }

    fn memref_type(&mut self) -> ParseResult<Type> {
        let shape = self.shape()?;
        let at = self.token.start;
        let element = self.ty()?;
        if matches!(
            element.kind(self.ctx),
            TypeKind::Function { .. } | TypeKind::Tuple(_) | TypeKind::Tensor { .. }
        ) || *element.kind(self.ctx) == TypeKind::None
        {
            return Err(self.error_at(at, "invalid memref element type"));
        }
        let mut layout = None;
        let mut memory_space = None;
        while self.accept(Kind::Comma) {
            let at = self.token.start;
            let attr = self.attr(None)?;
            if matches!(attr.kind(self.ctx), AttrKind::AffineMap(_) | AttrKind::Strided { .. }) {
                if shape.is_none() {
                    return Err(self.error_at(at, "cannot have affine map for unranked memref type"));
                }
                if memory_space.is_some() {
                    return Err(self.error_at(at, "expected memory space to be last in memref type"));
                }
                layout = Some((attr, at));
            } else if memory_space.is_some() {
                return Err(self.error_at(at, "multiple memory spaces specified in memref type"));
            } else if is_memory_space(attr.kind(self.ctx)) {
                memory_space = Some(attr);
            } else {
                return Err(self.error_at(at, "unsupported memory space Attribute"));
            }
        }
        self.expect(Kind::Greater, "expected '>' in memref type")?;
        let layout = match layout {
            Some((attr, at)) => self.checked_layout(attr, at, shape.as_deref().unwrap_or_default())?,
            None => None,
        };
        // Space 0 is the default.
        let is_default = |attr: Attr| matches!(attr.kind(self.ctx), AttrKind::Integer { value: 0, .. });
        let memory_space = memory_space.filter(|space| !is_default(*space));
        Ok(self.ctx.ty(TypeKind::MemRef { shape: shape.map(Into::into), element, layout, memory_space }))
    }

    /// The layout as it is stored: the identity is not.
    fn checked_layout(&mut self, attr: Attr, at: u32, shape: &[i64]) -> ParseResult<Option<Attr>> {
        let rank = shape.len();
        let own_rank = match attr.kind(self.ctx) {
            AttrKind::AffineMap(map) => {
                if map.is_identity(self.ctx) && map.num_inputs(self.ctx) == rank {
                    return Ok(None);
                }
                map.data(self.ctx).dims as usize
            }
            AttrKind::Strided { strides, .. } => strides.len(),
            _ => rank,
        };
        if own_rank != rank {
            let message = match attr.kind(self.ctx) {
                AttrKind::Strided { .. } => "expected the number of strides to match the rank".to_owned(),
                _ => format!("memref layout mismatch between rank and affine map: {rank} != {own_rank}"),
            };
            return Err(self.error_at(at, message));
        }
        Ok(Some(attr))
    }

    /// Reads `4x?x` or `*x` before an element type; `None` for `*`.
    fn shape(&mut self) -> ParseResult<Option<Vec<i64>>> {
        if self.accept(Kind::Star) {
            self.dimension_separator()?;
            return Ok(None);
        }
        self.dimensions(true, true).map(Some)
    }

    /// Reads sizes separated by `x`, and one more `x` behind the last if `trailing`.
    pub(crate) fn dimensions(&mut self, dynamic: bool, trailing: bool) -> ParseResult<Vec<i64>> {
        let mut shape = Vec::new();
        while matches!(self.token.kind, Kind::Integer | Kind::Question) {
            if self.is(Kind::Question) {
                if !dynamic {
                    return Err(self.missing("expected static shape"));
                }
                self.advance();
                shape.push(DYNAMIC);
            } else {
                shape.push(self.dimension()?);
            }
            let separated = self.is(Kind::Bare) && self.text().starts_with('x');
            if !separated && !trailing {
                break;
            }
            self.dimension_separator()?;
        }
        Ok(shape)
    }

    /// Reads a size. `0x4` is the size 0 and what follows.
    fn dimension(&mut self) -> ParseResult<i64> {
        let text = self.text();
        if text.starts_with("0x") {
            let behind = self.token.start + 1;
            self.set_pos(behind);
            return Ok(0);
        }
        let Ok(size) = text.parse() else { return Err(self.error_here("invalid dimension")) };
        let end = self.token.end;
        match self.source.as_bytes().get(end as usize) {
            // Alone: to the lexer all other sizes are part of its name.
            Some(b'x') => self.take_token(Kind::Bare, end, end + 1),
            _ => self.advance(),
        }
        Ok(size)
    }

    /// Reads the `x` between sizes, which the lexer takes for the start of a name.
    fn dimension_separator(&mut self) -> ParseResult<()> {
        if !self.is(Kind::Bare) || !self.text().starts_with('x') {
            return Err(self.missing("expected 'x' in dimension list"));
        }
        let behind = self.token.start + 1;
        self.set_pos(behind);
        Ok(())
    }

    /// Reads `!alias`, `!dialect.body` or `!dialect<body>`.
    fn dialect_type(&mut self) -> ParseResult<Type> {
        let symbol = self.dialect_symbol()?;
        if symbol.is_alias {
            return match self.type_aliases.get(symbol.dialect).copied() {
                Some(alias) => self.used(alias),
                None => {
                    let message = format!("undefined symbol alias id '{}'", symbol.dialect);
                    Err(self.error_at(symbol.start, message))
                }
            };
        }
        let name = symbol.name();
        let registered = name.as_deref().and_then(|name| self.ctx.type_def(self.ctx.name(name)));
        if let (Some(def), Some(name)) = (registered, name) {
            let params = self.inside_symbol(&symbol, |p| (def.parse)(&mut OpParser::of_parser(p)))?;
            return Ok(self.ctx.dialect_type(&name, &params));
        }
        let name = symbol.name();
        if let Some(def) = name.as_deref().and_then(|name| self.ctx.parametric_type(self.ctx.name(name))) {
            let params = self.inside_symbol(&symbol, |p| def.parse(&mut OpParser::of_parser(p)))?;
            return Ok(self.ctx.dialect_type(&def.name, &params));
        }
        self.unregistered(symbol.start, symbol.dialect, &format!("type '{}'", symbol.to_text()))?;
        let body = self.expand_aliases(symbol.body)?;
        let (dialect, pretty) = (self.ctx.name(symbol.dialect), super::aliases::is_pretty(&body));
        Ok(self.ctx.ty(TypeKind::Opaque { dialect, body: body.into(), pretty }))
    }
}

/// The type a word alone stands for.
fn simple_type(parser: &mut Parser<'_>, text: &str) -> ParseResult<Option<Type>> {
    Ok(Some(match text {
        "index" => Type::INDEX,
        "none" => Type::NONE,
        "i1" => Type::I1,
        "i8" => Type::I8,
        "i16" => Type::I16,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "f16" => Type::F16,
        "bf16" => Type::BF16,
        "f32" => Type::F32,
        "f64" => Type::F64,
        _ => {
            let (signedness, digits) = if let Some(digits) = text.strip_prefix("si") {
                (Signedness::Signed, digits)
            } else if let Some(digits) = text.strip_prefix("ui") {
                (Signedness::Unsigned, digits)
            } else if let Some(digits) = text.strip_prefix('i') {
                (Signedness::Signless, digits)
            } else {
                let float = FloatKind::ALL.iter().find(|(_, name, _)| *name == text);
                return Ok(float.map(|(kind, ..)| parser.ctx.float_type(*kind)));
            };
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Ok(None);
            }
            match digits.parse() {
                Ok(width) if width <= MAX_INTEGER_WIDTH => {
                    parser.ctx.ty(TypeKind::Integer { width, signedness })
                }
                _ => {
                    let message = format!("integer bitwidth is limited to {MAX_INTEGER_WIDTH} bits");
                    return Err(parser.error_here(message));
                }
            }
        }
    }))
}

/// True if an attribute may name a memory space: a number, a string, a dictionary, or what a
/// dialect says.
fn is_memory_space(kind: &AttrKind) -> bool {
    matches!(
        kind,
        AttrKind::Integer { .. }
            | AttrKind::WideInteger { .. }
            | AttrKind::String(_)
            | AttrKind::TypedString { .. }
            | AttrKind::Dictionary(_)
            | AttrKind::Enum { .. }
            | AttrKind::Dialect { .. }
            | AttrKind::Opaque { .. }
    )
}
