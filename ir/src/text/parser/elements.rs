//! Elements: `dense<…>`, `sparse<…>`, `array<…>`.
//!
//! The type of a dense literal stands behind it but says how to read it. So the literal is skipped,
//! the type read, and the literal read with the type known, straight into bytes: nothing is kept of
//! a large literal but its value.

use super::Parser;
use super::numbers::{Integer, hex_bytes, integer};
use crate::attributes::{Attr, AttrKind};
use crate::diagnostics::Diagnostic;
use crate::text::ParseResult;
use crate::text::float;
use crate::text::lexer::{Kind, unescape};
use crate::types::{Signedness, Type, TypeKind};

/// Where elements go.
enum Sink {
    Bytes(Vec<u8>),
    Strings(Vec<Box<[u8]>>),
}

impl Parser<'_> {
    /// Reads `array<type: …>`.
    pub(super) fn dense_array(&mut self) -> ParseResult<Attr> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'array'")?;
        let at = self.token.start;
        let element = self.ty()?;
        let width = match element.kind(self.ctx) {
            TypeKind::Integer { width, .. } => *width,
            TypeKind::Float(kind) => kind.width(),
            _ => return Err(self.error_at(at, "expected integer or float type")),
        };
        if width != 1 && !width.is_multiple_of(8) {
            return Err(self.error_at(at, "element type bitwidth must be a multiple of 8"));
        }
        let mut bytes = Vec::new();
        if self.accept(Kind::Colon) {
            self.list(|p| {
                if element == Type::I1 && !p.is(Kind::Bare) {
                    return Err(p.error_here("expected 'true' or 'false' in an array of i1"));
                }
                p.element(element, &mut bytes)
            })?;
        }
        self.expect(Kind::Greater, "expected '>' to close an array attribute")?;
        Ok(self.ctx.attr(AttrKind::DenseArray { element, bytes: bytes.into() }))
    }

    /// Reads `dense<…> : type`.
    pub(super) fn dense_elements(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'dense'")?;
        let literal = self.token.start;
        self.skip_literal()?;
        let ty = self.elements_type(ty)?;
        let behind = self.token.start;
        self.set_pos(literal);
        let attr = self.dense_literal(ty, Kind::Greater)?;
        self.expect(Kind::Greater, "expected '>'")?;
        self.set_pos(behind);
        Ok(attr)
    }

    /// Reads `sparse<indices, values> : type`.
    pub(super) fn sparse_elements(&mut self, ty: Option<Type>) -> ParseResult<Attr> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'sparse'")?;
        let literal = self.token.start;
        self.skip_literal()?;
        let ty = self.elements_type(ty)?;
        let behind = self.token.start;
        self.set_pos(literal);
        let (element, sizes) = self.element_and_shape(ty);
        let rank = sizes.len() as i64;
        if self.is(Kind::Greater) {
            let none = self.ctx.ty(TypeKind::Tensor {
                shape: Some([0, rank].into()),
                element: Type::I64,
                encoding: None,
            });
            let empty = |ty| AttrKind::DenseElements { ty, splat: false, bytes: Box::default() };
            let indices = self.ctx.attr(empty(none));
            let none = self.ctx.ty(TypeKind::Tensor { shape: Some([0].into()), element, encoding: None });
            let values = self.ctx.attr(empty(none));
            self.advance();
            self.set_pos(behind);
            return Ok(self.ctx.attr(AttrKind::Sparse { ty, indices, values }));
        }
        let mut index_bytes = Sink::Bytes(Vec::new());
        let at = self.token.start;
        let index_shape = self.literal(Type::I64, &mut index_bytes)?;
        self.expect(Kind::Comma, "expected ','")?;
        let mut value_sink = self.sink(element);
        let values_at = self.token.start;
        let value_shape = self.literal(element, &mut value_sink)?;
        self.expect(Kind::Greater, "expected '>'")?;
        self.set_pos(behind);
        let splat = index_shape.is_empty();
        // One number alone stands for all of one index.
        let index_shape = if splat { vec![1, rank] } else { index_shape };
        if !matches!(index_shape.as_slice(), [_, n] if *n == rank) && (index_shape.len() != 1 || rank != 1) {
            return Err(self.error_at(at, "expected as many indices as the type has dimensions"));
        }
        if !value_shape.is_empty() && value_shape != [index_shape[0]] {
            return Err(self.error_at(values_at, "expected as many values as indices"));
        }
        let tensor = |p: &Self, shape: &[i64], element| {
            p.ctx.ty(TypeKind::Tensor { shape: Some(shape.into()), element, encoding: None })
        };
        if let Sink::Bytes(bytes) = &index_bytes
            && let Some(index) = outside(bytes, &sizes, splat)
        {
            let message = format!("sparse index {index:?} is not within the shape of the type, {sizes:?}");
            return Err(self.error_at(at, message));
        }
        let indices_ty = tensor(self, &index_shape, Type::I64);
        let indices = self.finish_elements(indices_ty, index_bytes, splat);
        let values_ty = tensor(self, &index_shape[..1], element);
        let values = self.finish_elements(values_ty, value_sink, value_shape.is_empty());
        Ok(self.ctx.attr(AttrKind::Sparse { ty, indices, values }))
    }

    /// Goes behind the `>` that ends a literal.
    fn skip_literal(&mut self) -> ParseResult<()> {
        // Numbers and brackets are many, and need not be read as tokens for this.
        let rest = &self.source.as_bytes()[self.token.start as usize..];
        let end = rest.iter().position(|b| matches!(b, b'>' | b'"' | b'/'));
        if let Some(end) = end.filter(|end| rest[*end] == b'>') {
            self.set_pos(self.token.start + end as u32 + 1);
            return Ok(());
        }
        while !self.is(Kind::Greater) {
            if matches!(self.token.kind, Kind::Eof | Kind::Unknown | Kind::OpenString) {
                return Err(self.missing("expected '>'"));
            }
            self.advance();
        }
        self.advance();
        Ok(())
    }

    fn element_and_shape(&self, ty: Type) -> (Type, Vec<i64>) {
        (ty.element(self.ctx).unwrap_or(ty), ty.shape(self.ctx).unwrap_or_default().to_vec())
    }

    fn sink(&self, element: Type) -> Sink {
        if self.is_string_element(element) { Sink::Strings(Vec::new()) } else { Sink::Bytes(Vec::new()) }
    }

    /// Reads a literal of a type, up to `close`.
    fn dense_literal(&mut self, ty: Type, close: Kind) -> ParseResult<Attr> {
        let at = self.token.start;
        let (element, shape) = self.element_and_shape(ty);
        let mut sink = self.sink(element);
        if self.is(close) {
            if !shape.contains(&0) {
                return Err(self.error_at(at, "expected elements for a type that isn't empty"));
            }
            return Ok(self.finish_elements(ty, sink, false));
        }
        if self.is(Kind::String) && matches!(sink, Sink::Bytes(_)) {
            return self.hex_literal(ty, element, &shape);
        }
        let inferred = self.literal(element, &mut sink)?;
        if inferred.is_empty() {
            return Ok(self.finish_elements(ty, sink, true));
        }
        if inferred != shape {
            let text = crate::text::type_to_string(self.ctx, ty);
            let message = format!(
                "inferred shape of elements literal ({inferred:?}) does not match type ({shape:?}) of {text}"
            );
            return Err(self.error_at(at, message));
        }
        Ok(self.finish_elements(ty, sink, false))
    }

    /// The attribute of elements; as a splat if they are all the same.
    fn finish_elements(&self, ty: Type, sink: Sink, splat: bool) -> Attr {
        match sink {
            Sink::Bytes(mut bytes) => {
                let count: Option<i64> =
                    ty.shape(self.ctx).unwrap_or_default().iter().try_fold(1i64, |n, d| n.checked_mul(*d));
                let mut splat = splat;
                if let Some(count) = count.filter(|n| *n > 0 && !splat)
                    && bytes.len() as i64 % count == 0
                {
                    let width = bytes.len() / count as usize;
                    if width > 0 && bytes.chunks_exact(width).all(|e| *e == bytes[..width]) {
                        bytes.truncate(width);
                        splat = true;
                    }
                }
                self.ctx.attr(AttrKind::DenseElements { ty, splat, bytes: bytes.into() })
            }
            Sink::Strings(mut values) => {
                if values.len() > 1 && values.iter().all(|v| *v == values[0]) {
                    values.truncate(1);
                }
                self.ctx.attr(AttrKind::DenseStrings { ty, values: values.into() })
            }
        }
    }

    /// Reads elements, nested in brackets or one alone; yields their shape, empty for one alone.
    fn literal(&mut self, element: Type, sink: &mut Sink) -> ParseResult<Vec<i64>> {
        let mut shape: Vec<i64> = Vec::new();
        // How many elements each open bracket holds so far.
        let mut open: Vec<i64> = Vec::new();
        let mut depth_of_elements = None;
        loop {
            if self.accept(Kind::LSquare) {
                if open.len() >= super::MAX_DEPTH as usize {
                    let message =
                        format!("nested too deeply: at most {} levels can be read", super::MAX_DEPTH);
                    return Err(self.error_here(message));
                }
                open.push(0);
                if !self.is(Kind::RSquare) {
                    continue;
                }
            } else {
                if *depth_of_elements.get_or_insert(open.len()) != open.len() {
                    return Err(self.uneven());
                }
                match sink {
                    Sink::Bytes(bytes) => self.element(element, bytes)?,
                    Sink::Strings(strings) => {
                        if !self.is(Kind::String) {
                            return Err(self.missing("expected string token"));
                        }
                        strings.push(unescape(self.text()).into_owned().into());
                        self.advance();
                    }
                }
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
            }
            // Close what ends here, then go on behind a comma.
            loop {
                if open.is_empty() {
                    return Ok(shape);
                }
                if self.accept(Kind::Comma) {
                    break;
                }
                self.expect(Kind::RSquare, "expected ']'")?;
                let count = open.pop().unwrap_or_default();
                let level = open.len();
                if shape.len() <= level {
                    shape.resize(level + 1, -1);
                }
                if shape[level] != -1 && shape[level] != count {
                    return Err(self.uneven());
                }
                shape[level] = count;
                if let Some(outer) = open.last_mut() {
                    *outer += 1;
                }
            }
        }
    }

    fn uneven(&mut self) -> Box<Diagnostic> {
        self.error_here("tensor literal is invalid; ranks are not consistent between elements")
    }

    /// Reads one element of a number type into bytes.
    fn element(&mut self, element: Type, bytes: &mut Vec<u8>) -> ParseResult<()> {
        if let TypeKind::Complex(part) = element.kind(self.ctx) {
            self.expect(Kind::LParen, "expected '(' before complex element")?;
            self.element(*part, bytes)?;
            self.expect(Kind::Comma, "expected ',' between parts of a complex element")?;
            self.element(*part, bytes)?;
            return self.expect(Kind::RParen, "expected ')' after complex element");
        }
        let negative = self.accept(Kind::Minus);
        let (at, text) = (self.token.start, self.text());
        let width = element_width(self.ctx, element);
        match (self.token.kind, element.kind(self.ctx)) {
            (Kind::Bare, TypeKind::Integer { .. }) if matches!(text, "true" | "false") => {
                if element != Type::I1 || negative {
                    return Err(self.missing("expected i1 type for 'true' or 'false' values"));
                }
                bytes.push(u8::from(text == "true"));
            }
            (Kind::Integer, TypeKind::Integer { .. } | TypeKind::Index) => {
                match integer(self.ctx, element, negative, text) {
                    None => return Err(self.error_here("integer constant out of range for attribute")),
                    Some(Integer::Narrow(value)) => {
                        let value = if element == Type::I1 { value & 1 } else { value };
                        let fill = if value < 0 { 0xff } else { 0 };
                        let le = value.to_le_bytes();
                        bytes.extend_from_slice(&le[..width.min(16)]);
                        bytes.resize(bytes.len() + width.saturating_sub(16), fill);
                    }
                    Some(Integer::Wide(wide)) => bytes.extend(wide),
                }
            }
            (Kind::Float, TypeKind::Float(kind)) => {
                let bits = float::from_literal(*kind, negative, text);
                bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
            }
            (Kind::Integer, TypeKind::Float(kind)) => {
                let bits = self.hex_float(*kind, negative, text, at)?;
                bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
            }
            (Kind::Float, _) => {
                return Err(self.missing("expected integer elements, but parsed floating-point"));
            }
            (Kind::Integer, _) => return Err(self.error_here("elements of this type can't be numbers")),
            _ => return Err(self.missing("expected element literal of primitive type")),
        }
        self.advance();
        Ok(())
    }

    /// Reads `"0x…"`: all elements in memory order, or one for all.
    fn hex_literal(&mut self, ty: Type, element: Type, shape: &[i64]) -> ParseResult<Attr> {
        let text = unescape(self.text());
        let digits = std::str::from_utf8(&text).ok().and_then(|t| t.strip_prefix("0x"));
        let Some(mut bytes) = digits.and_then(hex_bytes) else {
            return Err(
                self.error_here("elements hex string should start with '0x' and have two digits a byte")
            );
        };
        let width = element_width(self.ctx, element) as i64;
        if width == 0 {
            return Err(self.missing("expected floating-point, integer, or complex element type"));
        }
        let count = shape.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
        let length = bytes.len() as i64;
        let wrong_size = || format!("elements hex data size is invalid for provided type: {length} bytes");
        if element == Type::I1 {
            // Eight to a byte, the first in the lowest bit; one byte of all ones or zeros for all.
            let Some(count) = count else { return Err(self.error_here(wrong_size())) };
            let splat = length == 1 && matches!(bytes[0], 0 | 0xff) && count > 0;
            if !splat && count.unsigned_abs().div_ceil(8) != length.unsigned_abs() {
                return Err(self.error_here(wrong_size()));
            }
            self.advance();
            let bits = if splat { 1 } else { count as usize };
            let bytes = (0..bits).map(|i| bytes[i / 8] >> (i % 8) & 1).collect();
            return Ok(self.finish_elements(ty, Sink::Bytes(bytes), splat));
        }
        let expected = count.and_then(|n| n.checked_mul(width));
        if Some(length) != expected && length != width {
            return Err(self.error_here(wrong_size()));
        }
        self.advance();
        for bytes in bytes.chunks_exact_mut(width as usize) {
            extend(self.ctx, element, bytes);
        }
        let splat = length == width && count != Some(1);
        Ok(self.finish_elements(ty, Sink::Bytes(bytes), splat))
    }
}

