//! Constants: literals, aggregates, addresses, and expressions of them.
//!
//! A constant is read to a tree first. A constant that fits an attribute becomes
//! `llvm.mlir.constant`. `undef`, `poison`, zero and addresses have operations of their own. Other
//! aggregates are built by insertions, expressions by their instructions. All these operations are
//! at the start of the function, each once, or in the initializer of a global.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_dialects::llvm::control::addresses::block_address;
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::{
    Attr, AttrKind, Body, Builder, Context, InsertPoint, Loc, OpDef, OperationState, Type, TypeKind, Value,
};

use super::instructions::gep_flags;
use super::lexer::{Kind, unescape};
use super::{MAX_DEPTH, Reader, Result, numbers};
use crate::ll::IN_RANGE;
use crate::ll::as_read::expression_size;

/// A constant whose type is known from the context.
#[derive(Clone, Debug)]
pub(super) enum Constant {
    /// A number, or bytes.
    Attr(Attr),
    /// All bits zero; for pointers `null`.
    Zero,
    /// `undef`
    Undef,
    /// `poison`
    Poison,
    /// `none`
    NoToken,
    /// The address of a global or function.
    Address(String),
    /// The address of a block.
    Block(Attr),
    /// The parts of a struct, array or vector.
    Parts(Vec<(Type, Constant)>),
    /// An instruction applied to constants.
    Expression(Box<Expression>),
}

/// An instruction on constants.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    def: &'static OpDef,
    operands: Vec<(Type, Constant)>,
    attrs: Vec<(&'static str, Attr)>,
    /// Its type, if it is written.
    to: Option<Type>,
}

impl Constant {
    /// Returns the type written in an expression.
    pub(super) fn written_type(&self) -> Option<Type> {
        match self {
            Constant::Expression(expression) => expression.to,
            _ => None,
        }
    }
}

/// Creates constants in a body, each once.
pub(super) struct Constants {
    point: InsertPoint,
    /// The location for the next constants.
    pub(super) loc: Loc,
    known: HashMap<(loomir_ir::OpName, Attr, Type), Value>,
    /// The expressions that can be written as such, with their sizes.
    pub(super) expressions: HashMap<Value, usize>,
}

impl Constants {
    /// Returns constants that are inserted at a point, each after the one before.
    pub(super) fn at(point: InsertPoint, loc: Loc) -> Constants {
        Constants { point, loc, known: HashMap::new(), expressions: HashMap::new() }
    }

    /// Returns the value of a constant. Recurses for nested constants. The reader bounds the
    /// nesting depth.
    pub(super) fn value(&mut self, body: &mut Body, constant: &Constant, ty: Type) -> Value {
        let ctx = body.ctx().clone();
        if let Some(attr) = as_attr(&ctx, constant, ty) {
            return self.make(body, llvm::ConstantOp::DEF, "value", attr, ty);
        }
        let simple = match constant {
            Constant::Zero => llvm::ZeroOp::DEF,
            Constant::Undef => llvm::UndefOp::DEF,
            Constant::Poison => llvm::PoisonOp::DEF,
            Constant::NoToken => llvm::NoneTokenOp::DEF,
            Constant::Address(name) => {
                let name = ctx.symbol_attr(name);
                return self.make(body, llvm::AddressOfOp::DEF, "global_name", name, ty);
            }
            Constant::Block(block) => {
                return self.make(body, llvm::BlockAddressOp::DEF, "block_addr", *block, ty);
            }
            Constant::Attr(attr) => return self.make(body, llvm::ConstantOp::DEF, "value", *attr, ty),
            Constant::Parts(parts) => return self.build(body, parts, ty),
            Constant::Expression(expression) => {
                let operands: Vec<Value> =
                    expression.operands.iter().map(|(ty, part)| self.value(body, part, *ty)).collect();
                let mut state =
                    OperationState::of(&ctx, expression.def, self.loc).operands(&operands).results(&[ty]);
                state.set_attrs(&ctx, &expression.attrs);
                let value = self.insert(body, state);
                // The place of an insertion into an expression may be no number.
                if body.defining_op(value).is_some_and(|op| !body.is(op, llvm::InsertElementOp::DEF)) {
                    self.note(body, value);
                }
                return value;
            }
        };
        self.make(body, simple, "", Attr::UNIT, ty)
    }

