//! Instructions, one at a time: arithmetic, comparison, memory, aggregates, and terminators.

use loomir_dialects::llvm;
use loomir_dialects::llvm::SAME_SIGN;
use loomir_dialects::llvm::attributes::{
    ATOMIC_BIN_OP, ATOMIC_ORDERING, FASTMATH, FCMP_PREDICATE, GEP_NO_WRAP, ICMP_PREDICATE, OVERFLOW,
};
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::{self, LlvmType, pointer_in};
use loomir_ir::rewrite::constant_of;
use loomir_ir::text::type_to_string;
use loomir_ir::{Attr, AttrKind, Block, Body, Context, OpDef, OperationState, Type, TypeKind, Value};

use super::constants::as_attr;
use super::function::FunctionReader;
use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::SWIFT_ERROR;

const FASTMATH_WORDS: &[&str] = &["fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"];

/// Returns the bits of a flag of an address computation.
pub(super) fn gep_flags(word: &str) -> Option<i64> {
    let name = if matches!(word, "inbounds" | "nusw" | "nuw") { word } else { return None };
    GEP_NO_WRAP.value_of(name).map(|bits| bits as i64)
}

fn is_struct(ctx: &Context, ty: Type) -> bool {
    matches!(LlvmType::of(ctx, ty), Some(LlvmType::Struct(_)))
}

/// Returns the type of a part of an aggregate.
fn part_type(ctx: &Context, ty: Type, index: i64) -> Option<Type> {
    match LlvmType::of(ctx, ty)? {
        LlvmType::Array { element, .. } => Some(element),
        LlvmType::Struct(of) => of.body?.get(usize::try_from(index).ok()?).copied(),
        _ => None,
    }
}

/// Returns the number that all lanes of a constant vector are.
fn lane_of(body: &Body, vector: Value) -> Option<i64> {
    if body.defining_op(vector).is_some_and(|op| body.is(op, llvm::ZeroOp::DEF)) {
        return Some(0);
    }
    let AttrKind::DenseElements { ty, splat: true, bytes } = constant_of(body, vector)?.kind(body.ctx())
    else {
        return None;
    };
    let is_small = ty.element(body.ctx())?.integer_width(body.ctx())? <= 64;
    let number = bytes.iter().rev().fold(0i64, |number, byte| number << 8 | i64::from(*byte));
    is_small.then_some(number).filter(|number| i32::try_from(*number).is_ok())
}

/// The maximal alignment of LLVM.
const MAX_ALIGNMENT: u64 = 1 << 32;

/// The shape of an instruction.
enum Shape {
    /// `op ty a, b`
    Binary,
    /// `op ty a to ty`
    Cast,
    /// `op ty a`
    Unary,
}

fn shape_of(word: &str) -> Option<(Shape, &'static OpDef)> {
    use Shape::{Binary, Cast, Unary};
    Some(match word {
        "add" => (Binary, llvm::AddOp::DEF),
        "sub" => (Binary, llvm::SubOp::DEF),
        "mul" => (Binary, llvm::MulOp::DEF),
        "udiv" => (Binary, llvm::UDivOp::DEF),
        "sdiv" => (Binary, llvm::SDivOp::DEF),
        "urem" => (Binary, llvm::URemOp::DEF),
        "srem" => (Binary, llvm::SRemOp::DEF),
        "and" => (Binary, llvm::AndOp::DEF),
        "or" => (Binary, llvm::OrOp::DEF),
        "xor" => (Binary, llvm::XOrOp::DEF),
        "shl" => (Binary, llvm::ShlOp::DEF),
        "lshr" => (Binary, llvm::LShrOp::DEF),
        "ashr" => (Binary, llvm::AShrOp::DEF),
        "fadd" => (Binary, llvm::FAddOp::DEF),
        "fsub" => (Binary, llvm::FSubOp::DEF),
        "fmul" => (Binary, llvm::FMulOp::DEF),
        "fdiv" => (Binary, llvm::FDivOp::DEF),
        "frem" => (Binary, llvm::FRemOp::DEF),
        "trunc" => (Cast, llvm::TruncOp::DEF),
        "zext" => (Cast, llvm::ZExtOp::DEF),
        "sext" => (Cast, llvm::SExtOp::DEF),
        "fptrunc" => (Cast, llvm::FPTruncOp::DEF),
        "fpext" => (Cast, llvm::FPExtOp::DEF),
        "fptoui" => (Cast, llvm::FPToUIOp::DEF),
        "fptosi" => (Cast, llvm::FPToSIOp::DEF),
        "uitofp" => (Cast, llvm::UIToFPOp::DEF),
        "sitofp" => (Cast, llvm::SIToFPOp::DEF),
        "ptrtoint" => (Cast, llvm::PtrToIntOp::DEF),
        "inttoptr" => (Cast, llvm::IntToPtrOp::DEF),
        "bitcast" => (Cast, llvm::BitcastOp::DEF),
        "addrspacecast" => (Cast, llvm::AddrSpaceCastOp::DEF),
        "fneg" => (Unary, llvm::FNegOp::DEF),
        "freeze" => (Unary, llvm::FreezeOp::DEF),
        _ => return None,
    })
}

