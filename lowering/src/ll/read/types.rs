//! Types.

use loomir_dialects::llvm::types::{Struct, array, function, pointer_in, struct_type, void};
use loomir_ir::{FloatKind, Type, TypeKind};

use super::lexer::Kind;
use super::{MAX_DEPTH, Reader, Result};

/// The type behind a name.
pub(super) enum Named {
    /// Defined by the text that begins at this token.
    At(usize),
    /// Being read.
    Open,
    /// Read.
    Known(Type),
}

/// The maximal width of an integer in LLVM.
const MAX_BITS: u32 = 1 << 23;

impl<'s> Reader<'s> {
    /// True if a type begins here.
    pub(super) fn is_type(&self) -> bool {
        match self.kind() {
            Kind::Word => {
                let word = self.text();
                integer_width(word).is_some()
                    || word == "ptr"
                    || word == "target"
                    || self.simple(word).is_some()
            }
            Kind::Sign => matches!(self.text(), "<" | "[" | "{"),
            Kind::Local => self.types.contains_key(self.text()),
            _ => false,
        }
    }

    /// Reads a type, including `void`.
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.type_inside(0)
    }

    fn type_inside(&mut self, depth: usize) -> Result<Type> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("types nest deeper than {MAX_DEPTH} levels")));
        }
        let mut ty = self.simple_type(depth)?;
        loop {
            // A pointer type no longer contains the type that it points to.
            if self.is_sign("*") || self.is_word("addrspace") && self.is_pointer_behind_space() {
                let space = self.address_space()?;
                self.expect("*")?;
                ty = pointer_in(&self.ctx, space);
                continue;
            }
            if !self.accept("(") {
                return Ok(ty);
            }
            let mut params = Vec::new();
            let mut variadic = false;
            while !self.accept(")") {
                if !params.is_empty() {
                    self.expect(",")?;
                }
                if self.accept("...") {
                    variadic = true;
                    self.expect(")")?;
                    break;
                }
                params.push(self.type_inside(depth + 1)?);
            }
            ty = function(&self.ctx, ty, &params, variadic);
        }
    }

    /// True if `addrspace(n) *` is here.
    fn is_pointer_behind_space(&self) -> bool {
        self.is_sign_at(self.pos + 1, "(") && self.is_sign_at(self.pos + 4, "*")
    }

    fn simple(&self, word: &str) -> Option<Type> {
        let float = |kind| Some(self.ctx.float_type(kind));
        let own = |name: &str| Some(self.ctx.dialect_type(name, &[]));
        match word {
            "void" => Some(void(&self.ctx)),
            "half" => float(FloatKind::F16),
            "bfloat" => float(FloatKind::BF16),
            "float" => float(FloatKind::F32),
            "double" => float(FloatKind::F64),
            "x86_fp80" => float(FloatKind::F80),
            "fp128" => float(FloatKind::F128),
            "ppc_fp128" => own("llvm.ppc_fp128"),
            "label" => own("llvm.label"),
            "metadata" => own("llvm.metadata"),
            "token" => own("llvm.token"),
            "x86_amx" => own("llvm.x86_amx"),
            _ => None,
        }
    }

    fn simple_type(&mut self, depth: usize) -> Result<Type> {
        let text = self.text();
        match self.kind() {
            Kind::Word => {
                let known = match integer_width(text) {
                    Some(width) if (1..=MAX_BITS).contains(&width) => Some(self.ctx.int_type(width)),
                    Some(_) => return Err(self.error(format!("integers have 1 to {MAX_BITS} bits"))),
                    None => self.simple(text),
                };
                if let Some(ty) = known {
                    self.advance();
                    return Ok(ty);
                }
                if self.accept_word("ptr") {
                    let space = self.address_space()?;
                    return Ok(pointer_in(&self.ctx, space));
                }
                if self.is_word("target") {
                    return self.target_type(depth);
                }
                Err(self.error("expected a type"))
            }
            Kind::Local => self.named_type(depth),
            Kind::Sign => self.compound_type(depth),
            _ => Err(self.error("expected a type")),
        }
    }

    /// `addrspace(n)`, or nothing.
    pub(super) fn address_space(&mut self) -> Result<u32> {
        if !self.accept_word("addrspace") {
            return Ok(0);
        }
        self.expect("(")?;
        let space = self.number()?;
        self.expect(")")?;
        Ok(space)
    }

    fn compound_type(&mut self, depth: usize) -> Result<Type> {
        if self.accept("<") {
            if self.is_sign("{") {
                self.advance();
                let body = self.types_until("}", depth)?;
                self.expect(">")?;
                return Ok(struct_type(
                    &self.ctx,
                    &Struct { name: None, packed: true, body: Some(body), opaque: false },
                ));
            }
            let scales = self.accept_word("vscale");
            if scales {
                self.expect_word("x")?;
            }
            let at = self.pos;
            let size: u64 = self.number()?;
            self.expect_word("x")?;
            let element = self.type_inside(depth + 1)?;
            self.expect(">")?;
            if size == 0 || size > u64::from(u32::MAX) {
                return Err(self.error_at(at, "a vector has 1 to 4294967295 elements"));
            }
            let kind =
                TypeKind::Vector { shape: Box::new([size as i64]), scalable: Box::new([scales]), element };
            return Ok(self.ctx.ty(kind));
        }
        if self.accept("[") {
            let size: u64 = self.number()?;
            self.expect_word("x")?;
            let element = self.type_inside(depth + 1)?;
            self.expect("]")?;
            return Ok(array(&self.ctx, size, element));
        }
        self.expect("{").map_err(|_| self.error("expected a type"))?;
        let body = self.types_until("}", depth)?;
        Ok(struct_type(&self.ctx, &Struct { name: None, packed: false, body: Some(body), opaque: false }))
    }

    /// `target("name", types…, numbers…)`.
    fn target_type(&mut self, depth: usize) -> Result<Type> {
        self.advance();
        self.expect("(")?;
        let mut params = vec![self.string_attr()?];
        while self.accept(",") {
            params.push(match self.kind() {
                Kind::Integer => {
                    let number: u32 = self.number()?;
                    self.ctx.int_attr(Type::I32, i128::from(number))
                }
                _ => {
                    let ty = self.type_inside(depth + 1)?;
                    self.ctx.type_attr(ty)
                }
            });
        }
        self.expect(")")?;
        Ok(self.ctx.dialect_type("llvm.target", &params))
    }

    fn types_until(&mut self, close: &str, depth: usize) -> Result<Vec<Type>> {
        let mut types = Vec::new();
        while !self.accept(close) {
            if !types.is_empty() {
                self.expect(",")?;
            }
            types.push(self.type_inside(depth + 1)?);
        }
        Ok(types)
    }

    /// Reads `%name`. The first use reads its definition.
    fn named_type(&mut self, depth: usize) -> Result<Type> {
        let text = self.text();
        let here = self.pos;
        let at = match self.types.get(text) {
            Some(Named::Known(ty)) => {
                let ty = *ty;
                self.advance();
                return Ok(ty);
            }
            Some(Named::At(at)) => *at,
            Some(Named::Open) => return Err(self.error("a struct contains itself")),
            None => return Err(self.error("this type is not defined")),
        };
        self.types.insert(text, Named::Open);
        let name = self.ctx.name(&self.name_at(here)?);
        if !self.type_names.insert(name) {
            return Err(self.error("two types have this name"));
        }
        self.pos = at;
        let is_packed = self.is_sign("<") && self.is_sign_behind("{");
        let ty = if self.accept_word("opaque") {
            let opaque = Struct { name: Some(name), packed: false, body: None, opaque: true };
            struct_type(&self.ctx, &opaque)
        } else if is_packed || self.is_sign("{") {
            self.pos += if is_packed { 2 } else { 1 };
            let body = self.types_until("}", depth)?;
            let own = Struct { name: Some(name), packed: is_packed, body: Some(body), opaque: false };
            struct_type(&self.ctx, &own)
        } else {
            // Another name of a type.
            self.type_inside(depth + 1)?
        };
        self.types.insert(text, Named::Known(ty));
        self.pos = here + 1;
        Ok(ty)
    }
}

/// `N` of `iN`.
fn integer_width(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('i')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}