    /// Builds an aggregate part by part.
    fn build(&mut self, body: &mut Body, parts: &[(Type, Constant)], ty: Type) -> Value {
        let ctx = body.ctx().clone();
        let mut whole = self.value(body, &Constant::Poison, ty);
        let is_vector = matches!(ty.kind(&ctx), TypeKind::Vector { .. });
        let is_scalable =
            matches!(ty.kind(&ctx), TypeKind::Vector { scalable, .. } if scalable.contains(&true));
        for (index, (part_ty, part)) in parts.iter().enumerate() {
            if matches!(part, Constant::Poison) {
                continue;
            }
            let value = self.value(body, part, *part_ty);
            let state = if is_vector {
                let at = ctx.int_attr(Type::I32, index as i64);
                let at = self.make(body, llvm::ConstantOp::DEF, "value", at, Type::I32);
                OperationState::of(&ctx, llvm::InsertElementOp::DEF, self.loc).operands(&[whole, value, at])
            } else {
                let position = ctx.dense_ints_attr(Type::I64, &[index as i64]);
                OperationState::of(&ctx, llvm::InsertValueOp::DEF, self.loc)
                    .operands(&[whole, value])
                    .attr(&ctx, "position", position)
            };
            whole = self.insert(body, state.results(&[ty]));
            if !is_scalable {
                self.note(body, whole);
            }
        }
        whole
    }

    /// Notes an expression that can be written as such.
    fn note(&mut self, body: &Body, value: Value) {
        let op = body.defining_op(value);
        let size = op.and_then(|op| expression_size(body, op, |part| self.expressions.get(&part).copied()));
        if let Some(size) = size {
            self.expressions.insert(value, size);
        }
    }

    fn make(&mut self, body: &mut Body, def: &'static OpDef, name: &str, attr: Attr, ty: Type) -> Value {
        let ctx = body.ctx().clone();
        let key = (ctx.op_name_of(def), attr, ty);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut state = OperationState::of(&ctx, def, self.loc).results(&[ty]);
        if !name.is_empty() {
            state.set_attr(&ctx, name, attr);
        }
        let value = self.insert(body, state);
        self.known.insert(key, value);
        value
    }

    fn insert(&mut self, body: &mut Body, state: OperationState) -> Value {
        let mut builder = Builder::new(body, self.point);
        let op = builder.insert(state);
        self.point = builder.point();
        body.result(op, 0)
    }
}

/// Returns the equivalent attribute, if there is one.
pub(super) fn as_attr(ctx: &Context, constant: &Constant, ty: Type) -> Option<Attr> {
    match constant {
        Constant::Attr(attr) => Some(*attr),
        Constant::Zero => match ty.kind(ctx) {
            TypeKind::Integer { .. } => Some(ctx.int_attr(ty, 0)),
            TypeKind::Float(_) => Some(ctx.attr(AttrKind::Float { bits: 0, ty })),
            _ => None,
        },
        Constant::Parts(parts) => elements(ctx, parts, ty),
        _ => None,
    }
}