impl<'s> Reader<'s> {
    // Flags.

    /// Reads `nuw` and `nsw` in any order, if one is here.
    pub(super) fn overflow_flags(&mut self) -> Result<Option<Attr>> {
        let mut flags = 0;
        while let Some(bit) = self.accept_any(&["nuw", "nsw"]).and_then(|word| OVERFLOW.value_of(word)) {
            flags |= bit;
        }
        Ok((flags != 0).then(|| OVERFLOW.attr(&self.ctx, flags)))
    }

    /// Reads fast-math flags, if one is here.
    pub(super) fn fastmath_flags(&mut self) -> Option<Attr> {
        let mut flags = 0;
        while let Some(bits) = self.accept_any(FASTMATH_WORDS).and_then(|word| FASTMATH.value_of(word)) {
            flags |= bits;
        }
        (flags != 0).then(|| FASTMATH.attr(&self.ctx, flags))
    }

    /// Reads all flags that an instruction may have. The verifier checks which are allowed.
    fn flags(&mut self, state: &mut OperationState) -> Result<()> {
        if let Some(flags) = self.overflow_flags()? {
            state.set_attr(&self.ctx, "overflowFlags", flags);
        }
        for (word, name) in [("exact", "isExact"), ("disjoint", "isDisjoint"), ("nneg", "nonNeg")] {
            if self.accept_word(word) {
                state.set_attr(&self.ctx, name, Attr::UNIT);
            }
        }
        if let Some(flags) = self.fastmath_flags() {
            state.set_attr(&self.ctx, "fastmathFlags", flags);
        }
        Ok(())
    }

    // Others.

    /// Reads `landingpad ty cleanup catch ty %a filter ty %b`.
    fn landing_pad(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        let ty = self.ty()?;
        if self.accept_word("cleanup") {
            state.set_attr(&self.ctx, "cleanup", Attr::UNIT);
        }
        while let Some(word) = self.accept_any(&["catch", "filter"]) {
            let here = self.pos;
            let value = self.typed_value(f)?;
            let ty = LlvmType::of(&self.ctx, f.body.value_type(value));
            if matches!(ty, Some(LlvmType::Array { .. })) != (word == "filter") {
                return Err(self.error_at(here, "a filter is an array, and what is caught is none"));
            }
            state.operands.push(value);
        }
        Ok((state, Some(ty)))
    }

    /// Reads `catchpad within %a [i32 1, …]` or `cleanuppad within …`.
    fn pad(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        self.expect_word("within")?;
        let token = self.token_type();
        state.operands.push(self.value(f, token)?);
        self.expect("[")?;
        while !self.accept("]") {
            if state.operands.len() > 1 {
                self.expect(",")?;
            }
            state.operands.push(self.typed_value(f)?);
        }
        Ok((state, Some(token)))
    }

