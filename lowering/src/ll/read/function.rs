//! Functions: their head, their names, their blocks.
//!
//! Blocks are in the order of the text. A phi node is an argument of its block. Its entries for
//! predecessors are kept until all of the function is read, and terminators are made then. A value
//! used before its definition is represented by a placeholder until then.

use std::borrow::Cow;

use hashbrown::HashMap;
use loomir_dialects::branch::INDIRECT_SEGMENTS;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::{CCONV, block_tag};

use loomir_dialects::llvm::types::{self, LlvmType};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::text::type_to_string;
use loomir_ir::{Attr, AttrKind, Block, Body, Context, InsertPoint, Op, OperationState, Type, Value};

use super::attributes::Said;
use super::beside::Beside;
use super::calls::is_lifetime;
use super::constants::Constants;
use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::as_read::Named;
use crate::ll::{CALLING_CONVENTION, CONSTANTS, EDGE, PARTITION};

/// The name of a value or block.
pub(super) type LocalName<'s> = Cow<'s, str>;

/// The meaning of a local name.
struct Local {
    value: Value,
    /// The placeholder until it is defined, and the token of its first use.
    awaited: Option<(Op, usize)>,
}

/// A phi node: the value for each predecessor.
struct Phi<'s> {
    token: usize,
    entries: HashMap<LocalName<'s>, Value>,
}

/// A block.
struct BlockRead<'s> {
    block: Block,
    name: LocalName<'s>,
    phis: Vec<Phi<'s>>,
    end: Option<Terminator<'s>>,
}

/// The terminator of a block; made when all blocks are read.
pub(super) struct Terminator<'s> {
    /// The operation, without its successors and their operands.
    pub(super) state: OperationState,
    /// The names of the successors, with their tokens.
    pub(super) targets: Vec<(LocalName<'s>, usize)>,
    /// The operands that follow those of the successors.
    pub(super) behind: Vec<Value>,
    /// The operation, if it has a result and therefore exists already. Its operands and successors
    /// are set when all blocks are read.
    pub(super) made: Option<Op>,
}

/// A function being read.
pub(super) struct FunctionReader<'s> {
    pub(super) body: Body,
    pub(super) constants: Constants,
    locals: HashMap<LocalName<'s>, Local>,
    blocks: Vec<BlockRead<'s>>,
    numbers: HashMap<LocalName<'s>, usize>,
    /// Placeholders, and the values that replaced them.
    resolved: HashMap<Value, Value>,
    /// The number of the next value or block without a name.
    next: u64,
    /// The additional parts of the text.
    pub(super) beside: Beside<'s>,
    pub(super) result: Type,
}

impl<'s> Reader<'s> {
    /// `define …` or `declare …`.
    pub(super) fn function(&mut self) -> Result<Body> {
        let loc = self.loc();
        let is_definition = self.is_word("define");
        self.advance();
        let mut state = OperationState::of(&self.ctx, llvm::FuncOp::DEF, loc);
        if !is_definition {
            self.attachments(&mut state, false)?;
        }
        self.linkage(&mut state)?;
        self.calling_convention(&mut state)?;
        let result_attrs = self.value_attributes()?;
        let result = self.ty()?;
        let name = self.symbol_name(&mut state)?;
        let mut head = self.parameters(is_definition)?;
        if is_lifetime(&name) && head.types.len() == 2 {
            // Once the size came first.
            head.types.remove(0);
            head.attrs.remove(0);
        }
        self.function_tail(&name, &mut state)?;
        if is_definition {
            self.attachments(&mut state, false)?;
        }
        let ty = types::function(&self.ctx, result, &head.types, head.variadic);
        state.set_attr(&self.ctx, "function_type", self.ctx.type_attr(ty));
        set_dicts(&self.ctx, &mut state, "arg_attrs", &head.attrs);
        if let Some(attrs) = result_attrs {
            state.set_attr(&self.ctx, "res_attrs", self.ctx.array_attr(&[attrs]));
        }
        state.set_defaults(&self.ctx);
        if !is_definition {
            return Ok(Body::new(&self.ctx, state));
        }
        let behind = self.pos;
        self.definition(state.clone(), &head, result).or_else(|error| {
            self.declare(error, &mut state)?;
            self.pos = behind;
            self.skip_balanced()?;
            Ok(Body::new(&self.ctx, state))
        })
    }