/// The first of some 64-bit indices that is not within `sizes`. A splat is one number that is every
/// index.
fn outside(bytes: &[u8], sizes: &[i64], splat: bool) -> Option<Vec<i64>> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_le_bytes);
    let is_outside = |index: &Vec<i64>| index.iter().zip(sizes).any(|(i, size)| !(0..*size).contains(i));
    if splat {
        return Some(vec![number(bytes); sizes.len()]).filter(is_outside);
    }
    let indices = bytes.chunks_exact(8 * sizes.len().max(1));
    indices.map(|index| index.chunks_exact(8).map(number).collect()).find(is_outside)
}

/// Fills the bits of an element's last byte that its type does not have: with the sign of an
/// integer, with zeros behind a float.
fn extend(ctx: &crate::Context, element: Type, bytes: &mut [u8]) {
    let (width, signed) = match element.kind(ctx) {
        TypeKind::Complex(part) => {
            let (real, imaginary) = bytes.split_at_mut(bytes.len() / 2);
            extend(ctx, *part, real);
            return extend(ctx, *part, imaginary);
        }
        TypeKind::Integer { width, signedness } => {
            (*width, *width > 1 && *signedness != Signedness::Unsigned)
        }
        TypeKind::Float(kind) => (kind.width(), false),
        _ => return,
    };
    if let Some(last) = bytes.last_mut()
        && !width.is_multiple_of(8)
    {
        let spare = 8 - width % 8;
        *last <<= spare;
        *last = if signed { (*last as i8 >> spare) as u8 } else { *last >> spare };
    }
}

/// Bytes of an element in storage; 0 for types whose elements aren't numbers.
pub(crate) fn element_width(ctx: &crate::Context, element: Type) -> usize {
    match element.kind(ctx) {
        TypeKind::Integer { width, .. } => (width.div_ceil(8) as usize).max(1),
        TypeKind::Index => 8,
        TypeKind::Float(kind) => kind.width().div_ceil(8) as usize,
        TypeKind::Complex(part) => 2 * element_width(ctx, *part),
        _ => 0,
    }
}