    /// Reads one instruction that is no terminator into `block`. Returns its result, if it has one.
    pub(super) fn instruction(&mut self, f: &mut FunctionReader<'s>, block: Block) -> Result<Option<Value>> {
        let loc = self.loc();
        let of = |reader: &Self, def| OperationState::of(&reader.ctx, def, loc);
        let word = if self.kind() == Kind::Word { self.text() } else { "" };
        if let Some((shape, def)) = shape_of(word) {
            self.advance();
            let mut state = of(self, def);
            self.flags(&mut state)?;
            let first = self.typed_value(f)?;
            let ty = f.body.value_type(first);
            state.operands.push(first);
            let result = match shape {
                Shape::Unary => ty,
                Shape::Binary => {
                    self.expect(",")?;
                    state.operands.push(self.value(f, ty)?);
                    ty
                }
                Shape::Cast => {
                    let to = self.cast_to(word, ty)?;
                    if word == "bitcast"
                        && let Some(own) = self.lane_of_one(f, first, to)
                    {
                        return self.emit(f, block, own, Some(to));
                    }
                    to
                }
            };
            return self.emit(f, block, state, Some(result));
        }
        let (state, result) = match word {
            "icmp" | "fcmp" => self.comparison(f, word, loc)?,
            "select" => {
                self.advance();
                let mut state = of(self, llvm::SelectOp::DEF);
                self.flags(&mut state)?;
                state.operands.push(self.typed_value(f)?);
                for _ in 0..2 {
                    self.expect(",")?;
                    state.operands.push(self.typed_value(f)?);
                }
                let ty = f.body.value_type(state.operands[1]);
                (state, Some(ty))
            }
            "alloca" => self.alloca(f, of(self, llvm::AllocaOp::DEF))?,
            "load" => self.load(f, of(self, llvm::LoadOp::DEF))?,
            "store" => self.store(f, of(self, llvm::StoreOp::DEF))?,
            "getelementptr" => self.address(f, of(self, llvm::GEPOp::DEF))?,
            "atomicrmw" => self.atomic_rmw(f, of(self, llvm::AtomicRMWOp::DEF))?,
            "cmpxchg" => self.compare_exchange(f, of(self, llvm::AtomicCmpXchgOp::DEF))?,
            "fence" => {
                self.advance();
                let mut state = of(self, llvm::FenceOp::DEF);
                self.syncscope(&mut state)?;
                self.ordering(&mut state, "ordering")?;
                (state, None)
            }
            "extractelement" | "insertelement" | "extractvalue" | "insertvalue" | "shufflevector" => {
                self.part(f, word, loc)?
            }
            "call" | "tail" | "musttail" | "notail" => return self.call(f, block),
            "va_arg" => {
                self.advance();
                let mut state = of(self, llvm::VaArgOp::DEF);
                state.operands.push(self.pointer(f)?);
                self.expect(",")?;
                (state, Some(self.ty()?))
            }
            "landingpad" => self.landing_pad(f, of(self, llvm::LandingpadOp::DEF))?,
            "catchpad" => self.pad(f, of(self, llvm::CatchPadOp::DEF))?,
            "cleanuppad" => self.pad(f, of(self, llvm::CleanupPadOp::DEF))?,
            _ => return Err(self.error("expected an instruction")),
        };
        self.emit(f, block, state, result)
    }

    /// Reads the attachments and makes the operation.
    pub(super) fn emit(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        mut state: OperationState,
        result: Option<Type>,
    ) -> Result<Option<Value>> {
        self.attachments(&mut state, true)?;
        state.set_defaults(&self.ctx);
        state.result_types.extend(result);
        let op = f.body.create(state);
        f.body.append_op(block, op);
        Ok(result.map(|_| f.body.result(op, 0)))
    }

    /// Reads `to` and the type that a cast makes of another one.
    fn cast_to(&mut self, word: &str, from: Type) -> Result<Type> {
        self.expect_word("to")?;
        let here = self.pos;
        let to = self.ty()?;
        if !self.fits(word, from, to) {
            let (from, to) = (type_to_string(&self.ctx, from), type_to_string(&self.ctx, to));
            return Err(self.error_at(here, format!("'{word}' does not make '{to}' of '{from}'")));
        }
        Ok(to)
    }

