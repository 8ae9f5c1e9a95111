//! Shorthands that emit `llvm` operations at the end of the current block.

use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::pointer;
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Attr, Block, OpDef, Type, Value};

use super::function::FunctionConverter;

/// No flags of integer arithmetic or address computation.
pub const NONE: i64 = 0;
/// `overflow<nsw>`.
pub const NSW: i64 = 1;
/// `overflow<nuw>`.
pub const NUW: i64 = 2;
/// `inbounds`: the flags of an address inside an object.
pub const INBOUNDS: i64 = 3;
/// `inbounds|nuw`: the flags of an address inside an object, reached without going back.
pub const INBOUNDS_NUW: i64 = INBOUNDS | 4;

/// An index of an address computation.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    /// A number.
    Constant(i32),
    /// A value.
    Value(Value),
}

/// Predicates of `llvm.icmp`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum ICmp {
    Eq = 0,
    Ne = 1,
    Slt = 2,
    Sge = 5,
    Ult = 6,
}

impl FunctionConverter<'_> {
    /// `llvm.mlir.constant` of an attribute.
    pub fn constant(&mut self, attr: Attr, ty: Type) -> Value {
        let ctx = self.ctx();
        let state = self.state(llvm::ConstantOp::DEF).results(&[ty]).attr(&ctx, "value", attr);
        self.emit(state)
    }

    /// Emits an index as a constant of type `i64`.
    pub fn index(&mut self, value: i64) -> Value {
        let attr = self.ctx().index_attr(value);
        self.constant(attr, Type::I64)
    }

    /// Emits an integer constant of a type.
    pub fn integer(&mut self, ty: Type, value: i64) -> Value {
        let attr = self.ctx().int_attr(ty, value);
        self.constant(attr, ty)
    }

    /// Emits an integer in every element of `ty`, an integer or a vector of integers.
    pub fn splat(&mut self, ty: Type, value: i64) -> Value {
        let ctx = self.ctx();
        let scalar = ty.scalar(&ctx);
        if scalar == ty {
            return self.integer(ty, value);
        }
        let width = scalar.integer_width(&ctx).unwrap_or(64).div_ceil(8) as usize;
        let sign = if value < 0 { 0xff } else { 0 };
        let bytes: Vec<u8> =
            value.to_le_bytes().into_iter().chain(std::iter::repeat(sign)).take(width).collect();
        let attr = loomir_ir::AttrKind::DenseElements { ty, splat: true, bytes: bytes.into() };
        self.constant(ctx.attr(attr), ty)
    }

    /// Emits an operation on two operands of one type, which is also the type of the result.
    pub fn binary(&mut self, def: &OpDef, lhs: Value, rhs: Value) -> Value {
        let ty = self.type_of(lhs);
        let state = self.state(def).operands(&[lhs, rhs]).results(&[ty]);
        self.emit(state)
    }

    fn with_overflow(&mut self, def: &OpDef, lhs: Value, rhs: Value, flags: i64) -> Value {
        let (ctx, ty) = (self.ctx(), self.type_of(lhs));
        let flags = ctx.int_attr(Type::I32, flags);
        let state = self.state(def).operands(&[lhs, rhs]).results(&[ty]).attr(&ctx, "overflowFlags", flags);
        self.emit(state)
    }

    /// `llvm.add` with overflow flags.
    pub fn add(&mut self, lhs: Value, rhs: Value, flags: i64) -> Value {
        self.with_overflow(llvm::AddOp::DEF, lhs, rhs, flags)
    }

    /// `llvm.sub` without flags.
    pub fn sub(&mut self, lhs: Value, rhs: Value) -> Value {
        self.with_overflow(llvm::SubOp::DEF, lhs, rhs, NONE)
    }

    /// `llvm.mul` with overflow flags.
    pub fn mul(&mut self, lhs: Value, rhs: Value, flags: i64) -> Value {
        self.with_overflow(llvm::MulOp::DEF, lhs, rhs, flags)
    }

    /// `llvm.icmp`.
    pub fn icmp(&mut self, predicate: ICmp, lhs: Value, rhs: Value) -> Value {
        let ctx = self.ctx();
        let ty = self.type_of(lhs).with_scalar(&ctx, Type::I1);
        let predicate = ctx.int_attr(Type::I64, predicate as i64);
        let state = self.state(llvm::ICmpOp::DEF).operands(&[lhs, rhs]).results(&[ty]).attr(
            &ctx,
            "predicate",
            predicate,
        );
        self.emit(state)
    }

    /// `llvm.select`.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.type_of(yes);
        let state = self.state(llvm::SelectOp::DEF).operands(&[condition, yes, no]).results(&[ty]);
        self.emit(state)
    }

    /// Emits a conversion of one operand to `ty`.
    pub fn cast(&mut self, def: &OpDef, value: Value, ty: Type) -> Value {
        let state = self.state(def).operands(&[value]).results(&[ty]);
        self.emit(state)
    }

    /// `llvm.mlir.poison`.
    pub fn poison(&mut self, ty: Type) -> Value {
        let state = self.state(llvm::PoisonOp::DEF).results(&[ty]);
        self.emit(state)
    }

    /// `llvm.extractvalue` of a part of type `ty`.
    pub fn extract(&mut self, container: Value, position: &[i64], ty: Type) -> Value {
        let ctx = self.ctx();
        let position = ctx.dense_ints_attr(Type::I64, position);
        let state = self
            .state(llvm::ExtractValueOp::DEF)
            .operands(&[container])
            .results(&[ty])
            .attr(&ctx, "position", position);
        self.emit(state)
    }

    /// `llvm.insertvalue`.
    pub fn insert_value(&mut self, container: Value, value: Value, position: &[i64]) -> Value {
        let ctx = self.ctx();
        let ty = self.type_of(container);
        let position = ctx.dense_ints_attr(Type::I64, position);
        let state = self
            .state(llvm::InsertValueOp::DEF)
            .operands(&[container, value])
            .results(&[ty])
            .attr(&ctx, "position", position);
        self.emit(state)
    }

    /// `llvm.getelementptr` over `element`, of the type of `base`.
    pub fn gep(&mut self, base: Value, element: Type, indices: &[Index], flags: i64) -> Value {
        let ctx = self.ctx();
        let ty = self.type_of(base);
        let mut dynamic = vec![base];
        let mut constants = Vec::with_capacity(indices.len());
        for index in indices {
            match index {
                Index::Constant(n) => constants.push(i64::from(*n)),
                Index::Value(v) => {
                    constants.push(DYNAMIC_INDEX);
                    dynamic.push(*v);
                }
            }
        }
        let state = self
            .state(llvm::GEPOp::DEF)
            .operands(&dynamic)
            .results(&[ty])
            .attr(&ctx, "rawConstantIndices", ctx.dense_ints_attr(Type::I32, &constants))
            .attr(&ctx, "elem_type", ctx.type_attr(element))
            .attr(&ctx, "noWrapFlags", ctx.int_attr(Type::I32, flags));
        self.emit(state)
    }

    /// `llvm.load`.
    pub fn load(&mut self, address: Value, ty: Type) -> Value {
        self.cast(llvm::LoadOp::DEF, address, ty)
    }

    /// `llvm.store`.
    pub fn store(&mut self, value: Value, address: Value) {
        let state = self.state(llvm::StoreOp::DEF).operands(&[value, address]);
        self.insert(state);
    }

    /// `llvm.alloca` of `count` elements.
    pub fn alloca(&mut self, count: Value, element: Type, pointer: Type, alignment: Option<i64>) -> Value {
        let ctx = self.ctx();
        let mut state = self.state(llvm::AllocaOp::DEF).operands(&[count]).results(&[pointer]).attr(
            &ctx,
            "elem_type",
            ctx.type_attr(element),
        );
        if let Some(alignment) = alignment {
            state.set_attr(&ctx, "alignment", ctx.int_attr(Type::I64, alignment));
        }
        self.emit(state)
    }

    /// Emits the size in bytes of `count` consecutive elements.
    pub fn size_in_bytes(&mut self, count: Index, element: Type) -> Value {
        let null = pointer(&self.ctx());
        let state = self.state(llvm::ZeroOp::DEF).results(&[null]);
        let null = self.emit(state);
        let end = self.gep(null, element, &[count], NONE);
        self.cast(llvm::PtrToIntOp::DEF, end, Type::I64)
    }

    /// `llvm.call` of a symbol, or of the first operand if there is none.
    pub fn call(&mut self, callee: Option<Attr>, operands: &[Value], result: Option<Type>) -> Option<Value> {
        let ctx = self.ctx();
        let segments = ctx.dense_ints_attr(Type::I32, &[operands.len() as i64, 0]);
        let mut state =
            self.state(llvm::CallOp::DEF).operands(operands).attr(&ctx, OPERAND_SEGMENTS, segments);
        if let Some(callee) = callee {
            state.set_attr(&ctx, "callee", callee);
        }
        state.result_types.extend(result);
        let call = self.insert(state);
        result.map(|_| self.body().result(call, 0))
    }

    /// `llvm.br`.
    pub fn branch(&mut self, dest: Block, operands: &[Value]) {
        let state = self.state(llvm::BrOp::DEF).operands(operands).successors(&[dest]);
        self.insert(state);
    }

    /// `llvm.cond_br` without operands for its successors.
    pub fn cond_branch(&mut self, condition: Value, yes: Block, no: Block) {
        let ctx = self.ctx();
        let segments = ctx.dense_ints_attr(Type::I32, &[1, 0, 0]);
        let state = self.state(llvm::CondBrOp::DEF).operands(&[condition]).successors(&[yes, no]).attr(
            &ctx,
            OPERAND_SEGMENTS,
            segments,
        );
        self.insert(state);
    }
}
