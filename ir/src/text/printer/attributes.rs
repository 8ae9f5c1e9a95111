//! Attributes.

use std::fmt::Write;

use super::Mode;
use crate::attributes::{Attr, AttrKind, Dict};
use crate::context::Name;
use crate::opdef::EnumStorage;
use crate::opdef::runtime::ParametricDef;
use crate::text::parser::element_width;
use crate::text::{OpPrinter, float};
use crate::types::{Signedness, Type, TypeKind};

/// More elements than this are written as one hexadecimal string.
const HEX_IF_LARGER: usize = 100;
/// The text for elements that are not printed.
const ELIDED: &str = "dense_resource<__elided__>";

/// The rule by which the type behind a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeElision {
    /// Always.
    Never,
    /// Unless it is the default, `i64` or `f64`.
    May,
    /// Never.
    Must,
}

impl OpPrinter<'_> {
    /// Writes an attribute, or its alias.
    pub(crate) fn attr_with(&mut self, attr: Attr, elision: TypeElision) {
        let is_noted = self.note(|p| p.collect_attr(attr, elision == TypeElision::Must, p.deferrable));
        if !is_noted && !self.attr_alias(attr) {
            self.attr_itself(attr, elision);
        }
    }

    pub(crate) fn attr_eliding_default(&mut self, attr: Attr) {
        self.attr_with(attr, TypeElision::May);
    }

    /// Writes an attribute, whatever its alias.
    pub(crate) fn attr_itself(&mut self, attr: Attr, elision: TypeElision) {
        let ctx = self.ctx;
        let ty = match attr.kind(ctx) {
            AttrKind::Unit => return self.write("unit"),
            AttrKind::Integer { value, ty: Type::I1 } => {
                return self.write(if *value != 0 { "true" } else { "false" });
            }
            AttrKind::Integer { value, ty } => {
                self.signed(*value);
                Some(*ty).filter(|ty| *ty != Type::I64 || elision != TypeElision::May)
            }
            AttrKind::WideInteger { bytes, ty } => {
                self.wide_integer(bytes, *ty);
                Some(*ty)
            }
            AttrKind::Float { bits, ty } => {
                let is_hex = self.float(*bits, *ty);
                Some(*ty).filter(|ty| *ty != Type::F64 || is_hex || elision != TypeElision::May)
            }
            AttrKind::String(bytes) => return self.string(bytes),
            AttrKind::TypedString { value, ty } => {
                self.string(value);
                Some(*ty)
            }
            AttrKind::Array(elements) => {
                self.write("[");
                self.nested(|p| p.comma_separated(elements.iter(), |p, e| p.attr_with(*e, TypeElision::May)));
                return self.write("]");
            }
            AttrKind::Dictionary(dict) => return self.nested(|p| p.dictionary(*dict)),
            AttrKind::Type(ty) => return self.ty(*ty),
            AttrKind::Symbol { root, nested } => return self.symbol(*root, nested),
            AttrKind::AffineMap(map) => {
                return self.enclosed("affine_map<", ">", |p| p.map_itself(*map));
            }
            AttrKind::IntegerSet(set) => {
                return self.enclosed("affine_set<", ">", |p| p.set_itself(*set));
            }
            AttrKind::Strided { offset, strides } => return self.strided(*offset, strides),
            AttrKind::DenseArray { element, bytes } => return self.dense_array(*element, bytes),
            AttrKind::DenseElements { ty, splat, bytes } => {
                self.elements(*ty, *splat, bytes, true);
                Some(*ty)
            }
            AttrKind::DenseStrings { ty, values } => {
                self.dense_strings(*ty, values);
                Some(*ty)
            }
            AttrKind::Sparse { ty, indices, values } => {
                self.sparse(*indices, *values);
                Some(*ty)
            }
            AttrKind::DenseResource { key, ty } => {
                self.resources.push((ctx.name("builtin"), *key));
                self.enclosed("dense_resource<", ">", |p| p.keyword_or_string(ctx.str(*key)));
                Some(*ty)
            }
            AttrKind::Location(loc) => {
                return self.enclosed("loc(", ")", |p| p.location(*loc, false, true));
            }
            AttrKind::Enum { name, value } => return self.enumerated(*name, *value),
            AttrKind::Dialect { name, params } => return self.dialect_attr(*name, *params),
            AttrKind::Opaque { dialect, body, pretty, ty } => {
                self.opaque("#", *dialect, body, *pretty);
                *ty
            }
            AttrKind::Distinct { id, inner } => return self.distinct_attr(attr, *id, *inner),
        };
        if let Some(ty) = ty.filter(|ty| *ty != Type::NONE && elision != TypeElision::Must) {
            self.write(" : ");
            self.ty(ty);
        }
    }

    fn enclosed(&mut self, open: &str, close: &str, content: impl FnOnce(&mut Self)) {
        self.write(open);
        content(self);
        self.write(close);
    }

    fn symbol(&mut self, root: Name, nested: &[Name]) {
        self.symbol_name(self.ctx.str(root));
        for name in nested {
            self.write("::");
            self.symbol_name(self.ctx.str(*name));
        }
    }

    fn strided(&mut self, offset: i64, strides: &[i64]) {
        self.write("strided<[");
        self.comma_separated(strides.iter(), |p, s| p.size(*s));
        self.write("]");
        if offset != 0 {
            self.write(", offset: ");
            self.size(offset);
        }
        self.write(">");
    }

    fn dense_array(&mut self, element: Type, bytes: &[u8]) {
        self.write("array<");
        self.ty(element);
        let width = element_width(self.ctx, element).max(1);
        if !bytes.is_empty() {
            self.write(": ");
            self.comma_separated(bytes.chunks_exact(width), |p, e| p.element(e, element));
        }
        self.write(">");
    }

    /// Writes a case of an enumeration: `#dialect<name case>` if the attribute is bare, otherwise
    /// `#dialect.name<case>`.
    fn enumerated(&mut self, name: Name, value: u64) {
        let def = self.ctx.enum_def(name);
        let is_bare = def.is_some_and(|def| def.storage == EnumStorage::BareAttribute);
        let text = def.and_then(|def| def.text_of(value)).unwrap_or_else(|| value.to_string());
        let name = self.ctx.str(name);
        let _ = match name.split_once('.').filter(|_| is_bare) {
            Some((dialect, mnemonic)) => write!(self.out, "#{dialect}<{mnemonic} {text}>"),
            None => write!(self.out, "#{name}<{text}>"),
        };
    }

    fn dialect_attr(&mut self, name: Name, params: Dict) {
        self.write("#");
        self.write(self.ctx.str(name));
        self.nested(|p| p.parameters(name, params));
    }

    /// Writes the parameters of a dialect's attribute.
    pub(super) fn parameters(&mut self, name: Name, params: Dict) {
        let ctx = self.ctx;
        if let Some(def) = ctx.struct_attr_def(name) {
            (def.print)(self, params.entries(ctx));
        } else if let Some(def) = ctx.parametric_attr(name) {
            let ordered: Vec<Attr> = def.parameters.iter().filter_map(|own| params.get(ctx, own)).collect();
            ParametricDef::print(self, ordered.into_iter());
        }
    }

    /// Writes a distinct attribute under its own number, or by its place among those written.
    fn distinct_attr(&mut self, attr: Attr, id: u64, inner: Attr) {
        let number = match &mut self.distinct {
            None => id,
            Some(numbers) => {
                let next = numbers.len();
                *numbers.entry(attr).or_insert(next) as u64
            }
        };
        let _ = write!(self.out, "distinct[{number}]<");
        if inner != Attr::UNIT {
            self.nested(|p| p.attr_with(inner, TypeElision::Never));
        }
        self.write(">");
    }

    /// Writes `name = attribute`, or the name alone of a unit attribute.
    pub(crate) fn named_attr(&mut self, name: Name, attr: Attr) {
        if self.mode == Mode::Collect {
            return self.attr_with(attr, TypeElision::Never);
        }
        self.keyword_or_string(self.ctx.str(name));
        if attr != Attr::UNIT {
            self.write(" = ");
            self.attr_with(attr, TypeElision::Never);
        }
    }

    pub(crate) fn dictionary_itself(&mut self, dict: Dict) {
        self.attr_entries(dict.entries(self.ctx));
    }

    /// Writes what a dialect nobody registered wrote.
    pub(crate) fn opaque(&mut self, sigil: &str, dialect: Name, body: &str, pretty: bool) {
        self.note_resources(dialect, body);
        self.write(sigil);
        self.write(self.ctx.str(dialect));
        self.write(if pretty { "." } else { "<" });
        self.nested(|p| p.opaque_body(body));
        self.write(if pretty { "" } else { ">" });
    }

    /// Writes a float; whether it was written by its bits.
    fn float(&mut self, bits: u128, ty: Type) -> bool {
        let TypeKind::Float(kind) = ty.kind(self.ctx) else {
            let _ = write!(self.out, "0x{bits:X}");
            return true;
        };
        let (text, is_hex) = float::to_text(*kind, bits);
        self.write(&text);
        is_hex
    }

    fn wide_integer(&mut self, bytes: &[u8], ty: Type) {
        let unsigned =
            matches!(ty.kind(self.ctx), TypeKind::Integer { signedness: Signedness::Unsigned, .. });
        let value = if unsigned {
            num_bigint::BigInt::from_bytes_le(num_bigint::Sign::Plus, bytes)
        } else {
            num_bigint::BigInt::from_signed_bytes_le(bytes)
        };
        let _ = write!(self.out, "{value}");
    }

    /// Writes `dense<…>`.
    fn elements(&mut self, ty: Type, splat: bool, bytes: &[u8], may_be_hex: bool) {
        let ctx = self.ctx;
        let shape = ty.shape(ctx).unwrap_or_default();
        let element = ty.element(ctx).unwrap_or(ty);
        let width = element_width(ctx, element).max(1);
        let count = bytes.len() / width;
        if self.elides(splat, count) {
            return self.write(ELIDED);
        }
        self.write("dense<");
        if !splat && may_be_hex && count > HEX_IF_LARGER {
            self.write("\"0x");
            if element == Type::I1 {
                // Eight to a byte, the first in the lowest bit.
                let pack = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit & 1));
                let packed: Vec<u8> = bytes.chunks(8).map(pack).collect();
                self.hex(&packed);
            } else {
                self.hex(bytes);
            }
            self.write("\"");
        } else {
            self.nested_elements(shape, splat, count, |p, i| {
                p.element(&bytes[i * width..(i + 1) * width], element);
            });
        }
        self.write(">");
    }

    fn dense_strings(&mut self, ty: Type, values: &[Box<[u8]>]) {
        let splat = values.len() == 1;
        if self.elides(splat, values.len()) {
            return self.write(ELIDED);
        }
        self.write("dense<");
        let shape = ty.shape(self.ctx).unwrap_or_default();
        self.nested_elements(shape, splat, values.len(), |p, i| p.string(&values[i]));
        self.write(">");
    }

    /// True if so many elements are more than shall be printed.
    fn elides(&self, splat: bool, count: usize) -> bool {
        !splat && self.options.elide_elements_larger_than.is_some_and(|limit| count > limit)
    }

    fn sparse(&mut self, indices: Attr, values: Attr) {
        let ctx = self.ctx;
        let is_large = |attr: Attr| match attr.kind(ctx) {
            AttrKind::DenseElements { ty, splat, bytes } => {
                let width = element_width(ctx, ty.element(ctx).unwrap_or(*ty)).max(1);
                self.elides(*splat, bytes.len() / width)
            }
            AttrKind::DenseStrings { values, .. } => self.elides(values.len() == 1, values.len()),
            _ => false,
        };
        if is_large(indices) || is_large(values) {
            return self.write(ELIDED);
        }
        self.write("sparse<");
        if let AttrKind::DenseElements { ty, splat, bytes } = indices.kind(ctx)
            && !ty.shape(ctx).unwrap_or_default().contains(&0)
        {
            let shape = ty.shape(ctx).unwrap_or_default();
            let count = bytes.len() / 8;
            self.nested_elements(shape, *splat, count, |p, i| {
                p.element(&bytes[i * 8..(i + 1) * 8], Type::I64)
            });
            self.write(", ");
            match values.kind(ctx) {
                AttrKind::DenseElements { ty, splat, bytes } => {
                    let element = ty.element(ctx).unwrap_or(*ty);
                    let width = element_width(ctx, element).max(1);
                    let shape = ty.shape(ctx).unwrap_or_default();
                    self.nested_elements(shape, *splat, bytes.len() / width, |p, i| {
                        p.element(&bytes[i * width..(i + 1) * width], element);
                    });
                }
                AttrKind::DenseStrings { ty, values } => {
                    let shape = ty.shape(ctx).unwrap_or_default();
                    self.nested_elements(shape, values.len() == 1, values.len(), |p, i| p.string(&values[i]));
                }
                _ => {}
            }
        }
        self.write(">");
    }

    pub(crate) fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.out.reserve(2 * bytes.len());
        for byte in bytes {
            self.out.push(DIGITS[(byte >> 4) as usize] as char);
            self.out.push(DIGITS[(byte & 15) as usize] as char);
        }
    }

    /// Writes elements in the brackets of their shape; one for all if they are a splat.
    fn nested_elements(
        &mut self,
        shape: &[i64],
        splat: bool,
        count: usize,
        mut element: impl FnMut(&mut Self, usize),
    ) {
        if splat {
            return element(self, 0);
        }
        let rank = shape.len();
        let mut open = 0;
        let mut counter = vec![0i64; rank];
        for i in 0..count {
            if i > 0 {
                self.write(", ");
            }
            while open < rank {
                self.write("[");
                open += 1;
            }
            element(self, i);
            // The next position: each dimension that is full closes its bracket.
            for d in (0..rank).rev() {
                counter[d] += 1;
                if counter[d] < shape[d] {
                    break;
                }
                counter[d] = 0;
                self.write("]");
                open -= 1;
            }
        }
    }

    /// Writes one element, without its type.
    fn element(&mut self, bytes: &[u8], ty: Type) {
        let ctx = self.ctx;
        match ty.kind(ctx) {
            TypeKind::Complex(part) => {
                let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                self.write("(");
                self.element(real, *part);
                self.write(",");
                self.element(imaginary, *part);
                self.write(")");
            }
            TypeKind::Float(_) => {
                let mut wide = [0; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                self.float(u128::from_le_bytes(wide), ty);
            }
            TypeKind::Integer { width: 1, .. } if ty == Type::I1 => {
                self.write(if bytes.first().is_some_and(|b| b & 1 != 0) { "true" } else { "false" });
            }
            TypeKind::Integer { signedness, .. } if bytes.len() <= 16 => {
                let negative =
                    bytes.last().is_some_and(|b| b & 0x80 != 0) && *signedness != Signedness::Unsigned;
                let mut wide = [if negative { 0xff } else { 0 }; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                let _ = write!(self.out, "{}", i128::from_le_bytes(wide));
            }
            TypeKind::Index => {
                let mut wide = [0; 8];
                wide.copy_from_slice(bytes);
                let _ = write!(self.out, "{}", i64::from_le_bytes(wide));
            }
            _ => self.wide_integer(bytes, ty),
        }
    }
}