    /// Returns the operation on the only lane of a vector that a cast between an address and a
    /// vector of one address is.
    fn lane_of_one(&self, f: &mut FunctionReader<'s>, value: Value, to: Type) -> Option<OperationState> {
        let loc = f.constants.loc;
        let lanes = |ty: Type| match ty.kind(&self.ctx) {
            TypeKind::Vector { shape, element, .. } if types::is_pointer(&self.ctx, *element) => {
                (*shape.first()? == 1).then_some(true)
            }
            _ => types::is_pointer(&self.ctx, ty).then_some(false),
        };
        let [from_vector, to_vector] = [lanes(f.body.value_type(value))?, lanes(to)?];
        let zero = super::constants::Constant::Attr(self.ctx.int_attr(Type::I64, 0));
        let zero = f.constants.value(&mut f.body, &zero, Type::I64);
        match (from_vector, to_vector) {
            (true, false) => {
                Some(OperationState::of(&self.ctx, llvm::ExtractElementOp::DEF, loc).operands(&[value, zero]))
            }
            (false, true) => {
                let poison = f.constants.value(&mut f.body, &super::constants::Constant::Poison, to);
                let operands = [poison, value, zero];
                Some(OperationState::of(&self.ctx, llvm::InsertElementOp::DEF, loc).operands(&operands))
            }
            _ => None,
        }
    }

    /// True if a cast is between types of suitable sizes. The verifier checks the kinds of types.
    fn fits(&self, word: &str, from: Type, to: Type) -> bool {
        let bits = |ty: Type| match ty.scalar(&self.ctx).kind(&self.ctx) {
            TypeKind::Integer { width, .. } => Some(u64::from(*width)),
            TypeKind::Float(kind) => Some(u64::from(kind.width())),
            _ => None,
        };
        let lanes = |ty: Type| match ty.kind(&self.ctx) {
            TypeKind::Vector { shape, .. } => shape[0].cast_unsigned(),
            _ => 0,
        };
        let (Some(own), Some(wanted)) = (bits(from), bits(to)) else { return true };
        match word {
            "trunc" | "fptrunc" => own > wanted && lanes(from) == lanes(to),
            "zext" | "sext" | "fpext" => own < wanted && lanes(from) == lanes(to),
            "bitcast" => own.saturating_mul(lanes(from).max(1)) == wanted.saturating_mul(lanes(to).max(1)),
            _ => lanes(from) == lanes(to),
        }
    }

    fn comparison(&mut self, f: &mut FunctionReader<'s>, word: &str, loc: loomir_ir::Loc) -> Made {
        self.advance();
        let (def, table) = match word {
            "icmp" => (llvm::ICmpOp::DEF, &ICMP_PREDICATE),
            _ => (llvm::FCmpOp::DEF, &FCMP_PREDICATE),
        };
        let mut state = OperationState::of(&self.ctx, def, loc);
        if let Some(flags) = self.fastmath_flags() {
            state.set_attr(&self.ctx, "fastmathFlags", flags);
        }
        if self.accept_word("samesign") {
            state.set_attr(&self.ctx, SAME_SIGN, Attr::UNIT);
        }
        let name = match self.text() {
            "true" | "false" => format!("_{}", self.text()),
            text => text.to_owned(),
        };
        let predicate = table.value_of(&name).ok_or_else(|| self.error("expected a predicate"))?;
        self.advance();
        state.set_attr(&self.ctx, "predicate", table.attr(&self.ctx, predicate));
        let first = self.typed_value(f)?;
        let ty = f.body.value_type(first);
        self.expect(",")?;
        state.operands.extend([first, self.value(f, ty)?]);
        Ok((state, Some(ty.with_scalar(&self.ctx, Type::I1))))
    }

    // Memory.