    /// Reads the body of a function.
    fn definition(&mut self, state: OperationState, head: &Head<'s>, result: Type) -> Result<Body> {
        let loc = state.loc;
        let mut body = Body::new(&self.ctx, state);
        let region = body.region(body.root(), 0);
        let entry = body.append_block(region, &head.types);
        let mut f = FunctionReader {
            constants: Constants::at(InsertPoint::Start(entry), loc),
            locals: HashMap::new(),
            blocks: Vec::new(),
            numbers: HashMap::new(),
            resolved: HashMap::new(),
            next: 0,
            beside: Beside::default(),
            body,
            result,
        };
        for (index, name) in head.names.iter().enumerate() {
            let value = f.body.argument(entry, index);
            self.define(&mut f, name.clone(), value)?;
        }
        self.blocks(&mut f, entry)?;
        self.finish(f)
    }

    pub(super) fn calling_convention(&mut self, state: &mut OperationState) -> Result<()> {
        let number = if self.accept_word("cc") {
            Some(self.number()?)
        } else {
            let known = self.kind() == Kind::Word;
            let value = convention_of(self.text()).filter(|_| known);
            if value.is_some() {
                self.advance();
            }
            value
        };
        if let Some(number) = number {
            if CCONV.text_of(number).is_some() {
                state.set_attr(&self.ctx, "CConv", CCONV.attr(&self.ctx, number));
            } else {
                let number = self.ctx.int_attr(Type::I32, i128::from(number));
                state.set_attr(&self.ctx, CALLING_CONVENTION, number);
            }
        }
        Ok(())
    }

