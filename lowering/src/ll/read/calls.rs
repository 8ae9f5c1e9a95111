//! Calls: of functions, of intrinsics, of inline assembly.

use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::{ASM_DIALECT, TAIL_CALL_KIND};
use loomir_dialects::llvm::types::{pointer, void};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, AttrKind, Block, Loc, OpName, OperationState, Type, Value};

use super::attributes::Said;
use super::constants::Constant;
use super::function::{FunctionReader, Terminator, result_of, set_dicts};
use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::intrinsics::{Immediate, aligned_argument, immediates};
use crate::ll::{METADATA_ARGUMENTS, TAIL_CALL, VARIADIC_INTRINSIC, VARIADIC_TYPE, forwards_arguments};

/// A call, read.
struct Call {
    loc: Loc,
    token: usize,
    tail: Attr,
    is_tail: bool,
    fastmath: Option<Attr>,
    /// The type of the callee, if it is written completely.
    callee_type: Option<Type>,
    result: Type,
    result_attrs: Option<Attr>,
    arguments: Vec<Value>,
    argument_attrs: Vec<Option<Attr>>,
    said: Said,
    bundle_sizes: Vec<i64>,
    bundle_tags: Vec<Attr>,
    bundled: Vec<Value>,
    /// The metadata of each argument, or unit.
    metadata: Vec<Attr>,
}

/// The callee.
enum Callee {
    Function(String),
    Pointer(Value),
    Assembly { template: Attr, constraints: Attr, words: Vec<&'static str> },
}

impl<'s> Reader<'s> {
    /// Reads a call into `block`. Returns its result, if it has one.
    pub(super) fn call(&mut self, f: &mut FunctionReader<'s>, block: Block) -> Result<Option<Value>> {
        let (loc, token) = (self.loc(), self.pos);
        let tail = self.accept_any(&["tail", "musttail", "notail"]);
        let is_tail = tail.is_some();
        let tail = TAIL_CALL_KIND.value_of(tail.unwrap_or("none")).unwrap_or(0);
        let tail = TAIL_CALL_KIND.attr(&self.ctx, tail);
        self.expect_word("call")?;
        let fastmath = self.fastmath_flags();
        let mut convention = OperationState::of(&self.ctx, llvm::CallOp::DEF, loc);
        let (own, callee) = self.called(f, &mut convention)?;
        let mut call = Call { loc, token, tail, is_tail, fastmath, ..own };
        if let Callee::Function(name) = &callee
            && name.starts_with("llvm.dbg.")
        {
            self.debug_call(f, block, name)?;
            return Ok(None);
        }
        self.arguments(f, &mut call)?;
        self.function_attributes(&mut call.said)?;
        self.bundles(f, &mut call)?;
        match callee {
            Callee::Assembly { template, constraints, words } => {
                self.assembly(f, block, call, template, constraints, &words)
            }
            Callee::Function(name) if name.starts_with("llvm.") => self.intrinsic(f, block, call, &name),
            Callee::Function(name) => {
                convention.set_attr(&self.ctx, "callee", self.ctx.symbol_attr(&name));
                self.plain_call(f, block, call, convention)
            }
            Callee::Pointer(pointer) => {
                convention.operands.push(pointer);
                self.plain_call(f, block, call, convention)
            }
        }
    }

    /// Reads a call behind its first words, up to its arguments. The state gets the convention.
    fn called(
        &mut self,
        f: &mut FunctionReader<'s>,
        convention: &mut OperationState,
    ) -> Result<(Call, Callee)> {
        self.calling_convention(convention)?;
        let result_attrs = self.value_attributes()?;
        if self.address_space()? != 0 {
            return Err(self.error("calls in other address spaces are not supported"));
        }
        let ty = self.ty()?;
        let (result, callee_type) = match result_of(&self.ctx, ty) {
            Some((result, _)) => (result, Some(ty)),
            None => (ty, None),
        };
        let callee = self.callee(f)?;
        let call = Call {
            loc: convention.loc,
            token: self.pos,
            tail: TAIL_CALL_KIND.attr(&self.ctx, 0),
            is_tail: false,
            fastmath: None,
            callee_type,
            result,
            result_attrs,
            arguments: Vec::new(),
            argument_attrs: Vec::new(),
            said: Said::default(),
            bundle_sizes: Vec::new(),
            bundle_tags: Vec::new(),
            bundled: Vec::new(),
            metadata: Vec::new(),
        };
        Ok((call, callee))
    }