    /// Reads an alignment.
    pub(super) fn power_of_two(&mut self) -> Result<u64> {
        let here = self.pos;
        let number: u64 = self.number()?;
        match number.is_power_of_two() && number <= MAX_ALIGNMENT {
            true => Ok(number),
            false => {
                Err(self.error_at(here, format!("an alignment is a power of two, at most {MAX_ALIGNMENT}")))
            }
        }
    }

    /// Reads `, align n`, if it is here.
    fn alignment(&mut self, state: &mut OperationState) -> Result<()> {
        if self.is_sign(",") && self.is_word_at(self.pos + 1, "align") {
            self.advance();
            self.advance();
            let alignment = self.power_of_two()?;
            state.set_attr(&self.ctx, "alignment", self.ctx.int_attr(Type::I64, alignment));
        }
        Ok(())
    }

    fn syncscope(&mut self, state: &mut OperationState) -> Result<()> {
        if self.accept_word("syncscope") {
            self.expect("(")?;
            let scope = self.string_attr()?;
            self.expect(")")?;
            state.set_attr(&self.ctx, "syncscope", scope);
        }
        Ok(())
    }

    fn ordering(&mut self, state: &mut OperationState, name: &str) -> Result<()> {
        let value = ATOMIC_ORDERING.value_of(self.text()).filter(|value| *value > 0);
        let value = value.ok_or_else(|| self.error("expected an ordering"))?;
        self.advance();
        state.set_attr(&self.ctx, name, ATOMIC_ORDERING.attr(&self.ctx, value));
        Ok(())
    }

    /// Reads `atomic` and `volatile`. Returns true for `atomic`.
    fn access_words(&mut self, state: &mut OperationState) -> bool {
        let atomic = self.accept_word("atomic");
        if self.accept_word("volatile") {
            state.set_attr(&self.ctx, "volatile_", Attr::UNIT);
        }
        atomic
    }

    /// Reads the part behind the operands of a load or store.
    fn access_tail(&mut self, state: &mut OperationState, atomic: bool) -> Result<()> {
        if atomic {
            self.syncscope(state)?;
            self.ordering(state, "ordering")?;
        }
        self.alignment(state)
    }

    fn alloca(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        if self.accept_word("inalloca") {
            state.set_attr(&self.ctx, "inalloca", Attr::UNIT);
        }
        if self.accept_word("swifterror") {
            state.set_attr(&self.ctx, SWIFT_ERROR, Attr::UNIT);
        }
        let ty = self.ty()?;
        state.set_attr(&self.ctx, "elem_type", self.ctx.type_attr(ty));
        let mut space = 0;
        let mut count = None;
        if self.is_sign(",")
            && !self.is_word_at(self.pos + 1, "align")
            && !self.is_word_at(self.pos + 1, "addrspace")
            && self.tokens[self.pos + 1].kind != Kind::Metadata
        {
            self.advance();
            count = Some(self.typed_value(f)?);
        }
        self.alignment(&mut state)?;
        if self.is_sign(",") && self.is_word_at(self.pos + 1, "addrspace") {
            self.advance();
            space = self.address_space()?;
        }
        let count = match count {
            Some(count) => count,
            None => {
                let one = super::constants::Constant::Attr(self.ctx.int_attr(Type::I32, 1));
                f.constants.value(&mut f.body, &one, Type::I32)
            }
        };
        state.operands.push(count);
        Ok((state, Some(pointer_in(&self.ctx, space))))
    }

    fn load(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        let atomic = self.access_words(&mut state);
        let ty = self.ty()?;
        self.expect(",")?;
        state.operands.push(self.pointer(f)?);
        self.access_tail(&mut state, atomic)?;
        Ok((state, Some(ty)))
    }

    fn store(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        let atomic = self.access_words(&mut state);
        state.operands.push(self.typed_value(f)?);
        self.expect(",")?;
        state.operands.push(self.pointer(f)?);
        self.access_tail(&mut state, atomic)?;
        Ok((state, None))
    }