    fn parameters(&mut self, named: bool) -> Result<Head<'s>> {
        let mut head = Head::default();
        self.expect("(")?;
        while !self.accept(")") {
            if !head.types.is_empty() {
                self.expect(",")?;
            }
            if self.accept("...") {
                head.variadic = true;
                self.expect(")")?;
                break;
            }
            head.types.push(self.ty()?);
            head.attrs.push(self.value_attributes()?);
            let name =
                if self.kind() == Kind::Local { Some((self.local_name()?, self.pos - 1)) } else { None };
            if named {
                head.names.push(name);
            }
        }
        Ok(head)
    }

    /// Reads the part behind the parameters.
    fn function_tail(&mut self, name: &str, state: &mut OperationState) -> Result<()> {
        let mut said = Said::default();
        loop {
            self.unnamed_addr(state);
            self.function_attributes(&mut said)?;
            match self.text() {
                "section" if self.kind() == Kind::Word => {
                    self.advance();
                    let section = self.string_attr()?;
                    state.set_attr(&self.ctx, "section", section);
                }
                "align" if self.kind() == Kind::Word => {
                    self.advance();
                    let alignment = self.power_of_two()?;
                    state.set_attr(&self.ctx, "alignment", self.ctx.int_attr(Type::I64, alignment));
                }
                "comdat" if self.kind() == Kind::Word => {
                    self.advance();
                    let comdat = self.comdat(name)?;
                    state.set_attr(&self.ctx, "comdat", comdat);
                }
                "gc" if self.kind() == Kind::Word => {
                    self.advance();
                    let collector = self.string_attr()?;
                    state.set_attr(&self.ctx, "garbageCollector", collector);
                }
                "personality" if self.kind() == Kind::Word => {
                    let is_symbol = self.is_word_at(self.pos + 1, "ptr")
                        && self.tokens[self.pos + 2].kind == Kind::Global;
                    if !is_symbol {
                        self.constant_as_written(state)?;
                        continue;
                    }
                    self.pos += 2;
                    let name = self.global_name()?;
                    state.set_attr(&self.ctx, "personality", self.ctx.symbol_attr(&name));
                }
                "prefix" | "prologue" if self.kind() == Kind::Word => self.constant_as_written(state)?,
                "partition" if self.kind() == Kind::Word => {
                    self.advance();
                    let partition = self.string_attr()?;
                    state.set_attr(&self.ctx, PARTITION, partition);
                }
                "addrspace" if self.kind() == Kind::Word => {
                    return Err(self.error("functions in other address spaces are not supported"));
                }
                _ => break,
            }
        }
        said.set(&self.ctx, state);
        Ok(())
    }

    /// Reads a keyword and the constant behind it as text.
    fn constant_as_written(&mut self, state: &mut OperationState) -> Result<()> {
        let word = self.text();
        self.advance();
        let start = self.pos;
        self.typed_constant(0)?;
        if let Some(local) = (start..self.pos).find(|at| self.tokens[*at].kind == Kind::Local) {
            return Err(self.error_at(local, "named types are not supported here"));
        }
        let name = CONSTANTS.iter().find(|(_, own)| *own == word).map(|(name, _)| *name);
        if let Some(name) = name {
            state.set_attr(&self.ctx, name, self.ctx.string_attr(self.slice(start, self.pos - 1)));
        }
        Ok(())
    }

    // Names.

    /// `%name`, taken.
    pub(super) fn local_name(&mut self) -> Result<LocalName<'s>> {
        if self.kind() != Kind::Local {
            return Err(self.error("expected the name of a value"));
        }
        let name = self.name_at(self.pos)?;
        self.advance();
        Ok(name)
    }

    /// Gives a value its name, or the next number. A numeric name may only increase the next
    /// number.
    pub(super) fn define(
        &mut self,
        f: &mut FunctionReader<'s>,
        name: Option<(LocalName<'s>, usize)>,
        value: Value,
    ) -> Result<()> {
        let token = name.as_ref().map_or(self.pos, |(_, token)| *token);
        if let Some((name, _)) = name.as_ref().filter(|name| self.is_named(name)) {
            f.beside.names.push((Named::Value(value), name.clone()));
        }
        let name = self.numbered(f, name)?;
        let Some(local) = f.locals.get_mut(&name) else {
            f.locals.insert(name, Local { value, awaited: None });
            return Ok(());
        };
        let Some((_, used)) = local.awaited.take() else {
            return Err(self.error_at(token, format!("'%{name}' is defined twice")));
        };
        let (own, expected) = (f.body.value_type(value), f.body.value_type(local.value));
        if own != expected {
            let (own, expected) = (type_to_string(&self.ctx, own), type_to_string(&self.ctx, expected));
            let message =
                format!("'%{name}' is used as a value of type '{expected}', but is of type '{own}'");
            return Err(Box::new((*self.error_at(used, message)).note(self.loc_of(token), "defined here")));
        }
        f.body.replace_all_uses(local.value, value);
        f.resolved.insert(local.value, value);
        local.value = value;
        Ok(())
    }

    /// Returns true if a name is not a number.
    fn is_named(&self, (name, token): &(LocalName<'s>, usize)) -> bool {
        name.parse::<u64>().is_err() || self.slice(*token, *token).contains('"')
    }

    /// Returns the name of a value or block, or the next number if it has none.
    fn numbered(
        &self,
        f: &mut FunctionReader<'s>,
        name: Option<(LocalName<'s>, usize)>,
    ) -> Result<LocalName<'s>> {
        let Some((name, token)) = name else {
            f.next += 1;
            return Ok(Cow::Owned((f.next - 1).to_string()));
        };
        let is_quoted = self.slice(token, token).contains('"');
        if let Some(number) = name.parse::<u64>().ok().filter(|_| !is_quoted) {
            if number < f.next {
                let message = format!("expected a number from {} on", f.next);
                return Err(self.error_at(token, message));
            }
            f.next = number.saturating_add(1);
        }
        Ok(name)
    }

    /// Reads a value of a type: a name or a constant.
    pub(super) fn value(&mut self, f: &mut FunctionReader<'s>, ty: Type) -> Result<Value> {
        if self.kind() != Kind::Local {
            f.constants.loc = self.loc();
            let constant = self.constant(ty)?;
            return Ok(f.constants.value(&mut f.body, &constant, ty));
        }
        let token = self.pos;
        let name = self.local_name()?;
        if let Some(local) = f.locals.get(&name) {
            let own = f.body.value_type(local.value);
            if own == ty {
                return Ok(local.value);
            }
            let (own, ty) = (type_to_string(&self.ctx, own), type_to_string(&self.ctx, ty));
            return Err(self.error_at(token, format!("'%{name}' is of type '{own}', not '{ty}'")));
        }
        let state = OperationState::new(&self.ctx, "builtin.unrealized_conversion_cast", self.loc_of(token));
        let placeholder = f.body.create(state.results(&[ty]));
        let value = f.body.result(placeholder, 0);
        f.locals.insert(name, Local { value, awaited: Some((placeholder, token)) });
        Ok(value)
    }

    /// Reads a type and a value of it.
    pub(super) fn typed_value(&mut self, f: &mut FunctionReader<'s>) -> Result<Value> {
        let ty = self.ty()?;
        self.value(f, ty)
    }

    // Blocks.

    fn blocks(&mut self, f: &mut FunctionReader<'s>, entry: Block) -> Result<()> {
        self.expect("{")?;
        let region = f.body.region(f.body.root(), 0);
        while !self.accept("}") {
            if self.is_word("uselistorder") {
                self.skip_use_order()?;
                continue;
            }
            let label = if self.kind() == Kind::Label {
                let label = (self.name_at(self.pos)?, self.pos);
                self.advance();
                Some(label)
            } else {
                None
            };
            let token = label.as_ref().map_or(self.pos, |(_, token)| *token);
            let has_name = label.as_ref().is_some_and(|label| self.is_named(label));
            let name = self.numbered(f, label)?;
            if f.numbers.insert(name.clone(), f.blocks.len()).is_some() {
                return Err(self.error_at(token, format!("block '%{name}' is defined twice")));
            }
            let block = if f.blocks.is_empty() { entry } else { f.body.append_block(region, &[]) };
            if has_name {
                f.beside.names.push((Named::Block(block), name.clone()));
            }
            f.blocks.push(BlockRead { block, name, phis: Vec::new(), end: None });
            self.block(f, block)?;
        }
        if f.blocks.is_empty() {
            return Err(self.error_at(self.pos - 1, "a function with a body has a block"));
        }
        Ok(())
    }

    /// Reads the instructions of a block, up to its terminator.
    fn block(&mut self, f: &mut FunctionReader<'s>, block: Block) -> Result<()> {
        loop {
            if matches!(self.kind(), Kind::Label | Kind::End) || self.is_sign("}") {
                return Err(self.error("expected an instruction: a block ends with a terminator"));
            }
            if self.kind() == Kind::Hash {
                self.record(f, block)?;
                continue;
            }
            let name = match self.kind() {
                Kind::Local => {
                    let token = self.pos;
                    let name = self.local_name()?;
                    self.expect("=")?;
                    Some((name, token))
                }
                _ => None,
            };
            if self.is_word("phi") {
                self.phi(f, block, name)?;
                continue;
            }
            if let Some(mut end) = self.terminator(f)? {
                if end.state.result_types.is_empty() {
                    if let Some((_, token)) = name {
                        return Err(self.error_at(token, "this instruction has no result"));
                    }
                } else {
                    self.make_at_once(f, block, &mut end, name)?;
                }
                if let Some(read) = f.blocks.last_mut() {
                    read.end = Some(end);
                }
                return Ok(());
            }
            let token = self.pos;
            let value = self.instruction(f, block)?;
            match (value, name) {
                (Some(value), name) => self.define(f, name, value)?,
                (None, Some(_)) => return Err(self.error_at(token, "this instruction has no result")),
                (None, None) => {}
            }
        }
    }

    /// Makes a terminator that has a result before its successors are known.
    fn make_at_once(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        end: &mut Terminator<'s>,
        name: Option<(LocalName<'s>, usize)>,
    ) -> Result<()> {
        let mut state = end.state.clone();
        state.successors = vec![block; end.targets.len()];
        state.set_defaults(&self.ctx);
        let op = f.body.create(state);
        f.body.append_op(block, op);
        end.made = Some(op);
        let result = f.body.result(op, 0);
        self.define(f, name, result)
    }

    /// `phi ty [ value, %block ], …`.
    fn phi(
        &mut self,
        f: &mut FunctionReader<'s>,
        block: Block,
        name: Option<(LocalName<'s>, usize)>,
    ) -> Result<()> {
        let token = self.pos;
        self.advance();
        let flags = self.pos;
        let has_flags = self.fastmath_flags().is_some();
        let flags = if has_flags { self.slice(flags, self.pos - 1) } else { "" };
        if f.body.ops(block).next().is_some() && !f.body.is_entry(block) || f.body.is_entry(block) {
            let message = "phi nodes stand at the start of a block that is not the first";
            return Err(self.error_at(token, message));
        }
        let ty = self.ty()?;
        let mut entries = HashMap::new();
        loop {
            self.expect("[")?;
            let value = self.value(f, ty)?;
            self.expect(",")?;
            let from = self.pos;
            let earlier = entries.insert(self.local_name()?, value);
            if earlier.is_some_and(|earlier| earlier != value) {
                return Err(self.error_at(from, "two edges from one block bring different values"));
            }
            self.expect("]")?;
            if !(self.is_sign(",") && self.is_sign_behind("[")) {
                break;
            }
            self.advance();
        }
        let attached = self.pos;
        let mut ignored = OperationState::of(&self.ctx, llvm::BrOp::DEF, self.loc());
        self.attachments(&mut ignored, true)?;
        let argument = f.body.add_argument(block, ty);
        if !flags.is_empty() {
            f.beside.flags.push((argument, flags));
        }
        if attached < self.pos {
            f.beside.attached.push((argument, self.slice(attached, self.pos - 1).to_owned()));
        }
        self.define(f, name, argument)?;
        if let Some(read) = f.blocks.last_mut() {
            read.phis.push(Phi { token, entries });
        }
        Ok(())
    }

    /// Gives the blocks whose address is taken their tags.
    fn tag_blocks(&self, f: &mut FunctionReader<'s>) -> Result<()> {
        let own = f.body.root_ref().attr("sym_name").and_then(|name| name.as_str(&self.ctx));
        for (tag, name) in self.taken.in_function(own.unwrap_or_default()) {
            let Some(index) = f.numbers.get(name).copied() else {
                let message = format!("the address of block '%{name}' is taken, which is not defined");
                return Err(self.error(message));
            };
            let block = f.blocks[index].block;
            let state = OperationState::of(&self.ctx, llvm::BlockTagOp::DEF, f.body.loc(f.body.root()));
            let op = f.body.create(state.attr(&self.ctx, "tag", block_tag(&self.ctx, tag)));
            f.body.prepend_op(block, op);
        }
        Ok(())
    }

    /// Creates the terminators, once all names are defined.
    fn finish(&mut self, mut f: FunctionReader<'s>) -> Result<Body> {
        let awaited = f.locals.iter().filter_map(|(name, local)| Some((local.awaited?.1, name)));
        if let Some((token, name)) = awaited.min() {
            return Err(self.error_at(token, format!("'%{name}' is not defined")));
        }
        // The last predecessor of each block, and the number of its predecessors.
        let mut entered = vec![(usize::MAX, 0usize); f.blocks.len()];
        for (from, read) in f.blocks.iter().enumerate() {
            let Some(Terminator { state, targets, behind, made }) = &read.end else { continue };
            let mut state = state.clone();
            let own = state.operands.len() as i64;
            let mut sizes = Vec::with_capacity(targets.len());
            for (name, token) in targets {
                let Some(index) = f.numbers.get(name).copied() else {
                    return Err(self.error_at(*token, format!("block '%{name}' is not defined")));
                };
                if index == 0 {
                    return Err(self.error_at(*token, "nothing branches to the first block"));
                }
                let target = &f.blocks[index];
                for phi in &target.phis {
                    let Some(value) = phi.entries.get(&read.name) else {
                        let message = format!("the phi node has no value for block '%{}'", read.name);
                        return Err(self.error_at(phi.token, message));
                    };
                    state.operands.push(*value);
                }
                if entered[index].0 != from {
                    entered[index] = (from, entered[index].1 + 1);
                }
                state.successors.push(target.block);
                sizes.push(target.phis.len() as i64);
            }
            state.operands.extend(behind);
            for operand in &mut state.operands {
                *operand = f.resolved.get(operand).copied().unwrap_or(*operand);
            }
            set_segments(&self.ctx, &mut state, (own, &sizes, behind.len() as i64));
            if let Some(op) = made.filter(|op| !f.body.is(*op, llvm::InvokeOp::DEF)) {
                if !complete_indirect(&mut f.body, op, &state, &sizes) {
                    return Err(self.error("a phi node of the result of 'callbr' is not supported"));
                }
                continue;
            }
            if let Some(op) = *made {
                complete(&mut f.body, op, &state, [own, sizes[0], sizes[1], behind.len() as i64]);
                continue;
            }
            state.set_defaults(&self.ctx);
            let op = f.body.create(state);
            f.body.append_op(read.block, op);
        }
        for (read, (_, entered)) in f.blocks.iter().zip(entered) {
            if let Some(phi) = read.phis.iter().find(|phi| phi.entries.len() != entered) {
                let message = "the phi node has values for blocks that do not lead here";
                return Err(self.error_at(phi.token, message));
            }
        }
        self.tag_blocks(&mut f)?;
        let stood_in: Vec<Op> = f.resolved.keys().filter_map(|value| f.body.defining_op(*value)).collect();
        for op in stood_in {
            f.body.erase(op);
        }
        self.keep_beside(&mut f)?;
        Ok(f.body)
    }
}

impl FunctionReader<'_> {
    /// Returns the value of a name.
    pub(super) fn value_of(&self, name: &str) -> Option<Value> {
        self.locals.get(name).filter(|local| local.awaited.is_none()).map(|local| local.value)
    }
}

/// Words of LLVM that the dialect does not have, and their numbers.
const CONVENTIONS: [(&str, u32); 52] = [
    ("ghccc", 10),
    ("anyregcc", 13),
    ("preserve_mostcc", 14),
    ("preserve_allcc", 15),
    ("swiftcc", 16),
    ("cxx_fast_tlscc", 17),
    ("tailcc", 18),
    ("cfguard_checkcc", 19),
    ("swifttailcc", 20),
    ("preserve_nonecc", 21),
    ("x86_stdcallcc", 64),
    ("x86_fastcallcc", 65),
    ("arm_apcscc", 66),
    ("arm_aapcscc", 67),
    ("arm_aapcs_vfpcc", 68),
    ("msp430_intrcc", 69),
    ("x86_thiscallcc", 70),
    ("ptx_kernel", 71),
    ("ptx_device", 72),
    ("spir_func", 75),
    ("spir_kernel", 76),
    ("intel_ocl_bicc", 77),
    ("x86_64_sysvcc", 78),
    ("win64cc", 79),
    ("x86_vectorcallcc", 80),
    ("hhvmcc", 81),
    ("hhvm_ccc", 82),
    ("x86_intrcc", 83),
    ("avr_intrcc", 84),
    ("avr_signalcc", 85),
    ("amdgpu_vs", 87),
    ("amdgpu_gs", 88),
    ("amdgpu_ps", 89),
    ("amdgpu_cs", 90),
    ("amdgpu_kernel", 91),
    ("x86_regcallcc", 92),
    ("amdgpu_hs", 93),
    ("amdgpu_ls", 95),
    ("amdgpu_es", 96),
    ("aarch64_vector_pcs", 97),
    ("aarch64_sve_vector_pcs", 98),
    ("amdgpu_gfx", 100),
    ("aarch64_sme_preservemost_from_x0", 102),
    ("aarch64_sme_preservemost_from_x2", 103),
    ("amdgpu_cs_chain", 104),
    ("amdgpu_cs_chain_preserve", 105),
    ("m68k_rtdcc", 106),
    ("graalcc", 107),
    ("riscv_vector_cc", 110),
    ("aarch64_sme_preservemost_from_x1", 111),
    ("amdgpu_gfx_whole_wave", 124),
    ("cheriot_compartmentcallcc", 125),
];

/// Returns the number of a calling convention.
fn convention_of(word: &str) -> Option<u64> {
    let own = CONVENTIONS.iter().find(|(own, _)| *own == word).map(|(_, number)| u64::from(*number));
    own.or_else(|| CCONV.value_of(word))
}

/// The parameters of a function.
#[derive(Default)]
struct Head<'s> {
    types: Vec<Type>,
    attrs: Vec<Option<Attr>>,
    names: Vec<Option<(LocalName<'s>, usize)>>,
    variadic: bool,
}

/// Gives a terminator with a result its operands and successors. Returns false if it passes its
/// result on.
fn complete_indirect(body: &mut Body, op: Op, state: &OperationState, sizes: &[i64]) -> bool {
    let ctx = body.ctx().clone();
    body.set_operands(op, &state.operands);
    body.set_attr(op, INDIRECT_SEGMENTS, ctx.dense_ints_attr(Type::I32, sizes));
    for (index, block) in state.successors.iter().enumerate() {
        body.set_successor(op, index, *block);
    }
    !state.operands.contains(&body.result(op, 0))
}

/// Gives an invoke its operands and successors. Its result is known behind its first edge only, so
/// a block is made on that edge if the result is passed along.
fn complete(body: &mut Body, invoke: Op, state: &OperationState, segments: [i64; 4]) {
    let ctx = body.ctx().clone();
    let (result, mut operands) = (body.result(invoke, 0), state.operands.clone());
    let mut successors = state.successors.clone();
    let mut segments = segments;
    let own = segments[0] as usize..(segments[0] + segments[1]) as usize;
    if operands[own.clone()].contains(&result)
        && let Some(block) = body.block_of(invoke)
    {
        let edge = body.create_block(body.block_region(block), Some(block), &[]);
        let handed: Vec<Value> = operands.drain(own).collect();
        let branch = OperationState::of(&ctx, llvm::BrOp::DEF, state.loc).operands(&handed);
        let branch = branch.successors(&[successors[0]]).attr(&ctx, EDGE, Attr::UNIT);
        let branch = body.create(branch);
        body.append_op(edge, branch);
        successors[0] = edge;
        segments[1] = 0;
    }
    body.set_operands(invoke, &operands);
    body.set_attr(invoke, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    for (index, block) in successors.into_iter().enumerate() {
        body.set_successor(invoke, index, block);
    }
}

/// Sets the number of operands for each successor, given those in front and behind.
fn set_segments(ctx: &Context, state: &mut OperationState, (own, sizes, behind): (i64, &[i64], i64)) {
    let def = ctx.op_info(state.name);
    if def.is(llvm::CondBrOp::DEF) {
        let segments = [1, sizes[0], sizes[1]];
        state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    } else if def.def().is_some_and(|def| def.attrs.iter().any(|attr| attr.name == INDIRECT_SEGMENTS)) {
        state.set_attr(ctx, INDIRECT_SEGMENTS, ctx.dense_ints_attr(Type::I32, sizes));
    } else if def.is(llvm::InvokeOp::DEF) {
        let segments = [own, sizes[0], sizes[1], behind];
        state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    } else if def.is(llvm::SwitchOp::DEF) {
        let cases: i64 = sizes[1..].iter().sum();
        state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &[1, sizes[0], cases]));
        state.set_attr(ctx, "case_operand_segments", ctx.dense_ints_attr(Type::I32, &sizes[1..]));
    }
}

/// Sets a dictionary for each of several values, if one has any attribute.
pub(super) fn set_dicts(ctx: &Context, state: &mut OperationState, name: &str, dicts: &[Option<Attr>]) {
    if dicts.iter().any(Option::is_some) {
        let empty = ctx.attr(AttrKind::Dictionary(ctx.dict(Vec::new())));
        let all: Vec<Attr> = dicts.iter().map(|dict| dict.unwrap_or(empty)).collect();
        state.set_attr(ctx, name, ctx.array_attr(&all));
    }
}

/// Returns the result type of a function type.
pub(super) fn result_of(ctx: &Context, ty: Type) -> Option<(Type, bool)> {
    match LlvmType::of(ctx, ty)? {
        LlvmType::Function { result, variadic, .. } => Some((result, variadic)),
        _ => None,
    }
}