    /// Reads `invoke … to label %a unwind label %b`.
    pub(super) fn invoke(&mut self, f: &mut FunctionReader<'s>) -> Result<Terminator<'s>> {
        let token = self.pos;
        let mut state = OperationState::of(&self.ctx, llvm::InvokeOp::DEF, self.loc());
        self.advance();
        let (mut call, callee) = self.called(f, &mut state)?;
        self.arguments(f, &mut call)?;
        self.function_attributes(&mut call.said)?;
        self.bundles(f, &mut call)?;
        match callee {
            Callee::Function(name) => {
                state.set_attr(&self.ctx, "callee", self.ctx.symbol_attr(&name));
            }
            Callee::Pointer(pointer) => state.operands.push(pointer),
            Callee::Assembly { .. } => {
                return Err(self.error_at(token, "assembly that may unwind is not supported"));
            }
        }
        if call.metadata.iter().any(|attr| *attr != Attr::UNIT) {
            return Err(self.error_at(token, "an 'invoke' with metadata arguments is not supported"));
        }
        if let Some(ty) = self.variadic_type(&call) {
            state.set_attr(&self.ctx, VARIADIC_TYPE, self.ctx.type_attr(ty));
        }
        state.operands.extend(&call.arguments);
        self.set_bundle_sizes(&mut state, &call);
        self.set_value_attributes(&mut state, &call);
        std::mem::take(&mut call.said).set(&self.ctx, &mut state);
        state.result_types.extend(self.result_of_call(&call));
        self.expect_word("to")?;
        let normal = self.label()?;
        self.expect_word("unwind")?;
        let targets = vec![normal, self.label()?];
        Ok(Terminator { state, targets, behind: call.bundled, made: None })
    }

    fn callee(&mut self, f: &mut FunctionReader<'s>) -> Result<Callee> {
        if self.kind() == Kind::Global && !self.addresses.contains(&self.name_at(self.pos)?) {
            return Ok(Callee::Function(self.global_name()?));
        }
        if !self.accept_word("asm") {
            let ty = pointer(&self.ctx);
            return Ok(Callee::Pointer(self.value(f, ty)?));
        }
        let mut words = Vec::new();
        while let Some(word) = self.accept_any(&["sideeffect", "alignstack", "inteldialect", "unwind"]) {
            words.push(word);
        }
        if words.contains(&"unwind") {
            return Err(self.error_at(self.pos - 1, "assembly that may unwind is not supported"));
        }
        let template = self.string_attr()?;
        self.expect(",")?;
        let constraints = self.string_attr()?;
        Ok(Callee::Assembly { template, constraints, words })
    }

    fn arguments(&mut self, f: &mut FunctionReader<'s>, call: &mut Call) -> Result<()> {
        self.expect("(")?;
        while !self.accept(")") {
            if !call.metadata.is_empty() {
                self.expect(",")?;
            }
            if self.is_sign("...") {
                self.forwarded(f, call)?;
                break;
            }
            let ty = self.ty()?;
            if ty.dialect_params(&self.ctx, "llvm.metadata").is_some() {
                let (start, end) = (self.pos, self.metadata_node()?);
                self.kept.insert(self.text_at(start));
                call.metadata.push(self.ctx.string_attr(self.slice(start, end)));
                continue;
            }
            call.metadata.push(Attr::UNIT);
            call.argument_attrs.push(self.value_attributes()?);
            call.arguments.push(self.value(f, ty)?);
        }
        Ok(())
    }

    /// Reads `...)`, which stands behind the arguments of each `musttail` call of a variadic
    /// function: its variable arguments go on to the callee.
    fn forwarded(&mut self, f: &FunctionReader<'s>, call: &Call) -> Result<()> {
        if !forwards_arguments(f.body.root_ref(), Some(call.tail)) {
            return Err(self.error("only a 'musttail' call in a variadic function forwards arguments"));
        }
        self.advance();
        self.expect(")")
    }

    /// Reads `[ "tag"(values), … ]`, if it is here.
    fn bundles(&mut self, f: &mut FunctionReader<'s>, call: &mut Call) -> Result<()> {
        if !self.accept("[") {
            return Ok(());
        }
        while !self.accept("]") {
            if !call.bundle_tags.is_empty() {
                self.expect(",")?;
            }
            call.bundle_tags.push(self.string_attr()?);
            self.expect("(")?;
            let before = call.bundled.len();
            while !self.accept(")") {
                if call.bundled.len() > before {
                    self.expect(",")?;
                }
                call.bundled.push(self.typed_value(f)?);
            }
            call.bundle_sizes.push((call.bundled.len() - before) as i64);
        }
        Ok(())
    }

    /// Gives an operation its bundles. It has two segments of operands: arguments, and operands of
    /// bundles.
    fn set_bundles(&self, state: &mut OperationState, call: &Call) {
        let segments = [state.operands.len() as i64, call.bundled.len() as i64];
        state.operands.extend(&call.bundled);
        state.set_attr(&self.ctx, OPERAND_SEGMENTS, self.ctx.dense_ints_attr(Type::I32, &segments));
        self.set_bundle_sizes(state, call);
    }

    fn set_bundle_sizes(&self, state: &mut OperationState, call: &Call) {
        if !call.bundle_tags.is_empty() {
            let sizes = self.ctx.dense_ints_attr(Type::I32, &call.bundle_sizes);
            state.set_attr(&self.ctx, "op_bundle_sizes", sizes);
            state.set_attr(&self.ctx, "op_bundle_tags", self.ctx.array_attr(&call.bundle_tags));
        }
    }

    /// Gives an operation the attributes of arguments and result.
    fn set_value_attributes(&self, state: &mut OperationState, call: &Call) {
        set_dicts(&self.ctx, state, "arg_attrs", &call.argument_attrs);
        if let Some(attrs) = call.result_attrs {
            state.set_attr(&self.ctx, "res_attrs", self.ctx.array_attr(&[attrs]));
        }
        if let Some(flags) = call.fastmath {
            state.set_attr(&self.ctx, "fastmathFlags", flags);
        }
    }

    fn result_of_call(&self, call: &Call) -> Option<Type> {
        (call.result != void(&self.ctx)).then_some(call.result)
    }

    /// Returns the type of a variadic callee.
    fn variadic_type(&self, call: &Call) -> Option<Type> {
        call.callee_type.filter(|ty| result_of(&self.ctx, *ty).is_some_and(|(_, more)| more))
    }

    fn plain_call(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        mut call: Call,
        mut state: OperationState,
    ) -> Result<Option<Value>> {
        let result = self.result_of_call(&call);
        state.set_attr(&self.ctx, TAIL_CALL, call.tail);
        if let Some(ty) = self.variadic_type(&call) {
            state.set_attr(&self.ctx, VARIADIC_TYPE, self.ctx.type_attr(ty));
        }
        state.operands.extend(&call.arguments);
        self.set_bundles(&mut state, &call);
        self.set_value_attributes(&mut state, &call);
        std::mem::take(&mut call.said).set(&self.ctx, &mut state);
        self.emit(f, block, state, result)
    }

    fn assembly(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        mut call: Call,
        template: Attr,
        constraints: Attr,
        words: &[&str],
    ) -> Result<Option<Value>> {
        if !call.bundle_tags.is_empty() {
            return Err(self.error_at(call.token, "operand bundles of assembly are not supported"));
        }
        let result = self.result_of_call(&call);
        let mut state = OperationState::of(&self.ctx, llvm::InlineAsmOp::DEF, call.loc);
        state.set_attr(&self.ctx, "tail_call_kind", call.tail);
        self.set_assembly(&mut state, &mut call, (template, constraints), words);
        self.emit(f, block, state, result)
    }

    /// Reads `callbr … asm … to label %a [label %b, …]`.
    pub(super) fn branching_assembly(&mut self, f: &mut FunctionReader<'s>) -> Result<Terminator<'s>> {
        let token = self.pos;
        let mut state = OperationState::of(&self.ctx, llvm::CallBrOp::DEF, self.loc());
        self.advance();
        let (mut call, callee) = self.called(f, &mut state)?;
        let Callee::Assembly { template, constraints, words } = callee else {
            return Err(self.error_at(token, "a 'callbr' of a function is not supported"));
        };
        self.arguments(f, &mut call)?;
        self.function_attributes(&mut call.said)?;
        state.result_types.extend(self.result_of_call(&call));
        self.set_assembly(&mut state, &mut call, (template, constraints), &words);
        self.expect_word("to")?;
        let mut targets = vec![self.label()?];
        targets.extend(self.labels()?);
        Ok(Terminator { state, targets, behind: Vec::new(), made: None })
    }

    /// Gives inline assembly its text and arguments.
    fn set_assembly(
        &self,
        state: &mut OperationState,
        call: &mut Call,
        (template, constraints): (Attr, Attr),
        words: &[&str],
    ) {
        state.operands.extend(&call.arguments);
        state.set_attr(&self.ctx, "asm_string", template);
        state.set_attr(&self.ctx, "constraints", constraints);
        for (word, name) in [("sideeffect", "has_side_effects"), ("alignstack", "is_align_stack")] {
            if words.contains(&word) {
                state.set_attr(&self.ctx, name, Attr::UNIT);
            }
        }
        if words.contains(&"inteldialect") {
            state.set_attr(&self.ctx, "asm_dialect", ASM_DIALECT.attr(&self.ctx, 1));
        }
        // The pointee types.
        set_dicts(&self.ctx, state, "operand_attrs", &call.argument_attrs);
        std::mem::take(&mut call.said).set(&self.ctx, state);
    }

    /// Reads a call of `@llvm.…`: makes the operation of that intrinsic, or else
    /// `llvm.call_intrinsic`.
    fn intrinsic(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        mut call: Call,
        name: &str,
    ) -> Result<Option<Value>> {
        let result = self.result_of_call(&call);
        let has_metadata = call.metadata.iter().any(|attr| *attr != Attr::UNIT);
        if is_lifetime(name) && call.arguments.len() == 2 {
            // Old versions had the size as first argument, and any address could follow.
            call.arguments.remove(0);
            call.argument_attrs.remove(0);
            let address = f.body.defining_op(call.arguments[0]);
            if !address.is_some_and(|op| f.body.is(op, llvm::AllocaOp::DEF)) {
                return Ok(None);
            }
        }
        self.modernise(f, name, &mut call);
        let own = self.kept_intrinsic(f, &call, name).filter(|_| !has_metadata);
        let mut state = match own {
            Some((op, own, alignment)) => {
                let mut state = OperationState::named(op, call.loc);
                let immediates = immediates(own);
                let Some(operands) = call.arguments.len().checked_sub(immediates.len()) else {
                    return Err(self.error_at(call.token, "this intrinsic has more arguments"));
                };
                for (immediate, value) in immediates.iter().zip(call.arguments.drain(operands..)) {
                    let Some(value) = constant_of(&f.body, value).and_then(|attr| attr.as_int(&self.ctx))
                    else {
                        return Err(
                            self.error_at(call.token, "the last arguments of this intrinsic are constants")
                        );
                    };
                    match immediate {
                        Immediate::Bool(name) => {
                            state.set_attr(&self.ctx, name, self.ctx.bool_attr(value != 0))
                        }
                        Immediate::I32(name) => {
                            state.set_attr(&self.ctx, name, self.ctx.int_attr(Type::I32, value));
                        }
                    }
                }
                call.argument_attrs.truncate(operands);
                if let Some(alignment) = alignment {
                    state.set_attr(&self.ctx, "alignment", self.ctx.int_attr(Type::I32, alignment));
                    call.argument_attrs.fill(None);
                }
                state.operands.extend(&call.arguments);
                if !call.bundle_tags.is_empty() {
                    self.set_bundles(&mut state, &call);
                }
                state
            }
            None => {
                let mut state = OperationState::of(&self.ctx, llvm::CallIntrinsicOp::DEF, call.loc);
                state.set_attr(&self.ctx, "intrin", self.ctx.string_attr(name));
                state.operands.extend(&call.arguments);
                self.set_bundles(&mut state, &call);
                let is_variadic = |ty: &Type| result_of(&self.ctx, *ty).is_some_and(|(_, more)| more);
                if let Some(ty) = call.callee_type.filter(is_variadic) {
                    state.set_attr(&self.ctx, VARIADIC_INTRINSIC, self.ctx.type_attr(ty));
                }
                if has_metadata {
                    state.set_attr(&self.ctx, METADATA_ARGUMENTS, self.ctx.array_attr(&call.metadata));
                }
                state
            }
        };
        self.set_value_attributes(&mut state, &call);
        if call.is_tail {
            state.set_attr(&self.ctx, TAIL_CALL, call.tail);
        }
        std::mem::take(&mut call.said).set(&self.ctx, &mut state);
        self.emit(f, block, state, result)
    }

    /// Returns the operation that keeps all of a call of an intrinsic: the intrinsic's name without
    /// its types, and the alignment of a masked access.
    fn kept_intrinsic<'n>(
        &self,
        f: &FunctionReader<'s>,
        call: &Call,
        name: &'n str,
    ) -> Option<(OpName, &'n str, Option<i64>)> {
        // The dialect's exponents are no vectors.
        let is_wide = |name: &str| {
            let exponent = call.arguments.get(1).map(|value| f.body.value_type(*value));
            name == "ldexp" && exponent.is_some_and(|ty| ty.integer_width(&self.ctx).is_none())
        };
        let (op, own) = self.own_intrinsic(name)?;
        if own == "memcpy.inline" || is_wide(own) {
            return None;
        }
        match aligned_argument(own) {
            Some(place) => Some((op, own, Some(self.masked_alignment(call, place)?))),
            None => Some((op, own, None)),
        }
    }

    /// Returns the alignment of argument `place` of a masked access. `None` if the arguments have
    /// other attributes, which the operation does not keep.
    fn masked_alignment(&self, call: &Call, place: usize) -> Option<i64> {
        let ctx = &self.ctx;
        let mut alignment = 1;
        for (i, attrs) in call.argument_attrs.iter().enumerate() {
            let Some(AttrKind::Dictionary(attrs)) = attrs.map(|attrs| attrs.kind(ctx)) else { continue };
            for (name, attr) in attrs.entries(ctx) {
                let known = attr.as_int(ctx).filter(|_| i == place && ctx.str(*name) == "llvm.align");
                alignment = known.filter(|own| i32::try_from(*own).is_ok_and(|own| own > 0))?;
            }
        }
        Some(alignment)
    }

    /// Brings a call of an intrinsic of an older LLVM up to date: alignments become attributes, and
    /// counts of zeros get their second argument.
    fn modernise(&self, f: &mut FunctionReader<'s>, name: &str, call: &mut Call) {
        let counts_zeros = ["llvm.ctlz.", "llvm.cttz."].iter().any(|own| name.starts_with(own));
        if counts_zeros && call.arguments.len() == 1 {
            // Once they had one argument, and counted all bits of zero.
            call.arguments.push(f.constants.value(&mut f.body, &Constant::Zero, Type::I1));
            call.argument_attrs.push(None);
            (call.tail, call.is_tail) = (TAIL_CALL_KIND.attr(&self.ctx, 0), false);
        }
        let masked = name.strip_prefix("llvm.").and_then(|name| {
            let (name, _) = name.strip_prefix("masked.")?.split_once('.')?;
            aligned_argument(&format!("masked.{name}"))
        });
        if let Some(place) = masked.filter(|_| call.arguments.len() == 4) {
            self.take_alignment(f, call, place + 1, &[place]);
            return;
        }
        let is_copy = ["llvm.memcpy.p", "llvm.memmove.p"].iter().any(|own| name.starts_with(own));
        if call.arguments.len() != 5 || !is_copy && !name.starts_with("llvm.memset.p") {
            return;
        }
        self.take_alignment(f, call, 3, if is_copy { &[0, 1] } else { &[0] });
    }

    /// Replaces argument `place` of a call, an alignment, by an attribute of other arguments.
    fn take_alignment(&self, f: &FunctionReader<'s>, call: &mut Call, place: usize, of: &[usize]) {
        let alignment =
            constant_of(&f.body, call.arguments.remove(place)).and_then(|attr| attr.as_int(&self.ctx));
        call.argument_attrs.remove(place);
        let Some(alignment) = alignment.filter(|alignment| *alignment > 0) else { return };
        let entry = (self.ctx.name("llvm.align"), self.ctx.int_attr(Type::I64, alignment));
        let attrs = self.ctx.attr(AttrKind::Dictionary(self.ctx.dict(vec![entry])));
        for place in of {
            let own = &mut call.argument_attrs[*place];
            *own = own.or(Some(attrs));
        }
    }

    /// Returns the operation of an intrinsic, and the intrinsic's name without its types.
    fn own_intrinsic<'n>(&self, name: &'n str) -> Option<(OpName, &'n str)> {
        let mut rest = name.strip_prefix("llvm.")?;
        loop {
            let known = self.ctx.registered_op(&format!("llvm.intr.{rest}"));
            if let Some(op) = known {
                return Some((op, rest));
            }
            let (shorter, ty) = rest.rsplit_once('.')?;
            // `llvm.memset.element.unordered.atomic` is not `llvm.memset`.
            rest = Some(shorter).filter(|_| is_mangled_type(ty))?;
        }
    }
}

/// True for the part of an intrinsic's name for a type that it is overloaded on. Names of
/// structures that have dots are not known: such intrinsics keep their names.
fn is_mangled_type(part: &str) -> bool {
    let has_number = |prefix: &&str| {
        part.strip_prefix(*prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    ["i", "f", "bf", "p", "v", "nxv", "a"].iter().any(has_number)
        || part.starts_with("s_")
        || part.starts_with("sl_")
        || matches!(part, "ppcf128" | "x86amx" | "isVoid" | "Metadata" | "token")
}

/// Returns true for `llvm.lifetime.start.…` and `llvm.lifetime.end.…`.
pub(super) fn is_lifetime(name: &str) -> bool {
    name.starts_with("llvm.lifetime.start.") || name.starts_with("llvm.lifetime.end.")
}