/// Returns numbers of one type as dense elements: of a vector or an array, including arrays of
/// arrays.
fn elements(ctx: &Context, parts: &[(Type, Constant)], ty: Type) -> Option<Attr> {
    let mut shape = Vec::new();
    let mut element = ty;
    let is_vector = matches!(ty.kind(ctx), TypeKind::Vector { .. });
    if let TypeKind::Vector { element: own, .. } = ty.kind(ctx) {
        (element, shape) = (*own, vec![parts.len() as i64]);
    } else {
        while let Some(LlvmType::Array { length, element: inner }) = LlvmType::of(ctx, element) {
            shape.push(i64::try_from(length).ok()?);
            element = inner;
        }
    }
    let width = match element.kind(ctx) {
        TypeKind::Integer { width, .. } if *width <= 64 => *width,
        TypeKind::Float(kind) if kind.width() <= 64 => kind.width(),
        _ => return None,
    };
    let width = width.div_ceil(8).max(1) as usize;
    let mut bytes = Vec::new();
    push_elements(ctx, parts, width, &mut bytes)?;
    if shape.is_empty() || bytes.is_empty() {
        return None;
    }
    let shaped = if is_vector {
        ty
    } else {
        ctx.ty(TypeKind::Tensor { shape: Some(shape.into()), element, encoding: None })
    };
    let splat = bytes.chunks_exact(width).all(|chunk| chunk == &bytes[..width]);
    if splat {
        bytes.truncate(width);
    }
    Some(ctx.attr(AttrKind::DenseElements { ty: shaped, splat, bytes: bytes.into() }))
}

fn push_elements(ctx: &Context, parts: &[(Type, Constant)], width: usize, bytes: &mut Vec<u8>) -> Option<()> {
    for (ty, part) in parts {
        match part {
            Constant::Parts(inner) => push_elements(ctx, inner, width, bytes)?,
            Constant::Zero => bytes.resize(bytes.len() + scalars(ctx, *ty)?.checked_mul(width)?, 0),
            _ => {
                let bits = match as_attr(ctx, part, *ty)?.kind(ctx) {
                    AttrKind::Integer { value, .. } => *value as u128,
                    AttrKind::Float { bits, .. } => *bits,
                    AttrKind::String(text) if width == 1 => {
                        bytes.extend_from_slice(text);
                        continue;
                    }
                    _ => return None,
                };
                // A truth value occupies one byte, zero or one.
                let bits = if ty.integer_width(ctx) == Some(1) { bits & 1 } else { bits };
                bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
            }
        }
    }
    Some(())
}

/// Returns the number of scalars in an array.
fn scalars(ctx: &Context, ty: Type) -> Option<usize> {
    let (mut count, mut ty) = (1usize, ty);
    while let Some(LlvmType::Array { length, element }) = LlvmType::of(ctx, ty) {
        count = count.checked_mul(usize::try_from(length).ok()?).filter(|count| *count <= MAX_WRITTEN_OUT)?;
        ty = element;
    }
    let is_number = matches!(ty.kind(ctx), TypeKind::Integer { .. } | TypeKind::Float(_));
    is_number.then_some(count)
}

/// The maximal number of zeros that are written out among other numbers.
const MAX_WRITTEN_OUT: usize = 1 << 20;

/// Folds a constant expression of numbers, as LLVM does.
fn folded(ctx: &Context, word: &str, expression: &Expression) -> Option<Attr> {
    let number = |index: usize| {
        let (ty, constant) = expression.operands.get(index)?;
        let width = ty.integer_width(ctx).filter(|width| *width <= 64)?;
        Some((*ty, width, as_attr(ctx, constant, *ty)?.as_int(ctx)?))
    };
    let wrap = |ty: Type, width: u32, value: i64| {
        let unused = 64 - width;
        ctx.int_attr(ty, i128::from(value << unused >> unused))
    };
    match word {
        "ptrtoint" if matches!(expression.operands[..], [(_, Constant::Zero)]) => {
            let ty = expression.to?;
            ty.integer_width(ctx).is_some().then(|| ctx.int_attr(ty, 0))
        }
        "trunc" => {
            let ty = expression.to?;
            Some(wrap(ty, ty.integer_width(ctx)?, number(0)?.2))
        }
        "add" | "sub" | "xor" => {
            let ((ty, width, a), (_, _, b)) = (number(0)?, number(1)?);
            Some(wrap(
                ty,
                width,
                match word {
                    "add" => a.wrapping_add(b),
                    "sub" => a.wrapping_sub(b),
                    _ => a ^ b,
                },
            ))
        }
        _ => None,
    }
}