    /// Reads an address.
    fn pointer(&mut self, f: &mut FunctionReader<'s>) -> Result<Value> {
        let here = self.pos;
        let value = self.typed_value(f)?;
        match types::is_pointer(&self.ctx, f.body.value_type(value)) {
            true => Ok(value),
            false => Err(self.error_at(here, "expected a pointer")),
        }
    }

    fn address(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        let mut flags = 0;
        while let Some(bits) = gep_flags(self.text()) {
            flags |= bits;
            self.advance();
        }
        let element = self.ty()?;
        self.expect(",")?;
        let base = self.typed_value(f)?;
        let mut result = f.body.value_type(base);
        state.operands.push(base);
        let is_wide = matches!(result.kind(&self.ctx), TypeKind::Vector { .. });
        let mut indices = Vec::new();
        // The type that the next index steps into.
        let mut level = None;
        while self.is_sign(",") && self.tokens[self.pos + 1].kind != Kind::Metadata {
            self.advance();
            let index = self.typed_value(f)?;
            let ty = f.body.value_type(index);
            // A vector of indices yields a vector of addresses.
            if let (TypeKind::Vector { .. }, false) =
                (ty.kind(&self.ctx), matches!(result.kind(&self.ctx), TypeKind::Vector { .. }))
            {
                result = ty.with_scalar(&self.ctx, result);
            }
            let known = constant_of(&f.body, index).and_then(|attr| attr.as_int(&self.ctx));
            let known = known.filter(|n| i32::try_from(*n).is_ok() && *n != DYNAMIC_INDEX);
            let known = known.filter(|_| ty.integer_width(&self.ctx).is_some());
            let in_struct = level.is_some_and(|level| is_struct(&self.ctx, level));
            // A field has one number in all lanes.
            let known = known.or_else(|| lane_of(&f.body, index).filter(|_| in_struct && is_wide));
            level = match level {
                None => Some(element),
                Some(level) => part_type(&self.ctx, level, known.unwrap_or(0)),
            };
            indices.push(known.unwrap_or(DYNAMIC_INDEX));
            if known.is_none() {
                state.operands.push(index);
            }
        }
        state.set_attr(&self.ctx, "rawConstantIndices", self.ctx.dense_ints_attr(Type::I32, &indices));
        state.set_attr(&self.ctx, "elem_type", self.ctx.type_attr(element));
        state.set_attr(&self.ctx, "noWrapFlags", self.ctx.int_attr(Type::I32, flags));
        Ok((state, Some(result)))
    }

    fn atomic_rmw(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        self.access_words(&mut state);
        let text = self.text();
        let known = ATOMIC_BIN_OP.value_of(text).or_else(|| ATOMIC_BIN_OP.value_of(&format!("_{text}")));
        let known =
            known.ok_or_else(|| self.error("expected an atomic operation, such as 'add' or 'xchg'"))?;
        self.advance();
        state.set_attr(&self.ctx, "bin_op", ATOMIC_BIN_OP.attr(&self.ctx, known));
        state.operands.push(self.pointer(f)?);
        self.expect(",")?;
        let value = self.typed_value(f)?;
        state.operands.push(value);
        self.syncscope(&mut state)?;
        self.ordering(&mut state, "ordering")?;
        self.alignment(&mut state)?;
        let ty = f.body.value_type(value);
        Ok((state, Some(ty)))
    }

    fn compare_exchange(&mut self, f: &mut FunctionReader<'s>, mut state: OperationState) -> Made {
        self.advance();
        if self.accept_word("weak") {
            state.set_attr(&self.ctx, "weak", Attr::UNIT);
        }
        self.access_words(&mut state);
        state.operands.push(self.pointer(f)?);
        for _ in 0..2 {
            self.expect(",")?;
            state.operands.push(self.typed_value(f)?);
        }
        self.syncscope(&mut state)?;
        self.ordering(&mut state, "success_ordering")?;
        self.ordering(&mut state, "failure_ordering")?;
        self.alignment(&mut state)?;
        let ty = f.body.value_type(state.operands[2]);
        let result = types::literal_struct(&self.ctx, &[ty, Type::I1]);
        Ok((state, Some(result)))
    }

    // Parts.

    fn part(&mut self, f: &mut FunctionReader<'s>, word: &str, loc: loomir_ir::Loc) -> Made {
        let here = self.pos;
        self.advance();
        let mut operands = vec![self.typed_value(f)?];
        let whole = f.body.value_type(operands[0]);
        let of = |reader: &Self, def| OperationState::of(&reader.ctx, def, loc);
        if matches!(word, "extractvalue" | "insertvalue") {
            if word == "insertvalue" {
                self.expect(",")?;
                operands.push(self.typed_value(f)?);
            }
            let mut position: Vec<i64> = Vec::new();
            while self.is_sign(",") && self.tokens[self.pos + 1].kind == Kind::Integer {
                self.advance();
                position.push(self.number()?);
            }
            let Ok(part) = types::part(&self.ctx, whole, &position) else {
                return Err(self.error_at(here, "there is nothing at this position"));
            };
            let (def, result) = match word {
                "extractvalue" => (llvm::ExtractValueOp::DEF, part),
                _ => (llvm::InsertValueOp::DEF, whole),
            };
            let position = self.ctx.dense_ints_attr(Type::I64, &position);
            let state = of(self, def).operands(&operands).attr(&self.ctx, "position", position);
            return Ok((state, Some(result)));
        }
        let TypeKind::Vector { element, scalable, .. } = whole.kind(&self.ctx) else {
            return Err(self.error_at(here, "expected a vector"));
        };
        let (element, scalable) = (*element, scalable.clone());
        self.expect(",")?;
        operands.push(self.typed_value(f)?);
        match word {
            "extractelement" => {
                Ok((of(self, llvm::ExtractElementOp::DEF).operands(&operands), Some(element)))
            }
            "insertelement" => {
                self.expect(",")?;
                operands.push(self.typed_value(f)?);
                Ok((of(self, llvm::InsertElementOp::DEF).operands(&operands), Some(whole)))
            }
            _ => {
                self.expect(",")?;
                let mask = self.mask()?;
                let kind = TypeKind::Vector { shape: Box::new([mask.len() as i64]), scalable, element };
                let result = self.ctx.ty(kind);
                let mask = self.ctx.dense_ints_attr(Type::I32, &mask);
                let state = of(self, llvm::ShuffleVectorOp::DEF).operands(&operands);
                Ok((state.attr(&self.ctx, "mask", mask), Some(result)))
            }
        }
    }

    /// Reads the mask of a shuffle: -1 for `poison`.
    pub(super) fn mask(&mut self) -> Result<Vec<i64>> {
        let here = self.pos;
        let ty = self.ty()?;
        let TypeKind::Vector { shape, .. } = ty.kind(&self.ctx) else {
            return Err(self.error_at(here, "expected the mask of a shuffle"));
        };
        let count = usize::try_from(shape[0]).unwrap_or(0);
        use super::constants::Constant;
        let lanes = match self.constant(ty)? {
            Constant::Zero if count <= 1 << 16 => vec![0; count],
            Constant::Undef | Constant::Poison if count <= 1 << 16 => vec![-1; count],
            Constant::Attr(attr) => match attr.kind(&self.ctx) {
                AttrKind::DenseElements { bytes, .. } if bytes.len() == 4 && count <= 1 << 16 => {
                    let lane = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    vec![i64::from(lane); count]
                }
                _ => Vec::new(),
            },
            Constant::Parts(parts) => parts
                .iter()
                .map(|(ty, lane)| match lane {
                    Constant::Poison | Constant::Undef => Some(-1),
                    lane => as_attr(&self.ctx, lane, *ty)?.as_int(&self.ctx),
                })
                .collect::<Option<Vec<i64>>>()
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        if lanes.is_empty() {
            return Err(self.error_at(here, "expected the mask of a shuffle"));
        }
        Ok(lanes)
    }
}

/// The state of an operation, and the type of its result.
type Made = Result<(OperationState, Option<Type>)>;