impl Reader<'_> {
    /// Reads a constant of a type.
    pub(super) fn constant(&mut self, ty: Type) -> Result<Constant> {
        self.constant_inside(ty, 0)
    }

    /// Reads a type and a constant of it.
    pub(super) fn typed_constant(&mut self, depth: usize) -> Result<(Type, Constant)> {
        let ty = self.ty()?;
        Ok((ty, self.constant_inside(ty, depth + 1)?))
    }

    fn constant_inside(&mut self, ty: Type, depth: usize) -> Result<Constant> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("constants nest deeper than {MAX_DEPTH} levels")));
        }
        match self.kind() {
            Kind::Integer => self.integer(ty).map(Constant::Attr),
            Kind::Float | Kind::Hex => self.float(ty).map(Constant::Attr),
            Kind::Global => self.global_name().map(Constant::Address),
            Kind::Bytes => {
                let text = self.text();
                let bytes = unescape(&text[2..text.len() - 1]);
                let length = bytes.len() as u64;
                if LlvmType::of(&self.ctx, ty) != Some(LlvmType::Array { length, element: Type::I8 }) {
                    return Err(self.error(format!("expected an array of {length} i8 for this text")));
                }
                self.advance();
                Ok(Constant::Attr(self.ctx.attr(AttrKind::String(bytes.into()))))
            }
            Kind::Sign => self.aggregate(ty, depth),
            Kind::Word => self.worded(ty, depth),
            _ => Err(self.error("expected a value")),
        }
    }

    fn worded(&mut self, ty: Type, depth: usize) -> Result<Constant> {
        let constant = match self.text() {
            "true" | "false" => {
                if ty != Type::I1 {
                    return Err(self.error("only an i1 is 'true' or 'false'"));
                }
                Constant::Attr(self.ctx.bool_attr(self.text() == "true"))
            }
            "null" | "zeroinitializer" => Constant::Zero,
            "undef" => Constant::Undef,
            "poison" => Constant::Poison,
            "none" => Constant::NoToken,
            "splat" => {
                self.advance();
                self.expect("(")?;
                let (element, value) = self.typed_constant(depth)?;
                self.expect(")")?;
                return self.splat(ty, element, value);
            }
            _ => return self.expression(depth),
        };
        self.advance();
        Ok(constant)
    }

    fn splat(&mut self, ty: Type, element: Type, value: Constant) -> Result<Constant> {
        let TypeKind::Vector { element: own, shape, scalable } = ty.kind(&self.ctx) else {
            return Err(self.error("only a vector has a splat"));
        };
        if *own != element {
            return Err(self.error("the splat is of another type than the elements of the vector"));
        }
        if let Some(value) = as_attr(&self.ctx, &value, element) {
            let (bits, width) = match (value.kind(&self.ctx), element.kind(&self.ctx)) {
                (AttrKind::Integer { value, .. }, TypeKind::Integer { width, .. }) => {
                    (*value as u128, *width)
                }
                (AttrKind::Float { bits, .. }, TypeKind::Float(kind)) => (*bits, kind.width()),
                _ => return Err(self.error("a splat of this type is not supported")),
            };
            let bits = if width == 1 { bits & 1 } else { bits };
            let width = (width.div_ceil(8) as usize).clamp(1, 16);
            let bytes = bits.to_le_bytes()[..width].into();
            let dense = AttrKind::DenseElements { ty, splat: true, bytes };
            return Ok(Constant::Attr(self.ctx.attr(dense)));
        }
        let count = usize::try_from(shape[0]).unwrap_or(usize::MAX);
        if count > MAX_WRITTEN_OUT {
            return Err(self.error("a splat of so many elements is not supported"));
        }
        if scalable.contains(&true) {
            // The first lane is copied to all others, whose number is not known.
            let mask = self.ctx.dense_ints_attr(Type::I32, &vec![0; count]);
            let first = Constant::Parts(vec![(element, value)]);
            return Ok(Constant::Expression(Box::new(Expression {
                def: llvm::ShuffleVectorOp::DEF,
                operands: vec![(ty, first), (ty, Constant::Poison)],
                attrs: vec![("mask", mask)],
                to: None,
            })));
        }
        Ok(Constant::Parts(vec![(element, value); count]))
    }

    /// Reads `[…]`, `{…}`, `<…>` or `<{…}>` with as many parts as the type has.
    fn aggregate(&mut self, ty: Type, depth: usize) -> Result<Constant> {
        let (here, packed) = (self.pos, self.is_sign("<") && self.is_sign_behind("{"));
        let close = match self.text() {
            "[" => "]",
            "{" => "}",
            "<" if packed => "}",
            "<" => ">",
            _ => return Err(self.error("expected a value")),
        };
        self.advance();
        if packed {
            self.advance();
        }
        let mut parts = Vec::new();
        while !self.accept(close) {
            if !parts.is_empty() {
                self.expect(",")?;
            }
            parts.push(self.typed_constant(depth)?);
        }
        if packed {
            self.expect(">")?;
        }
        let expected: Option<Vec<Type>> = match (ty.kind(&self.ctx), LlvmType::of(&self.ctx, ty)) {
            (TypeKind::Vector { shape, element, .. }, _) if shape[0] as usize == parts.len() => {
                Some(vec![*element; parts.len()])
            }
            (_, Some(LlvmType::Array { length, element })) if length as usize == parts.len() => {
                Some(vec![element; parts.len()])
            }
            (_, Some(LlvmType::Struct(s))) => s.body,
            _ => None,
        };
        if expected.is_none_or(|expected| !expected.iter().eq(parts.iter().map(|(ty, _)| ty))) {
            return Err(self.error_at(here, "the parts do not fit the type"));
        }
        Ok(Constant::Parts(parts))
    }

    fn integer(&mut self, ty: Type) -> Result<Attr> {
        if ty.integer_width(&self.ctx).is_none() {
            return Err(self.error("an integer, but not of integer type"));
        }
        let value = numbers::integer(&self.ctx, ty, self.text());
        let value = value.ok_or_else(|| self.error("integers with so many digits are not supported"))?;
        self.advance();
        Ok(value)
    }

    fn float(&mut self, ty: Type) -> Result<Attr> {
        let TypeKind::Float(kind) = ty.kind(&self.ctx) else {
            if self.text().starts_with(['u', 's']) {
                return self.integer(ty);
            }
            return Err(self.error("a float, but not of floating-point type"));
        };
        let bits = numbers::float_bits(self.text(), *kind)
            .ok_or_else(|| self.error("this is not exactly a number of the type"))?;
        self.advance();
        Ok(self.ctx.attr(AttrKind::Float { bits, ty }))
    }

    /// `op (operands)`.
    fn expression(&mut self, depth: usize) -> Result<Constant> {
        let here = self.pos;
        let word = self.text();
        let def = match word {
            "getelementptr" => return self.address_expression(depth),
            "extractelement" | "insertelement" | "shufflevector" => return self.lane_expression(word, depth),
            "ptrtoint" => llvm::PtrToIntOp::DEF,
            "inttoptr" => llvm::IntToPtrOp::DEF,
            "bitcast" => llvm::BitcastOp::DEF,
            "addrspacecast" => llvm::AddrSpaceCastOp::DEF,
            "trunc" => llvm::TruncOp::DEF,
            "add" => llvm::AddOp::DEF,
            "sub" => llvm::SubOp::DEF,
            "xor" => llvm::XOrOp::DEF,
            "blockaddress" => return self.block_address(),
            _ => return Err(self.error("expected a value")),
        };
        self.advance();
        let mut attrs = Vec::new();
        if let Some(flags) = self.overflow_flags()? {
            attrs.push(("overflowFlags", flags));
        }
        self.expect("(")?;
        let mut operands = vec![self.typed_constant(depth)?];
        let mut to = None;
        if self.accept_word("to") {
            to = Some(self.ty()?);
        } else if matches!(word, "add" | "sub" | "xor") {
            self.expect(",")?;
            operands.push(self.typed_constant(depth)?);
        } else {
            return Err(self.error_at(here, "expected 'to' and a type"));
        }
        self.expect(")")?;
        let expression = Expression { def, operands, attrs, to };
        if let Some(number) = folded(&self.ctx, word, &expression) {
            return Ok(Constant::Attr(number));
        }
        Ok(Constant::Expression(Box::new(expression)))
    }

    /// Reads `blockaddress(@f, %block)`.
    fn block_address(&mut self) -> Result<Constant> {
        self.advance();
        self.expect("(")?;
        let function = self.global_name()?;
        self.expect(",")?;
        let here = self.pos;
        let block = self.local_name()?;
        self.expect(")")?;
        let Some(tag) = self.taken.tag(&function, &block) else {
            return Err(self.error_at(here, "expected a block"));
        };
        Ok(Constant::Block(block_address(&self.ctx, &function, tag)))
    }

    /// Reads an expression of lanes of vectors, such as `extractelement (<2 x i8> %v, i32 0)`.
    fn lane_expression(&mut self, word: &str, depth: usize) -> Result<Constant> {
        self.advance();
        self.expect("(")?;
        let first = self.typed_constant(depth)?;
        let (ty, mut to, mut attrs) = (first.0, first.0, Vec::new());
        let TypeKind::Vector { element, scalable, .. } = ty.kind(&self.ctx).clone() else {
            return Err(self.error("expected a vector"));
        };
        let mut operands = vec![first];
        self.expect(",")?;
        operands.push(self.typed_constant(depth)?);
        let def = match word {
            "extractelement" => {
                to = element;
                llvm::ExtractElementOp::DEF
            }
            "insertelement" => {
                self.expect(",")?;
                operands.push(self.typed_constant(depth)?);
                llvm::InsertElementOp::DEF
            }
            _ => {
                self.expect(",")?;
                let mask = self.mask()?;
                let kind = TypeKind::Vector { shape: Box::new([mask.len() as i64]), scalable, element };
                to = self.ctx.ty(kind);
                attrs.push(("mask", self.ctx.dense_ints_attr(Type::I32, &mask)));
                llvm::ShuffleVectorOp::DEF
            }
        };
        self.expect(")")?;
        Ok(Constant::Expression(Box::new(Expression { def, operands, attrs, to: Some(to) })))
    }

    fn address_expression(&mut self, depth: usize) -> Result<Constant> {
        self.advance();
        let mut flags = 0;
        while let Some(flag) = gep_flags(self.text()) {
            flags |= flag;
            self.advance();
        }
        let mut range = None;
        if self.is_word("inrange") {
            let start = self.pos;
            self.advance();
            let end = self.skip_balanced()?.1;
            range = Some(self.ctx.string_attr(self.slice(start, end)));
        }
        self.expect("(")?;
        let element = self.ty()?;
        self.expect(",")?;
        let mut operands = vec![self.typed_constant(depth)?];
        let mut indices = Vec::new();
        while self.accept(",") {
            let (ty, index) = self.typed_constant(depth)?;
            let known = match as_attr(&self.ctx, &index, ty).and_then(|attr| attr.as_int(&self.ctx)) {
                Some(known) if i32::try_from(known).is_ok() && known != DYNAMIC_INDEX => Some(known),
                _ => None,
            };
            indices.push(known.unwrap_or(DYNAMIC_INDEX));
            if known.is_none() {
                operands.push((ty, index));
            }
        }
        self.expect(")")?;
        let mut attrs = vec![
            ("rawConstantIndices", self.ctx.dense_ints_attr(Type::I32, &indices)),
            ("elem_type", self.ctx.type_attr(element)),
            ("noWrapFlags", self.ctx.int_attr(Type::I32, flags)),
        ];
        attrs.extend(range.map(|range| (IN_RANGE, range)));
        Ok(Constant::Expression(Box::new(Expression { def: llvm::GEPOp::DEF, operands, attrs, to: None })))
    }
}
